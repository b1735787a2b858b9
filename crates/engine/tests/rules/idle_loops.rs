//! # Loops that go on by themselves have an end, and those that wait have none

use std::sync::Arc;

use semel_engine::{Event, Said as Verdict, Slot};
use semel_model::{ExecutionId, TaskResultStatus};
use serde_json::{Value, json};

use crate::bench::Bench;
use crate::children::{named, sub};
use crate::family::Family;
use crate::shapes::{Said, flow, for_each, noop, once, payload, repeat};

const TURNS_MAX: u32 = 5;

/// A loop over these steps, on a server that allows few idle turns.
fn looping(body: &[Value]) -> Bench {
    let mut run = Bench::start(flow(&[repeat("l", body)]), json!({}));
    run.turns_max = Some(TURNS_MAX);
    run
}

fn is_over(run: &Bench) -> bool {
    run.story()[0] != "RUNNING"
}

#[test]
fn a_loop_over_nothing_ends_at_the_limit_and_names_the_setting() {
    let mut run = looping(&[noop("n")]);
    for turn in 1..TURNS_MAX {
        run.say("l", json!(true));
        assert!(!is_over(&run), "after turn {turn}");
    }
    run.say("l", json!(true));
    let story = run.story();
    assert_eq!(&story[..2], ["FAILED", "l 0 FAILED_WITH_TERMINAL_ERROR"]);
    assert!(run.latest(&format!("n__{TURNS_MAX}")).status.is_successful());
    let reason = run.latest("l").reason.clone().unwrap_or_default();
    assert!(reason.starts_with("5 turns of loops in a row"), "{reason}");
    assert!(reason.contains("loop_turns_max") && reason.contains("LOOP_TURNS.md"), "{reason}");
    run.replay();
}

#[test]
fn a_report_of_a_worker_begins_the_count_anew() {
    let mut run = looping(&[once("w")]);
    for turn in 1..=4 * TURNS_MAX {
        run.complete(&format!("w__{turn}"), json!({}));
        run.say("l", json!(true));
    }
    assert!(!is_over(&run));
    run.replay();
}

#[test]
fn what_somebody_says_by_name_begins_the_count_anew() {
    for step in [
        once("w"),
        json!({"name": "w", "taskReferenceName": "w", "type": "WAIT"}),
        json!({"name": "w", "taskReferenceName": "w", "type": "HUMAN"}),
    ] {
        let mut run = looping(std::slice::from_ref(&step));
        for turn in 1..=4 * TURNS_MAX {
            let name = format!("w__{turn}");
            let said = Said::new(run.latest(&name).id, TaskResultStatus::Completed);
            run.name(&name, true, &said).expect("it is open");
            run.say("l", json!(true));
        }
        assert!(!is_over(&run), "{step}");
        run.replay();
    }
}

#[test]
fn a_turn_that_waited_begins_the_count_anew() {
    let mut run = looping(&[noop("n")]);
    for _ in 1..=4 * TURNS_MAX {
        run.advance(1);
        run.say("l", json!(true));
    }
    assert!(!is_over(&run));
    run.replay();
}

#[test]
fn a_loop_inside_a_loop_is_no_excuse() {
    let mut run = looping(&[repeat("inner", &[noop("n")])]);
    let mut turns = 0;
    for outer in 1..=TURNS_MAX {
        for goes_on in [true, false] {
            if !is_over(&run) {
                run.say(&format!("inner__{outer}"), json!(goes_on));
                turns += 1;
            }
        }
        if !is_over(&run) {
            run.say("l", json!(true));
            turns += 1;
        }
    }
    assert!(is_over(&run), "after {turns}");
    assert!(turns < 2 * TURNS_MAX + 2, "{turns}");
}

#[test]
fn a_list_ends_by_itself_however_long_it_is() {
    let items: Vec<u32> = (0..4 * TURNS_MAX).collect();
    let mut run = Bench::unborn(flow(&[for_each("l", &[noop("n")])]));
    run.turns_max = Some(TURNS_MAX);
    let begun = Event::Started(run.plain_start());
    run.happen(begun, &[payload(&json!({ "items": items }))]).expect("a run begins");
    assert_eq!(run.story()[0], "COMPLETED");
}

/// A loop over a child of that step. True: it has ended within four times the limit.
fn ends_over_child(step: Value, work: impl Fn(&mut Family, ExecutionId)) -> bool {
    let looping = named("parent", &[repeat("l", &[sub("s", "child")])]);
    let mut family = Family::of(&[named("child", &[step]), looping]);
    Arc::make_mut(&mut family.shelf).turns_max = Some(TURNS_MAX);
    let parent = family.start("parent", json!({}));
    for turn in 1..=4 * TURNS_MAX {
        let child = family.child(parent, &format!("s__{turn}"));
        work(&mut family, child);
        family.deliver_all();
        let goes_on = family.run(parent).answer("l", Verdict::Value(Slot(0)));
        family.tell(parent, goes_on, &[payload(&json!(true))]).expect("an answer is taken");
        if family.execution(parent).is_closed() {
            let reason =
                family.execution(parent).latest("l").expect("the loop is there").reason.clone();
            assert!(reason.is_some_and(|reason| reason.contains("loop_turns_max")));
            family.run(parent).replay();
            return true;
        }
    }
    family.run(parent).replay();
    false
}

#[test]
fn a_child_that_does_all_by_itself_is_no_excuse() {
    assert!(ends_over_child(noop("n"), |_, _| {}));
}

#[test]
fn a_child_that_a_worker_has_a_part_in_begins_the_count_anew() {
    let complete = |family: &mut Family, child| family.complete(child, "w", json!({}));
    assert!(!ends_over_child(once("w"), complete));
}
