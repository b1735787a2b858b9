//! # Fencing: whose report counts (contract 4)

use semel_engine::{Change, Rejection, Stop};
use semel_model::TaskResultStatus::{Completed, Failed, InProgress};
use serde_json::json;

use crate::bench::Bench;
use crate::shapes::{Said, flow, step};

fn one_step() -> Bench {
    Bench::start(flow(&[step("a", json!({"retryCount": 1, "retryDelaySeconds": 0}))]), json!({}))
}

#[derive(Debug, PartialEq)]
enum Verdict {
    Applied,
    Repeated,
    Stale,
}

fn verdict(result: Result<Vec<Change>, Stop>) -> Verdict {
    match result {
        Ok(changes) if changes.is_empty() => Verdict::Repeated,
        Ok(_) => Verdict::Applied,
        Err(Stop::Rejected(Rejection::Stale(_))) => Verdict::Stale,
        Err(stop) => panic!("neither taken nor stale: {stop:?}"),
    }
}

/// The task is leased to ann under fence 2; fence 1 was given back before.
fn leased() -> (Bench, Said) {
    let mut run = one_step();
    let first = run.claim("a", "bob");
    run.report(&Said { status: InProgress, ..first }).expect("bob gives it back");
    let second = run.claim("a", "ann");
    assert_eq!(second.fence, Some(2));
    (run, second)
}

#[test]
fn the_table_of_contract_4_holds_for_a_leased_task() {
    for (fence, worker, wanted) in [
        (Some(2), Some("ann"), Verdict::Applied),
        (Some(2), Some("bob"), Verdict::Applied),
        (Some(2), None, Verdict::Applied),
        (Some(1), Some("ann"), Verdict::Stale),
        (Some(1), None, Verdict::Stale),
        (Some(3), Some("ann"), Verdict::Stale),
        (Some(0), Some("ann"), Verdict::Stale),
        (None, Some("ann"), Verdict::Applied),
        (None, Some("bob"), Verdict::Stale),
        (None, None, Verdict::Applied),
    ] {
        let (mut run, said) = leased();
        let found = verdict(run.report(&said.fence(fence).worker(worker)));
        let applied = found == Verdict::Applied;
        assert_eq!(found, wanted, "fence {fence:?} of worker {worker:?}");
        let status = if applied { "a 0 COMPLETED" } else { "a 0 SCHEDULED" };
        run.reads(&[if applied { "COMPLETED" } else { "RUNNING" }, status]);
    }
}

#[test]
fn the_table_of_contract_4_holds_for_a_task_nobody_took() {
    for (fence, worker, wanted) in [
        (None, Some("ann"), Verdict::Applied),
        (None, None, Verdict::Applied),
        (Some(1), Some("ann"), Verdict::Stale),
        (Some(0), Some("ann"), Verdict::Stale),
    ] {
        let mut run = one_step();
        let said = Said::new(run.attempt("a", 0).id, Completed).fence(fence).worker(worker);
        assert_eq!(verdict(run.report(&said)), wanted, "fence {fence:?} of worker {worker:?}");
        run.replay();
    }
}

#[test]
fn the_table_of_contract_4_holds_for_a_task_given_back() {
    for (fence, worker, wanted) in [
        (Some(1), Some("bob"), Verdict::Applied),
        (Some(2), Some("bob"), Verdict::Stale),
        (None, Some("bob"), Verdict::Applied),
        (None, Some("ann"), Verdict::Applied),
        (None, None, Verdict::Applied),
    ] {
        let mut run = one_step();
        let said = run.claim("a", "bob");
        run.report(&Said { status: InProgress, ..said.clone() }).unwrap();
        let found = verdict(run.report(&said.fence(fence).worker(worker)));
        assert_eq!(found, wanted, "fence {fence:?} of worker {worker:?}");
        run.replay();
    }
}

