//! # HTTP tasks, as far as the engine knows them (contract 5, semantics 7.15)

use semel_engine::{Event, LEFT_TO_OTHERS_SECONDS};
use semel_model::TaskResultStatus::{self, Failed, InProgress};
use semel_model::{TaskStatus, WorkflowStatus};
use serde_json::{Value, json};

use crate::bench::Bench;
use crate::shapes::{Said, dynamic_fork, flow, join, payload, with};

/// An HTTP step `call` that sends this.
fn call(request: Value, policy: Value) -> Value {
    let policy = with(json!({"name": "call", "retryDelaySeconds": 0}), policy);
    json!({"name": "call", "taskReferenceName": "call", "type": "HTTP", "taskDefinition": policy,
        "inputParameters": {"http_request": request}})
}

fn post(more: Value) -> Value {
    with(json!({"uri": "http://a", "method": "POST"}), more)
}

#[test]
fn it_waits_in_a_queue_of_its_own_outside_of_all_domains() {
    let definition = flow(&[call(post(json!({})), json!({}))]);
    let run = Bench::start_in(definition, json!({}), &[("*", "blue"), ("HTTP", "red")]);
    let queue = &run.row("call").queue;
    assert_eq!((queue.task_type.as_str(), queue.domain.as_deref()), ("HTTP", None));
    run.reads(&["RUNNING", "call 0 SCHEDULED"]);
}

#[test]
fn its_worker_is_not_silent_for_longer_than_a_minute() {
    for (policy, seconds) in [
        (json!({"responseTimeoutSeconds": 3600}), 60),
        (json!({"responseTimeoutSeconds": 0}), 60),
        (json!({"responseTimeoutSeconds": 5}), 5),
    ] {
        let mut run = Bench::start(flow(&[call(post(json!({})), policy)]), json!({}));
        run.claim("call", "ann");
        let until = run.row("call").hand_out.lease_until.expect("there is a lease");
        assert_eq!(until.since_ms(run.now), seconds * 1000);
    }
}

#[test]
fn what_may_have_been_sent_is_sent_again_to_the_byte() {
    let body = json!({"n": "${workflow.variables.n}", "attempt": "${CPEWF_ATTEMPT}"});
    let policy = json!({"retryCount": 2, "pollTimeoutSeconds": 10, "timeoutPolicy": "RETRY"});
    let definition = flow(&[call(post(json!({"body": body})), policy)]);
    let mut run = Bench::start(with(definition, json!({"variables": {"n": 1}})), json!({}));
    let set = |run: &mut Bench, n: u32| {
        let event = Event::VariablesUpdated { variables: semel_engine::Slot(0) };
        run.happen(event, &[payload(&json!({"n": n}))]).expect("variables are set");
    };
    set(&mut run, 2);
    run.tick(10);
    let second = run.attempt("call", 1).input.value()["http_request"]["body"].clone();
    assert_eq!(second, json!({"n": 2, "attempt": 2}), "nobody had the first");
    set(&mut run, 3);
    run.fail("call", Failed, "reset");
    assert_eq!(run.attempt("call", 2).input, run.attempt("call", 1).input);
    run.fail("call", Failed, "reset");
    run.happen(Event::Retried, &[]).expect("a failed run is retried");
    assert_eq!(run.attempt("call", 3).input, run.attempt("call", 1).input, "by hand too");
    run.replay();
}

