//! # The ledger: effects that workers do by themselves
//!
//! Contract: docs/reference/idempotency.md#ledger.
//! Whoever is about to do something asks first; of all who ask under one key, one is
//! told to go ahead. A call is judged on the held record and on nothing else. Time decides when
//! another may try; the fence decides whose word counts.

use semel_model::{Digest, Payload, Timestamp};
use serde::{Deserialize, Serialize};

use crate::lapse::lapse;
use crate::record::{Detail, Record, RecordKey, RecordState, Resolved};

impl RecordKey {
    /// Of an effect; tasks that happen once use the same.
    pub fn effect(scope: &str, key: &str) -> Self {
        Self { scope: format!("{EFFECT_SCOPE}{scope}"), key: key.to_owned() }
    }
}

/// What the scopes of effects begin with.
pub const EFFECT_SCOPE: &str = "effect:";

/// What is asked of one record.
#[derive(Clone, Debug)]
pub enum Act {
    TryStart(Attempt),
    /// It has happened.
    Complete {
        hold: Hold,
        result: Payload,
    },
    Renew {
        hold: Hold,
        lease_ms: i64,
    },
    /// It has not happened and nobody is at it.
    Release {
        hold: Hold,
    },
    /// It has failed: for good, or so that another may try.
    Fail {
        hold: Hold,
        error: Payload,
        is_final: bool,
    },
    /// A person says whether it has happened.
    Resolve {
        answer: Resolved,
        output: Payload,
    },
    /// As if nobody had ever asked.
    Reset,
    /// Time has passed: a claim whose lease is over comes into doubt.
    Lapse,
}

#[derive(Clone, Debug)]
pub struct Attempt {
    pub owner: String,
    pub lease_ms: i64,
    pub fingerprint: Option<Digest>,
    /// Goes ahead although an earlier owner may have done it.
    pub takes_over: bool,
    /// How long the outcome is remembered.
    pub retention_ms: i64,
}

/// What an owner was given.
#[derive(Clone, Debug)]
pub struct Hold {
    pub owner: String,
    pub fence: u64,
}

/// What is so now, and what whoever asked is told.
#[derive(Clone, Debug)]
pub struct Ruling {
    /// Absent: nothing has changed.
    pub record: Option<Record>,
    pub verdict: Ruled,
    /// Who waits in line is told.
    pub lets_go: LetsGo,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LetsGo {
    Nobody,
    /// The oldest, whose the record is then.
    Oldest,
    All,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", rename_all_fields = "camelCase")]
pub enum Ruled {
    Started {
        fence: u64,
        lease_until: Option<Timestamp>,
        /// It had been this owner's; what it was given before does not count any more.
        reentrant: bool,
        /// An earlier owner may have done it.
        takeover: bool,
    },
    /// It has happened, or failed for good; whoever asks is told the same.
    Decided(Box<Record>),
    /// Somebody else is at it.
    InProgress(Box<Record>),
    /// It may have happened.
    Unknown(Box<Record>),
    /// It was asked for with something else.
    Mismatch(Box<Record>),
    /// What was asked for is so now.
    Noted(Box<Record>),
    /// It was so already.
    Repeated(Box<Record>),
    /// Somebody else's word counts, or nobody's.
    Stale(Option<Box<Record>>),
    /// The same owner has said otherwise before.
    Contradicted(Box<Record>),
    Missing,
}

impl Ruled {
    /// As the ring of the record calls it.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Started { takeover: true, .. } => "TAKEN_OVER",
            Self::Started { reentrant: true, .. } => "REENTERED",
            Self::Started { .. } => "STARTED",
            Self::Decided(_) => "REPLAYED",
            Self::InProgress(_) => "IN_PROGRESS",
            Self::Unknown(_) => "UNKNOWN",
            Self::Mismatch(_) => "PAYLOAD_MISMATCH",
            Self::Noted(record) => record.state.as_str(),
            Self::Repeated(_) => "REPEATED",
            Self::Stale(_) => "STALE_FENCE",
            Self::Contradicted(_) => "DECISION_CONFLICT",
            Self::Missing => "MISSING",
        }
    }
}

