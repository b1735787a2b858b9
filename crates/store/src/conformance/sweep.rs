//! # Sweeping: what ended and what expired, the oldest first

use semel_engine::{Head, Record, RecordKey};
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
