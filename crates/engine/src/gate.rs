//! # Gates: how many runs of a definition may be under way at once
//!
//! Contract: docs/reference/idempotency.md#gates.
//! The record of a gate names the runs that are past it; whoever comes beyond the limit
//! is treated as the policy says. A place is given back in the commit that ends its run, and goes to
//! whoever has waited longest. A child with the key of its ancestor shares that one's place.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use semel_model::{
    Concurrency, ConcurrencyPolicy, ExecutionId, Timestamp, WorkflowStatus, effective_concurrency,
};
use serde::{Deserialize, Serialize};

use crate::change::Change;
use crate::decide::{Rejection, Stop};
use crate::ending::Ending;
use crate::event::Slot;
use crate::execution::Execution;
use crate::gate_key::gate_record;
use crate::queued_again::{Postponed, Then};
use crate::record::{Detail, Record, RecordKey, RecordState};
use crate::turn::Turn;

/// What the scopes of gates begin with.
pub const GATE_SCOPE: &str = "gate:";

/// What a run has to do with records.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct Guards {
    /// The gates its ancestors are past.
    pub(crate) under: Vec<RecordKey>,
    /// Where it stands at its own.
    pub(crate) place: Option<Place>,
    /// The locks it has, by name.
    pub(crate) locks: BTreeSet<String>,
    /// What the records of its locks say it waits for, by the name of the lock.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub(crate) waits: BTreeMap<String, Vec<String>>,
}

/// Where a run stands at its gate.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Place {
    pub(crate) gate: RecordKey,
    /// Else it waits in line.
    pub(crate) passed: bool,
    /// It is an ancestor's.
    pub(crate) shared: bool,
    pub(crate) blocked_by: Option<ExecutionId>,
    /// Until when it waits.
    pub(crate) until: Option<Timestamp>,
    /// What it will do then, if it lives again.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) then: Option<Postponed>,
}

/// How a run comes to its gate.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Comer {
    /// Somebody has asked for it.
    Asked,
    /// Another run or an event began it: nobody could be told no.
    Inside,
    /// As a whole, once more.
    Restarted,
    /// In the middle of what it did, to do that.
    Revived(Then),
    /// In the middle of what it did, and it cannot wait: its child is under way.
    Needed,
}

enum Passage {
    Through,
    Waits,
    /// It was begun all the same, and ends with that reason.
    Refused(String),
}

/// Why a run may not be under way: there are as many as may be.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Limited {
    pub workflow: String,
    /// Blank: all runs are counted together.
    pub key: String,
    pub limit: usize,
    pub policy: ConcurrencyPolicy,
    /// The run that has been under way for longest.
    pub blocked_by: Option<ExecutionId>,
    /// How many wait.
    pub queued: u64,
    pub queue_max: Option<u64>,
    /// The run that waits and takes in whoever comes after it.
    pub successor: Option<ExecutionId>,
}

impl fmt::Display for Limited {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { workflow, key, limit, policy, queued, .. } = self;
        write!(f, "concurrency limit: {limit} of workflow {workflow} may be under way at once")?;
        if !key.is_empty() {
            write!(f, " with key '{key}'")?;
        }
        write!(f, " (policy {policy})")?;
        if let Some(run) = self.blocked_by {
            write!(f, "; in the way is {run}")?;
        }
        match self.queue_max.filter(|max| queued >= max) {
            Some(max) => write!(f, "; {queued} wait and maxQueue is {max}"),
            None => Ok(()),
        }
    }
}

