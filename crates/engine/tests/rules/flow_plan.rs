//! # Plans of flows: random definitions with control flow, and what happens to their runs

use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;
use semel_model::TaskResultStatus;
use serde_json::{Value, json};

use crate::shapes::{
    dynamic_fork, flow, fork, noop, repeat, step, switch, system, terminate, with,
};

/// A definition in the making: its steps have no names yet.
#[derive(Clone, Debug)]
enum Node {
    Worker {
        policy: Value,
        flags: Value,
    },
    Noop,
    Wait,
    Human,
    /// Whether its program is plain.
    Inline(bool),
    Dynamic,
    Terminate(&'static str),
    /// Branches, how many of them are joined, and whether a program ends the JOIN.
    Fork(Vec<Vec<Node>>, usize, bool),
    /// A branch for each of these flags.
    Fan(Vec<Value>),
    /// A branch for each of these nodes.
    Listed(Vec<Node>),
    Switch(Vec<Node>, Vec<Node>, Value),
    Loop(Vec<Node>, Value),
}

/// What happens next. Tasks and steps are chosen by number.
#[derive(Clone, Debug)]
pub(crate) enum Act {
    /// Claims an offered task and reports.
    Work {
        at: usize,
        status: TaskResultStatus,
        output: i64,
    },
    /// Claims an offered task and falls silent.
    Claim(usize),
    /// A silent holder reports after all.
    Late {
        at: usize,
        status: TaskResultStatus,
    },
    /// A program says something.
    Answer {
        at: usize,
        said: Program,
    },
    /// Somebody answers for a HUMAN or WAIT task.
    Person {
        at: usize,
        status: TaskResultStatus,
    },
    Tick(i64),
    Reopen,
    Pause,
    Resume,
    Terminate,
    Retry,
    Restart,
    Rerun,
    RerunFrom(usize),
    Skip(usize),
    Jump(usize),
    Upgrade,
    Variables(i64),
}

impl Act {
    /// Nobody can work on a run that is over; mostly it is revived instead.
    pub(crate) fn once_over(&self) -> Self {
        match self {
            Self::Work { at, .. } if at % 4 == 0 => Self::Retry,
            Self::Work { at, .. } => Self::RerunFrom(*at),
            other => other.clone(),
        }
    }
}

#[derive(Clone, Copy, Debug)]
pub(crate) enum Program {
    Yes,
    No,
    Throws,
    Exhausted,
}

#[derive(Clone)]
pub(crate) struct Plan {
    pub(crate) definition: Value,
    pub(crate) acts: Vec<Act>,
}

/// The definition as it would be registered.
impl std::fmt::Debug for Plan {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}\n{:?}", self.definition, self.acts)
    }
}

pub(crate) fn plans() -> impl Strategy<Value = Plan> {
    let limits = select(vec![0, 0, 0, 0, 60]);
    (vec(nodes(), 1..4), limits, vec(acts(), 1..60)).prop_map(|(nodes, limit, acts)| {
        let steps = Names(0).list(&nodes);
        let limits = json!({"timeoutSeconds": limit, "timeoutPolicy": "TIME_OUT_WF"});
        Plan { definition: with(flow(&steps), limits), acts }
    })
}

fn nodes() -> impl Strategy<Value = Node> {
    leaves().prop_recursive(3, 14, 3, |inner| {
        let list = vec(inner.clone(), 1..3);
        let branches = (vec(list.clone(), 1..4), 0..4_usize, prop::bool::weighted(0.15));
        let by = select(vec![
            json!({}),
            json!({"evaluatorType": "javascript"}),
            json!({"evaluatorType": "javascript", "optional": true}),
        ]);
        let loops = select(vec![
            json!({}),
            json!({"loopCondition": "$.go"}),
            json!({"loopCondition": "$.go.valueOf()"}),
            json!({"inputParameters": {"keepLastN": 1}}),
            json!({"items": "${workflow.input.items}", "loopCondition": ""}),
            json!({"items": "${workflow.input.items}"}),
        ]);
        prop_oneof![
            4 => branches.prop_map(|(branches, joined, by)| Node::Fork(branches, joined, by)),
            3 => (list.clone(), list.clone(), by).prop_map(|(x, y, by)| Node::Switch(x, y, by)),
            4 => (list, loops).prop_map(|(body, fields)| Node::Loop(body, fields)),
            2 => vec(inner, 1..3).prop_map(Node::Listed),
        ]
    })
}

