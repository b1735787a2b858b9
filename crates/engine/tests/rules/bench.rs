//! # The bench: one execution, a clock in the hand, and rows kept as the runtime keeps them
//!
//! Every event is decided on a draft and, if something changed, journalled; delivery rows follow
//! the changes. [`Bench::reads`] compares the story so far and replays it from its bytes.

use std::collections::BTreeMap;
use std::sync::Arc;

use semel_engine::{
    Brought, Change, Claimed, Decision, Delivery, ENGINE_VERSION, Entry, Environment, Event,
    Execution, Facts, Head, Link, Pinned, Slot, Start, Stop, Task, decide, follow,
};
use semel_model::{
    Digest, ExecutionId, Payload, TaskId, TaskResultStatus, Timestamp, WorkflowStatus,
};
use serde_json::{Value, json};

use crate::shapes::{Said, payload};
use crate::shelf::Shelf;

/// Where every clock begins.
pub(crate) const BEGIN: Timestamp = Timestamp::from_ms(1_700_000_000_000);

#[derive(Clone)]
pub(crate) struct Bench {
    pub(crate) execution: Execution,
    pub(crate) now: Timestamp,
    pub(crate) rows: BTreeMap<TaskId, Delivery>,
    pub(crate) journal: Vec<Vec<u8>>,
    pub(crate) fence: u64,
    /// What its decisions can look up.
    pub(crate) shelf: Arc<Shelf>,
    /// The epoch the parent's task will have when this run lives again.
    pub(crate) epoch: Option<u32>,
    begun_with: Arc<Pinned>,
    pub(crate) environment: Environment,
    /// Turns of loops that may follow each other by themselves.
    pub(crate) turns_max: Option<u32>,
}

impl Bench {
    /// An execution that has not begun.
    pub(crate) fn unborn(definition: Value) -> Self {
        let mut shelf = Shelf::default();
        let pinned = shelf.pin(definition);
        Self::unborn_as(ExecutionId::from_bytes([7; 16]), pinned, Arc::new(shelf))
    }

    pub(crate) fn unborn_as(id: ExecutionId, pinned: Arc<Pinned>, shelf: Arc<Shelf>) -> Self {
        Self {
            execution: Execution::unborn(id, Arc::clone(&pinned)),
            now: BEGIN,
            rows: BTreeMap::new(),
            journal: Vec::new(),
            fence: 0,
            environment: Environment::default(),
            turns_max: None,
            shelf,
            epoch: None,
            begun_with: pinned,
        }
    }

    pub(crate) fn start(definition: Value, input: Value) -> Self {
        Self::start_in(definition, input, &[])
    }

    /// Started with a `taskToDomain`.
    pub(crate) fn start_in(definition: Value, input: Value, domains: &[(&str, &str)]) -> Self {
        let mut bench = Self::unborn(definition);
        let domain = |(key, list): &(&str, &str)| ((*key).to_owned(), (*list).to_owned());
        let task_to_domain = domains.iter().map(domain).collect();
        let start = Start { task_to_domain, ..bench.plain_start() };
        bench.happen(Event::Started(start), &[payload(&input)]).expect("a run begins");
        bench
    }

    pub(crate) fn plain_start(&self) -> Start {
        Start {
            definition: self.execution.definition().digest(),
            input: Slot(0),
            correlation_id: None,
            priority: 0,
            task_to_domain: BTreeMap::new(),
            idempotency_key: None,
            created_by: None,
            ..Start::default()
        }
    }

