//! # Durable: what survives, what does not, and what time it is after

use semel_engine::{Delivery, HandOut, RecordKey};
use semel_model::Digest;

use super::samples::{self, BEGIN, execution, place, queue};
use super::{Desk, Fixture};
use crate::{DocumentKey, Kind, LogLine, Stamp, Touches, Writes};

fn one_of_everything() -> Writes {
    Writes {
        stamp: Stamp::default(),
        entries: vec![(execution(1), 1, b"entry".to_vec())],
        heads: [(execution(1), samples::full_head(1))].into(),
        limits: [("work".to_owned(), samples::window())].into(),
        records: [(RecordKey::start("w", "k"), Some(samples::record(1)))].into(),
        deliveries: [(place(1, 1), Some(samples::delivery(1, 1)))].into(),
        messages: samples::put_messages([samples::message(1, 1, 0)]).messages,
        logs: vec![log()],
        removed: [execution(2)].into(),
        pinned: [(Digest::of(b"pinned"), b"pinned".to_vec())].into(),
        given: [(samples::execution(1), Digest::of(b"pinned"))].into(),
        documents: [(document(), Some(b"document".to_vec()))].into(),
    }
}

fn log() -> LogLine {
    LogLine { place: place(1, 1), created_at: BEGIN, line: "line".to_owned() }
}

fn document() -> DocumentKey {
    DocumentKey { kind: Kind::WorkflowDefinition, name: "w".to_owned(), version: 1 }
}

/// Whether all of it is there; half of it is a failure.
fn is_there(desk: &mut Desk<'_>) -> bool {
    let limits = ["work".to_owned()].into();
    let message = samples::message(1, 1, 0);
    let messages = [message.key].into();
    let held = desk.look(&Touches { limits, messages, ..Touches::default() });
    let store = desk.store();
    let loaded = store.load(execution(1), 0).expect("readable");
    let found = [
        loaded.as_ref().is_some_and(|loaded| loaded.head == samples::full_head(1)),
        loaded.as_ref().is_some_and(|loaded| loaded.entries == [b"entry"]),
        loaded.is_some_and(|loaded| loaded.deliveries == [samples::delivery(1, 1)]),
        store.logs(place(1, 1), 10).expect("readable") == [log()],
        held.limits["work"].window == samples::window(),
        held.messages[&message.key].as_ref() == Some(&message),
        store.record(&RecordKey::start("w", "k")).expect("readable") == Some(samples::record(1)),
        store.delivery(place(1, 1)).expect("readable") == Some(samples::delivery(1, 1)),
        store.pinned(Digest::of(b"pinned")).expect("readable") == Some(b"pinned".to_vec()),
        store.document(&document()).expect("readable") == Some(b"document".to_vec()),
    ];
    assert!(found.iter().all(|one| *one == found[0]), "all or nothing: {found:?}");
    found[0]
}

pub fn what_is_committed_is_there_after_a_crash(fixture: &mut dyn Fixture) {
    let mut desk = Desk::new(fixture);
    assert!(!is_there(&mut desk));
    desk.commit(one_of_everything());
    for _ in 0..3 {
        assert!(is_there(&mut desk));
        desk.crash();
    }
}

pub fn what_is_only_held_is_not_there(fixture: &mut dyn Fixture) {
    let mut desk = Desk::new(fixture);
    let touches = Touches {
        heads: [execution(1)].into(),
        limits: ["work".to_owned()].into(),
        records: [RecordKey::start("w", "k")].into(),
        deliveries: [place(1, 1)].into(),
        messages: [samples::message_key(1, 1, 0)].into(),
        documents: [document()].into(),
        ..Touches::default()
    };
    desk.hold(&touches);
    desk.writer().release();
    assert!(!is_there(&mut desk));
    desk.hold(&touches);
    desk.crash();
    assert!(!is_there(&mut desk));
    assert_eq!(desk.ready(&queue("work"), 9), []);
    desk.hold(&touches);
    desk.commit(one_of_everything());
    assert!(is_there(&mut desk), "the crash has released what was held");
}

