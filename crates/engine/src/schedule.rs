//! # Scheduling: from a step to a task that workers can take

use semel_model::{Digest, Payload, TaskId, TaskStatus, Timestamp};

use crate::change::{Change, HandOutFacts};
use crate::decide::Stop;
use crate::domain::{self, Choice};
use crate::event::Slot;
use crate::execution::Task;
use crate::kinds::Kind;
use crate::pin::Step;
use crate::question::{ASK_RETRY_MS, Answer, Question};
use crate::turn::{Closing, PAYLOAD_BYTES_MAX, Turn};

/// Runs that START_WORKFLOW tasks begin in one turn; each has a key that must be held.
const STARTS_MAX: usize = 8;

/// Who wants a task to be scheduled.
#[derive(Clone, Copy)]
pub(crate) enum By {
    Itself,
    /// A person, perhaps with an input of their own.
    Hand(Option<Slot>),
}

impl Turn<'_> {
    /// The first attempt at a step.
    pub(crate) fn schedule(&mut self, step: &Step) -> Result<(), Stop> {
        let delay = if step.kind().heeds_delay() { step.task().start_delay } else { 0 };
        let ready_at = self.now().plus_seconds(delay.into());
        self.attempt(step, None, ready_at, By::Itself)
    }

    /// The first attempt at a step that is jumped to, on that input.
    pub(crate) fn schedule_with(&mut self, step: &Step, input: Slot) -> Result<(), Stop> {
        self.attempt(step, None, self.now(), By::Hand(Some(input)))
    }

    /// Another attempt, after `failed`, ready when its delay is over.
    pub(crate) fn schedule_again(
        &mut self,
        step: &Step,
        failed: &Task,
        ready_at: Timestamp,
        by: By,
    ) -> Result<(), Stop> {
        self.attempt(step, Some(failed), ready_at, by)
    }

    /// The id of a task that does not exist yet.
    pub(crate) fn task_id(&self, reference: &str, attempt: u32) -> TaskId {
        let execution = self.execution();
        TaskId::derive(execution.id(), execution.generation, reference, 0, attempt)
    }

    fn attempt(
        &mut self,
        step: &Step,
        replaces: Option<&Task>,
        ready_at: Timestamp,
        by: By,
    ) -> Result<(), Stop> {
        let later = self.must_wait(step);
        let attempt = replaces.map_or(0, |failed| failed.attempt + 1);
        let task = self.task_id(step.reference(), attempt);
        let input = match by {
            By::Hand(Some(input)) => self.given(step, task, input),
            By::Hand(None) | By::Itself => {
                let input = self.input_of(step, task, replaces.map(|task| &task.input));
                self.store(input)
            }
        };
        let bytes = self.payload(input).len();
        let is_small = bytes <= PAYLOAD_BYTES_MAX;
        let input = if is_small { input } else { self.store(Payload::empty()) };
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
            by_hand: matches!(by, By::Hand(_)),
            later,
        });
        if !is_small {
            let why = format!("input of {bytes} bytes is over the limit of {PAYLOAD_BYTES_MAX}");
            self.fail_at_once(task, why);
            return Ok(());
        }
        if let Some(why) = self.unfit_input(step, input) {
            self.fail_at_once(task, why);
            return Ok(());
        }
        if let Choice::Ask(domains) = choice {
            let task_type = step.task_type().to_owned();
            self.ask(task, Question::ActiveDomains { task_type, domains });
        }
        if later || ready_at > self.now() {
            return Ok(()); // A system task begins when its delay is over.
        }
        self.begin_system(step.kind(), task)
    }

    /// One commit creates a bounded number of runs: what a newborn run would create, and what is
    /// beyond the limit, waits for a commit of its own.
    pub(crate) fn must_wait(&self, step: &Step) -> bool {
        match step.kind() {
            Kind::SubWorkflow => self.newborn,
            Kind::StartWorkflow => self.newborn || self.starts >= STARTS_MAX,
            Kind::Worker
            | Kind::Noop
            | Kind::SetVariable
            | Kind::Terminate
            | Kind::Wait
            | Kind::Human
            | Kind::Event => false,
        }
    }

    pub(crate) fn fail_at_once(&mut self, task: TaskId, reason: String) {
        let status = TaskStatus::FailedWithTerminalError;
        let closing = Closing::new(status, Some(reason), HandOutFacts::default());
        self.emit_closed(task, closing);
        self.after_close(task);
    }

    /// What a person gives to a SUB_WORKFLOW step is meant for the child, unless it says which one.
    pub(crate) fn given(&mut self, step: &Step, task: TaskId, input: Slot) -> Slot {
        let is_whole = self.payload(input).value().get("subWorkflowName").is_some();
        if step.kind() != Kind::SubWorkflow || is_whole {
            return input;
        }
        let given = self.payload(input).clone();
        let input = self.child_input_with(step, task, &given);
        self.store(input)
    }

    /// What a task at this step is given.
    pub(crate) fn input_of(
        &mut self,
        step: &Step,
        task: TaskId,
        before: Option<&Payload>,
    ) -> Payload {
        match step.kind() {
            Kind::SubWorkflow => self.child_input(step, task),
            Kind::Worker
            | Kind::Noop
            | Kind::SetVariable
            | Kind::Terminate
            | Kind::Wait
            | Kind::Human
            | Kind::StartWorkflow
            | Kind::Event => self.task_input(step, task, before),
        }
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
        match self.next_after(task) {
            Some(step) if self.execution().latest(step.reference()).is_none() => {
                self.schedule(&step)
            }
            Some(_) | None => self.complete_if_done(),
        }
    }

    /// The first step behind this task that the run has not passed.
    pub(crate) fn next_after(&self, task: &Task) -> Option<Step> {
        let definition = self.execution().definition();
        let mut next = definition.after(&task.reference);
        while let Some(step) = next.filter(|step| self.is_behind(step)) {
            next = definition.after(step.reference());
        }
        next.cloned()
    }

    /// The run has passed that step: it was done or skipped before, or somebody jumped over it.
    fn is_behind(&self, step: &Step) -> bool {
        let found = self.execution().latest(step.reference());
        found.is_some_and(|task| {
            let is_passed = task.is_passed_over || task.step.task().permissive;
            task.status.is_terminal() && (task.status.is_successful() || is_passed)
        })
    }

    /// Nothing is open and every step has its task: the run is over.
    fn complete_if_done(&mut self) -> Result<(), Stop> {
        let execution = self.execution();
        let mut steps = execution.definition().steps().iter();
        let is_done = self.is_settled()
            && execution.open_tasks().next().is_none()
            && steps.all(|step| execution.latest(step.reference()).is_some());
        if is_done { self.complete_execution() } else { Ok(()) }
    }
}
