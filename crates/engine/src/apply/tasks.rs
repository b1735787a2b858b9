//! # Apply, task by task

use std::sync::Arc;

use semel_model::{Digest, ExecutionId, Payload, TaskId, TaskStatus, Timestamp};
use serde_json::json;

use super::Page;
use super::flow::flow_of;
use crate::change::{Change, HandOutFacts, Timeout};
use crate::event::Slot;
use crate::execution::Execution;
use crate::question::Question;
use crate::task::{Asked, Child, Signature, Task, in_turns};
use crate::tasks::http::is_left_to_others;

impl Execution {
    pub(super) fn add_task(&mut self, change: &Change, page: &Page<'_>) {
        let Change::TaskScheduled {
            task,
            reference,
            attempt,
            input,
            ready_at,
            domain,
            replaces,
            system,
            by_hand,
            later,
            fork,
            definition,
        } = change
        else {
            return;
        };
        let replaced = replaces.map(|id| Arc::clone(self.expect_task(id)));
        let before = replaced.as_ref().filter(|_| !by_hand);
        let begins = *system && *ready_at <= page.at && !later;
        let added = Task {
            attempt: *attempt,
            status: if begins { TaskStatus::InProgress } else { TaskStatus::Scheduled },
            reason: before.and_then(|task| task.reason.clone()),
            domain: domain.clone(),
            replaces: *replaces,
            first_scheduled_at: before.map_or(page.at, |task| task.first_scheduled_at),
            ready_at: *ready_at,
            started_at: if begins { page.at } else { Timestamp::NOT_YET },
            callback_after_seconds: ready_at.since_ms(page.at) / 1000,
            system: *system,
            ..self.blank(*task, reference, page.payload(*input), page.at, *fork, *definition)
        };
        if let Some(replaced) = replaced {
            self.alter(replaced.id, |task| task.replaced = true);
        }
        self.add(added);
    }

    pub(super) fn add_skipped(&mut self, change: &Change, page: &Page<'_>) {
        let Change::TaskSkipped { task, reference, input, output, ahead, fork } = change else {
            return;
        };
        let skipped = Task {
            status: TaskStatus::Skipped,
            output: page.payload(*output),
            started_at: page.at,
            ended_at: page.at,
            is_ahead: *ahead,
            system: self.home(*fork).step(reference).kind().is_system(),
            ..self.blank(*task, reference, page.payload(*input), page.at, *fork, None)
        };
        self.add(skipped);
    }

    fn blank(
        &self,
        id: TaskId,
        reference: &str,
        input: Payload,
        at: Timestamp,
        fork: Option<TaskId>,
        definition: Option<Digest>,
    ) -> Task {
        let home = self.home(fork);
        let place = home.step(reference);
        let own = definition.and_then(|digest| self.defined.get(&digest));
        let step = own.map_or(place, |own| own.step(reference)).clone();
        let turns = Task::turns_in(reference, place);
        let within = match home.loop_around(place) {
            Some(around) => {
                let outer = &turns[..turns.len().saturating_sub(1)];
                let name = in_turns(around.reference(), outer);
                self.latest(&name).map(|task| task.id)
            }
            None => fork.and_then(|fork| self.task(fork)?.within),
        };
        Task {
            id,
            reference: reference.into(),
            flow: flow_of(&step, &input),
            step,
            turns,
            within,
            fork,
            seq: self.tasks.get_max().map_or(1, |(last, _)| last + 1),
            attempt: 0,
            status: TaskStatus::Scheduled,
            input,
            output: Payload::empty(),
            reason: None,
            domain: None,
            replaces: None,
            replaced: false,
            scheduled_at: at,
            first_scheduled_at: at,
            ready_at: at,
            started_at: Timestamp::NOT_YET,
            updated_at: at,
            ended_at: Timestamp::NOT_YET,
            callback_after_seconds: 0,
            worker: None,
            polls: 0,
            fence: None,
            signature: None,
            accepted: None,
            question: None,
            alerted_poll: false,
            alerted_run: false,
            alerted_total: false,
            system: false,
            wait_until: None,
            is_ahead: false,
            is_passed_over: false,
            is_reset: false,
            child: None,
            children: 0,
            once: None,
        }
    }

    pub(super) fn ask(
        &mut self,
        id: TaskId,
        question: &Question,
        input: Option<Slot>,
        retry_at: Timestamp,
        page: &Page<'_>,
    ) {
        let (question, asked_at) = (question.clone(), page.at);
        let input = input.map(|slot| page.payload(slot)).unwrap_or_default();
        let turn = self.expect_task(id).iteration();
        let asked = Asked { question, input, asked_at, turn, retry_at };
        self.alter(id, |task| task.question = Some(asked));
    }

    pub(super) fn ask_again(&mut self, id: TaskId, retry_at: Timestamp) {
        self.alter(id, |task| {
            if let Some(asked) = &mut task.question {
                asked.retry_at = retry_at;
            }
        });
    }

    pub(super) fn place(&mut self, id: TaskId, domain: Option<&str>) {
        self.alter(id, |task| {
            task.question = None;
            task.domain = domain.map(str::to_owned);
        });
    }

    pub(super) fn begin_task(&mut self, id: TaskId, at: Timestamp) {
        self.alter(id, |task| {
            task.status = TaskStatus::InProgress;
            task.started_at = at;
            task.updated_at = at;
        });
    }

