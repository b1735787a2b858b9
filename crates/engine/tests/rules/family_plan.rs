//! # Family plans: random definitions that begin one another, and what may happen to their runs

use std::fmt;

use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;
use semel_model::TaskResultStatus;
use serde_json::{Value, json};

use crate::children::{named, sub};
use crate::shapes::{fork, join, step, system, with};

/// What happens next. Runs, tasks and messages are chosen by number among those there are.
#[derive(Clone, Debug)]
pub(crate) enum Act {
    /// Somebody takes the nth offered task and says this about it.
    Work {
        at: usize,
        status: TaskResultStatus,
    },
    /// Somebody takes the nth offered task and is silent, until [`Act::Late`].
    Claim(usize),
    /// What the nth silent holder says.
    Late {
        at: usize,
        status: TaskResultStatus,
    },
    /// Somebody answers for the nth open task by its id.
    Answer {
        at: usize,
        status: TaskResultStatus,
    },
    Deliver(usize),
    Tick(i64),
    Crash,
    Start,
    Operate {
        run: usize,
        operation: Operation,
    },
}

#[derive(Clone, Debug)]
pub(crate) enum Operation {
    Pause,
    Resume,
    Terminate { compensate: bool },
    Retry,
    Restart { other: bool },
    Rerun,
    RerunFrom(usize),
    Skip(usize),
    Jump(usize),
    Upgrade,
    Variables(i64),
    ResetCallbacks,
    Remove,
}

/// Two versions of three definitions, the later ones beginning the earlier ones.
#[derive(Clone)]
pub(crate) struct Plan {
    pub(crate) definitions: Vec<Value>,
    pub(crate) acts: Vec<Act>,
}

/// As text that fits a screen.
impl fmt::Debug for Plan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.definitions.iter().try_for_each(|definition| writeln!(f, "{definition}"))?;
        self.acts.iter().try_for_each(|act| writeln!(f, "{act:?}"))
    }
}

pub(crate) fn plans() -> impl Strategy<Value = Plan> {
    let leaf = (bodies(None), bodies(None));
    let middle = (bodies(Some("leaf")), bodies(Some("leaf")));
    let top = (bodies(Some("middle")), bodies(Some("middle")));
    (leaf, middle, top, vec(acts(), 1..80)).prop_map(|(leaf, middle, top, acts)| {
        let mut definitions = vec![named("cleanup", &[step("tidy", json!({"retryCount": 0}))])];
        for (name, (first, second)) in [("leaf", leaf), ("middle", middle), ("top", top)] {
            for (version, body) in [(1, first), (2, second)] {
                definitions.push(with(body, json!({"name": name, "version": version})));
            }
        }
        Plan { definitions, acts }
    })
}

const NAMES: [&str; 4] = ["a", "b", "c", "d"];

/// A definition without a name. Both versions number their steps alike, so an upgrade finds places.
fn bodies(child: Option<&'static str>) -> impl Strategy<Value = Value> {
    let failure = select(vec![None, None, Some("cleanup"), Some("nobody")]);
    let limits = (select(vec![0, 0, 0, 40]), select(vec!["TIME_OUT_WF", "ALERT_ONLY"]), failure);
    let shape = (any::<bool>(), prop::bool::weighted(0.3));
    (vec(steps(child), 1..=NAMES.len()), shape, limits).prop_map(|(steps, shape, limits)| {
        let (timeout, policy, failure) = limits;
        let named = steps.into_iter().zip(NAMES);
        let steps: Vec<Value> =
            named.map(|(step, name)| with(step, json!({"taskReferenceName": name}))).collect();
        let steps = shaped(steps, shape);
        json!({"tasks": steps, "timeoutSeconds": timeout, "timeoutPolicy": policy,
            "failureWorkflow": failure, "variables": {"n": 0}})
    })
}

/// The first two side by side, and what is behind them twice in a loop, if so chosen.
fn shaped(mut steps: Vec<Value>, (is_forked, is_looped): (bool, bool)) -> Vec<Value> {
    let behind = steps.split_off(steps.len().min(2));
    let first = match steps.as_slice() {
        [a, b] if is_forked => {
            let branches = fork("f", &[std::slice::from_ref(a), std::slice::from_ref(b)]);
            vec![branches, join("j", &["a", "b"])]
        }
        _ => steps,
    };
    let twice = json!({"loopOver": behind, "inputParameters": {"_items": [1, 2]}});
    let behind = match is_looped && !behind.is_empty() {
        true => vec![system("l", "DO_WHILE", twice)],
        false => behind,
    };
    [first, behind].concat()
}

