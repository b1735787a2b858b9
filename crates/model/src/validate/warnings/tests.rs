//! # Warnings: what they say, and that nothing of it is refused

use serde_json::{Value, json};

use super::*;

fn step(kind: &str, fields: Value) -> Value {
    let mut step = json!({"name": "n", "taskReferenceName": "r", "type": kind});
    for (key, value) in fields.as_object().unwrap() {
        step[key] = value.clone();
    }
    step
}

fn named(reference: &str) -> Value {
    step("SIMPLE", json!({"taskReferenceName": reference}))
}

fn definition(json: &Value) -> WorkflowDef {
    let definition: WorkflowDef = serde_json::from_str(&json.to_string()).unwrap();
    assert_eq!(definition.violations(), [], "it is registered");
    definition
}

/// `CODE path: message` of every warning.
fn told(warnings: &[Warning]) -> Vec<String> {
    warnings.iter().map(|it| format!("{} {}: {}", it.kind.code(), it.path, it.message)).collect()
}

fn of(steps: Value) -> Vec<String> {
    told(&definition(&json!({"name": "wf", "tasks": steps})).warnings())
}

/// Of one step followed by a JOIN, which is legal after anything.
fn of_step(kind: &str, fields: Value) -> Vec<String> {
    of(json!([step(kind, fields), step("JOIN", json!({"taskReferenceName": "join"}))]))
}

#[test]
fn a_fork_without_its_join_fails_the_run_there() {
    let fork = step("FORK_JOIN", json!({"forkTasks": [[named("a")]]}));
    let join = step("JOIN", json!({"taskReferenceName": "j", "joinOn": ["a"]}));
    assert_eq!(of(json!([fork, join])), [""; 0]);
    let alone = ["W-RUN-1 tasks[0]: FORK_JOIN task must be followed by a JOIN task, else the run \
                  fails there, taskName: n"];
    assert_eq!(of(json!([fork])), alone);
    assert_eq!(of(json!([fork, named("b"), join])), alone);
    let case = step(
        "SWITCH",
        json!({"taskReferenceName": "s", "evaluatorType": "value-param", "expression": "x",
            "decisionCases": {"x": [fork]}}),
    );
    assert_eq!(of(json!([case, join])), [""; 0]);
}

#[test]
fn a_dynamic_fork_in_a_branch_has_a_join_of_its_own() {
    let fork = step(
        "FORK_JOIN_DYNAMIC",
        json!({"taskReferenceName": "d", "dynamicForkJoinTasksParam": "p"}),
    );
    let own = step("JOIN", json!({"taskReferenceName": "i"}));
    let join = step("JOIN", json!({"taskReferenceName": "j", "joinOn": ["d"]}));
    let outer = |branch: Value| step("FORK_JOIN", json!({"forkTasks": [branch]}));
    assert_eq!(of(json!([outer(json!([fork, own])), join])), [""; 0]);
    let message = "FORK_JOIN_DYNAMIC task at the end of a branch must be followed by a JOIN task of \
                   its own, else the run fails there, taskName: n";
    let alone = format!("W-RUN-1 tasks[0].forkTasks[0][0]: {message}");
    assert_eq!(of(json!([outer(json!([fork])), join])), [alone]);
    let case = step(
        "SWITCH",
        json!({"taskReferenceName": "s", "evaluatorType": "value-param", "expression": "x",
            "decisionCases": {"x": [fork]}}),
    );
    assert_eq!(of(json!([case, join])), [""; 0], "the JOIN behind the choice is its own");
    let alone = format!("W-RUN-1 tasks[0].forkTasks[0][0].decisionCases[x][0]: {message}");
    assert_eq!(of(json!([outer(json!([case])), join])), [alone]);
}

#[test]
fn a_join_waits_for_steps_that_exist() {
    let join = |references: Value| step("JOIN", json!({"joinOn": references}));
    assert_eq!(
        of(json!([named("a"), join(json!(["a", "b"]))])),
        ["W-RUN-1 tasks[1].joinOn[1]: joinOn: b for given task: n is not defined in workflow \
          definition: unless the data of a run bring it, the JOIN fails"]
    );
    let fork = step(
        "FORK_JOIN_DYNAMIC",
        json!({"taskReferenceName": "f", "dynamicForkJoinTasksParam": "p"}),
    );
    assert_eq!(of(json!([fork, join(json!(["b"]))])), [""; 0]);
}

#[test]
fn a_type_that_is_not_in_this_release_fails_wherever_it_stands() {
    let told = of_step("GET_WORKFLOW", json!({}));
    assert!(told[0].starts_with("W-RUN-1 tasks[0].type: task type GET_WORKFLOW is not in this"));
    let kafka = step("KAFKA_PUBLISH", json!({"inputParameters": {"kafka_request": {}}}));
    let body = json!({"loopCondition": "c", "loopOver": [kafka], "taskReferenceName": "l"});
    let told = of_step("DO_WHILE", body);
    assert!(told[0].starts_with("W-RUN-1 tasks[0].loopOver[0].type: "), "{told:?}");
    let inline = json!({"name": "child", "tasks": [step("JDBC", json!({}))]});
    let told = of_step("SUB_WORKFLOW", json!({"subWorkflowParam": {"workflowDefinition": inline}}));
    let place = "W-RUN-1 tasks[0].subWorkflowParam.workflowDefinition.tasks[0].type: ";
    assert!(told[0].starts_with(place), "{told:?}");
    assert_eq!(of_step("charge_card", json!({})), [""; 0], "a worker does it");
}

