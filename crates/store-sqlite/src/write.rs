//! # Writing: a round as one transaction
//!
//! Each row once, by cached statements, and of a row the round has seen only what changed: most
//! rounds move the end of a journal and hand out tasks, and need touch nothing else.

use std::collections::{BTreeMap, BTreeSet};

use rusqlite::Connection;
use semel_engine::{Delivery, Head, MessageKey, MessageRow, Record, RecordKey, Window};
use semel_model::ExecutionId;
use semel_store::{DocumentKey, LogLine, Mirror, Place, Stamp, StoreError, Writes};

use crate::columns::{
    self, delivery_columns_small, head_columns, lies_apart, message_columns, record_columns,
};
use crate::fault;
use crate::hold::Seen;
use crate::read::cached;

const APPEND: &str = "INSERT INTO journal (execution, seq, entry) VALUES (?1, ?2, ?3)";
const PUT_HEAD: &str = concat!(
    "INSERT OR REPLACE INTO executions (",
    head_columns!(),
    ") VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15)"
);
const MOVE_HEAD: &str =
    "UPDATE executions SET seq = ?2, digest = ?3, updated_at = ?4 WHERE id = ?1";
const PUT_DELIVERY: &str = concat!(
    "INSERT OR REPLACE INTO deliveries (",
    delivery_columns_small!(),
    ", input, output) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17, ?18, \
     ?19, ?20, ?21, ?22, ?23, ?24, ?25, ?26, ?27, ?28, ?29)"
);
const HAND_OUT: &str = "UPDATE deliveries SET fence = ?3, leased = ?4, worker = ?5, \
     lease_until = ?6, run_until = ?7, poll_until = ?8, started_at = ?9, updated_at = ?10, \
     polls = ?11, token = ?12, armed = ?13 WHERE execution = ?1 AND task = ?2";
const PUT_APART: &str = "INSERT OR REPLACE INTO delivery_payloads \
     (execution, task, input, output) VALUES (?1, ?2, ?3, ?4)";
const DROP_APART: &str = "DELETE FROM delivery_payloads WHERE execution = ?1 AND task = ?2";
const DROP_DELIVERY: &str = "DELETE FROM deliveries WHERE execution = ?1 AND task = ?2";
const PUT_RECORD: &str = concat!(
    "INSERT OR REPLACE INTO records (scope, key, ",
    record_columns!(),
    ", lapses_at, doubted_at) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11)"
);
const DROP_RECORD: &str = "DELETE FROM records WHERE scope = ?1 AND key = ?2";
const PUT_MESSAGE: &str = concat!(
    "INSERT OR REPLACE INTO messages (",
    message_columns!(),
    ") VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)"
);
const DROP_MESSAGE: &str = "DELETE FROM messages WHERE sender = ?1 AND seq = ?2 AND at = ?3";
/// Everything that is kept by execution.
const REMOVE: [&str; 7] = [
    "DELETE FROM executions WHERE id = ?1",
    "DELETE FROM journal WHERE execution = ?1",
    "DELETE FROM deliveries WHERE execution = ?1",
    "DELETE FROM delivery_payloads WHERE execution = ?1",
    "DELETE FROM task_logs WHERE execution = ?1",
    "DELETE FROM pinned WHERE digest IN (SELECT digest FROM given WHERE execution = ?1) \
     AND NOT EXISTS (SELECT 1 FROM given WHERE given.digest = pinned.digest AND execution <> ?1)",
    "DELETE FROM given WHERE execution = ?1",
];
const LOG: &str = "INSERT INTO task_logs \
     (execution, task, noted_at, lane, round, at, created_at, line) \
     VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)";
const PUT_LIMIT: &str = "INSERT OR REPLACE INTO limits (task_type, window) VALUES (?1, ?2)";
const PIN: &str =
    "INSERT INTO pinned (digest, body) VALUES (?1, ?2) ON CONFLICT (digest) DO NOTHING";
/// Before it is pinned: what was there and given to nobody may be needed by anybody.
const GIVE: &str = "INSERT OR IGNORE INTO given (execution, digest) SELECT ?1, ?2 \
     WHERE EXISTS (SELECT 1 FROM given WHERE digest = ?2) \
     OR NOT EXISTS (SELECT 1 FROM pinned WHERE digest = ?2)";
const PUT_DOCUMENT: &str =
    "INSERT OR REPLACE INTO documents (kind, name, version, body) VALUES (?1, ?2, ?3, ?4)";
const DROP_DOCUMENT: &str = "DELETE FROM documents WHERE kind = ?1 AND name = ?2 AND version = ?3";
const NEXT_GENERATION: &str =
    "UPDATE meta SET value = value + 1 WHERE name = 'documents_generation'";
const STAMP: &str = "INSERT INTO lanes (lane, round, at, fence) VALUES (?1, ?2, ?3, ?4) \
     ON CONFLICT (lane) DO UPDATE SET round = excluded.round, at = max(at, excluded.at), \
     fence = max(fence, excluded.fence)";

