//! # What waits, as people are told of it

use semel_engine::{Head, Record, RecordKey, RecordState, Wait};
use semel_model::Timestamp;

use super::samples::{self, BEGIN};
use super::{Desk, Fixture};
use crate::waits::{Open, OpenWaits};
use crate::{LimitRow, Writes};

pub fn what_waits_is_counted_by_kind_with_its_oldest(fixture: &mut dyn Fixture) {
    let mut desk = Desk::new(fixture);
    assert_eq!(desk.store().open_waits().expect("readable"), OpenWaits::default());
    let since = |ms: i64| u64::try_from(ms).expect("after 1970") * 1_000;
    let on = |scope: &str, key: &str| RecordKey { scope: scope.to_owned(), key: key.to_owned() };
    let lines = [
        (1, on("gate:checkout", "a"), 20),
        (2, on("gate:checkout", "b"), 10),
        (3, on("lock", "till"), 30),
    ];
    let rows = lines.map(|(number, on, at)| {
        let mut row = samples::message(number, 1, 0);
        row.waits = Some(Wait { on, since: since(BEGIN.ms() + at) });
        row
    });
    let messages = rows.iter().map(|row| (row.key, Some(row.clone()))).collect();
    let unknown = |at: i64| {
        let mut record = Record::new(RecordState::Unknown, BEGIN);
        record.detail.decided_at = Some(BEGIN.plus_ms(at));
        record
    };
    let records = [
        (on("effect:charge", "late"), Some(unknown(9))),
        (on("effect:charge", "soon"), Some(unknown(3))),
        (on("effect:charge", "done"), Some(Record::new(RecordState::Completed, BEGIN))),
    ];
    desk.commit(Writes { messages, records: records.into(), ..Writes::default() });
    let parked = Head { parked: Some("why".to_owned()), ..samples::head(1) };
    let parked_at = parked.updated_at;
    desk.commit(samples::put_heads([parked, samples::head(2)]));
    let at = |ms: i64| Some(BEGIN.plus_ms(ms));
    for _ in 0..2 {
        let open = desk.store().open_waits().expect("readable");
        assert_eq!(open.lines["gate"], Open { count: 2, oldest: at(10) });
        assert_eq!(open.lines["lock"], Open { count: 1, oldest: at(30) });
        assert_eq!(open.parked, Open { count: 1, oldest: Some(parked_at) });
        assert_eq!(open.unknown, Open { count: 2, oldest: at(3) }, "by the moment of doubt");
        assert_eq!(open.lines.len(), 2);
        let line = desk.store().line(&on("lock", "till"), 9).expect("readable");
        assert_eq!(line, [rows[2].clone()]);
        assert_eq!(desk.store().line(&on("lock", "other"), 9).expect("readable"), []);
        desk.crash();
    }
}

pub fn a_limit_can_be_read_without_holding_it(fixture: &mut dyn Fixture) {
    let mut desk = Desk::new(fixture);
    assert_eq!(desk.store().limit("work").expect("readable"), LimitRow::default());
    let limits = semel_engine::Limits { per_window_max: 3, window_ms: 1000, concurrent_max: 0 };
    let mut window = semel_engine::Window::default();
    window.take(Timestamp::from_ms(BEGIN.ms()), &limits, 2);
    let limits = [("work".to_owned(), window.clone())].into();
    desk.commit(Writes { limits, ..Writes::default() });
    let held = samples::leased(samples::delivery(2, 1), BEGIN);
    desk.commit(samples::put_heads([samples::head(2)]));
    desk.commit(samples::put_deliveries([held, samples::delivery(2, 2)]));
    for _ in 0..2 {
        let found = desk.store().limit("work").expect("readable");
        assert_eq!(found, LimitRow { window: window.clone(), in_flight: 1 });
        desk.crash();
    }
}
