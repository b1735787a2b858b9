//! # Flows that one commit does not hold: forks, chains and ends that go on in the next

use semel_engine::{Change, Entry, Rejection, Stop};
use semel_model::{TaskStatus, WorkflowStatus};
use serde_json::{Value, json};

use crate::bench::Bench;
use crate::shapes::{dynamic_fork, flow, fork, join, noop, once, repeat};

/// More than one commit holds.
const MANY: usize = 1_050;

fn simple(at: usize) -> Value {
    json!({"name": "w", "taskReferenceName": format!("w{at}"), "type": "SIMPLE"})
}

/// A static fork of these branches, and its JOIN on all of them.
fn wide(branches: &[Value]) -> Vec<Value> {
    let names: Vec<&str> =
        branches.iter().filter_map(|step| step["taskReferenceName"].as_str()).collect();
    let heads: Vec<&[Value]> = branches.iter().map(std::slice::from_ref).collect();
    vec![fork("f", &heads), join("j", &names)]
}

fn many_workers() -> Bench {
    let branches: Vec<Value> = (0..MANY).map(simple).collect();
    Bench::start(flow(&wide(&branches)), json!({}))
}

fn inputs() -> Value {
    json!({"forkTaskName": "w", "forkTaskInputs": vec![json!({"retryCount": 0}); MANY]})
}

#[test]
fn a_fork_of_more_branches_than_one_commit_holds_begins_over_several() {
    let mut run = many_workers();
    let begun = run.rows.len();
    assert!(begun < MANY, "the first commit begins some: {begun}");
    assert!(run.execution.latest("j").is_none(), "the JOIN comes with the last");
    assert_eq!(run.execution.wake_at(), Some(run.now), "the rest is due at once");
    assert!(run.carry_on() > 0);
    assert_eq!(run.rows.len(), MANY);
    assert_eq!(run.latest("j").status, TaskStatus::InProgress);
    run.replay();
}

#[test]
fn branches_that_end_before_the_others_have_begun_are_joined_all_the_same() {
    let mut run = many_workers();
    let begun = run.rows.len();
    run.complete("w0", json!({"v": 0}));
    assert!(run.rows.len() > begun, "any event takes up what was left");
    run.carry_on();
    for at in 1..MANY {
        run.complete(&format!("w{at}"), json!({"v": at}));
    }
    assert_eq!(run.status(), WorkflowStatus::Completed);
    assert_eq!(run.output_at("j").as_object().map(serde_json::Map::len), Some(MANY));
}

#[test]
fn a_dynamic_fork_begins_over_several_commits_too() {
    let steps = [dynamic_fork("f", inputs()), join("j", &[])];
    let mut run = Bench::start(flow(&steps), json!({}));
    assert!(run.rows.len() < MANY);
    run.carry_on();
    assert_eq!(run.rows.len(), MANY);
    assert_eq!(run.input_at("j")["joinOn"].as_array().map(Vec::len), Some(MANY));
    run.replay();
}

/// Tasks that one commit begins or ends, at most about.
const STEPS_MAX: usize = 500;

/// How many tasks each commit has begun, in the order of the journal.
fn begun_by_commit(run: &Bench) -> Vec<usize> {
    let entry = |bytes: &Vec<u8>| serde_json::from_slice::<Entry>(bytes).expect("an entry");
    let begun = |entry: Entry| {
        let is_begun = |change: &&Change| matches!(change, Change::TaskScheduled { .. });
        entry.changes.iter().filter(is_begun).count()
    };
    run.journal.iter().map(entry).map(begun).collect()
}

#[test]
fn no_commit_of_a_wide_fork_holds_more_than_its_share() {
    let dynamic = flow(&[dynamic_fork("f", inputs()), join("j", &[])]);
    for mut run in [many_workers(), Bench::start(dynamic, json!({}))] {
        run.carry_on();
        let begun = begun_by_commit(&run);
        assert_eq!(begun.iter().sum::<usize>(), MANY + 2, "the fork, its branches and the JOIN");
        assert!(begun.iter().all(|count| *count <= STEPS_MAX + 1), "{begun:?}");
        assert!(begun.len() > 2, "{begun:?}");
    }
}

#[test]
fn a_wide_dynamic_fork_is_read_in_one_commit_defined_in_the_next_and_begun_in_others() {
    let steps = [dynamic_fork("f", inputs()), join("j", &[])];
    let mut run = Bench::start(flow(&steps), json!({}));
    assert_eq!(run.latest("f").status, TaskStatus::Scheduled);
    assert_eq!((run.rows.len(), run.execution.wake_at()), (0, Some(run.now)));
    let changes = run.wake();
    assert!(changes.iter().any(|change| matches!(change, Change::Defined { .. })));
    assert_eq!((run.rows.len(), run.latest("f").status), (0, TaskStatus::Completed));
    run.wake();
    assert_eq!(run.rows.len(), STEPS_MAX);
    run.carry_on();
    assert_eq!(run.rows.len(), MANY);
    run.replay();
}

