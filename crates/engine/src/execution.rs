//! # Executions: the state a journal folds into
//!
//! `apply.rs` is the only code that alters one; here it is defined and read. Its collections are persistent (`imbl`),
//! so a draft for one event is a cheap clone: accepted it replaces the original, refused it is
//! dropped, and cost follows what changed, never how many tasks there are.

use std::collections::BTreeMap;
use std::sync::Arc;

use imbl::{OrdMap, OrdSet, Vector};
use semel_model::{
    Digest, ExecutionId, Payload, TaskId, TaskStatus, Timestamp, Traceparent, WorkflowStatus,
};

use crate::entry::Link;
use crate::event::Parent;
use crate::kinds::Kind;
use crate::message::EPOCH_ALONE;
use crate::pin::{Pinned, Step};
use crate::question::Question;

#[derive(Clone, Debug)]
pub struct Execution {
    pub(crate) id: ExecutionId,
    pub(crate) definition: Arc<Pinned>,
    pub(crate) link: Link,
    pub(crate) run: Arc<Run>,
    pub(crate) tasks: Vector<Arc<Task>>,
    pub(crate) by_id: OrdMap<TaskId, u32>,
    pub(crate) latest: OrdMap<Arc<str>, u32>,
    pub(crate) open: OrdSet<u32>,
    /// Closed while paused: what follows from them waits for the resume.
    pub(crate) unconsumed: OrdSet<u32>,
    pub(crate) deadlines: OrdSet<(Timestamp, Deadline)>,
    pub(crate) last_at: Timestamp,
    /// Counts restarts and reruns: ids of removed tasks are never given again.
    pub(crate) generation: u32,
}

/// The facts of the run as a whole; small, rarely changed.
#[derive(Clone, Debug, Default)]
pub(crate) struct Run {
    pub(crate) status: Option<WorkflowStatus>,
    pub(crate) input: Payload,
    pub(crate) output: Payload,
    pub(crate) variables: Payload,
    pub(crate) correlation_id: Option<String>,
    pub(crate) priority: i32,
    pub(crate) task_to_domain: BTreeMap<String, String>,
    pub(crate) idempotency_key: Option<String>,
    pub(crate) created_by: Option<String>,
    pub(crate) parent: Option<Parent>,
    pub(crate) depth: u32,
    pub(crate) traceparent: Option<Traceparent>,
    /// The event that led to it.
    pub(crate) event: Option<String>,
    /// Which of its lives the parent's task knows; see `message.rs`.
    pub(crate) epoch: u32,
    pub(crate) watchers: Vec<(Parent, u32)>,
    pub(crate) started_at: Timestamp,
    pub(crate) ended_at: Timestamp,
    pub(crate) last_resumed_at: Timestamp,
    pub(crate) reason: Option<String>,
    pub(crate) failed_task: Option<TaskId>,
}

/// What an execution may have to be woken for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Deadline {
    Workflow,
    Total(TaskId),
    Question(TaskId),
    /// Of a task the engine runs itself; those of worker tasks live with their deliveries.
    Run(TaskId),
    Response(TaskId),
    Wait(TaskId),
    /// A task the engine runs itself, whose delay is over.
    Begin(TaskId),
}

