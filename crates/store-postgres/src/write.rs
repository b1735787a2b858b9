//! # Writing: a round as one transaction
//!
//! One statement per kind of rows, each row once, and of a row the round has seen only what has
//! changed: most rounds move the end of a journal and hand out tasks, and need touch no index.
//! What is offered by its time (`due_at`) is so again with every write.

use semel_engine::{Address, Delivery, Head, MessageKey, MessageRow, Record, RecordKey};
use semel_model::Timestamp;
use semel_store::{DocumentKey, Place, Stamp, Writes};
use uuid::Uuid;

use crate::asks::{Asks, At, Value, column, values};
use crate::columns::{task_uuid, uuid};
use crate::hold::{Round, place_keys};
use crate::missing::{document_keys, message_keys, record_keys};
use crate::named::{by_document, by_message, by_place, by_record, where_named};
use crate::own::Lane;

pub(crate) const COMMIT: &str = "COMMIT";
const APPEND: &str = "INSERT INTO journal (execution, seq, entry) \
     SELECT * FROM unnest($1::uuid[], $2::bigint[], $3::bytea[])";
const PUT_HEADS: &str = "INSERT INTO executions (id, seq, digest, wake_at, status, parked, name, \
     version, correlation_id, idempotency_key, principal, started_at, updated_at, ended_at, root, \
     due_at) SELECT *, wake_at FROM unnest($1::uuid[], $2::bigint[], $3::bytea[], $4::bigint[], \
     $5::text[], $6::bytea[], $7::text[], $8::integer[], $9::text[], $10::text[], $11::text[], \
     $12::bigint[], $13::bigint[], $14::bigint[], $15::uuid[]) AS new (id, seq, digest, wake_at, status, \
     parked, name, version, correlation_id, idempotency_key, principal, started_at, updated_at, \
     ended_at, root) \
     ON CONFLICT (id) DO UPDATE SET seq = excluded.seq, digest = excluded.digest, \
     wake_at = excluded.wake_at, status = excluded.status, parked = excluded.parked, \
     name = excluded.name, version = excluded.version, correlation_id = excluded.correlation_id, \
     idempotency_key = excluded.idempotency_key, principal = excluded.principal, \
     started_at = excluded.started_at, updated_at = excluded.updated_at, \
     ended_at = excluded.ended_at, root = excluded.root, due_at = excluded.due_at, \
     told_by = NULL";
const MOVE_HEADS: &str = "UPDATE executions SET seq = new.seq, digest = new.digest, \
     updated_at = new.updated_at, due_at = wake_at, told_by = NULL \
     FROM unnest($1::uuid[], $2::bigint[], $3::bytea[], $4::bigint[]) \
     AS new (id, seq, digest, updated_at), \
     LATERAL (SELECT ctid FROM executions WHERE executions.id = new.id OFFSET 0) AS found \
     WHERE executions.ctid = found.ctid";
const PUT_DELIVERIES: &str = "INSERT INTO deliveries (execution, task, fence, leased, worker, \
     lease_until, run_until, poll_until, started_at, updated_at, polls, token, armed, due_at, \
     delayed, task_type, domain, priority, ready_at, seq, reference, attempt, scheduled_at, \
     definition, correlation_id, replaces, reason, traceparent, epoch, input, output) \
     SELECT * FROM unnest($1::uuid[], $2::uuid[], $3::bigint[], $4::boolean[], $5::text[], \
     $6::bigint[], $7::bigint[], $8::bigint[], $9::bigint[], $10::bigint[], $11::bigint[], \
     $12::bytea[], $13::boolean[], $14::bigint[], $15::boolean[], $16::text[], $17::text[], \
     $18::integer[], $19::bigint[], $20::bigint[], $21::text[], $22::bigint[], $23::bigint[], \
     $24::bytea[], $25::text[], $26::uuid[], $27::bytea[], $28::text[], $29::bigint[], \
     $30::bytea[], $31::bytea[]) \
     ON CONFLICT (execution, task) DO UPDATE SET fence = excluded.fence, \
     leased = excluded.leased, worker = excluded.worker, lease_until = excluded.lease_until, \
     run_until = excluded.run_until, poll_until = excluded.poll_until, \
     started_at = excluded.started_at, updated_at = excluded.updated_at, polls = excluded.polls, \
     token = excluded.token, armed = excluded.armed, due_at = excluded.due_at, \
     delayed = excluded.delayed, task_type = excluded.task_type, domain = excluded.domain, \
     priority = excluded.priority, ready_at = excluded.ready_at, seq = excluded.seq, \
     reference = excluded.reference, attempt = excluded.attempt, \
     scheduled_at = excluded.scheduled_at, definition = excluded.definition, \
     correlation_id = excluded.correlation_id, replaces = excluded.replaces, \
     reason = excluded.reason, traceparent = excluded.traceparent, epoch = excluded.epoch, \
     input = excluded.input, output = excluded.output, told_by = NULL";
