//! # Executions: the state a journal folds into
//!
//! `apply.rs` is the only code that alters one; here it is defined and read. Its collections are persistent (`imbl`),
//! so a draft for one event is a cheap clone: accepted it replaces the original, refused it is
//! dropped, and cost follows what changed, never how many tasks there are.

use std::collections::BTreeMap;
use std::sync::Arc;

use imbl::{OrdMap, OrdSet, Vector};
use semel_model::{Digest, ExecutionId, Payload, TaskId, Timestamp, Traceparent, WorkflowStatus};

use serde::{Deserialize, Serialize};

use crate::early::EarlyAnswer;
use crate::entry::Link;
use crate::event::Parent;
use crate::gate::Guards;
use crate::idle::IdleTurns;
use crate::jump::Leaving;
use crate::mailbox::Mailbox;
use crate::message::EPOCH_ALONE;
use crate::pin::{Pinned, Step};
use crate::redo::Epochs;
use crate::sent::Sent;
use crate::task::{Flow, Task};

#[derive(Clone, Debug)]
pub struct Execution {
    pub(crate) id: ExecutionId,
    pub(crate) definition: Arc<Pinned>,
    pub(crate) link: Link,
    pub(crate) run: Arc<Run>,
    /// By their numbers, which are given in the order of scheduling.
    pub(crate) tasks: OrdMap<u32, Arc<Task>>,
    /// What the tasks weigh together.
    pub(crate) task_bytes: u64,
    pub(crate) by_id: OrdMap<TaskId, u32>,
    /// The newest attempt by the name of the task, and by that of the step.
    pub(crate) latest: OrdMap<Arc<str>, u32>,
    pub(crate) newest: OrdMap<Arc<str>, u32>,
    pub(crate) open: OrdSet<u32>,
    /// What follows from these waits: for the resume, or for the next commit.
    pub(crate) unconsumed: OrdSet<u32>,
    /// Open joins, by the names of what they wait for.
    pub(crate) awaited: OrdMap<Arc<str>, OrdSet<u32>>,
    /// What a loop did in each of its turns.
    pub(crate) turns: OrdMap<(TaskId, u32), Vector<u32>>,
    /// How many open tasks are directly inside a loop.
    pub(crate) busy: OrdMap<TaskId, u32>,
    /// Steps that came with the run's data.
    pub(crate) defined: OrdMap<Digest, Arc<Pinned>>,
    pub(crate) deadlines: OrdSet<(Timestamp, Deadline)>,
    /// Since when something waits for the next commit.
    pub(crate) remaining_since: Option<Timestamp>,
    pub(crate) last_at: Timestamp,
    pub(crate) idle_turns: IdleTurns,
    /// Counts restarts and reruns: ids of removed tasks are never given again.
    pub(crate) generation: u32,
    /// What was first handed out under each key that the other side knows.
    pub(crate) sent: OrdMap<Digest, Sent>,
    /// None while nobody has posted anything.
    pub(crate) mailbox: Option<Arc<Mailbox>>,
    /// Answers for tasks that are not there yet, oldest first.
    pub(crate) early: Option<Arc<Vector<EarlyAnswer>>>,
}

/// The facts of the run as a whole; small, rarely changed.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
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
    /// The run that its lineage began with, if that is another one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) root: Option<ExecutionId>,
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
    /// A jump that has not arrived.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) leaving: Option<Leaving>,
    #[serde(default, skip_serializing_if = "Epochs::is_empty")]
    pub(crate) effects: Epochs,
    #[serde(default)]
    pub(crate) guards: Guards,
    /// Of the last pause.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) paused_since: Option<Timestamp>,
    /// Of the last wait for its turn.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) queued_since: Option<Timestamp>,
}

/// What an execution may have to be woken for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Deadline {
    Workflow,
    /// Of the wait for its turn.
    Gate,
    Total(TaskId),
    Question(TaskId),
    /// Of a task the engine runs itself; those of worker tasks live with their deliveries.
    Run(TaskId),
    Response(TaskId),
    Wait(TaskId),
    /// A task the engine runs itself, whose delay is over.
    Begin(TaskId),
    /// What one commit did not hold.
    Remaining,
}

