//! # Words: what is known about a run, in sentences
//!
//! **May not:** ask anybody; all it knows is in the scene.

use std::collections::BTreeMap;

use semel_model::{
    PollData, Task, TaskDef, TaskId, TaskStatus, Timestamp, Workflow, WorkflowStatus,
};

use crate::times::{moment, span};

/// A worker that has not polled for this long may be gone.
const SILENT_MS: i64 = 60_000;

pub(super) struct Scene<'a> {
    pub(super) now: Timestamp,
    pub(super) run: &'a Workflow,
    /// Why it was set aside, if it was.
    pub(super) parked: Option<String>,
    /// Of the open tasks that were looked at.
    pub(super) around: BTreeMap<TaskId, Around>,
}

/// What is known beside a task. None: it could not be found out.
#[derive(Default)]
pub(super) struct Around {
    pub(super) polls: Option<Vec<PollData>>,
    pub(super) waiting: Option<u64>,
    pub(super) definition: Option<TaskDef>,
    pub(super) in_flight: Option<u64>,
    pub(super) child: Option<Child>,
}

pub(super) enum Child {
    Is(WorkflowStatus),
    Gone,
    Unknown,
}

impl Around {
    pub(super) fn limit(&self) -> Option<i32> {
        self.definition.as_ref()?.concurrent_exec_limit.filter(|limit| *limit > 0)
    }
}

/// The engine runs it; no worker polls for it.
pub(super) fn is_of_the_house(task: &Task) -> bool {
    const TYPES: &[&str] = &[
        "WAIT",
        "HUMAN",
        "SUB_WORKFLOW",
        "START_WORKFLOW",
        "EVENT",
        "NOOP",
        "SET_VARIABLE",
        "TERMINATE",
        "YIELD",
    ];
    TYPES.contains(&task.task_type.as_str())
}

