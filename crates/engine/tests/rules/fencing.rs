//! # Fencing: whose report counts (docs/reference/idempotency.md#fencing)

use semel_engine::{Change, Event, Rejection, Rerun, Stop, judge_renewal};
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
    assert!(matches!(refused, Err(Stop::Rejected(Rejection::Held(_)))), "{refused:?}");
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

#[test]
fn the_only_hand_out_is_answered_under_any_name() {
    for worker in [Some("ann"), Some("custom"), None] {
        let mut run = one_step();
        let said = run.claim("a", "ann").fence(None).worker(worker);
        assert_eq!(verdict(run.report(&said)), Verdict::Applied, "{worker:?}");
        assert_eq!(verdict(run.report(&said)), Verdict::Repeated, "{worker:?}");
        assert_eq!(run.attempt("a", 0).worker.as_deref(), worker.or(Some("ann")));
        run.replay();
    }
}

#[test]
fn the_only_hand_out_of_a_retry_is_answered_under_any_name() {
    let mut run = one_step();
    let first = run.claim("a", "ann").fence(None).worker(Some("custom"));
    run.report(&Said { status: Failed, ..first }).unwrap();
    let second = run.claim("a", "bob").fence(None).worker(Some("custom"));
    assert_eq!(verdict(run.report(&second)), Verdict::Applied);
    run.reads(&["COMPLETED", "a 0 FAILED", "a 1 COMPLETED"]);
}

#[test]
fn a_name_that_a_holder_has_signed_with_is_its_name_in_later_hand_outs() {
    let mut run = one_step();
    let first = run.claim("a", "vm").fence(None).worker(Some("custom"));
    run.report(&Said { status: InProgress, ..first }).unwrap();
    let other = run.claim("a", "other").fence(None).worker(Some("custom"));
    assert_eq!(verdict(run.report(&other)), Verdict::Stale, "it may be vm who speaks");
    let other = other.worker(Some("other"));
    run.report(&Said { status: InProgress, ..other }).unwrap();
    let third = run.claim("a", "vm").fence(None);
    assert_eq!(verdict(run.report(&third.clone().worker(Some("other")))), Verdict::Stale);
    assert_eq!(verdict(run.report(&third.worker(Some("custom")))), Verdict::Applied);
    run.replay();
}

#[test]
fn a_task_that_was_reset_had_another_hand_out_before() {
    let mut run = one_step();
    let said = run.claim("a", "vm").fence(None).worker(Some("custom"));
    run.report(&said).unwrap();
    let from = Some(run.attempt("a", 0).id);
    run.happen(Event::Reran(Rerun { from, ..Rerun::default() }), &[]).unwrap();
    let again = run.claim("a", "vm").fence(None).output(json!({"n": 2}));
    assert_eq!(verdict(run.report(&again.clone().worker(Some("eve")))), Verdict::Stale);
    assert_eq!(verdict(run.report(&again.worker(Some("custom")))), Verdict::Applied);
    run.replay();
}

#[test]
fn a_task_that_was_reset_before_anybody_took_it_has_one_hand_out() {
    let mut run = one_step();
    run.terminate("enough").unwrap();
    let from = Some(run.attempt("a", 0).id);
    run.happen(Event::Reran(Rerun { from, ..Rerun::default() }), &[]).unwrap();
    let said = run.claim("a", "vm").fence(None).worker(Some("custom"));
    assert_eq!(verdict(run.report(&said)), Verdict::Applied);
    run.replay();
}

#[test]
fn a_by_name_update_is_taken_from_the_holder_and_of_a_holder_without_a_name() {
    for (holder, worker, is_taken) in [
        (Some("ann"), Some("ann"), true),
        (Some("ann"), Some("bob"), false),
        (Some("ann"), None, false),
        (None, Some("bob"), true),
        (None, None, true),
    ] {
        let mut run = one_step();
        let task = run.claim_as("a", holder).task;
        let said = Said::new(task, Completed).worker(worker);
        let found = run.name("a", false, &said);
        assert_eq!(found.is_ok(), is_taken, "{worker:?} of a task held by {holder:?}: {found:?}");
        run.replay();
    }
}

#[test]
fn more_time_is_judged_as_a_report_is() {
    let mut run = one_step();
    run.claim("a", "vm");
    let judged = |run: &Bench, fence, worker| {
        let (row, task) = (run.row("a").clone(), run.attempt("a", 0));
        judge_renewal(&row.hand_out, Some(&task), fence, worker).is_some_and(|it| it.is_ok())
    };
    for (fence, worker, is_given) in [
        (Some(1), Some("other"), true),
        (Some(2), Some("vm"), false),
        (None, Some("vm"), true),
        (None, None, true),
        (None, Some("custom"), true),
    ] {
        assert_eq!(judged(&run, fence, worker), is_given, "{fence:?} {worker:?}");
    }
    let row = run.row("a").clone();
    assert_eq!(judge_renewal(&row.hand_out, None, None, Some("custom")), None, "the task tells");
    run.report(&Said::new(row.task, InProgress)).unwrap();
    assert!(!judged(&run, None, Some("vm")), "nobody holds it");
    run.claim("a", "vm");
    assert!(!judged(&run, None, Some("custom")), "it was handed out twice");
    assert!(judged(&run, None, Some("vm")));
}
