//! # Columns: a row as the engine has it, a row as SQLite has it
//!
//! The order of columns is written down once per table, here, for reading and for writing.

use rusqlite::types::{FromSql, Type};
use rusqlite::{CachedStatement, Error, Result, Row, params};
use semel_engine::{
    Address, Delivery, Detail, HandOut, Head, Link, MessageKey, MessageRow, Queue, Record,
    RecordKey, RecordState, Wait,
};
use semel_model::{Digest, ExecutionId, Payload, TaskId, Timestamp};
use semel_store::Place;

/// In the order of the table.
macro_rules! head_columns {
    () => {
        "id, seq, digest, wake_at, status, parked, name, version, correlation_id, \
         idempotency_key, principal, started_at, updated_at, ended_at, root"
    };
}

macro_rules! record_columns {
    () => {
        "run, live, version, created_at, expires_at, state, detail"
    };
}

macro_rules! message_columns {
    () => {
        "sender, seq, at, receiver, sink, body, waits_scope, waits_key, waits_since"
    };
}

/// All of a delivery but what only the worker needs, which may be large.
macro_rules! delivery_columns_small {
    () => {
        "execution, task, fence, leased, worker, lease_until, run_until, poll_until, started_at, \
         updated_at, polls, token, armed, task_type, domain, priority, ready_at, seq, reference, \
         attempt, scheduled_at, definition, correlation_id, replaces, reason, traceparent, \
         epoch"
    };
}

/// All of a delivery; the lookups happen only for payloads that lie apart.
macro_rules! select_deliveries {
    () => {
        concat!(
            "SELECT ",
            $crate::columns::delivery_columns_small!(),
            ", coalesce(input, (SELECT apart.input FROM delivery_payloads apart \
                WHERE apart.execution = deliveries.execution AND apart.task = deliveries.task)), \
             coalesce(output, (SELECT apart.output FROM delivery_payloads apart \
                WHERE apart.execution = deliveries.execution AND apart.task = deliveries.task)) \
             FROM deliveries"
        )
    };
}

pub(crate) use {
    delivery_columns_small, head_columns, message_columns, record_columns, select_deliveries,
};

/// Payloads larger than this together lie apart from their row.
const INLINE_BYTES_MAX: usize = 1024;

pub(crate) fn lies_apart(delivery: &Delivery) -> bool {
    delivery.input.len() + delivery.output.len() > INLINE_BYTES_MAX
}

pub(crate) fn head(row: &Row<'_>) -> Result<Head> {
    let mut fields = Fields::of(row);
    Ok(Head {
        id: ExecutionId::from_bytes(fields.next()?),
        link: Link { seq: fields.next()?, digest: fields.digest()? },
        wake_at: fields.time_if_any()?,
        status: fields.named()?,
        parked: fields.next()?,
        name: fields.next()?,
        version: fields.next()?,
        correlation_id: fields.next()?,
        idempotency_key: fields.next()?,
        principal: fields.next()?,
        started_at: fields.time()?,
        updated_at: fields.time()?,
        ended_at: fields.time()?,
        root: fields.next::<Option<_>>()?.map(ExecutionId::from_bytes),
    })
}

pub(crate) fn write_head(statement: &mut CachedStatement<'_>, head: &Head) -> Result<usize> {
    statement.execute(params![
        head.id.as_bytes(),
        head.link.seq,
        head.link.digest.as_bytes(),
        head.wake_at.map(Timestamp::ms),
        head.status.as_str(),
        head.parked,
        head.name,
        head.version,
        head.correlation_id,
        head.idempotency_key,
        head.principal,
        head.started_at.ms(),
        head.updated_at.ms(),
        head.ended_at.ms(),
        head.root.as_ref().map(ExecutionId::as_bytes),
    ])
}

/// The row; without payloads when the query left them out.
pub(crate) fn delivery(row: &Row<'_>) -> Result<Delivery> {
    let mut fields = Fields::of(row);
    let execution = ExecutionId::from_bytes(fields.next()?);
    let task = TaskId::from_bytes(fields.next()?);
    let hand_out = hand_out(&mut fields)?;
    Ok(Delivery {
        execution,
        task,
        hand_out,
        queue: Queue { task_type: fields.next()?, domain: fields.next()? },
        priority: fields.next()?,
        ready_at: fields.time()?,
        seq: fields.next()?,
        reference: fields.next()?,
        attempt: fields.next()?,
        scheduled_at: fields.time()?,
        definition: fields.digest()?,
        correlation_id: fields.next()?,
        replaces: fields.next::<Option<_>>()?.map(TaskId::from_bytes),
        reason: fields.next()?,
        traceparent: fields.named_if_any()?,
        epoch: fields.next()?,
        input: fields.payload_if_selected()?,
        output: fields.payload_if_selected()?,
    })
}

