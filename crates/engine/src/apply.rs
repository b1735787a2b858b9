//! # Apply: the only code that alters an execution
//!
//! Used while deciding and while folding a journal, so both come to the same state.

use std::sync::Arc;

use semel_model::{Payload, TaskId, TaskStatus, Timestamp, WorkflowStatus};

use serde_json::Value;

use crate::change::{Change, HandOutFacts, Timeout};
use crate::entry::{Entry, Link};
use crate::event::Slot;
use crate::execution::{Execution, Run, Task};

/// The entry a change comes from, as far as `apply` needs it.
pub(crate) struct Page<'a> {
    pub(crate) at: Timestamp,
    pub(crate) payloads: &'a [Payload],
}

impl Page<'_> {
    fn payload(&self, slot: Slot) -> Payload {
        let found = self.payloads.get(slot.0 as usize);
        found.expect("a slot points into its own entry").clone()
    }
}

impl Execution {
    /// Adds a committed entry, whose place in the chain the caller has checked.
    pub fn fold(&mut self, entry: &Entry, link: Link) {
        let page = Page { at: entry.at, payloads: &entry.payloads };
        entry.changes.iter().for_each(|change| self.apply(change, &page));
        self.link = link;
    }

    pub(crate) fn apply(&mut self, change: &Change, page: &Page<'_>) {
        self.last_at = page.at;
        match change {
            Change::Started { input, .. } => self.begin(change, page.payload(*input), page.at),
            Change::TaskScheduled { .. } => self.add_task(change, page),
            Change::Asked { task, question, retry_at } => {
                self.alter(*task, |task| task.question = Some((question.clone(), *retry_at)));
            }
            Change::TaskPlaced { task, domain } => self.alter(*task, |task| {
                task.question = None;
                task.domain = domain.clone();
            }),
            Change::TaskWaits { task, until } => {
                self.alter(*task, |task| task.wait_until = Some(*until));
            }
            Change::VariablesSet { variables } => {
                let merged = merged(&self.run.variables, &page.payload(*variables));
                self.run_mut().variables = merged;
            }
            Change::TaskProgressed {
                task,
                output,
                ready_at,
                reason,
                callback_after_seconds,
                fingerprint,
                hand_out,
            } => self.alter(*task, |task| {
                task.output = page.payload(*output);
                task.ready_at = *ready_at;
                task.reason = reason.clone();
                task.callback_after_seconds = *callback_after_seconds;
                task.accepted = *fingerprint;
                task.updated_at = page.at;
                task.learn(hand_out);
            }),
            Change::TaskClosed { task, .. } => self.close_task(*task, change, page),
            Change::TaskAlerted { task, timeout } => self.alter(*task, |task| match timeout {
                Timeout::Total => task.alerted_total = true,
                Timeout::Poll => task.alerted_poll = true,
                Timeout::Run => task.alerted_run = true,
                Timeout::Response => {}
            }),
            Change::ExecutionAlerted => self.drop_workflow_deadline(),
            Change::Paused => self.run_mut().status = Some(WorkflowStatus::Paused),
            Change::Resumed => {
                self.drop_workflow_deadline();
                let run = self.run_mut();
                run.status = Some(WorkflowStatus::Running);
                run.last_resumed_at = page.at;
                self.unconsumed.clear();
                self.arm_workflow_deadline();
            }
            Change::ExecutionClosed { status, reason, output, failed_task } => {
                let output = page.payload(*output);
                let run = self.run_mut();
                run.status = Some(*status);
                run.reason = reason.clone();
                run.output = output;
                run.ended_at = page.at;
                run.failed_task = run.failed_task.or(*failed_task);
                self.deadlines.clear();
            }
        }
    }

