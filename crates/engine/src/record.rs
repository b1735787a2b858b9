//! # Records: one table for every kind of "have I seen this?"
//!
//! Start keys, request keys, effects, locks and gates are all rows of this shape. A record is held,
//! judged and written inside the round of what it guards, so a crash leaves both or neither.
//!
//! The columns every judgement of a start needs stand beside each other; what other kinds remember
//! is the [`Detail`].

use semel_model::{Digest, ExecutionId, Payload, TaskId, Timestamp, WorkflowStatus};
use serde::{Deserialize, Serialize};

use crate::facts::Claim;

/// How many of its last decisions a record remembers.
pub const RING_MAX: usize = 32;

/// How long a start key outlives its run's retention when nobody says: 30 days.
pub const KEY_RETENTION_SECONDS: i64 = 30 * 24 * 3_600;

/// Compared byte for byte: no trimming, no case folding.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct RecordKey {
    pub scope: String,
    pub key: String,
}

impl RecordKey {
    pub fn start(workflow: &str, key: &str) -> Self {
        Self { scope: format!("wf:{workflow}"), key: key.to_owned() }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum RecordState {
    /// Somebody may finish it, and nobody else.
    Claimed,
    /// Decided; whoever asks again is told the same.
    Completed,
    Failed,
    /// It may have happened.
    Unknown,
    /// It has not happened, and nobody is at it.
    Released,
}

impl RecordState {
    pub const ALL: [Self; 5] =
        [Self::Claimed, Self::Completed, Self::Failed, Self::Unknown, Self::Released];

    pub fn as_str(self) -> &'static str {
        match self {
            Self::Claimed => "CLAIMED",
            Self::Completed => "COMPLETED",
            Self::Failed => "FAILED",
            Self::Unknown => "UNKNOWN",
            Self::Released => "RELEASED",
        }
    }

    pub fn parse(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|state| state.as_str() == text)
    }
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Record {
    pub state: RecordState,
    /// The latest run under a start key; the run that owns an effect, a lock or a place.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub run: Option<ExecutionId>,
    /// Of a start key: its run is RUNNING or PAUSED.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub live: bool,
    /// Of a start key: the version its run is pinned to.
    #[serde(default)]
    pub version: i32,
    pub created_at: Timestamp,
    /// When the key becomes free again.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expires_at: Option<Timestamp>,
    #[serde(default)]
    pub detail: Detail,
}

/// What only some kinds of record remember.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Detail {
    /// Of what the first one asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fingerprint: Option<Digest>,
    /// What that fingerprint was taken of, for whoever asks for something else.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub about: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub task: Option<TaskId>,
    /// Who may finish it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub owner: Option<String>,
    #[serde(skip_serializing_if = "is_zero")]
    pub fence: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub lease_until: Option<Timestamp>,
    /// For how long whoever waits wants it, once it is theirs; 0: until they give it back.
    #[serde(skip_serializing_if = "is_zero")]
    pub lease_ms: u64,
    /// How long it is remembered once it is decided; 0: for ever.
    #[serde(skip_serializing_if = "is_zero")]
    pub retention_ms: u64,
    /// How the latest run under a start key ended.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ended: Option<WorkflowStatus>,
    /// The id of the request that made the record.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub request: Option<String>,
    /// What whoever asks again is told.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub result: Option<Payload>,
    /// Why it failed, if it did.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub failure: Option<String>,
    /// What a person said when nobody knew whether it had happened.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub resolved: Option<Resolved>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub decided_at: Option<Timestamp>,
    /// How many wait in line for it.
    #[serde(skip_serializing_if = "is_zero")]
    pub line: u64,
    /// The place of whoever joined it last. Places are drawn like fences, and whoever comes later has a
    /// higher one.
    #[serde(skip_serializing_if = "is_zero")]
    pub last_place: u64,
    /// The locks that whoever has this one waits for.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub awaits: Vec<String>,
    /// Runs that are past a gate.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub holders: Vec<ExecutionId>,
    /// The run that waits at a gate and takes in whoever comes after it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub successor: Option<ExecutionId>,
    /// How long a start key outlives its run, in seconds, if its definition says.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub retention_seconds: Option<i64>,
    /// Of a start key: the start made no run of its own and was given another's. The key fares as that
    /// run does, and `expires_at` is when to look whether the run is still there.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub given: bool,
    /// Runs under a start key before the latest, newest first; as many as decisions are remembered.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub earlier: Vec<ExecutionId>,
    /// Duplicates that were answered from this record.
    #[serde(skip_serializing_if = "is_zero")]
    pub hits: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub last_hit_at: Option<Timestamp>,
    /// The last decisions, oldest first.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub ring: Vec<Decided>,
}

/// One decision that was made on a record.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Decided {
    pub at: Timestamp,
    pub by: String,
    /// Such as CREATED, RETURNED_EXISTING, REJECTED.
    pub outcome: String,
    /// It asked for something else than the first one did.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub mismatch: bool,
}

/// The answer to whether an effect has happened.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Resolved {
    pub at: Timestamp,
    pub by: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
    pub applied: bool,
    /// Of the output that came with it.
    pub output: Digest,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde hands it a reference")]
fn is_zero(number: &u64) -> bool {
    *number == 0
}

impl Record {
    pub fn new(state: RecordState, at: Timestamp) -> Self {
        Self {
            state,
            run: None,
            live: false,
            version: 0,
            created_at: at,
            expires_at: None,
            detail: Detail::default(),
        }
    }

