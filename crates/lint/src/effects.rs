//! # Effects: what is done in doubt
//!
//! `RETRY` is the one answer to "nobody knows whether it happened" that may do it twice. Where it is
//! written down somebody should know that.

use semel_model::OnUnknown;

use crate::finding::{Code, Finding};
use crate::walk::Place;

pub(crate) fn of_step(place: &Place<'_>) -> Option<Finding> {
    let policy = place.step.effect.as_ref().or(place.policy.effect.as_ref())?;
    let retries = policy.on_unknown == Some(OnUnknown::Retry);
    retries.then(|| {
        let message = "effect.onUnknown is RETRY: when a worker falls silent the next attempt is \
                       handed out although the first may have done it, so it may happen twice unless \
                       the far side knows the effectKey again";
        let fix = "leave onUnknown out (HOLD: a person says whether it happened), give a probe \
                   that asks the far side, or keep RETRY if workers pass the effectKey to a far side \
                   that honours it";
        Finding::new(Code::WEffect1, &place.at, message, fix)
    })
}
