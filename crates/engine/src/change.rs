//! # Changes: what is now so
//!
//! Facts, never instructions: a newer engine folds old journals exactly as written. Fields are only
//! ever added, with a default. `apply` (in `apply.rs`) is the one reader.

mod details;

use std::collections::BTreeMap;

use semel_model::{
    Digest, ExecutionId, TaskId, TaskStatus, Timestamp, Traceparent, WorkflowStatus,
};
use serde::{Deserialize, Serialize};

pub(crate) use details::HandOutFacts;
pub use details::{AnswerChange, Removed, Timeout};
use details::{is_false, is_none_polled};

use crate::event::{Parent, Slot, Start};
use crate::message::Message;
use crate::once::Once;
use crate::question::Question;
use crate::queued_again::Then;
use crate::record::{Record, RecordKey};

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Change {
    Started {
        input: Slot,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        correlation_id: Option<String>,
        #[serde(default)]
        priority: i32,
        #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
        task_to_domain: BTreeMap<String, String>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        idempotency_key: Option<String>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        created_by: Option<String>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        parent: Option<Parent>,
        #[serde(default, skip_serializing_if = "is_none_polled")]
        depth: u32,
        /// The run that its lineage began with, if that is another one.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        root: Option<ExecutionId>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        traceparent: Option<Traceparent>,
        /// The event that led to it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        event: Option<String>,
        /// The gates its ancestors are past.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        under: Vec<RecordKey>,
    },
    TaskScheduled {
        task: TaskId,
        reference: String,
        #[serde(default)]
        attempt: u32,
        input: Slot,
        ready_at: Timestamp,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        domain: Option<String>,
        /// The attempt this one replaces.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        replaces: Option<TaskId>,
        /// Run by the engine: in progress at once, and never offered to workers.
        #[serde(default, skip_serializing_if = "is_false")]
        system: bool,
        /// It begins in a commit of its own.
        #[serde(default, skip_serializing_if = "is_false")]
        later: bool,
        /// Asked for by a person: clocks and reasons of earlier attempts do not count.
        #[serde(default, skip_serializing_if = "is_false")]
        by_hand: bool,
        /// The dynamic fork whose branch it is part of.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        fork: Option<TaskId>,
        /// What a DYNAMIC step turned out to be.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        definition: Option<Digest>,
    },
    /// The engine begins a task of its own whose delay is over.
    TaskBegan {
        task: TaskId,
    },
    /// The same task once more: nothing of what it did before counts.
    TaskReset {
        task: TaskId,
        attempt: u32,
        input: Slot,
    },
    /// A join, a loop or a fork goes on where it was.
    TaskResumed {
        task: TaskId,
        attempt: u32,
    },
    /// Steps that came with the run's data.
    Defined {
        definition: Slot,
    },
    /// A SWITCH has chosen.
    Chose {
        task: TaskId,
        case: String,
        /// There is something to do in that case.
        #[serde(default, skip_serializing_if = "is_false")]
        followed: bool,
    },
    /// So many branches have begun.
    Forked {
        task: TaskId,
        begun: u32,
        /// Where they are defined, if not in the fork's own step.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        branches: Option<Digest>,
    },
    /// A loop is in this turn now.
    LoopTurned {
        task: TaskId,
        turn: u32,
        /// What it goes over; said with the first turn.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        items: Option<Slot>,
    },
    /// There was more to do than one commit holds: what follows from these comes with the next.
    Remaining {
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        tasks: Vec<TaskId>,
    },
    /// What remained is being done.
    Continued,
    /// The run will go on at that step when nothing is open any more.
    Leaving {
        reference: String,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        input: Option<Slot>,
    },
    /// Nothing is open any more: the run goes on where it was to jump to.
    Arrived,
    /// A task that waits for its child waits again.
    TaskReopened {
        task: TaskId,
        epoch: u32,
    },
    /// The step will not be done.
    TaskSkipped {
        task: TaskId,
        reference: String,
        input: Slot,
        output: Slot,
        /// Before the run came there: it is listed before all others.
        #[serde(default, skip_serializing_if = "is_false")]
        ahead: bool,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        fork: Option<TaskId>,
    },
    /// Somebody jumped over the task while it ran: nothing waits for it, and no retry does it again.
    TaskPassedOver {
        task: TaskId,
    },
    /// The task need not wait for its callback any more.
    TaskReady {
        task: TaskId,
    },
    /// The task has a child, or watches a run it found.
    ChildAttached {
        task: TaskId,
        child: ExecutionId,
        #[serde(default, skip_serializing_if = "is_none_polled")]
        edge: u32,
        #[serde(default, skip_serializing_if = "is_false")]
        observed: bool,
        /// That run was started with another payload.
        #[serde(default, skip_serializing_if = "is_false")]
        mismatch: bool,
    },
    TasksRemoved {
        which: Removed,
        /// Tasks that take their places get ids of this generation.
        generation: u32,
    },
    /// A run begins, by this one's doing, in this commit.
    RunCreated {
        run: ExecutionId,
        start: Box<Start>,
    },
    Sent {
        to: ExecutionId,
        message: Message,
    },
    /// A message for the world outside.
    Published {
        /// What the message is known by: the EVENT task, or an id of its own.
        task: TaskId,
        sink: String,
        body: Slot,
    },
    /// Somebody wants to know when this run ends.
    Watched {
        by: Parent,
        epoch: u32,
    },
    /// What the parent said with an earlier epoch does not count any more.
    EpochNoted {
        epoch: u32,
    },
    /// The run lives again.
    Revived {
        #[serde(default, skip_serializing_if = "Option::is_none")]
        epoch: Option<u32>,
        /// As if it had just been created.
        #[serde(default, skip_serializing_if = "is_false")]
        anew: bool,
        /// It still names the task that first ended it.
        #[serde(default, skip_serializing_if = "is_false")]
        failure_kept: bool,
    },
    DefinitionChanged {
        definition: Digest,
    },
    InputSet {
        input: Slot,
    },
    CorrelationSet {
        correlation_id: String,
    },
    /// The task ends by itself at that time.
    TaskWaits {
        task: TaskId,
        until: Timestamp,
    },
    /// These of the run's variables are now so; the others stay.
    VariablesSet {
        variables: Slot,
    },
    /// The run's variables are what its definition says.
    VariablesReset,
    /// The task waits for an answer.
    Asked {
        task: TaskId,
        question: Question,
        /// What a script is to look at.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        input: Option<Slot>,
        retry_at: Timestamp,
    },
    AskedAgain {
        task: TaskId,
        retry_at: Timestamp,
    },
    /// The task's question has been answered.
    Heard {
        task: TaskId,
    },
    /// The task's question is answered and its queue is known.
    TaskPlaced {
        task: TaskId,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        domain: Option<String>,
    },
    /// A worker reported progress and gave the task back until `ready_at`.
    TaskProgressed {
        task: TaskId,
        output: Slot,
        ready_at: Timestamp,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        reason: Option<String>,
        #[serde(default)]
        callback_after_seconds: i64,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        fingerprint: Option<Digest>,
        #[serde(default)]
        hand_out: HandOutFacts,
    },
    TaskClosed {
        task: TaskId,
        status: TaskStatus,
        /// Absent: the output stays what it was.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        output: Option<Slot>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        reason: Option<String>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        fingerprint: Option<Digest>,
        #[serde(default)]
        hand_out: HandOutFacts,
    },
    /// A timeout whose policy is ALERT_ONLY has passed; it will not pass again.
    TaskAlerted {
        task: TaskId,
        timeout: Timeout,
    },
    /// The workflow timeout has passed and its policy is ALERT_ONLY.
    ExecutionAlerted,
    Paused,
    Resumed,
    ExecutionClosed {
        status: WorkflowStatus,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        reason: Option<String>,
        output: Slot,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        failed_task: Option<TaskId>,
    },
    /// A message waits for a task that pulls it.
    MessagePosted {
        id: String,
        /// The sender gave the id.
        #[serde(default, skip_serializing_if = "is_false")]
        named: bool,
        payload: Slot,
    },
    /// The record under that key is now so; none: there is none.
    Guarded {
        scope: String,
        key: String,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        record: Option<Box<Record>>,
        /// What whoever asks again is told.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        result: Option<Slot>,
    },
    /// Somebody else holds that record: the task, or the run as a whole, waits in line for it.
    Awaits {
        #[serde(default, skip_serializing_if = "Option::is_none")]
        task: Option<TaskId>,
        scope: String,
        key: String,
        /// What the record becomes when it is this one's turn.
        claim: Box<Record>,
    },
    /// Whoever waits for that record is let go: all of them, or the oldest, whose it is now.
    LetGo {
        scope: String,
        key: String,
        #[serde(default, skip_serializing_if = "is_false")]
        all: bool,
    },
    /// How a task that is done once stands to its effect.
    EffectNoted {
        task: TaskId,
        once: Box<Once>,
        /// Nobody knows what became of that hand-out.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        hand_out: Option<HandOutFacts>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        reason: Option<String>,
        /// Of the report that settled it late.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        fingerprint: Option<Digest>,
    },
    /// A person wants these effects once more, by the names of tasks; none: all of them.
    EffectsRedone {
        #[serde(default, skip_serializing_if = "Option::is_none")]
        tasks: Option<Vec<String>>,
    },
    /// The task, or the run as a whole, waits for that record no more.
    LeftLine {
        #[serde(default, skip_serializing_if = "Option::is_none")]
        task: Option<TaskId>,
        scope: String,
        key: String,
    },
    /// There are as many runs under way as may be: this one waits for its turn.
    Queued {
        scope: String,
        key: String,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        blocked_by: Option<ExecutionId>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        until: Option<Timestamp>,
        /// What it will do then, if it lives again.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        then: Option<Then>,
    },
    /// The run is past its gate.
    Admitted {
        scope: String,
        key: String,
        /// The place is an ancestor's.
        #[serde(default, skip_serializing_if = "is_false")]
        shared: bool,
        /// It is paused: what it waited for comes with the resume.
        #[serde(default, skip_serializing_if = "is_false")]
        later: bool,
    },
    /// The oldest so many messages wait no more.
    MessagesTaken {
        count: usize,
    },
    /// What that task had pulled waits again.
    MessagesReturned {
        task: TaskId,
    },
    /// What becomes of an answer whose task is not there yet.
    Answer(AnswerChange),
}