#[test]
fn a_sink_without_a_queue_here_fails_its_task() {
    for sink in ["kafka:orders", "sqs:x", "conductors", "conductor:", ""] {
        let told = of_step("EVENT", json!({"sink": sink}));
        assert!(told[0].starts_with("W-RUN-1 tasks[0].sink: sink "), "{sink}: {told:?}");
    }
    for sink in ["conductor", "conductor:paid", "${workflow.input.sink}"] {
        assert_eq!(of_step("EVENT", json!({"sink": sink})), [""; 0], "{sink}");
    }
}

#[test]
fn a_request_that_cannot_be_sent_fails_its_task() {
    let of =
        |request: Value| of_step("HTTP", json!({"inputParameters": {"http_request": request}}));
    let told = of(json!({"uri": "example.com/a", "method": "GET"}));
    let why = "W-RUN-1 tasks[0].inputParameters.http_request.uri: uri must begin with http:// or \
               https://; the task fails";
    assert_eq!(told, [why]);
    assert_eq!(of(json!({"method": "GET"})).len(), 1);
    assert_eq!(of(json!({"uri": "http://a", "method": "BREW"})).len(), 1);
    let flat = json!({"inputParameters": {"uri": "/a", "method": "GET"}});
    assert!(of_step("HTTP", flat)[0].starts_with("W-RUN-1 tasks[0].inputParameters.uri: "));
    let ours = json!({"uri": "http://a", "method": "POST", "idempotency": {"preset": "x"}});
    let ours = step("HTTP", json!({"inputParameters": {"http_request": ours}}));
    let text = json!({"name": "wf", "tasks": [ours]}).to_string();
    let definition: WorkflowDef = serde_json::from_str(&text).unwrap();
    assert_eq!(definition.violations().len(), 1, "what is ours is refused");
    assert_eq!(definition.warnings(), []);
}

#[test]
fn a_step_tells_known_states_under_names_that_can_be_heard() {
    let of = |states: Value| of_step("SIMPLE", json!({"onStateChange": states}));
    let event = json!([{"type": "paid", "payload": {"a": "${workflow.input.a}"}}]);
    assert_eq!(of(json!({"onStart, onFailed": event, "onScheduled": event})), [""; 0]);
    assert_eq!(of(json!({"onSuccess,onCancelled": [{"type": "conductor:w:x"}]})), [""; 0]);
    let told = of(json!({"onStart,onEnd": event}));
    let said = "W-RUN-2 tasks[0].onStateChange[onStart,onEnd]: no task comes into a state onEnd: \
                write one of onScheduled, onStart, onSuccess, onFailed, onCancelled";
    assert_eq!(told, [said]);
    for name in ["", " ", "kafka:topic", "conductor"] {
        let told = of(json!({"onStart": [{"type": name}]}));
        let place = "W-RUN-2 tasks[0].onStateChange[onStart][0].type: no handler can hear";
        assert!(told[0].starts_with(place), "{name}: {told:?}");
    }
}

#[test]
fn settings_that_nobody_reads_are_named() {
    let idle = json!({"name": "wf", "tasks": [named("a")], "maskedFields": ["x"],
        "cacheConfig": {"key": "k", "ttlInSecond": 1}, "workflowStatusListenerSink": "archive"});
    let warnings = definition(&idle).warnings();
    let paths: Vec<_> = warnings.iter().map(|it| it.path.as_str()).collect();
    assert_eq!(paths, ["cacheConfig", "maskedFields", "workflowStatusListenerSink"]);
    assert!(warnings.iter().all(|it| it.kind == WarningKind::NoEffect));
    assert_eq!(
        warnings[0].to_string(),
        "cacheConfig: is kept, and without effect in this release (docs/errors/W-RUN-2.md)"
    );
}

#[test]
fn a_handler_that_can_never_act_says_so() {
    let of = |json: Value| {
        let handler: EventHandler = serde_json::from_str(&json.to_string()).unwrap();
        assert_eq!(handler.violations(), [], "it is registered");
        told(&handler.warnings())
    };
    let start = json!([{"action": "start_workflow", "start_workflow": {"name": "w"}}]);
    for event in ["conductor:order:paid", "conductor:a:b:c/d", "paid"] {
        assert_eq!(of(json!({"name": "h", "event": event, "actions": start})), [""; 0], "{event}");
    }
    for event in ["kafka:topic", "conductor", "conductor:", "conductor:order", "conductor::x"] {
        let told = of(json!({"name": "h", "event": event, "actions": start}));
        assert!(told[0].starts_with("W-RUN-2 event: no such event comes"), "{event}");
    }
    let idle = of(json!({"name": "h", "event": "paid"}));
    assert_eq!(idle, ["W-RUN-2 actions: there are no actions: the handler does nothing"]);
}

#[test]
fn a_hostile_definition_gets_a_short_list() {
    let step = WorkflowTask {
        name: "n".repeat(10_000),
        task_reference_name: "r".repeat(10_000),
        kind: "JDBC".to_owned(),
        ..WorkflowTask::default()
    };
    let definition = WorkflowDef { tasks: Some(vec![step; 3_000]), ..WorkflowDef::default() };
    let found = definition.warnings();
    assert_eq!(found.len(), VIOLATIONS_MAX);
    assert!(found.iter().all(|it| it.path.len() < 2_000 && it.message.len() < 4_000));
}
