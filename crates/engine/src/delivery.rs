//! # Deliveries: one task waiting for, or held by, a worker
//!
//! A delivery is a row of the store. Half of it follows from the journal (queue, priority, when it
//! is ready, its input); the other half, the [`HandOut`], changes with claims and lease renewals,
//! which never touch the execution. Every hand-out is a lease with a token
//! (docs/reference/principles.md#every-hand-out-is-a-lease-with-a-token).

use std::collections::BTreeMap;
use std::fmt;

use semel_model::{Digest, ExecutionId, Payload, TaskId, Timestamp, Traceparent};
use serde::{Deserialize, Serialize};

use crate::change::{Change, HandOutFacts, Timeout};
use crate::execution::Execution;
use crate::pin::outer_name;
use crate::task::Task;

/// Where workers look for a task: its type and, if it has one, its domain.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Queue {
    pub task_type: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub domain: Option<String>,
}

impl fmt::Display for Queue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.domain {
            Some(domain) => write!(f, "{domain}:{}", self.task_type),
            None => f.write_str(&self.task_type),
        }
    }
}

/// Names one poll (or one `update-v2`), so that its repeat re-receives what it was given.
pub type Token = Digest;

#[derive(Clone, Debug, PartialEq)]
pub struct Delivery {
    pub task: TaskId,
    pub execution: ExecutionId,
    pub queue: Queue,
    pub priority: i32,
    pub ready_at: Timestamp,
    /// The order of scheduling inside its execution; breaks ties between equals.
    pub seq: u32,
    pub reference: String,
    pub attempt: u32,
    /// How often its effect was asked for once more.
    pub epoch: u32,
    pub scheduled_at: Timestamp,
    pub definition: Digest,
    pub correlation_id: Option<String>,
    pub traceparent: Option<Traceparent>,
    pub replaces: Option<TaskId>,
    pub reason: Option<String>,
    pub input: Payload,
    pub output: Payload,
    pub hand_out: HandOut,
}

/// The part of a delivery that claims, renewals and expiries change.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct HandOut {
    /// Of the latest hand-out; 0 before the first.
    pub fence: u64,
    pub leased: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub worker: Option<String>,
    /// When the worker's silence becomes a timeout; unset when the task has no response timeout.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub lease_until: Option<Timestamp>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub run_until: Option<Timestamp>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub poll_until: Option<Timestamp>,
    pub started_at: Timestamp,
    pub updated_at: Timestamp,
    pub polls: u32,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub token: Option<Token>,
    /// False while the execution is paused: deadlines are kept but do not fire.
    pub armed: bool,
}

impl HandOut {
    /// When this row wants to be looked at, if ever.
    pub fn due_at(&self) -> Option<Timestamp> {
        if !self.armed {
            return None;
        }
        let waiting = if self.leased { self.lease_until } else { self.poll_until };
        [waiting, self.run_until].into_iter().flatten().min()
    }

    pub(crate) fn facts(&self) -> HandOutFacts {
        HandOutFacts {
            worker: self.worker.clone(),
            started_at: self.started_at,
            polls: self.polls,
            fence: (self.fence > 0).then_some(self.fence),
            holder: None,
            child_heard: false,
        }
    }
}

impl Delivery {
    /// What may be large of it.
    pub fn payload_bytes(&self) -> usize {
        self.input.len() + self.output.len()
    }

    /// The row as the journal alone gives it: never handed out.
    pub fn of(execution: &Execution, task: &Task) -> Self {
        let step = &task.step;
        Self {
            task: task.id,
            execution: execution.id(),
            queue: Queue { task_type: step.task_type().to_owned(), domain: task.domain.clone() },
            priority: execution.priority(),
            ready_at: task.ready_at,
            seq: task.seq,
            reference: task.reference.to_string(),
            attempt: task.attempt,
            epoch: execution.effect_epoch(&task.reference),
            scheduled_at: task.scheduled_at,
            definition: step.definition(),
            correlation_id: execution.correlation_id().map(str::to_owned),
            traceparent: execution.traceparent(),
            replaces: task.replaces,
            reason: task.reason.clone(),
            input: task.input.clone(),
            output: task.output.clone(),
            hand_out: HandOut {
                armed: !execution.is_paused(),
                poll_until: poll_until(execution, task),
                // The next is above whatever was handed out under this id before.
                fence: task.fence.filter(|_| task.is_reset).unwrap_or(0),
                ..HandOut::default()
            },
        }
    }

    /// Which turn of the innermost loop around it this is; 0 outside of loops.
    pub fn iteration(&self) -> u32 {
        outer_name(&self.reference).map_or(0, |(_, turn)| turn)
    }

    /// Gives the task to a worker. The caller holds the row and has drawn a fence above `fence`.
    pub fn hand_out(&mut self, claim: &Claimed, response_ms: i64, run_ms: i64) {
        let hand_out = &mut self.hand_out;
        assert!(claim.fence > hand_out.fence, "a fence is greater than any before it");
        hand_out.fence = claim.fence;
        hand_out.leased = true;
        hand_out.worker = claim.worker.clone();
        hand_out.token = Some(claim.token);
        hand_out.polls += 1;
        hand_out.updated_at = claim.now;
        hand_out.lease_until = (response_ms > 0).then(|| claim.now.plus_ms(response_ms));
        hand_out.poll_until = None;
        if !hand_out.started_at.is_set() {
            hand_out.started_at = claim.now;
            hand_out.run_until = (run_ms > 0).then(|| claim.now.plus_ms(run_ms));
        }
    }

