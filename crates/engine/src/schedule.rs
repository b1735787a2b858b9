//! # Scheduling: from a step to a task that workers can take

use semel_model::{Digest, Payload, TaskId, TaskStatus, Timestamp, WorkflowStatus};
use serde_json::Value;

use crate::change::{Change, HandOutFacts};
use crate::decide::Stop;
use crate::domain::{self, Choice};
use crate::effect::Upcoming;
use crate::ending::Ending;
use crate::event::Slot;
use crate::kinds::Kind;
use crate::pin::Step;
use crate::question::{ASK_RETRY_MS, Answer, Question, Said};
use crate::script::Verdict;
use crate::task::Task;
use crate::tasks::http;
use crate::turn::{Closing, PAYLOAD_BYTES_MAX, Turn};

/// Runs that START_WORKFLOW tasks begin in one turn; each has a key that must be held.
const STARTS_MAX: usize = 8;

/// Children that SUB_WORKFLOW tasks begin in one turn.
const CHILDREN_MAX: usize = 64;

/// Who wants a task to be scheduled.
#[derive(Clone, Copy)]
pub(crate) enum By {
    Itself,
    /// A person, perhaps with an input of their own.
    Hand(Option<Slot>),
}

/// Where a task will stand: a step, in certain turns of the loops around it.
#[derive(Clone, Debug)]
pub(crate) struct Site {
    pub(crate) step: Step,
    /// The name of the task.
    pub(crate) reference: String,
    /// The dynamic fork whose branch it is part of.
    pub(crate) fork: Option<TaskId>,
    /// What a DYNAMIC step turned out to be.
    pub(crate) definition: Option<Digest>,
}

impl Site {
    /// Outside of all loops.
    pub(crate) fn first(step: Step) -> Self {
        let reference = step.reference().to_owned();
        Self { step, reference, fork: None, definition: None }
    }

    /// Where a task stood, by the step that is there now.
    pub(crate) fn again(task: &Task, step: Step) -> Self {
        let (reference, fork) = (task.reference.to_string(), task.fork);
        let was_dynamic = step.kind() == Kind::Dynamic;
        let definition = was_dynamic.then(|| task.step.definition());
        let step = if was_dynamic { task.step.clone() } else { step };
        Self { step, reference, fork, definition }
    }
}

