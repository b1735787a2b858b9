//! # Samples: rows for the suite, with everything set and with nothing set

use semel_engine::{
    Address, Delivery, ENGINE_VERSION, Entry, Event, Facts, HandOut, Head, Limits, Link,
    MessageKey, MessageRow, Queue, Record, RecordState, Window,
};
use semel_model::{Digest, ExecutionId, Payload, TaskId, Timestamp, Traceparent, WorkflowStatus};

use crate::{Place, Writes};

/// When every rule begins.
pub const BEGIN: Timestamp = Timestamp::from_ms(1_700_000_000_000);

/// Text that breaks what is not byte for byte.
pub const UNICODE: &str = "Ünï \u{1F600} e\u{301} \u{202E} 'q' \"d\" %_\\ \n\t漢字";

pub fn execution(number: u8) -> ExecutionId {
    ExecutionId::from_bytes([number; 16])
}

pub fn task(number: u8) -> TaskId {
    TaskId::from_bytes([number; 16])
}

pub fn place(of_execution: u8, of_task: u8) -> Place {
    Place { execution: execution(of_execution), task: task(of_task) }
}

pub fn place_of(row: &Delivery) -> Place {
    Place { execution: row.execution, task: row.task }
}

pub fn queue(task_type: &str) -> Queue {
    Queue { task_type: task_type.to_owned(), domain: None }
}

pub fn payload(text: &str) -> Payload {
    Payload::from_text(text.to_owned()).expect("samples are JSON")
}

/// With nothing set that may be unset.
pub fn head(number: u8) -> Head {
    Head {
        id: execution(number),
        link: Link { seq: 1, digest: Digest::of(&[number]) },
        wake_at: None,
        status: WorkflowStatus::Running,
        parked: None,
        name: String::new(),
        version: 0,
        correlation_id: None,
        idempotency_key: None,
        principal: String::new(),
        started_at: Timestamp::NOT_YET,
        updated_at: Timestamp::NOT_YET,
        ended_at: Timestamp::NOT_YET,
        root: None,
    }
}

/// With everything set.
pub fn full_head(number: u8) -> Head {
    Head {
        id: execution(number),
        link: Link { seq: 1 << 40, digest: Digest::of(b"full") },
        wake_at: Some(BEGIN.plus_ms(5_000)),
        status: WorkflowStatus::Paused,
        parked: Some(UNICODE.to_owned()),
        name: UNICODE.to_owned(),
        version: i32::MIN,
        correlation_id: Some(String::new()),
        idempotency_key: Some(UNICODE.to_owned()),
        principal: "anonymous".to_owned(),
        started_at: BEGIN,
        updated_at: BEGIN.plus_ms(1),
        ended_at: BEGIN.plus_ms(2),
        root: Some(execution(7)),
    }
}

/// A head and a journal of so many entries that leads to it.
pub fn journal(number: u8, entries: u64) -> Writes {
    let mut head = head(number);
    head.link = Link::default();
    let mut writes = Writes::default();
    for seq in 1..=entries {
        let entry = Entry {
            at: BEGIN,
            engine_version: ENGINE_VERSION,
            actor: UNICODE.to_owned(),
            event_id: seq.to_string(),
            cause: Event::Woke,
            facts: Facts::default(),
            changes: Vec::new(),
            payloads: Vec::new(),
            prev: head.link.digest,
        };
        let bytes = entry.encode();
        head.link = Link { seq, digest: Digest::of(&bytes) };
        writes.entries.push((head.id, seq, bytes));
    }
    writes.heads.insert(head.id, head);
    writes
}

/// With nothing set that may be unset; ready since the beginning, in queue `work`.
pub fn delivery(of_execution: u8, of_task: u8) -> Delivery {
    Delivery {
        task: task(of_task),
        execution: execution(of_execution),
        queue: queue("work"),
        priority: 0,
        ready_at: BEGIN,
        seq: 0,
        reference: String::new(),
        attempt: 0,
        epoch: 0,
        scheduled_at: Timestamp::NOT_YET,
        definition: Digest::default(),
        correlation_id: None,
        traceparent: None,
        replaces: None,
        reason: None,
        input: Payload::empty(),
        output: Payload::empty(),
        hand_out: HandOut::default(),
    }
}