    /// A record whose time is over is none, whether it has been swept or not.
    pub fn kept_at(&self, now: Timestamp) -> Option<&Self> {
        let is_kept = self.detail.given || self.expires_at.is_none_or(|until| until > now);
        is_kept.then_some(self)
    }

    /// The record of a start that was given another's run, as that run fares: its status, or none if
    /// it is gone.
    #[must_use]
    pub fn faring(&self, status: Option<WorkflowStatus>) -> Self {
        let mut record = self.clone();
        if let Some(status) = status {
            record.live = !status.is_terminal();
            record.detail.ended = status.is_terminal().then_some(status);
            record.expires_at = None;
        }
        record
    }

    /// Until when a start key that is free from now on is still remembered.
    pub fn kept_until(&self, now: Timestamp) -> Timestamp {
        let seconds = self.detail.retention_seconds.unwrap_or(KEY_RETENTION_SECONDS);
        now.plus_ms(seconds.saturating_mul(1000))
    }

    /// What a start is judged on.
    pub fn claim(&self) -> Option<Claim> {
        let (ended, gone) = (self.detail.ended, self.expires_at.is_some());
        let fingerprint = self.detail.fingerprint;
        Some(Claim { run: self.run?, live: self.live, ended, gone, fingerprint })
    }

    /// What a decision sees of it: not who else has asked.
    pub fn fact(&self) -> Self {
        let (hits, last_hit_at, ring) = (0, None, Vec::new());
        let detail = Detail { hits, last_hit_at, ring, ..self.detail.clone() };
        Self { detail, ..self.clone() }
    }

    /// The same record, remembering who has asked before; what it notes itself comes on top.
    #[must_use]
    pub fn remembering(self, before: &Self) -> Self {
        let Detail { hits, last_hit_at, ref ring, line, last_place, .. } = before.detail;
        let (more, noted) = (self.detail.hits, self.detail.ring);
        let last_hit_at = self.detail.last_hit_at.or(last_hit_at);
        let ring = ring.clone();
        let hits = hits + more;
        let detail = Detail { hits, last_hit_at, ring, line, last_place, ..self.detail };
        let mut record = Self { created_at: before.created_at, detail, ..self };
        noted.into_iter().for_each(|decided| record.note(decided));
        record
    }

    /// As it is when it is the turn of somebody who waited with that claim. Whoever is past a gate
    /// stays there.
    #[must_use]
    pub fn taken_by(&self, claim: &Self, fence: u64) -> Self {
        let mut taken = claim.clone().remembering(self);
        taken.detail.fence = fence;
        taken.detail.holders = self.detail.holders.clone();
        taken.detail.holders.extend(&claim.detail.holders);
        taken
    }

    /// Remembers a decision; the oldest one is forgotten when there are too many.
    pub fn note(&mut self, decided: Decided) {
        let ring = &mut self.detail.ring;
        if ring.len() >= RING_MAX {
            ring.drain(..=ring.len() - RING_MAX);
        }
        ring.push(decided);
    }

    /// Remembers that it answered somebody who asked again.
    pub fn hit(&mut self, decided: Decided) {
        self.detail.hits += 1;
        self.detail.last_hit_at = Some(decided.at);
        self.note(decided);
    }
}

impl Detail {
    /// Takes the place of another record under the same start key; who was there before is remembered.
    pub fn follow(&mut self, before: &Record, run: ExecutionId) {
        let runs = before.run.iter().chain(&before.detail.earlier).copied();
        self.earlier = runs.filter(|it| *it != run).take(RING_MAX).collect();
        self.hits = before.detail.hits;
        self.last_hit_at = before.detail.last_hit_at;
        self.ring.clone_from(&before.detail.ring);
    }

    /// None: there is nothing to remember.
    pub fn encode(&self) -> Option<Vec<u8>> {
        let is_empty = *self == Self::default();
        (!is_empty).then(|| serde_json::to_vec(self).expect("a record's detail is plain data"))
    }

    pub fn decode(bytes: &[u8]) -> Result<Self, serde_json::Error> {
        serde_json::from_slice(bytes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_decisions_are_remembered() {
        let mut record = Record::new(RecordState::Completed, Timestamp::from_ms(1));
        for at in 0..40 {
            let (by, outcome) = ("me".to_owned(), "RETURNED_EXISTING".to_owned());
            record.hit(Decided { at: Timestamp::from_ms(at), by, outcome, mismatch: false });
        }
        let ring: Vec<_> = record.detail.ring.iter().map(|it| it.at.ms()).collect();
        assert_eq!(ring, (8..40).collect::<Vec<_>>());
        assert_eq!(
            (record.detail.hits, record.detail.last_hit_at),
            (40, Some(Timestamp::from_ms(39)))
        );
    }

    #[test]
    fn a_detail_is_read_as_it_was_written_and_nothing_takes_no_room() {
        assert_eq!(Detail::default().encode(), None);
        let detail = Detail { fence: 7, owner: Some("w".to_owned()), ..Detail::default() };
        assert_eq!(Detail::decode(&detail.encode().unwrap()).unwrap(), detail);
        assert_eq!(Detail::decode(b"{\"fence\":7,\"new\":1}").unwrap().fence, 7);
    }

    #[test]
    fn a_state_is_read_as_it_is_written() {
        for state in RecordState::ALL {
            assert_eq!(RecordState::parse(state.as_str()), Some(state));
        }
        assert_eq!(RecordState::parse("completed"), None);
    }
}
