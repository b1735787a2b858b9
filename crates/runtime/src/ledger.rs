//! # The ledger and locks in a round: calls that are about one record
//!
//! Judged on the held record, written with the round, answered after its commit. Who was answered
//! from the record without changing it is a hit, and costs no commit of its own.

use std::time::Duration;

use semel_engine::{
    Act, Decided, LOCK_SCOPE, LetsGo, LockAct, MessageRow, Record, RecordKey, RecordState, Ruled,
    Ruling, judge_grant, judge_ledger, judge_lock,
};
use semel_model::Timestamp;
use semel_store::Writes;

use crate::alarms::{Alarm, What};
use crate::draft::Draft;
use crate::failure::Failure;
use crate::guards::{LET_GO_MAX, claim_of};
use crate::inbox::Class;
use crate::requests::Step;
use crate::round::{Outcome, Round, Sending, Want};
use crate::runtime::Runtime;
use crate::timers::LOOK_EVERY;
use crate::work::{Answer, Work};

/// A call of somebody outside on one record.
#[derive(Clone)]
pub struct Call {
    pub key: RecordKey,
    pub asks: Asks,
    /// Who is named in the record's ring.
    pub by: String,
}

#[derive(Clone)]
pub enum Asks {
    Ledger(Act),
    Lock(LockAct),
}

impl Asks {
    /// The number that counts such calls; none: nobody has called.
    pub(crate) fn meter(&self) -> Option<&'static str> {
        match self {
            Self::Ledger(Act::Lapse) => None,
            Self::Ledger(_) => Some("semel_effect_calls_total"),
            Self::Lock(_) => Some("semel_lock_calls_total"),
        }
    }
}

impl Asks {
    /// It asks for more time, and again for more when it asks again.
    pub(crate) fn renews(&self) -> bool {
        matches!(self, Self::Ledger(Act::Renew { .. }) | Self::Lock(LockAct::Renew { .. }))
    }
}

impl Round {
    pub(crate) fn call(&mut self, call: &Call) -> Outcome {
        match self.rule(call) {
            Ok(verdict) => Outcome::Answer(Ok(Answer::Ruled(Box::new(verdict)))),
            Err(outcome) => outcome,
        }
    }

    fn rule(&mut self, call: &Call) -> Result<Ruled, Outcome> {
        let orphan = self.orphan(call)?;
        let held = match &orphan {
            Some(orphan) => Some(orphan),
            None => self.held_record(&call.key)?,
        };
        let (now, fence) = (self.held.now, self.next_fence(&Draft::default()));
        let Ruling { record, verdict, lets_go } = match &call.asks {
            Asks::Ledger(act) => judge_ledger(held, act, now, fence),
            Asks::Lock(act) => judge_lock(held, act, now, fence),
        };
        let mismatch = matches!(verdict, Ruled::Mismatch(_));
        let outcome = match (&call.asks, &verdict) {
            (Asks::Ledger(Act::Reset), Ruled::Noted(_)) => "RESET",
            (Asks::Lock(LockAct::Free { .. }), Ruled::Noted(_)) => "FREED",
            (Asks::Ledger(Act::Resolve { .. }), Ruled::Noted(_)) => "RESOLVED",
            (
                Asks::Ledger(Act::Renew { .. }) | Asks::Lock(LockAct::Renew { .. }),
                Ruled::Noted(_),
            ) => "RENEWED",
            (_, verdict) => verdict.name(),
        };
        let decided =
            Decided { at: now, by: call.by.clone(), outcome: outcome.to_owned(), mismatch };
        let Some(mut record) = record else {
            if held.is_some() && call.asks.meter().is_some() {
                self.hit(&call.key, decided);
            }
            return Ok(verdict);
        };
        if lets_go != LetsGo::Nobody && record.detail.line > 0 {
            self.line(&Draft::default(), &call.key)?; // All or nothing: it must be held.
        }
        if held.is_some_and(|held| held.state != record.state)
            && record.state == RecordState::Unknown
        {
            let what = What::EffectInDoubt { effect: call.key.clone(), run: record.run };
            self.tally.alarms.push(Alarm { at: now, what });
        }
        record.note(decided);
        self.fence = self.fence.max(record.detail.fence);
        self.writes.records.insert(call.key.clone(), Some(record));
        match lets_go {
            LetsGo::Nobody => {}
            LetsGo::Oldest => self.free(&call.key, false)?,
            LetsGo::All => self.free(&call.key, true)?,
        }
        Ok(verdict)
    }

