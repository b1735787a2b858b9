//! # Warnings: what they say, and that nothing of it is refused

use std::sync::Arc;

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
        json!({"taskReferenceName": "d", "dynamicForkJoinTasksParam": "p",
            "inputParameters": {"p": "${workflow.input.p}"}}),
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
        json!({"taskReferenceName": "f", "dynamicForkJoinTasksParam": "p",
            "inputParameters": {"p": "${workflow.input.p}"}}),
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
    let followed = |by: &str| {
        let followed = json!({"name": "wf", "tasks": [named("a")], "failureWorkflow": by});
        definition(&followed).warnings().into_iter().map(|it| it.path).collect::<Vec<_>>()
    };
    assert_eq!(followed("undo-${workflow.input.what}"), ["failureWorkflow"]);
    for by in ["undo", "${workflow.input.what}", ""] {
        assert_eq!(followed(by), [""; 0], "{by}");
    }
}

#[test]
fn an_effect_of_a_task_definition_is_told_where_it_means_nothing() {
    let policy: TaskDef =
        serde_json::from_value(json!({"name": "n", "effect": {"key": "${o}"}})).unwrap();
    let policy = std::sync::Arc::new(policy);
    let registered = |name: &str| (name == "n").then(|| policy.clone());
    let of = |kind: &str, name: &str| {
        let step = json!({"name": name, "taskReferenceName": "s", "type": kind});
        told(&definition(&json!({"name": "wf", "tasks": [step]})).warnings_knowing(&registered))
    };
    assert_eq!(
        of("HUMAN", "n"),
        ["W-RUN-2 tasks[0].name: task definition n has an effect, and a HUMAN does nothing that \
          could be done twice: it is not used there"]
    );
    for (kind, name) in [("HUMAN", "other"), ("SIMPLE", "n"), ("OWN", "n")] {
        let told = of(kind, name);
        assert!(told.iter().all(|it| !it.contains("has an effect")), "{kind} {name}: {told:?}");
    }
}

