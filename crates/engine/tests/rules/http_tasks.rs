//! # HTTP tasks, as far as the engine knows them
//!
//! Rules:
//! * docs/reference/idempotency.md#http-tasks
//! * docs/reference/rules/task-types.md#http

use semel_engine::{Event, LEFT_TO_OTHERS_SECONDS, RecordState, Rerun};
use semel_model::TaskResultStatus::{self, Failed, InProgress};
use semel_model::{TaskStatus, WorkflowStatus};
use serde_json::{Value, json};

use crate::bench::Bench;
use crate::family::Family;
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
    let honoured = json!({"downstream": {"honoursKeys": true}});
    let assumed = json!({"retryCount": 1, "responseTimeoutSeconds": 5, "assumeIdempotent": true});
    let remembered = json!({"effect": {"downstreamRetentionSeconds": 3600}});
    for step in [
        with(call(post(json!({})), policy()), honoured),
        with(call(post(json!({})), policy()), remembered),
        call(post(json!({"idempotency": {"preset": "stripe"}})), policy()),
        call(post(json!({})), assumed),
        call(json!({"uri": "http://a", "method": "GET"}), policy()),
    ] {
        let mut run = Bench::start(flow(&[step]), json!({}));
        run.claim("call", "ann");
        run.tick(5);
        run.reads(&["RUNNING", "call 0 TIMED_OUT", "call 1 SCHEDULED"]);
    }
    let denied = json!({"downstream": {"honoursKeys": false}});
    for step in [
        call(post(json!({"idempotency": {"enabled": false}})), policy()),
        call(post(json!({})), policy()),
        with(call(post(json!({"idempotency": {"preset": "stripe"}})), policy()), denied),
    ] {
        let mut run = Bench::start(flow(&[step]), json!({}));
        let said = run.claim("call", "ann");
        run.tick(5);
        run.reads(&["RUNNING", "call 0 IN_PROGRESS"]);
        assert!(run.attempt("call", 0).is_in_doubt());
        assert_eq!(run.row_count(), 0, "nobody is offered it");
        run.report(&said.output(json!({"n": 1}))).expect("the last holder's word counts");
        run.reads(&["COMPLETED", "call 0 COMPLETED"]);
    }
}

#[test]
fn a_cache_does_not_send_a_request_again() {
    let policy = || json!({"retryCount": 1, "responseTimeoutSeconds": 5});
    let cache = json!({"cacheConfig": {"key": "${http_request.uri}", "ttlInSecond": 60}});
    let get = json!({"uri": "http://a", "method": "GET"});
    for (request, story) in [
        (post(json!({})), &["RUNNING", "call 0 IN_PROGRESS"][..]),
        (get, &["RUNNING", "call 0 TIMED_OUT", "call 1 SCHEDULED"]),
        (
            post(json!({"idempotency": {"preset": "stripe"}})),
            &["RUNNING", "call 0 TIMED_OUT", "call 1 SCHEDULED"],
        ),
    ] {
        let mut family = Family::of(&[flow(&[with(call(request, policy()), cache.clone())])]);
        let run = family.start("flow", json!({}));
        family.claim(run, "call", "ann");
        family.tick(5);
        family.reads(run, story);
    }
}

#[test]
fn a_request_that_is_on_its_way_when_its_run_ends_is_not_sent_again() {
    let policy = json!({"retryCount": 1, "responseTimeoutSeconds": 5});
    for request in [post(json!({"idempotency": {"enabled": false}})), post(json!({}))] {
        let mut family = Family::of(&[flow(&[call(request, policy.clone())])]);
        let run = family.start("flow", json!({}));
        let said = family.claim(run, "call", "ann");
        let ended = Event::Terminated { reason: None, compensate: false };
        family.tell(run, ended, &[]).expect("a live run can be ended");
        let key = family.execution(run).effect_key("call");
        family.effect_is("call", &key, RecordState::Unknown);
        family.tell(run, Event::Retried, &[]).expect("an ended run lives again");
        let task = family.execution(run).latest("call").unwrap().clone();
        assert!(task.is_in_doubt() && !task.is_placed(), "{task:?}");
        family.report(run, &said.output(json!({"n": 1}))).expect("a late word ends the doubt");
        family.effect_is("call", &key, RecordState::Completed);
        family.run(run).replay();
    }
}

#[test]
fn silence_follows_the_policy_of_the_request() {
    for (on_unknown, story) in [
        ("RETRY", ["RUNNING", "call 0 TIMED_OUT"]),
        ("FAIL", ["FAILED", "call 0 FAILED_WITH_TERMINAL_ERROR"]),
        ("HOLD", ["RUNNING", "call 0 IN_PROGRESS"]),
    ] {
        let bare = post(json!({"idempotency": {"enabled": false}}));
        let policy = json!({"retryCount": 1, "responseTimeoutSeconds": 5});
        let step = with(call(bare, policy), json!({"effect": {"onUnknown": on_unknown}}));
        let mut run = Bench::start(flow(&[step]), json!({}));
        run.claim("call", "ann");
        run.tick(5);
        assert_eq!(run.story()[..2], story, "{on_unknown}");
    }
}

