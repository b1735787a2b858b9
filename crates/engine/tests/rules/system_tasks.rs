//! # System tasks that are over at once: NOOP, SET_VARIABLE, TERMINATE
//!
//! Rules:
//! * docs/reference/rules/operations.md#end-of-a-run
//! * docs/reference/rules/progress.md#output-of-a-run
//! * docs/reference/rules/task-types.md#noop-set_variable-and-terminate

use semel_engine::Event;
use semel_model::TaskResultStatus::Failed;
use serde_json::{Value, json};

use crate::bench::Bench;
use crate::shapes::{flow, step, with};

fn system(reference: &str, kind: &str, input: Value) -> Value {
    json!({"name": reference, "taskReferenceName": reference, "type": kind,
        "inputParameters": input})
}

/// A run that meets a TERMINATE task of this input after its step `a`.
fn terminated(input: Value) -> Bench {
    let steps = [step("a", json!({})), system("end", "TERMINATE", input), step("b", json!({}))];
    let definition = with(flow(&steps), json!({"outputParameters": {"a": "${a.output.v}"}}));
    let mut run = Bench::start(definition, json!({}));
    run.complete("a", json!({"v": 1}));
    run
}

#[test]
fn a_noop_is_over_at_once_whatever_its_input() {
    let run = Bench::start(flow(&[system("n", "NOOP", json!({"x": 1}))]), json!({}));
    run.reads(&["COMPLETED", "n 0 COMPLETED"]);
    assert_eq!(run.output(), json!({}));
}

#[test]
fn set_variable_overwrites_at_the_top_and_null_is_a_value() {
    let news = json!({"o": {"new": "${workflow.input.n}"}, "gone": null});
    let reads =
        with(step("a", json!({})), json!({"inputParameters": {"all": "${workflow.variables}"}}));
    let steps = [system("s", "SET_VARIABLE", news), reads];
    let variables = json!({"o": {"old": 1}, "gone": 2, "kept": 3});
    let run = Bench::start(with(flow(&steps), json!({"variables": variables})), json!({"n": 7}));
    run.reads(&["RUNNING", "s 0 COMPLETED", "a 0 SCHEDULED"]);
    let all = json!({"o": {"new": 7}, "gone": null, "kept": 3});
    assert_eq!(run.execution.variables().value(), all);
    assert_eq!(run.attempt("a", 0).input.value(), json!({"all": all}));
    assert_eq!(run.attempt("s", 0).output.value(), json!({}));
}

#[test]
fn variables_over_their_limit_fail_the_task_for_good_and_stay_what_they_were() {
    let steps = [system("s", "SET_VARIABLE", json!({"big": "${workflow.input.big}"}))];
    let definition = with(flow(&steps), json!({"variables": {"big": "small"}}));
    let run = Bench::start(definition, json!({"big": "x".repeat(256 * 1024)}));
    run.reads(&["FAILED", "s 0 FAILED_WITH_TERMINAL_ERROR"]);
    assert_eq!(run.execution.variables().value(), json!({"big": "small"}));
    assert!(run.reason().contains("more than the limit of 262144"), "{}", run.reason());
}

#[test]
fn a_terminate_task_that_says_completed_completes_the_run_and_gives_its_output() {
    for (given, output) in [
        (json!({"k": "${a.output.v}"}), json!({"k": 1})),
        (json!("text"), json!({"output": "text"})),
        (json!([1]), json!({"output": [1]})),
        (json!(null), json!({})),
    ] {
        let run = terminated(json!({"terminationStatus": "COMPLETED", "workflowOutput": given}));
        run.reads(&["COMPLETED", "a 0 COMPLETED", "end 0 COMPLETED"]);
        assert_eq!((run.output(), run.attempt("end", 0).output.value()), (output.clone(), output));
        let id = run.attempt("end", 0).id;
        assert_eq!(run.reason(), format!("Workflow is COMPLETED by TERMINATE task: {id}"));
        assert_eq!(run.execution.failed_task(), None);
    }
    let run = terminated(json!({"terminationStatus": "COMPLETED", "terminationReason": "early"}));
    assert_eq!((run.reason(), run.output()), ("early", json!({})));
}

#[test]
fn a_terminate_task_that_says_failed_or_terminated_is_named_as_the_cause() {
    for status in ["FAILED", "TERMINATED"] {
        let run = terminated(json!({"terminationStatus": status}));
        run.reads(&[status, "a 0 COMPLETED", "end 0 COMPLETED"]);
        let id = run.attempt("end", 0).id;
        assert_eq!(run.execution.failed_task(), Some(id));
        assert_eq!(run.reason(), format!("Workflow is {status} by TERMINATE task: {id}"));
    }
}

