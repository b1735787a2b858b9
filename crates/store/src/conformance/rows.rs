//! # Rows: what is read is what was written
//!
//! With every optional field set and unset, and each way round: a store that writes only what
//! changed in a row must notice all that changed.

use semel_engine::{Delivery, Detail, HandOut, Head, Link, RecordKey, RecordState, Window};
use semel_model::{Digest, WorkflowStatus};

use super::samples::{self, BEGIN, UNICODE, execution, place};
use super::{Desk, Fixture};
use crate::{LimitRow, Row, Touches, Writes};

pub fn a_head_is_read_as_it_was_written(fixture: &mut dyn Fixture) {
    let mut desk = Desk::new(fixture);
    let (bare, full) = (samples::head(1), samples::full_head(1));
    let moved = Head {
        link: Link { seq: 2, digest: Digest::of(b"moved") },
        updated_at: BEGIN,
        ..bare.clone()
    };
    let woken = Head { wake_at: Some(BEGIN), ..moved.clone() };
    let ended = Head { ended_at: BEGIN, status: WorkflowStatus::Failed, ..full.clone() };
    for head in [bare.clone(), moved, woken, full, ended, bare] {
        for is_held in [true, false] {
            if is_held {
                desk.hold(&touch_head());
            }
            desk.commit(samples::put_heads([head.clone()]));
            assert_eq!(desk.store().head(head.id).expect("readable"), Some(head.clone()));
            assert_eq!(desk.look(&touch_head()).heads[&head.id], Some(head.clone()));
        }
        desk.crash();
        assert_eq!(desk.store().head(head.id).expect("readable"), Some(head));
    }
}

pub fn a_head_is_read_as_it_was_written_in_every_status(fixture: &mut dyn Fixture) {
    let mut desk = Desk::new(fixture);
    for status in WorkflowStatus::ALL {
        let head = Head { status: *status, ..samples::head(1) };
        desk.commit(samples::put_heads([head.clone()]));
        assert_eq!(desk.look(&touch_head()).heads[&head.id], Some(head));
    }
}

pub fn a_change_of_any_one_field_of_a_head_is_written(fixture: &mut dyn Fixture) {
    let mut desk = Desk::new(fixture);
    let bare = samples::head(1);
    let steps: [fn(&mut Head, &Head); 13] = [
        |head, bare| head.link = bare.link,
        |head, bare| head.wake_at = bare.wake_at,
        |head, bare| head.status = bare.status,
        |head, bare| head.parked = bare.parked.clone(),
        |head, bare| head.name = bare.name.clone(),
        |head, bare| head.version = bare.version,
        |head, bare| head.correlation_id = bare.correlation_id.clone(),
        |head, bare| head.idempotency_key = bare.idempotency_key.clone(),
        |head, bare| head.principal = bare.principal.clone(),
        |head, bare| head.started_at = bare.started_at,
        |head, bare| head.updated_at = bare.updated_at,
        |head, bare| head.ended_at = bare.ended_at,
        |head, bare| head.root = bare.root,
    ];
    let mut head = samples::full_head(1);
    desk.commit(samples::put_heads([head.clone()]));
    for step in steps {
        desk.hold(&touch_head());
        step(&mut head, &bare);
        desk.commit(samples::put_heads([head.clone()]));
        assert_eq!(desk.store().head(head.id).expect("readable").as_ref(), Some(&head));
    }
    assert_eq!(head, bare, "every field had its turn");
}

fn touch_head() -> Touches {
    Touches { heads: [execution(1)].into(), ..Touches::default() }
}

