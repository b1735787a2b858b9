//! # Grants: what is true now of what was granted before
//!
//! A request that is sent twice is not granted twice, and what it was granted may be over: the lease
//! has lapsed, somebody else took over, the effect is done. Whoever asks again is told what is so.

use semel_model::Timestamp;

use crate::ledger::{Hold, Ruled};
use crate::record::{Record, RecordState};

/// What the request that was given `granted` is told when it is sent again. None: it was no grant.
pub fn judge_grant(
    held: Option<&Record>,
    owner: &str,
    granted: &Ruled,
    is_lock: bool,
    now: Timestamp,
) -> Option<Ruled> {
    let Ruled::Started { fence, reentrant, takeover, .. } = *granted else { return None };
    let hold = Hold { owner: owner.to_owned(), fence };
    let Some(record) = held.filter(|record| !record.is_expired(now)) else {
        return Some(Ruled::Stale(None));
    };
    let found = || Box::new(record.clone());
    let is_owners = record.run.is_none() && record.detail.owner.as_deref() == Some(owner);
    Some(match record.state_at(now) {
        RecordState::Claimed if record.run.is_none() && record.is_of(&hold) => {
            let lease_until = record.detail.lease_until;
            Ruled::Started { fence, lease_until, reentrant, takeover }
        }
        // The same owner was granted it once more, and only the newer fence counts.
        RecordState::Claimed if is_owners => Ruled::Stale(Some(found())),
        RecordState::Claimed => Ruled::InProgress(found()),
        RecordState::Completed | RecordState::Failed => Ruled::Decided(found()),
        RecordState::Unknown if !is_lock => Ruled::Unknown(found()),
        RecordState::Unknown | RecordState::Released => Ruled::Stale(Some(found())),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::Detail;

    const NOW: Timestamp = Timestamp::from_ms(1_000);

    fn record(state: RecordState, owner: &str, fence: u64, until: i64) -> Record {
        let (owner, lease_until) = (Some(owner.to_owned()), Some(Timestamp::from_ms(until)));
        let detail = Detail { owner, fence, lease_until, ..Detail::default() };
        Record { detail, ..Record::new(state, Timestamp::from_ms(1)) }
    }

    fn told(held: Option<&Record>, is_lock: bool) -> String {
        let lease_until = Some(Timestamp::from_ms(500));
        let granted = Ruled::Started { fence: 7, lease_until, reentrant: false, takeover: false };
        judge_grant(held, "ann", &granted, is_lock, NOW).unwrap().name().to_owned()
    }

    #[test]
    fn a_grant_is_told_again_only_while_it_holds() {
        use RecordState::{Claimed, Completed, Failed, Released, Unknown};
        for (held, effect, lock) in [
            (Some(record(Claimed, "ann", 7, 2_000)), "STARTED", "STARTED"),
            (Some(record(Claimed, "ann", 7, 900)), "UNKNOWN", "STALE_FENCE"),
            (Some(record(Claimed, "ann", 8, 2_000)), "STALE_FENCE", "STALE_FENCE"),
            (Some(record(Claimed, "bob", 8, 2_000)), "IN_PROGRESS", "IN_PROGRESS"),
            (Some(record(Completed, "ann", 7, 2_000)), "REPLAYED", "REPLAYED"),
            (Some(record(Failed, "bob", 8, 2_000)), "REPLAYED", "REPLAYED"),
            (Some(record(Unknown, "ann", 7, 2_000)), "UNKNOWN", "STALE_FENCE"),
            (Some(record(Released, "ann", 7, 2_000)), "STALE_FENCE", "STALE_FENCE"),
            (None, "STALE_FENCE", "STALE_FENCE"),
        ] {
            let told = (told(held.as_ref(), false), told(held.as_ref(), true));
            assert_eq!((told.0.as_str(), told.1.as_str()), (effect, lock), "{held:?}");
        }
    }

    #[test]
    fn a_grant_that_was_renewed_says_until_when_it_holds_now() {
        let held = record(RecordState::Claimed, "ann", 7, 2_000);
        let granted =
            Ruled::Started { fence: 7, lease_until: Some(NOW), reentrant: true, takeover: false };
        let told = judge_grant(Some(&held), "ann", &granted, false, NOW);
        let lease_until = Some(Timestamp::from_ms(2_000));
        let now = Ruled::Started { fence: 7, lease_until, reentrant: true, takeover: false };
        assert_eq!(told, Some(now));
    }
}
