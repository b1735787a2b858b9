//! # Apply: the only code that alters an execution
//!
//! Used while deciding and while folding a journal, so both come to the same state. What concerns
//! single tasks is in `apply/tasks.rs`, what leads from one to the next in `apply/flow.rs`.

mod effects;
mod flow;
mod guards;
mod index;
mod tasks;

use std::sync::Arc;

use semel_model::{Payload, Timestamp, WorkflowStatus};

use crate::change::Change;
use crate::entry::{Entry, Link};
use crate::event::Slot;
use crate::execution::{Execution, Run};
use crate::expression::merged;
use crate::gate::Guards;
use crate::jump::Leaving;
use crate::mailbox::{Mailbox, Posted};
use crate::pin::Pinned;

/// The entry a change comes from, as far as `apply` needs it.
pub(crate) struct Page<'a> {
    pub(crate) at: Timestamp,
    pub(crate) payloads: &'a [Payload],
    /// The definition this entry brings, if it changes it.
    pub(crate) definition: Option<&'a Arc<Pinned>>,
}

impl Page<'_> {
    pub(crate) fn payload(&self, slot: Slot) -> Payload {
        let found = self.payloads.get(slot.0 as usize);
        found.expect("a slot points into its own entry").clone()
    }
}

impl Execution {
    /// Adds a committed entry, whose place in the chain the caller has checked. `brought` is the
    /// definition that [`crate::Event::brings`] names.
    pub fn fold(&mut self, entry: &Entry, link: Link, brought: Option<&Arc<Pinned>>) {
        let page = Page { at: entry.at, payloads: &entry.payloads, definition: brought };
        entry.changes.iter().for_each(|change| self.apply(change, &page));
        self.link = link;
    }

    fn pause(&mut self, at: Timestamp) {
        let run = self.run_mut();
        run.status = Some(WorkflowStatus::Paused);
        run.paused_since = Some(at);
    }

    pub(crate) fn apply(&mut self, change: &Change, page: &Page<'_>) {
        self.last_at = page.at;
        self.change(change, page);
        self.count_idle(change, page.at);
    }

    fn change(&mut self, change: &Change, page: &Page<'_>) {
        match change {
            Change::Started { input, .. } => self.begin(change, page.payload(*input), page.at),
            Change::TaskScheduled { .. } => self.add_task(change, page),
            Change::TaskSkipped { .. } => self.add_skipped(change, page),
            Change::TaskClosed { .. } => self.close_task(change, page),
            Change::Asked { task, question, input, retry_at } => {
                self.ask(*task, question, *input, *retry_at, page);
            }
            Change::AskedAgain { task, retry_at } => self.ask_again(*task, *retry_at),
            Change::Heard { task } => self.alter(*task, |task| task.question = None),
            Change::Defined { definition } => self.define(&page.payload(*definition)),
            Change::Chose { task, case, followed } => self.choose(*task, case, *followed),
            Change::Forked { task, begun, branches } => self.fork(*task, *begun, *branches),
            Change::LoopTurned { task, turn, items } => {
                let items = items.map(|slot| page.payload(slot));
                self.turn_loop(*task, *turn, items.as_ref());
            }
            Change::TaskResumed { task, attempt } => self.resume_task(*task, *attempt, page.at),
            Change::Remaining { tasks } => self.remain(tasks, page.at),
            Change::Continued => self.go_on(),
            Change::Leaving { .. } | Change::Arrived => self.note_jump(change, page),
            Change::TaskPlaced { task, domain } => self.place(*task, domain.as_deref()),
            Change::TaskWaits { task, until } => {
                self.alter(*task, |task| task.wait_until = Some(*until));
            }
            Change::TaskBegan { task } => self.begin_task(*task, page.at),
            Change::TaskProgressed { .. } => self.progress_task(change, page),
            Change::TaskAlerted { task, timeout } => self.note_alert(*task, *timeout),
            Change::TaskPassedOver { task } => self.alter(*task, |it| it.is_passed_over = true),
            Change::TaskReady { task } => self.make_ready(*task, page.at),
            Change::ChildAttached { task, child, edge, observed, mismatch: _ } => {
                self.attach(*task, *child, *edge, *observed);
            }
            Change::TaskReset { task, attempt, input } => {
                self.reset(*task, *attempt, page.payload(*input), page.at);
            }
            Change::TaskReopened { task, epoch } => self.reopen(*task, *epoch, page.at),
            Change::TasksRemoved { which, generation } => self.remove_tasks(which, *generation),
            Change::VariablesSet { variables } => self.set_variables(&page.payload(*variables)),
            Change::VariablesReset => self.run_mut().variables = self.definition.variables(),
            Change::InputSet { input } => self.run_mut().input = page.payload(*input),
            Change::CorrelationSet { correlation_id } => {
                self.run_mut().correlation_id = Some(correlation_id.clone());
            }
            Change::DefinitionChanged { .. } => self.change_definition(page),
            Change::ExecutionAlerted => self.drop_workflow_deadline(),
            Change::Paused => self.pause(page.at),
            Change::Resumed => self.resume(page.at),
            Change::Revived { .. } => self.revive(change, page.at),
            Change::ExecutionClosed { .. } => self.close(change, page),
            Change::Watched { by, epoch } => self.run_mut().watchers.push((*by, *epoch)),
            Change::EpochNoted { epoch } => self.run_mut().epoch = *epoch,
            Change::EffectNoted { .. } => self.note_effect(change, page.at),
            Change::EffectsRedone { tasks } => self.redo_effects(tasks.as_deref()),
            Change::MessagePosted { .. }
            | Change::Guarded { .. }
            | Change::Awaits { .. }
            | Change::LetGo { .. }
            | Change::LeftLine { .. }
            | Change::Queued { .. }
            | Change::Admitted { .. }
            | Change::MessagesTaken { .. }
            | Change::MessagesReturned { .. } => self.sort_mail(change, page),
            Change::Answer(change) => self.note_answer(change, page),
            Change::RunCreated { .. } | Change::Sent { .. } | Change::Published { .. } => {}
        }
    }