pub fn a_delivery_is_read_as_it_was_written(fixture: &mut dyn Fixture) {
    let mut desk = Desk::new(fixture);
    let at = place(1, 2);
    let touches = Touches { deliveries: [at].into(), ..Touches::default() };
    desk.commit(samples::put_heads([samples::head(1)]));
    for row in deliveries() {
        for is_held in [true, false] {
            if is_held {
                desk.hold(&touches);
            }
            desk.commit(samples::put_deliveries([row.clone()]));
            assert_eq!(desk.store().delivery(at).expect("readable"), Some(row.clone()));
            assert_eq!(desk.look(&touches).deliveries[&at], Some(row.clone()));
            let loaded = desk.store().load(at.execution, 0).expect("readable").expect("present");
            assert_eq!(loaded.deliveries, std::slice::from_ref(&row));
        }
        desk.crash();
        assert_eq!(desk.store().delivery(at).expect("readable"), Some(row));
    }
}

/// Each differs from the one before in one way.
fn deliveries() -> Vec<Delivery> {
    let (bare, full) = (samples::delivery(1, 2), samples::full_delivery(1, 2));
    let bare_but_handed_out = Delivery { hand_out: full.hand_out.clone(), ..bare.clone() };
    let full_but_waiting = Delivery { hand_out: HandOut::default(), ..full.clone() };
    let other_worker = HandOut { worker: Some(String::new()), ..full.hand_out.clone() };
    let other_output = samples::payload(r#""only the output""#);
    vec![
        bare.clone(),
        bare_but_handed_out,
        full.clone(),
        Delivery { hand_out: other_worker, ..full.clone() },
        Delivery { output: other_output, ..full.clone() },
        full_but_waiting,
        Delivery { reason: None, ..full },
        bare,
    ]
}

pub fn a_change_of_any_one_field_of_a_delivery_is_written(fixture: &mut dyn Fixture) {
    let mut desk = Desk::new(fixture);
    let bare = samples::delivery(1, 2);
    let steps: [fn(&mut Delivery, &Delivery); 16] = [
        |row, bare| row.queue.task_type = bare.queue.task_type.clone(),
        |row, bare| row.queue.domain = bare.queue.domain.clone(),
        |row, bare| row.priority = bare.priority,
        |row, bare| row.ready_at = bare.ready_at,
        |row, bare| row.seq = bare.seq,
        |row, bare| row.reference = bare.reference.clone(),
        |row, bare| row.attempt = bare.attempt,
        |row, bare| row.epoch = bare.epoch,
        |row, bare| row.scheduled_at = bare.scheduled_at,
        |row, bare| row.definition = bare.definition,
        |row, bare| row.correlation_id = bare.correlation_id.clone(),
        |row, bare| row.traceparent = bare.traceparent,
        |row, bare| row.replaces = bare.replaces,
        |row, bare| row.reason = bare.reason.clone(),
        |row, bare| row.input = bare.input.clone(),
        |row, bare| row.output = bare.output.clone(),
    ];
    let hand_out_steps: [fn(&mut HandOut, &HandOut); 11] = [
        |hand_out, bare| hand_out.fence = bare.fence,
        |hand_out, bare| hand_out.leased = bare.leased,
        |hand_out, bare| hand_out.worker = bare.worker.clone(),
        |hand_out, bare| hand_out.lease_until = bare.lease_until,
        |hand_out, bare| hand_out.run_until = bare.run_until,
        |hand_out, bare| hand_out.poll_until = bare.poll_until,
        |hand_out, bare| hand_out.started_at = bare.started_at,
        |hand_out, bare| hand_out.updated_at = bare.updated_at,
        |hand_out, bare| hand_out.polls = bare.polls,
        |hand_out, bare| hand_out.token = bare.token,
        |hand_out, bare| hand_out.armed = bare.armed,
    ];
    let mut row = samples::full_delivery(1, 2);
    desk.commit(samples::put_deliveries([row.clone()]));
    for step in steps {
        step(&mut row, &bare);
        write_held(&mut desk, &row);
    }
    for step in hand_out_steps {
        step(&mut row.hand_out, &bare.hand_out);
        write_held(&mut desk, &row);
    }
    assert_eq!(row, bare, "every field had its turn");
}

fn write_held(desk: &mut Desk<'_>, row: &Delivery) {
    let at = samples::place_of(row);
    desk.hold(&Touches { deliveries: [at].into(), ..Touches::default() });
    desk.commit(samples::put_deliveries([row.clone()]));
    assert_eq!(desk.store().delivery(at).expect("readable").as_ref(), Some(row));
}

pub fn a_record_is_read_as_it_was_written(fixture: &mut dyn Fixture) {
    let mut desk = Desk::new(fixture);
    let key = RecordKey::start(UNICODE, UNICODE);
    let touches = Touches { records: [key.clone()].into(), ..Touches::default() };
    let expiries = [None, Some(BEGIN), Some(BEGIN.plus_ms(-1)), None];
    for (live, expires_at) in [true, false, true, false].into_iter().zip(expiries) {
        let detail =
            Detail { fence: u64::MAX, owner: Some(UNICODE.to_owned()), ..Detail::default() };
        let (state, run) = (RecordState::Unknown, live.then(|| samples::execution(1)));
        let record =
            semel_engine::Record { state, run, live, expires_at, detail, ..samples::record(1) };
        let records = [(key.clone(), Some(record.clone()))].into();
        desk.commit(Writes { records, ..Writes::default() });
        assert_eq!(desk.store().record(&key).expect("readable"), Some(record.clone()));
        desk.crash();
        assert_eq!(desk.look(&touches).records[&key], Some(record));
    }
}

pub fn record_keys_are_compared_byte_for_byte(fixture: &mut dyn Fixture) {
    let mut desk = Desk::new(fixture);
    let names = ["a", "A", " a", "a ", "", "a%", "\u{e9}", "e\u{301}", "0", "00"];
    let key = |name: &str| RecordKey { scope: "s".to_owned(), key: name.to_owned() };
    let records = (1..).zip(names).map(|(run, name)| (key(name), Some(samples::record(run))));
    let records = records.chain([(key("s"), Some(samples::record(99)))]).collect();
    desk.commit(Writes { records, ..Writes::default() });
    for (run, name) in (1..).zip(names) {
        let found = desk.store().record(&key(name)).expect("readable");
        assert_eq!(found, Some(samples::record(run)), "{name:?}");
    }
    let swapped = RecordKey { scope: "a".to_owned(), key: "s".to_owned() };
    assert_eq!(desk.store().record(&swapped).expect("readable"), None);
}

pub fn a_limit_is_read_as_it_was_written(fixture: &mut dyn Fixture) {
    let mut desk = Desk::new(fixture);
    let touches = Touches { limits: [UNICODE.to_owned()].into(), ..Touches::default() };
    assert_eq!(desk.look(&touches).limits[UNICODE], LimitRow::default());
    for window in [samples::window(), Window::default(), samples::window()] {
        let limits = [(UNICODE.to_owned(), window.clone())].into();
        desk.commit(Writes { limits, ..Writes::default() });
        assert_eq!(desk.look(&touches).limits[UNICODE].window, window);
        desk.crash();
        assert_eq!(desk.look(&touches).limits[UNICODE].window, window);
    }
}

pub fn a_deleted_row_is_gone(fixture: &mut dyn Fixture) {
    let mut desk = Desk::new(fixture);
    let key = RecordKey::start("w", "k");
    let (gone, kept) = (place(1, 1), place(1, 2));
    let records = [(key.clone(), Some(samples::record(1)))].into();
    let rows = [samples::delivery(1, 1), samples::delivery(1, 2)];
    desk.commit(Writes { records, ..samples::put_deliveries(rows) });
    let records = [(key.clone(), None)].into();
    desk.commit(Writes { records, ..samples::drop_deliveries([gone, place(9, 9)]) });
    for _ in 0..2 {
        assert_eq!(desk.store().record(&key).expect("readable"), None);
        assert_eq!(desk.store().delivery(gone).expect("readable"), None);
        assert!(desk.store().delivery(kept).expect("readable").is_some());
        desk.crash();
    }
}

pub fn a_large_payload_is_read_as_it_was_written(fixture: &mut dyn Fixture) {
    let mut desk = Desk::new(fixture);
    let at = place(1, 1);
    let large = samples::payload(&format!("\"{}\"", "é".repeat(1 << 19)));
    let row = Delivery { input: large.clone(), output: large, ..samples::delivery(1, 1) };
    let taken = samples::leased(row.clone(), BEGIN);
    let touches = Touches { deliveries: [at].into(), ..Touches::default() };
    for row in [row, taken, samples::delivery(1, 1)] {
        desk.hold(&touches);
        desk.commit(samples::put_deliveries([row.clone()]));
        desk.crash();
        assert!(desk.store().delivery(at).expect("readable") == Some(row), "not the same row");
    }
}

pub fn every_row_asked_for_is_held_present_or_absent(fixture: &mut dyn Fixture) {
    let mut desk = Desk::new(fixture);
    let key = RecordKey::start("w", "k");
    let document =
        crate::DocumentKey { kind: crate::Kind::TaskDefinition, name: "d".to_owned(), version: 0 };
    let row = samples::delivery(1, 2);
    let (message, absent) = (samples::message(1, 1, 0), samples::message_key(1, 1, 1));
    desk.commit(samples::put_deliveries([row.clone(), samples::delivery(2, 2)]));
    desk.commit(samples::put_messages([message.clone(), samples::message(2, 1, 0)]));
    let touches = Touches {
        heads: [execution(1)].into(),
        records: [key.clone()].into(),
        deliveries: [place(1, 1)].into(),
        all_deliveries: [execution(1)].into(),
        wanted: [(samples::queue("nobody"), 1)].into(),
        tokens: [Digest::of(b"nobody")].into(),
        messages: [message.key, absent].into(),
        documents: [document.clone()].into(),
        ..Touches::default()
    };
    let held = desk.hold(&touches);
    assert_eq!(held.now, desk.now());
    assert_eq!(held.heads, [(execution(1), None)].into());
    assert_eq!(held.records, [(key, None)].into());
    assert_eq!(held.deliveries, [(place(1, 1), None), (place(1, 2), Some(row))].into());
    assert_eq!(held.ready, [(samples::queue("nobody"), vec![])].into());
    assert_eq!(held.by_token, [(Digest::of(b"nobody"), vec![])].into());
    assert_eq!(held.messages, [(message.key, Some(message)), (absent, None)].into());
    assert_eq!(held.documents, [(document, None)].into());
    assert_eq!(held.skipped, std::collections::BTreeSet::<Row>::new());
}

pub fn records_are_listed_by_scope_and_key(fixture: &mut dyn Fixture) {
    let mut desk = Desk::new(fixture);
    let key = |scope: &str, key: &str| RecordKey { scope: scope.to_owned(), key: key.to_owned() };
    let keys =
        [("effect:a", "1"), ("effect:a", "2"), ("effect:b", "0"), ("effect;", "0"), ("wf:w", "k")];
    let records = keys.map(|(scope, name)| (key(scope, name), Some(samples::record(1))));
    desk.commit(Writes { records: records.into(), ..Writes::default() });
    let list = |scopes: &str, after: Option<RecordKey>, max| {
        let found = desk.store().records(scopes, after.as_ref(), max).expect("readable");
        found.into_iter().map(|(key, _)| format!("{} {}", key.scope, key.key)).collect::<Vec<_>>()
    };
    assert_eq!(list("effect:", None, 2), ["effect:a 1", "effect:a 2"]);
    assert_eq!(list("effect:", Some(key("effect:a", "2")), 9), ["effect:b 0"]);
    assert_eq!(list("effect:a", None, 9), ["effect:a 1", "effect:a 2"]);
    assert_eq!(list("effect:c", None, 9), Vec::<String>::new());
    assert_eq!(list("", None, 9).len(), 5);
}
