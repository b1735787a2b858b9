//! # Alarms: what begins to wait for a person is written to the log
//!
//! Collected while a round decides, written after its commit, at WARN: what did not happen is not
//! told. Of one thing (an effect's scope, a lock, a gate) one line per minute is enough.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

use semel_engine::{AnswerChange, Change, Decision, Execution, GATE_SCOPE, RecordKey};
use semel_model::{ExecutionId, Timestamp, WorkflowStatus};

/// A lock that is waited for longer than this is told of.
const LOCK_MS: i64 = 30_000;

/// One line per thing in this time.
const QUIET_MS: i64 = 60_000;

/// Things that are remembered; beyond that all are forgotten, and told once more.
const THINGS_MAX: usize = 1_000;

/// Something that somebody should look at.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Alarm {
    pub(crate) at: Timestamp,
    pub(crate) what: What,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum What {
    EffectInDoubt { effect: RecordKey, run: Option<ExecutionId> },
    LockWaitedFor { name: String, run: ExecutionId, waited_ms: i64 },
    RunQueued { gate: RecordKey, run: ExecutionId, blocked_by: Option<ExecutionId> },
    Parked { run: ExecutionId, reason: String },
    Crowded { root: ExecutionId, max: u64, run: ExecutionId },
    SignalUnneeded { run: ExecutionId },
    SignalGone { run: ExecutionId },
}

/// What one decision gives reason to look at.
pub(crate) fn alarms_of(after: &Execution, decision: &Decision) -> Vec<Alarm> {
    let (at, run) = (decision.at, after.id());
    let what = |change: &Change| match change {
        Change::Guarded { scope, key, record: Some(record), .. } if is_effect(scope) => {
            let effect = RecordKey { scope: scope.clone(), key: key.clone() };
            let begins = record.detail.ring.iter().any(|decided| decided.outcome == "UNKNOWN");
            begins.then_some(What::EffectInDoubt { effect, run: Some(run) })
        }
        Change::TaskWaits { task, .. } => {
            let task = after.task(*task)?;
            let name = task.wanted_lock()?;
            let waited_ms = at.since_ms(task.started_at);
            (waited_ms >= LOCK_MS).then_some(What::LockWaitedFor { name, run, waited_ms })
        }
        Change::Queued { scope, key, blocked_by, .. } => {
            let gate = RecordKey { scope: scope.clone(), key: key.clone() };
            Some(What::RunQueued { gate, run, blocked_by: *blocked_by })
        }
        Change::Answer(AnswerChange::Unneeded { .. }) => Some(What::SignalUnneeded { run }),
        Change::ExecutionClosed { status: WorkflowStatus::Completed, .. } => {
            (after.kept_signals(at) > 0).then_some(What::SignalUnneeded { run })
        }
        _ => None,
    };
    let crowded = decision.used.descendants;
    let crowded = crowded.map(|it| What::Crowded { root: after.root(), max: it.max, run });
    let found = decision.changes.iter().filter_map(what).chain(crowded);
    found.map(|what| Alarm { at, what }).collect()
}

impl What {
    /// What one line per minute is told of.
    fn thing(&self) -> String {
        match self {
            Self::EffectInDoubt { effect, .. } => effect.scope.clone(),
            Self::LockWaitedFor { name, .. } => format!("lock:{name}"),
            Self::RunQueued { gate, .. } => gate.scope.clone(),
            Self::Parked { run, .. } => format!("parked:{run}"),
            Self::Crowded { root, .. } => format!("crowded:{root}"),
            Self::SignalUnneeded { run } | Self::SignalGone { run } => format!("signal:{run}"),
        }
    }

    fn tell(&self, untold: u64) {
        match self {
            Self::EffectInDoubt { effect, run } => tracing::warn!(
                effect = %told(effect), execution = run.map(tracing::field::display), untold,
                "nobody knows whether an effect has happened: find out, and resolve it \
                 (docs/trouble.md#effect-in-doubt)"
            ),
            Self::LockWaitedFor { name, run, waited_ms } => tracing::warn!(
                lock = name, execution = %run, waited_seconds = waited_ms / 1000, untold,
                "a lock is waited for longer than usual (docs/trouble.md#lock)"
            ),
            Self::RunQueued { gate, run, blocked_by } => tracing::warn!(
                gate = %told(gate), execution = %run,
                blocked_by = blocked_by.map(tracing::field::display), untold,
                "a run waits for its turn at its concurrency limit (docs/trouble.md#queued)"
            ),
            Self::Parked { run, reason } => tracing::warn!(
                execution = %run, reason = %reason.chars().take(300).collect::<String>(),
                "an execution is parked and left alone until somebody lifts it \
                 (docs/trouble.md#parked)"
            ),
            Self::Crowded { root, max, run } => tracing::warn!(
                %root, open_descendants_max = max, execution = %run, untold,
                "too many runs that one run led to are open: a step may not begin another \
                 (docs/trouble.md#descendants)"
            ),
            Self::SignalUnneeded { run } => tracing::warn!(
                execution = %run, untold,
                "a signal that was kept has not been needed by any run: it stays in this one, as \
                 keptAnswers (docs/trouble.md#kept-answers)"
            ),
            Self::SignalGone { run } => tracing::warn!(
                execution = %run, untold,
                "a signal that was kept has not been needed by any run, and the run that kept it \
                 was removed (docs/trouble.md#kept-answers)"
            ),
        }
    }
}

fn is_effect(scope: &str) -> bool {
    scope.starts_with("effect:")
}

/// A record as people know it.
fn told(key: &RecordKey) -> String {
    let RecordKey { scope, key } = key;
    let scope = scope.strip_prefix("effect:").unwrap_or(scope);
    let scope = scope.strip_prefix(GATE_SCOPE).unwrap_or(scope);
    if key.is_empty() { scope.to_owned() } else { format!("{scope}/{key}") }
}

/// When each thing was last told of, and how many lines were left out since.
#[derive(Default)]
pub(crate) struct Alarms(Mutex<BTreeMap<String, (Timestamp, u64)>>);

impl Alarms {
    pub(crate) fn raise(&self, alarms: &[Alarm]) {
        for alarm in alarms {
            if let Some(untold) = self.admit(&alarm.what.thing(), alarm.at) {
                alarm.what.tell(untold);
            }
        }
    }

    /// How many lines were left out since the last; none: this one is too.
    fn admit(&self, thing: &str, at: Timestamp) -> Option<u64> {
        let mut told = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let lately = told.get_mut(thing).filter(|(last, _)| at.since_ms(*last) < QUIET_MS);
        if let Some((_, untold)) = lately {
            *untold += 1;
            return None;
        }
        if told.len() >= THINGS_MAX {
            told.clear();
        }
        let before = told.insert(thing.to_owned(), (at, 0));
        Some(before.map_or(0, |(_, untold)| untold))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_one_thing_one_line_per_minute_is_written() {
        let alarms = Alarms::default();
        let at = |seconds: i64| Timestamp::from_ms(1_000_000 + seconds * 1000);
        assert_eq!(alarms.admit("gate:a", at(0)), Some(0));
        assert_eq!(alarms.admit("gate:a", at(1)), None);
        assert_eq!(alarms.admit("gate:b", at(1)), Some(0), "another thing");
        assert_eq!(alarms.admit("gate:a", at(59)), None);
        assert_eq!(alarms.admit("gate:a", at(60)), Some(2), "two were left out");
        assert_eq!(alarms.admit("gate:a", at(61)), None);
    }
}