    /// The road: decide on a draft, journal what changed, let the rows follow.
    pub(crate) fn happen(
        &mut self,
        event: Event,
        payloads: &[Payload],
    ) -> Result<Vec<Change>, Stop> {
        let (mut draft, decision) = self.decide(&event, payloads)?;
        if decision.changes.is_empty() {
            return Ok(Vec::new());
        }
        let mut rows = self.rows.iter().map(|(task, row)| (*task, Some(row.clone()))).collect();
        decision.changes.iter().for_each(|change| follow(&mut rows, &draft, change));
        let changes = decision.changes.clone();
        let entry = Entry {
            at: decision.at,
            engine_version: ENGINE_VERSION,
            actor: "bench".to_owned(),
            event_id: String::new(),
            cause: event,
            facts: decision.used,
            changes: decision.changes,
            payloads: decision.payloads,
            prev: Digest::default(),
        };
        self.journal.push(entry.append(&mut draft));
        self.rows = rows.into_iter().filter_map(|(task, row)| Some((task, row?))).collect();
        self.execution = draft;
        self.check_rows();
        Ok(changes)
    }

    /// Decides on a draft, looking up what is missed.
    fn decide(&self, event: &Event, payloads: &[Payload]) -> Result<(Execution, Decision), Stop> {
        let hand_outs = self.rows.iter().map(|(task, row)| (*task, row.hand_out.clone()));
        let deliveries = hand_outs.collect();
        let mut facts = Facts {
            now: self.now,
            deliveries,
            epoch: self.epoch,
            environment: match self.environment.is_empty() {
                true => self.shelf.environment.clone(),
                false => self.environment.clone(),
            },
            loop_turns_max: self.turns_max.or(self.shelf.turns_max),
            sizes: self.shelf.sizes,
            ..Facts::default()
        };
        facts.at_hand.counts_descendants = self.shelf.descendants.is_some();
        let definition = event.brings().map(|digest| self.shelf.pinned(digest));
        let brought = Brought { payloads, definition };
        loop {
            let mut draft = self.execution.clone();
            match decide(&mut draft, event, &brought, &facts) {
                Ok(decision) => return Ok((draft, decision)),
                Err(Stop::Miss(rows)) => self.shelf.look_up(rows, &mut facts),
                Err(rejected) => {
                    let (before, after) = (Self::seen(&self.execution), Self::seen(&draft));
                    assert_eq!(before, after, "a rejection leaves the execution as it was");
                    return Err(rejected);
                }
            }
        }
    }

    pub(crate) fn advance(&mut self, seconds: i64) {
        self.now = self.now.plus_seconds(seconds);
    }

    /// Advances, then lets fire what is due, as the runtime would.
    pub(crate) fn tick(&mut self, seconds: i64) {
        self.advance(seconds);
        for _ in 0..100 {
            if self.execution.wake_at().is_some_and(|at| at <= self.now) {
                self.wake();
            } else if let Some(task) = self.overdue() {
                self.expire(task);
            } else {
                return;
            }
        }
        panic!("whatever fires is disarmed: {:?}", self.story());
    }

    pub(crate) fn overdue(&self) -> Option<TaskId> {
        let due = |row: &&Delivery| row.hand_out.due_at().is_some_and(|at| at <= self.now);
        self.rows.values().find(due).map(|row| row.task)
    }

    pub(crate) fn wake(&mut self) -> Vec<Change> {
        self.happen(Event::Woke, &[]).expect("a wake is never refused")
    }

    pub(crate) fn expire(&mut self, task: TaskId) -> Vec<Change> {
        self.happen(Event::Expired { task }, &[]).expect("an expiry is never refused")
    }

    /// Hands the row of this step to a worker, under a fence above all before it.
    pub(crate) fn claim(&mut self, reference: &str, worker: &str) -> Said {
        self.claim_as(reference, Some(worker))
    }

    pub(crate) fn claim_as(&mut self, reference: &str, worker: Option<&str>) -> Said {
        let row = self.rows.values_mut().find(|row| row.reference == reference);
        let row = row.expect("the step is offered");
        let step = &self.execution.task(row.task).expect("a row has its task").step;
        assert!(!row.hand_out.leased && row.ready_at <= self.now, "{reference} can be taken");
        self.fence += 1;
        let claimed = Claimed {
            now: self.now,
            fence: self.fence,
            worker: worker.map(str::to_owned),
            token: Digest::of(&self.fence.to_be_bytes()),
        };
        let response_ms = step.response_timeout_seconds() * 1000;
        row.hand_out(&claimed, response_ms, step.run_timeout_seconds() * 1000);
        let said = Said::new(row.task, TaskResultStatus::Completed);
        said.fence(Some(self.fence)).worker(worker)
    }