const HAND_OUT: &str = "UPDATE deliveries SET fence = new.fence, leased = new.leased, \
     worker = new.worker, lease_until = new.lease_until, run_until = new.run_until, \
     poll_until = new.poll_until, started_at = new.started_at, updated_at = new.updated_at, \
     polls = new.polls, token = new.token, armed = new.armed, due_at = new.due_at, \
     delayed = new.delayed, told_by = NULL \
     FROM unnest($1::uuid[], $2::uuid[], $3::bigint[], $4::boolean[], $5::text[], $6::bigint[], \
     $7::bigint[], $8::bigint[], $9::bigint[], $10::bigint[], $11::bigint[], $12::bytea[], \
     $13::boolean[], $14::bigint[], $15::boolean[]) AS new (execution, task, fence, leased, \
     worker, lease_until, run_until, poll_until, started_at, updated_at, polls, token, armed, \
     due_at, delayed), \
     LATERAL (SELECT ctid FROM deliveries WHERE deliveries.execution = new.execution \
         AND deliveries.task = new.task OFFSET 0) AS found \
     WHERE deliveries.ctid = found.ctid";
const DROP_DELIVERIES: &str = concat!("DELETE FROM deliveries ", where_named!(by_place));
const PUT_MESSAGES: &str = "INSERT INTO messages (sender, seq, at, receiver, sink, body, \
     waits_scope, waits_key, waits_since, due_at, told_by) \
     SELECT * FROM unnest($1::uuid[], $2::bigint[], $3::bigint[], $4::uuid[], $5::text[], \
     $6::bytea[], $7::text[], $8::text[], $9::bigint[], $10::bigint[], $11::bigint[]) \
     ON CONFLICT (sender, seq, at) DO UPDATE SET receiver = excluded.receiver, \
     sink = excluded.sink, body = excluded.body, waits_scope = excluded.waits_scope, \
     waits_key = excluded.waits_key, waits_since = excluded.waits_since, \
     due_at = excluded.due_at, told_by = excluded.told_by";
const DROP_MESSAGES: &str = concat!("DELETE FROM messages ", where_named!(by_message));
const PUT_RECORDS: &str = "INSERT INTO records (scope, key, run, live, version, created_at, \
     expires_at, state, detail, lapses_at, doubted_at) \
     SELECT * FROM unnest($1::text[], $2::text[], $3::uuid[], $4::boolean[], $5::integer[], \
     $6::bigint[], $7::bigint[], $8::text[], $9::bytea[], $10::bigint[], $11::bigint[]) \
     ON CONFLICT (scope, key) DO UPDATE SET run = excluded.run, live = excluded.live, \
     version = excluded.version, created_at = excluded.created_at, \
     expires_at = excluded.expires_at, state = excluded.state, detail = excluded.detail, \
     lapses_at = excluded.lapses_at, doubted_at = excluded.doubted_at";