#[test]
fn a_wide_dynamic_fork_can_be_paused_and_ended_before_it_is_defined() {
    let steps = [dynamic_fork("f", inputs()), join("j", &[])];
    let mut run = Bench::start(flow(&steps), json!({}));
    run.pause();
    assert_eq!(run.execution.wake_at(), None);
    let mut ended = run.clone();
    run.resume();
    run.carry_on();
    assert_eq!(run.rows.len(), MANY);
    run.replay();
    ended.terminate("enough").unwrap();
    ended.carry_on();
    assert_eq!((ended.status(), ended.rows.len()), (WorkflowStatus::Terminated, 0));
    ended.replay();
}

#[test]
fn a_chain_of_steps_that_run_at_once_goes_on_over_several_commits() {
    let steps: Vec<Value> = (0..MANY).map(|at| noop(&format!("n{at}"))).collect();
    let mut run = Bench::start(flow(&steps), json!({}));
    assert_eq!(run.status(), WorkflowStatus::Running);
    assert!(run.carry_on() > 1);
    assert_eq!(run.count(TaskStatus::Completed), MANY);
    assert_eq!(run.status(), WorkflowStatus::Completed);
    run.replay();
}

#[test]
fn a_long_list_is_looped_over_in_several_commits() {
    let steps = [crate::shapes::for_each("l", &[noop("n")])];
    let mut run = Bench::start(flow(&steps), json!({"items": vec![0; MANY]}));
    assert_eq!(run.status(), WorkflowStatus::Running);
    run.carry_on();
    assert_eq!(run.status(), WorkflowStatus::Completed);
    assert_eq!(run.output_at("l")["iteration"], MANY);
    run.replay();
}

#[test]
fn a_wake_that_comes_twice_does_not_begin_anything_twice() {
    let mut run = many_workers();
    run.carry_on();
    assert_eq!(run.wake(), vec![]);
    assert_eq!(run.rows.len(), MANY);
}

#[test]
fn a_run_of_more_open_tasks_than_one_commit_holds_is_closed_at_once_and_cancels_the_rest() {
    let mut run = many_workers();
    run.carry_on();
    let changes = run.terminate("enough").unwrap();
    assert!(changes.iter().any(|change| matches!(change, Change::Remaining { .. })));
    assert_eq!(run.status(), WorkflowStatus::Terminated);
    assert!(!run.rows.is_empty(), "some are still to be taken back");
    run.carry_on();
    assert_eq!(run.count(TaskStatus::Canceled), MANY + 1);
    assert_eq!((run.rows.len(), run.execution.wake_at()), (0, None));
    run.replay();
}

#[test]
fn a_run_that_is_still_cancelling_is_not_revived_and_then_it_is() {
    let mut run = many_workers();
    run.carry_on();
    run.terminate("enough").unwrap();
    let refused = run.retry();
    assert!(matches!(refused, Err(Stop::Rejected(Rejection::WrongState(_)))));
    run.carry_on();
    run.retry().unwrap();
    run.carry_on();
    assert_eq!(run.rows.len(), MANY, "all of them are tried again");
    run.replay();
}

#[test]
fn a_run_that_ends_while_its_fork_still_begins_can_be_revived() {
    let mut run = many_workers();
    run.terminate("enough").unwrap();
    run.carry_on();
    assert_eq!(run.execution.open_count(), 0);
    run.retry().unwrap();
    run.carry_on();
    assert_eq!(run.rows.len(), MANY, "also those that had not begun");
    assert_eq!(run.latest("j").status, TaskStatus::InProgress);
    run.replay();
}

#[test]
fn a_pause_while_its_fork_still_begins_holds_the_rest_until_the_resume() {
    let mut run = many_workers();
    run.pause();
    assert_eq!(run.execution.wake_at(), None);
    let begun = run.rows.len();
    run.complete("w0", json!({}));
    assert_eq!(run.rows.len(), begun - 1);
    run.resume();
    run.carry_on();
    assert_eq!(run.rows.len(), MANY - 1);
    run.replay();
}