#[test]
fn a_request_in_doubt_stays_so_in_all_lives_of_its_run() {
    let bare = post(json!({"idempotency": {"enabled": false}}));
    let policy = json!({"retryCount": 1, "responseTimeoutSeconds": 5});
    let mut family = Family::of(&[flow(&[call(bare, policy)])]);
    let run = family.start("flow", json!({}));
    family.claim(run, "call", "ann");
    family.tick(5);
    let key = family.execution(run).effect_key("call");
    family.effect_is("call", &key, RecordState::Unknown);
    let terminated = || Event::Terminated { reason: None, compensate: false };
    let again = [Event::Retried, Event::Restarted { definition: None }];
    for again in again {
        family.tell(run, terminated(), &[]).expect("a live run can be ended");
        family.tell(run, again, &[]).expect("an ended run lives again");
        let task = family.execution(run).latest("call").unwrap().clone();
        assert!(task.is_in_doubt() && !task.is_placed(), "{task:?}");
    }
    family.effect_is("call", &key, RecordState::Unknown);
}

/// A run whose request went out with the body `{"n": 1}`, and failed for good.
fn sent_once(body: &str, output: Value) -> Bench {
    let request = post(json!({"body": {"n": body}}));
    let definition = flow(&[call(request, json!({"retryCount": 0}))]);
    let mut run = Bench::start(with(definition, json!({"variables": {"n": 1}})), json!({"n": 1}));
    let said = run.claim("call", "ann").output(output);
    run.report(&Said { status: Failed, ..said }).expect("a report is taken");
    run.reads(&["FAILED", "call 0 FAILED"]);
    run
}

fn rerun(run: &mut Bench, from: bool, given: Value) {
    let from = from.then(|| run.attempt("call", 0).id);
    let given_slot = Some(semel_engine::Slot(0));
    let rerun = match from {
        Some(_) => Rerun { from, task_input: given_slot, ..Rerun::default() },
        None => Rerun { input: given_slot, ..Rerun::default() },
    };
    run.happen(Event::Reran(rerun), &[payload(&given)]).expect("it is run again");
}

#[test]
fn another_body_is_not_sent_under_the_key_of_the_first() {
    let other = json!({"http_request": post(json!({"body": {"n": 2}}))});
    let ways: [fn(&mut Bench, Value); 2] =
        [|run, given| rerun(run, true, given), |run, _| rerun(run, false, json!({"n": 2}))];
    for (at, way) in ways.into_iter().enumerate() {
        let mut run = sent_once("${workflow.input.n}", json!({}));
        way(&mut run, other.clone());
        run.reads(&["FAILED", "call 0 FAILED_WITH_TERMINAL_ERROR"]);
        let reason = run.attempt("call", 0).reason.clone().unwrap_or_default();
        assert!(reason.contains("step call") && reason.contains("redoEffects=true"), "{reason}");
        // What the definition makes of the input may be the first body, and if not it is refused.
        run.happen(Event::Retried, &[]).expect("a failed run is retried");
        assert_eq!(run.story()[0], ["RUNNING", "FAILED"][at]);
        if at == 0 {
            continue;
        }
        run.happen(Event::Redone(Box::new(Event::Retried)), &[]).expect("it is retried");
        assert_eq!(run.row("call").input.value()["http_request"]["body"], json!({"n": 2}));
        run.replay();
    }
}

#[test]
fn the_body_of_the_first_goes_on_under_its_key() {
    let mut run = sent_once("${workflow.input.n}", json!({}));
    let key = run.execution.effect_key("call");
    run.happen(Event::Restarted { definition: None }, &[]).expect("it is restarted");
    run.reads(&["RUNNING", "call 0 SCHEDULED"]);
    assert_eq!(run.row("call").effect_key(), key);
    // What is given does not go into this one.
    let mut run = sent_once("${workflow.variables.n}", json!({}));
    rerun(&mut run, false, json!({"n": 2}));
    run.reads(&["RUNNING", "call 0 SCHEDULED"]);
}

#[test]
fn what_never_left_binds_nobody_and_a_key_of_ones_own_is_another_key() {
    let never = json!({"_effect": {"applied": false, "class": "NOT_SENT"}});
    let mut run = sent_once("${workflow.input.n}", never);
    rerun(&mut run, false, json!({"n": 2}));
    run.reads(&["RUNNING", "call 0 SCHEDULED"]);
    let refused = json!({"_effect": {"applied": false, "class": "KEYED"}});
    let mut run = sent_once("${workflow.input.n}", refused);
    rerun(&mut run, false, json!({"n": 2}));
    run.reads(&["FAILED", "call 0 FAILED_WITH_TERMINAL_ERROR"]);
    for (key, status) in [("order-${workflow.input.n}", "RUNNING"), ("order", "FAILED")] {
        let request = post(json!({"body": "${workflow.input.n}", "idempotency": {"value": key}}));
        let definition = flow(&[call(request, json!({"retryCount": 0}))]);
        let mut run = Bench::start(definition, json!({"n": 1}));
        run.fail("call", Failed, "502");
        rerun(&mut run, false, json!({"n": 2}));
        assert_eq!(run.story()[0], status, "{key}");
    }
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