const DROP_RECORDS: &str = concat!("DELETE FROM records ", where_named!(by_record));
const PUT_LIMITS: &str = "INSERT INTO limits (task_type, used) \
     SELECT * FROM unnest($1::text[], $2::bytea[]) \
     ON CONFLICT (task_type) DO UPDATE SET used = excluded.used";
/// Who gives and who removes must not miss each other: one at a time.
const ONE_GIVER: &str = "SELECT pg_advisory_xact_lock(7359286001)";
/// Before it is pinned: what was there and given to nobody may be needed by anybody. Not by EXISTS, for
/// which all that was ever given may be read.
const GIVE: &str = "INSERT INTO given (execution, digest) \
     SELECT * FROM unnest($1::uuid[], $2::bytea[]) AS new (execution, digest) \
     WHERE (SELECT true FROM given WHERE given.digest = new.digest LIMIT 1) \
     OR (SELECT true FROM pinned WHERE pinned.digest = new.digest) IS NULL \
     ON CONFLICT DO NOTHING";
const PIN: &str = "INSERT INTO pinned (digest, body) \
     SELECT * FROM unnest($1::bytea[], $2::bytea[]) ON CONFLICT DO NOTHING";
const PUT_DOCUMENTS: &str = "INSERT INTO documents (kind, name, version, body) \
     SELECT * FROM unnest($1::text[], $2::text[], $3::integer[], $4::bytea[]) \
     ON CONFLICT (kind, name, version) DO UPDATE SET body = excluded.body";
const DROP_DOCUMENTS: &str = concat!("DELETE FROM documents ", where_named!(by_document));
const NEXT_GENERATION: &str =
    "UPDATE meta SET value = value + 1 WHERE name = 'documents_generation'";
const LOG: &str = "INSERT INTO task_logs (execution, task, noted_at, node, lane, round, at, \
     created_at, line) \
     SELECT execution, task, $1, $2, $3, $4, at, created_at, line \
     FROM unnest($5::uuid[], $6::uuid[], $7::integer[], $8::bigint[], $9::text[]) \
     AS new (execution, task, at, created_at, line)";
/// Everything that is kept by execution.
const REMOVE: [&str; 6] = [
    "DELETE FROM executions WHERE id = ANY ($1)",
    "DELETE FROM journal WHERE execution = ANY ($1)",
    "DELETE FROM deliveries WHERE execution = ANY ($1)",
    "DELETE FROM task_logs WHERE execution = ANY ($1)",
    "DELETE FROM pinned \
     WHERE digest = ANY (ARRAY (SELECT digest FROM given WHERE execution = ANY ($1))) \
     AND NOT EXISTS (SELECT 1 FROM given \
         WHERE given.digest = pinned.digest AND NOT execution = ANY ($1))",
    "DELETE FROM given WHERE execution = ANY ($1)",
];
const DROP_PLACEHOLDERS: &str = "DELETE FROM placeholders WHERE key = ANY ($1)";
const STAMP: &str = "UPDATE lanes SET round = $3, at = greatest(at, $4), \
     fence = greatest(fence, $5) WHERE node = $1 AND lane = $2";