    /// What became of what a call was granted when it was made before. None: it was no grant.
    pub(crate) fn granted_before(
        &self,
        call: &Call,
        granted: &Ruled,
    ) -> Result<Option<Ruled>, Outcome> {
        let (owner, is_lock) = match &call.asks {
            Asks::Ledger(Act::TryStart(attempt)) => (&attempt.owner, false),
            Asks::Lock(LockAct::Acquire { owner, .. }) => (owner, true),
            Asks::Ledger(_) | Asks::Lock(_) => return Ok(None),
        };
        let held = self.held_record(&call.key)?;
        Ok(judge_grant(held, owner, granted, is_lock, self.held.now))
    }

    /// The record of an effect whose run is gone, as nobody's: a person can say of it what became of
    /// the effect, though no run is there to be told.
    fn orphan(&self, call: &Call) -> Result<Option<Record>, Outcome> {
        let Asks::Ledger(Act::Resolve { .. }) = &call.asks else { return Ok(None) };
        let Some(record) = self.held_record(&call.key)? else { return Ok(None) };
        let Some(run) = record.run else { return Ok(None) };
        if !self.knows_head(run) {
            return Err(Outcome::Again(Want::Head(run)));
        }
        match self.head(run) {
            Ok(_) => Ok(None),
            Err(Outcome::Answer(Err(Failure::NoExecution(_)))) => Ok(Some(record.orphaned())),
            Err(outcome) => Err(outcome),
        }
    }

    /// Whoever waits for a record of this round is told: all of them, or the oldest, whose it is
    /// then.
    pub(crate) fn free(&mut self, key: &RecordKey, all: bool) -> Result<(), Outcome> {
        let Some(mut record) = self.held_record(key)?.cloned() else { return Ok(()) };
        if record.detail.line == 0 {
            return Ok(());
        }
        let line = self.line(&Draft::default(), key)?;
        for row in line.into_iter().take(if all { LET_GO_MAX } else { 1 }) {
            if let Some(claim) = claim_of(&row).filter(|_| !all) {
                let fence = self.next_fence(&Draft::default());
                self.fence = fence;
                record = record.taken_by(&claim, fence);
            }
            record.detail.line = record.detail.line.saturating_sub(1);
            self.sent.push(Sending::new(row.key, row.to.clone()));
            self.writes.messages.insert(row.key, Some(MessageRow { waits: None, ..row }));
        }
        self.writes.records.insert(key.clone(), Some(record));
        Ok(())
    }
}

/// The locks a round has freed, for those who listen.
pub(crate) fn unlocked(writes: &Writes) -> Vec<RecordKey> {
    let is_free = |record: &Option<Record>| {
        record.as_ref().is_none_or(|record| record.state != RecordState::Claimed)
    };
    let locks = writes.records.iter().filter(|(key, _)| key.scope == LOCK_SCOPE);
    locks.filter(|(_, record)| is_free(record)).map(|(key, _)| key.clone()).collect()
}

impl Runtime {
    pub async fn call(&self, call: Call) -> Result<Ruled, Failure> {
        self.call_as(Step::next(), call).await
    }

    async fn call_as(&self, step: Option<Step>, call: Call) -> Result<Ruled, Failure> {
        match self.submit_as(step, Work::Call(Box::new(call)), Class::Report).await? {
            Answer::Ruled(verdict) => Ok(*verdict),
            _ => Err(Failure::Unavailable),
        }
    }

    /// Asks for a lock until it is given or the time is over. Whoever gives it back wakes one who
    /// waits; a lease that lapses wakes by itself.
    pub async fn acquire(&self, call: Call, wait: Duration) -> Result<Ruled, Failure> {
        let over = tokio::time::Instant::now() + wait;
        let bell = self.world().bells.listen(&call.key);
        let step = Step::next(); // However often it asks.
        loop {
            let verdict = self.call_as(step.clone(), call.clone()).await?;
            let Ruled::InProgress(record) = &verdict else { return Ok(verdict) };
            let left = over.saturating_duration_since(tokio::time::Instant::now());
            if left.is_zero() || self.world().watchers.is_closing() {
                return Ok(verdict);
            }
            let is_shared = self.world().store.is_shared();
            let most = if is_shared { LOOK_EVERY } else { LOOK_AT_LEAST };
            let nap = left.min(until_lapse(record, self.now())).min(most);
            let _ = tokio::time::timeout(nap, bell.rung()).await; // Either way it looks again.
        }
    }
}

/// Somebody may have been missed: a bell is only a hint.
const LOOK_AT_LEAST: Duration = Duration::from_secs(5);

fn until_lapse(record: &Record, now: Timestamp) -> Duration {
    let left_ms = record.detail.lease_until.map(|until| until.since_ms(now).max(1));
    left_ms.map_or(LOOK_AT_LEAST, |ms| Duration::from_millis(u64::try_from(ms).unwrap_or(1)))
}
