//! # Loading: an execution as it is committed

use semel_engine::{Head, Link};
use semel_model::Digest;

use super::samples::{self, execution};
use super::{Desk, Fixture};
use crate::Writes;

fn append(of_execution: u8, entries: impl IntoIterator<Item = (u64, Vec<u8>)>) -> Writes {
    let entries = entries.into_iter().map(|(seq, bytes)| (execution(of_execution), seq, bytes));
    let entries: Vec<_> = entries.collect();
    let seq = entries.last().map_or(0, |(_, seq, _)| *seq);
    let link = Link { seq, digest: Digest::of(b"last") };
    Writes { entries, ..samples::put_heads([Head { link, ..samples::head(of_execution) }]) }
}

pub fn loading_gives_the_head_the_entries_after_a_seq_and_the_deliveries(
    fixture: &mut dyn Fixture,
) {
    let mut desk = Desk::new(fixture);
    let all: Vec<Vec<u8>> = (1..=12_u8).map(|number| vec![number; 3]).collect();
    let entry = |seq: u64| (seq, vec![u8::try_from(seq).expect("small"); 3]);
    let rows = [samples::delivery(1, 3), samples::full_delivery(1, 4)];
    desk.commit(append(1, (1..=2).map(entry)));
    desk.commit(Writes {
        deliveries: samples::put_deliveries(rows.clone()).deliveries,
        ..append(1, (3..=12).map(entry))
    });
    for _ in 0..2 {
        for after in [0, 1, 11, 12, 13, u64::MAX - 1] {
            let loaded = desk.store().load(execution(1), after).expect("readable").expect("there");
            assert_eq!(loaded.head.link.seq, 12);
            let skipped = usize::try_from(after.min(12)).expect("small");
            assert_eq!(loaded.entries, all[skipped..], "after {after}");
            assert_eq!(loaded.deliveries, rows);
        }
        desk.crash();
    }
}

pub fn loading_an_unknown_execution_gives_nothing(fixture: &mut dyn Fixture) {
    let mut desk = Desk::new(fixture);
    desk.commit(append(1, [(1, b"entry".to_vec())]));
    assert!(desk.store().load(execution(2), 0).expect("readable").is_none());
    assert_eq!(desk.store().head(execution(2)).expect("readable"), None);
}

pub fn entries_of_any_size_keep_their_order(fixture: &mut dyn Fixture) {
    let mut desk = Desk::new(fixture);
    let sizes = [0, 1, 1 << 20, 100, 8192, 5000, 0, 70_000, 3];
    for (seq, size) in (1..).zip(sizes) {
        desk.commit(append(1, [(seq, vec![0xff; size])]));
    }
    desk.crash();
    let loaded = desk.store().load(execution(1), 0).expect("readable").expect("there");
    let found: Vec<usize> = loaded.entries.iter().map(Vec::len).collect();
    assert_eq!(found, sizes);
}

pub fn executions_do_not_see_each_other(fixture: &mut dyn Fixture) {
    let mut desk = Desk::new(fixture);
    for number in [0, 1, 2, 255] {
        let rows = [samples::delivery(number, 1)];
        let deliveries = samples::put_deliveries(rows).deliveries;
        desk.commit(Writes { deliveries, ..append(number, [(1, vec![number])]) });
    }
    for number in [0, 1, 2, 255] {
        let loaded = desk.store().load(execution(number), 0).expect("readable").expect("there");
        assert_eq!(loaded.head.id, execution(number));
        assert_eq!(loaded.entries, [vec![number]]);
        assert_eq!(loaded.deliveries, [samples::delivery(number, 1)]);
    }
}

pub fn a_pinned_definition_is_found_by_its_digest(fixture: &mut dyn Fixture) {
    let mut desk = Desk::new(fixture);
    let body = vec![0, 159, 146, 150];
    let digest = Digest::of(&body);
    assert_eq!(desk.store().pinned(digest).expect("readable"), None);
    for _ in 0..2 {
        let pinned = [(digest, body.clone()), (Digest::of(b""), vec![])].into();
        desk.commit(Writes { pinned, ..Writes::default() });
    }
    desk.crash();
    assert_eq!(desk.store().pinned(digest).expect("readable"), Some(body));
    assert_eq!(desk.store().pinned(Digest::of(b"")).expect("readable"), Some(vec![]));
    assert_eq!(desk.store().pinned(Digest::of(b"other")).expect("readable"), None);
}
