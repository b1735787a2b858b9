//! # Operations: what people and programs say to a run, in one word each

use std::sync::Arc;

use semel_engine::{Answer, Asked, Change, Event, Rerun, Said as Verdict, Slot, Stop, Task};
use semel_model::{Payload, TaskId};
use serde_json::{Value, json};

use crate::bench::Bench;
use crate::shapes::{payload, with};

impl Bench {
    /// The newest attempt at a task.
    pub(crate) fn latest(&self, reference: &str) -> Arc<Task> {
        let found = self.execution.latest(reference);
        Arc::clone(found.unwrap_or_else(|| panic!("{reference} was scheduled: {:?}", self.story())))
    }

    /// The output of a task as it is now.
    pub(crate) fn output_at(&self, reference: &str) -> Value {
        self.execution.output_of(&self.latest(reference)).value()
    }

    pub(crate) fn input_at(&self, reference: &str) -> Value {
        self.latest(reference).input.value()
    }

    pub(crate) fn reason_at(&self, reference: &str) -> String {
        self.latest(reference).reason.clone().unwrap_or_default()
    }

    /// What a task asks.
    pub(crate) fn asked(&self, reference: &str) -> Asked {
        self.latest(reference).question.clone().expect("it asks")
    }

    /// The program of a task says this.
    pub(crate) fn say(&mut self, reference: &str, value: Value) -> Vec<Change> {
        self.verdict(reference, Verdict::Value(Slot(0)), &[payload(&value)])
    }

    /// The program of a task throws.
    pub(crate) fn throw(&mut self, reference: &str, why: &str) -> Vec<Change> {
        self.verdict(reference, Verdict::Failed(why.to_owned()), &[])
    }

    /// The program of a task spends its budget.
    pub(crate) fn exhaust(&mut self, reference: &str, why: &str) -> Vec<Change> {
        self.verdict(reference, Verdict::Exhausted(why.to_owned()), &[])
    }

    fn verdict(&mut self, reference: &str, said: Verdict, payloads: &[Payload]) -> Vec<Change> {
        let event = self.answer(reference, said);
        self.happen(event, payloads).expect("an answer is never refused")
    }

    pub(crate) fn answer(&self, reference: &str, said: Verdict) -> Event {
        let (task, question) = (self.latest(reference).id, self.asked(reference));
        let question = question.digest(task);
        Event::Answered { task, question, answer: Answer::Script(said) }
    }

    pub(crate) fn retry(&mut self) -> Result<Vec<Change>, Stop> {
        self.happen(Event::Retried, &[])
    }

    pub(crate) fn restart(&mut self) {
        let event = Event::Restarted { definition: None };
        self.happen(event, &[]).expect("a closed run can be restarted");
    }

    /// Again from the newest attempt at a task.
    pub(crate) fn rerun_from(&mut self, reference: &str) {
        let from = Some(self.latest(reference).id);
        let event = Event::Reran(Rerun { from, ..Rerun::default() });
        self.happen(event, &[]).expect("a closed run can be rerun from its task");
    }

    pub(crate) fn skip(&mut self, reference: &str) -> Result<Vec<Change>, Stop> {
        let (reference, nothing) = (reference.to_owned(), payload(&json!({})));
        self.happen(Event::Skipped { reference, input: Slot(0), output: Slot(0) }, &[nothing])
    }

    pub(crate) fn jump(&mut self, reference: &str) -> Result<Vec<Change>, Stop> {
        self.happen(Event::Jumped { reference: reference.to_owned(), input: None }, &[])
    }

    /// Goes on by that definition, as its second version.
    pub(crate) fn upgrade(&mut self, definition: Value) -> Result<Vec<Change>, Stop> {
        let definition = with(definition, json!({"version": 2}));
        let definition = Arc::make_mut(&mut self.shelf).register(definition).digest();
        let event = Event::Upgraded { definition, input: None, outputs: [].into() };
        self.happen(event, &[])
    }

    /// What one commit did not hold comes with the next, until nothing is left.
    pub(crate) fn carry_on(&mut self) -> usize {
        (0..10_000)
            .find(|_| {
                let is_due = self.execution.wake_at().is_some_and(|at| at <= self.now);
                if is_due {
                    self.wake();
                }
                !is_due
            })
            .expect("it comes to rest")
    }

    /// How many tasks are in that status.
    pub(crate) fn count(&self, status: semel_model::TaskStatus) -> usize {
        self.execution.tasks().filter(|task| task.status == status).count()
    }

    pub(crate) fn ids(&self, references: &[&str]) -> Vec<TaskId> {
        references.iter().map(|reference| self.latest(reference).id).collect()
    }
}