pub(crate) fn round(
    connection: &Connection,
    mirror: &Mirror,
    writes: &Writes,
    seen: &Seen,
) -> Result<(), StoreError> {
    transact(connection, || {
        entries(connection, &writes.entries)?;
        heads(connection, &writes.heads, seen)?;
        deliveries(connection, mirror, &writes.deliveries, seen)?;
        messages(connection, &writes.messages)?;
        records(connection, &writes.records)?;
        limits(connection, &writes.limits)?;
        for (execution, digest) in &writes.given {
            let row = (execution.as_bytes(), digest.as_bytes());
            cached(connection, GIVE)?.execute(row).map_err(fault::of)?;
        }
        for (digest, body) in &writes.pinned {
            cached(connection, PIN)?.execute((digest.as_bytes(), body)).map_err(fault::of)?;
        }
        documents(connection, &writes.documents)?;
        logs(connection, writes)?;
        // Last: a removal outweighs what the same round writes.
        removals(connection, &writes.removed)?;
        stamp(connection, writes.stamp)
    })
}

/// Durable when it returns `Ok`; rolled back unless it returns `Unknown`.
pub(crate) fn transact(
    connection: &Connection,
    write: impl FnOnce() -> Result<(), StoreError>,
) -> Result<(), StoreError> {
    cached(connection, "BEGIN IMMEDIATE")?.execute([]).map_err(fault::of)?;
    let done = write().and_then(|()| {
        let commit = connection.prepare_cached("COMMIT").and_then(|mut sql| sql.execute([]));
        commit.map(|_| ()).map_err(fault::in_commit)
    });
    // SQLite has often rolled back by itself by now.
    if done.is_err()
        && !connection.is_autocommit()
        && let Err(error) = connection.execute_batch("ROLLBACK")
    {
        tracing::error!(%error, "a round could not be rolled back");
    }
    done
}

fn entries(
    connection: &Connection,
    entries: &[(ExecutionId, u64, Vec<u8>)],
) -> Result<(), StoreError> {
    let mut append = cached(connection, APPEND)?;
    for (id, seq, entry) in entries {
        append.execute((id.as_bytes(), *seq, entry)).map_err(|error| {
            match fault::is_taken(&error) {
                true => StoreError::Corrupt(format!("entry {seq} of execution {id} exists")),
                false => fault::of(error),
            }
        })?;
    }
    Ok(())
}

fn heads(
    connection: &Connection,
    heads: &BTreeMap<ExecutionId, Head>,
    seen: &Seen,
) -> Result<(), StoreError> {
    for (id, head) in heads {
        let wrote = match seen.heads.get(id) {
            Some(before) if only_moved(before, head) => {
                let (link, at) = (head.link, head.updated_at.ms());
                let row = (id.as_bytes(), link.seq, link.digest.as_bytes(), at);
                cached(connection, MOVE_HEAD)?.execute(row)
            }
            _ => columns::write_head(&mut cached(connection, PUT_HEAD)?, head),
        };
        wrote.map_err(fault::of)?;
    }
    Ok(())
}

/// The journal is longer and nothing else is different.
fn only_moved(before: &Head, after: &Head) -> bool {
    let Head {
        id,
        link: _,
        wake_at,
        status,
        parked,
        name,
        version,
        correlation_id,
        idempotency_key,
        principal,
        started_at,
        updated_at: _,
        ended_at,
        root,
    } = before;
    *id == after.id
        && *wake_at == after.wake_at
        && *status == after.status
        && *parked == after.parked
        && *name == after.name
        && *version == after.version
        && *correlation_id == after.correlation_id
        && *idempotency_key == after.idempotency_key
        && *principal == after.principal
        && *started_at == after.started_at
        && *ended_at == after.ended_at
        && *root == after.root
}

fn deliveries(
    connection: &Connection,
    mirror: &Mirror,
    deliveries: &BTreeMap<Place, Option<Delivery>>,
    seen: &Seen,
) -> Result<(), StoreError> {
    for (place, delivery) in deliveries {
        let before = seen.deliveries.get(place);
        let was_apart = before.map_or_else(|| mirror.contains(*place), lies_apart);
        let wrote = match (before, delivery) {
            (Some(before), Some(after)) if only_handed_out(before, after) => {
                let mut hand_out = cached(connection, HAND_OUT)?;
                columns::write_hand_out(&mut hand_out, *place, &after.hand_out)
            }
            (_, Some(row)) => {
                payloads(connection, *place, was_apart, Some(row))?;
                columns::write_delivery(&mut cached(connection, PUT_DELIVERY)?, row)
            }
            (_, None) => {
                payloads(connection, *place, was_apart, None)?;
                cached(connection, DROP_DELIVERY)?.execute(key(place))
            }
        };
        wrote.map_err(fault::of)?;
    }
    Ok(())
}

