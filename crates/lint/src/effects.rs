//! # Effects: what is done in doubt
//!
//! `RETRY` is the one answer to "nobody knows whether it happened" that may do it twice. Where it is
//! written down somebody should know that.

use semel_model::{OnUnknown, effective_effect};

use crate::finding::{Code, Finding};
use crate::walk::Place;

pub(crate) fn of_step(place: &Place<'_>) -> Option<Finding> {
    let policy = effective_effect(&place.policy, &place.step)?;
    if policy.on_unknown != Some(OnUnknown::Retry) {
        return None;
    }
    let is_written = place.step.effect.is_some() || place.policy.effect.is_some();
    if is_written { Some(written(place)) } else { of_cache(place) }
}

fn written(place: &Place<'_>) -> Finding {
    let message = "effect.onUnknown is RETRY: when a worker falls silent the next attempt is \
                   handed out although the first may have done it, so it may happen twice unless \
                   the far side knows the effectKey again";
    let fix = "leave onUnknown out (HOLD: a person says whether it happened), give a probe \
               that asks the far side, or keep RETRY if workers pass the effectKey to a far side \
               that honours it";
    Finding::new(Code::WEffect1, &place.at, message, fix)
}

/// Only workers and children act: what the server computes itself may be computed again.
fn of_cache(place: &Place<'_>) -> Option<Finding> {
    let acts = place.is_worker() || place.step.kind == "SUB_WORKFLOW";
    acts.then(|| {
        let message = "cacheConfig keeps a result, and in doubt the task is tried again: when its \
                       worker falls silent the next attempt is handed out although the first may \
                       have done it";
        let fix = "keep cacheConfig if the task only looks something up; if it does something, \
                   give it an effect with the same key instead";
        Finding::new(Code::WEffect1, &place.at, message, fix)
    })
}