impl Scene<'_> {
    pub(super) fn sentences(&self) -> Vec<String> {
        let run = self.run;
        let mut said = vec![format!(
            "{} is a run of {} version {}: {}, started {}.",
            run.workflow_id,
            run.workflow_name,
            run.workflow_version,
            run.status,
            self.past(run.start_time)
        )];
        if run.status.is_terminal() {
            said.extend(self.ending());
            return said;
        }
        if let Some(reason) = &self.parked {
            said.push(format!(
                "It is parked, and nothing happens to it: {reason}. \
                 When the cause is gone, let it go on: semel workflow unpark {}",
                run.workflow_id
            ));
        }
        if run.status == WorkflowStatus::Paused {
            said.push(format!(
                "It is paused: what runs may end, nothing new is scheduled. \
                 Let it go on: semel workflow resume {}",
                run.workflow_id
            ));
        }
        let mut open = run.tasks.iter().filter(|task| !task.status.is_terminal()).peekable();
        if open.peek().is_none() {
            said.push("No task is open: it is between two steps. Look again.".to_owned());
        }
        let (known, more): (Vec<_>, Vec<_>) =
            open.partition(|task| self.around.contains_key(&task.task_id));
        for task in known {
            said.extend(self.task(task, &self.around[&task.task_id]));
        }
        if !more.is_empty() {
            said.push(format!("{} more tasks are open.", more.len()));
        }
        said
    }

    fn ending(&self) -> Vec<String> {
        let run = self.run;
        let reason = run.reason_for_incompletion.as_deref().unwrap_or_default();
        let mut said = vec![match reason {
            "" => format!("It ended {}.", self.past(run.end_time)),
            reason => format!("It ended {}: {reason}", self.past(run.end_time)),
        }];
        let is_failed = |task: &&Task| !task.status.is_successful() && !task.retried;
        for task in run.tasks.iter().filter(is_failed) {
            let reason = task.reason_for_incompletion.as_deref().unwrap_or("no reason was given");
            said.push(format!(
                "{} is {} after attempt {}: {reason}",
                task.reference_task_name,
                task.status,
                task.retry_count + 1
            ));
        }
        if run.status != WorkflowStatus::Completed {
            said.push(format!("Try again what failed: semel workflow retry {}", run.workflow_id));
        }
        said
    }

    fn task(&self, task: &Task, around: &Around) -> Vec<String> {
        let name = &task.reference_task_name;
        match task.task_type.as_str() {
            "SUB_WORKFLOW" => vec![self.child(task, around)],
            "HUMAN" => vec![
                format!("{name} waits for a person, since {}.", self.past(task.scheduled_time)),
                self.by_hand(task),
            ],
            "WAIT" => self.wait(task),
            "YIELD" => vec![
                format!("{name} waits for a signal, since {}.", self.past(task.scheduled_time)),
                self.by_hand(task),
            ],
            _ if is_of_the_house(task) => {
                let since = self.past(task.scheduled_time);
                vec![format!("{name} ({}) is {} since {since}.", task.task_type, task.status)]
            }
            _ if task.status == TaskStatus::InProgress => self.in_progress(task),
            _ => self.scheduled(task, around),
        }
    }

    fn by_hand(&self, task: &Task) -> String {
        format!(
            "Complete it: semel task update --workflow {} --ref {} --status COMPLETED --output '{{}}'",
            task.workflow_instance_id, task.reference_task_name
        )
    }

    fn child(&self, task: &Task, around: &Around) -> String {
        let name = &task.reference_task_name;
        let Some(child) = task.sub_workflow_id else {
            return format!("{name} will begin a run and wait for it; it has not begun yet.");
        };
        let is = match &around.child {
            Some(Child::Is(status)) => format!("which is {status}"),
            Some(Child::Gone) => "which is gone".to_owned(),
            Some(Child::Unknown) | None => "whose status could not be read".to_owned(),
        };
        format!("{name} waits for the run {child}, {is}. See: semel explain {child}")
    }

    fn wait(&self, task: &Task) -> Vec<String> {
        let (name, input) = (&task.reference_task_name, task.input_data.value());
        let said = |key: &str| match input.get(key) {
            None | Some(serde_json::Value::Null) => None,
            Some(serde_json::Value::String(text)) if text.trim().is_empty() => None,
            Some(serde_json::Value::String(text)) => Some(text.trim().to_owned()),
            Some(other) => Some(other.to_string()),
        };
        let since = self.past(task.scheduled_time);
        match (said("duration"), said("until")) {
            (Some(duration), _) => {
                vec![format!("{name} waits {duration}, since {since}."), self.by_hand(task)]
            }
            (None, Some(until)) => {
                vec![format!("{name} waits until {until}, since {since}."), self.by_hand(task)]
            }
            (None, None) => vec![
                format!("{name} waits until somebody says so, since {since}."),
                format!("Say so: semel task signal {} --output '{{}}'", task.workflow_instance_id),
                self.by_hand(task),
            ],
        }
    }

    fn in_progress(&self, task: &Task) -> Vec<String> {
        let name = &task.reference_task_name;
        let worker = task.worker_id.as_deref().unwrap_or("a worker without a name");
        if let Some(until) = task.lease_until {
            let since = self.past(task.start_time);
            return vec![
                format!("{name} is in progress with {worker}, since {since}."),
                format!(
                    "Its lease ends {}; if the worker has not reported by then, the attempt is \
                     TIMED_OUT, and tried again if retries are left.",
                    self.future(until)
                ),
            ];
        }
        if task.response_timeout_seconds > 0 {
            let again = task.update_time.plus_seconds(task.callback_after_seconds);
            return vec![format!(
                "{name} was given back by {worker} {}; it can be taken again {}.",
                self.past(task.update_time),
                self.future(again)
            )];
        }
        vec![format!(
            "{name} is in progress with {worker}, since {}. It has no response timeout: \
             if the worker is gone, nobody notices.",
            self.past(task.start_time)
        )]
    }

    fn scheduled(&self, task: &Task, around: &Around) -> Vec<String> {
        let (name, kind) = (&task.reference_task_name, &task.task_type);
        let ready = task.scheduled_time.plus_seconds(task.callback_after_seconds);
        if ready > self.now {
            return vec![self.delayed(task, ready)];
        }
        let in_domain = |domain: &str| format!(" in the domain {domain}");
        let domain = task.domain.as_deref().map(in_domain).unwrap_or_default();
        let mut said = vec![format!(
            "{name} waits for a worker that polls {kind}{domain}: scheduled {}.",
            self.past(task.scheduled_time)
        )];
        said.extend(around.polls.as_deref().map(|polls| self.workers(task, polls)));
        if let Some(waiting) = around.waiting.filter(|waiting| *waiting > 1) {
            said.push(format!("{waiting} tasks of {kind} wait."));
        }
        if let Some(limit) = around.limit() {
            said.push(match around.in_flight {
                Some(count) => format!(
                    "At most {limit} of {kind} run at once (concurrentExecLimit); \
                     {count} are in progress."
                ),
                None => format!("At most {limit} of {kind} run at once (concurrentExecLimit)."),
            });
        }
        if let Some(rated) = around.definition.as_ref().filter(|it| it.rate_limit_per_frequency > 0)
        {
            said.push(format!(
                "At most {} of {kind} are handed out per {} s (rateLimitPerFrequency).",
                rated.rate_limit_per_frequency, rated.rate_limit_frequency_in_seconds
            ));
        }
        said
    }

    fn delayed(&self, task: &Task, ready: Timestamp) -> String {
        let (name, when) = (&task.reference_task_name, self.future(ready));
        if task.retry_count == 0 {
            return format!("{name} is delayed: it can be taken {when}.");
        }
        let before = self.run.tasks.iter().find(|it| Some(it.task_id) == task.retried_task_id);
        let why = before.and_then(|before| before.reason_for_incompletion.as_deref());
        let why = why.map(|why| format!(" The attempt before: {why}")).unwrap_or_default();
        format!("{name} is tried again {when}, as attempt {}.{why}", task.retry_count + 1)
    }

    fn workers(&self, task: &Task, polls: &[PollData]) -> String {
        let kind = &task.task_type;
        let mine = polls.iter().find(|poll| poll.domain == task.domain);
        let Some(last) = mine else {
            let others: Vec<&str> =
                polls.iter().map(|poll| poll.domain.as_deref().unwrap_or("none")).collect();
            let elsewhere = match others.is_empty() {
                true => String::new(),
                false => format!(" Workers do poll it in other domains: {}.", others.join(", ")),
            };
            return format!(
                "No worker has polled {kind} there since the server started: start one.{elsewhere}"
            );
        };
        let who = last.worker_id.as_deref().unwrap_or("a worker without a name");
        let ago = self.past(last.last_poll_time);
        if self.now.since_ms(last.last_poll_time) > SILENT_MS {
            return format!("It was last polled {ago} by {who}: is that worker still running?");
        }
        format!("It was last polled {ago} by {who}.")
    }

    fn past(&self, at: Timestamp) -> String {
        if !at.is_set() {
            return "at an unknown time".to_owned();
        }
        format!("{} ({} ago)", moment(at), span(self.now.since_ms(at)))
    }

    fn future(&self, at: Timestamp) -> String {
        match at.since_ms(self.now) {
            ms if ms > 0 => format!("at {} (in {})", moment(at), span(ms)),
            _ => format!("at {} (now)", moment(at)),
        }
    }
}

#[cfg(test)]
mod tests;
