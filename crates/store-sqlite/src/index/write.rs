//! # Writing the index
//!
//! A column that is named in an UPDATE rewrites every index it is in, changed or not; so a run that
//! has only gone on is updated by a statement of its own.

use rusqlite::{Connection, OptionalExtension};
use semel_model::ExecutionId;
use semel_store::{Batch, HandedOver, RunRow, StoreError, TaskRow, Words};

use crate::fault;
use crate::last_commit::LastCommit;
use crate::read::cached;
use crate::write::transact;

const GO_ON: &str = "UPDATE runs SET seq = ?2, updated_at = ?3 WHERE id = ?1 AND status = ?4 \
     AND name = ?5 AND version = ?6 AND correlation_id = ?7 AND priority = ?8 AND started_at = ?9 \
     AND ended_at = ?10";
const RUN: &str = "INSERT INTO runs (id, seq, updated_at, status, name, version, correlation_id, \
     priority, started_at, ended_at, idempotency_key, parent, live, worded, whole) \
     VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, 0, 0) \
     ON CONFLICT (id) DO UPDATE SET seq = excluded.seq, updated_at = excluded.updated_at, \
     status = excluded.status, name = excluded.name, version = excluded.version, \
     correlation_id = excluded.correlation_id, priority = excluded.priority, \
     started_at = excluded.started_at, ended_at = excluded.ended_at, \
     idempotency_key = excluded.idempotency_key, parent = excluded.parent, live = excluded.live";
const BROUGHT: &str = "UPDATE runs SET whole = max(whole, ?3) WHERE id = ?1 AND whole >= ?2";
const NEW_WORDS: &str = "UPDATE runs SET worded = 0 WHERE id = ?1 AND worded = 1";
const TASK: &str = "INSERT INTO tasks (task, execution, workflow_name, task_type, other_name, \
     reference, status, scheduled_at, started_at, updated_at, ended_at) \
     VALUES (?1, ?2, ?3, ?4, nullif(?5, ?4), ?6, ?7, ?8, ?9, ?10, ?11) \
     ON CONFLICT (task) DO UPDATE SET status = excluded.status, scheduled_at = excluded.scheduled_at, \
     started_at = excluded.started_at, updated_at = excluded.updated_at, ended_at = excluded.ended_at \
     RETURNING number";
const TASK_WORDS: &str = "INSERT INTO task_words (number, words) VALUES (?1, ?2) \
     ON CONFLICT (number) DO UPDATE SET words = excluded.words WHERE words <> excluded.words";
const HANDED_OVER: &str = "UPDATE tasks SET status = ?4, started_at = ?2, \
     updated_at = max(updated_at, ?3) WHERE task = ?1 AND ended_at = 0";
const WORDED: &str = "UPDATE runs SET worded = 1 WHERE id = ?1 AND seq <= ?2 RETURNING number";
const RUN_WORDS: &str = "INSERT OR REPLACE INTO run_words (rowid, words) VALUES (?1, ?2)";
const REMOVE: &str = "DELETE FROM runs WHERE id = ?1 RETURNING number";
const REMOVE_WORDS: &str = "DELETE FROM run_words WHERE rowid = ?1";
const EMPTY_WORDS: &str =
    "DELETE FROM task_words WHERE number IN (SELECT number FROM tasks WHERE execution = ?1)";
const EMPTY: &str = "DELETE FROM tasks WHERE execution = ?1";
const SNAPSHOT: &str = "INSERT INTO snapshots (execution, body) VALUES (?1, ?2) \
     ON CONFLICT (execution) DO UPDATE SET body = excluded.body";
const FOLLOWED: &str = "UPDATE meta SET round = ?1, at = ?2";
const REMOVE_SNAPSHOT: &str = "DELETE FROM snapshots WHERE execution = ?1";