#[test]
fn a_field_is_told_of_at_a_step_that_does_not_look_at_it() {
    for (field, value, readers) in [
        ("evaluatorType", json!("javascript"), ["SWITCH", "INLINE"].as_slice()),
        ("expression", json!("$.a"), &["SWITCH", "JOIN"]),
        ("caseExpression", json!("$.a"), &["DECISION"]),
        ("caseValueParam", json!("a"), &["DECISION"]),
        ("scriptExpression", json!("1"), &["LAMBDA"]),
        ("loopCondition", json!("false"), &["DO_WHILE"]),
        ("items", json!("${workflow.input.a}"), &["DO_WHILE"]),
        ("joinOn", json!(["a"]), &["JOIN", "EXCLUSIVE_JOIN"]),
        ("defaultExclusiveJoinTask", json!(["a"]), &["EXCLUSIVE_JOIN"]),
        ("sink", json!("conductor"), &["EVENT"]),
        ("dynamicTaskNameParam", json!("a"), &["DYNAMIC"]),
        ("dynamicForkTasksParam", json!("a"), &["FORK_JOIN_DYNAMIC"]),
        ("dynamicForkJoinTasksParam", json!("a"), &["FORK_JOIN_DYNAMIC"]),
        ("subWorkflowParam", json!({"name": "a"}), &["SUB_WORKFLOW"]),
        ("asyncComplete", json!(true), &["HTTP", "EVENT", "HUMAN"]),
    ] {
        let told_at = |kind: &str| {
            let step = step(kind, json!({field: value}));
            let wanted: WorkflowDef =
                serde_json::from_value(json!({"name": "wf", "tasks": [step]})).unwrap();
            let path = format!("tasks[0].{field}");
            wanted.warnings().iter().any(|it| it.path == path && it.message.contains("it is for"))
        };
        assert!(told_at("SIMPLE"), "{field}");
        for kind in readers.iter().chain(&["DYNAMIC", "JDBC"]) {
            assert!(!told_at(kind), "{field} at {kind}");
        }
    }
    let bare =
        step("SIMPLE", json!({"joinOn": [], "sink": "", "asyncComplete": false, "items": null}));
    assert_eq!(definition(&json!({"name": "wf", "tasks": [bare]})).warnings(), []);
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

/// Of one step inside a loop, where Conductor does not look.
fn of_looped(kind: &str, mut fields: Value) -> Vec<String> {
    fields["taskReferenceName"] = json!("inner");
    let body = json!({"taskReferenceName": "l", "loopCondition": "false",
        "loopOver": [step(kind, fields), step("JOIN", json!({"taskReferenceName": "joined"}))]});
    of(json!([step("DO_WHILE", body)]))
}

#[test]
fn a_step_in_a_loop_is_told_what_its_type_asks_for() {
    let inner = "tasks[0].loopOver[0]";
    for (kind, fields, field, then) in [
        ("EVENT", json!({}), "sink", "the task fails"),
        ("SUB_WORKFLOW", json!({}), "subWorkflowParam", "the task fails unless"),
        (
            "SWITCH",
            json!({"expression": "x", "decisionCases": {"a": []}}),
            "evaluatorType",
            "the run fails there",
        ),
        (
            "WAIT",
            json!({"inputParameters": {"duration": "xyz"}}),
            "inputParameters.duration",
            "the task fails",
        ),
        (
            "TERMINATE",
            json!({"inputParameters": {"terminationStatus": "DONE"}}),
            "inputParameters.terminationStatus",
            "the task fails",
        ),
        ("HTTP", json!({}), "inputParameters.http_request", "the task fails"),
        ("JSON_JQ_TRANSFORM", json!({}), "inputParameters.queryExpression", "the task fails"),
        ("DYNAMIC", json!({}), "dynamicTaskNameParam", "the run fails there"),
        ("FORK_JOIN_DYNAMIC", json!({}), "dynamicForkTasksParam", "the run fails there"),
    ] {
        let told = of_looped(kind, fields);
        let start = format!("W-RUN-1 {inner}.{field}: ");
        assert!(told[0].starts_with(&start) && told[0].contains(then), "{kind}: {told:?}");
    }
    let cases = json!({"evaluatorType": "value-param", "expression": "x"});
    assert!(of_looped("SWITCH", cases)[0].starts_with(&format!("W-RUN-2 {inner}.decisionCases: ")));
    assert_eq!(of_looped("WAIT", json!({"inputParameters": {"duration": "5s"}})), [""; 0]);
}

#[test]
fn a_template_counts_in_a_loop_as_it_does_outside() {
    let template = r#"{"name":"n","inputTemplate":{"queryExpression":"."}}"#;
    let template: TaskDef = serde_json::from_str(template).unwrap();
    let template = std::sync::Arc::new(template);
    let body = json!({"loopCondition": "false", "loopOver": [
        step("JSON_JQ_TRANSFORM", json!({"taskReferenceName": "q"}))]});
    let wanted = definition(&json!({"name": "wf", "tasks": [step("DO_WHILE", body)]}));
    assert_eq!(wanted.warnings().len(), 1);
    let registered = |name: &str| (name == "n").then(|| template.clone());
    assert_eq!(wanted.warnings_knowing(&registered), []);
}

#[test]
fn what_only_a_run_is_told_of_is_said_wherever_it_stands() {
    for (kind, fields, said) in [
        ("INLINE", json!({}), "inputParameters.expression: is required"),
        ("LAMBDA", json!({}), "inputParameters.scriptExpression: is required"),
        (
            "INLINE",
            json!({"inputParameters": {"expression": "1", "evaluatorType": "python"}}),
            "evaluatorType: there is no evaluator python here",
        ),
        (
            "SWITCH",
            json!({"evaluatorType": "foo", "expression": "x", "decisionCases": {"a": []}}),
            "evaluatorType: there is no evaluator foo here",
        ),
        ("START_WORKFLOW", json!({}), "inputParameters.startWorkflow: is required"),
        (
            "START_WORKFLOW",
            json!({"inputParameters": {"startWorkflow": {"version": 1}}}),
            "inputParameters.startWorkflow.name: Workflow name cannot be null",
        ),
        (
            "START_WORKFLOW",
            json!({"inputParameters": {"startWorkflow": 7}}),
            "inputParameters.startWorkflow: must be an object",
        ),
        ("ACQUIRE_LOCK", json!({}), "inputParameters.name: name must be the name of a lock"),
        (
            "ACQUIRE_LOCK",
            json!({"inputParameters": {"name": "a", "leaseSeconds": -1}}),
            "inputParameters.leaseSeconds: leaseSeconds must be",
        ),
        ("RELEASE_LOCK", json!({}), "inputParameters.name: name must be the name of a lock"),
        (
            "HTTP",
            json!({"inputParameters": {"http_request": "x"}}),
            "inputParameters.http_request: must be an object",
        ),
        (
            "HTTP",
            json!({"inputParameters": {"uri": "http://a"}}),
            "inputParameters.method: method is required",
        ),
        (
            "DYNAMIC",
            json!({"dynamicTaskNameParam": "task"}),
            "dynamicTaskNameParam: the step has no input task",
        ),
    ] {
        for (told, place) in [
            (of_step(kind, fields.clone()), "tasks[0]"),
            (of_looped(kind, fields.clone()), "tasks[0].loopOver[0]"),
        ] {
            let start = format!("W-RUN-1 {place}.{said}");
            assert!(told.iter().any(|it| it.starts_with(&start)), "{kind} {said}: {told:?}");
            assert_eq!(told.len(), 1, "{told:?}");
        }
    }
}

#[test]
fn what_may_be_right_when_a_run_gets_there_is_not_judged() {
    for (kind, fields) in [
        ("INLINE", json!({"expression": "1"})),
        ("INLINE", json!({"inputParameters": {"expression": "${workflow.input.e}"}})),
        ("LAMBDA", json!({"scriptExpression": "return 1"})),
        ("START_WORKFLOW", json!({"inputParameters": {"startWorkflow": "${workflow.input.s}"}})),
        (
            "START_WORKFLOW",
            json!({"inputParameters": {"startWorkflow": {"name": "a",
            "priority": "${workflow.input.p}", "input": {"any": {"thing": 1}}}}}),
        ),
        ("ACQUIRE_LOCK", json!({"inputParameters": {"name": "a-${workflow.input.id}"}})),
        ("HTTP", json!({"inputParameters": {"http_request": "${workflow.input.r}"}})),
        (
            "HTTP",
            json!({"inputParameters": {"uri": "http://a"}, "taskDefinition": {"name": "n",
            "inputTemplate": {"method": "GET"}}}),
        ),
    ] {
        assert_eq!(of_step(kind, fields.clone()), [""; 0], "{kind} {fields}");
    }
}

#[test]
fn an_expression_that_starts_nowhere_is_null() {
    let nested = |text: &str| {
        let inner =
            step("SIMPLE", json!({"taskReferenceName": "i", "inputParameters": {"x": text}}));
        let body = json!({"taskReferenceName": "loop", "loopCondition": "c", "loopOver": [inner]});
        of(json!([step("DO_WHILE", body), named("pay")]))
    };
    let place = "W-RUN-4 tasks[0].loopOver[0].inputParameters.x: ";
    for (text, why) in [
        ("${nope.output.x}", "${nope.output.x} is null: there is no step nope, unless the data"),
        ("${pai.output.x}", "${pai.output.x} is null: there is no step pai; is pay meant?"),
        ("a ${a b} c", "${a b} is null: it is no path"),
        ("${workflow.inptu.x}", "${workflow.inptu.x} is null: a run has no field inptu; is input"),
        (
            "${pay.outptu.x}",
            "${pay.outptu.x} is null: a task has no field outptu; is output meant?",
        ),
    ] {
        let told = nested(text);
        assert!(told.len() == 1 && told[0].starts_with(&format!("{place}{why}")), "{told:?}");
    }
    for fine in [
        "${pay.output.x} ${loop.output.loopItem} ${workflow.input} ${workflow.secrets.KEY}",
        "${workflow.env.HOST} ${CPEWF_TASK_ID} ${i__1.output.x} ${workflow.input.length()}",
        "$${nope.output.x}",
        "${['pay'].output.x} ${pay['outptu']}",
    ] {
        assert_eq!(nested(fine), [""; 0], "{fine}");
    }
    let head = json!({"name": "wf", "outputParameters": {"r": {"deep": ["${nope.output.x}"]}},
        "tasks": [named("pay")]});
    let told = told(&definition(&head).warnings());
    assert!(
        told[0].starts_with("W-RUN-4 outputParameters.r: ${nope.output.x} is null"),
        "{told:?}"
    );
    let sink = of_step("EVENT", json!({"sink": "conductor:${nope.output.x}"}));
    assert!(sink[0].starts_with("W-RUN-4 tasks[0].sink: "), "{sink:?}");
}

#[test]
fn a_mistyped_input_of_a_known_shape_is_told() {
    let request = json!({"uri": "http://a", "method": "POST", "bodyy": {"a": 1},
        "downstreem": {"honoursKeys": true}, "vipAddress": "v", "idempotency": {"valu": "k"}});
    let told = of_step("HTTP", json!({"inputParameters": {"http_request": request}}));
    let at = "tasks[0].inputParameters.http_request";
    let says = "is not known here and changes nothing; is";
    assert_eq!(
        told,
        [
            format!("W-RUN-3 {at}.bodyy: {says} body meant?"),
            format!(
                "W-RUN-3 {at}.downstreem: {says} downstream meant? It stands in the step, \
                     beside inputParameters"
            ),
            format!("W-RUN-2 {at}.vipAddress: is kept, and without effect in this release"),
            format!("W-RUN-3 {at}.idempotency.valu: {says} value meant?"),
        ]
    );
    let start = json!({"startWorkflow": {"name": "a", "inptu": {"a": 1}, "idempotencykey": "k"}});
    let told = of_step("START_WORKFLOW", json!({"inputParameters": start}));
    let at = "tasks[0].inputParameters.startWorkflow";
    assert_eq!(
        told,
        [
            format!("W-RUN-3 {at}.inptu: {says} input meant?"),
            format!("W-RUN-3 {at}.idempotencykey: {says} idempotencyKey meant?"),
        ]
    );
    let lock = json!({"inputParameters": {"name": "a", "leaseSecondss": 5}});
    let at = "tasks[0].inputParameters.leaseSecondss";
    let expected = format!("W-RUN-3 {at}: {says} leaseSeconds meant?");
    assert_eq!(of_step("ACQUIRE_LOCK", lock), [expected]);
    let wait = json!({"inputParameters": {"duratoin": "5s", "note": "x"}});
    let expected = format!("W-RUN-3 tasks[0].inputParameters.duratoin: {says} duration meant?");
    assert_eq!(of_step("WAIT", wait), [expected]);
    let data = json!({"inputParameters": {"bodyy": 1, "durations": 2, "leaseSecond": 3}});
    assert_eq!(of_step("SIMPLE", data), [""; 0], "a worker's inputs are its own");
}

#[test]
fn a_start_delay_counts_where_there_is_a_queue() {
    for kind in ["NOOP", "SET_VARIABLE", "HUMAN", "JOIN"] {
        let told = of_step(kind, json!({"startDelay": 5}));
        let start = format!("W-RUN-2 tasks[0].startDelay: a {kind} runs when it is reached");
        assert!(told[0].starts_with(&start), "{told:?}");
    }
    for kind in ["SIMPLE", "WAIT", "charge_card"] {
        assert_eq!(of_step(kind, json!({"startDelay": 5})), [""; 0], "{kind}");
    }
}

#[test]
fn steps_inside_of_a_type_that_has_none_never_run() {
    let inside = json!([named("x")]);
    for (kind, fields, field, meant) in [
        ("SIMPLE", json!({"forkTasks": [inside]}), "forkTasks", "FORK_JOIN"),
        ("charge", json!({"loopOver": inside}), "loopOver", "DO_WHILE"),
        ("NOOP", json!({"decisionCases": {"a": inside}}), "decisionCases", "SWITCH"),
        ("SIMPLE", json!({"defaultCase": inside}), "defaultCase", "SWITCH"),
    ] {
        let told = of_step(kind, fields);
        let said = format!(
            "W-RUN-2 tasks[0].{field}: a {kind} has no {field}: the steps inside never run; is \
             {meant} meant as its type?"
        );
        assert_eq!(told, [said]);
    }
    let builders = json!({"forkTasks": [], "loopOver": [], "decisionCases": {}, "defaultCase": []});
    assert_eq!(of_step("SIMPLE", builders), [""; 0], "builders always send them");
}

#[test]
fn a_mistyped_type_waits_for_a_worker() {
    for (kind, meant) in [("http", "HTTP"), ("DOWHILE", "DO_WHILE"), ("inline", "INLINE")] {
        let told = of_step(kind, json!({}));
        let said = format!(
            "W-RUN-1 tasks[0].type: {kind} is no system type: a task of it waits for a worker that \
             polls {kind}; is {meant} meant?"
        );
        assert_eq!(told, [said]);
    }
    let told = of_step("FORK", json!({}));
    assert!(
        told[0].contains("FORK is not in this release") && told[0].ends_with("FORK_JOIN meant?")
    );
}

#[test]
fn numbers_and_settings_that_mean_nothing_are_told() {
    let of_head = |fields: Value| {
        let mut json = json!({"name": "wf", "tasks": [named("a")]});
        json.as_object_mut().unwrap().extend(fields.as_object().unwrap().clone());
        told(&definition(&json).warnings())
    };
    let told_of = of_head(json!({"timeoutSeconds": -5}));
    assert_eq!(told_of, ["W-RUN-2 timeoutSeconds: -5 is no timeout: a run may take for ever"]);
    let both = json!({"concurrency": {"limit": 1}, "rateLimitConfig": {"concurrentExecLimit": 2}});
    let wins = "W-RUN-2 rateLimitConfig: is not looked at: concurrency is there, and wins";
    assert_eq!(of_head(both), [wins]);
    let task = json!({"name": "t", "isolationGroupId": "g", "executionNameSpace": "s",
        "concurrentExecLimit": -1, "rateLimitPerFrequency": -2, "timeoutSeconds": -3});
    let task: TaskDef = serde_json::from_str(&task.to_string()).unwrap();
    let found = task.warnings();
    let fields: Vec<&str> = found.iter().map(|it| it.path.as_str()).collect();
    let expected = [
        "isolationGroupId",
        "executionNameSpace",
        "concurrentExecLimit",
        "rateLimitPerFrequency",
        "timeoutSeconds",
    ];
    assert_eq!(fields, expected);
    assert!(found.iter().all(|it| it.kind == WarningKind::NoEffect));
    let inside =
        of_step("SIMPLE", json!({"taskDefinition": {"name": "n", "isolationGroupId": "g"}}));
    assert!(inside[0].starts_with("W-RUN-2 tasks[0].taskDefinition.isolationGroupId: "));
    assert_eq!(TaskDef::default().warnings(), []);
}

fn of_definition(fields: Value) -> Vec<String> {
    let mut written = json!({"name": "wf", "tasks": [named("a")]});
    for (key, value) in fields.as_object().unwrap() {
        written[key] = value.clone();
    }
    told(&definition(&written).warnings())
}

#[test]
fn a_fingerprint_is_compared_by_inputs_that_the_step_has() {
    let of = |effect: Value| {
        let inputs = json!({"order": "${workflow.input.order}", "a.b": 1});
        of_step("SIMPLE", json!({"inputParameters": inputs, "effect": effect}))
    };
    for field in ["order", "order.items[0].amount", "order['x']", "a.b", "$.order.id", " order "] {
        assert_eq!(of(json!({"fingerprint": [field]})), [""; 0], "{field}");
    }
    assert_eq!(
        of(json!({"fingerprint": ["order.id", "amount.cents"]})),
        ["W-RUN-2 tasks[0].effect.fingerprint[1]: the step has no input amount, so nothing is \
          compared by amount.cents"]
    );
    assert_eq!(
        of(json!({"onPayloadMismatch": "FLAG"})),
        [
            "W-RUN-2 tasks[0].effect.onPayloadMismatch: nothing is compared: effect.fingerprint lists \
          no field of the input"
        ]
    );
    assert_eq!(of(json!({"onPayloadMismatch": "FLAG", "fingerprint": ["order"]})), [""; 0]);
}

#[test]
fn the_effect_of_a_task_definition_is_compared_by_the_inputs_of_the_step() {
    let task = json!({"name": "n", "inputTemplate": {"currency": "EUR"},
        "effect": {"fingerprint": ["currency", "amount"]}});
    let task: Arc<TaskDef> = Arc::new(serde_json::from_value(task).unwrap());
    let wf = definition(&json!({"name": "wf", "tasks": [step("SIMPLE", json!({}))]}));
    let found = told(&wf.warnings_knowing(&|_| Some(Arc::clone(&task))));
    assert_eq!(
        found,
        [
            "W-RUN-2 tasks[0].name: the effect of task definition n: the step has no input amount, so \
          nothing is compared by amount"
        ]
    );
    let fields = json!({"inputParameters": {"amount": 1}});
    let wf = definition(&json!({"name": "wf", "tasks": [step("SIMPLE", fields)]}));
    assert_eq!(told(&wf.warnings_knowing(&|_| Some(Arc::clone(&task)))), [""; 0]);
}

#[test]
fn parts_of_policies_that_decide_nothing_are_told() {
    for policy in ["SKIP", "FAIL"] {
        let found = of_definition(json!({"concurrency": {"policy": policy, "maxQueue": 3,
            "queueTimeoutSeconds": 9}}));
        let line = format!("nothing waits in line under {policy}: it is for QUEUE and COALESCE");
        assert_eq!(
            found,
            [
                format!("W-RUN-2 concurrency.maxQueue: {line}"),
                format!("W-RUN-2 concurrency.queueTimeoutSeconds: {line}")
            ]
        );
    }
    assert_eq!(of_definition(json!({"concurrency": {"maxQueue": 3}})), [""; 0]);
    assert_eq!(
        of_definition(json!({"workflowStatusListenerSink": "conductor:x"})),
        [
            "W-RUN-2 workflowStatusListenerSink: nothing is published: workflowStatusListenerEnabled is \
          not true"
        ]
    );
    let heard =
        json!({"workflowStatusListenerSink": "conductor:x", "workflowStatusListenerEnabled": true});
    assert_eq!(of_definition(heard), [""; 0]);
    let ignored = json!({"fingerprint": ["input.a"], "onPayloadMismatch": "IGNORE",
        "keyExpression": "${workflow.input.id}"});
    assert_eq!(
        of_definition(json!({"idempotency": ignored})),
        ["W-RUN-2 idempotency.fingerprint: is not looked at: onPayloadMismatch is IGNORE"]
    );
}

#[test]
fn a_cache_that_keeps_nothing_is_told() {
    let of = |cache: Value, more: Value| {
        let mut fields = more;
        fields["cacheConfig"] = cache;
        fields["inputParameters"] = json!({"id": 1});
        of_step("SIMPLE", fields)
    };
    let at = "W-RUN-2 tasks[0].cacheConfig: ";
    assert_eq!(of(json!({"key": "${id}", "ttlInSecond": 9}), json!({})), [""; 0]);
    assert_eq!(of(json!({"key": "", "ttlInSecond": 0}), json!({})), [""; 0]);
    let keyless = of(json!({"ttlInSecond": 9}), json!({}));
    assert_eq!(keyless, [format!("{at}nothing is kept without a key")]);
    let timeless = of(json!({"key": "${id}"}), json!({}));
    assert_eq!(timeless, [format!("{at}nothing is kept: ttlInSecond is 0")]);
    let beside = of(json!({"key": "${id}", "ttlInSecond": 9}), json!({"effect": {}}));
    assert_eq!(beside, [format!("{at}is not looked at: an effect is there, and wins")]);
    let task: TaskDef = serde_json::from_value(json!({"name": "t", "effect": {},
        "cacheConfig": {"key": "${id}", "ttlInSecond": 9}}))
    .unwrap();
    assert_eq!(
        told(&task.warnings()),
        ["W-RUN-2 cacheConfig: is not looked at: an effect is there, and wins"]
    );
}

#[test]
fn fields_of_other_types_are_told() {
    for kind in ["SIMPLE", "INLINE", "SUB_WORKFLOW", "START_WORKFLOW"] {
        let found = of_step(
            kind,
            json!({"asyncComplete": true, "dynamicForkTasksInputParamName": "p",
            "subWorkflowParam": {"name": "other"}, "inputParameters": {"expression": "1",
                "startWorkflow": {"name": "other"}}}),
        );
        for (field, owners) in [
            ("asyncComplete", "HTTP, EVENT and steps that stay open"),
            ("dynamicForkTasksInputParamName", "FORK_JOIN_DYNAMIC"),
        ] {
            let line = format!(
                "W-RUN-2 tasks[0].{field}: a {kind} does not look at it: it is for {owners}"
            );
            assert!(found.contains(&line), "{kind}: {found:?}");
        }
    }
    assert_eq!(of_step("EVENT", json!({"asyncComplete": true, "sink": "conductor"})), [""; 0]);
}

#[test]
fn a_definition_that_a_start_writes_out_is_judged() {
    let of = |definition: Value| {
        let start = json!({"startWorkflow": {"name": "other", "workflowDef": definition}});
        of_step("START_WORKFLOW", json!({"inputParameters": start}))
    };
    let at = "tasks[0].inputParameters.startWorkflow.workflowDef";
    let fine = json!({"name": "other", "tasks": [step("SIMPLE", json!({"inputParameters": {
        "id": "$${workflow.input.id}"}}))]});
    assert_eq!(of(fine), [""; 0]);
    let empty = of(json!({"name": "other", "tasks": []}));
    assert!(
        empty[0].starts_with(&format!("W-RUN-1 {at}.tasks: WorkflowTask list cannot be empty")),
        "{empty:?}"
    );
    let broken = of(json!({"name": "other", "tasks": 5}));
    assert!(
        broken[0].starts_with(&format!("W-RUN-1 {at}: is no workflow definition")),
        "{broken:?}"
    );
    let text = of(json!("other"));
    assert!(text[0].starts_with(&format!("W-RUN-1 {at}: must be an object")), "{text:?}");
    assert_eq!(of(json!("${workflow.input.def}")), [""; 0]);
    let absent = of(json!({"name": "other", "tasks": [step("GET_WORKFLOW", json!({}))]}));
    assert!(absent[0].starts_with(&format!("W-RUN-1 {at}.tasks[0].type: ")), "{absent:?}");
}

#[test]
fn every_other_workflow_that_is_named_is_found() {
    let start = |request: Value| {
        step(
            "START_WORKFLOW",
            json!({"taskReferenceName": "s", "inputParameters": {"startWorkflow": request}}),
        )
    };
    let child = |name: &str| json!({"subWorkflowParam": {"name": name, "version": 2}});
    let inner = json!({"name": "inner", "failureWorkflow": "clean", "tasks": [
        step("SUB_WORKFLOW", child("deep"))]});
    let steps = json!([
        step("SUB_WORKFLOW", child("kid")),
        step("SUB_WORKFLOW", child("wf")),
        step("SUB_WORKFLOW", child("${workflow.input.kid}")),
        step("SUB_WORKFLOW", json!({"subWorkflowParam": {"workflowDefinition": inner}})),
        start(json!({"name": "one", "version": 3})),
        start(
            json!({"workflowDef": {"name": "given", "tasks": [step("SUB_WORKFLOW", child("below"))]}})
        ),
    ]);
    let wf: WorkflowDef =
        serde_json::from_value(json!({"name": "wf", "failureWorkflow": "mend", "tasks": steps}))
            .unwrap();
    let found: Vec<_> = wf
        .named_workflows()
        .into_iter()
        .map(|it| format!("{} {} {:?}", it.path, it.name, it.version))
        .collect();
    assert_eq!(
        found,
        [
            "failureWorkflow mend None",
            "tasks[0].subWorkflowParam.name kid Some(2)",
            "tasks[4].inputParameters.startWorkflow.name one Some(3)",
            "tasks[3].subWorkflowParam.workflowDefinition.failureWorkflow clean None",
            "tasks[3].subWorkflowParam.workflowDefinition.tasks[0].subWorkflowParam.name deep Some(2)",
            "tasks[5].inputParameters.startWorkflow.workflowDef.tasks[0].subWorkflowParam.name below \
             Some(2)",
        ]
    );
}
