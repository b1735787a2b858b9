//! # WAIT, HUMAN and YIELD: tasks that nobody works on
//!
//! Rules:
//! * docs/reference/rules/progress.md#timers
//! * docs/reference/rules/timeouts.md#details
//! * docs/reference/rules/task-types.md#wait-and-human
//! * docs/reference/rules/task-types.md#yield
//! * docs/reference/rules/synchronous-execution.md#signals

use semel_engine::{Event, Progress, Rejection, Slot, Stop};
use semel_model::TaskResultStatus::{self, Completed, Failed, FailedWithTerminalError, InProgress};
use serde_json::{Value, json};

use crate::bench::{BEGIN, Bench};
use crate::shapes::{Said, flow, payload, step, with};

fn waiting(kind: &str, input: Value) -> Value {
    json!({"name": "w", "taskReferenceName": "w", "type": kind, "inputParameters": input})
}

/// Under this task definition, which never times a silent worker out unless it says so.
fn under(kind: &str, input: Value, policy: Value) -> Value {
    let policy = with(json!({"name": "w", "responseTimeoutSeconds": 0}), policy);
    with(waiting(kind, input), json!({"taskDefinition": policy}))
}

fn named(name: &str) -> Value {
    json!({"name": name, "taskReferenceName": name})
}

fn say(run: &mut Bench, attempt: u32, status: TaskResultStatus, output: Value) {
    let said = Said::new(run.attempt("w", attempt).id, status).output(output);
    run.report(&said).expect("anybody may answer for it");
}

#[test]
fn a_wait_ends_with_an_empty_output_when_its_time_is_over() {
    let steps = [waiting("WAIT", json!({"duration": "1 min 30s"})), step("a", json!({}))];
    let mut run = Bench::start(flow(&steps), json!({}));
    run.tick(89);
    run.reads(&["RUNNING", "w 0 IN_PROGRESS"]);
    run.tick(1);
    run.reads(&["RUNNING", "w 0 COMPLETED", "a 0 SCHEDULED"]);
    assert_eq!(run.attempt("w", 0).output.value(), json!({}));
}

#[test]
fn a_wait_until_a_moment_ends_then_and_one_that_is_past_ends_at_once() {
    let day = 24 * 60 * 60;
    let begin = BEGIN.ms() / 1000; // 2023-11-14 22:13:20
    let mut run = Bench::start(flow(&[waiting("WAIT", json!({"until": "2023-11-15"}))]), json!({}));
    let left = day - begin % day;
    run.tick(left - 1);
    run.reads(&["RUNNING", "w 0 IN_PROGRESS"]);
    run.tick(1);
    run.reads(&["COMPLETED", "w 0 COMPLETED"]);
    let mut run = Bench::start(flow(&[waiting("WAIT", json!({"until": "2023-11-14"}))]), json!({}));
    run.tick(0);
    run.reads(&["COMPLETED", "w 0 COMPLETED"]);
}

#[test]
fn a_wait_that_makes_no_sense_fails_for_good_and_says_why() {
    for (input, reason) in [
        (json!({"duration": "5m 1h"}), "Not a duration: 5m 1h."),
        (json!({"duration": 90}), "Not a duration: 90."),
        (json!({"until": "soon"}), "Invalid/Unsupported Wait Until format.  Provided: soon"),
        (
            json!({"duration": "1s", "until": "2023-11-15"}),
            "Both 'duration' and 'until' specified. Please provide only one input",
        ),
    ] {
        let given = json!({"duration": "${workflow.input.duration}",
            "until": "${workflow.input.until}"});
        let run = Bench::start(flow(&[under("WAIT", given, json!({"retryCount": 3}))]), input);
        run.reads(&["FAILED", "w 0 FAILED_WITH_TERMINAL_ERROR"]);
        let said = run.attempt("w", 0).reason.clone().unwrap_or_default();
        assert!(said.starts_with(reason), "{said}");
    }
}

#[test]
fn whoever_answers_a_wait_early_gives_its_output() {
    let mut run = Bench::start(flow(&[waiting("WAIT", json!({"duration": "10s"}))]), json!({}));
    run.tick(5);
    say(&mut run, 0, Completed, json!({"early": true}));
    run.reads(&["COMPLETED", "w 0 COMPLETED"]);
    assert_eq!(run.output(), json!({"early": true}));
    run.tick(10);
    assert_eq!(run.output(), json!({"early": true}));
}

