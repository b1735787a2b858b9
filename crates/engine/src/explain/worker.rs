//! # Tasks of workers: held, delayed, limited, or nobody asks for them

use semel_model::{BlockerKind, PollData, Timestamp, Wait, WaitKind};

use super::words::{future, list, past};
use super::{LimitState, Scene, advice, blocker};
use crate::delivery::{HandOut, Queue};
use crate::kinds::Kind;
use crate::task::Task;

/// A worker that has not polled for this long may be gone.
const SILENT_MS: i64 = 60_000;

impl Scene<'_> {
    pub(super) fn offered(&self, task: &Task) -> Wait {
        let unheld = HandOut::default();
        let row = self.around.deliveries.get(&task.id);
        let held = row.map_or(&unheld, |row| &row.hand_out);
        let ready_at = row.map_or(task.ready_at, |row| row.ready_at);
        if let Some(why) = self.around.held_up.get(&task.id).filter(|_| ready_at <= self.now()) {
            return self.held_up(task, why, ready_at);
        }
        if held.leased {
            return self.held(task, held);
        }
        if ready_at > self.now() {
            return self.delayed(task, held, ready_at);
        }
        let queue =
            Queue { task_type: task.step.task_type().to_owned(), domain: task.domain.clone() };
        let waits = format!(
            "{} waits for a worker that polls {}{}, since {}.",
            task.reference,
            queue.task_type,
            in_domain(&queue),
            past(self.now(), ready_at)
        );
        let last = self.around.polls.iter().find(|poll| is_of(poll, &queue));
        let wait = match last {
            None => self.never_polled(task, &queue, waits),
            Some(last) => match self.around.limits.get(&queue.task_type) {
                Some(limit) if limit.is_full_at_once() => self.at_limit(task, limit, waits),
                Some(limit) if limit.is_full_for_now(self.now()) => {
                    self.at_rate(task, limit, waits)
                }
                Some(_) | None => self.polled(task, &queue, waits, last),
            },
        };
        Wait { since: Some(ready_at), ..wait }
    }

    fn held(&self, task: &Task, held: &HandOut) -> Wait {
        let worker = held.worker.as_deref().unwrap_or("a worker without a name");
        let since = past(self.now(), held.started_at);
        let ends = match (held.lease_until, held.run_until) {
            (Some(until), _) => format!(
                "Its lease ends {}; a worker that has not reported by then has lost the task.",
                future(self.now(), until)
            ),
            (None, Some(until)) => format!("It has time until {}.", future(self.now(), until)),
            (None, None) => {
                "It has no response timeout: if the worker is gone, nobody notices.".to_owned()
            }
        };
        let is_http = task.kind() == Kind::Http;
        let kind = if is_http { WaitKind::Http } else { WaitKind::Held };
        let what = if is_http { "sends its request: it " } else { "" };
        let sentence =
            format!("{} {what}is in progress with {worker}, since {since}. {ends}", task.reference);
        let until = [held.lease_until, held.run_until].into_iter().flatten().min();
        let blocked_by = vec![blocker(BlockerKind::Worker, worker)];
        let wait = self.of_task(task, kind, sentence);
        Wait { since: Some(held.started_at), until, blocked_by, ..wait }
    }

    /// By a worker of the server's own; nothing was sent yet.
    fn held_up(&self, task: &Task, why: &str, ready_at: Timestamp) -> Wait {
        let since = past(self.now(), ready_at);
        let sentence =
            format!("{} has not sent its request, since {since}: {why}.", task.reference);
        let what_to_do = advice(
            "Wait; those that are first end within their totalTimeOut. http_requests_max of the server \
             makes more places.",
        );
        let wait = self.of_task(task, WaitKind::HttpShare, sentence);
        Wait { since: Some(ready_at), what_to_do, ..wait }
    }

    pub(super) fn delayed(&self, task: &Task, held: &HandOut, ready_at: Timestamp) -> Wait {
        let (name, when) = (&task.reference, future(self.now(), ready_at));
        let (kind, sentence) = if task.polls.max(held.polls) > 0 {
            let worker = task.worker.as_deref().or(held.worker.as_deref());
            let worker = worker.unwrap_or("a worker without a name");
            let at = past(self.now(), task.updated_at);
            let sentence =
                format!("{name} was given back by {worker} {at}; it can be taken again {when}.");
            (WaitKind::CallbackDelay, sentence)
        } else if let Some(before) = task.replaces {
            let before = self.execution.task(before);
            let why = before.and_then(|before| before.reason.as_deref());
            let why = why.map(|why| format!(" The attempt before: {why}")).unwrap_or_default();
            let sentence =
                format!("{name} is tried again {when}, as attempt {}.{why}", task.attempt + 1);
            (WaitKind::RetryDelay, sentence)
        } else {
            let sentence = format!("{name} has a start delay: it can be taken {when}.");
            (WaitKind::StartDelay, sentence)
        };
        let since =
            if kind == WaitKind::CallbackDelay { task.updated_at } else { task.scheduled_at };
        let callbacks = "Do not wait: POST /api/workflow/{id}/resetcallbacks";
        let what_to_do = match kind == WaitKind::CallbackDelay {
            true => advice(callbacks.replace("{id}", &self.id().to_string())),
            false => None,
        };
        let wait = self.of_task(task, kind, sentence);
        Wait { since: Some(since), until: Some(ready_at), what_to_do, ..wait }
    }

    fn never_polled(&self, task: &Task, queue: &Queue, waits: String) -> Wait {
        let elsewhere = self.around.polls.iter().filter(|poll| poll.queue_name == queue.task_type);
        let elsewhere: Vec<String> = elsewhere
            .map(|poll| poll.domain.clone().unwrap_or_else(|| "none".to_owned()))
            .collect();
        let others = match elsewhere.is_empty() {
            true => String::new(),
            false => format!(" Workers do poll it in other domains: {}.", list(&elsewhere)),
        };
        let kind = match queue.domain {
            Some(_) => WaitKind::NoWorkerInDomain,
            None => WaitKind::NoWorker,
        };
        let sentence = format!(
            "{waits} No worker has polled {} there since the server started.{others}",
            queue.task_type
        );
        let start = format!("Start a worker that polls {}{}.", queue.task_type, in_domain(queue));
        let blocked_by = vec![blocker(BlockerKind::Queue, queue.to_string())];
        Wait { blocked_by, what_to_do: advice(start), ..self.of_task(task, kind, sentence) }
    }

    fn polled(&self, task: &Task, queue: &Queue, waits: String, last: &PollData) -> Wait {
        let who = last.worker_id.as_deref().unwrap_or("a worker without a name");
        let is_silent = self.now().since_ms(last.last_poll_time) > SILENT_MS;
        let count = self.around.waiting.get(queue).copied().unwrap_or(0);
        let depth = match count {
            0 | 1 => String::new(),
            many => format!(" {many} tasks wait in that queue."),
        };
        let polled = past(self.now(), last.last_poll_time);
        let asks = if is_silent { ": is that worker still running?" } else { "." };
        let sentence = format!("{waits} It was last polled {polled} by {who}{asks}{depth}");
        let kind = match (is_silent, task.kind() == Kind::Http) {
            (true, _) => WaitKind::WorkerSilent,
            (false, true) => WaitKind::Http,
            (false, false) => WaitKind::InQueue,
        };
        let by = blocker(BlockerKind::Queue, queue.to_string());
        let look = format!("Look whether {who} still runs, or start another worker.");
        let what_to_do = if is_silent { advice(look) } else { None };
        Wait { blocked_by: vec![by], what_to_do, ..self.of_task(task, kind, sentence) }
    }

    fn at_limit(&self, task: &Task, limit: &LimitState, waits: String) -> Wait {
        let sentence = format!(
            "{waits} At most {} of {} run at once (concurrentExecLimit), and {} are in progress.",
            limit.limits.concurrent_max,
            task.step.task_type(),
            limit.in_flight
        );
        let what_to_do =
            advice("Wait until one of them ends, or raise the limit of the definition.");
        Wait { what_to_do, ..self.of_task(task, WaitKind::ConcurrentLimit, sentence) }
    }

    fn at_rate(&self, task: &Task, limit: &LimitState, waits: String) -> Wait {
        let until = limit.window.opens_at(&limit.limits);
        let opens = until.map(|at| format!(" The next can be taken {}.", future(self.now(), at)));
        let sentence = format!(
            "{waits} At most {} of {} are handed out per {} s (rateLimitPerFrequency), and that many \
             were.{}",
            limit.limits.per_window_max,
            task.step.task_type(),
            limit.limits.window_ms / 1000,
            opens.unwrap_or_default()
        );
        let what_to_do = advice("Wait, or raise the limit of the definition.");
        Wait { until, what_to_do, ..self.of_task(task, WaitKind::RateLimit, sentence) }
    }
}

impl LimitState {
    fn is_full_at_once(&self) -> bool {
        self.limits.concurrent_max > 0 && self.in_flight >= self.limits.concurrent_max
    }

    fn is_full_for_now(&self, now: Timestamp) -> bool {
        self.window.clone().room(now, &self.limits) == 0
    }
}

fn is_of(poll: &PollData, queue: &Queue) -> bool {
    poll.queue_name == queue.task_type && poll.domain == queue.domain
}

fn in_domain(queue: &Queue) -> String {
    queue.domain.as_deref().map(|domain| format!(" in the domain {domain}")).unwrap_or_default()
}