#[test]
fn a_loop_does_not_turn_while_a_fork_in_its_body_still_begins() {
    let branches: Vec<Value> =
        (0..MANY).map(|at| if at == 0 { once("x") } else { noop(&format!("n{at}")) }).collect();
    let mut run = Bench::start(flow(&[repeat("l", &wide(&branches))]), json!({}));
    assert!(run.execution.latest("j__1").is_none(), "the fork is not done");
    run.complete("x__1", json!({}));
    run.carry_on();
    assert_eq!(run.latest("j__1").status, TaskStatus::Completed);
    assert_eq!(run.latest("l").iteration(), 1);
    run.say("l", json!(false));
    assert_eq!(run.status(), WorkflowStatus::Completed);
    run.replay();
}

#[test]
fn a_jump_waits_until_a_fork_has_begun() {
    let branches: Vec<Value> = (0..MANY).map(simple).collect();
    let steps = [wide(&branches), vec![once("c")]].concat();
    let mut run = Bench::start(flow(&steps), json!({}));
    let refused = run.jump("c");
    assert!(matches!(refused, Err(Stop::Rejected(Rejection::WrongState(_)))));
    run.carry_on();
    run.jump("c").unwrap();
    run.carry_on();
    assert_eq!(run.rows.len(), 1);
    run.complete("c", json!({}));
    assert_eq!(run.status(), WorkflowStatus::Completed);
    run.replay();
}

/// So many branches at work, and a step behind them.
fn wide_and_behind() -> Bench {
    let branches: Vec<Value> = (0..MANY).map(simple).collect();
    let steps = [vec![once("a")], wide(&branches), vec![once("b"), once("c")]].concat();
    let mut run = Bench::start(flow(&steps), json!({}));
    run.complete("a", json!({}));
    run.carry_on();
    run
}

#[test]
fn a_jump_away_from_very_many_tasks_arrives_when_the_last_of_them_is_cancelled() {
    for (to, expected) in [("c", MANY + 1), ("a", 0)] {
        let mut run = wide_and_behind();
        let changes = run.jump(to).unwrap();
        assert!(changes.iter().any(|change| matches!(change, Change::Remaining { .. })));
        assert!(run.rows.len() < MANY && run.rows.len() > 1, "some are still to be taken back");
        assert!(run.rows.values().all(|row| row.reference != to), "it has not arrived");
        assert_eq!(run.jump(to), Ok(vec![]), "asked twice it is done once");
        run.carry_on();
        assert_eq!((run.rows.len(), run.latest(to).status), (1, TaskStatus::Scheduled), "{to}");
        assert_eq!(run.count(TaskStatus::Canceled), expected, "what will be done again is gone");
        assert_eq!(run.execution.wake_at(), None);
        run.complete(to, json!({}));
        run.replay();
    }
}

#[test]
fn what_ends_by_itself_while_a_run_jumps_leads_nowhere() {
    let mut run = wide_and_behind();
    run.jump("c").unwrap();
    let still_open = run.rows.values().next().expect("some are left").reference.clone();
    run.complete(&still_open, json!({}));
    run.carry_on();
    run.complete("c", json!({"done": true}));
    assert_eq!(run.status(), WorkflowStatus::Completed);
    assert_eq!(run.latest(&still_open).status, TaskStatus::Completed);
    assert_eq!(run.latest("b").status, TaskStatus::Skipped);
    assert_eq!(run.output(), json!({"done": true}));
    run.replay();
}

#[test]
fn a_run_that_jumps_is_not_changed_meanwhile_but_may_be_paused_and_ended() {
    let mut run = wide_and_behind();
    run.jump("c").unwrap();
    for refused in [run.jump("b"), run.skip("b")] {
        assert!(matches!(refused, Err(Stop::Rejected(Rejection::WrongState(_)))), "{refused:?}");
    }
    run.pause();
    let left = run.rows.len();
    assert_eq!(run.execution.wake_at(), None);
    let mut ended = run.clone();
    run.resume();
    run.carry_on();
    assert!(left > 1 && run.rows.len() == 1);
    run.complete("c", json!({}));
    assert_eq!(run.status(), WorkflowStatus::Completed);
    run.replay();
    ended.terminate("enough").unwrap();
    ended.carry_on();
    assert_eq!((ended.status(), ended.rows.len()), (WorkflowStatus::Terminated, 0));
    ended.retry().unwrap();
    ended.carry_on();
    ended.replay();
}

#[test]
fn many_ends_during_a_pause_are_followed_over_several_commits() {
    let steps = [dynamic_fork("f", inputs()), join("j", &[])];
    let mut run = Bench::start(flow(&steps), json!({}));
    run.carry_on();
    run.pause();
    for at in 0..MANY {
        run.complete(&format!("_w_{at}"), json!({"v": at}));
    }
    run.resume();
    run.carry_on();
    assert_eq!(run.status(), WorkflowStatus::Completed);
    assert_eq!(run.output_at("j").as_object().map(serde_json::Map::len), Some(MANY));
}
