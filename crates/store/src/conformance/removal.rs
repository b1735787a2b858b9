//! # Removal: an execution goes, with all that is kept of it

use semel_engine::{Delivery, HandOut, Head, RecordKey};
use semel_model::{Digest, ExecutionId};

use super::due::LONG_MS;
use super::samples::{self, BEGIN, execution, place, queue};
use super::{Desk, Fixture};
use crate::{Due, Touches, Writes};

fn remove(ids: impl IntoIterator<Item = ExecutionId>) -> Writes {
    Writes { removed: ids.into_iter().collect(), ..Writes::default() }
}

/// A head that wakes, two entries, and tasks that wait, are delayed and are held under a token.
fn busy(number: u8) -> Writes {
    let waiting = Delivery {
        input: samples::payload(&format!("\"{}\"", "x".repeat(5_000))),
        ..samples::delivery(number, 1)
    };
    let later = Delivery { ready_at: BEGIN.plus_ms(10), ..samples::delivery(number, 2) };
    let taken = samples::leased(samples::delivery(number, 3), BEGIN);
    let hand_out = HandOut { token: Some(Digest::of(b"token")), ..taken.hand_out };
    let rows = [waiting, later, Delivery { hand_out, ..taken }];
    let entry = |seq| (execution(number), seq, vec![number]);
    Writes {
        entries: vec![entry(1), entry(2)],
        heads: samples::put_heads([samples::full_head(number)]).heads,
        ..samples::put_deliveries(rows)
    }
}

fn touch(number: u8) -> Touches {
    Touches {
        heads: [execution(number)].into(),
        deliveries: [place(number, 1)].into(),
        all_deliveries: [execution(number)].into(),
        ..Touches::default()
    }
}

fn assert_gone(desk: &mut Desk<'_>, number: u8) {
    let store = desk.store();
    assert_eq!(store.head(execution(number)).expect("readable"), None);
    assert!(store.load(execution(number), 0).expect("readable").is_none());
    for task in 1..=3 {
        assert_eq!(store.delivery(place(number, task)).expect("readable"), None);
    }
    let held = desk.look(&touch(number));
    assert_eq!(held.heads, [(execution(number), None)].into());
    assert_eq!(held.deliveries, [(place(number, 1), None)].into());
}

pub fn nothing_is_left_of_a_removed_execution(fixture: &mut dyn Fixture) {
    let mut desk = Desk::new(fixture);
    for number in [0, 1, 2, 0xff] {
        desk.commit(busy(number));
    }
    desk.hold(&touch(1));
    desk.commit(remove([execution(1)]));
    desk.commit(remove([execution(0xff), execution(0x77)]));
    for _ in 0..2 {
        assert_gone(&mut desk, 1);
        assert_gone(&mut desk, 0xff);
        for number in [0, 2] {
            let loaded = desk.store().load(execution(number), 0).expect("readable");
            let loaded = loaded.expect("nobody removed it");
            assert_eq!(loaded.head, samples::full_head(number));
            assert_eq!(loaded.entries.len(), 2);
            let rows =
                loaded.deliveries.into_iter().map(|row| (samples::place_of(&row), Some(row)));
            assert_eq!(rows.collect::<std::collections::BTreeMap<_, _>>(), busy(number).deliveries);
        }
        desk.crash();
    }
}

pub fn a_removed_execution_waits_nowhere_and_is_never_due(fixture: &mut dyn Fixture) {
    let mut desk = Desk::new(fixture);
    desk.commit(busy(1));
    desk.commit(remove([execution(1)]));
    let token = Digest::of(b"token");
    let limits = ["work".to_owned()].into();
    let touches = Touches { limits, tokens: [token].into(), ..Touches::default() };
    for _ in 0..2 {
        let held = desk.look(&touches);
        assert_eq!(held.limits["work"].in_flight, 0);
        assert_eq!(held.by_token[&token], []);
        assert_eq!(desk.writer().next_due(), None);
        desk.advance_ms(1_000 * LONG_MS);
        assert_eq!(desk.ripe(), [].into());
        assert_eq!(desk.due(100), Due::default());
        assert_eq!(desk.ready(&queue("work"), 9), []);
        desk.crash();
    }
}

