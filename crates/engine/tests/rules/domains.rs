//! # Domains: which workers are asked, and who answers that
//!
//! Rules: docs/reference/rules/queues.md#domains.

use std::collections::BTreeSet;

use semel_engine::{Answer, Asked, Change, Event};
use semel_model::TaskResultStatus::{Failed, InProgress};
use semel_model::{Digest, TaskId};
use serde_json::{Value, json};

use crate::bench::Bench;
use crate::shapes::{Said, flow, step};

fn one_step(domains: &[(&str, &str)]) -> Bench {
    let policy = json!({"retryCount": 1, "retryDelaySeconds": 0});
    Bench::start_in(flow(&[step("a", policy)]), json!({}), domains)
}

fn open_question(run: &Bench, attempt: u32) -> (TaskId, Asked) {
    let task = run.attempt("a", attempt);
    let question = task.question.clone().expect("something is asked");
    (task.id, question)
}

/// Answers the open question about that attempt.
fn answer(run: &mut Bench, attempt: u32, active: &[&str]) -> Vec<Change> {
    let (task, question) = open_question(run, attempt);
    let question = question.digest(task);
    answer_to(run, task, question, active)
}

fn answer_to(run: &mut Bench, task: TaskId, question: Digest, active: &[&str]) -> Vec<Change> {
    let active: BTreeSet<String> = active.iter().map(|name| (*name).to_owned()).collect();
    let answer = Answer::ActiveDomains(active);
    run.happen(Event::Answered { task, question, answer }, &[]).expect("an answer is not refused")
}

#[test]
fn one_domain_is_used_as_it_is() {
    for (domains, queue) in [
        (vec![], "a_def"),
        (vec![("*", "eu")], "eu:a_def"),
        (vec![("*", "eu"), ("a_def", "us")], "us:a_def"),
        (vec![("a", "us")], "a_def"),
        (vec![("a_def", "NO_DOMAIN")], "a_def"),
        (vec![("*", "eu"), ("a_def", "NO_DOMAIN")], "a_def"),
        (vec![("*", " eu ")], "eu:a_def"),
        (vec![("*", "")], "a_def"),
    ] {
        let run = one_step(&domains);
        assert_eq!(run.row("a").queue.to_string(), queue, "{domains:?}");
        run.replay();
    }
}

#[test]
fn of_several_domains_the_active_one_is_asked_for_and_nothing_is_offered_before() {
    let mut run = one_step(&[("a_def", "canary,stable,NO_DOMAIN")]);
    run.reads(&["RUNNING", "a 0 SCHEDULED"]);
    assert!(run.rows.is_empty());
    assert_eq!(run.execution.wake_at().map(|at| run.seconds(at)), Some(5));
    let (_, question) = open_question(&run, 0);
    let domains = ["canary", "stable", "NO_DOMAIN"].map(str::to_owned).to_vec();
    assert_eq!(
        question.question,
        semel_engine::Question::ActiveDomains { task_type: "a_def".to_owned(), domains }
    );
    answer(&mut run, 0, &["stable"]);
    assert_eq!(run.row("a").queue.to_string(), "stable:a_def");
    assert_eq!(run.execution.wake_at(), None);
    run.complete("a", json!({}));
    run.reads(&["COMPLETED", "a 0 COMPLETED"]);
}

#[test]
fn without_an_active_domain_the_last_of_the_list_is_used() {
    for (list, active, queue) in [
        ("canary,stable", vec![], "stable:a_def"),
        ("canary,stable", vec!["other"], "stable:a_def"),
        ("canary,NO_DOMAIN", vec![], "a_def"),
        ("NO_DOMAIN,canary", vec!["NO_DOMAIN"], "canary:a_def"),
        ("canary,stable", vec!["canary", "stable"], "canary:a_def"),
    ] {
        let mut run = one_step(&[("*", list)]);
        answer(&mut run, 0, &active);
        assert_eq!(run.row("a").queue.to_string(), queue, "{list} {active:?}");
        run.replay();
    }
}

