//! # Plans: random definitions and random sequences of what may happen to their runs

use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;
use semel_model::TaskResultStatus;
use serde_json::{Value, json};

use crate::shapes::{flow, step, with};

const NAMES: [&str; 5] = ["a", "b", "c", "d", "e"];

/// What happens next. Workers and earlier moments are chosen by number.
#[derive(Clone, Debug)]
pub(crate) enum Act {
    Claim {
        worker: usize,
    },
    /// By whoever claimed last, or by an earlier claimant.
    Report {
        claimant: Claimant,
        fenced: bool,
        named: bool,
        told: Told,
    },
    /// One of the reports sent so far, once more.
    Echo(usize),
    /// Somebody reports for the open task without having claimed it.
    Unclaimed {
        worker: usize,
        told: Told,
    },
    Expire,
    Wake,
    Answer {
        active: usize,
        right: bool,
    },
    Advance {
        seconds: i64,
    },
    Pause,
    Resume,
    Terminate,
}

#[derive(Clone, Copy, Debug)]
pub(crate) enum Claimant {
    Last,
    Earlier(usize),
}

#[derive(Clone, Debug)]
pub(crate) struct Told {
    pub(crate) status: TaskResultStatus,
    pub(crate) output: i64,
    pub(crate) callback_after_seconds: i64,
}

/// A definition, the domains its run is started with, and what happens to it.
#[derive(Clone, Debug)]
pub(crate) struct Plan {
    pub(crate) definition: Value,
    pub(crate) domains: Vec<(&'static str, &'static str)>,
    pub(crate) acts: Vec<Act>,
}

pub(crate) fn plans() -> impl Strategy<Value = Plan> {
    let domains = select(vec![vec![], vec![("*", "x,y,NO_DOMAIN")], vec![("a_def", "x,y")]]);
    (definitions(), domains, vec(acts(), 1..60)).prop_map(|(definition, domains, acts)| Plan {
        definition,
        domains,
        acts,
    })
}

fn seconds() -> impl Strategy<Value = i64> {
    select(vec![0, 0, 5, 10, 20])
}

fn definitions() -> impl Strategy<Value = Value> {
    let policy = select(vec!["TIME_OUT_WF", "ALERT_ONLY"]);
    let outputs = select(vec![json!({}), json!({"o": "${a.output.v}", "s": "${b.status}"})]);
    let limits = (select(vec![0, 0, 30, 60]), policy, outputs);
    (vec(steps(), 1..=NAMES.len()), limits).prop_map(|(steps, (timeout, policy, outputs))| {
        let named = steps
            .into_iter()
            .zip(NAMES)
            .map(|((policy, flags), name)| with(step(name, policy), flags));
        let steps: Vec<Value> = named.collect();
        let limits = json!({"timeoutSeconds": timeout, "timeoutPolicy": policy,
            "outputParameters": outputs});
        with(flow(&steps), limits)
    })
}

/// A task definition and the flags of the step.
fn steps() -> impl Strategy<Value = (Value, Value)> {
    let retry = (
        0..3_i32,
        select(vec!["FIXED", "LINEAR_BACKOFF", "EXPONENTIAL_BACKOFF"]),
        select(vec![0, 1, 7]),
        select(vec![0, 250]),
    );
    let limits = (
        select(vec!["RETRY", "TIME_OUT_WF", "ALERT_ONLY"]),
        seconds(),
        seconds(),
        seconds(),
        select(vec![0, 0, 0, 15, 40]),
    );
    let flags = (any::<bool>(), any::<bool>(), select(vec![0, 0, 3]), any::<bool>());
    (retry, limits, flags).prop_map(|(retry, limits, flags)| {
        let (count, logic, delay, jitter) = retry;
        let (policy, response, run, poll, total) = limits;
        let (optional, permissive, start_delay, asynchronous) = flags;
        let policy = json!({"retryCount": count, "retryLogic": logic, "retryDelaySeconds": delay,
            "backoffJitterMs": jitter, "timeoutPolicy": policy, "responseTimeoutSeconds": response,
            "timeoutSeconds": run, "pollTimeoutSeconds": poll, "totalTimeoutSeconds": total});
        let flags = json!({"optional": optional, "permissive": permissive,
            "startDelay": start_delay, "asyncComplete": asynchronous,
            "inputParameters": {"v": "${a.output.v}", "mine": "${CPEWF_TASK_ID}"}});
        (policy, flags)
    })
}

fn told() -> impl Strategy<Value = Told> {
    let status = select(vec![
        TaskResultStatus::Completed,
        TaskResultStatus::Completed,
        TaskResultStatus::Failed,
        TaskResultStatus::Failed,
        TaskResultStatus::InProgress,
        TaskResultStatus::InProgress,
        TaskResultStatus::FailedWithTerminalError,
        TaskResultStatus::Canceled,
    ]);
    (status, 0..3_i64, select(vec![0, 4, 12])).prop_map(|(status, output, callback)| Told {
        status,
        output,
        callback_after_seconds: callback,
    })
}

fn acts() -> impl Strategy<Value = Act> {
    let claimant =
        prop_oneof![3 => Just(Claimant::Last), 1 => (0..8_usize).prop_map(Claimant::Earlier)];
    let report = (claimant, any::<bool>(), any::<bool>(), told());
    prop_oneof![
        8 => (0..3_usize).prop_map(|worker| Act::Claim { worker }),
        8 => report.prop_map(|(claimant, fenced, named, told)| {
            Act::Report { claimant, fenced, named, told }
        }),
        2 => (0..16_usize).prop_map(Act::Echo),
        1 => (0..3_usize, told()).prop_map(|(worker, told)| Act::Unclaimed { worker, told }),
        3 => Just(Act::Expire),
        3 => Just(Act::Wake),
        3 => (0..4_usize, prop::bool::weighted(0.8)).prop_map(|(active, right)| {
            Act::Answer { active, right }
        }),
        6 => (0..15_i64).prop_map(|seconds| Act::Advance { seconds }),
        2 => Just(Act::Pause),
        3 => Just(Act::Resume),
        1 => prop::bool::weighted(0.2).prop_map(|really| {
            if really { Act::Terminate } else { Act::Resume }
        }),
    ]
}