/// Writes payloads that lie apart, and takes away those that no longer do (or perhaps never did).
fn payloads(
    connection: &Connection,
    place: Place,
    was_apart: bool,
    after: Option<&Delivery>,
) -> Result<(), StoreError> {
    let wrote = match after.filter(|row| lies_apart(row)) {
        Some(row) => {
            let (execution, task) = key(&place);
            let (input, output) = (row.input.text().as_bytes(), row.output.text().as_bytes());
            cached(connection, PUT_APART)?.execute((execution, task, input, output))
        }
        None if was_apart => cached(connection, DROP_APART)?.execute(key(&place)),
        None => return Ok(()),
    };
    wrote.map(|_| ()).map_err(fault::of)
}

fn key(place: &Place) -> (&[u8; 16], &[u8; 16]) {
    (place.execution.as_bytes(), place.task.as_bytes())
}

/// Nothing but the hand-out is different.
fn only_handed_out(before: &Delivery, after: &Delivery) -> bool {
    let Delivery {
        task,
        execution,
        queue,
        priority,
        ready_at,
        seq,
        reference,
        attempt,
        epoch,
        scheduled_at,
        definition,
        correlation_id,
        replaces,
        reason,
        traceparent,
        input,
        output,
        hand_out: _,
    } = before;
    *task == after.task
        && *execution == after.execution
        && *queue == after.queue
        && *priority == after.priority
        && *ready_at == after.ready_at
        && *seq == after.seq
        && *reference == after.reference
        && *attempt == after.attempt
        && *epoch == after.epoch
        && *scheduled_at == after.scheduled_at
        && *definition == after.definition
        && *correlation_id == after.correlation_id
        && *replaces == after.replaces
        && *reason == after.reason
        && *traceparent == after.traceparent
        && *input == after.input
        && *output == after.output
}

fn messages(
    connection: &Connection,
    messages: &BTreeMap<MessageKey, Option<MessageRow>>,
) -> Result<(), StoreError> {
    for (MessageKey { from, seq, at }, message) in messages {
        let wrote = match message {
            Some(row) => columns::write_message(&mut cached(connection, PUT_MESSAGE)?, row),
            None => cached(connection, DROP_MESSAGE)?.execute((from.as_bytes(), seq, at)),
        };
        wrote.map_err(fault::of)?;
    }
    Ok(())
}

fn logs(connection: &Connection, writes: &Writes) -> Result<(), StoreError> {
    let Stamp { lane, round, at: noted_at, .. } = writes.stamp;
    for (at, LogLine { place, created_at, line }) in writes.logs.iter().enumerate() {
        let (execution, task) = (place.execution.as_bytes(), place.task.as_bytes());
        let (noted, created) = (noted_at.ms(), created_at.ms());
        let row = (execution, task, noted, lane, round, at, created, line);
        cached(connection, LOG)?.execute(row).map_err(fault::of)?;
    }
    Ok(())
}

fn removals(connection: &Connection, removed: &BTreeSet<ExecutionId>) -> Result<(), StoreError> {
    for id in removed {
        for sql in REMOVE {
            cached(connection, sql)?.execute([id.as_bytes()]).map_err(fault::of)?;
        }
    }
    Ok(())
}

fn records(
    connection: &Connection,
    records: &BTreeMap<RecordKey, Option<Record>>,
) -> Result<(), StoreError> {
    for (key, record) in records {
        let wrote = match record {
            Some(record) => {
                columns::write_record(&mut cached(connection, PUT_RECORD)?, key, record)
            }
            None => cached(connection, DROP_RECORD)?.execute((&key.scope, &key.key)),
        };
        wrote.map_err(fault::of)?;
    }
    Ok(())
}

fn limits(connection: &Connection, limits: &BTreeMap<String, Window>) -> Result<(), StoreError> {
    for (task_type, window) in limits {
        let bytes = serde_json::to_vec(window).expect("a window is plain numbers");
        cached(connection, PUT_LIMIT)?.execute((task_type, bytes)).map_err(fault::of)?;
    }
    Ok(())
}

fn documents(
    connection: &Connection,
    documents: &BTreeMap<DocumentKey, Option<Vec<u8>>>,
) -> Result<(), StoreError> {
    if documents.is_empty() {
        return Ok(());
    }
    for (DocumentKey { kind, name, version }, body) in documents {
        let wrote = match body {
            Some(body) => {
                cached(connection, PUT_DOCUMENT)?.execute((kind.as_str(), name, version, body))
            }
            None => cached(connection, DROP_DOCUMENT)?.execute((kind.as_str(), name, version)),
        };
        wrote.map_err(fault::of)?;
    }
    cached(connection, NEXT_GENERATION)?.execute([]).map_err(fault::of)?;
    Ok(())
}

fn stamp(connection: &Connection, stamp: Stamp) -> Result<(), StoreError> {
    let Stamp { lane, round, at, fence } = stamp;
    cached(connection, STAMP)?.execute((lane, round, at.ms(), fence)).map_err(fault::of)?;
    Ok(())
}
