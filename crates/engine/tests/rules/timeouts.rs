//! # Timeouts: what fires, by which policy, with which words (docs/reference/rules/timeouts.md)

use semel_engine::{Change, Entry, Timeout};
use serde_json::{Value, json};

use crate::bench::Bench;
use crate::shapes::{Said, flow, step, with};

const RETRIED: &[&str] = &["RUNNING", "a 0 TIMED_OUT", "a 1 SCHEDULED"];
const TIMED_OUT: &[&str] = &["TIMED_OUT", "a 0 TIMED_OUT"];
const UNTOUCHED: &[&str] = &["RUNNING", "a 0 SCHEDULED"];

fn one_step(policy: Value) -> Value {
    let quick = json!({"retryCount": 1, "retryDelaySeconds": 0, "responseTimeoutSeconds": 0});
    flow(&[step("a", with(quick, policy))])
}

/// Ten seconds pass under the setting; `claimed` says whether a worker took the task before.
fn passed(setting: &str, policy: &str, claimed: bool) -> Bench {
    let definition = one_step(json!({setting: 10, "timeoutPolicy": policy}));
    let mut run = Bench::start(definition, json!({}));
    if claimed {
        run.claim("a", "ann");
    }
    run.tick(9);
    run.reads(UNTOUCHED);
    run.tick(1);
    run
}

fn reason_of(run: &Bench) -> String {
    run.attempt("a", 0).reason.clone().expect("a timeout says why")
}

fn alerts(run: &Bench) -> Vec<Timeout> {
    let entries = run.journal.iter().map(|bytes| {
        let entry: Entry = serde_json::from_slice(bytes).expect("an entry reads back");
        entry.changes
    });
    let alerted = |change| match change {
        Change::TaskAlerted { timeout, .. } => Some(timeout),
        _ => None,
    };
    entries.flatten().filter_map(alerted).collect()
}

#[test]
fn a_response_timeout_fails_the_attempt_whatever_the_policy() {
    for policy in ["RETRY", "TIME_OUT_WF", "ALERT_ONLY"] {
        let run = passed("responseTimeoutSeconds", policy, true);
        run.reads(RETRIED);
        let id = run.attempt("a", 0).id;
        let wanted = format!(
            "responseTimeout: 10 exceeded for the taskId: {id} with Task Definition: a_def"
        );
        assert_eq!(reason_of(&run), wanted);
        assert_eq!(run.attempt("a", 1).reason, Some(wanted));
    }
}

#[test]
fn a_run_timeout_obeys_its_policy() {
    let words = |policy: &str| {
        format!(
            "Task timed out after 10 seconds. Timeout configured as 10 seconds. Timeout policy \
             configured to {policy}"
        )
    };
    let run = passed("timeoutSeconds", "RETRY", true);
    run.reads(RETRIED);
    assert_eq!(reason_of(&run), words("RETRY"));
    let run = passed("timeoutSeconds", "TIME_OUT_WF", true);
    run.reads(TIMED_OUT);
    assert_eq!(reason_of(&run), words("TIME_OUT_WF"));
    assert_eq!(run.reason(), words("TIME_OUT_WF"));
    assert_eq!(run.execution.failed_task(), Some(run.attempt("a", 0).id));
    let mut run = passed("timeoutSeconds", "ALERT_ONLY", true);
    run.tick(100);
    run.reads(UNTOUCHED);
    assert_eq!(alerts(&run), [Timeout::Run], "once");
}

#[test]
fn a_poll_timeout_obeys_its_policy() {
    let words = |policy: &str| {
        format!(
            "Task poll timed out after 10 seconds. Poll timeout configured as 10 seconds. Timeout \
             policy configured to {policy}"
        )
    };
    let run = passed("pollTimeoutSeconds", "RETRY", false);
    run.reads(RETRIED);
    assert_eq!(reason_of(&run), words("RETRY"));
    let run = passed("pollTimeoutSeconds", "TIME_OUT_WF", false);
    run.reads(TIMED_OUT);
    assert_eq!(run.reason(), words("TIME_OUT_WF"));
    let mut run = passed("pollTimeoutSeconds", "ALERT_ONLY", false);
    run.tick(100);
    run.reads(UNTOUCHED);
    assert_eq!(alerts(&run), [Timeout::Poll], "once");
    passed("pollTimeoutSeconds", "RETRY", true).reads(UNTOUCHED);
}

#[test]
fn a_total_timeout_obeys_its_policy() {
    for claimed in [false, true] {
        let words = |run: &Bench, policy: &str| {
            let id = run.attempt("a", 0).id;
            format!(
                "Task a_def/{id} exceeded total timeout of 10 seconds (elapsed 10 seconds across \
                 all attempts including retry delays). Timeout policy: {policy}"
            )
        };
        let run = passed("totalTimeoutSeconds", "RETRY", claimed);
        run.reads(TIMED_OUT);
        assert_eq!(reason_of(&run), words(&run, "RETRY"));
        assert!(run.reason().ends_with("No further retries will be attempted."));
        let run = passed("totalTimeoutSeconds", "TIME_OUT_WF", claimed);
        run.reads(TIMED_OUT);
        assert_eq!(run.reason(), words(&run, "TIME_OUT_WF"));
        let mut run = passed("totalTimeoutSeconds", "ALERT_ONLY", claimed);
        run.tick(100);
        run.reads(UNTOUCHED);
        assert_eq!(alerts(&run), [Timeout::Total], "once");
        assert_eq!(run.execution.wake_at(), None);
    }
}