impl Execution {
    /// Before its first entry.
    pub fn unborn(id: ExecutionId, definition: Arc<Pinned>) -> Self {
        Self {
            id,
            definition,
            link: Link::default(),
            run: Arc::default(),
            tasks: OrdMap::new(),
            task_bytes: 0,
            by_id: OrdMap::new(),
            latest: OrdMap::new(),
            newest: OrdMap::new(),
            open: OrdSet::new(),
            unconsumed: OrdSet::new(),
            awaited: OrdMap::new(),
            turns: OrdMap::new(),
            busy: OrdMap::new(),
            defined: OrdMap::new(),
            deadlines: OrdSet::new(),
            remaining_since: None,
            last_at: Timestamp::NOT_YET,
            idle_turns: IdleTurns::default(),
            generation: 0,
            sent: OrdMap::new(),
            mailbox: None,
            early: None,
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
        self.tasks.get(self.by_id.get(&id)?)
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
        self.unconsumed.iter().filter_map(|seq| self.tasks.get(seq)).cloned().collect()
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
        self.tasks.values()
    }

    pub fn task_count(&self) -> usize {
        self.tasks.len()
    }

    pub(crate) fn last_task(&self) -> Option<&Arc<Task>> {
        self.tasks.values().rev().find(|task| !task.is_ahead && !self.is_probe(task))
    }

    /// The newest attempt at a task, by its name.
    pub fn latest(&self, reference: &str) -> Option<&Arc<Task>> {
        self.tasks.get(self.latest.get(reference)?)
    }

    /// The newest attempt at every step that has one.
    pub(crate) fn latest_attempts(&self) -> impl Iterator<Item = &Arc<Task>> {
        self.latest.values().filter_map(|seq| self.tasks.get(seq))
    }

    /// The newest task at a step, whichever turn of a loop it is in.
    pub(crate) fn newest(&self, step: &str) -> Option<&Arc<Task>> {
        self.tasks.get(self.newest.get(step)?)
    }

    /// By the name of the task, else by that of the step in whichever turn.
    pub fn named(&self, reference: &str) -> Option<&Arc<Task>> {
        let exact = self.latest(reference);
        exact.or_else(|| self.newest(reference)).filter(|task| !task.status.is_terminal())
    }

    /// The newest task of that name, or at that step in whichever turn, open or not.
    pub fn last_named(&self, reference: &str) -> Option<&Arc<Task>> {
        self.latest(reference).or_else(|| self.newest(reference))
    }

    /// The definition whose steps the tasks of a dynamic fork stand at; without one, the run's own.
    pub(crate) fn home(&self, fork: Option<TaskId>) -> &Arc<Pinned> {
        let fork = fork.and_then(|fork| self.task(fork));
        let branches = fork.and_then(|fork| match &fork.flow {
            Flow::Fork { branches, .. } => self.defined.get(branches.as_ref()?),
            Flow::None | Flow::Case(_) | Flow::Join(_) | Flow::Loop(_) => None,
        });
        branches.unwrap_or(&self.definition)
    }

    /// The task's step is still part of the run: in the run's definition, or in the branches that
    /// came with the data of a dynamic fork.
    pub fn has_place(&self, task: &Task) -> bool {
        self.home(task.fork).find(&task.reference).is_some()
    }

    /// The task itself, or the outermost dynamic fork it is inside of.
    pub(crate) fn outside_of_forks(&self, task: &Arc<Task>) -> Arc<Task> {
        let outer = std::iter::successors(Some(task), |task| self.task(task.fork?));
        Arc::clone(outer.last().unwrap_or(task))
    }

    /// The outermost step a task is inside of, itself perhaps.
    pub(crate) fn top_place(&self, task: &Arc<Task>) -> Option<Step> {
        let task = self.outside_of_forks(task);
        let place = self.definition.find(&task.reference)?;
        Some(self.definition.surroundings(place).last().unwrap_or(place).clone())
    }

    /// The tasks directly inside a turn of a loop, in the order of scheduling.
    pub(crate) fn in_turn(&self, of: TaskId, turn: u32) -> impl Iterator<Item = &Arc<Task>> {
        let found = self.turns.get(&(of, turn)).into_iter().flatten();
        found.filter_map(|seq| self.tasks.get(seq))
    }

    pub(crate) fn is_busy(&self, of: TaskId) -> bool {
        self.busy.get(&of).is_some_and(|count| *count > 0)
    }

    /// The joins that wait for a task of that name.
    pub(crate) fn joins_on(&self, reference: &str) -> Vec<u32> {
        self.awaited.get(reference).into_iter().flatten().copied().collect()
    }

    /// Steps that came with the run's data.
    pub fn defined(&self, digest: Digest) -> Option<&Arc<Pinned>> {
        self.defined.get(&digest)
    }

    pub fn open_count(&self) -> usize {
        self.open.len()
    }

    /// What a signal would answer: the earliest open WAIT or YIELD, with a deadline or without.
    pub fn first_wait(&self) -> Option<&Arc<Task>> {
        self.open_tasks().find(|task| task.step.kind().is_wait())
    }

    pub fn open_tasks(&self) -> impl Iterator<Item = &Arc<Task>> {
        self.open.iter().filter_map(|seq| self.tasks.get(seq))
    }
}