/// With everything set.
pub fn full_delivery(of_execution: u8, of_task: u8) -> Delivery {
    Delivery {
        queue: Queue { task_type: UNICODE.to_owned(), domain: Some(UNICODE.to_owned()) },
        priority: -7,
        ready_at: BEGIN.plus_ms(9),
        seq: u32::MAX,
        reference: UNICODE.to_owned(),
        attempt: u32::MAX,
        epoch: u32::MAX,
        scheduled_at: BEGIN.plus_ms(8),
        definition: Digest::of(b"definition"),
        correlation_id: Some(String::new()),
        traceparent: Traceparent::new(u128::MAX, 1, 1),
        replaces: Some(task(0)),
        reason: Some(UNICODE.to_owned()),
        input: payload(r#"{"b": 1.0, "a": ["\ud83d\ude00 漢字", null, 1e3]}"#),
        output: payload("[ ]"),
        hand_out: full_hand_out(),
        ..delivery(of_execution, of_task)
    }
}

pub fn full_hand_out() -> HandOut {
    HandOut {
        fence: 1 << 40,
        leased: true,
        worker: Some(UNICODE.to_owned()),
        lease_until: Some(BEGIN.plus_ms(60_000)),
        run_until: Some(BEGIN.plus_ms(70_000)),
        poll_until: Some(BEGIN.plus_ms(80_000)),
        started_at: BEGIN.plus_ms(10),
        updated_at: BEGIN.plus_ms(11),
        polls: u32::MAX,
        token: Some(Digest::of(b"token")),
        armed: true,
    }
}

/// Taken by a worker, for a minute from `from`.
pub fn leased(row: Delivery, from: Timestamp) -> Delivery {
    let lease_until = Some(from.plus_ms(60_000));
    let hand_out = HandOut { leased: true, armed: true, lease_until, fence: 1, ..row.hand_out };
    Delivery { hand_out, ..row }
}

pub fn record(run: u8) -> Record {
    let run = Some(execution(run));
    Record { run, live: true, version: i32::MAX, ..Record::new(RecordState::Completed, BEGIN) }
}

pub fn message_key(from: u8, seq: u64, at: u32) -> MessageKey {
    MessageKey { from: execution(from), seq, at }
}

/// To another execution.
pub fn message(from: u8, seq: u64, at: u32) -> MessageRow {
    let to = Address::Execution(execution(200));
    MessageRow { key: message_key(from, seq, at), to, body: b"message".to_vec(), waits: None }
}

/// To a sink.
pub fn publication(from: u8, seq: u64, at: u32) -> MessageRow {
    MessageRow { to: Address::Sink(UNICODE.to_owned()), ..message(from, seq, at) }
}

/// A window with something in it.
pub fn window() -> Window {
    let limits = Limits { per_window_max: 10, window_ms: 1000, ..Limits::default() };
    let mut window = Window::default();
    window.take(BEGIN, &limits, 3);
    window.take(BEGIN.plus_ms(500), &limits, 2);
    window
}

pub fn put_heads(heads: impl IntoIterator<Item = Head>) -> Writes {
    let heads = heads.into_iter().map(|head| (head.id, head)).collect();
    Writes { heads, ..Writes::default() }
}

pub fn put_deliveries(rows: impl IntoIterator<Item = Delivery>) -> Writes {
    let deliveries = rows.into_iter().map(|row| (place_of(&row), Some(row))).collect();
    Writes { deliveries, ..Writes::default() }
}

pub fn drop_deliveries(places: impl IntoIterator<Item = Place>) -> Writes {
    let deliveries = places.into_iter().map(|place| (place, None)).collect();
    Writes { deliveries, ..Writes::default() }
}

pub fn put_messages(rows: impl IntoIterator<Item = MessageRow>) -> Writes {
    let messages = rows.into_iter().map(|row| (row.key, Some(row))).collect();
    Writes { messages, ..Writes::default() }
}

pub fn drop_messages(keys: impl IntoIterator<Item = MessageKey>) -> Writes {
    let messages = keys.into_iter().map(|key| (key, None)).collect();
    Writes { messages, ..Writes::default() }
}