#[test]
fn an_answer_to_another_question_is_ignored() {
    let mut run = one_step(&[("*", "x,y")]);
    let (task, question) = open_question(&run, 0);
    let other = TaskId::from_bytes([1; 16]);
    assert_eq!(answer_to(&mut run, task, Digest::of(b"other"), &["x"]), []);
    assert_eq!(answer_to(&mut run, task, question.digest(other), &["x"]), []);
    assert_eq!(answer_to(&mut run, other, question.digest(task), &["x"]), []);
    assert!(run.rows.is_empty());
    answer(&mut run, 0, &["x"]);
    let late = answer_to(&mut run, task, question.digest(task), &["y"]);
    assert_eq!(late, [], "the first answer stands");
    assert_eq!(run.row("a").queue.to_string(), "x:a_def");
    run.reads(&["RUNNING", "a 0 SCHEDULED"]);
}

#[test]
fn a_question_is_asked_again_when_nobody_answers() {
    let mut run = one_step(&[("*", "x,y")]);
    run.advance(4);
    assert_eq!(run.wake(), []);
    run.advance(1);
    let asked = run.wake();
    assert!(matches!(asked.as_slice(), [Change::AskedAgain { .. }]), "{asked:?}");
    assert_eq!(run.execution.wake_at().map(|at| run.seconds(at)), Some(10));
    run.tick(50);
    answer(&mut run, 0, &["y"]);
    assert_eq!(run.row("a").queue.to_string(), "y:a_def");
    assert_eq!(run.execution.wake_at(), None);
    run.replay();
}

#[test]
fn a_run_can_be_terminated_while_it_asks() {
    let mut run = one_step(&[("*", "x,y")]);
    let (task, question) = open_question(&run, 0);
    run.terminate("enough").unwrap();
    run.reads(&["TERMINATED", "a 0 CANCELED"]);
    assert_eq!(run.execution.wake_at(), None);
    assert_eq!(answer_to(&mut run, task, question.digest(task), &["x"]), []);
    assert!(run.rows.is_empty());
}

#[test]
fn every_attempt_asks_anew() {
    let mut run = one_step(&[("*", "x,y")]);
    answer(&mut run, 0, &["x"]);
    run.fail("a", Failed, "no");
    run.reads(&["RUNNING", "a 0 FAILED", "a 1 SCHEDULED"]);
    assert!(run.rows.is_empty());
    answer(&mut run, 1, &["y"]);
    assert_eq!(run.row("a").queue.to_string(), "y:a_def");
    run.replay();
}

#[test]
fn an_answer_while_paused_places_the_task_and_does_not_arm_it() {
    let policy = json!({"pollTimeoutSeconds": 10, "timeoutPolicy": "RETRY", "retryCount": 0});
    let definition: Value = flow(&[step("a", policy)]);
    let mut run = Bench::start_in(definition, json!({}), &[("*", "x,y")]);
    run.pause();
    run.tick(100);
    assert_eq!(run.execution.wake_at(), None, "questions wait too");
    answer(&mut run, 0, &["x"]);
    run.tick(100);
    run.reads(&["PAUSED", "a 0 SCHEDULED"]);
    run.resume();
    run.tick(0);
    run.reads(&["TIMED_OUT", "a 0 TIMED_OUT"]);
}

#[test]
fn a_question_left_open_by_a_pause_is_asked_again_after_the_resume() {
    let mut run = one_step(&[("*", "x,y")]);
    run.pause();
    run.tick(100);
    run.resume();
    assert_eq!(run.execution.wake_at().map(|at| run.seconds(at)), Some(5));
    run.tick(0);
    assert_eq!(run.execution.wake_at().map(|at| run.seconds(at)), Some(105));
    run.reads(&["RUNNING", "a 0 SCHEDULED"]);
}

#[test]
fn a_callback_keeps_the_domain() {
    let mut run = one_step(&[("*", "x,y")]);
    answer(&mut run, 0, &["y"]);
    let said = Said { status: InProgress, ..run.claim("a", "ann") };
    run.report(&said).unwrap();
    assert_eq!(run.row("a").queue.to_string(), "y:a_def");
    run.replay();
}

#[test]
fn a_task_that_is_not_offered_yet_can_be_answered_for() {
    let mut run = one_step(&[("*", "x,y")]);
    let task = run.attempt("a", 0).id;
    let said = Said::new(task, semel_model::TaskResultStatus::Completed);
    run.report(&said).unwrap();
    run.reads(&["COMPLETED", "a 0 COMPLETED"]);
    assert_eq!(run.execution.wake_at(), None);
}