fn leaves() -> impl Strategy<Value = Node> {
    let element = select(vec![
        json!({}),
        json!({"retryCount": 0}),
        json!({"retryCount": 0, "optional": true}),
    ]);
    prop_oneof![
        24 => workers(),
        4 => Just(Node::Noop),
        2 => Just(Node::Wait),
        2 => Just(Node::Human),
        2 => Just(Node::Inline(false)),
        1 => Just(Node::Inline(true)),
        2 => Just(Node::Dynamic),
        4 => vec(element, 0..4).prop_map(Node::Fan),
        1 => select(vec!["COMPLETED", "FAILED", "TERMINATED"]).prop_map(Node::Terminate),
    ]
}

fn workers() -> impl Strategy<Value = Node> {
    let retry = (0..3_i32, select(vec![0, 3]));
    let timeouts = (
        select(vec!["RETRY", "TIME_OUT_WF", "ALERT_ONLY"]),
        select(vec![0, 0, 0, 9]),
        select(vec![0, 10]),
    );
    let flags = (prop::bool::weighted(0.2), prop::bool::weighted(0.2), select(vec![0, 0, 0, 2]));
    (retry, timeouts, flags).prop_map(|((count, delay), (policy, run, response), flags)| {
        let (optional, permissive, start_delay) = flags;
        Node::Worker {
            policy: json!({"retryCount": count, "retryDelaySeconds": delay,
                "timeoutPolicy": policy, "timeoutSeconds": run,
                "responseTimeoutSeconds": response}),
            flags: json!({"optional": optional, "permissive": permissive,
                "startDelay": start_delay}),
        }
    })
}

/// Gives every step a name of its own.
struct Names(u32);

impl Names {
    fn next(&mut self, kind: &str) -> String {
        self.0 += 1;
        format!("{kind}{}", self.0)
    }

    fn list(&mut self, nodes: &[Node]) -> Vec<Value> {
        nodes.iter().flat_map(|node| self.steps(node)).collect()
    }

    fn steps(&mut self, node: &Node) -> Vec<Value> {
        match node {
            Node::Fork(branches, joined, by) => return self.fork(branches, *joined, *by),
            Node::Fan(elements) => {
                let name = self.next("fan");
                let input = json!({"forkTaskName": name, "forkTaskInputs": elements});
                return vec![dynamic_fork(&name, input), self.join(&[], false)];
            }
            Node::Listed(nodes) => return self.listed(nodes),
            Node::Worker { .. }
            | Node::Noop
            | Node::Wait
            | Node::Human
            | Node::Inline(_)
            | Node::Dynamic
            | Node::Terminate(_)
            | Node::Switch(..)
            | Node::Loop(..) => {}
        }
        vec![self.single(node)]
    }

