//! # Explanations: what only the engine sees, and what lasts too short for a server to show

use semel_engine::{Event, Progress, Slot, Start, Surroundings, explain, needs};
use semel_model::{Explanation, NoteKind, TaskResultStatus, WaitKind};
use serde_json::json;

use crate::bench::Bench;
use crate::shapes::{flow, fork, join, noop, once, payload, repeat, system};

fn explained(run: &Bench) -> Explanation {
    explain(&run.execution, &around(run))
}

fn around(run: &Bench) -> Surroundings {
    let deliveries = run.rows.clone();
    Surroundings { now: run.now, deliveries, ..Surroundings::default() }
}

#[track_caller]
fn says(run: &Bench, kinds: &[WaitKind], words: &str) {
    let explained = explained(run);
    let found: Vec<WaitKind> = explained.waits.iter().map(|wait| wait.kind).collect();
    assert_eq!(found, kinds, "{explained:#?}");
    let text = explained.sentences().join("\n");
    assert!(text.contains(words), "{words:?} is not in:\n{text}");
}

#[test]
fn a_task_waits_for_its_script() {
    let inline = system("s", "INLINE", json!({"inputParameters": {"expression": "one()"}}));
    says(&Bench::start(flow(&[inline]), json!({})), &[WaitKind::Script], "s (INLINE) waits for");
    let condition = json!({"evaluatorType": "javascript", "expression": "'a'.trim()",
        "decisionCases": {"a": [once("x")]}});
    let run = Bench::start(flow(&[system("w", "SWITCH", condition)]), json!({}));
    says(&run, &[WaitKind::Script], "w (SWITCH) waits for its script");
}

#[test]
fn a_loop_waits_for_its_iteration_and_then_for_its_condition() {
    let mut run = Bench::start(flow(&[repeat("l", &[once("a")])]), json!({}));
    let kinds = [WaitKind::Loop, WaitKind::NoWorker];
    says(&run, &kinds, "l is in iteration 1 and waits for a__1");
    let by = &explained(&run).waits[0].blocked_by[0];
    assert_eq!((by.name.as_str(), by.task_id), ("a__1", Some(run.attempt("a__1", 0).id)));
    run.complete("a__1", json!({}));
    let told = explained(&run);
    assert!(
        told.waits.iter().all(|wait| wait.kind != WaitKind::Engine),
        "an open loop says what it waits for: {told:#?}"
    );
}

#[test]
fn answers_that_came_before_their_tasks_are_told() {
    let steps = [once("a"), system("w", "WAIT", json!({})), system("h", "HUMAN", json!({}))];
    let mut run = Bench::start(flow(&steps), json!({}));
    assert_eq!(explained(&run).notes, []);
    let progress = |status| Progress {
        status,
        output: Slot(0),
        reason: None,
        worker: None,
        callback_after_seconds: 0,
    };
    let signal =
        Event::Signalled { progress: progress(TaskResultStatus::Completed), may_wait: true };
    run.happen(signal, &[payload(&json!({}))]).unwrap();
    let progress = progress(TaskResultStatus::Failed);
    let reference = "h".to_owned();
    let named = Event::Named { reference, force: false, progress, distinct: false };
    run.happen(named, &[payload(&json!({}))]).unwrap();
    let told = explained(&run);
    let kinds: Vec<_> = told.notes.iter().map(|note| note.kind).collect();
    assert_eq!(kinds, [NoteKind::KeptAnswers, NoteKind::KeptAnswers]);
    assert_eq!(told.notes[1].task_reference_name.as_deref(), Some("h"));
    let text = told.sentences().join("\n");
    assert!(
        text.contains("The next WAIT or YIELD has 1 answer before its task is there"),
        "{text}"
    );
    assert!(text.contains("h has 1 answer before its task is there: FAILED, said"), "{text}");
    run.complete("a", json!({}));
    assert_eq!(explained(&run).notes, []);
}

#[test]
fn a_task_waits_until_its_domain_is_chosen() {
    let run = Bench::start_in(flow(&[once("a")]), json!({}), &[("a_def", "canary,stable")]);
    says(&run, &[WaitKind::ChoosesDomain], "in which of the domains canary, stable workers poll");
}

#[test]
fn a_join_names_what_it_waits_for() {
    let steps = [fork("f", &[&[once("a"), once("z")], &[once("b")]]), join("j", &["z", "b"])];
    let mut run = Bench::start(flow(&steps), json!({}));
    let kinds = [WaitKind::NoWorker, WaitKind::NoWorker, WaitKind::Join];
    says(&run, &kinds, "j waits for 2 of 2 branches: z (not begun), b (SCHEDULED)");
    run.complete("b", json!({}));
    says(&run, &[WaitKind::NoWorker, WaitKind::Join], "j waits for 1 of 2 branches: z (not begun)");
    let told = explained(&run);
    let by: Vec<&str> = told.waits[1].blocked_by.iter().map(|by| by.name.as_str()).collect();
    assert_eq!(by, ["z"]);
}

#[test]
fn a_parked_run_says_why_and_what_to_do() {
    let run = Bench::start(flow(&[once("a")]), json!({}));
    let parked = Some("the engine panicked".to_owned());
    let told = explain(&run.execution, &Surroundings { parked, ..around(&run) });
    assert_eq!(told.waits[0].kind, WaitKind::Parked);
    let unpark = format!("let it go on: semel workflow unpark {}", run.execution.id());
    assert!(told.sentences().join("\n").contains(&unpark), "{told:#?}");
    assert!(told.waits[0].docs.ends_with("docs/trouble.md#parked"));
}

#[test]
fn a_paused_run_between_two_steps_still_says_that_it_is_paused() {
    let mut run = Bench::start(flow(&[once("a"), once("b")]), json!({}));
    run.pause();
    run.complete("a", json!({}));
    says(&run, &[WaitKind::Paused], "Let it go on: semel workflow resume");
}

#[test]
fn a_run_that_begins_runs_in_its_next_commit_says_so() {
    let start = json!({"inputParameters": {"startWorkflow": {"name": "other"}}});
    let mut run = Bench::unborn(flow(&[system("s", "START_WORKFLOW", start)]));
    let born = Start { born: true, ..run.plain_start() };
    run.happen(Event::Started(born), &[payload(&json!({}))]).expect("a run begins");
    says(&run, &[WaitKind::StartWorkflow], "s (START_WORKFLOW) is about to start its run");
}

#[test]
fn a_run_whose_steps_go_on_in_the_next_commit_is_between_two_steps() {
    let steps: Vec<_> = (0..1_050).map(|n| noop(&format!("n{n}"))).collect();
    let run = Bench::start(flow(&steps), json!({}));
    says(&run, &[WaitKind::BetweenSteps], "No task is open: the run is between two steps.");
}

#[test]
fn only_so_many_tasks_are_explained_and_the_rest_is_counted() {
    let steps: Vec<_> = (0..150).map(|n| once(&format!("t{n}"))).collect();
    let branches: Vec<&[serde_json::Value]> = steps.iter().map(std::slice::from_ref).collect();
    let run = Bench::start(flow(&[fork("f", &branches), join("j", &[])]), json!({}));
    let told = explained(&run);
    assert_eq!((told.waits.len(), told.more_tasks), (100, 50));
    assert_eq!(told.sentences().last().unwrap(), "50 more tasks are open.");
    assert_eq!(needs(&run.execution).offered.len(), 100);
}