pub fn what_is_not_committed_is_not_read(fixture: &mut dyn Fixture) {
    let mut desk = Desk::new(fixture);
    desk.commit(one_of_everything());
    let touches = Touches { heads: [execution(1)].into(), ..Touches::default() };
    desk.hold(&touches);
    assert_eq!(desk.store().head(execution(1)).expect("readable"), Some(samples::full_head(1)));
    desk.commit(samples::put_heads([samples::head(1)]));
    assert_eq!(desk.store().head(execution(1)).expect("readable"), Some(samples::head(1)));
}

pub fn the_last_round_is_known_to_have_happened(fixture: &mut dyn Fixture) {
    let mut desk = Desk::new(fixture);
    let never = Stamp { round: 1, ..Stamp::default() };
    assert!(!desk.writer().happened(never).expect("readable"));
    assert_eq!(desk.store().last_round(0).expect("readable"), 0);
    for _ in 0..3 {
        let last = desk.commit(Writes::default());
        let next = Stamp { round: last.round + 1, ..last };
        assert!(desk.writer().happened(last).expect("readable"));
        assert!(!desk.writer().happened(next).expect("readable"));
        desk.crash();
        assert_eq!(desk.store().last_round(0).expect("readable"), last.round);
        assert!(desk.writer().happened(last).expect("readable"));
        assert!(!desk.writer().happened(next).expect("readable"));
    }
}

pub fn the_fence_floor_never_falls(fixture: &mut dyn Fixture) {
    let mut desk = Desk::new(fixture);
    assert_eq!(desk.store().fence_floor().expect("readable"), 0);
    for (fence, floor) in [(7, 7), (7, 7), (3, 7), (1 << 40, 1 << 40), (0, 1 << 40)] {
        desk.commit_with_fence(Writes::default(), fence);
        assert_eq!(desk.store().fence_floor().expect("readable"), floor);
        desk.crash();
        assert_eq!(desk.store().fence_floor().expect("readable"), floor);
    }
}

pub fn downtime_is_added_to_open_leases_once(fixture: &mut dyn Fixture) {
    let mut desk = Desk::new(fixture);
    let taken = samples::leased(samples::delivery(1, 1), BEGIN);
    let run_until = Some(BEGIN.plus_ms(300_000));
    let hand_out = HandOut { run_until, ..taken.hand_out };
    let taken = Delivery { hand_out, ..taken };
    let unlimited = HandOut { lease_until: None, ..taken.hand_out.clone() };
    let unlimited = Delivery { hand_out: unlimited, ..samples::delivery(1, 2) };
    let waiting = samples::delivery(1, 3);
    let rows = [taken.clone(), unlimited.clone(), waiting.clone()];
    desk.commit(samples::put_deliveries(rows));
    let lease_until = |desk: &Desk<'_>| {
        let found = desk.store().delivery(place(1, 1)).expect("readable").expect("there");
        let lease_until = found.hand_out.lease_until;
        let hand_out = HandOut { lease_until: taken.hand_out.lease_until, ..found.hand_out };
        assert_eq!(hand_out, taken.hand_out, "nothing else is different");
        lease_until.expect("still leased").since_ms(BEGIN)
    };
    desk.crash_for_ms(30_000);
    assert_eq!(lease_until(&desk), 90_000);
    desk.crash();
    assert_eq!(lease_until(&desk), 90_000, "credited once");
    desk.crash_for_ms(5_000);
    assert_eq!(lease_until(&desk), 95_000);
    assert_eq!(desk.store().delivery(place(1, 2)).expect("readable"), Some(unlimited));
    assert_eq!(desk.store().delivery(place(1, 3)).expect("readable"), Some(waiting));
    desk.advance_ms(59_999);
    assert_eq!(desk.due(9).deliveries, []);
    desk.advance_ms(1);
    assert_eq!(desk.due(9).deliveries, [place(1, 1)]);
}

pub fn time_never_goes_back(fixture: &mut dyn Fixture) {
    let mut desk = Desk::new(fixture);
    desk.advance_ms(3_600_000);
    let last = desk.commit(Writes::default());
    desk.crash_with_clock_at(BEGIN);
    assert!(desk.now() >= last.at);
    let held = desk.look(&Touches::default());
    assert!(held.now >= last.at);
}
