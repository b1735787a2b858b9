//! # Apply, task by task

use std::collections::BTreeSet;
use std::sync::Arc;

use imbl::{OrdMap, OrdSet, Vector};
use semel_model::{ExecutionId, Payload, TaskId, TaskStatus, Timestamp};
use serde_json::json;

use super::Page;
use crate::change::{Change, HandOutFacts, Removed, Timeout};
use crate::execution::{Child, Execution, Task};
use crate::pin::Step;

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
            ..self.blank(*task, reference, page.payload(*input), page.at)
        };
        if let Some(replaced) = replaced {
            self.alter(replaced.id, |task| task.replaced = true);
        }
        self.add(added);
    }

    pub(super) fn add_skipped(&mut self, change: &Change, page: &Page<'_>) {
        let Change::TaskSkipped { task, reference, input, output, ahead } = change else { return };
        let skipped = Task {
            status: TaskStatus::Skipped,
            output: page.payload(*output),
            started_at: page.at,
            ended_at: page.at,
            is_ahead: *ahead,
            system: self.definition.step(reference).kind().is_system(),
            ..self.blank(*task, reference, page.payload(*input), page.at)
        };
        self.add(skipped);
    }

    fn blank(&self, id: TaskId, reference: &str, input: Payload, at: Timestamp) -> Task {
        let step: Step = self.definition.step(reference).clone();
        Task {
            id,
            reference: reference.into(),
            step,
            seq: u32::try_from(self.tasks.len() + 1)
                .expect("an execution has fewer than 2^32 tasks"),
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
        }
    }

    fn add(&mut self, task: Task) {
        self.deadlines.extend(self.deadlines_of(&task));
        self.by_id.insert(task.id, task.seq);
        self.latest.insert(Arc::clone(&task.reference), task.seq);
        if !task.status.is_terminal() {
            self.open.insert(task.seq);
        }
        self.tasks.push_back(Arc::new(task));
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
            task.output = page.payload(*output);
            task.ready_at = *ready_at;
            task.reason = reason.clone();
            task.callback_after_seconds = *callback_after_seconds;
            task.accepted = *fingerprint;
            task.updated_at = page.at;
            task.learn(hand_out);
        });
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
            if task.polls > 0 {
                task.updated_at = task.updated_at.max(task.started_at);
                task.callback_after_seconds = 0; // Its delay was over when it was taken.
            }
        });
        let seq = self.expect_task(*task).seq;
        self.open.remove(&seq);
        if self.is_paused() {
            self.unconsumed.insert(seq);
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

    fn open_again(&mut self, id: TaskId) {
        let seq = self.expect_task(id).seq;
        self.open.insert(seq);
        self.unconsumed.remove(&seq);
    }

    /// Those that stay close ranks: a task's place is its number.
    pub(super) fn remove_tasks(&mut self, which: &Removed, generation: u32) {
        self.generation = generation;
        let after = match which {
            Removed::After(task) => self.expect_task(*task).seq,
            Removed::All | Removed::Steps(_) => 0,
        };
        let steps: BTreeSet<&str> = match which {
            Removed::Steps(steps) => steps.iter().map(String::as_str).collect(),
            Removed::All | Removed::After(_) => BTreeSet::new(),
        };
        let stays = |task: &Task| match which {
            Removed::All => false,
            Removed::After(_) => task.seq <= after || task.is_ahead,
            Removed::Steps(_) => !steps.contains(&*task.reference),
        };
        let unconsumed: Vec<TaskId> = self.unconsumed().iter().map(|task| task.id).collect();
        let tasks: Vec<Arc<Task>> = self.tasks.iter().filter(|task| stays(task)).cloned().collect();
        self.tasks = Vector::new();
        self.by_id = OrdMap::new();
        self.latest = OrdMap::new();
        self.open = OrdSet::new();
        self.unconsumed = OrdSet::new();
        for (at, mut task) in tasks.into_iter().enumerate() {
            let seq = u32::try_from(at + 1).expect("fewer than before");
            if task.seq != seq {
                Arc::make_mut(&mut task).seq = seq;
            }
            self.by_id.insert(task.id, seq);
            self.latest.insert(Arc::clone(&task.reference), seq);
            if !task.status.is_terminal() {
                self.open.insert(seq);
            }
            if unconsumed.contains(&task.id) {
                self.unconsumed.insert(seq);
            }
            self.tasks.push_back(task);
        }
    }

    /// A task's deadlines follow from its facts, so they are taken out before and put back after.
    pub(super) fn alter(&mut self, id: TaskId, change: impl FnOnce(&mut Task)) {
        for deadline in self.deadlines_of(self.expect_task(id)) {
            self.deadlines.remove(&deadline);
        }
        let seq = *self.by_id.get(&id).expect("changes speak of tasks that were scheduled");
        let task = self.tasks.get_mut(seq as usize - 1).expect("the index covers every task");
        change(Arc::make_mut(task));
        self.deadlines.extend(self.deadlines_of(self.expect_task(id)));
    }
}

impl Task {
    fn learn(&mut self, hand_out: &HandOutFacts) {
        self.worker = hand_out.worker.clone();
        self.started_at = hand_out.started_at;
        self.polls = hand_out.polls;
        self.fence = hand_out.fence;
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
            input,
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
            ..self.clone()
        }
    }
}

/// The output of a task that waits for a run.
fn naming(run: ExecutionId) -> Payload {
    Payload::from_value(&json!({"subWorkflowId": run.to_string()}))
}