/// One attempt at a step.
#[derive(Clone, Debug, PartialEq)]
pub struct Task {
    pub id: TaskId,
    pub reference: Arc<str>,
    /// Where it stands in the definition it was scheduled from.
    pub step: Step,
    pub seq: u32,
    pub attempt: u32,
    pub status: TaskStatus,
    pub input: Payload,
    pub output: Payload,
    pub reason: Option<String>,
    pub domain: Option<String>,
    pub replaces: Option<TaskId>,
    pub replaced: bool,
    pub scheduled_at: Timestamp,
    pub first_scheduled_at: Timestamp,
    pub ready_at: Timestamp,
    pub started_at: Timestamp,
    pub updated_at: Timestamp,
    pub ended_at: Timestamp,
    pub callback_after_seconds: i64,
    pub worker: Option<String>,
    pub polls: u32,
    pub fence: Option<u64>,
    /// Fingerprint of the last accepted report; its repeat is recognised by it.
    pub accepted: Option<Digest>,
    /// What is still asked about it, and when it will be asked again.
    pub question: Option<(Question, Timestamp)>,
    pub alerted_poll: bool,
    pub alerted_run: bool,
    pub alerted_total: bool,
    /// Run by the engine itself.
    pub system: bool,
    /// When it ends by itself.
    pub wait_until: Option<Timestamp>,
    /// Skipped before the run came there: listed before all others.
    pub is_ahead: bool,
    /// Cancelled by a jump over it.
    pub is_passed_over: bool,
    /// Done once more under its old id: only a current hand-out speaks for it.
    pub is_reset: bool,
    pub child: Option<Child>,
    /// How many children it has had.
    pub children: u32,
}

/// The run a task waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Child {
    pub run: ExecutionId,
    pub epoch: u32,
    /// Found under a key, not begun by this task: it is never cancelled by it.
    pub is_observed: bool,
}

impl Task {
    /// Offered to workers: open, and its queue is known.
    pub fn is_placed(&self) -> bool {
        !self.status.is_terminal() && self.question.is_none() && !self.system
    }

    /// A WAIT that only somebody's word will end.
    pub fn is_blocking(&self) -> bool {
        let waits = !self.status.is_terminal() && self.step.kind() == Kind::Wait;
        waits && self.wait_until.is_none() && !self.is_ahead
    }
}

impl Execution {
    /// Before its first entry.
    pub fn unborn(id: ExecutionId, definition: Arc<Pinned>) -> Self {
        Self {
            id,
            definition,
            link: Link::default(),
            run: Arc::default(),
            tasks: Vector::new(),
            by_id: OrdMap::new(),
            latest: OrdMap::new(),
            open: OrdSet::new(),
            unconsumed: OrdSet::new(),
            deadlines: OrdSet::new(),
            last_at: Timestamp::NOT_YET,
            generation: 0,
        }
    }

    pub fn id(&self) -> ExecutionId {
        self.id
    }

    pub fn definition(&self) -> &Arc<Pinned> {
        &self.definition
    }

    /// Position and digest of the last entry.
    pub fn link(&self) -> Link {
        self.link
    }

    pub(crate) fn set_link(&mut self, link: Link) {
        self.link = link;
    }

    /// Unset only before the first entry.
    pub fn status(&self) -> Option<WorkflowStatus> {
        self.run.status
    }

    pub fn is_closed(&self) -> bool {
        self.run.status.is_some_and(WorkflowStatus::is_terminal)
    }

    pub fn is_paused(&self) -> bool {
        self.run.status == Some(WorkflowStatus::Paused)
    }

    /// RUNNING or PAUSED: what a start key calls live.
    pub fn is_live(&self) -> bool {
        self.run.status.is_some() && !self.is_closed()
    }

    pub(crate) fn run(&self) -> &Run {
        &self.run
    }

    pub fn input(&self) -> &Payload {
        &self.run.input
    }

    pub fn output(&self) -> &Payload {
        &self.run.output
    }

    pub fn variables(&self) -> &Payload {
        &self.run.variables
    }

    pub fn correlation_id(&self) -> Option<&str> {
        self.run.correlation_id.as_deref()
    }

    pub fn priority(&self) -> i32 {
        self.run.priority
    }

    pub fn task_to_domain(&self) -> &BTreeMap<String, String> {
        &self.run.task_to_domain
    }

    pub fn idempotency_key(&self) -> Option<&str> {
        self.run.idempotency_key.as_deref()
    }

    pub fn created_by(&self) -> Option<&str> {
        self.run.created_by.as_deref()
    }

    /// The trace it was started in.
    pub fn traceparent(&self) -> Option<Traceparent> {
        self.run.traceparent
    }

    /// The event whose handler began it.
    pub fn event(&self) -> Option<&str> {
        self.run.event.as_deref()
    }