    fn single(&mut self, node: &Node) -> Value {
        match node {
            Node::Worker { policy, flags } => {
                with(step(&self.next("w"), policy.clone()), flags.clone())
            }
            Node::Wait => {
                let input = json!({"inputParameters": {"duration": "4s"}});
                system(&self.next("wait"), "WAIT", input)
            }
            Node::Human => system(&self.next("human"), "HUMAN", json!({})),
            Node::Inline(is_plain) => {
                let program = if *is_plain { "1" } else { "one()" };
                let input = json!({"inputParameters": {"expression": program}});
                system(&self.next("inline"), "INLINE", input)
            }
            Node::Dynamic => {
                let fields = json!({"dynamicTaskNameParam": "n", "inputParameters": {"n": "made"}});
                system(&self.next("dyn"), "DYNAMIC", fields)
            }
            Node::Terminate(status) => terminate(&self.next("end"), status),
            Node::Switch(x, y, by) => {
                let name = self.next("switch");
                let cases = json!({"x": self.list(x), "none": []});
                with(switch(&name, cases, &self.list(y)), by.clone())
            }
            Node::Loop(body, fields) => {
                let name = self.next("loop");
                with(repeat(&name, &self.list(body)), fields.clone())
            }
            Node::Noop | Node::Fork(..) | Node::Fan(_) | Node::Listed(_) => {
                noop(&self.next("noop"))
            }
        }
    }

    fn fork(&mut self, branches: &[Vec<Node>], joined: usize, by: bool) -> Vec<Value> {
        let name = self.next("fork");
        let branches: Vec<Vec<Value>> = branches.iter().map(|branch| self.list(branch)).collect();
        let heads: Vec<&[Value]> = branches.iter().map(Vec::as_slice).collect();
        let last = branches.iter().filter_map(|branch| branch.last());
        let on: Vec<&str> = last.filter_map(|step| step["taskReferenceName"].as_str()).collect();
        // Rarely a branch is joined by nobody.
        let on = if joined == 1 { &on[..1] } else { &on };
        vec![fork(&name, &heads), self.join(on, by)]
    }

    fn join(&mut self, on: &[&str], by: bool) -> Value {
        let join = crate::shapes::join(&self.next("join"), on);
        if by {
            with(join, json!({"evaluatorType": "js", "expression": "enough($)"}))
        } else {
            join
        }
    }

    /// What cannot be a branch of its own becomes a NOOP.
    fn listed(&mut self, nodes: &[Node]) -> Vec<Value> {
        let name = self.next("many");
        let tasks: Vec<Value> = nodes.iter().map(|node| self.single(node)).collect();
        let input = json!({"tasks": tasks, "inputs": {}});
        let names = json!({"dynamicForkTasksParam": "tasks",
            "dynamicForkTasksInputParamName": "inputs"});
        vec![with(dynamic_fork(&name, input), names), self.join(&[], false)]
    }
}

fn statuses() -> impl Strategy<Value = TaskResultStatus> {
    prop_oneof![
        8 => Just(TaskResultStatus::Completed),
        2 => Just(TaskResultStatus::Failed),
        1 => Just(TaskResultStatus::FailedWithTerminalError),
        1 => Just(TaskResultStatus::InProgress),
    ]
}

fn acts() -> impl Strategy<Value = Act> {
    let said = prop_oneof![
        6 => Just(Program::Yes),
        6 => Just(Program::No),
        1 => Just(Program::Throws),
        1 => Just(Program::Exhausted),
    ];
    let at = || 0..64_usize;
    let work = (at(), statuses(), 0..3_i64);
    prop_oneof![
        24 => work.prop_map(|(at, status, output)| Act::Work { at, status, output }),
        3 => at().prop_map(Act::Claim),
        2 => (at(), statuses()).prop_map(|(at, status)| Act::Late { at, status }),
        10 => (at(), said).prop_map(|(at, said)| Act::Answer { at, said }),
        3 => (at(), statuses()).prop_map(|(at, status)| Act::Person { at, status }),
        4 => (0..13_i64).prop_map(Act::Tick),
        2 => Just(Act::Reopen),
        2 => Just(Act::Pause),
        3 => Just(Act::Resume),
        1 => Just(Act::Terminate),
        3 => Just(Act::Retry),
        1 => Just(Act::Restart),
        1 => Just(Act::Rerun),
        3 => at().prop_map(Act::RerunFrom),
        2 => at().prop_map(Act::Skip),
        1 => at().prop_map(Act::Jump),
        1 => Just(Act::Upgrade),
        1 => (0..3_i64).prop_map(Act::Variables),
    ]
}