#[test]
fn when_its_worker_dies_only_what_may_be_repeated_is() {
    let policy = || json!({"retryCount": 1, "responseTimeoutSeconds": 5});
    for request in [post(json!({})), json!({"uri": "http://a", "method": "GET"})] {
        let mut run = Bench::start(flow(&[call(request, policy())]), json!({}));
        run.claim("call", "ann");
        run.tick(5);
        run.reads(&["RUNNING", "call 0 TIMED_OUT", "call 1 SCHEDULED"]);
    }
    let bare = post(json!({"idempotency": {"enabled": false}}));
    let mut run = Bench::start(flow(&[call(bare, policy())]), json!({}));
    run.claim("call", "ann");
    run.tick(5);
    run.reads(&["FAILED", "call 0 FAILED_WITH_TERMINAL_ERROR"]);
    let task = run.attempt("call", 0);
    let effect = json!({"_effect": {"applied": "unknown", "class": "UNSAFE"}});
    assert_eq!(task.output.value(), effect);
    assert!(task.reason.as_deref().unwrap_or_default().contains("may have been carried out"));
}

#[test]
fn what_nobody_had_was_not_sent_and_is_tried_again() {
    let bare = post(json!({"idempotency": {"enabled": false}}));
    let policy = json!({"retryCount": 1, "pollTimeoutSeconds": 10, "timeoutPolicy": "RETRY"});
    let mut run = Bench::start(flow(&[call(bare, policy)]), json!({}));
    run.tick(10);
    run.reads(&["RUNNING", "call 0 TIMED_OUT", "call 1 SCHEDULED"]);
}

#[test]
fn the_other_side_may_ask_for_more_patience() {
    for (policy, seconds) in [
        (json!({"retryCount": 1, "retryDelaySeconds": 5}), 120),
        (json!({"retryCount": 1, "retryDelaySeconds": 300}), 300),
        (json!({"retryCount": 1, "retryDelaySeconds": 5, "maxRetryDelaySeconds": 60}), 60),
    ] {
        let mut run = Bench::start(flow(&[call(post(json!({})), policy)]), json!({}));
        let said = run.claim("call", "ann").output(json!({"_retryAfterSeconds": 120}));
        run.report(&Said { status: Failed, ..said }).expect("a report is taken");
        assert_eq!(run.row("call").ready_at.since_ms(run.now), seconds * 1000);
        run.replay();
    }
}

#[test]
fn what_is_left_to_others_is_not_sent_again() {
    let mut run = Bench::start(flow(&[call(post(json!({})), json!({}))]), json!({}));
    let said = run.claim("call", "ann").callback(LEFT_TO_OTHERS_SECONDS).output(json!({"a": 1}));
    run.report(&Said { status: InProgress, ..said }).expect("a report is taken");
    run.reads(&["RUNNING", "call 0 IN_PROGRESS"]);
    run.happen(Event::CallbacksReset, &[]).expect("callbacks are reset");
    assert!(run.row("call").ready_at > run.now);
    run.tick(1_000_000);
    let task = run.attempt("call", 0).id;
    let answer = Said::new(task, TaskResultStatus::Completed).output(json!({"b": 2}));
    run.name("call", false, &answer).expect("it is answered");
    run.reads(&["COMPLETED", "call 0 COMPLETED"]);
    assert_eq!(run.attempt("call", 0).output.value(), json!({"a": 1, "b": 2}));
}

#[test]
fn it_can_be_chosen_by_data() {
    let dynamic = json!({"name": "d", "taskReferenceName": "d", "type": "DYNAMIC",
        "dynamicTaskNameParam": "kind", "inputParameters": {"kind": "HTTP", "uri": "http://a",
        "method": "GET"}});
    let run = Bench::start(flow(&[dynamic]), json!({}));
    assert_eq!(run.row("d").queue.task_type, "HTTP");
    let inputs = json!([{"uri": "http://a", "method": "GET"}]);
    let fan = dynamic_fork("f", json!({"forkTaskType": "HTTP", "forkTaskInputs": inputs}));
    let run = Bench::start(flow(&[fan, join("j", &[])]), json!({}));
    let branch = run.execution.tasks().find(|task| task.step.task_type() == "HTTP");
    let branch = branch.expect("a branch of that type");
    assert_eq!((branch.status, run.status()), (TaskStatus::Scheduled, WorkflowStatus::Running));
}