/// Judges a call on the record it is about; one that has expired is none. `fence` is greater than
/// that of any earlier owner.
pub fn judge_ledger(held: Option<&Record>, act: &Act, now: Timestamp, fence: u64) -> Ruling {
    let held = held.filter(|record| !record.is_expired(now));
    match act {
        Act::TryStart(attempt) => try_start(held, attempt, now, fence),
        Act::Complete { hold, result } => complete(held, hold, result, now),
        Act::Renew { hold, lease_ms } => match held.filter(|record| record.is_open(hold)) {
            Some(record) => {
                let mut renewed = Record { state: RecordState::Claimed, ..record.clone() };
                renewed.detail.lease_until = Some(now.plus_ms(*lease_ms));
                renewed.detail.decided_at = None;
                noted(renewed, LetsGo::Nobody)
            }
            None => stale(held),
        },
        Act::Release { hold } => match held {
            Some(record) if record.is_open(hold) => {
                noted(released(record, now, None), LetsGo::Oldest)
            }
            Some(record) if record.was_released_by(hold) => unchanged(Ruled::Repeated, record),
            held => stale(held),
        },
        Act::Fail { hold, error, is_final } => fail(held, hold, error, *is_final, now),
        Act::Resolve { answer, output } => resolve(held, answer, output, now),
        Act::Reset => reset(held, now),
        Act::Lapse => match held {
            None => Ruling { record: None, verdict: Ruled::Missing, lets_go: LetsGo::Nobody },
            Some(record) if record.run.is_none() && record.is_lost(now) => lapse(record),
            Some(record) => unchanged(Ruled::Repeated, record),
        },
    }
}

fn try_start(held: Option<&Record>, attempt: &Attempt, now: Timestamp, fence: u64) -> Ruling {
    let Some(record) = held else { return started(held, attempt, now, fence, (false, false)) };
    let given = attempt.fingerprint.zip(record.detail.fingerprint);
    let differs = given.is_some_and(|(one, other)| one != other);
    if differs && record.state != RecordState::Released {
        return unchanged(Ruled::Mismatch, record);
    }
    match record.state {
        RecordState::Completed | RecordState::Failed => unchanged(Ruled::Decided, record),
        RecordState::Released => started(held, attempt, now, fence, (false, false)),
        RecordState::Claimed if record.run.is_some() => unchanged(Ruled::InProgress, record),
        RecordState::Claimed if !record.has_lapsed(now) => {
            match record.detail.owner.as_ref() == Some(&attempt.owner) {
                true => started(held, attempt, now, fence, (true, false)),
                false => unchanged(Ruled::InProgress, record),
            }
        }
        RecordState::Claimed | RecordState::Unknown if attempt.takes_over => {
            started(held, attempt, now, fence, (false, true))
        }
        RecordState::Unknown => unchanged(Ruled::Unknown, record),
        RecordState::Claimed => lapse(record),
    }
}

fn started(
    held: Option<&Record>,
    attempt: &Attempt,
    now: Timestamp,
    fence: u64,
    (reentrant, takeover): (bool, bool),
) -> Ruling {
    let fresh = Record::new(RecordState::Claimed, now);
    let lease_until = Some(now.plus_ms(attempt.lease_ms));
    let before = held.and_then(|record| record.detail.fingerprint);
    let before = before.filter(|_| reentrant || takeover);
    let detail = Detail {
        fingerprint: attempt.fingerprint.or(before),
        owner: Some(attempt.owner.clone()),
        fence,
        lease_until,
        retention_ms: attempt.retention_ms.unsigned_abs(),
        ..Detail::default()
    };
    let record = Record { detail, ..fresh };
    let record = match held {
        Some(held) => record.remembering(held),
        None => record,
    };
    let verdict = Ruled::Started { fence, lease_until, reentrant, takeover };
    Ruling { record: Some(record), verdict, lets_go: LetsGo::Nobody }
}

fn complete(held: Option<&Record>, hold: &Hold, result: &Payload, now: Timestamp) -> Ruling {
    match held {
        Some(record) if record.is_open(hold) => {
            let completed = decided(record, RecordState::Completed, Some(result.clone()), now);
            noted(completed, LetsGo::All)
        }
        Some(record) if record.state == RecordState::Completed && record.is_of(hold) => {
            repeated(record, result)
        }
        held => stale(held),
    }
}

fn fail(
    held: Option<&Record>,
    hold: &Hold,
    error: &Payload,
    is_final: bool,
    now: Timestamp,
) -> Ruling {
    match held {
        Some(record) if record.is_open(hold) && is_final => {
            let failed = decided(record, RecordState::Failed, Some(error.clone()), now);
            noted(failed, LetsGo::All)
        }
        Some(record) if record.is_open(hold) => {
            noted(released(record, now, Some(error.clone())), LetsGo::Oldest)
        }
        Some(record) if record.state == RecordState::Failed && record.is_of(hold) && is_final => {
            repeated(record, error)
        }
        Some(record) if !is_final && record.was_released_by(hold) => {
            unchanged(Ruled::Repeated, record)
        }
        held => stale(held),
    }
}