/// Everything the round writes, and its COMMIT, which is named.
pub(crate) fn round<'a>(
    asks: &mut Asks<'a>,
    lane: Lane,
    round: &'a Round,
    writes: &'a Writes,
) -> At {
    let entries = &writes.entries;
    asks.add_if(!entries.is_empty(), APPEND, || {
        vec![
            column(entries, |(id, _, _)| uuid(*id)),
            column(entries, |(_, seq, _)| seq.cast_signed()),
            column(entries, |(_, _, entry)| entry.as_slice()),
        ]
    });
    heads(asks, round, writes);
    deliveries(asks, round, writes);
    messages(asks, lane, writes);
    records(asks, writes);
    let limits = &writes.limits;
    asks.add_if(!limits.is_empty(), PUT_LIMITS, || {
        let bytes = |window| serde_json::to_vec(window).expect("a window is plain numbers");
        vec![column(limits.keys(), String::as_str), column(limits.values(), bytes)]
    });
    asks.add_if(!(writes.given.is_empty() && writes.removed.is_empty()), ONE_GIVER, Vec::new);
    asks.add_if(!writes.given.is_empty(), GIVE, || {
        vec![
            column(&writes.given, |(execution, _)| uuid(*execution)),
            column(&writes.given, |(_, digest)| digest.as_bytes().as_slice()),
        ]
    });
    asks.add_if(!writes.pinned.is_empty(), PIN, || {
        vec![
            column(writes.pinned.keys(), |digest| digest.as_bytes().as_slice()),
            column(writes.pinned.values(), Vec::as_slice),
        ]
    });
    documents(asks, writes);
    logs(asks, lane, writes);
    // Last: a removal outweighs what the same round writes.
    for sql in REMOVE {
        asks.add_if(!writes.removed.is_empty(), sql, || {
            vec![column(&writes.removed, |id| uuid(*id))]
        });
    }
    let placeholders = &round.placeholders;
    asks.add_if(!placeholders.is_empty(), DROP_PLACEHOLDERS, || {
        vec![column(placeholders, |key| key.as_bytes().as_slice())]
    });
    let Stamp { round: number, at, fence, .. } = writes.stamp;
    let (number, fence) = (number.cast_signed(), fence.cast_signed());
    asks.add(STAMP, values![lane.node, lane.lane, number, at.ms(), fence]);
    asks.add(COMMIT, Vec::new())
}

fn heads<'a>(asks: &mut Asks<'a>, round: &'a Round, writes: &'a Writes) {
    let has_moved = |head: &&Head| round.heads.get(&head.id).is_some_and(|it| only_moved(it, head));
    let (moved, put): (Vec<&Head>, Vec<&Head>) = writes.heads.values().partition(has_moved);
    asks.add_if(!moved.is_empty(), MOVE_HEADS, || {
        vec![
            column(&moved, |head| uuid(head.id)),
            column(&moved, |head| head.link.seq.cast_signed()),
            column(moved.iter().copied(), |head| head.link.digest.as_bytes().as_slice()),
            column(&moved, |head| head.updated_at.ms()),
        ]
    });
    asks.add_if(!put.is_empty(), PUT_HEADS, || {
        let put = || put.iter().copied();
        vec![
            column(put(), |head| uuid(head.id)),
            column(put(), |head| head.link.seq.cast_signed()),
            column(put(), |head| head.link.digest.as_bytes().as_slice()),
            column(put(), |head| head.wake_at.map(Timestamp::ms)),
            column(put(), |head| head.status.as_str()),
            column(put(), |head| head.parked.as_ref().map(String::as_bytes)),
            column(put(), |head| head.name.as_str()),
            column(put(), |head| head.version),
            column(put(), |head| head.correlation_id.as_deref()),
            column(put(), |head| head.idempotency_key.as_deref()),
            column(put(), |head| head.principal.as_str()),
            column(put(), |head| head.started_at.ms()),
            column(put(), |head| head.updated_at.ms()),
            column(put(), |head| head.ended_at.ms()),
            column(put(), |head| head.root.map(uuid)),
        ]
    });
}

/// The journal is longer and nothing else is different.
fn only_moved(before: &Head, after: &Head) -> bool {
    let moved = Head { link: after.link, updated_at: after.updated_at, ..before.clone() };
    moved == *after
}

fn deliveries<'a>(asks: &mut Asks<'a>, round: &'a Round, writes: &'a Writes) {
    let now = writes.stamp.at;
    let (mut put, mut handed_out, mut dropped) = (Vec::new(), Vec::new(), Vec::new());
    for (place, row) in &writes.deliveries {
        match (round.deliveries.get(place), row) {
            (Some(before), Some(after)) if only_handed_out(before, after) => handed_out.push(after),
            (_, Some(row)) => put.push(row),
            (_, None) => dropped.push(place),
        }
    }
    asks.add_if(!handed_out.is_empty(), HAND_OUT, || hand_out_columns(&handed_out, now));
    asks.add_if(!put.is_empty(), PUT_DELIVERIES, || delivery_columns(&put, now));
    asks.add_if(!dropped.is_empty(), DROP_DELIVERIES, || place_keys(dropped));
}

