//! # Due: what wants to be looked at, once, and again if nobody did

use semel_engine::{Delivery, HandOut, Head};
use semel_model::{ExecutionId, Timestamp};

use super::samples::{self, BEGIN, execution, place};
use super::{Desk, Fixture};
use crate::{Due, Place, Writes};

/// Longer than any store keeps what it has offered.
pub(super) const LONG_MS: i64 = 60_000;

fn waking(number: u8, ms: i64) -> Head {
    Head { wake_at: Some(BEGIN.plus_ms(ms)), ..samples::head(number) }
}

/// Waiting for a poll until then.
fn waiting(at: Place, ms: i64) -> Delivery {
    let row = samples::delivery(0, 0);
    let hand_out = HandOut { armed: true, poll_until: Some(BEGIN.plus_ms(ms)), ..row.hand_out };
    Delivery { execution: at.execution, task: at.task, hand_out, ..row }
}

fn nothing() -> Due {
    Due::default()
}

fn fired(executions: impl Into<Vec<ExecutionId>>, deliveries: impl Into<Vec<Place>>) -> Due {
    Due { executions: executions.into(), deliveries: deliveries.into(), ..nothing() }
}

pub fn what_is_due_comes_once_and_in_order(fixture: &mut dyn Fixture) {
    let mut desk = Desk::new(fixture);
    let heads = [waking(1, 30), waking(2, 10), waking(3, 31), samples::head(4)];
    desk.commit(samples::put_heads(heads));
    let rows = [waiting(place(1, 1), 20), waiting(place(1, 2), 5), waiting(place(1, 3), 40)];
    desk.commit(samples::put_deliveries(rows));
    desk.advance_ms(4);
    assert_eq!(desk.due(100), nothing());
    desk.advance_ms(26);
    let executions = [execution(2), execution(1)];
    assert_eq!(desk.due(100), fired(executions, [place(1, 2), place(1, 1)]));
    assert_eq!(desk.due(100), nothing());
    desk.advance_ms(10);
    assert_eq!(desk.due(100), fired([execution(3)], [place(1, 3)]));
}

pub fn what_is_due_at_the_same_time_comes_in_the_order_of_ids(fixture: &mut dyn Fixture) {
    let mut desk = Desk::new(fixture);
    for number in [7, 3, 9, 1] {
        let rows = [waiting(place(number, 2), 10), waiting(place(number, 1), 10)];
        let deliveries = samples::put_deliveries(rows).deliveries;
        desk.commit(Writes { deliveries, ..samples::put_heads([waking(number, 10)]) });
    }
    desk.advance_ms(10);
    let places = [1, 3, 7, 9].into_iter().flat_map(|at| [place(at, 1), place(at, 2)]);
    let places: Vec<Place> = places.collect();
    assert_eq!(desk.due(100), fired([1, 3, 7, 9].map(execution), places));
}

pub fn what_fired_and_was_not_committed_fires_again(fixture: &mut dyn Fixture) {
    let mut desk = Desk::new(fixture);
    let deliveries = samples::put_deliveries([waiting(place(1, 1), 10)]).deliveries;
    desk.commit(Writes { deliveries, ..samples::put_heads([waking(1, 10)]) });
    desk.advance_ms(10);
    let both = fired([execution(1)], [place(1, 1)]);
    assert_eq!(desk.due(100), both);
    desk.advance_ms(LONG_MS);
    assert_eq!(desk.due(100), both);
    desk.crash();
    assert_eq!(desk.due(100), both, "whoever was told is gone");
}

pub fn a_commit_moves_the_deadline(fixture: &mut dyn Fixture) {
    let mut desk = Desk::new(fixture);
    let at = |head_ms, delivery_ms| {
        let deliveries = samples::put_deliveries([waiting(place(1, 1), delivery_ms)]).deliveries;
        Writes { deliveries, ..samples::put_heads([waking(1, head_ms)]) }
    };
    desk.commit(at(10, 10));
    desk.commit(at(20, 30));
    desk.advance_ms(19);
    assert_eq!(desk.due(100), nothing(), "put off");
    desk.advance_ms(1);
    assert_eq!(desk.due(100).executions, [execution(1)]);
    desk.commit(at(LONG_MS * 9, 21));
    desk.advance_ms(1);
    assert_eq!(desk.due(100), fired([], [place(1, 1)]), "brought forward");
    desk.commit(samples::drop_deliveries([place(1, 1)]));
    desk.advance_ms(LONG_MS);
    assert_eq!(desk.due(100), nothing(), "what fired was disarmed");
}

