//! # Locks: one owner at a time, each with a larger fence than the one before
//!
//! A lock is a record. Whoever acquires it by the API has it for the time of a lease; a run may also
//! have it until the run ends. A lease that has lapsed makes the lock free, and whoever waits in
//! line comes before whoever asks now.

use semel_model::Timestamp;

use crate::ledger::{Hold, LetsGo, Ruled, Ruling};
use crate::record::{Detail, Record, RecordKey, RecordState};

/// The scope of all locks.
pub const LOCK_SCOPE: &str = "lock";

/// How long a lock that nobody has is remembered.
const REMEMBERED_MS: u64 = 24 * 3_600 * 1_000;

impl RecordKey {
    pub fn lock(name: &str) -> Self {
        Self { scope: LOCK_SCOPE.to_owned(), key: name.to_owned() }
    }
}

/// What is asked of a lock.
#[derive(Clone, Debug)]
pub enum LockAct {
    Acquire {
        owner: String,
        lease_ms: i64,
    },
    Renew {
        hold: Hold,
        lease_ms: i64,
    },
    Release {
        hold: Hold,
    },
    /// A person takes it from whoever has it under this fence.
    Free {
        fence: u64,
    },
}

/// Judges a call on the lock's record. `fence` is greater than that of any earlier owner.
pub fn judge_lock(held: Option<&Record>, act: &LockAct, now: Timestamp, fence: u64) -> Ruling {
    let held = held.filter(|record| !record.is_expired(now));
    match act {
        LockAct::Acquire { owner, lease_ms } => acquire(held, owner, *lease_ms, now, fence),
        LockAct::Renew { hold, lease_ms } => match held.filter(|record| record.is_held_by(hold)) {
            Some(record) => {
                let mut renewed = record.clone();
                renewed.detail.lease_until = Some(now.plus_ms(*lease_ms));
                let verdict = Ruled::Noted(Box::new(renewed.clone()));
                Ruling { record: Some(renewed), verdict, lets_go: LetsGo::Nobody }
            }
            None => refused(Ruled::Stale(held.cloned().map(Box::new))),
        },
        LockAct::Release { hold } => match held {
            Some(record) if record.is_held_by(hold) => {
                let free = record.unlocked(now);
                let verdict = Ruled::Noted(Box::new(free.clone()));
                Ruling { record: Some(free), verdict, lets_go: LetsGo::Oldest }
            }
            Some(record) if record.is_unlocked_by(hold) => {
                refused(Ruled::Repeated(Box::new(record.clone())))
            }
            held => refused(Ruled::Stale(held.cloned().map(Box::new))),
        },
        LockAct::Free { fence } => match held.filter(|record| record.detail.fence == *fence) {
            Some(record) if record.state == RecordState::Claimed => {
                let free = record.unlocked(now);
                let verdict = Ruled::Noted(Box::new(free.clone()));
                Ruling { record: Some(free), verdict, lets_go: LetsGo::Oldest }
            }
            Some(record) => refused(Ruled::Repeated(Box::new(record.clone()))),
            None => refused(Ruled::Stale(held.cloned().map(Box::new))),
        },
    }
}

fn acquire(
    held: Option<&Record>,
    owner: &str,
    lease_ms: i64,
    now: Timestamp,
    fence: u64,
) -> Ruling {
    let reentrant = held.is_some_and(|record| {
        let is_own = record.run.is_none() && record.detail.owner.as_deref() == Some(owner);
        is_own && !record.is_free(now)
    });
    let is_free = held.is_none_or(|record| record.is_free(now));
    let line = held.map_or(0, |record| record.detail.line);
    match held {
        // Nobody overtakes who has waited longer.
        Some(record) if is_free && line > 0 => {
            let free = record.unlocked(now);
            let verdict = Ruled::InProgress(Box::new(record.clone()));
            Ruling { record: Some(free), verdict, lets_go: LetsGo::Oldest }
        }
        Some(record) if !is_free && !reentrant => {
            refused(Ruled::InProgress(Box::new(record.clone())))
        }
        held => {
            let lease_until = Some(now.plus_ms(lease_ms));
            let detail = Detail { owner: Some(owner.to_owned()), lease_until, ..Detail::default() };
            let record = Record::locked(detail, fence, now);
            let record = match held {
                Some(before) => record.remembering(before),
                None => record,
            };
            let verdict = Ruled::Started { fence, lease_until, reentrant, takeover: false };
            Ruling { record: Some(record), verdict, lets_go: LetsGo::Nobody }
        }
    }
}

fn refused(verdict: Ruled) -> Ruling {
    Ruling { record: None, verdict, lets_go: LetsGo::Nobody }
}

impl Record {
    /// A lock in somebody's hands.
    pub(crate) fn locked(detail: Detail, fence: u64, now: Timestamp) -> Self {
        let detail = Detail { fence, retention_ms: REMEMBERED_MS, ..detail };
        Self { detail, ..Self::new(RecordState::Claimed, now) }
    }

    /// The lock in nobody's hands; whose it was can still be seen.
    pub(crate) fn unlocked(&self, now: Timestamp) -> Self {
        let mut free = Self { state: RecordState::Released, run: None, ..self.clone() };
        free.detail.task = None;
        free.detail.awaits.clear();
        free.detail.lease_until = None;
        free.detail.decided_at = Some(now);
        free.expires_at = Some(now.plus_ms(i64::try_from(REMEMBERED_MS).unwrap_or(i64::MAX)));
        free
    }

    /// Nobody has the lock, or not any more.
    pub fn is_free(&self, now: Timestamp) -> bool {
        self.state != RecordState::Claimed || self.has_lapsed(now)
    }

    fn is_held_by(&self, hold: &Hold) -> bool {
        let is_its = self.detail.owner.as_ref() == Some(&hold.owner);
        self.state == RecordState::Claimed && is_its && self.detail.fence == hold.fence
    }

    fn is_unlocked_by(&self, hold: &Hold) -> bool {
        let is_its = self.detail.owner.as_ref() == Some(&hold.owner);
        self.state == RecordState::Released && is_its && self.detail.fence == hold.fence
    }
}