pub(super) fn put(
    connection: &Connection,
    batch: &Batch,
    last: LastCommit,
) -> Result<(), StoreError> {
    transact(connection, || {
        for id in &batch.removed {
            empty(connection, *id)?;
            run(connection, REMOVE_SNAPSHOT, [id.as_bytes()])?;
            if let Some(number) = number(connection, REMOVE, [id.as_bytes()])? {
                run(connection, REMOVE_WORDS, [number])?;
            }
        }
        for (id, _) in &batch.emptied {
            empty(connection, *id)?;
        }
        for row in &batch.runs {
            put_run(connection, row)?;
        }
        for row in &batch.tasks {
            put_task(connection, row)?;
        }
        for (place, to) in &batch.handed_over {
            let (start, update) = (to.started_at.ms(), to.updated_at.ms());
            let values = (place.task.as_bytes(), start, update, HandedOver::STATUS.as_str());
            run(connection, HANDED_OVER, values)?;
        }
        for Words { of, seq, text } in &batch.words {
            if let Some(number) = number(connection, WORDED, (of.as_bytes(), seq))? {
                run(connection, RUN_WORDS, (number, text))?;
            }
        }
        for (id, body) in &batch.snapshots {
            run(connection, SNAPSHOT, (id.as_bytes(), body))?;
        }
        run(connection, FOLLOWED, (last.round, last.at.ms()))?;
        Ok(())
    })
}

fn put_run(connection: &Connection, row: &RunRow) -> Result<(), StoreError> {
    let parent = row.parent.as_ref().map_or(&[][..], |id| id.as_bytes());
    let (id, status) = (row.id.as_bytes(), row.status.as_str());
    let (start, update, end) = (row.started_at.ms(), row.updated_at.ms(), row.ended_at.ms());
    let has_gone_on = run(
        connection,
        GO_ON,
        (
            id,
            row.seq,
            update,
            status,
            &row.name,
            row.version,
            &row.correlation_id,
            row.priority,
            start,
            end,
        ),
    )?;
    if has_gone_on == 0 {
        let row = (
            id,
            row.seq,
            update,
            status,
            &row.name,
            row.version,
            &row.correlation_id,
            row.priority,
            start,
            end,
            &row.idempotency_key,
            parent,
            !row.status.is_terminal(),
        );
        run(connection, RUN, row)?;
    }
    for brought in &row.brings {
        run(connection, BROUGHT, (id, brought.after, brought.to))?;
    }
    if row.has_new_words {
        run(connection, NEW_WORDS, [id])?;
    }
    Ok(())
}

fn put_task(connection: &Connection, row: &TaskRow) -> Result<(), StoreError> {
    let columns = (
        row.place.task.as_bytes(),
        row.place.execution.as_bytes(),
        &row.workflow_name,
        &row.task_type,
        &row.definition_name,
        &row.reference,
        row.status.as_str(),
        row.scheduled_at.ms(),
        row.started_at.ms(),
        row.updated_at.ms(),
        row.ended_at.ms(),
    );
    let number: i64 =
        cached(connection, TASK)?.query_row(columns, |row| row.get(0)).map_err(fault::of)?;
    run(connection, TASK_WORDS, (number, &row.words)).map(|_| ())
}

fn empty(connection: &Connection, id: ExecutionId) -> Result<(), StoreError> {
    run(connection, EMPTY_WORDS, [id.as_bytes()])?;
    run(connection, EMPTY, [id.as_bytes()]).map(|_| ())
}

fn number(
    connection: &Connection,
    sql: &str,
    values: impl rusqlite::Params,
) -> Result<Option<i64>, StoreError> {
    let found = cached(connection, sql)?.query_row(values, |row| row.get(0)).optional();
    found.map_err(fault::of)
}

fn run(
    connection: &Connection,
    sql: &str,
    values: impl rusqlite::Params,
) -> Result<usize, StoreError> {
    cached(connection, sql)?.execute(values).map_err(fault::of)
}