pub fn what_is_disarmed_is_never_due(fixture: &mut dyn Fixture) {
    let mut desk = Desk::new(fixture);
    let armed = waiting(place(1, 1), 10);
    let disarmed = HandOut { armed: false, ..samples::full_hand_out() };
    let disarmed = Delivery { hand_out: disarmed, ..armed.clone() };
    let deliveries = samples::put_deliveries([disarmed, samples::delivery(1, 2)]).deliveries;
    desk.commit(Writes { deliveries, ..samples::put_heads([samples::head(1)]) });
    desk.advance_ms(1_000 * LONG_MS);
    assert_eq!(desk.due(100), nothing());
    desk.commit(samples::put_deliveries([armed]));
    assert_eq!(desk.due(100).deliveries, [place(1, 1)], "armed again");
}

pub fn no_more_is_due_than_was_asked_for(fixture: &mut dyn Fixture) {
    let mut desk = Desk::new(fixture);
    desk.commit(samples::put_heads((0..10).map(|number| waking(number, i64::from(number)))));
    desk.commit(samples::put_deliveries((0..10).map(|at| waiting(place(1, at), i64::from(at)))));
    desk.advance_ms(100);
    let mut found = nothing();
    for _ in 0..7 {
        let due = desk.due(3);
        assert!(due.executions.len() + due.deliveries.len() <= 3);
        found.executions.extend(due.executions);
        found.deliveries.extend(due.deliveries);
    }
    assert_eq!(found.executions, (0..10).map(execution).collect::<Vec<_>>());
    assert_eq!(found.deliveries, (0..10).map(|at| place(1, at)).collect::<Vec<_>>());
}

pub fn a_leased_task_is_due_when_its_lease_ends(fixture: &mut dyn Fixture) {
    let mut desk = Desk::new(fixture);
    desk.commit(samples::put_deliveries([waiting(place(1, 1), 10)]));
    let taken = samples::leased(waiting(place(1, 1), 10), BEGIN);
    let run_until = Some(BEGIN.plus_ms(61_000));
    let also_run = HandOut { run_until, lease_until: None, ..taken.hand_out.clone() };
    let also_run = Delivery { task: place(1, 2).task, hand_out: also_run, ..taken.clone() };
    desk.commit(samples::put_deliveries([taken, also_run]));
    desk.advance_ms(59_999);
    assert_eq!(desk.due(100), nothing());
    desk.advance_ms(1);
    assert_eq!(desk.due(100).deliveries, [place(1, 1)]);
    desk.advance_ms(1_000);
    assert_eq!(desk.due(100).deliveries, [place(1, 2)]);
}

pub fn the_next_due_time_is_known(fixture: &mut dyn Fixture) {
    let mut desk = Desk::new(fixture);
    let next = |desk: &mut Desk<'_>| -> Option<Timestamp> { desk.writer().next_due() };
    assert_eq!(next(&mut desk), None);
    desk.commit(samples::put_heads([waking(1, 30), waking(2, 20)]));
    assert_eq!(next(&mut desk), Some(BEGIN.plus_ms(20)));
    let later = Delivery { ready_at: BEGIN.plus_ms(10), ..samples::delivery(1, 1) };
    desk.commit(samples::put_deliveries([later]));
    assert_eq!(next(&mut desk), Some(BEGIN.plus_ms(10)), "a task becomes ready");
    desk.crash();
    assert_eq!(next(&mut desk), Some(BEGIN.plus_ms(10)));
}

pub fn due_times_survive_a_crash(fixture: &mut dyn Fixture) {
    let mut desk = Desk::new(fixture);
    let deliveries = samples::put_deliveries([waiting(place(1, 1), 10)]).deliveries;
    desk.commit(Writes { deliveries, ..samples::put_heads([waking(1, 10), samples::head(2)]) });
    desk.crash();
    assert_eq!(desk.due(100), nothing());
    desk.crash_for_ms(10);
    assert_eq!(desk.due(100), fired([execution(1)], [place(1, 1)]));
}

pub fn a_delay_that_is_over_is_told_once(fixture: &mut dyn Fixture) {
    let mut desk = Desk::new(fixture);
    let later = |at, ms| Delivery { ready_at: BEGIN.plus_ms(ms), ..samples::delivery(1, at) };
    desk.commit(samples::put_deliveries([later(1, 10), later(2, 10), later(3, 20)]));
    let queue = samples::queue("work");
    assert_eq!(desk.ripe(), [].into());
    desk.advance_ms(10);
    assert_eq!(desk.writer().next_due(), Some(BEGIN.plus_ms(10)));
    assert_eq!(desk.ripe(), [(queue.clone(), 2)].into());
    assert_eq!(desk.ripe(), [].into());
    assert_eq!(desk.writer().next_due(), Some(BEGIN.plus_ms(20)));
    desk.advance_ms(10);
    assert_eq!(desk.ripe(), [(queue, 1)].into());
    assert_eq!(desk.writer().next_due(), None);
}