/// Nothing but the hand-out is different.
fn only_handed_out(before: &Delivery, after: &Delivery) -> bool {
    let Delivery { input, output, .. } = before;
    // The large ones are compared by reference where they can be.
    *input == after.input && *output == after.output && {
        let hand_out = after.hand_out.clone();
        Delivery { hand_out, ..before.clone() } == *after
    }
}

fn hand_out_columns<'a>(rows: &[&'a Delivery], now: Timestamp) -> Vec<Value<'a>> {
    let rows = || rows.iter().copied();
    let time = |at: Option<Timestamp>| at.map(Timestamp::ms);
    vec![
        column(rows(), |row| uuid(row.execution)),
        column(rows(), |row| task_uuid(row.task)),
        column(rows(), |row| row.hand_out.fence.cast_signed()),
        column(rows(), |row| row.hand_out.leased),
        column(rows(), |row| row.hand_out.worker.as_deref()),
        column(rows(), |row| time(row.hand_out.lease_until)),
        column(rows(), |row| time(row.hand_out.run_until)),
        column(rows(), |row| time(row.hand_out.poll_until)),
        column(rows(), |row| row.hand_out.started_at.ms()),
        column(rows(), |row| row.hand_out.updated_at.ms()),
        column(rows(), |row| i64::from(row.hand_out.polls)),
        column(rows(), |row| row.hand_out.token.as_ref().map(|token| token.as_bytes().as_slice())),
        column(rows(), |row| row.hand_out.armed),
        column(rows(), |row| time(row.hand_out.due_at())),
        column(rows(), |row| row.ready_at > now),
    ]
}

fn delivery_columns<'a>(rows: &[&'a Delivery], now: Timestamp) -> Vec<Value<'a>> {
    let mut columns = hand_out_columns(rows, now);
    let rows = || rows.iter().copied();
    columns.extend([
        column(rows(), |row| row.queue.task_type.as_str()),
        column(rows(), |row| row.queue.domain.as_deref()),
        column(rows(), |row| row.priority),
        column(rows(), |row| row.ready_at.ms()),
        column(rows(), |row| i64::from(row.seq)),
        column(rows(), |row| row.reference.as_str()),
        column(rows(), |row| i64::from(row.attempt)),
        column(rows(), |row| row.scheduled_at.ms()),
        column(rows(), |row| row.definition.as_bytes().as_slice()),
        column(rows(), |row| row.correlation_id.as_deref()),
        column(rows(), |row| row.replaces.map(task_uuid)),
        column(rows(), |row| row.reason.as_ref().map(String::as_bytes)),
        column(rows(), |row| row.traceparent.map(|parent| parent.to_string())),
        column(rows(), |row| i64::from(row.epoch)),
        column(rows(), |row| row.input.text().as_bytes()),
        column(rows(), |row| row.output.text().as_bytes()),
    ]);
    columns
}

fn messages<'a>(asks: &mut Asks<'a>, lane: Lane, writes: &'a Writes) {
    let put: Vec<&MessageRow> = writes.messages.values().flatten().collect();
    let dropped = writes.messages.iter().filter(|(_, row)| row.is_none());
    let dropped: Vec<&MessageKey> = dropped.map(|(key, _)| key).collect();
    let due_at = writes.messages_due_at().ms();
    asks.add_if(!put.is_empty(), PUT_MESSAGES, || {
        let put = || put.iter().copied();
        let mut columns = message_keys(put().map(|row| &row.key));
        columns.extend([
            column(put(), |row| receiver(&row.to)),
            column(put(), |row| sink(&row.to)),
            column(put(), |row| row.body.as_slice()),
            column(put(), |row| row.waits.as_ref().map(|wait| wait.on.scope.as_str())),
            column(put(), |row| row.waits.as_ref().map(|wait| wait.on.key.as_str())),
            column(put(), |row| row.waits.as_ref().map(|wait| wait.since.cast_signed())),
            column(put(), |row| row.waits.is_none().then_some(due_at)),
            column(put(), |row| row.waits.is_none().then_some(lane.node)),
        ]);
        columns
    });
    asks.add_if(!dropped.is_empty(), DROP_MESSAGES, || message_keys(dropped));
}