    pub(crate) fn report(&mut self, said: &Said) -> Result<Vec<Change>, Stop> {
        let (event, payloads) = said.told();
        self.happen(event, &payloads)
    }

    /// Claims and reports COMPLETED.
    pub(crate) fn complete(&mut self, reference: &str, output: Value) {
        let said = self.claim(reference, "ann").output(output);
        self.report(&said).expect("the holder's report is taken");
    }

    /// Claims and reports another end than COMPLETED.
    pub(crate) fn fail(&mut self, reference: &str, status: TaskResultStatus, reason: &str) {
        let said = Said { status, ..self.claim(reference, "ann").reason(reason) };
        self.report(&said).expect("the holder's report is taken");
    }

    pub(crate) fn name(
        &mut self,
        reference: &str,
        force: bool,
        said: &Said,
    ) -> Result<Vec<Change>, Stop> {
        let (reference, progress) = (reference.to_owned(), said.progress());
        let event = Event::Named { reference, force, progress, distinct: false };
        self.happen(event, &[payload(&said.output)])
    }

    pub(crate) fn pause(&mut self) {
        self.happen(Event::Paused, &[]).expect("an open run can be paused");
    }

    pub(crate) fn resume(&mut self) {
        self.happen(Event::Resumed, &[]).expect("a paused run can be resumed");
    }

    pub(crate) fn terminate(&mut self, reason: &str) -> Result<Vec<Change>, Stop> {
        let reason = Some(reason.to_owned());
        self.happen(Event::Terminated { reason, compensate: false }, &[])
    }

    /// The attempt at a step, by number.
    pub(crate) fn attempt(&self, reference: &str, attempt: u32) -> Arc<Task> {
        let mut tasks = self.execution.tasks();
        let found = tasks.find(|task| &*task.reference == reference && task.attempt == attempt);
        Arc::clone(found.expect("the attempt was scheduled"))
    }

    pub(crate) fn status(&self) -> WorkflowStatus {
        self.execution.status().expect("the run has begun")
    }

    pub(crate) fn reason(&self) -> &str {
        self.execution.reason().unwrap_or("none")
    }

    pub(crate) fn output(&self) -> Value {
        self.execution.output().value()
    }

    pub(crate) fn row(&self, reference: &str) -> &Delivery {
        let mut rows = self.rows.values();
        rows.find(|row| row.reference == reference).expect("the step is offered")
    }

    pub(crate) fn row_count(&self) -> usize {
        self.rows.len()
    }

    /// Seconds since the clock began.
    pub(crate) fn seconds(&self, at: Timestamp) -> i64 {
        at.since_ms(BEGIN) / 1000
    }

    /// The status of the run, then each task: step, attempt, status.
    pub(crate) fn story(&self) -> Vec<String> {
        let line =
            |task: &Arc<Task>| format!("{} {} {}", task.reference, task.attempt, task.status);
        let run = self.execution.status().map_or("UNBORN", WorkflowStatus::as_str);
        std::iter::once(run.to_owned()).chain(self.execution.tasks().map(line)).collect()
    }

    /// The story is this one, and the journal tells the same.
    #[track_caller]
    pub(crate) fn reads(&self, story: &[&str]) {
        assert_eq!(self.story(), story);
        self.replay();
    }

