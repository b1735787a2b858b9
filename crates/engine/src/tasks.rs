//! # System tasks: those the engine runs itself, one file each
//!
//! They begin in the decision that schedules them, or when their delay is over; most end in it too.
//! No worker is ever offered one, HTTP excepted; anybody may answer for an open one by the task API.

mod acquire_lock;
mod decision;
mod do_while;
mod dynamic;
mod event;
mod exclusive_join;
mod fork_join;
mod fork_join_dynamic;
mod given_definition;
pub(crate) mod http;
mod inline;
mod join;
mod json_jq_transform;
mod lambda;
mod pull_workflow_messages;
mod release_lock;
mod set_variable;
mod start_workflow;
mod sub_workflow;
mod switch;
mod terminate;
mod wait;

pub use given_definition::marked_dynamic;
pub(crate) use given_definition::unmarked;
pub use http::LEFT_TO_OTHERS_SECONDS;
pub(crate) use http::is_keyless;
pub(crate) use set_variable::VARIABLES_BYTES_MAX;
pub(crate) use wait::wait_seconds;

use std::sync::Arc;

use semel_model::{Payload, TaskId, TaskStatus};

use crate::change::{Change, HandOutFacts};
use crate::decide::Stop;
use crate::kinds::Kind;
use crate::question::Question;
use crate::script::{Language, Verdict, plain};
use crate::task::Task;
use crate::turn::{Closing, Turn};

impl Turn<'_> {
    pub(crate) fn begin_system(&mut self, kind: Kind, task: TaskId) -> Result<(), Stop> {
        match kind {
            Kind::Worker | Kind::Http | Kind::Human | Kind::Yield => {}
            Kind::Dynamic => self.fail_dynamic(task)?,
            Kind::Noop => self.end_system(task, TaskStatus::Completed, Payload::empty(), None),
            Kind::SetVariable => self.set_variables(task),
            Kind::Terminate => self.terminate_by_task(task)?,
            Kind::Wait => self.begin_wait(task),
            Kind::SubWorkflow => self.begin_child(task)?,
            Kind::StartWorkflow => self.begin_start(task)?,
            Kind::Event => self.begin_event(task),
            Kind::Switch => self.begin_switch(task)?,
            Kind::Decision => self.begin_decision(task)?,
            Kind::Fork => self.begin_fork(task),
            Kind::DynamicFork => self.begin_dynamic_fork(task)?,
            Kind::Join | Kind::ExclusiveJoin => self.begin_join(task),
            Kind::DoWhile => self.begin_loop(task)?,
            Kind::Inline => self.begin_inline(task)?,
            Kind::Lambda => self.begin_lambda(task)?,
            Kind::Jq => self.begin_jq(task)?,
            Kind::Absent => self.fail_absent(task),
            Kind::PullMessages => self.begin_pull(task),
            Kind::AcquireLock => self.begin_acquire(task)?,
            Kind::ReleaseLock => self.begin_release(task)?,
        }
        Ok(())
    }

    /// The delay of a task the engine runs itself is over.
    pub(crate) fn begin_delayed(&mut self, id: TaskId) -> Result<(), Stop> {
        let waits = |task: &Arc<Task>| {
            task.system && task.status == TaskStatus::Scheduled && !task.is_held_back()
        };
        let Some(task) = self.task(id).filter(waits) else { return Ok(()) };
        if self.must_wait(&task.step) || self.has_done_enough() || self.is_leaving() {
            return Ok(()); // It is still due, so the run wakes again at once.
        }
        self.emit(Change::TaskBegan { task: id });
        self.begin_system(task.step.kind(), id)
    }

    /// What follows from the verdict of a task's program.
    pub(crate) fn on_verdict(&mut self, task: &Task, verdict: &Verdict) -> Result<(), Stop> {
        match task.kind() {
            Kind::Inline => self.inline_verdict(task.id, verdict),
            Kind::Lambda => self.lambda_verdict(task.id, verdict),
            Kind::Jq => self.jq_verdict(task.id, verdict),
            Kind::Switch => self.switch_verdict(task, verdict)?,
            Kind::Decision => self.decision_verdict(task, verdict)?,
            Kind::DoWhile => self.condition_verdict(task, verdict)?,
            Kind::Join => self.join_verdict(task, verdict),
            Kind::Worker
            | Kind::Noop
            | Kind::SetVariable
            | Kind::Terminate
            | Kind::Wait
            | Kind::Human
            | Kind::SubWorkflow
            | Kind::StartWorkflow
            | Kind::Event
            | Kind::Fork
            | Kind::DynamicFork
            | Kind::ExclusiveJoin
            | Kind::Dynamic
            | Kind::Yield
            | Kind::Absent
            | Kind::PullMessages
            | Kind::Http
            | Kind::AcquireLock
            | Kind::ReleaseLock => {} // They have none.
        }
        Ok(())
    }

    /// Goes on with the result of a plain program; of any other it asks for the verdict. A run that
    /// may not go on decides nothing: it asks again later.
    fn run_script(
        &mut self,
        task: TaskId,
        language: Language,
        source: &str,
        input: Payload,
    ) -> Result<(), Stop> {
        let may_go_on = !self.execution().is_paused() && !self.is_leaving();
        let computed = may_go_on.then(|| plain::compute(language, source, &input)).flatten();
        if let Some(computed) = computed {
            self.reading.spend(computed.steps);
            let task = self.execution().expect_task(task).clone();
            return self.on_verdict(&task, &Verdict::Value(computed.result));
        }
        let input = Some(self.store(input));
        let source = source.to_owned();
        self.ask(task, Question::Script { language, source }, input);
        Ok(())
    }

    pub(crate) fn end_system(
        &mut self,
        task: TaskId,
        status: TaskStatus,
        output: Payload,
        reason: Option<String>,
    ) {
        self.close_system(task, status, output, reason);
        self.after_close(task);
    }

    fn close_system(
        &mut self,
        task: TaskId,
        status: TaskStatus,
        output: Payload,
        reason: Option<String>,
    ) {
        let output = Some(self.store(output));
        let started_at = self.execution().expect_task(task).started_at;
        let hand_out = HandOutFacts { started_at, ..HandOutFacts::default() };
        self.emit_closed(task, Closing { output, ..Closing::new(status, reason, hand_out) });
    }
}