fn steps(child: Option<&'static str>) -> BoxedStrategy<Value> {
    let plain = prop_oneof![
        4 => simple(),
        1 => flagged(json!({"name": "w", "type": "WAIT", "inputParameters": {"duration": "10s"}})),
        1 => Just(json!({"name": "s", "type": "SET_VARIABLE", "inputParameters": {"n": 1}})),
        1 => Just(json!({"name": "n", "type": "NOOP"})),
        1 => select(vec!["COMPLETED", "FAILED", "wrong"]).prop_map(|status| {
            json!({"name": "t", "type": "TERMINATE",
                "inputParameters": {"terminationStatus": status}})
        }),
        1 => flagged(json!({"name": "e", "type": "EVENT", "sink": "conductor"})),
    ];
    let Some(child) = child else { return plain.boxed() };
    let keyed = json!({"subWorkflowParam": {"name": child, "idempotencyKey": "k",
        "idempotencyStrategy": "RETURN_EXISTING"}});
    let start = json!({"name": "go", "type": "START_WORKFLOW",
        "inputParameters": {"startWorkflow": {"name": child}}});
    let start_keyed = json!({"name": "go", "type": "START_WORKFLOW",
        "inputParameters": {"startWorkflow": {"name": child, "idempotencyKey": "k",
            "idempotencyStrategy": "FAIL_ON_RUNNING"}}});
    prop_oneof![
        3 => plain,
        4 => flagged(sub("s", child)),
        1 => flagged(with(sub("s", child), keyed)),
        1 => flagged(start),
        1 => flagged(start_keyed),
    ]
    .boxed()
}

/// Retries, flags, delays and timeouts on this step.
fn flagged(base: Value) -> impl Strategy<Value = Value> {
    let flags = (any::<bool>(), prop::bool::weighted(0.3), select(vec![0, 0, 0, 5]));
    let policy = select(vec!["RETRY", "TIME_OUT_WF", "ALERT_ONLY"]);
    let limits = (policy, select(vec![0, 0, 0, 20]), select(vec![0, 0, 0, 30]));
    (flags, 0..2_i32, limits).prop_map(move |(flags, retries, (policy, run, total))| {
        let ((optional, permissive, delay), name) = (flags, base["name"].clone());
        let definition = json!({"name": name, "retryCount": retries, "retryDelaySeconds": 3,
            "timeoutPolicy": policy, "timeoutSeconds": run, "totalTimeoutSeconds": total,
            "responseTimeoutSeconds": 0});
        let flags = json!({"optional": optional && !permissive, "permissive": permissive,
            "startDelay": delay, "taskDefinition": definition});
        with(base.clone(), flags)
    })
}

fn simple() -> impl Strategy<Value = Value> {
    let response = select(vec![0, 0, 10]);
    let base = json!({"name": "work", "type": "SIMPLE"});
    (flagged(base), response).prop_map(|(mut step, response)| {
        step["taskDefinition"]["responseTimeoutSeconds"] = json!(response);
        step
    })
}

fn status() -> impl Strategy<Value = TaskResultStatus> {
    select(vec![
        TaskResultStatus::Completed,
        TaskResultStatus::Completed,
        TaskResultStatus::Failed,
        TaskResultStatus::Failed,
        TaskResultStatus::FailedWithTerminalError,
        TaskResultStatus::Canceled,
        TaskResultStatus::InProgress,
    ])
}

fn operations() -> impl Strategy<Value = Operation> {
    prop_oneof![
        2 => Just(Operation::Pause),
        2 => Just(Operation::Resume),
        2 => any::<bool>().prop_map(|compensate| Operation::Terminate { compensate }),
        4 => Just(Operation::Retry),
        2 => any::<bool>().prop_map(|other| Operation::Restart { other }),
        1 => Just(Operation::Rerun),
        4 => (0..8_usize).prop_map(Operation::RerunFrom),
        2 => (0..8_usize).prop_map(Operation::Skip),
        2 => (0..8_usize).prop_map(Operation::Jump),
        2 => Just(Operation::Upgrade),
        1 => (0..3_i64).prop_map(Operation::Variables),
        1 => Just(Operation::ResetCallbacks),
        1 => Just(Operation::Remove),
    ]
}

fn acts() -> impl Strategy<Value = Act> {
    let place = 0..16_usize;
    prop_oneof![
        8 => (place.clone(), status()).prop_map(|(at, status)| Act::Work { at, status }),
        2 => place.clone().prop_map(Act::Claim),
        2 => (place.clone(), status()).prop_map(|(at, status)| Act::Late { at, status }),
        1 => (place.clone(), status()).prop_map(|(at, status)| Act::Answer { at, status }),
        8 => place.clone().prop_map(Act::Deliver),
        4 => (0..15_i64).prop_map(Act::Tick),
        1 => Just(Act::Crash),
        1 => Just(Act::Start),
        10 => (place, operations()).prop_map(|(run, operation)| Act::Operate { run, operation }),
    ]
}