#[test]
fn a_wait_that_is_tried_again_waits_anew() {
    let policy = json!({"retryCount": 1, "retryDelaySeconds": 3});
    let mut run =
        Bench::start(flow(&[under("WAIT", json!({"duration": "10s"}), policy)]), json!({}));
    run.tick(8);
    say(&mut run, 0, Failed, json!({}));
    run.tick(3);
    run.reads(&["RUNNING", "w 0 FAILED", "w 1 IN_PROGRESS"]);
    run.tick(9);
    run.reads(&["RUNNING", "w 0 FAILED", "w 1 IN_PROGRESS"]);
    run.tick(1);
    run.reads(&["COMPLETED", "w 0 FAILED", "w 1 COMPLETED"]);
}

#[test]
fn neither_a_wait_for_somebody_nor_a_human_task_has_a_limit_of_its_own() {
    for kind in ["WAIT", "HUMAN"] {
        let mut run = Bench::start(flow(&[waiting(kind, json!({}))]), json!({}));
        run.tick(1_000_000_000);
        run.reads(&["RUNNING", "w 0 IN_PROGRESS"]);
        say(&mut run, 0, Completed, json!({"by": "hand"}));
        run.reads(&["COMPLETED", "w 0 COMPLETED"]);
    }
}

#[test]
fn progress_of_a_human_task_is_kept_and_it_stays_in_progress() {
    let mut run = Bench::start(flow(&[waiting("HUMAN", json!({}))]), json!({}));
    say(&mut run, 0, InProgress, json!({"form": 1, "page": 1}));
    run.reads(&["RUNNING", "w 0 IN_PROGRESS"]);
    let more = Said::new(run.attempt("w", 0).id, InProgress).output(json!({"page": 2}));
    run.name("w", false, &more).unwrap();
    run.reads(&["RUNNING", "w 0 IN_PROGRESS"]);
    assert_eq!(run.attempt("w", 0).output.value(), json!({"form": 1, "page": 2}));
    assert!(run.rows.is_empty(), "no worker is offered it");
}

#[test]
fn a_human_task_named_like_a_task_definition_has_its_timeouts_and_retries() {
    let silent = json!({"responseTimeoutSeconds": 10, "retryCount": 1, "retryDelaySeconds": 0});
    let mut run = Bench::start(flow(&[under("HUMAN", json!({}), silent)]), json!({}));
    run.tick(9);
    say(&mut run, 0, InProgress, json!({}));
    run.tick(9);
    run.reads(&["RUNNING", "w 0 IN_PROGRESS"]);
    run.tick(1);
    run.reads(&["RUNNING", "w 0 TIMED_OUT", "w 1 IN_PROGRESS"]);
    let slow = json!({"timeoutSeconds": 10, "retryCount": 1});
    let mut run = Bench::start(flow(&[under("HUMAN", json!({}), slow)]), json!({}));
    run.tick(10);
    run.reads(&["TIMED_OUT", "w 0 TIMED_OUT"]);
}

#[test]
fn the_workflow_timeout_is_kept_while_a_person_is_waited_for() {
    let limits = json!({"timeoutSeconds": 30, "timeoutPolicy": "TIME_OUT_WF"});
    let mut run = Bench::start(with(flow(&[waiting("HUMAN", json!({}))]), limits), json!({}));
    run.tick(30);
    run.reads(&["TIMED_OUT", "w 0 CANCELED"]);
}

#[test]
fn an_event_that_waits_for_somebody_has_no_response_timeout_however_it_says_so() {
    let policy = json!({"responseTimeoutSeconds": 10, "timeoutSeconds": 100});
    let event = with(under("EVENT", json!({}), policy), json!({"sink": "conductor"}));
    for asks in
        [json!({"asyncComplete": true}), json!({"inputParameters": {"asyncComplete": true}})]
    {
        let mut run = Bench::start(flow(&[with(event.clone(), asks)]), json!({}));
        run.tick(99);
        run.reads(&["RUNNING", "w 0 IN_PROGRESS"]);
        run.tick(1);
        run.reads(&["TIMED_OUT", "w 0 TIMED_OUT"]);
    }
}

