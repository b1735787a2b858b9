//! # Event handlers: what their actions tell, and what a run makes of it
//!
//! Rules: docs/reference/rules/event-handlers.md.

use semel_engine::{
    Change, Deed, Event, Handled, Handler, Letter, Message, Occasion, PAYLOAD_BYTES_MAX,
    Publication, Rejection, Stop,
};
use semel_model::{ExecutionId, Payload, TaskId, WorkflowStatus};
use serde_json::{Value, json};

use crate::bench::{BEGIN, Bench};
use crate::shapes::{flow, payload, step};

const EVENT: &str = "conductor:order:paid";

fn message() -> TaskId {
    TaskId::from_bytes([9; 16])
}

fn handler(definition: Value) -> Handler {
    let definition = serde_json::from_value(definition).expect("a handler reads");
    Handler::new(definition).expect("its condition is understood")
}

fn acting(action: Value) -> Handler {
    handler(json!({"name": "h", "event": EVENT, "actions": [action]}))
}

fn publication(body: &Value) -> Publication {
    Publication { task: message(), depth: 1, next: None, letters: 0, body: payload(body) }
}

fn letter(action: Value, body: &Value) -> Result<(ExecutionId, Letter), String> {
    Occasion::new(EVENT, 3, &publication(body)).letter(&acting(action), 0)
}

fn told(letter: &Letter) -> (Handled, Value) {
    let Message::Handled(handled) = &letter.message else { panic!("{letter:?}") };
    ((**handled).clone(), letter.payloads[0].value())
}

fn start(block: Value) -> Value {
    json!({"action": "start_workflow", "start_workflow": block})
}

#[test]
fn a_start_resolves_its_input_over_the_message_and_says_what_led_to_it() {
    let body = json!({"order": {"id": 7, "tags": ["a"]}, "who": "ann", "taskToDomain": {"*": "d"}});
    let block = json!({"name": "ship-${who}", "version": 2, "correlationId": "c-${order.id}",
        "priority": 3, "idempotencyKey": "${$.order.id}", "idempotencyStrategy": "RETURN_EXISTING",
        "input": {"id": "${order.id}", "same": "${$.order.id}", "all": ["${order}"], "n": 1.5,
            "none": "${missing}", "escaped": "$${order}"}});
    let (run, found) = letter(start(block), &body).unwrap();
    assert_eq!(run, ExecutionId::of_event(message(), 3, "h", 0));
    let (handled, input) = told(&found);
    assert_eq!(
        input,
        json!({"id": 7, "same": 7, "all": [{"id": 7, "tags": ["a"]}], "n": 1.5, "none": null,
            "escaped": "${order}", "conductor.event.messageId": message().to_string(),
            "conductor.event.name": EVENT})
    );
    let Deed::Begin { request, depth: 1 } = handled.deed else { panic!("{handled:?}") };
    assert_eq!((request.name.as_str(), request.version), ("ship-ann", Some(2)));
    assert_eq!(request.correlation_id.as_deref(), Some("c-7"));
    assert_eq!(request.idempotency_key.as_deref(), Some("7"));
    assert_eq!((request.priority, &request.task_to_domain.unwrap()["*"]), (3, &"d".to_owned()));
    let bytes = found.encode();
    assert_eq!(Letter::decode(&bytes).unwrap(), found);
}

#[test]
fn every_action_of_every_handler_and_publication_begins_a_run_of_its_own() {
    let ids = [
        ExecutionId::of_event(message(), 3, "h", 0),
        ExecutionId::of_event(message(), 3, "h", 1),
        ExecutionId::of_event(message(), 4, "h", 0),
        ExecutionId::of_event(message(), 3, "i", 0),
        ExecutionId::of_event(TaskId::from_bytes([8; 16]), 3, "h", 0),
    ];
    for (at, id) in ids.iter().enumerate() {
        assert!(!ids[..at].contains(id));
    }
}

#[test]
fn the_domains_of_the_handler_come_before_those_of_the_message() {
    let body = json!({"taskToDomain": {"*": "of the message"}, "where": "here"});
    let block = json!({"name": "w", "taskToDomain": {"t": "${where}"}});
    let (handled, _) = told(&letter(start(block), &body).unwrap().1);
    let Deed::Begin { request, .. } = handled.deed else { panic!("{handled:?}") };
    assert_eq!(json!(request.task_to_domain), json!({"t": "here"}));
}

