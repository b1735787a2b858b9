//! # Queues: who is ready, in which order, and who holds what

use std::collections::BTreeSet;

use semel_engine::{Delivery, HandOut, Head, Queue};
use semel_model::{Digest, Payload};
use serde_json::json;

use super::samples::{self, BEGIN, place, queue};
use super::{Desk, Fixture};
use crate::{Place, Touches, Writes};

pub fn the_best_task_comes_first(fixture: &mut dyn Fixture) {
    let mut desk = Desk::new(fixture);
    let row = |at: (u8, u8), priority, ready_ms, seq| Delivery {
        priority,
        ready_at: BEGIN.plus_ms(ready_ms),
        seq,
        ..samples::delivery(at.0, at.1)
    };
    // Priority, then who was ready first, then who was scheduled first, then by id.
    let best_first = [
        row((5, 9), 9, -1, 7),
        row((9, 1), 1, -50, 3),
        row((1, 4), 1, -40, 1),
        row((1, 3), 1, -40, 2),
        row((2, 1), 1, -40, 2),
        row((2, 2), 1, -40, 2),
        row((3, 7), 0, -100, 0),
        row((3, 6), -5, -1000, 0),
    ];
    let expected: Vec<Place> = best_first.iter().map(samples::place_of).collect();
    for at in [3, 7, 0, 5, 2, 6, 1, 4] {
        desk.commit(samples::put_deliveries([best_first[at].clone()]));
    }
    for _ in 0..2 {
        assert_eq!(desk.ready(&queue("work"), 100), expected);
        assert_eq!(desk.ready(&queue("work"), 100), expected, "looking changes nothing");
        desk.crash();
    }
}

pub fn a_task_is_not_ready_before_its_time(fixture: &mut dyn Fixture) {
    let mut desk = Desk::new(fixture);
    let later = Delivery { ready_at: BEGIN.plus_ms(10), priority: 9, ..samples::delivery(1, 1) };
    desk.commit(samples::put_deliveries([later, samples::delivery(1, 2)]));
    assert_eq!(desk.ready(&queue("work"), 9), [place(1, 2)]);
    desk.advance_ms(9);
    assert_eq!(desk.ready(&queue("work"), 9), [place(1, 2)]);
    desk.advance_ms(1);
    assert_eq!(desk.ready(&queue("work"), 9), [place(1, 1), place(1, 2)]);
    let again = Delivery { ready_at: BEGIN.plus_ms(20), ..samples::delivery(1, 1) };
    desk.commit(samples::put_deliveries([again]));
    assert_eq!(desk.ready(&queue("work"), 9), [place(1, 2)], "a commit put it off");
}

pub fn no_more_tasks_are_ready_than_were_wanted(fixture: &mut dyn Fixture) {
    let mut desk = Desk::new(fixture);
    desk.commit(samples::put_deliveries((0..20).map(|number| samples::delivery(1, number))));
    for count in [0, 1, 7, 20] {
        let ready = desk.ready(&queue("work"), count);
        let expected: Vec<Place> = (0..20).map(|number| place(1, number)).take(count).collect();
        assert_eq!(ready, expected);
    }
}

pub fn ready_tasks_are_held_until_their_payloads_are_large_together(fixture: &mut dyn Fixture) {
    let mut desk = Desk::new(fixture);
    let payload = Payload::from_value(&json!({"text": "x".repeat(1_000)}));
    let large = |number| Delivery { input: payload.clone(), ..samples::delivery(1, number) };
    let output = Payload::empty().len();
    let bytes = payload.len() + output;
    desk.commit(samples::put_deliveries((0..5).map(large)));
    let most = [(1, 1), (bytes, 1), (bytes + 1, 2), (4 * bytes, 4), (4 * bytes + 1, 5)];
    for (ready_bytes, count) in most {
        let wanted = [(queue("work"), 9)].into();
        let touches = Touches { wanted, ready_bytes: Some(ready_bytes), ..Touches::default() };
        let held = desk.look(&touches);
        let expected: Vec<Place> = (0..5).map(|number| place(1, number)).take(count).collect();
        assert_eq!(held.ready[&queue("work")], expected, "{ready_bytes} bytes");
        assert_eq!(held.deliveries.len(), count, "no others are read");
        assert_eq!(held.cut.contains(&queue("work")), count < 5, "{ready_bytes} bytes");
    }
}

