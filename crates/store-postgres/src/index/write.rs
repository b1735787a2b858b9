//! # Writing the index: one transaction per batch, one statement per kind of rows

use std::collections::BTreeMap;

use semel_model::ExecutionId;
use semel_store::{Batch, HandedOver, RunRow, TaskRow};
use tokio_postgres::Error;

use super::names::kept;
use crate::asks::{Asks, Session, Value, column};
use crate::columns::{task_uuid, uuid};
use crate::hold::BEGIN;
use crate::write::COMMIT;

const RELAXED: &str = "SET LOCAL synchronous_commit = off";
/// Runs are held in the order of their ids before anything of them is written, so two nodes never wait
/// for each other's rows. Those that are not there yet are made in that order too.
const HOLD: &str = "SELECT count(*) FROM (SELECT 1 FROM runs WHERE id = ANY ($1) ORDER BY id \
     FOR NO KEY UPDATE) AS held";
const REMOVE: [&str; 3] = [
    "DELETE FROM tasks WHERE execution = ANY ($1)",
    "DELETE FROM snapshots WHERE execution = ANY ($1)",
    "DELETE FROM runs WHERE id = ANY ($1)",
];
/// A row is replaced as a whole but for its words, which come later.
const RUNS: &str = "INSERT INTO runs (id, seq, name, version, status, correlation_id, \
     idempotency_key, parent, priority, started_at, updated_at, ended_at, live, brought, worded, \
     words) SELECT id, seq, name, version, status, correlation_id, idempotency_key, parent, priority, \
     started_at, updated_at, ended_at, live, brought::int8multirange, false, '' \
     FROM unnest($1::uuid[], $2::bigint[], $3::text[], $4::integer[], $5::text[], $6::text[], \
     $7::text[], $8::bytea[], $9::integer[], $10::bigint[], $11::bigint[], $12::bigint[], \
     $13::boolean[], $14::text[]) AS new (id, seq, name, version, status, correlation_id, \
     idempotency_key, parent, priority, started_at, updated_at, ended_at, live, brought) \
     ON CONFLICT (id) DO UPDATE SET seq = excluded.seq, name = excluded.name, \
     version = excluded.version, status = excluded.status, \
     correlation_id = excluded.correlation_id, idempotency_key = excluded.idempotency_key, \
     parent = excluded.parent, priority = excluded.priority, started_at = excluded.started_at, \
     updated_at = excluded.updated_at, ended_at = excluded.ended_at, live = excluded.live, \
     brought = runs.brought + excluded.brought \
     WHERE runs.seq <= excluded.seq";
/// What rows of an earlier moment bring counts as well.
const BROUGHT: &str = "UPDATE runs SET brought = runs.brought + new.brought::int8multirange \
     FROM unnest($1::uuid[], $2::text[]) AS new (id, brought) \
     WHERE runs.id = new.id AND NOT runs.brought @> new.brought::int8multirange";
const NEW_WORDS: &str = "UPDATE runs SET worded = false WHERE id = ANY ($1) AND worded";
const TASKS: &str = "INSERT INTO tasks (task, execution, workflow_name, task_type, \
     definition_name, reference, status, scheduled_at, started_at, updated_at, ended_at, words, seq) \
     SELECT * FROM unnest($1::uuid[], $2::uuid[], $3::text[], $4::text[], $5::text[], $6::text[], \
     $7::text[], $8::bigint[], $9::bigint[], $10::bigint[], $11::bigint[], $12::text[], \
     $13::bigint[]) AS new (task, execution, workflow_name, task_type, definition_name, reference, \
     status, scheduled_at, started_at, updated_at, ended_at, words, seq) \
     WHERE NOT EXISTS (SELECT 1 FROM runs WHERE runs.id = new.execution AND emptied_at > new.seq) \
     ON CONFLICT (task) DO UPDATE SET execution = excluded.execution, \
     workflow_name = excluded.workflow_name, task_type = excluded.task_type, \
     definition_name = excluded.definition_name, reference = excluded.reference, \
     status = excluded.status, scheduled_at = excluded.scheduled_at, \
     started_at = excluded.started_at, updated_at = excluded.updated_at, \
     ended_at = excluded.ended_at, words = excluded.words, seq = excluded.seq \
     WHERE tasks.seq <= excluded.seq";
const HANDED_OVER: &str = "UPDATE tasks SET status = $4, started_at = new.started_at, \
     updated_at = greatest(tasks.updated_at, new.updated_at) \
     FROM unnest($1::uuid[], $2::bigint[], $3::bigint[]) AS new (task, started_at, updated_at) \
     WHERE tasks.task = new.task AND tasks.ended_at = 0";
const EMPTY: &str = "DELETE FROM tasks USING unnest($1::uuid[], $2::bigint[]) AS new (id, seq) \
     WHERE tasks.execution = new.id AND tasks.seq <= new.seq";
/// A node that is slower may yet come with a task that is gone: it is not taken.
const EMPTIED: &str = "UPDATE runs SET emptied_at = new.seq \
     FROM unnest($1::uuid[], $2::bigint[]) AS new (id, seq) \
     WHERE runs.id = new.id AND emptied_at < new.seq";
const WORDS: &str = "UPDATE runs SET words = new.words, worded = true \
     FROM unnest($1::uuid[], $2::bigint[], $3::text[]) AS new (id, seq, words) \
     WHERE runs.id = new.id AND runs.seq <= new.seq";
const SNAPSHOTS: &str = "INSERT INTO snapshots (execution, body) \
     SELECT * FROM unnest($1::uuid[], $2::bytea[]) \
     ON CONFLICT (execution) DO UPDATE SET body = excluded.body";