fn hand_out(fields: &mut Fields<'_>) -> Result<HandOut> {
    Ok(HandOut {
        fence: fields.next()?,
        leased: fields.next()?,
        worker: fields.next()?,
        lease_until: fields.time_if_any()?,
        run_until: fields.time_if_any()?,
        poll_until: fields.time_if_any()?,
        started_at: fields.time()?,
        updated_at: fields.time()?,
        polls: fields.next()?,
        token: fields.next::<Option<_>>()?.map(Digest::from_bytes),
        armed: fields.next()?,
    })
}

pub(crate) fn write_delivery(
    statement: &mut CachedStatement<'_>,
    delivery: &Delivery,
) -> Result<usize> {
    let hand_out = &delivery.hand_out;
    let inline = |payload| (!lies_apart(delivery)).then(|| Payload::text(payload).as_bytes());
    statement.execute(params![
        delivery.execution.as_bytes(),
        delivery.task.as_bytes(),
        hand_out.fence,
        hand_out.leased,
        hand_out.worker,
        hand_out.lease_until.map(Timestamp::ms),
        hand_out.run_until.map(Timestamp::ms),
        hand_out.poll_until.map(Timestamp::ms),
        hand_out.started_at.ms(),
        hand_out.updated_at.ms(),
        hand_out.polls,
        hand_out.token.as_ref().map(Digest::as_bytes),
        hand_out.armed,
        delivery.queue.task_type,
        delivery.queue.domain,
        delivery.priority,
        delivery.ready_at.ms(),
        delivery.seq,
        delivery.reference,
        delivery.attempt,
        delivery.scheduled_at.ms(),
        delivery.definition.as_bytes(),
        delivery.correlation_id,
        delivery.replaces.as_ref().map(TaskId::as_bytes),
        delivery.reason,
        delivery.traceparent.map(|parent| parent.to_string()),
        delivery.epoch,
        inline(&delivery.input),
        inline(&delivery.output),
    ])
}

pub(crate) fn write_hand_out(
    statement: &mut CachedStatement<'_>,
    place: Place,
    hand_out: &HandOut,
) -> Result<usize> {
    statement.execute(params![
        place.execution.as_bytes(),
        place.task.as_bytes(),
        hand_out.fence,
        hand_out.leased,
        hand_out.worker,
        hand_out.lease_until.map(Timestamp::ms),
        hand_out.run_until.map(Timestamp::ms),
        hand_out.poll_until.map(Timestamp::ms),
        hand_out.started_at.ms(),
        hand_out.updated_at.ms(),
        hand_out.polls,
        hand_out.token.as_ref().map(Digest::as_bytes),
        hand_out.armed,
    ])
}

/// Columns `run, live, version, created_at, expires_at, state, detail`.
pub(crate) fn record(row: &Row<'_>) -> Result<Record> {
    record_fields(&mut Fields::of(row))
}

/// Columns `scope, key`, then those of the record.
pub(crate) fn keyed_record(row: &Row<'_>) -> Result<(RecordKey, Record)> {
    let mut fields = Fields::of(row);
    let key = RecordKey { scope: fields.next()?, key: fields.next()? };
    Ok((key, record_fields(&mut fields)?))
}

fn record_fields(fields: &mut Fields<'_>) -> Result<Record> {
    Ok(Record {
        run: fields.id_if_any()?,
        live: fields.next()?,
        version: fields.next()?,
        created_at: fields.time()?,
        expires_at: fields.time_if_any()?,
        state: fields.parsed(RecordState::parse)?,
        detail: fields.detail()?,
    })
}

pub(crate) fn write_record(
    statement: &mut CachedStatement<'_>,
    key: &RecordKey,
    record: &Record,
) -> Result<usize> {
    let Record { state, run, live, version, detail, .. } = record;
    let run: &[u8] = run.as_ref().map_or(&[], |run| run.as_bytes());
    let [until, lapses, doubted] = [record.expires_at, record.lapses_at(key), record.doubted_at()]
        .map(|at| at.map(|at| at.ms()));
    let (made, state, detail) = (record.created_at.ms(), state.as_str(), detail.encode());
    let RecordKey { scope, key } = key;
    statement.execute((scope, key, run, live, version, made, until, state, detail, lapses, doubted))
}

/// Columns `sender, seq, at, receiver, sink`.
pub(crate) fn addressed(row: &Row<'_>) -> Result<(MessageKey, Address)> {
    addressed_fields(&mut Fields::of(row))
}

/// Columns `sender, seq, at, receiver, sink, body, waits_scope, waits_key, waits_since`.
pub(crate) fn message(row: &Row<'_>) -> Result<MessageRow> {
    let mut fields = Fields::of(row);
    let (key, to) = addressed_fields(&mut fields)?;
    let body = fields.next()?;
    let wait: (Option<String>, Option<String>, Option<i64>) =
        (fields.next()?, fields.next()?, fields.next()?);
    let waits = match wait {
        (Some(scope), Some(key), Some(since)) => {
            Some(Wait { on: RecordKey { scope, key }, since: since.cast_unsigned() })
        }
        _ => None,
    };
    Ok(MessageRow { key, to, body, waits })
}