#[test]
fn the_table_of_contract_4_holds_for_a_closed_task() {
    for (fence, worker) in
        [(Some(2), Some("ann")), (None, Some("ann")), (None, None), (Some(1), Some("bob"))]
    {
        let (mut run, said) = leased();
        let accepted = said.clone().output(json!({"by": "ann"}));
        run.report(&accepted).unwrap();
        let other = said.fence(fence).worker(worker).output(json!({"by": "another"}));
        assert_eq!(verdict(run.report(&other)), Verdict::Stale);
        assert_eq!(verdict(run.report(&accepted)), Verdict::Repeated, "byte-equal");
        assert_eq!(run.output(), json!({"by": "ann"}));
        run.reads(&["COMPLETED", "a 0 COMPLETED"]);
    }
}

#[test]
fn a_repeated_failure_is_repeated_and_costs_no_second_attempt() {
    let mut run = one_step();
    let said = Said { status: Failed, ..run.claim("a", "ann").reason("x") };
    run.report(&said).unwrap();
    assert_eq!(verdict(run.report(&said)), Verdict::Repeated);
    run.reads(&["RUNNING", "a 0 FAILED", "a 1 SCHEDULED"]);
    run.claim("a", "ann");
    assert_eq!(verdict(run.report(&said)), Verdict::Repeated);
    run.reads(&["RUNNING", "a 0 FAILED", "a 1 SCHEDULED"]);
}

#[test]
fn a_worker_that_wakes_after_its_timeout_is_stale() {
    let policy = json!({"responseTimeoutSeconds": 60, "retryCount": 3, "retryDelaySeconds": 0});
    let mut run = Bench::start(flow(&[step("charge", policy), step("ship", json!({}))]), json!({}));
    let ann = run.claim("charge", "ann").output(json!({"charge": "ch_2"}));
    run.tick(61);
    let bob = run.claim("charge", "bob").output(json!({"charge": "ch_1"}));
    assert_eq!(verdict(run.report(&ann)), Verdict::Stale);
    run.report(&bob).unwrap();
    assert_eq!(verdict(run.report(&ann)), Verdict::Stale);
    assert_eq!(verdict(run.report(&ann.fence(None))), Verdict::Stale);
    run.reads(&["RUNNING", "charge 0 TIMED_OUT", "charge 1 COMPLETED", "ship 0 SCHEDULED"]);
    assert_eq!(run.attempt("charge", 1).output.value(), json!({"charge": "ch_1"}));
}

#[test]
fn a_lease_without_a_name_is_answered_by_whoever_answers() {
    let mut run = one_step();
    let said = run.claim_as("a", None).fence(None).worker(Some("ann"));
    assert_eq!(verdict(run.report(&said)), Verdict::Applied);
    assert_eq!(run.attempt("a", 0).worker.as_deref(), Some("ann"));
    run.replay();
}

#[test]
fn the_journal_keeps_who_held_the_task_and_under_which_fence() {
    let (mut run, said) = leased();
    run.report(&said).unwrap();
    let task = run.attempt("a", 0);
    assert_eq!((task.worker.as_deref(), task.fence, task.polls), (Some("ann"), Some(2), 2));
    run.replay();
}

#[test]
fn a_by_name_update_waits_for_the_lease_unless_forced() {
    let (mut run, _) = leased();
    let person = Said::new(run.attempt("a", 0).id, Completed).output(json!({"by": "hand"}));
    let refused = run.name("a", false, &person);
    assert!(matches!(refused, Err(Stop::Rejected(Rejection::WrongState(_)))), "{refused:?}");
    run.reads(&["RUNNING", "a 0 SCHEDULED"]);
    run.name("a", true, &person).unwrap();
    run.reads(&["COMPLETED", "a 0 COMPLETED"]);
    assert_eq!(run.output(), json!({"by": "hand"}));
}

#[test]
fn the_holder_is_stale_after_a_forced_update() {
    let (mut run, said) = leased();
    let person = Said::new(said.task, InProgress).callback(60);
    run.name("a", true, &person).unwrap();
    assert!(!run.row("a").hand_out.leased, "the lease has ended");
    run.advance(60);
    let next = run.claim("a", "cid");
    assert_eq!(verdict(run.report(&said)), Verdict::Stale);
    assert_eq!(verdict(run.report(&next)), Verdict::Applied);
    run.reads(&["COMPLETED", "a 0 COMPLETED"]);
}