#[test]
fn what_cannot_be_told_to_any_run_says_why() {
    let wide = "x".repeat(PAYLOAD_BYTES_MAX / 2);
    let body = json!({"id": "no id", "empty": "", "wide": wide});
    let complete = |block: Value| json!({"action": "complete_task", "complete_task": block});
    for (action, why) in [
        (start(json!({"name": "${missing}"})), "Workflow name cannot be null or empty"),
        (start(json!({"name": "w", "priority": 100})), "priority: 100 should be maximum 99"),
        (
            start(json!({"name": "w", "input": {"a": "${wide}", "b": "${wide}"}})),
            "its data would take 10485888 bytes, over 10485760",
        ),
        (complete(json!({"workflowId": "${id}"})), "workflowId no id is no id"),
        (complete(json!({"workflowId": "${empty}"})), "workflowId ${empty} is empty"),
        (complete(json!({"workflowId": message(), "taskId": "${id}"})), "taskId no id is no id"),
        (
            start(json!({"name": "w", "idempotencyKey": "order-${empty}"})),
            "idempotencyKey is order-${empty}, and ${empty} is null, missing or empty",
        ),
        (
            start(json!({"name": "w", "idempotencyKey": "${missing}"})),
            "idempotencyKey is ${missing}, and ${missing} is null, missing or empty",
        ),
        (
            start(json!({"name": "w", "taskToDomain": {"pack": "eu-${empty}"}})),
            "taskToDomain.pack is eu-${empty}, and ${empty} is null, missing or empty",
        ),
        (
            complete(json!({"workflowId": message(), "taskRefName": "hold-${missing}"})),
            "taskRefName is hold-${missing}, and ${missing} is null, missing or empty",
        ),
        (json!({"action": "complete_task"}), "action complete_task is unknown or has no block"),
        (json!({"action": "start_agent"}), "action start_agent is unknown or has no block"),
    ] {
        assert_eq!(letter(action, &body).unwrap_err(), why);
    }
}

#[test]
fn a_run_begun_at_once_by_too_many_others_is_not_begun() {
    let start = acting(start(json!({"name": "w"})));
    for (depth, begins) in [(100, true), (101, false)] {
        let publication = Publication { depth, ..publication(&json!({})) };
        let letter = Occasion::new(EVENT, 1, &publication).letter(&start, 0);
        assert_eq!(letter.is_ok(), begins, "{depth}");
    }
    let mut run = Bench::start(flow(&[step("a", json!({}))]), json!({}));
    let depth =
        |run: &Bench| Publication::of(&run.execution, message(), run.now, Payload::empty()).depth;
    assert_eq!(depth(&run), 1);
    run.advance(1);
    assert_eq!(depth(&run), 0, "a run that has lived for a while may go on for ever");
}

#[test]
fn texts_that_hold_json_are_read_where_that_is_asked_for() {
    let body = json!({"text": "{\"id\": 7}", "list": ["[1]"], "odd": "{no", "n": "5"});
    let input = json!({"id": "${text.id}", "list": "${list[0][0]}", "odd": "${odd}", "n": "${n}"});
    let mut action = start(json!({"name": "w", "input": input}));
    let resolved = |action: &Value| {
        let mut input = told(&letter(action.clone(), &body).unwrap().1).1;
        input.as_object_mut().unwrap().retain(|key, _| !key.starts_with("conductor"));
        input
    };
    assert_eq!(resolved(&action), json!({"id": null, "list": null, "odd": "{no", "n": "5"}));
    action["expandInlineJSON"] = json!(true);
    assert_eq!(resolved(&action), json!({"id": 7, "list": 1, "odd": "{no", "n": "5"}));
}

#[test]
fn a_condition_sees_the_message_with_its_json_read() {
    let of = |condition: &str| {
        let definition = json!({"name": "h", "event": EVENT, "condition": condition});
        let body = json!({"text": "{\"id\": 7}"});
        Occasion::new(EVENT, 1, &publication(&body)).concerns(&handler(definition))
    };
    assert_eq!(of("$.text.id == 7"), Ok(true));
    assert_eq!(of("$.text.id == 8"), Ok(false));
    assert_eq!(of("  "), Ok(true));
    assert_eq!(of("$.gone.id == 7"), Err("cannot read id of undefined".to_owned()));
}

#[test]
fn a_handler_whose_condition_nobody_can_evaluate_is_none() {
    let of = |condition: &str, evaluator: &str| {
        let definition = json!({"name": "h", "condition": condition, "evaluatorType": evaluator});
        let handler = Handler::new(serde_json::from_value(definition).unwrap());
        handler.map(|_| ()).map_err(|why| format!("{}: {}", why.path, why.message))
    };
    assert_eq!((of("$.a == 1", ""), of("$.a == 1", "javascript")), (Ok(()), Ok(())));
    assert_eq!(of("", "python"), Ok(()), "there is nothing to evaluate");
    assert!(of("$.a == 1", "python").unwrap_err().starts_with("evaluatorType: is not in"));
    let why = of("$.a.includes(1)", "").unwrap_err();
    assert!(
        why.starts_with("condition: $.a.includes(1) is not understood in this release"),
        "{why}"
    );
}