    /// Everything that can be seen of an execution from outside.
    pub(crate) fn seen(execution: &Execution) -> Value {
        let tasks: Vec<_> = execution.tasks().map(|task| format!("{task:?}")).collect();
        let open: Vec<_> = execution.open_tasks().map(|task| task.id.to_string()).collect();
        let consumed: Vec<_> = execution.tasks().map(|task| execution.is_consumed(task)).collect();
        json!({
            "head": format!("{:?}", Head::of(execution, "bench")),
            "input": execution.input(), "output": execution.output(),
            "reason": execution.reason(), "failed": execution.failed_task(),
            "resumed": execution.last_resumed_at(), "domains": execution.task_to_domain(),
            "variables": execution.variables(), "definition": execution.definition().digest(),
            "tasks": tasks, "open": open, "consumed": consumed,
            "messages": execution.messages_waiting(),
            "kept": execution.kept_answers(execution.last_at()),
        })
    }

    /// Folds the journal from its bytes, deciding each entry again: both must give what is here.
    #[track_caller]
    pub(crate) fn replay(&self) {
        let again = self.folded(|before, entry| {
            let mut draft = before.clone();
            let definition = entry.cause.brings().map(|digest| self.shelf.pinned(digest));
            let brought = Brought { payloads: &entry.payloads, definition };
            let decided = decide(&mut draft, &entry.cause, &brought, &entry.facts);
            let decision = decided.expect("an entry can be decided again");
            assert_eq!(decision.changes, entry.changes, "decided again");
            assert_eq!(decision.payloads, entry.payloads, "decided again");
            assert_eq!((decision.at, &decision.used), (entry.at, &entry.facts), "decided again");
        });
        let seq = u64::try_from(self.journal.len()).expect("a journal fits");
        let digest = self.journal.last().map_or_else(Digest::default, |last| Digest::of(last));
        assert_eq!(again.link(), Link { seq, digest });
        assert_eq!(Self::seen(&again), Self::seen(&self.execution));
        assert_eq!(again.weight(), self.execution.weight());
        self.restore();
    }

    /// A snapshot tells the same.
    #[track_caller]
    fn restore(&self) {
        let pinned = |digest: Digest| -> Result<Arc<Pinned>, String> {
            let own = (self.begun_with.digest() == digest).then_some(&self.begun_with);
            let found = own.or_else(|| self.execution.defined(digest));
            Ok(Arc::clone(found.unwrap_or_else(|| self.shelf.pinned(digest))))
        };
        let Some(snapshot) = self.execution.snapshot() else { return };
        let restored = Execution::restored(&snapshot, pinned);
        let restored = restored.expect("its definitions are known").expect("it can be read");
        assert_eq!(restored.link(), self.execution.link());
        assert_eq!(Self::seen(&restored), Self::seen(&self.execution), "from a snapshot");
        assert_eq!(restored.weight(), self.execution.weight(), "counted anew");
    }

    /// Forgets the execution and folds it again, as a restarted process would.
    pub(crate) fn reopen(&mut self) {
        self.execution = self.folded(|_, _| {});
    }

    fn folded(&self, check: impl Fn(&Execution, &Entry)) -> Execution {
        let text = self.begun_with.text();
        let pinned = Arc::new(Pinned::parse(text).expect("a pinned definition reads back"));
        let mut again = Execution::unborn(self.execution.id(), pinned);
        for bytes in &self.journal {
            let (entry, link) = Entry::decode(bytes, again.link()).expect("the chain holds");
            check(&again, &entry);
            let brought = entry.cause.brings().map(|digest| self.shelf.pinned(digest));
            again.fold(&entry, link, brought);
        }
        again
    }

    /// The rows are those of the offered tasks, and say what the journal says.
    fn check_rows(&self) {
        let placed = self.execution.open_tasks().filter(|task| task.is_placed());
        let wanted: Vec<_> = placed.map(|task| Delivery::of(&self.execution, task)).collect();
        assert_eq!(wanted.len(), self.rows.len(), "a row for each offered task and no other");
        for row in wanted {
            assert!(row.same_journalled(&self.rows[&row.task]), "the row of {}", row.reference);
            let armed = self.rows[&row.task].hand_out.armed;
            let is_live = self.execution.is_live(); // What is left of a run that is over is cancelled.
            assert!(!is_live || armed != self.execution.is_paused(), "armed unless paused");
        }
    }
}