    pub(super) fn progress_task(&mut self, change: &Change, page: &Page<'_>) {
        let Change::TaskProgressed {
            task,
            output,
            ready_at,
            reason,
            callback_after_seconds,
            fingerprint,
            hand_out,
        } = change
        else {
            return;
        };
        self.alter(*task, |task| {
            if is_left_to_others(task, *callback_after_seconds) {
                task.status = TaskStatus::InProgress;
            }
            task.output = page.payload(*output);
            task.ready_at = *ready_at;
            task.reason = reason.clone();
            task.callback_after_seconds = *callback_after_seconds;
            task.accepted = *fingerprint;
            task.updated_at = page.at;
            task.learn(hand_out);
        });
        self.remember_sent(*task);
    }

    pub(super) fn note_alert(&mut self, id: TaskId, timeout: Timeout) {
        self.alter(id, |task| match timeout {
            Timeout::Total => task.alerted_total = true,
            Timeout::Poll => task.alerted_poll = true,
            Timeout::Run => task.alerted_run = true,
            Timeout::Response => {}
        });
    }

    pub(super) fn make_ready(&mut self, id: TaskId, at: Timestamp) {
        self.alter(id, |task| {
            task.ready_at = at;
            task.callback_after_seconds = 0;
        });
    }

    pub(super) fn attach(&mut self, id: TaskId, run: ExecutionId, edge: u32, is_observed: bool) {
        self.alter(id, |task| {
            // A task that watches the same run once more is told so by its epoch.
            let epoch = if is_observed { edge } else { 0 };
            task.child = Some(Child { run, epoch, is_observed });
            task.children = edge + 1;
            task.output = naming(run);
        });
    }

    pub(super) fn close_task(&mut self, change: &Change, page: &Page<'_>) {
        let Change::TaskClosed { task, status, output, reason, fingerprint, hand_out } = change
        else {
            return;
        };
        self.alter(*task, |task| {
            task.status = *status;
            task.question = None;
            if let Some(output) = output {
                task.output = page.payload(*output);
            }
            task.reason = reason.clone();
            task.accepted = *fingerprint;
            if !task.ended_at.is_set() {
                task.ended_at = page.at; // A failure absorbed later ended when it failed.
            }
            task.learn(hand_out);
            if status.is_successful() {
                task.end_doubt();
            }
            if task.polls > 0 {
                task.updated_at = task.updated_at.max(task.started_at);
                task.callback_after_seconds = 0; // Its delay was over when it was taken.
            }
        });
        self.remember_sent(*task);
        self.shut(*task);
        if self.is_paused() {
            self.unconsumed.insert(self.expect_task(*task).seq);
        }
    }

    pub(super) fn reset(&mut self, id: TaskId, attempt: u32, input: Payload, at: Timestamp) {
        self.alter(id, |task| *task = task.renewed(attempt, input, at));
        self.open_again(id);
    }

    /// It waits for its child once more, and its clocks begin anew.
    pub(super) fn reopen(&mut self, id: TaskId, epoch: u32, at: Timestamp) {
        self.alter(id, |task| {
            task.status = TaskStatus::InProgress;
            task.reason = None;
            task.ended_at = Timestamp::NOT_YET;
            task.started_at = at;
            task.first_scheduled_at = at;
            task.updated_at = at;
            task.alerted_run = false;
            task.alerted_total = false;
            task.is_passed_over = false;
            if let Some(child) = &mut task.child {
                child.epoch = epoch;
                task.output = naming(child.run);
            }
        });
        self.open_again(id);
    }

    /// A task's deadlines follow from its facts, so they are taken out before and put back after.
    pub(super) fn alter(&mut self, id: TaskId, change: impl FnOnce(&mut Task)) {
        for deadline in self.deadlines_of(self.expect_task(id)) {
            self.deadlines.remove(&deadline);
        }
        let seq = *self.by_id.get(&id).expect("changes speak of tasks that were scheduled");
        let task = self.tasks.get_mut(&seq).expect("the index covers every task");
        let before = task.weight();
        change(Arc::make_mut(task));
        self.task_bytes = (self.task_bytes + task.weight()).saturating_sub(before);
        self.deadlines.extend(self.deadlines_of(self.expect_task(id)));
    }
}

impl Task {
    pub(super) fn learn(&mut self, hand_out: &HandOutFacts) {
        self.worker = hand_out.worker.clone();
        self.started_at = hand_out.started_at;
        self.polls = hand_out.polls;
        self.fence = hand_out.fence;
        if let (Some(holder), Some(name)) = (&hand_out.holder, &hand_out.worker) {
            let (holder, name) = (holder.clone(), name.clone());
            self.signature = Some(Box::new(Signature { holder, name }));
        }
    }

    /// The same place and id, with nothing done yet.
    fn renewed(&self, attempt: u32, input: Payload, at: Timestamp) -> Self {
        Self {
            attempt,
            status: if self.system { TaskStatus::InProgress } else { TaskStatus::Scheduled },
            started_at: if self.system { at } else { Timestamp::NOT_YET },
            is_reset: true,
            is_ahead: false,
            is_passed_over: false,
            output: Payload::empty(),
            reason: None,
            replaced: false,
            scheduled_at: at,
            first_scheduled_at: at,
            ready_at: at,
            updated_at: at,
            ended_at: Timestamp::NOT_YET,
            callback_after_seconds: 0,
            worker: None,
            polls: 0,
            accepted: None,
            question: None,
            alerted_poll: false,
            alerted_run: false,
            alerted_total: false,
            wait_until: None,
            child: None,
            once: None,
            flow: flow_of(&self.step, &input),
            input,
            ..self.clone()
        }
    }
}

/// The output of a task that waits for a run.
fn naming(run: ExecutionId) -> Payload {
    Payload::from_value(&json!({"subWorkflowId": run.to_string()}))
}