pub fn what_the_same_round_writes_of_a_removed_execution_is_gone_too(fixture: &mut dyn Fixture) {
    let mut desk = Desk::new(fixture);
    desk.commit(busy(1));
    let moved = Head { updated_at: BEGIN.plus_ms(9), ..samples::full_head(1) };
    desk.hold(&touch(1));
    desk.commit(Writes {
        entries: vec![(execution(1), 3, b"last".to_vec())],
        heads: [(moved.id, moved)].into(),
        deliveries: [
            (place(1, 1), None),
            (place(1, 2), Some(samples::full_delivery(1, 2))),
            (place(1, 4), Some(samples::full_delivery(1, 4))),
        ]
        .into(),
        ..remove([execution(1)])
    });
    desk.commit(Writes { removed: [execution(2)].into(), ..busy(2) });
    for _ in 0..2 {
        assert_gone(&mut desk, 1);
        assert_eq!(desk.store().delivery(place(1, 4)).expect("readable"), None);
        assert_gone(&mut desk, 2);
        assert_eq!(desk.ready(&queue("work"), 9), []);
        assert_eq!(desk.writer().next_due(), None);
        desk.crash();
    }
}

pub fn messages_records_and_pinned_definitions_outlive_their_execution(fixture: &mut dyn Fixture) {
    let mut desk = Desk::new(fixture);
    let (key, digest) = (RecordKey::start("w", "k"), Digest::of(b"pinned"));
    let (before, last) = (samples::message(1, 1, 0), samples::publication(1, 2, 0));
    desk.commit(Writes {
        records: [(key.clone(), Some(samples::record(1)))].into(),
        pinned: [(digest, b"pinned".to_vec())].into(),
        messages: samples::put_messages([before.clone()]).messages,
        ..busy(1)
    });
    let messages = samples::put_messages([last.clone()]).messages;
    desk.commit(Writes { messages, ..remove([execution(1)]) });
    let touches = Touches { messages: [before.key, last.key].into(), ..Touches::default() };
    for _ in 0..2 {
        let found = desk.store().record(&key).expect("readable");
        assert_eq!(found, Some(samples::record(1)));
        assert!(desk.store().pinned(digest).expect("readable").is_some());
        let held = desk.look(&touches);
        assert_eq!(held.messages[&before.key], Some(before.clone()));
        assert_eq!(held.messages[&last.key], Some(last.clone()));
        desk.crash();
        let due = desk.due(100);
        assert_eq!(due.messages.len(), 2);
        assert_eq!(due.executions, []);
    }
}

pub fn what_was_given_to_an_execution_goes_with_the_last_that_has_it(fixture: &mut dyn Fixture) {
    let mut desk = Desk::new(fixture);
    let (own, shared, named) = (Digest::of(b"own"), Digest::of(b"shared"), Digest::of(b"named"));
    let pinned = [own, shared, named].map(|digest| (digest, b"steps".to_vec()));
    let given = [(execution(1), own), (execution(1), shared), (execution(2), shared)];
    desk.commit(Writes { pinned: pinned.into(), given: given.into(), ..busy(1) });
    desk.commit(Writes { given: [(execution(1), own)].into(), ..busy(2) });
    let known = |desk: &Desk<'_>| {
        [own, shared, named].map(|digest| desk.store().pinned(digest).expect("readable").is_some())
    };
    desk.commit(remove([execution(1)]));
    for _ in 0..2 {
        assert_eq!(known(&desk), [false, true, true], "the other still has it");
        desk.crash();
    }
    desk.commit(remove([execution(2)]));
    for _ in 0..2 {
        assert_eq!(known(&desk), [false, false, true], "what nobody was given stays");
        desk.crash();
    }
    let pinned = [(own, b"steps".to_vec())].into();
    desk.commit(Writes { pinned, given: [(execution(3), own)].into(), ..busy(3) });
    desk.commit(Writes { given: [(execution(3), named)].into(), ..Writes::default() });
    assert_eq!(known(&desk), [true, false, true], "it may come again");
    desk.commit(remove([execution(3)]));
    assert_eq!(known(&desk), [false, false, true], "others may need what was there before");
}

pub fn a_removed_execution_can_begin_again(fixture: &mut dyn Fixture) {
    let mut desk = Desk::new(fixture);
    for _ in 0..2 {
        desk.commit(busy(1));
        desk.commit(remove([execution(1)]));
    }
    let rows = [samples::full_delivery(1, 1)];
    desk.commit(Writes {
        entries: vec![(execution(1), 1, b"again".to_vec())],
        heads: samples::put_heads([samples::head(1)]).heads,
        ..samples::put_deliveries(rows.clone())
    });
    for _ in 0..2 {
        let loaded = desk.store().load(execution(1), 0).expect("readable").expect("there");
        assert_eq!(loaded.head, samples::head(1));
        assert_eq!(loaded.entries, [b"again"]);
        assert_eq!(loaded.deliveries, rows);
        desk.crash();
    }
}
