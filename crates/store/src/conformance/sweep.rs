//! # Sweeping: what ended and what expired, the oldest first

use semel_engine::{Head, Record, RecordKey, RecordState};
use semel_model::{ExecutionId, Timestamp};

use super::samples::{self, BEGIN, UNICODE, execution};
use super::{Desk, Fixture};
use crate::Writes;

const ALL: usize = usize::MAX;

fn ended(number: u8, ms: i64) -> Head {
    Head { ended_at: BEGIN.plus_ms(ms), ..samples::head(number) }
}

fn ended_before(desk: &Desk<'_>, ms: i64, max: usize) -> Vec<ExecutionId> {
    desk.store().ended_before(BEGIN.plus_ms(ms), max).expect("readable")
}

pub fn what_ended_before_is_found_earliest_first(fixture: &mut dyn Fixture) {
    let mut desk = Desk::new(fixture);
    assert_eq!(ended_before(&desk, 0, ALL), []);
    let heads = [ended(9, 10), ended(1, 30), ended(7, 20), ended(3, 20), ended(5, 20)];
    desk.commit(samples::put_heads(heads));
    for _ in 0..2 {
        assert_eq!(ended_before(&desk, 10, ALL), [], "before, not at");
        assert_eq!(ended_before(&desk, 20, ALL), [execution(9)]);
        assert_eq!(ended_before(&desk, 31, ALL), [9, 3, 5, 7, 1].map(execution), "ties by id");
        assert_eq!(ended_before(&desk, 31, 3), [9, 3, 5].map(execution));
        assert_eq!(ended_before(&desk, 31, 0), []);
        desk.crash();
    }
}

pub fn what_has_not_ended_is_not_found(fixture: &mut dyn Fixture) {
    let mut desk = Desk::new(fixture);
    let latest = Timestamp::from_ms(i64::MAX);
    let found = |desk: &Desk<'_>| desk.store().ended_before(latest, ALL).expect("readable");
    desk.commit(samples::put_heads([samples::head(1), ended(2, 0), ended(3, 0), ended(4, 0)]));
    desk.commit(samples::put_heads([Head { ended_at: Timestamp::NOT_YET, ..ended(2, 0) }]));
    desk.commit(Writes { removed: [execution(3)].into(), ..Writes::default() });
    for _ in 0..2 {
        assert_eq!(found(&desk), [execution(4)], "one never ended, one runs again, one is removed");
        desk.crash();
    }
}

fn key(scope: &str, key: &str) -> RecordKey {
    RecordKey { scope: scope.to_owned(), key: key.to_owned() }
}

fn expiring(key: &RecordKey, ms: Option<i64>) -> (RecordKey, Option<Record>) {
    let expires_at = ms.map(|ms| BEGIN.plus_ms(ms));
    (key.clone(), Some(Record { expires_at, ..samples::record(1) }))
}

fn put(records: impl IntoIterator<Item = (RecordKey, Option<Record>)>) -> Writes {
    Writes { records: records.into_iter().collect(), ..Writes::default() }
}

fn expired(desk: &Desk<'_>, ms: i64, max: usize) -> Vec<RecordKey> {
    desk.store().expired_records(BEGIN.plus_ms(ms), max).expect("readable")
}

pub fn expired_records_are_found_earliest_first(fixture: &mut dyn Fixture) {
    let mut desk = Desk::new(fixture);
    assert_eq!(expired(&desk, 0, ALL), []);
    let earliest_first = [
        (key("z", UNICODE), 10),
        (key("", "z"), 20),
        (key("a", "A"), 20),
        (key("a", "a"), 20),
        (key(UNICODE, ""), 20),
        (key("a", ""), 30),
    ];
    let rows = earliest_first.iter().rev().map(|(key, ms)| expiring(key, Some(*ms)));
    desk.commit(put(rows));
    let keys = earliest_first.map(|(key, _)| key);
    for _ in 0..2 {
        assert_eq!(expired(&desk, 9, ALL), []);
        assert_eq!(expired(&desk, 10, ALL), keys[..1], "from its time on");
        assert_eq!(expired(&desk, 99, ALL), keys, "ties by key");
        assert_eq!(expired(&desk, 99, 2), keys[..2]);
        assert_eq!(expired(&desk, 99, 0), []);
        desk.crash();
    }
}

pub fn a_record_that_no_longer_expires_is_not_found(fixture: &mut dyn Fixture) {
    let mut desk = Desk::new(fixture);
    let names = ["never", "lifted", "moved", "dropped"];
    let [never, lifted, moved, dropped] = names.map(|name| key("s", name));
    let expiring_keys = [&lifted, &moved, &dropped];
    desk.commit(put(expiring_keys.map(|key| expiring(key, Some(0)))));
    let again = [expiring(&never, None), expiring(&lifted, None), expiring(&moved, Some(5))];
    desk.commit(put(again.into_iter().chain([(dropped, None)])));
    for _ in 0..2 {
        assert_eq!(expired(&desk, 4, ALL), []);
        assert_eq!(expired(&desk, 1_000_000, ALL), std::slice::from_ref(&moved));
        desk.crash();
    }
}

/// An effect that somebody outside has until then.
fn lapsing(name: &str, ms: i64) -> (RecordKey, Option<Record>) {
    let mut record = Record::new(RecordState::Claimed, BEGIN);
    record.detail.lease_until = Some(BEGIN.plus_ms(ms));
    (RecordKey::effect("charge", name), Some(record))
}

pub fn claims_that_lapse_are_found_earliest_first(fixture: &mut dyn Fixture) {
    let mut desk = Desk::new(fixture);
    let lapsed = |desk: &Desk<'_>, ms: i64, max: usize| {
        desk.store().lapsed_records(BEGIN.plus_ms(ms), max).expect("readable")
    };
    let rows = [("late", 30), ("b", 20), (UNICODE, 20), ("early", 10), ("over", 5), ("longer", 5)];
    desk.commit(put(rows.map(|(name, ms)| lapsing(name, ms))));
    let (over, mut done) = lapsing("over", 5);
    done.iter_mut().for_each(|record| record.state = RecordState::Unknown);
    let (_, claim) = lapsing("", 1);
    let of_a_run = claim.clone().map(|it| Record { run: Some(execution(1)), ..it });
    let others = [(over, done), lapsing("longer", 40), (RecordKey::lock("till"), claim)];
    let own = (RecordKey::effect("charge", "of a run"), of_a_run);
    desk.commit(put(others.into_iter().chain([own])));
    let keys = ["early", "b", UNICODE, "late"].map(|name| RecordKey::effect("charge", name));
    for _ in 0..2 {
        assert_eq!(lapsed(&desk, 9, ALL), [], "neither locks, nor runs, nor what is over");
        assert_eq!(lapsed(&desk, 10, ALL), keys[..1], "from its time on");
        assert_eq!(lapsed(&desk, 30, ALL), keys, "ties by key");
        assert_eq!(lapsed(&desk, 30, 2), keys[..2]);
        desk.crash();
    }
}
