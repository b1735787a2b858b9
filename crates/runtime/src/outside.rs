//! # Outside: data as it enters
//!
//! Whatever callers, workers, services and scripts send is data. Only definitions write expressions
//! that are put in place late (secrets, the fence of a hand-out), so what looks like one in data is
//! marked as text here, before any round sees it. Nothing else brings payloads in.

use semel_engine::{Act, Verdict, disarmed};
use semel_model::Payload;

use crate::ledger::Asks;
use crate::work::Work;

pub(crate) fn disarm_work(work: &mut Work) {
    match work {
        Work::Start(start) => disarm(&mut start.input),
        Work::Event(event) => event.payloads.iter_mut().for_each(disarm),
        Work::Call(call) => match &mut call.asks {
            Asks::Ledger(
                Act::Complete { result: said, .. }
                | Act::Fail { error: said, .. }
                | Act::Resolve { output: said, .. },
            ) => disarm(said),
            Asks::Ledger(
                Act::TryStart(_)
                | Act::Renew { .. }
                | Act::Release { .. }
                | Act::Reset
                | Act::Lapse,
            )
            | Asks::Lock(_) => {}
        },
        Work::Claim(_)
        | Work::Renew(_)
        | Work::Documents(_)
        | Work::Log(_)
        | Work::Lift(_)
        | Work::Park(..)
        | Work::Message(..)
        | Work::Remove(_)
        | Work::Expire(..)
        | Work::Settle(_)
        | Work::Forget(_)
        | Work::Reset(..)
        | Work::Beat => {}
    }
}

/// What a script made, of whatever it was given.
pub(crate) fn disarm_verdict(verdict: Verdict) -> Verdict {
    match verdict {
        Verdict::Value(value) => Verdict::Value(disarmed(&value)),
        failed @ (Verdict::Failed(_) | Verdict::Exhausted(_)) => failed,
    }
}

fn disarm(data: &mut Payload) {
    *data = disarmed(data);
}