pub(super) async fn put(session: &Session, batch: &Batch) -> Result<(), Error> {
    let runs = last(&batch.runs, |row| row.id);
    let tasks = last(&batch.tasks, |row| row.place.task);
    let words = last(&batch.words, |words| words.of);
    let snapshots: BTreeMap<_, _> = batch.snapshots.iter().map(|(id, body)| (*id, body)).collect();
    let brought = brought(&batch.runs);
    let mut asks = Asks::default();
    asks.add(BEGIN, Vec::new());
    asks.add(RELAXED, Vec::new());
    asks.add(HOLD, vec![column(batch.of(), uuid)]);
    for sql in REMOVE {
        asks.add_if(!batch.removed.is_empty(), sql, || {
            vec![column(&batch.removed, |id| uuid(*id))]
        });
    }
    let emptied = || {
        vec![
            column(&batch.emptied, |(id, _)| uuid(*id)),
            column(&batch.emptied, |(_, seq)| seq.cast_signed()),
        ]
    };
    asks.add_if(!batch.emptied.is_empty(), EMPTY, emptied);
    asks.add_if(!runs.is_empty(), RUNS, || run_columns(&runs, &brought));
    asks.add_if(!runs.is_empty(), BROUGHT, || {
        vec![column(brought.keys(), |id| uuid(*id)), column(brought.values(), String::as_str)]
    });
    let new_words = || batch.runs.iter().filter(|row| row.has_new_words);
    asks.add_if(new_words().next().is_some(), NEW_WORDS, || {
        vec![column(new_words(), |row| uuid(row.id))]
    });
    asks.add_if(!batch.emptied.is_empty(), EMPTIED, emptied);
    asks.add_if(!tasks.is_empty(), TASKS, || task_columns(&tasks));
    asks.add_if(!batch.handed_over.is_empty(), HANDED_OVER, || {
        let places = batch.handed_over.keys();
        let (to, status) = (|| batch.handed_over.values(), HandedOver::STATUS.as_str());
        vec![
            column(places, |place| task_uuid(place.task)),
            column(to(), |to| to.started_at.ms()),
            column(to(), |to| to.updated_at.ms()),
            Box::new(status),
        ]
    });
    asks.add_if(!words.is_empty(), WORDS, || {
        vec![
            column(&words, |words| uuid(words.of)),
            column(&words, |words| words.seq.cast_signed()),
            column(&words, |words| text(&words.text)),
        ]
    });
    asks.add_if(!snapshots.is_empty(), SNAPSHOTS, || {
        vec![
            column(snapshots.keys(), |id| uuid(*id)),
            column(snapshots.values(), |body| body.as_slice()),
        ]
    });
    asks.add(COMMIT, Vec::new());
    session.answers(&asks).await.map(drop)
}

/// Of rows of the same name the last is so; a statement may write a row once only.
fn last<K: Ord, R>(rows: &[R], key: impl Fn(&R) -> K) -> Vec<&R> {
    let last: BTreeMap<K, &R> = rows.iter().map(|row| (key(row), row)).collect();
    last.into_values().collect()
}

/// As ranges, by run.
fn brought(rows: &[RunRow]) -> BTreeMap<ExecutionId, String> {
    let mut brought = BTreeMap::<_, Vec<String>>::new();
    for row in rows {
        let ranges = row.brings.iter().map(|stretch| format!("({},{}]", stretch.after, stretch.to));
        brought.entry(row.id).or_default().extend(ranges);
    }
    brought.into_iter().map(|(id, ranges)| (id, format!("{{{}}}", ranges.join(",")))).collect()
}

/// PostgreSQL keeps no NUL in text, and nobody can ask for one.
fn text(words: &str) -> String {
    words.replace('\0', " ")
}

fn run_columns<'a>(
    rows: &[&'a RunRow],
    brought: &'a BTreeMap<ExecutionId, String>,
) -> Vec<Value<'a>> {
    let rows = || rows.iter().copied();
    vec![
        column(rows(), |row| uuid(row.id)),
        column(rows(), |row| row.seq.cast_signed()),
        column(rows(), |row| kept(&row.name)),
        column(rows(), |row| row.version),
        column(rows(), |row| row.status.as_str()),
        column(rows(), |row| row.correlation_id.as_str()),
        column(rows(), |row| row.idempotency_key.as_str()),
        column(rows(), |row| row.parent.as_ref().map_or(&[][..], |id| id.as_bytes())),
        column(rows(), |row| row.priority),
        column(rows(), |row| row.started_at.ms()),
        column(rows(), |row| row.updated_at.ms()),
        column(rows(), |row| row.ended_at.ms()),
        column(rows(), |row| !row.status.is_terminal()),
        column(rows(), |row| brought[&row.id].as_str()),
    ]
}

fn task_columns<'a>(rows: &[&'a TaskRow]) -> Vec<Value<'a>> {
    let rows = || rows.iter().copied();
    vec![
        column(rows(), |row| task_uuid(row.place.task)),
        column(rows(), |row| uuid(row.place.execution)),
        column(rows(), |row| row.workflow_name.as_str()),
        column(rows(), |row| kept(&row.task_type)),
        column(rows(), |row| kept(&row.definition_name)),
        column(rows(), |row| row.reference.as_str()),
        column(rows(), |row| row.status.as_str()),
        column(rows(), |row| row.scheduled_at.ms()),
        column(rows(), |row| row.started_at.ms()),
        column(rows(), |row| row.updated_at.ms()),
        column(rows(), |row| row.ended_at.ms()),
        column(rows(), |row| text(&row.words)),
        column(rows(), |row| row.seq.cast_signed()),
    ]
}