impl Turn<'_> {
    /// Begins with the first step, now or when it is this run's turn.
    pub(crate) fn enter(&mut self, by: Comer) -> Result<(), Stop> {
        match self.come_to_gate(by)? {
            Passage::Through => self.begin_steps(),
            Passage::Waits => Ok(()),
            Passage::Refused(reason) => self.end_at_gate(reason),
        }
    }

    /// A run that lives again where it was needs its place again. False: it waits for it.
    pub(crate) fn live_again(&mut self, revived: Change, by: Comer) -> Result<bool, Stop> {
        self.emit(revived);
        let passage = self.come_to_gate(by)?;
        Ok(matches!(passage, Passage::Through))
    }

    fn come_to_gate(&mut self, by: Comer) -> Result<Passage, Stop> {
        let Some((gate, policy)) = self.gate() else { return Ok(Passage::Through) };
        let id = self.execution().id();
        let run = self.execution().run();
        if run.guards.under.contains(&gate) && !self.execution().is_alone() {
            self.admit(&gate, true, false);
            return Ok(Passage::Through);
        }
        let held = self.guard(&gate)?;
        let record = held.unwrap_or_else(|| Record::new(RecordState::Claimed, self.now()));
        let (passed, line) = (record.detail.holders.len(), record.detail.line);
        let limit = limit(&policy);
        if record.detail.holders.contains(&id) || (passed < limit && line == 0) {
            self.take_place_at(&gate, record);
            return Ok(Passage::Through);
        }
        let limited = Limited {
            workflow: self.execution().definition().definition().name.clone(),
            key: gate.key.clone(),
            limit,
            policy: policy.policy,
            blocked_by: record.detail.holders.first().copied(),
            queued: line,
            queue_max: policy.max_queue.map(|max| u64::try_from(max).unwrap_or_default()),
            successor: record.detail.successor,
        };
        let is_full = limited.queue_max.is_some_and(|max| line >= max);
        if limited.may_wait(by) && !is_full {
            self.wait_at(&gate, record, &policy, by)?;
            return Ok(Passage::Waits);
        }
        match by {
            Comer::Inside => Ok(Passage::Refused(limited.to_string())),
            Comer::Asked | Comer::Restarted | Comer::Revived(_) | Comer::Needed => {
                Err(Rejection::Limited(Box::new(limited)).into())
            }
        }
    }

    /// The gate of this run, if its definition has one and its key is not blank.
    fn gate(&mut self) -> Option<(RecordKey, Concurrency)> {
        let definition = self.execution().definition().definition().clone();
        let policy = effective_concurrency(&definition)?.into_owned();
        let key = match policy.key() {
            None => String::new(),
            Some(template) => self.key_text(template, None).ok()?,
        };
        Some((gate_record(&definition, key), policy))
    }

    fn take_place_at(&mut self, gate: &RecordKey, mut record: Record) {
        let id = self.execution().id();
        if !record.detail.holders.contains(&id) {
            record.detail.holders.push(id);
            self.put_guard(gate, Some(Record { state: RecordState::Claimed, ..record }));
        }
        self.admit(gate, false, false);
    }

    fn admit(&mut self, gate: &RecordKey, shared: bool, later: bool) {
        let RecordKey { scope, key } = gate.clone();
        self.emit(Change::Admitted { scope, key, shared, later });
    }

    fn wait_at(
        &mut self,
        gate: &RecordKey,
        mut record: Record,
        policy: &Concurrency,
        by: Comer,
    ) -> Result<(), Stop> {
        let (id, now) = (self.execution().id(), self.now());
        let blocked_by = record.detail.holders.first().copied();
        let has_room = record.detail.holders.len() < limit(policy);
        if policy.policy == ConcurrencyPolicy::Coalesce {
            record.detail.successor = Some(id);
            self.put_guard(gate, Some(record));
        }
        let detail = Detail { holders: vec![id], ..Detail::default() };
        let claim = Record { detail, ..Record::new(RecordState::Claimed, now) };
        self.await_guard(None, gate, claim)?;
        if has_room {
            self.let_go(gate, false)?; // The limit was raised meanwhile: the oldest goes first.
        }
        let seconds = policy.queue_timeout_seconds.filter(|seconds| *seconds > 0);
        let until = seconds.map(|seconds| now.plus_seconds(seconds));
        let RecordKey { scope, key } = gate.clone();
        let then = if let Comer::Revived(then) = by { Some(then) } else { None };
        self.emit(Change::Queued { scope, key, blocked_by, until, then });
        Ok(())
    }

    /// It is the turn of a run that waited, unless it does not want to any more.
    pub(crate) fn take_place(&mut self, gate: &RecordKey) -> Result<(), Stop> {
        let id = self.execution().id();
        let place =
            self.execution().run().guards.place.as_ref().filter(|place| place.gate == *gate);
        let passed = place.map(|place| place.passed);
        let then = place.and_then(|place| place.then.clone());
        let held = self.guard(gate)?.filter(|record| record.detail.holders.contains(&id));
        match (passed, held) {
            (Some(true), _) | (_, None) => Ok(()),
            (None, Some(record)) => self.give_place_back(gate, record),
            (Some(false), Some(_)) => {
                let is_paused = self.execution().is_paused();
                self.admit(gate, false, is_paused && then.is_some());
                if is_paused { Ok(()) } else { self.take_up(then) }
            }
        }
    }

    /// It was let through while it was paused.
    pub(crate) fn begin_if_let_through(&mut self) -> Result<(), Stop> {
        let place = self.execution().run().guards.place.clone();
        let Some(Place { gate, then, .. }) = place.filter(|place| place.passed) else {
            return Ok(());
        };
        if then.is_some() {
            self.admit(&gate, false, false);
        } else if self.execution().last_task().is_some() {
            return Ok(());
        }
        self.take_up(then)
    }

    /// A run that ends leaves its place, or the line.
    pub(crate) fn leave_gate(&mut self) -> Result<(), Stop> {
        let Some(place) = self.execution().run().guards.place.clone().filter(|place| !place.shared)
        else {
            return Ok(());
        };
        let id = self.execution().id();
        let Some(mut record) = self.guard(&place.gate)? else { return Ok(()) };
        if record.detail.holders.contains(&id) {
            return self.give_place_back(&place.gate, record);
        }
        if record.detail.successor == Some(id) {
            record.detail.successor = None;
            self.put_guard(&place.gate, Some(record));
        }
        if !place.passed {
            let RecordKey { scope, key } = place.gate;
            self.emit(Change::LeftLine { task: None, scope, key });
        }
        Ok(())
    }

    fn give_place_back(&mut self, gate: &RecordKey, mut record: Record) -> Result<(), Stop> {
        let id = self.execution().id();
        record.detail.holders.retain(|holder| *holder != id);
        let policy = effective_concurrency(self.execution().definition().definition());
        let limit = policy.map_or(1, |policy| limit(&policy));
        let has_room = record.detail.holders.len() < limit;
        let is_needed = !record.detail.holders.is_empty() || record.detail.line > 0;
        self.put_guard(gate, is_needed.then_some(record));
        if has_room { self.let_go(gate, false) } else { Ok(()) }
    }

    /// It has waited for too long.
    pub(crate) fn give_up_waiting(&mut self) -> Result<(), Stop> {
        let place = self.execution().run().guards.place.as_ref().filter(|place| !place.passed);
        let Some(place) = place else { return Ok(()) };
        let key = &place.gate.key;
        let blocked_by = place.blocked_by.map(|run| format!(" behind {run}")).unwrap_or_default();
        let reason = format!(
            "queueTimeoutSeconds is over: it waited{blocked_by} at concurrency key '{key}'"
        );
        self.end_at_gate(reason)
    }

    /// It has done nothing, so there is nothing to make up for.
    fn end_at_gate(&mut self, reason: String) -> Result<(), Stop> {
        let ending = Ending::of(WorkflowStatus::Failed, Some(reason));
        self.close_execution(Ending { compensate: false, ..ending })
    }

    /// What waits for its turn cannot be steered.
    pub(crate) fn expect_begun(&self) -> Result<(), Stop> {
        match self.execution().is_queued() {
            true => Err(self.wrong_state("steered while it waits for its turn")),
            false => Ok(()),
        }
    }

    /// A later start takes the place of this one, which still waits.
    pub(crate) fn coalesce(&mut self, input: Slot) -> Result<(), Stop> {
        if !self.execution().is_queued() {
            return Err(self.wrong_state("given another input: it does not wait any more"));
        }
        let input = self.with_defaults(input)?;
        self.expect_fitting(self.payload(input))?;
        if self.payload(input) != self.execution().input() {
            self.emit(Change::InputSet { input });
        }
        Ok(())
    }
}