impl Turn<'_> {
    /// The first attempt at a step.
    pub(crate) fn schedule(&mut self, site: Site) -> Result<(), Stop> {
        let delay = if site.step.kind().heeds_delay() { site.step.task().start_delay } else { 0 };
        let ready_at = self.now().plus_seconds(delay.into());
        self.attempt(site, None, ready_at, By::Itself)
    }

    /// The first attempt at a step that is jumped to, on that input.
    pub(crate) fn schedule_with(&mut self, site: Site, input: Slot) -> Result<(), Stop> {
        self.attempt(site, None, self.now(), By::Hand(Some(input)))
    }

    /// Another attempt, after `failed`, ready when its delay is over.
    pub(crate) fn schedule_again(
        &mut self,
        site: Site,
        failed: &Task,
        ready_at: Timestamp,
        by: By,
    ) -> Result<(), Stop> {
        self.attempt(site, Some(failed), ready_at, by)
    }

    /// The id of a task that does not exist yet. Its name tells the turns of the loops around it.
    pub(crate) fn task_id(&self, reference: &str, attempt: u32) -> TaskId {
        let execution = self.execution();
        TaskId::derive(execution.id(), execution.generation, reference, 0, attempt)
    }

    fn attempt(
        &mut self,
        site: Site,
        replaces: Option<&Task>,
        ready_at: Timestamp,
        by: By,
    ) -> Result<(), Stop> {
        let attempt = replaces.map_or(0, |failed| failed.attempt + 1);
        let task = self.task_id(&site.reference, attempt);
        let (reference, fork) = (site.reference.clone(), site.fork);
        self.upcoming = Some(Upcoming { id: task, reference, attempt, fork });
        let is_dynamic = site.step.kind() == Kind::Dynamic;
        let site = if is_dynamic { self.dynamic(site, task)? } else { site };
        let step = &site.step;
        let (input, costly) = self.chosen_input(&site, task, replaces, by);
        let bytes = self.payload(input).len();
        let is_small = bytes <= PAYLOAD_BYTES_MAX;
        let input = if is_small { input } else { self.store(Payload::empty()) };
        if let Some(why) = self.unforkable(&site, task, input) {
            let why = costly.unwrap_or(why);
            return self.close_execution(Ending::of(WorkflowStatus::Failed, Some(why)));
        }
        let later = self.must_wait(step) || self.forks_later(task);
        let system = step.kind().is_system();
        let choice = match step.kind().is_reserved() {
            true => Choice::Settled(None),
            false => domain::choose(self.execution().task_to_domain(), step.task_type()),
        };
        let domain = match &choice {
            Choice::Settled(domain) => domain.clone(),
            Choice::Ask(_) => None,
        };
        self.emit(Change::TaskScheduled {
            task,
            reference: site.reference.clone(),
            attempt,
            input,
            ready_at,
            domain,
            replaces: replaces.map(|task| task.id),
            system,
            by_hand: matches!(by, By::Hand(_)),
            later,
            fork: site.fork,
            definition: site.definition,
        });
        if let Some(why) = costly.or_else(|| self.unusable(step, task, input, bytes)) {
            self.fail_at_once(task, why);
            return Ok(());
        }
        self.enter_effect(task)?;
        let judged = self.execution().expect_task(task);
        if judged.status.is_terminal() {
            return Ok(()); // It has happened already, or may not.
        }
        let is_held = judged.is_held_back();
        if let Choice::Ask(domains) = choice {
            let task_type = step.task_type().to_owned();
            self.ask(task, Question::ActiveDomains { task_type, domains }, None);
        }
        if !later && !is_held && ready_at <= self.now() {
            self.begin_system(step.kind(), task)?; // Else when its delay is over, or its turn comes.
        }
        self.take_early(task)
    }

    /// Why a task that was just made can never be done with its input.
    fn unusable(&mut self, step: &Step, id: TaskId, input: Slot, bytes: usize) -> Option<String> {
        if bytes > PAYLOAD_BYTES_MAX {
            return Some(format!(
                "input of {bytes} bytes is over the limit of {PAYLOAD_BYTES_MAX}"
            ));
        }
        let made = self.execution().expect_task(id).clone();
        self.unfit_input(step, input).or_else(|| self.key_fault(&made))
    }

    /// One commit creates a bounded number of runs: what a newborn run would create, and what is
    /// beyond the limit, waits for a commit of its own.
    pub(crate) fn must_wait(&self, step: &Step) -> bool {
        let begun = match step.kind() == Kind::SubWorkflow {
            true => self.children >= CHILDREN_MAX,
            false => self.starts >= STARTS_MAX,
        };
        let begins_runs = matches!(step.kind(), Kind::SubWorkflow | Kind::StartWorkflow);
        begins_runs && (self.newborn || begun)
    }

    pub(crate) fn fail_at_once(&mut self, task: TaskId, reason: String) {
        let status = TaskStatus::FailedWithTerminalError;
        let closing = Closing::new(status, Some(reason), HandOutFacts::default());
        self.emit_closed(task, closing);
        self.after_close(task);
    }

    /// The input of an attempt, and which expression in it cost too much.
    fn chosen_input(
        &mut self,
        site: &Site,
        task: TaskId,
        replaces: Option<&Task>,
        by: By,
    ) -> (Slot, Option<String>) {
        self.reading.take_costly(); // What others have asked for is not this task's fault.
        let input = match by {
            By::Hand(Some(input)) => self.given(&site.step, site.fork, task, input),
            By::Hand(None) | By::Itself => {
                let input = http::frozen(replaces)
                    .unwrap_or_else(|| self.input_of(site, task, replaces.map(|task| &task.input)));
                self.store(input)
            }
        };
        (input, self.reading.take_costly())
    }

    /// What a person gives to a SUB_WORKFLOW step is meant for the child, unless it says which one.
    pub(crate) fn given(
        &mut self,
        step: &Step,
        fork: Option<TaskId>,
        task: TaskId,
        input: Slot,
    ) -> Slot {
        let is_whole = self.payload(input).value().get("subWorkflowName").is_some();
        if step.kind() != Kind::SubWorkflow || is_whole {
            return input;
        }
        let given = self.payload(input).clone();
        let input = self.child_input(step, task, &given, self.is_branch(fork, step));
        self.store(input)
    }

    /// What a task there is given.
    pub(crate) fn input_of(
        &mut self,
        site: &Site,
        task: TaskId,
        before: Option<&Payload>,
    ) -> Payload {
        let kind = site.step.kind();
        if matches!(kind, Kind::Join | Kind::ExclusiveJoin) {
            return self.join_input(site, task);
        }
        let is_child = kind == Kind::SubWorkflow;
        let is_branch = self.is_branch(site.fork, &site.step);
        let given = match is_branch {
            true => literal(&site.step),
            false if is_child => self.resolve_parameters(&site.step, task),
            false => return self.task_input(&site.step, task, before),
        };
        if is_child { self.child_input(&site.step, task, &given, is_branch) } else { given }
    }

    /// A branch of a dynamic fork: its input came with the data.
    pub(crate) fn is_branch(&self, fork: Option<TaskId>, step: &Step) -> bool {
        let home = self.execution().home(fork);
        let place = home.find(step.reference());
        fork.is_some() && place.is_none_or(|place| home.around(place).is_none())
    }

    pub(crate) fn ask(&mut self, task: TaskId, question: Question, input: Option<Slot>) {
        let retry_at = match question {
            Question::ActiveDomains { .. } => self.now().plus_ms(ASK_RETRY_MS),
            Question::Script { .. } => self.now(), // Whoever finds that nobody runs it does.
        };
        self.emit(Change::Asked { task, question, input, retry_at });
    }

    pub(crate) fn ask_again(&mut self, task: TaskId) {
        if self.task(task).is_some_and(|task| task.question.is_some()) {
            let retry_at = self.now().plus_ms(ASK_RETRY_MS);
            self.emit(Change::AskedAgain { task, retry_at });
        }
    }

    /// An answer to anything but the open question is a no-op.
    pub(crate) fn answer(
        &mut self,
        id: TaskId,
        asked: Digest,
        answer: &Answer,
    ) -> Result<(), Stop> {
        let Some(task) = self.task(id) else { return Ok(()) };
        let Some(open) = &task.question else { return Ok(()) };
        if task.status.is_terminal() || open.digest(id) != asked {
            return Ok(());
        }
        match (&open.question, answer) {
            (Question::ActiveDomains { domains, .. }, Answer::ActiveDomains(active)) => {
                let domain = domain::settle(domains, active);
                self.emit(Change::TaskPlaced { task: id, domain });
                Ok(())
            }
            // A paused run begins nothing: it asks again when it is resumed. One that jumps never.
            (Question::Script { .. }, Answer::Script(_))
                if self.execution().is_paused() || self.is_leaving() =>
            {
                Ok(())
            }
            (Question::Script { .. }, Answer::Script(said)) => {
                let verdict = self.verdict(said);
                self.on_verdict(&task, &verdict)
            }
            (Question::ActiveDomains { .. } | Question::Script { .. }, _) => Ok(()),
        }
    }

    fn verdict(&self, said: &Said) -> Verdict {
        match said {
            Said::Value(slot) => Verdict::Value(self.payload(*slot).clone()),
            Said::Failed(reason) => Verdict::Failed(reason.clone()),
            Said::Exhausted(reason) => Verdict::Exhausted(reason.clone()),
        }
    }
}

/// Parameters as they are written.
fn literal(step: &Step) -> Payload {
    Payload::from_value(&Value::Object(step.task().input_parameters().clone()))
}
