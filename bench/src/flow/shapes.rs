//! # Shapes: the definitions that are measured

use serde_json::{Value, json};

/// The one type workers do.
pub(super) const TASK: &str = "flow_task";

/// A run, and how many branches or turns it has.
pub(super) struct Shape {
    pub(super) name: String,
    pub(super) definition: Value,
    pub(super) input: Value,
    pub(super) count: usize,
}

/// The same in two sizes.
pub(super) struct Pair {
    pub(super) name: &'static str,
    pub(super) small: Shape,
    pub(super) large: Shape,
}

pub(super) fn pairs(branches: usize, turns: usize) -> Vec<Pair> {
    let mut pairs = forks(branches);
    pairs.push(Pair { name: "loop", small: repeated(turns), large: repeated(10 * turns) });
    pairs
}

pub(super) fn forks(branches: usize) -> Vec<Pair> {
    let pair = |name, small, large| Pair { name, small, large };
    vec![
        pair("fork", fork(branches), fork(10 * branches)),
        pair("dynamic_fork", dynamic_fork(branches), dynamic_fork(10 * branches)),
    ]
}

fn simple(reference: &str) -> Value {
    json!({"name": TASK, "taskReferenceName": reference, "type": "SIMPLE"})
}

fn step(reference: &str, kind: &str, fields: &Value) -> Value {
    let mut step = json!({"name": reference, "taskReferenceName": reference, "type": kind});
    if let (Value::Object(step), Value::Object(fields)) = (&mut step, fields.clone()) {
        step.extend(fields);
    }
    step
}

fn workflow(name: &str, tasks: &Value) -> Value {
    json!({"name": name, "version": 1, "tasks": tasks})
}

fn fork(branches: usize) -> Shape {
    let name = format!("fork_{branches}");
    let references: Vec<String> = (0..branches).map(|at| format!("b{at}")).collect();
    let heads: Vec<Value> = references.iter().map(|reference| json!([simple(reference)])).collect();
    let tasks = json!([
        step("fork", "FORK_JOIN", &json!({"forkTasks": heads})),
        step("join", "JOIN", &json!({"joinOn": references})),
    ]);
    let definition = workflow(&name, &tasks);
    Shape { name, definition, input: json!({}), count: branches }
}

fn fan(reference: &str) -> Value {
    let parameters = json!({"forkTaskName": TASK, "forkTaskInputs": "${workflow.input.inputs}"});
    step(reference, "FORK_JOIN_DYNAMIC", &json!({"inputParameters": parameters}))
}

fn dynamic_fork(branches: usize) -> Shape {
    let name = format!("dynamic_fork_{branches}");
    let tasks = json!([fan("fork"), step("join", "JOIN", &json!({}))]);
    let definition = workflow(&name, &tasks);
    let input = json!({"inputs": vec![json!({"n": 1}); branches]});
    Shape { name, definition, input, count: branches }
}

fn repeated(turns: usize) -> Shape {
    let name = format!("loop_{turns}");
    let condition = format!("$.loop.iteration < {turns}");
    let fields = json!({"loopCondition": condition, "loopOver": [simple("turn")]});
    let definition = workflow(&name, &json!([step("loop", "DO_WHILE", &fields)]));
    Shape { name, definition, input: json!({}), count: turns }
}

/// Turns of a loop over a dynamic fork.
pub(super) fn large() -> Value {
    let body = json!([fan("fork"), step("join", "JOIN", &json!({}))]);
    let fields = json!({
        "inputParameters": {"turns": "${workflow.input.turns}"},
        "loopCondition": "$.loop.iteration < $.turns",
        "loopOver": body,
    });
    workflow("flow_large", &json!([step("loop", "DO_WHILE", &fields)]))
}

/// Ten dynamic forks side by side, of tasks that nobody does.
pub(super) fn open() -> Value {
    let branch = |at: usize| {
        let parameters =
            json!({"forkTaskName": "flow_nobody", "forkTaskInputs": "${workflow.input.inputs}"});
        let fork = step(
            &format!("fork{at}"),
            "FORK_JOIN_DYNAMIC",
            &json!({"inputParameters": parameters}),
        );
        json!([fork, step(&format!("join{at}"), "JOIN", &json!({}))])
    };
    let branches: Vec<Value> = (0..10).map(branch).collect();
    let joins: Vec<String> = (0..10).map(|at| format!("join{at}")).collect();
    let tasks = json!([
        step("all", "FORK_JOIN", &json!({"forkTasks": branches})),
        step("end", "JOIN", &json!({"joinOn": joins})),
    ]);
    workflow("flow_open", &tasks)
}

/// A built-in that no budget stops.
pub(super) fn hostile() -> Value {
    let parameters = json!({"expression": "new Array(1e9).join()"});
    let step = step("spin", "INLINE", &json!({"inputParameters": parameters}));
    workflow("flow_hostile", &json!([step]))
}