pub fn a_leased_task_is_not_ready(fixture: &mut dyn Fixture) {
    let mut desk = Desk::new(fixture);
    let waiting = samples::delivery(1, 1);
    desk.commit(samples::put_deliveries([waiting.clone(), samples::delivery(1, 2)]));
    desk.commit(samples::put_deliveries([samples::leased(waiting.clone(), BEGIN)]));
    for _ in 0..2 {
        assert_eq!(desk.ready(&queue("work"), 9), [place(1, 2)]);
        desk.crash();
    }
    desk.commit(samples::put_deliveries([waiting]));
    assert_eq!(desk.ready(&queue("work"), 9), [place(1, 1), place(1, 2)]);
}

pub fn tasks_of_a_definition_that_is_passed_over_stay_for_others(fixture: &mut dyn Fixture) {
    let mut desk = Desk::new(fixture);
    let busy = Digest::of(b"busy");
    let row = |number: u8| Delivery {
        definition: if number.is_multiple_of(2) { busy } else { Digest::of(b"quiet") },
        ..samples::delivery(1, number)
    };
    desk.commit(samples::put_deliveries((0..8).map(row)));
    for _ in 0..2 {
        let mut touches = Touches::default();
        touches.want(&queue("work"), 3, &[busy].into());
        assert_eq!(desk.look(&touches).ready[&queue("work")], [1, 3, 5].map(|at| place(1, at)));
        touches.want(&queue("work"), 1, &BTreeSet::new());
        let all = desk.look(&touches);
        assert_eq!(all.ready[&queue("work")], [0, 1, 2, 3].map(|at| place(1, at)));
        desk.crash();
    }
}

pub fn a_task_of_an_execution_that_is_over_is_not_ready(fixture: &mut dyn Fixture) {
    let mut desk = Desk::new(fixture);
    let rows = [samples::delivery(1, 1), samples::delivery(1, 2), samples::delivery(2, 1)];
    desk.commit(Writes {
        heads: samples::put_heads([samples::head(1), samples::head(2)]).heads,
        ..samples::put_deliveries(rows)
    });
    assert_eq!(desk.ready(&queue("work"), 9), [place(1, 1), place(1, 2), place(2, 1)]);
    let over = Head { ended_at: BEGIN, ..samples::head(1) };
    desk.commit(Writes {
        heads: samples::put_heads([over]).heads,
        ..samples::drop_deliveries([place(1, 1)])
    });
    for _ in 0..2 {
        assert_eq!(desk.ready(&queue("work"), 9), [place(2, 1)], "though its row is still there");
        desk.crash();
    }
    desk.commit(samples::put_heads([samples::head(1)]));
    assert_eq!(desk.ready(&queue("work"), 9), [place(1, 2), place(2, 1)], "it runs again");
}

pub fn queues_differ_by_type_and_domain(fixture: &mut dyn Fixture) {
    let mut desk = Desk::new(fixture);
    let of = |domain: Option<&str>| Queue { domain: domain.map(str::to_owned), ..queue("work") };
    let queues = [of(None), of(Some("")), of(Some("a")), of(Some("A")), queue("other")];
    let rows = (1..).zip(&queues);
    let rows =
        rows.map(|(at, queue)| Delivery { queue: queue.clone(), ..samples::delivery(1, at) });
    desk.commit(samples::put_deliveries(rows));
    for _ in 0..2 {
        for (at, queue) in (1..).zip(&queues) {
            assert_eq!(desk.ready(queue, 9), [place(1, at)], "{queue:?}");
        }
        assert_eq!(desk.ready(&of(Some("b")), 9), []);
        desk.crash();
    }
}