impl Execution {
    /// It waits for its turn at its gate.
    pub fn is_queued(&self) -> bool {
        self.run.guards.place.as_ref().is_some_and(|place| !place.passed)
    }

    /// The run that was in its way when it came to wait.
    pub fn blocked_by(&self) -> Option<ExecutionId> {
        self.run.guards.place.as_ref()?.blocked_by
    }

    /// What those inside of it need not pass again.
    pub(crate) fn gates(&self) -> Vec<RecordKey> {
        let own = self.run.guards.place.as_ref().map(|place| place.gate.clone());
        let own = own.filter(|own| !self.run.guards.under.contains(own));
        self.run.guards.under.iter().cloned().chain(own).collect()
    }

    /// A run that this one is inside of has that record for as long as this one lasts.
    pub(crate) fn is_under(&self, record: &RecordKey) -> bool {
        self.run.guards.under.contains(record) && !self.is_alone()
    }

    /// Runs with equal keys are counted together; none: it is not counted.
    pub fn concurrency_key(&self) -> Option<&str> {
        self.run.guards.place.as_ref().map(|place| place.gate.key.as_str())
    }
}

impl Limited {
    fn may_wait(&self, by: Comer) -> bool {
        match self.policy {
            ConcurrencyPolicy::Queue => by != Comer::Needed,
            ConcurrencyPolicy::Coalesce => match by {
                Comer::Asked => self.successor.is_none(),
                Comer::Inside => true,
                Comer::Restarted | Comer::Revived(_) | Comer::Needed => false,
            },
            ConcurrencyPolicy::CancelRunning | ConcurrencyPolicy::TerminateRunning => {
                by == Comer::Inside
            }
            ConcurrencyPolicy::Skip | ConcurrencyPolicy::Fail => false,
        }
    }
}

pub(crate) fn limit(policy: &Concurrency) -> usize {
    usize::try_from(policy.limit).unwrap_or(1).max(1)
}