    fn begin(&mut self, change: &Change, input: Payload, at: Timestamp) {
        let Change::Started {
            correlation_id,
            priority,
            task_to_domain,
            idempotency_key,
            created_by,
            ..
        } = change
        else {
            return;
        };
        self.run = Arc::new(Run {
            status: Some(WorkflowStatus::Running),
            input,
            variables: self.definition.variables(),
            correlation_id: correlation_id.clone(),
            priority: *priority,
            task_to_domain: task_to_domain.clone(),
            idempotency_key: idempotency_key.clone(),
            created_by: created_by.clone(),
            started_at: at,
            ..Run::default()
        });
        self.arm_workflow_deadline();
    }

    fn add_task(&mut self, change: &Change, page: &Page<'_>) {
        let Change::TaskScheduled {
            task,
            reference,
            attempt,
            input,
            ready_at,
            domain,
            replaces,
            system,
        } = change
        else {
            return;
        };
        let replaced = replaces.map(|id| Arc::clone(self.expect_task(id)));
        let seq =
            u32::try_from(self.tasks.len() + 1).expect("an execution has fewer than 2^32 tasks");
        let reference: Arc<str> = reference.as_str().into();
        let added = Task {
            id: *task,
            reference: Arc::clone(&reference),
            seq,
            attempt: *attempt,
            status: if *system { TaskStatus::InProgress } else { TaskStatus::Scheduled },
            input: page.payload(*input),
            output: Payload::empty(),
            reason: replaced.as_ref().and_then(|task| task.reason.clone()),
            domain: domain.clone(),
            replaces: *replaces,
            replaced: false,
            scheduled_at: page.at,
            first_scheduled_at: replaced.as_ref().map_or(page.at, |task| task.first_scheduled_at),
            ready_at: *ready_at,
            started_at: if *system { page.at } else { Timestamp::NOT_YET },
            updated_at: page.at,
            ended_at: Timestamp::NOT_YET,
            callback_after_seconds: ready_at.since_ms(page.at) / 1000,
            worker: None,
            polls: 0,
            fence: None,
            accepted: None,
            question: None,
            alerted_poll: false,
            alerted_run: false,
            alerted_total: false,
            system: *system,
            wait_until: None,
        };
        self.deadlines.extend(self.deadlines_of(&added));
        if let Some(replaced) = replaced {
            self.alter(replaced.id, |task| task.replaced = true);
        }
        self.tasks.push_back(Arc::new(added));
        self.by_id.insert(*task, seq);
        self.latest.insert(reference, seq);
        self.open.insert(seq);
    }

    fn close_task(&mut self, id: TaskId, change: &Change, page: &Page<'_>) {
        let Change::TaskClosed { status, output, reason, fingerprint, hand_out, .. } = change
        else {
            return;
        };
        self.alter(id, |task| {
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
        });
        let seq = self.expect_task(id).seq;
        self.open.remove(&seq);
        if self.is_paused() {
            self.unconsumed.insert(seq);
        }
    }

    /// A task's deadlines follow from its facts, so they are taken out before and put back after.
    fn alter(&mut self, id: TaskId, change: impl FnOnce(&mut Task)) {
        for deadline in self.deadlines_of(self.expect_task(id)) {
            self.deadlines.remove(&deadline);
        }
        let seq = *self.by_id.get(&id).expect("changes speak of tasks that were scheduled");
        let task = self.tasks.get_mut(seq as usize - 1).expect("the index covers every task");
        change(Arc::make_mut(task));
        self.deadlines.extend(self.deadlines_of(self.expect_task(id)));
    }

    fn run_mut(&mut self) -> &mut Run {
        Arc::make_mut(&mut self.run)
    }
}

/// One object over another, key by key.
pub(crate) fn merged(under: &Payload, over: &Payload) -> Payload {
    match (under.value(), over.value()) {
        (Value::Object(mut under), Value::Object(over)) => {
            under.extend(over);
            Payload::from_value(&Value::Object(under))
        }
        _ => over.clone(),
    }
}

impl Task {
    fn learn(&mut self, hand_out: &HandOutFacts) {
        self.worker = hand_out.worker.clone();
        self.started_at = hand_out.started_at;
        self.polls = hand_out.polls;
        self.fence = hand_out.fence;
    }
}