#[test]
fn the_total_timeout_counts_over_attempts_and_the_delays_between_them() {
    let policy = json!({"totalTimeoutSeconds": 30, "timeoutPolicy": "TIME_OUT_WF",
        "responseTimeoutSeconds": 10, "retryDelaySeconds": 60, "retryCount": 3});
    let mut run = Bench::start(one_step(policy), json!({}));
    run.claim("a", "ann");
    run.tick(10);
    run.reads(RETRIED);
    assert_eq!(run.execution.wake_at().map(|at| run.seconds(at)), Some(30));
    run.tick(20);
    run.reads(&["TIMED_OUT", "a 0 TIMED_OUT", "a 1 TIMED_OUT"]);
    assert!(run.reason().contains("elapsed 30 seconds across all attempts including retry delays"));
}

#[test]
fn the_worked_example_of_section_4_holds() {
    let policy = json!({"timeoutPolicy": "RETRY", "retryCount": 1, "responseTimeoutSeconds": 10,
        "timeoutSeconds": 30, "retryDelaySeconds": 5});
    let mut run = Bench::start(one_step(policy), json!({}));
    run.claim("a", "ann");
    run.tick(10);
    run.reads(RETRIED);
    assert!(run.attempt("a", 0).replaced);
    assert_eq!(run.seconds(run.row("a").ready_at), 15);
    run.tick(5);
    run.claim("a", "bob");
    run.tick(9);
    run.reads(RETRIED);
    run.tick(1);
    run.reads(&["TIMED_OUT", "a 0 TIMED_OUT", "a 1 TIMED_OUT"]);
    let id = run.attempt("a", 1).id;
    let reason = format!(
        "Task {id} failed with status: TIMED_OUT and reason: 'responseTimeout: 10 exceeded for \
         the taskId: {id} with Task Definition: a_def'"
    );
    assert_eq!(run.reason(), reason);
}

#[test]
fn the_traces_e8_and_e9_hold() {
    let silent = json!({"responseTimeoutSeconds": 2, "timeoutPolicy": "ALERT_ONLY",
        "retryCount": 0});
    let mut run = Bench::start(one_step(silent), json!({}));
    run.claim("a", "ann");
    run.tick(2);
    run.reads(TIMED_OUT);
    let slow = json!({"timeoutSeconds": 2, "timeoutPolicy": "TIME_OUT_WF", "retryCount": 3});
    let optional =
        with(one_step(slow)["tasks"][0].take(), json!({"optional": true, "permissive": true}));
    let mut run = Bench::start(flow(&[optional]), json!({}));
    run.claim("a", "ann");
    run.tick(2);
    run.reads(TIMED_OUT);
}

#[test]
fn an_optional_task_that_times_out_for_good_is_absorbed_under_the_policy_retry() {
    let slow = json!({"timeoutSeconds": 2, "timeoutPolicy": "RETRY", "retryCount": 0});
    let optional = with(one_step(slow)["tasks"][0].take(), json!({"optional": true}));
    let mut run = Bench::start(flow(&[optional]), json!({}));
    run.claim("a", "ann");
    run.tick(2);
    run.reads(&["COMPLETED", "a 0 COMPLETED_WITH_ERRORS"]);
}

#[test]
fn the_run_timeout_of_a_retried_attempt_is_not_longer_by_its_delay() {
    let policy = json!({"timeoutSeconds": 10, "timeoutPolicy": "RETRY", "retryDelaySeconds": 60});
    let mut run = Bench::start(one_step(policy), json!({}));
    run.claim("a", "ann");
    run.tick(10);
    run.tick(60);
    run.claim("a", "bob");
    run.tick(10);
    run.reads(&["TIMED_OUT", "a 0 TIMED_OUT", "a 1 TIMED_OUT"]);
}

#[test]
fn the_poll_timeout_counts_from_when_the_task_can_be_seen() {
    let policy = json!({"pollTimeoutSeconds": 10, "timeoutPolicy": "RETRY",
        "retryDelaySeconds": 60, "retryCount": 1});
    let delayed = with(one_step(policy)["tasks"][0].take(), json!({"startDelay": 30}));
    let mut run = Bench::start(flow(&[delayed]), json!({}));
    run.tick(39);
    run.reads(UNTOUCHED);
    run.tick(1);
    run.reads(RETRIED);
    run.tick(69);
    run.reads(RETRIED);
    run.tick(1);
    run.reads(&["TIMED_OUT", "a 0 TIMED_OUT", "a 1 TIMED_OUT"]);
    assert!(run.reason().contains("Task poll timed out after 10 seconds."));
}

#[test]
fn a_silent_worker_is_noticed_whatever_its_step_says_of_completion() {
    let policy = json!({"responseTimeoutSeconds": 10, "timeoutSeconds": 100});
    let elsewhere = with(one_step(policy)["tasks"][0].take(), json!({"asyncComplete": true}));
    let mut run = Bench::start(flow(&[elsewhere]), json!({}));
    run.claim("a", "ann");
    run.tick(9);
    run.reads(UNTOUCHED);
    run.tick(1);
    run.reads(RETRIED);
}

#[test]
fn an_early_or_late_expiry_changes_nothing() {
    let policy = json!({"responseTimeoutSeconds": 10});
    let mut run = Bench::start(one_step(policy), json!({}));
    let said: Said = run.claim("a", "ann");
    run.advance(9);
    assert_eq!(run.expire(said.task), []);
    run.report(&said).unwrap();
    run.advance(9);
    assert_eq!(run.expire(said.task), []);
    run.reads(&["COMPLETED", "a 0 COMPLETED"]);
}