    /// The task that waits for this run.
    pub fn parent(&self) -> Option<Parent> {
        self.run.parent
    }

    /// It was begun by a task that does not wait for it any more.
    pub fn is_alone(&self) -> bool {
        self.run.epoch == EPOCH_ALONE
    }

    pub fn started_at(&self) -> Timestamp {
        self.run.started_at
    }

    pub fn ended_at(&self) -> Timestamp {
        self.run.ended_at
    }

    pub fn last_resumed_at(&self) -> Timestamp {
        self.run.last_resumed_at
    }

    pub fn reason(&self) -> Option<&str> {
        self.run.reason.as_deref()
    }

    /// The task whose failure ended the run; set by the first such end and never again.
    pub fn failed_task(&self) -> Option<TaskId> {
        self.run.failed_task
    }

    pub fn task(&self, id: TaskId) -> Option<&Arc<Task>> {
        self.tasks.get(*self.by_id.get(&id)? as usize - 1)
    }

    /// What follows from this closed task is already so.
    pub fn is_consumed(&self, task: &Task) -> bool {
        let step = task.step.task();
        let passed_over = step.permissive && !task.replaced;
        task.status.is_terminal()
            && (task.status.is_successful() || passed_over)
            && !self.unconsumed.contains(&task.seq)
    }

    pub(crate) fn unconsumed(&self) -> Vec<Arc<Task>> {
        self.unconsumed
            .iter()
            .filter_map(|seq| self.tasks.get(*seq as usize - 1))
            .cloned()
            .collect()
    }

    /// Time of the last entry; a decision is never made before it.
    pub fn last_at(&self) -> Timestamp {
        self.last_at
    }

    pub(crate) fn expect_task(&self, id: TaskId) -> &Arc<Task> {
        self.task(id).expect("changes speak of tasks that were scheduled")
    }

    /// All tasks, in the order of scheduling.
    pub fn tasks(&self) -> impl Iterator<Item = &Arc<Task>> {
        self.tasks.iter()
    }

    pub fn task_count(&self) -> usize {
        self.tasks.len()
    }

    pub(crate) fn last_task(&self) -> Option<&Arc<Task>> {
        self.tasks.iter().rev().find(|task| !task.is_ahead)
    }

    /// The newest attempt at a step.
    pub fn latest(&self, reference: &str) -> Option<&Arc<Task>> {
        self.tasks.get(*self.latest.get(reference)? as usize - 1)
    }

    /// The newest attempt at every step that has one.
    pub(crate) fn latest_attempts(&self) -> impl Iterator<Item = &Arc<Task>> {
        self.latest.values().filter_map(|seq| self.tasks.get(*seq as usize - 1))
    }

    /// What a signal would answer: the earliest WAIT that is open, with a deadline or without.
    pub fn first_wait(&self) -> Option<&Arc<Task>> {
        self.open_tasks().find(|task| task.step.kind() == Kind::Wait)
    }

    pub fn open_tasks(&self) -> impl Iterator<Item = &Arc<Task>> {
        self.open.iter().filter_map(|seq| self.tasks.get(*seq as usize - 1))
    }

    /// The deadlines that have passed: the workflow's own, then the earliest first.
    pub(crate) fn due(&self, now: Timestamp) -> Vec<Deadline> {
        let passed = self.deadlines.iter().take_while(|(at, _)| *at <= now);
        let passed = passed.map(|(_, deadline)| *deadline);
        let mut due: Vec<_> = passed.filter(|deadline| self.heeds(*deadline)).collect();
        due.sort_by_key(|deadline| *deadline != Deadline::Workflow);
        due
    }

    /// When this execution next wants to be woken. A paused one heeds only the workflow timeout.
    pub fn wake_at(&self) -> Option<Timestamp> {
        self.deadlines.iter().find(|(_, deadline)| self.heeds(*deadline)).map(|(at, _)| *at)
    }

    fn heeds(&self, deadline: Deadline) -> bool {
        !self.is_paused() || deadline == Deadline::Workflow
    }
}