#[test]
fn a_terminate_status_is_exact() {
    for status in [json!("completed"), json!("PAUSED"), json!(null), json!(1)] {
        let run = terminated(json!({"terminationStatus": status}));
        run.reads(&["FAILED", "a 0 COMPLETED", "end 0 FAILED"]);
        let reason = run.attempt("end", 0).reason.clone();
        assert_eq!(reason.as_deref(), Some("given termination status is not valid"));
    }
}

/// A permissive `a` that failed, then `b`, then a TERMINATE that says COMPLETED.
fn after_a_permissive_failure() -> Bench {
    let policy = json!({"retryCount": 0});
    let permissive = with(step("a", policy.clone()), json!({"permissive": true}));
    let end = system("end", "TERMINATE", json!({"terminationStatus": "COMPLETED"}));
    let mut run = Bench::start(flow(&[permissive, step("b", policy), end]), json!({}));
    run.fail("a", Failed, "no");
    run
}

#[test]
fn a_permissive_failure_overrides_a_terminate_task_that_says_completed() {
    let mut run = after_a_permissive_failure();
    run.complete("b", json!({}));
    run.reads(&["FAILED", "a 0 FAILED", "b 0 COMPLETED", "end 0 COMPLETED"]);
    let id = run.attempt("a", 0).id;
    assert_eq!(run.reason(), format!("Task {id} failed with status: FAILED and reason: 'no'"));
}

#[test]
fn a_terminate_task_cancels_what_is_open_beside_it() {
    let mut run = after_a_permissive_failure();
    run.fail("b", Failed, "no");
    run.happen(Event::Retried, &[]).unwrap();
    let held = run.claim("a", "ann");
    run.complete("b", json!({}));
    let all = ["a 0 FAILED", "b 0 FAILED", "a 1 CANCELED", "b 1 COMPLETED", "end 0 COMPLETED"];
    assert_eq!(run.story()[1..], all);
    assert_eq!(run.story()[0], "COMPLETED");
    assert!(run.report(&held).is_err(), "its holder is stale");
    run.replay();
}

#[test]
fn every_kind_of_task_knows_its_own_id() {
    let input = json!({"me": "${CPEWF_TASK_ID}"});
    let steps = [system("s", "SET_VARIABLE", input.clone()), system("h", "HUMAN", input.clone())];
    let run = Bench::start(flow(&steps), json!({}));
    for reference in ["s", "h"] {
        let task = run.attempt(reference, 0);
        assert_eq!(task.input.value(), json!({"me": task.id.to_string()}));
    }
    run.replay();
}

#[test]
fn a_system_task_is_in_no_domain_and_no_queue() {
    let steps = [system("h", "HUMAN", json!({})), step("a", json!({}))];
    let mut run = Bench::start_in(flow(&steps), json!({}), &[("*", "x")]);
    assert_eq!((run.attempt("h", 0).domain.clone(), run.rows.len()), (None, 0));
    let said =
        crate::shapes::Said::new(run.attempt("h", 0).id, semel_model::TaskResultStatus::Completed);
    run.report(&said).unwrap();
    assert_eq!(run.row("a").queue.domain.as_deref(), Some("x"));
}

#[test]
fn a_type_that_is_not_in_this_release_fails_for_good_and_says_what_to_do() {
    for kind in ["LLM_CHAT_COMPLETE", "JDBC", "HTTP_POLL", "WAIT_FOR_WEBHOOK", "AGENT"] {
        let definition = flow(&[with(system("s", kind, json!({})), json!({"retryCount": 3}))]);
        let run = Bench::start(definition, json!({}));
        run.reads(&["FAILED", "s 0 FAILED_WITH_TERMINAL_ERROR"]);
        let reason = run.attempt("s", 0).reason.clone().unwrap_or_default();
        let said = format!("task type {kind} is not in this release: give the step a type");
        assert!(reason.starts_with(&said), "{reason}");
    }
    let run = Bench::start(flow(&[system("s", "GENERATE_REPORT", json!({}))]), json!({}));
    run.reads(&["RUNNING", "s 0 SCHEDULED"]);
}

#[test]
fn a_type_that_is_not_in_this_release_may_stand_where_a_run_never_comes() {
    let cases = json!({"a": [system("s", "LLM_CHAT_COMPLETE", json!({}))]});
    let choice = with(
        system("choose", "SWITCH", json!({"which": "b"})),
        json!({"evaluatorType": "value-param", "expression": "which", "decisionCases": cases}),
    );
    let run = Bench::start(flow(&[choice]), json!({}));
    run.reads(&["COMPLETED", "choose 0 COMPLETED"]);
}