/// Only in doubt; the first answer stands. What is a run's is settled by the run.
fn resolve(held: Option<&Record>, answer: &Resolved, output: &Payload, now: Timestamp) -> Ruling {
    let Some(record) = held else {
        return Ruling { record: None, verdict: Ruled::Missing, lets_go: LetsGo::Nobody };
    };
    let lapsed = record.is_lost(now);
    if record.run.is_some() || (record.state == RecordState::Claimed && !lapsed) {
        return unchanged(Ruled::InProgress, record);
    }
    if !lapsed && record.state != RecordState::Unknown {
        let same = answer.was_given(record);
        return unchanged(if same { Ruled::Repeated } else { Ruled::Contradicted }, record);
    }
    let (mut settled, lets_go) = match answer.applied {
        true => {
            let result = Some(output.clone());
            (decided(record, RecordState::Completed, result, now), LetsGo::All)
        }
        false => (released(record, now, None), LetsGo::Oldest),
    };
    settled.detail.resolved = Some(answer.clone());
    noted(settled, lets_go)
}

/// A tombstone stays, so that who did it can be seen.
fn reset(held: Option<&Record>, now: Timestamp) -> Ruling {
    match held {
        None => Ruling { record: None, verdict: Ruled::Missing, lets_go: LetsGo::Nobody },
        Some(record) if record.state == RecordState::Claimed && record.run.is_some() => {
            unchanged(Ruled::InProgress, record)
        }
        Some(record) if record.state == RecordState::Released && record.detail.owner.is_none() => {
            unchanged(Ruled::Repeated, record)
        }
        Some(record) => {
            let mut clean = released(record, now, None);
            clean.detail.owner = None;
            clean.detail.fingerprint = None;
            noted(clean, LetsGo::Oldest)
        }
    }
}

/// Equal data, however it is written, is the same word again.
fn repeated(record: &Record, said: &Payload) -> Ruling {
    let before = record.detail.result.as_ref();
    let same =
        before.is_some_and(|before| before == said || before.canonical() == said.canonical());
    unchanged(if same { Ruled::Repeated } else { Ruled::Contradicted }, record)
}

fn decided(record: &Record, state: RecordState, result: Option<Payload>, now: Timestamp) -> Record {
    let mut decided = Record { state, ..record.clone() };
    decided.detail.result = result;
    decided.detail.lease_until = None;
    decided.detail.decided_at = Some(now);
    let kept_ms = i64::try_from(record.detail.retention_ms).unwrap_or(i64::MAX);
    decided.expires_at = (kept_ms > 0).then(|| now.plus_ms(kept_ms));
    decided
}

fn released(record: &Record, now: Timestamp, error: Option<Payload>) -> Record {
    let released = decided(record, RecordState::Released, error, now);
    Record { run: None, ..released }
}

fn noted(record: Record, lets_go: LetsGo) -> Ruling {
    let verdict = Ruled::Noted(Box::new(record.clone()));
    Ruling { record: Some(record), verdict, lets_go }
}

fn unchanged(verdict: fn(Box<Record>) -> Ruled, record: &Record) -> Ruling {
    let verdict = verdict(Box::new(record.clone()));
    Ruling { record: None, verdict, lets_go: LetsGo::Nobody }
}

fn stale(held: Option<&Record>) -> Ruling {
    let verdict = Ruled::Stale(held.cloned().map(Box::new));
    Ruling { record: None, verdict, lets_go: LetsGo::Nobody }
}

impl Record {
    /// Its time is over: it counts as none.
    pub fn is_expired(&self, now: Timestamp) -> bool {
        self.expires_at.is_some_and(|at| at <= now)
    }

    /// The record of an effect whose run is no longer kept. Whoever was at it can say nothing more, so
    /// nobody knows; what is said of it now is remembered as usual.
    #[must_use]
    pub fn orphaned(&self) -> Self {
        let mut orphan = Self { run: None, ..self.clone() };
        if orphan.state == RecordState::Claimed {
            orphan.state = RecordState::Unknown;
        }
        if orphan.detail.retention_ms == 0 {
            let seconds = semel_model::EFFECT_RETENTION_SECONDS.unsigned_abs();
            orphan.detail.retention_ms = seconds * 1_000;
        }
        orphan
    }

    pub(crate) fn is_of(&self, hold: &Hold) -> bool {
        self.detail.owner.as_ref() == Some(&hold.owner) && self.detail.fence == hold.fence
    }

    /// Still to be decided, by this owner.
    fn is_open(&self, hold: &Hold) -> bool {
        let is_open = matches!(self.state, RecordState::Claimed | RecordState::Unknown);
        is_open && self.is_of(hold)
    }

    fn was_released_by(&self, hold: &Hold) -> bool {
        self.state == RecordState::Released && self.is_of(hold)
    }
}