    /// True when both rows say the same of what the journal decides.
    pub fn same_journalled(&self, other: &Self) -> bool {
        let mut mine = self.clone();
        mine.hand_out = other.hand_out.clone();
        mine == *other
    }
}

/// One hand-out: who asked, under which token, and the fence drawn for it.
#[derive(Clone, Debug)]
pub struct Claimed {
    pub now: Timestamp,
    pub fence: u64,
    pub worker: Option<String>,
    pub token: Token,
}

/// Until when it may wait to be taken: for its own sake, or because its key is forgotten then.
fn poll_until(execution: &Execution, task: &Task) -> Option<Timestamp> {
    let seconds = task.step.poll_timeout_seconds();
    let own = (seconds > 0 && !task.alerted_poll).then(|| task.ready_at.plus_seconds(seconds));
    own.into_iter().chain(execution.key_ends_at(task)).min()
}

/// Carries one change of an execution over to its delivery rows. `rows` holds what the round holds;
/// a row set to `None` is deleted by the commit.
pub fn follow(
    rows: &mut BTreeMap<TaskId, Option<Delivery>>,
    execution: &Execution,
    change: &Change,
) {
    match change {
        Change::TaskScheduled { task, .. }
        | Change::TaskPlaced { task, .. }
        | Change::TaskReset { task, .. } => {
            if let Some(task) = execution.task(*task).filter(|task| task.is_placed()) {
                rows.insert(task.id, Some(Delivery::of(execution, task)));
            }
        }
        Change::TaskReady { task } => _ = renew(rows, execution, *task),
        Change::TaskProgressed { task, .. } => {
            if let Some(given_back) = renew(rows, execution, *task) {
                given_back.leased = false;
                given_back.lease_until = None;
                given_back.token = None;
                given_back.updated_at = execution.expect_task(*task).updated_at;
            }
        }
        Change::TaskClosed { task, .. } | Change::EffectNoted { task, .. } => {
            place(rows, execution, *task);
        }
        Change::TaskAlerted { task, timeout } => disarm(rows, *task, *timeout),
        Change::Paused => arm(rows, execution, false),
        Change::Resumed => arm(rows, execution, true),
        Change::Started { .. }
        | Change::Asked { .. }
        | Change::AskedAgain { .. }
        | Change::Heard { .. }
        | Change::Defined { .. }
        | Change::Chose { .. }
        | Change::Forked { .. }
        | Change::LoopTurned { .. }
        | Change::TaskResumed { .. }
        | Change::Remaining { .. }
        | Change::Continued
        | Change::Leaving { .. }
        | Change::Arrived
        | Change::TaskWaits { .. }
        | Change::TaskBegan { .. }
        | Change::TaskReopened { .. }
        | Change::TaskSkipped { .. }
        | Change::TaskPassedOver { .. }
        | Change::ChildAttached { .. }
        | Change::TasksRemoved { .. }
        | Change::RunCreated { .. }
        | Change::Sent { .. }
        | Change::Published { .. }
        | Change::Watched { .. }
        | Change::EpochNoted { .. }
        | Change::Revived { .. }
        | Change::DefinitionChanged { .. }
        | Change::InputSet { .. }
        | Change::CorrelationSet { .. }
        | Change::VariablesSet { .. }
        | Change::VariablesReset
        | Change::ExecutionAlerted
        | Change::ExecutionClosed { .. }
        | Change::MessagePosted { .. }
        | Change::Guarded { .. }
        | Change::Awaits { .. }
        | Change::LetGo { .. }
        | Change::EffectsRedone { .. }
        | Change::LeftLine { .. }
        | Change::Queued { .. }
        | Change::Admitted { .. }
        | Change::MessagesTaken { .. }
        | Change::MessagesReturned { .. }
        | Change::Answer(_) => {}
    }
}

/// A deadline that only raised an alert does not come again.
fn disarm(rows: &mut BTreeMap<TaskId, Option<Delivery>>, task: TaskId, timeout: Timeout) {
    let Some(Some(row)) = rows.get_mut(&task) else { return };
    match timeout {
        Timeout::Run => row.hand_out.run_until = None,
        Timeout::Poll => row.hand_out.poll_until = None,
        Timeout::Total | Timeout::Response => {}
    }
}

/// There is a row now, or none any more.
fn place(rows: &mut BTreeMap<TaskId, Option<Delivery>>, execution: &Execution, id: TaskId) {
    let placed = execution.task(id).filter(|task| task.is_placed());
    rows.insert(id, placed.map(|task| Delivery::of(execution, task)));
}

/// The row says again what the journal says; who holds it stays.
fn renew<'a>(
    rows: &'a mut BTreeMap<TaskId, Option<Delivery>>,
    execution: &Execution,
    task: TaskId,
) -> Option<&'a mut HandOut> {
    let row = rows.get_mut(&task)?.as_mut()?;
    let kept = row.hand_out.clone();
    *row = Delivery::of(execution, execution.expect_task(task));
    row.hand_out = HandOut { poll_until: row.hand_out.poll_until, ..kept };
    Some(&mut row.hand_out)
}

fn arm(rows: &mut BTreeMap<TaskId, Option<Delivery>>, execution: &Execution, armed: bool) {
    for row in rows.values_mut().flatten() {
        if row.execution == execution.id() {
            row.hand_out.armed = armed;
        }
    }
}