fn receiver(to: &Address) -> Option<Uuid> {
    match to {
        Address::Execution(id) => Some(uuid(*id)),
        Address::Sink(_) => None,
    }
}

fn sink(to: &Address) -> Option<&str> {
    match to {
        Address::Execution(_) => None,
        Address::Sink(sink) => Some(sink),
    }
}

fn records<'a>(asks: &mut Asks<'a>, writes: &'a Writes) {
    let rows = writes.records.iter();
    let put = rows.clone().filter_map(|(key, record)| Some((key, record.as_ref()?)));
    let put: Vec<(&RecordKey, &Record)> = put.collect();
    let dropped = rows.filter(|(_, record)| record.is_none());
    let dropped: Vec<&RecordKey> = dropped.map(|(key, _)| key).collect();
    asks.add_if(!put.is_empty(), PUT_RECORDS, || {
        let mut columns = record_keys(put.iter().map(|(key, _)| *key));
        let lapses = put.iter().map(|(key, record)| record.lapses_at(key));
        let lapses: Vec<_> = lapses.map(|at| at.map(Timestamp::ms)).collect();
        let put = || put.iter().map(|(_, record)| *record);
        columns.extend([
            column(put(), |record| record.run.map(uuid)),
            column(put(), |record| record.live),
            column(put(), |record| record.version),
            column(put(), |record| record.created_at.ms()),
            column(put(), |record| record.expires_at.map(Timestamp::ms)),
            column(put(), |record| record.state.as_str()),
            column(put(), |record| record.detail.encode()),
            column(lapses.iter(), |at| *at),
            column(put(), |record| record.doubted_at().map(Timestamp::ms)),
        ]);
        columns
    });
    asks.add_if(!dropped.is_empty(), DROP_RECORDS, || record_keys(dropped));
}

fn documents<'a>(asks: &mut Asks<'a>, writes: &'a Writes) {
    let rows = writes.documents.iter();
    let put = rows.clone().filter_map(|(key, body)| Some((key, body.as_ref()?)));
    let put: Vec<(&DocumentKey, &Vec<u8>)> = put.collect();
    let dropped = rows.filter(|(_, body)| body.is_none());
    let dropped: Vec<&DocumentKey> = dropped.map(|(key, _)| key).collect();
    asks.add_if(!put.is_empty(), PUT_DOCUMENTS, || {
        let mut columns = document_keys(put.iter().map(|(key, _)| *key));
        columns.push(column(put.iter(), |(_, body)| body.as_slice()));
        columns
    });
    asks.add_if(!dropped.is_empty(), DROP_DOCUMENTS, || document_keys(dropped));
    asks.add_if(!writes.documents.is_empty(), NEXT_GENERATION, Vec::new);
}

fn logs<'a>(asks: &mut Asks<'a>, lane: Lane, writes: &'a Writes) {
    let Stamp { round, at: noted_at, .. } = writes.stamp;
    let lines = &writes.logs;
    asks.add_if(!lines.is_empty(), LOG, || {
        let mut values = values![noted_at.ms(), lane.node, lane.lane, round.cast_signed()];
        let places: Vec<&Place> = lines.iter().map(|line| &line.place).collect();
        values.extend(place_keys(places));
        let numbers = 0..i32::try_from(lines.len()).unwrap_or(i32::MAX);
        values.extend([
            column(numbers, |at| at),
            column(lines, |line| line.created_at.ms()),
            column(lines, |line| line.line.as_str()),
        ]);
        values
    });
}