pub fn a_token_finds_what_was_handed_out_under_it(fixture: &mut dyn Fixture) {
    let mut desk = Desk::new(fixture);
    let (mine, other) = (Digest::of(b"mine"), Digest::of(b"other"));
    let taken = |at: u8, token| {
        let row = samples::leased(samples::delivery(1, at), BEGIN);
        Delivery { hand_out: HandOut { token: Some(token), ..row.hand_out }, ..row }
    };
    let rows = [taken(3, mine), taken(1, mine), taken(2, other), samples::delivery(1, 4)];
    desk.commit(samples::put_deliveries(rows));
    let touches = Touches { tokens: [mine, other].into(), ..Touches::default() };
    for _ in 0..2 {
        let held = desk.look(&touches);
        assert_eq!(held.by_token[&mine], [place(1, 1), place(1, 3)]);
        assert_eq!(held.by_token[&other], [place(1, 2)]);
        assert_eq!(held.deliveries[&place(1, 3)], Some(taken(3, mine)));
        desk.crash();
    }
    desk.commit(samples::drop_deliveries([place(1, 1)]));
    desk.commit(samples::put_deliveries([samples::delivery(1, 2), taken(3, other)]));
    let held = desk.look(&touches);
    assert_eq!(held.by_token[&mine], []);
    assert_eq!(held.by_token[&other], [place(1, 3)]);
}

pub fn tasks_in_flight_are_counted_over_all_domains(fixture: &mut dyn Fixture) {
    let mut desk = Desk::new(fixture);
    let in_flight = |desk: &mut Desk<'_>| {
        let limits = BTreeSet::from(["work".to_owned(), "other".to_owned()]);
        let held = desk.look(&Touches { limits, ..Touches::default() });
        (held.limits["work"].in_flight, held.limits["other"].in_flight)
    };
    let taken = |at: u8, domain: Option<&str>| {
        let row = samples::leased(samples::delivery(1, at), BEGIN);
        Delivery { queue: Queue { domain: domain.map(str::to_owned), ..queue("work") }, ..row }
    };
    let rows = [taken(1, None), taken(2, Some("a")), taken(3, Some("b")), samples::delivery(1, 4)];
    desk.commit(samples::put_deliveries(rows));
    for _ in 0..2 {
        assert_eq!(in_flight(&mut desk), (3, 0));
        desk.crash();
    }
    let writes = samples::put_deliveries([samples::delivery(1, 2)]);
    let mut deliveries = writes.deliveries;
    deliveries.insert(place(1, 1), None);
    desk.commit(Writes { deliveries, ..Writes::default() });
    assert_eq!(in_flight(&mut desk), (1, 0), "one was given back, one is closed");
}

pub fn a_deleted_task_is_in_no_queue(fixture: &mut dyn Fixture) {
    let mut desk = Desk::new(fixture);
    desk.commit(samples::put_deliveries([samples::delivery(1, 1), samples::delivery(1, 2)]));
    assert_eq!(desk.ready(&queue("work"), 9).len(), 2);
    desk.commit(samples::drop_deliveries([place(1, 1)]));
    for _ in 0..2 {
        assert_eq!(desk.ready(&queue("work"), 9), [place(1, 2)]);
        desk.crash();
    }
    desk.commit(samples::drop_deliveries([place(1, 1), place(1, 2)]));
    assert_eq!(desk.ready(&queue("work"), 9), []);
}

pub fn what_waits_is_counted_by_queue_and_what_is_held_is_not(fixture: &mut dyn Fixture) {
    let mut desk = Desk::new(fixture);
    let later = Delivery { ready_at: BEGIN.plus_ms(10), ..samples::delivery(1, 1) };
    let mut held = samples::delivery(1, 2);
    held.hand_out.leased = true;
    let other = Delivery { queue: queue("other"), ..samples::delivery(1, 3) };
    desk.commit(samples::put_deliveries([later, held, other, samples::delivery(2, 4)]));
    for _ in 0..2 {
        let waiting = desk.store().waiting().expect("the store answers");
        assert_eq!(waiting, [(queue("other"), 1), (queue("work"), 2)].into());
        desk.crash();
    }
}

pub fn queues_survive_a_crash(fixture: &mut dyn Fixture) {
    let mut desk = Desk::new(fixture);
    let later = Delivery { ready_at: BEGIN.plus_ms(10), ..samples::delivery(1, 1) };
    desk.commit(samples::put_deliveries([later, samples::delivery(2, 2)]));
    desk.crash();
    assert_eq!(desk.ready(&queue("work"), 9), [place(2, 2)]);
    desk.crash_for_ms(10);
    assert_eq!(desk.ready(&queue("work"), 9), [place(2, 2), place(1, 1)]);
}
