//! # Scheduling: from a step to a task that workers can take

use semel_model::{Digest, TaskId, Timestamp};

use crate::change::Change;
use crate::decide::Stop;
use crate::domain::{self, Choice};
use crate::execution::Task;
use crate::pin::Step;
use crate::question::{ASK_RETRY_MS, Answer, Question};
use crate::turn::Turn;

/// Restarts and whole reruns make a new generation of task ids; nothing does so yet.
const GENERATION: u32 = 0;

impl Turn<'_> {
    /// The first attempt at a step.
    pub(crate) fn schedule(&mut self, step: &Step) -> Result<(), Stop> {
        let ready_at = self.now().plus_seconds(step.task().start_delay.into());
        self.attempt(step, 0, None, ready_at)
    }

    /// Another attempt, after `failed`, ready when its delay is over.
    pub(crate) fn schedule_again(
        &mut self,
        step: &Step,
        failed: &Task,
        ready_at: Timestamp,
    ) -> Result<(), Stop> {
        self.attempt(step, failed.attempt + 1, Some(failed), ready_at)
    }

    fn attempt(
        &mut self,
        step: &Step,
        attempt: u32,
        replaces: Option<&Task>,
        ready_at: Timestamp,
    ) -> Result<(), Stop> {
        let execution = self.execution().id();
        let task = TaskId::derive(execution, GENERATION, step.reference(), 0, attempt);
        let input = self.task_input(step, task, replaces.map(|task| &task.input));
        let input = self.store(input);
        let system = step.kind().is_system();
        let choice = match system {
            true => Choice::Settled(None),
            false => domain::choose(self.execution().task_to_domain(), step.task_type()),
        };
        let domain = match &choice {
            Choice::Settled(domain) => domain.clone(),
            Choice::Ask(_) => None,
        };
        self.emit(Change::TaskScheduled {
            task,
            reference: step.reference().to_owned(),
            attempt,
            input,
            ready_at,
            domain,
            replaces: replaces.map(|task| task.id),
            system,
        });
        if let Choice::Ask(domains) = choice {
            let task_type = step.task_type().to_owned();
            self.ask(task, Question::ActiveDomains { task_type, domains });
        }
        self.begin_system(step.kind(), task)
    }

    fn ask(&mut self, task: TaskId, question: Question) {
        let retry_at = self.now().plus_ms(ASK_RETRY_MS);
        self.emit(Change::Asked { task, question, retry_at });
    }

    pub(crate) fn ask_again(&mut self, task: TaskId) {
        if let Some((question, _)) = self.task(task).and_then(|task| task.question.clone()) {
            self.ask(task, question);
        }
    }

    /// An answer to anything but the open question is a no-op.
    pub(crate) fn answer(&mut self, id: TaskId, asked: Digest, answer: &Answer) {
        let Some(task) = self.task(id) else { return };
        let Some((question, _)) = &task.question else { return };
        if task.status.is_terminal() || question.digest(id) != asked {
            return;
        }
        match (question, answer) {
            (Question::ActiveDomains { domains, .. }, Answer::ActiveDomains(active)) => {
                let domain = domain::settle(domains, active);
                self.emit(Change::TaskPlaced { task: id, domain });
            }
        }
    }

    /// What follows from a task that ended well: the next step, or the end.
    pub(crate) fn go_on_after(&mut self, task: &Task) -> Result<(), Stop> {
        if self.execution().is_closed() || self.execution().is_paused() {
            return Ok(());
        }
        match self.execution().definition().after(&task.reference).cloned() {
            Some(step) => self.schedule(&step),
            None => self.complete_execution(),
        }
    }
}