    fn begin(&mut self, change: &Change, input: Payload, at: Timestamp) {
        let Change::Started {
            correlation_id,
            priority,
            task_to_domain,
            idempotency_key,
            created_by,
            parent,
            depth,
            root,
            traceparent,
            event,
            under,
            input: _,
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
            parent: *parent,
            depth: *depth,
            root: *root,
            traceparent: *traceparent,
            event: event.clone(),
            guards: Guards { under: under.clone(), ..Guards::default() },
            started_at: at,
            ..Run::default()
        });
        self.arm_workflow_deadline();
    }

    fn change_definition(&mut self, page: &Page<'_>) {
        let brought = page.definition.expect("the event that changes the definition brings it");
        self.drop_workflow_deadline();
        self.definition = Arc::clone(brought);
        if self.is_live() {
            self.arm_workflow_deadline();
        }
    }

    fn resume(&mut self, at: Timestamp) {
        self.drop_workflow_deadline();
        let run = self.run_mut();
        run.status = Some(WorkflowStatus::Running);
        run.last_resumed_at = at;
        self.go_on();
        self.arm_workflow_deadline();
    }

    fn revive(&mut self, change: &Change, at: Timestamp) {
        let Change::Revived { epoch, anew, failure_kept } = change else { return };
        let run = self.run_mut();
        run.status = Some(WorkflowStatus::Running);
        run.reason = None;
        run.output = Payload::empty();
        run.ended_at = Timestamp::NOT_YET;
        run.last_resumed_at = if *anew { Timestamp::NOT_YET } else { at };
        if *anew {
            run.started_at = at;
        }
        run.epoch = epoch.unwrap_or(run.epoch);
        run.failed_task = run.failed_task.filter(|_| *failure_kept);
        self.go_on();
        self.arm_workflow_deadline();
    }

    fn close(&mut self, change: &Change, page: &Page<'_>) {
        let Change::ExecutionClosed { status, reason, output, failed_task } = change else {
            return;
        };
        let output = page.payload(*output);
        let run = self.run_mut();
        run.status = Some(*status);
        run.reason = reason.clone();
        run.output = output;
        run.ended_at = page.at;
        run.failed_task = run.failed_task.or(*failed_task);
        run.watchers.clear();
        run.leaving = None;
        run.guards.place = None;
        run.guards.locks.clear();
        run.guards.waits.clear();
        self.deadlines.clear();
        self.remaining_since = None;
        if let Some(mailbox) = &mut self.mailbox {
            Arc::make_mut(mailbox).close();
        }
    }

    fn set_variables(&mut self, variables: &Payload) {
        let merged = merged(&self.run.variables, variables);
        self.run_mut().variables = merged;
    }

    fn note_jump(&mut self, change: &Change, page: &Page<'_>) {
        self.run_mut().leaving = None;
        if let Change::Leaving { reference, input } = change {
            let input = input.map(|slot| page.payload(slot));
            self.run_mut().leaving = Some(Leaving { reference: reference.clone(), input });
        }
    }

    fn sort_mail(&mut self, change: &Change, page: &Page<'_>) {
        if let Change::MessagePosted { id, named, payload } = change {
            let (id, payload) = (id.as_str().into(), page.payload(*payload));
            let posted = Posted { id, payload, received_at: page.at };
            self.mailbox_mut().post(posted, *named);
        } else if let Change::MessagesTaken { count } = change {
            self.mailbox_mut().take(*count);
        } else if let Change::MessagesReturned { task } = change {
            let output = self.expect_task(*task).output.clone();
            self.mailbox_mut().give_back(&output);
        } else {
            self.note_guard(change, page);
        }
    }

    fn mailbox_mut(&mut self) -> &mut Mailbox {
        Arc::make_mut(self.mailbox.get_or_insert_default())
    }

    pub(crate) fn run_mut(&mut self) -> &mut Run {
        Arc::make_mut(&mut self.run)
    }
}