#[test]
fn a_human_task_that_others_complete_has_no_response_timeout() {
    let silent = json!({"responseTimeoutSeconds": 10});
    let elsewhere = with(under("HUMAN", json!({}), silent), json!({"asyncComplete": true}));
    let mut run = Bench::start(flow(&[elsewhere]), json!({}));
    run.tick(10);
    run.reads(&["RUNNING", "w 0 IN_PROGRESS"]);
}

fn signal(run: &mut Bench, status: TaskResultStatus, output: Value) -> Result<(), Stop> {
    let progress =
        Progress { status, output: Slot(0), reason: None, worker: None, callback_after_seconds: 0 };
    run.happen(Event::Signalled { progress, may_wait: false }, &[payload(&output)]).map(|_| ())
}

#[test]
fn a_signal_answers_the_first_wait_and_the_next_signal_the_next() {
    let named =
        |name: &str, input| with(waiting("WAIT", input), json!({"taskReferenceName": name}));
    let steps = [named("w", json!({})), named("timed", json!({"duration": "1h"}))];
    let mut run = Bench::start(flow(&steps), json!({}));
    say(&mut run, 0, InProgress, json!({"kept": 1, "said": "before"}));
    signal(&mut run, Completed, json!({"said": "yes"})).expect("w waits");
    run.reads(&["RUNNING", "w 0 COMPLETED", "timed 0 IN_PROGRESS"]);
    assert_eq!(run.attempt("w", 0).output.value(), json!({"kept": 1, "said": "yes"}));
    signal(&mut run, Completed, json!({})).expect("one with a deadline is answered too");
    run.reads(&["COMPLETED", "w 0 COMPLETED", "timed 0 COMPLETED"]);
}

#[test]
fn a_signal_with_nothing_to_answer_is_refused_and_changes_nothing() {
    for kind in ["HUMAN", "SIMPLE"] {
        let mut run = Bench::start(flow(&[waiting(kind, json!({}))]), json!({}));
        let refused = signal(&mut run, Completed, json!({})).expect_err("no WAIT is open");
        assert_eq!(refused, Stop::Rejected(Rejection::NothingPending), "{kind}");
    }
}

#[test]
fn a_signal_that_fails_a_wait_fails_the_run() {
    let mut run = Bench::start(flow(&[waiting("WAIT", json!({}))]), json!({}));
    signal(&mut run, FailedWithTerminalError, json!({})).expect("w waits");
    run.reads(&["FAILED", "w 0 FAILED_WITH_TERMINAL_ERROR"]);
}

#[test]
fn a_yield_waits_without_a_deadline_whatever_it_is_given() {
    let steps = [waiting("YIELD", json!({"duration": "1s"})), step("a", json!({}))];
    let mut run = Bench::start(flow(&steps), json!({}));
    run.tick(100_000);
    run.reads(&["RUNNING", "w 0 IN_PROGRESS"]);
    assert!(run.attempt("w", 0).is_blocking());
    assert_eq!(run.execution.first_wait().map(|task| task.id), Some(run.attempt("w", 0).id));
    signal(&mut run, InProgress, json!({"seen": 1})).expect("w yields");
    run.reads(&["RUNNING", "w 0 IN_PROGRESS"]);
    signal(&mut run, Completed, json!({"said": "yes"})).expect("w yields");
    run.reads(&["RUNNING", "w 0 COMPLETED", "a 0 SCHEDULED"]);
    assert_eq!(run.attempt("w", 0).output.value(), json!({"seen": 1, "said": "yes"}));
}

#[test]
fn signals_answer_yields_and_waits_in_the_order_they_were_scheduled_and_no_human_task() {
    let other = |name: &str, kind: &str| with(waiting(kind, json!({})), named(name));
    let branches = json!([[other("h", "HUMAN")], [other("y", "YIELD")], [other("w", "WAIT")]]);
    let fork = with(other("f", "FORK_JOIN"), json!({"forkTasks": branches}));
    let join = with(other("j", "JOIN"), json!({"joinOn": ["h", "y", "w"]}));
    let mut run = Bench::start(flow(&[fork, join]), json!({}));
    signal(&mut run, Completed, json!({})).expect("y yields");
    assert_eq!(run.attempt("y", 0).status.as_str(), "COMPLETED");
    signal(&mut run, Completed, json!({})).expect("w waits");
    assert_eq!(run.attempt("w", 0).status.as_str(), "COMPLETED");
    signal(&mut run, Completed, json!({})).expect_err("a person is not signalled");
}