/// Tells a run what the action says of it.
fn tell(run: &mut Bench, mut action: Value) -> Result<Vec<Change>, Stop> {
    let kind = action["action"].as_str().expect("a kind").to_owned();
    action[&kind]["workflowId"] = json!(run.execution.id());
    let (to, letter) = letter(action, &json!({"order": {"id": 7}})).expect("told");
    assert_eq!(to, run.execution.id());
    run.happen(Event::Told(letter.message), &letter.payloads)
}

fn waiting() -> Bench {
    let wait = json!({"name": "wait", "taskReferenceName": "wait", "type": "WAIT"});
    Bench::start(flow(&[wait, step("next", json!({}))]), json!({}))
}

#[test]
fn a_task_is_completed_and_its_output_is_what_the_action_says() {
    let mut run = waiting();
    let block = json!({"taskRefName": "wait", "output": {"id": "${order.id}"}});
    let complete = json!({"action": "complete_task", "complete_task": block});
    tell(&mut run, complete.clone()).unwrap();
    run.reads(&["RUNNING", "wait 0 COMPLETED", "next 0 SCHEDULED"]);
    assert_eq!(
        run.attempt("wait", 0).output.value(),
        json!({"workflowId": run.execution.id(), "taskRefName": "wait", "id": 7,
            "conductor.event.messageId": message(), "conductor.event.name": EVENT})
    );
    assert_eq!(tell(&mut run, complete), Ok(vec![]), "the first end stands");
}

#[test]
fn a_task_is_failed_by_its_id_with_a_reason() {
    let mut run = waiting();
    let block =
        json!({"taskId": run.attempt("wait", 0).id, "reasonForIncompletion": "no ${order.id}"});
    tell(&mut run, json!({"action": "fail_task", "fail_task": block})).unwrap();
    run.reads(&["FAILED", "wait 0 FAILED"]);
    assert_eq!(run.attempt("wait", 0).reason.as_deref(), Some("no 7"));
}

#[test]
fn a_task_that_is_not_there_or_in_somebodys_hands_is_left_alone() {
    let mut run = Bench::start(flow(&[step("a", json!({}))]), json!({}));
    let complete = |reference: &str| json!({"action": "complete_task", "complete_task": {"taskRefName": reference}});
    match tell(&mut run, complete("b")) {
        Err(Stop::Rejected(Rejection::NotFound(why))) => assert!(why.contains("has no step b")),
        other => panic!("{other:?}"),
    }
    run.claim("a", "ann");
    let held = tell(&mut run, complete("a"));
    assert!(matches!(held, Err(Stop::Rejected(Rejection::Held(_)))), "{held:?}");
    run.reads(&["RUNNING", "a 0 SCHEDULED"]);
}

#[test]
fn a_run_is_terminated_once_and_a_completed_one_is_not() {
    let mut run = waiting();
    let end = json!({"action": "terminate_workflow",
        "terminate_workflow": {"terminationReason": "order ${order.id}"}});
    tell(&mut run, end.clone()).unwrap();
    assert_eq!((run.status(), run.reason()), (WorkflowStatus::Terminated, "order 7"));
    assert_eq!(tell(&mut run, end.clone()), Ok(vec![]));
    let mut run = Bench::start(flow(&[step("a", json!({}))]), json!({}));
    run.complete("a", json!({}));
    assert!(tell(&mut run, end).is_err());
    run.reads(&["COMPLETED", "a 0 COMPLETED"]);
}

#[test]
fn variables_are_merged_and_lists_are_appended_where_that_is_asked_for() {
    let mut run = waiting();
    let update = |append: bool, variables: Value| {
        json!({"action": "update_workflow_variables",
            "update_workflow_variables": {"variables": variables, "appendArray": append}})
    };
    tell(&mut run, update(false, json!({"ids": [1], "id": "${order.id}", "odd": 1}))).unwrap();
    tell(&mut run, update(true, json!({"ids": ["${order.id}"], "odd": [2], "new": [3]}))).unwrap();
    assert_eq!(
        run.execution.variables().value(),
        json!({"ids": [1, 7], "id": 7, "odd": [2], "new": [3]})
    );
    tell(&mut run, update(false, json!({"ids": []}))).unwrap();
    assert_eq!(run.execution.variables().value()["ids"], json!([]));
    run.replay();
}

#[test]
fn a_run_begun_by_an_event_says_which() {
    let mut run = Bench::unborn(flow(&[step("a", json!({}))]));
    let start = semel_engine::Start { event: Some(EVENT.to_owned()), ..run.plain_start() };
    run.happen(Event::Started(start), &[payload(&json!({}))]).unwrap();
    assert_eq!(semel_engine::view::workflow(&run.execution, false).event.as_deref(), Some(EVENT));
    run.replay();
    run.reopen();
    assert_eq!(run.execution.event(), Some(EVENT));
    assert_eq!(run.now, BEGIN);
}