fn addressed_fields(fields: &mut Fields<'_>) -> Result<(MessageKey, Address)> {
    let from = ExecutionId::from_bytes(fields.next()?);
    let key = MessageKey { from, seq: fields.next()?, at: fields.next()? };
    let receiver: Option<[u8; 16]> = fields.next()?;
    let to = match (receiver, fields.next()?) {
        (Some(id), None) => Address::Execution(ExecutionId::from_bytes(id)),
        (None, Some(sink)) => Address::Sink(sink),
        (Some(_), Some(_)) | (None, None) => {
            let error = "a message has either a receiver or a sink".into();
            return Err(Error::FromSqlConversionFailure(fields.at, Type::Null, error));
        }
    };
    Ok((key, to))
}

pub(crate) fn write_message(
    statement: &mut CachedStatement<'_>,
    message: &MessageRow,
) -> Result<usize> {
    let MessageRow { key: MessageKey { from, seq, at }, to, body, waits } = message;
    let (receiver, sink) = match to {
        Address::Execution(id) => (Some(id.as_bytes()), None),
        Address::Sink(sink) => (None, Some(sink)),
    };
    let wait = waits.as_ref();
    let (scope, key) = (wait.map(|wait| &wait.on.scope), wait.map(|wait| &wait.on.key));
    let since = wait.map(|wait| wait.since.cast_signed());
    statement.execute((from.as_bytes(), seq, at, receiver, sink, body, scope, key, since))
}

/// The columns of one row, taken from left to right.
struct Fields<'a> {
    row: &'a Row<'a>,
    at: usize,
}

impl<'a> Fields<'a> {
    fn of(row: &'a Row<'a>) -> Self {
        Self { row, at: 0 }
    }

    /// No bytes at all are no id.
    fn id_if_any(&mut self) -> Result<Option<ExecutionId>> {
        let at = self.at;
        let bytes: Vec<u8> = self.next()?;
        if bytes.is_empty() {
            return Ok(None);
        }
        let bytes = <[u8; 16]>::try_from(bytes);
        let bytes = bytes.map_err(|_| {
            Error::FromSqlConversionFailure(at, Type::Blob, "an id is 16 bytes".into())
        })?;
        Ok(Some(ExecutionId::from_bytes(bytes)))
    }

    fn parsed<T>(&mut self, parse: impl FnOnce(&str) -> Option<T>) -> Result<T> {
        let at = self.at;
        let text: String = self.next()?;
        parse(&text).ok_or_else(|| {
            Error::FromSqlConversionFailure(at, Type::Text, format!("what is {text}?").into())
        })
    }

    fn detail(&mut self) -> Result<Detail> {
        let at = self.at;
        let bytes: Option<Vec<u8>> = self.next()?;
        let detail = bytes.as_deref().map(Detail::decode).transpose();
        let detail = detail
            .map_err(|error| Error::FromSqlConversionFailure(at, Type::Blob, Box::new(error)))?;
        Ok(detail.unwrap_or_default())
    }

    fn next<T: FromSql>(&mut self) -> Result<T> {
        let value = self.row.get(self.at)?;
        self.at += 1;
        Ok(value)
    }

    fn digest(&mut self) -> Result<Digest> {
        self.next().map(Digest::from_bytes)
    }

    fn time(&mut self) -> Result<Timestamp> {
        self.next().map(Timestamp::from_ms)
    }

    fn time_if_any(&mut self) -> Result<Option<Timestamp>> {
        Ok(self.next::<Option<_>>()?.map(Timestamp::from_ms))
    }

    /// A value kept by its name.
    fn named<T: std::str::FromStr>(&mut self) -> Result<T>
    where
        T::Err: std::error::Error + Send + Sync + 'static,
    {
        let at = self.at;
        self.named_if_any()?.ok_or(Error::InvalidColumnType(at, "a name".to_owned(), Type::Null))
    }

    fn named_if_any<T: std::str::FromStr>(&mut self) -> Result<Option<T>>
    where
        T::Err: std::error::Error + Send + Sync + 'static,
    {
        let at = self.at;
        let text: Option<String> = self.next()?;
        text.map(|text| text.parse()).transpose().map_err(|error| {
            Error::FromSqlConversionFailure(at, Type::Text, Box::<T::Err>::new(error))
        })
    }

    fn payload_if_selected(&mut self) -> Result<Payload> {
        let at = self.at;
        if at >= self.row.as_ref().column_count() {
            return Ok(Payload::empty());
        }
        let unreadable = |error: Box<dyn std::error::Error + Send + Sync>| {
            Error::FromSqlConversionFailure(at, Type::Blob, error)
        };
        let text = String::from_utf8(self.next()?).map_err(|error| unreadable(error.into()))?;
        Payload::from_text(text).map_err(|error| unreadable(error.into()))
    }
}
