//! # Columns: a row as PostgreSQL has it, a row as the engine has it
//!
//! The order of columns is written down once per table, here.

use semel_engine::{
    Address, Delivery, Detail, HandOut, Head, Link, MessageKey, MessageRow, Queue, Record,
    RecordKey, RecordState, Wait,
};
use semel_model::{Digest, ExecutionId, Payload, TaskId, Timestamp};
use semel_store::{Place, StoreError};
use tokio_postgres::Row;
use tokio_postgres::types::FromSql;
use uuid::Uuid;

use crate::fault;

macro_rules! head_columns {
    () => {
        "id, seq, digest, wake_at, status, parked, name, version, correlation_id, \
         idempotency_key, principal, started_at, updated_at, ended_at, root"
    };
}

macro_rules! record_columns {
    () => {
        "scope, key, run, live, version, created_at, expires_at, state, detail"
    };
}

macro_rules! message_columns {
    () => {
        "sender, seq, at, receiver, sink, body, waits_scope, waits_key, waits_since"
    };
}

macro_rules! delivery_columns {
    () => {
        "execution, task, fence, leased, worker, lease_until, run_until, poll_until, started_at, \
         updated_at, polls, token, armed, task_type, domain, priority, ready_at, seq, reference, \
         attempt, scheduled_at, definition, correlation_id, replaces, reason, traceparent, epoch, \
         input, output"
    };
}

pub(crate) use {delivery_columns, head_columns, message_columns, record_columns};

pub(crate) fn uuid(id: ExecutionId) -> Uuid {
    Uuid::from_bytes(*id.as_bytes())
}

pub(crate) fn task_uuid(id: TaskId) -> Uuid {
    Uuid::from_bytes(*id.as_bytes())
}

pub(crate) fn execution_id(id: Uuid) -> ExecutionId {
    ExecutionId::from_bytes(id.into_bytes())
}

pub(crate) fn limit(max: usize) -> i64 {
    i64::try_from(max).unwrap_or(i64::MAX)
}

pub(crate) fn head(row: &Row) -> Result<Head, StoreError> {
    let mut fields = Fields::of(row);
    let id = fields.execution()?;
    fields.name = Name::Head(id);
    Ok(Head {
        id,
        link: Link { seq: fields.count()?, digest: fields.digest()? },
        wake_at: fields.time_if_any()?,
        status: fields.spelt()?,
        parked: fields.said_if_any()?,
        name: fields.next()?,
        version: fields.next()?,
        correlation_id: fields.next()?,
        idempotency_key: fields.next()?,
        principal: fields.next()?,
        started_at: fields.time()?,
        updated_at: fields.time()?,
        ended_at: fields.time()?,
        root: fields.next::<Option<Uuid>>()?.map(execution_id),
    })
}

pub(crate) fn place(row: &Row) -> Result<Place, StoreError> {
    let mut fields = Fields::of(row);
    Ok(Place { execution: fields.execution()?, task: fields.task()? })
}

pub(crate) fn delivery(row: &Row) -> Result<Delivery, StoreError> {
    let mut fields = Fields::of(row);
    let (execution, task) = (fields.execution()?, fields.task()?);
    fields.name = Name::Delivery(Place { execution, task });
    let hand_out = hand_out(&mut fields)?;
    Ok(Delivery {
        execution,
        task,
        hand_out,
        queue: Queue { task_type: fields.next()?, domain: fields.next()? },
        priority: fields.next()?,
        ready_at: fields.time()?,
        seq: fields.small()?,
        reference: fields.next()?,
        attempt: fields.small()?,
        scheduled_at: fields.time()?,
        definition: fields.digest()?,
        correlation_id: fields.next()?,
        replaces: fields.next::<Option<Uuid>>()?.map(|id| TaskId::from_bytes(id.into_bytes())),
        reason: fields.said_if_any()?,
        traceparent: fields.spelt_if_any()?,
        epoch: fields.small()?,
        input: fields.payload()?,
        output: fields.payload()?,
    })
}

fn hand_out(fields: &mut Fields<'_>) -> Result<HandOut, StoreError> {
    Ok(HandOut {
        fence: fields.count()?,
        leased: fields.next()?,
        worker: fields.next()?,
        lease_until: fields.time_if_any()?,
        run_until: fields.time_if_any()?,
        poll_until: fields.time_if_any()?,
        started_at: fields.time()?,
        updated_at: fields.time()?,
        polls: fields.small()?,
        token: fields.digest_if_any()?,
        armed: fields.next()?,
    })
}

pub(crate) fn record_key(row: &Row) -> Result<RecordKey, StoreError> {
    let mut fields = Fields::of(row);
    Ok(RecordKey { scope: fields.next()?, key: fields.next()? })
}

pub(crate) fn record(row: &Row) -> Result<(RecordKey, Record), StoreError> {
    let mut fields = Fields::of(row);
    let key = RecordKey { scope: fields.next()?, key: fields.next()? };
    fields.name = Name::Record;
    let record = Record {
        run: fields.next::<Option<Uuid>>()?.map(execution_id),
        live: fields.next()?,
        version: fields.next()?,
        created_at: fields.time()?,
        expires_at: fields.time_if_any()?,
        state: {
            let text: String = fields.next()?;
            RecordState::parse(&text).ok_or_else(|| fields.corrupt(&format!("what is {text}?")))?
        },
        detail: {
            let bytes: Option<&[u8]> = fields.next()?;
            let detail = bytes.map(Detail::decode).transpose();
            detail.map_err(|error| fields.corrupt(&error.to_string()))?.unwrap_or_default()
        },
    };
    Ok((key, record))
}

pub(crate) fn message_key(row: &Row) -> Result<MessageKey, StoreError> {
    key_fields(&mut Fields::of(row))
}

/// Columns `sender, seq, at, receiver, sink`.
pub(crate) fn addressed(row: &Row) -> Result<(MessageKey, Address), StoreError> {
    addressed_fields(&mut Fields::of(row))
}

pub(crate) fn message(row: &Row) -> Result<MessageRow, StoreError> {
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

fn key_fields(fields: &mut Fields<'_>) -> Result<MessageKey, StoreError> {
    let from = fields.execution()?;
    Ok(MessageKey { from, seq: fields.count()?, at: fields.small()? })
}

fn addressed_fields(fields: &mut Fields<'_>) -> Result<(MessageKey, Address), StoreError> {
    let key = key_fields(fields)?;
    fields.name = Name::Message(key);
    let receiver: Option<Uuid> = fields.next()?;
    match (receiver, fields.next()?) {
        (Some(id), None) => Ok((key, Address::Execution(execution_id(id)))),
        (None, Some(sink)) => Ok((key, Address::Sink(sink))),
        (Some(_), Some(_)) | (None, None) => {
            Err(fields.corrupt("a message has either a receiver or a sink"))
        }
    }
}

/// What a row is called should it not be readable.
enum Name {
    Unknown,
    Head(ExecutionId),
    Delivery(Place),
    Message(MessageKey),
    /// By its first two columns.
    Record,
}

/// The columns of one row, taken from left to right.
pub(crate) struct Fields<'a> {
    row: &'a Row,
    at: usize,
    name: Name,
}

impl<'a> Fields<'a> {
    pub(crate) fn of(row: &'a Row) -> Self {
        Self { row, at: 0, name: Name::Unknown }
    }

    fn name(&self) -> String {
        let text = |at| self.row.try_get::<_, &str>(at).unwrap_or_default();
        match &self.name {
            Name::Unknown => "a row".to_owned(),
            Name::Head(id) => format!("head of execution {id}"),
            Name::Delivery(Place { execution, task }) => {
                format!("delivery {task} of execution {execution}")
            }
            Name::Message(MessageKey { from, seq, at }) => {
                format!("message {at} of entry {seq} of execution {from}")
            }
            Name::Record => format!("record {} of {}", text(1), text(0)),
        }
    }

    fn corrupt(&self, why: &str) -> StoreError {
        StoreError::Corrupt(format!("{}: {why}", self.name()))
    }

    pub(crate) fn next<T: FromSql<'a>>(&mut self) -> Result<T, StoreError> {
        let value = self.row.try_get(self.at);
        self.at += 1;
        value.map_err(|error| fault::in_row(error, || self.name()))
    }

    pub(crate) fn execution(&mut self) -> Result<ExecutionId, StoreError> {
        self.next().map(execution_id)
    }

    pub(crate) fn task(&mut self) -> Result<TaskId, StoreError> {
        self.next::<Uuid>().map(|id| TaskId::from_bytes(id.into_bytes()))
    }

    pub(crate) fn count(&mut self) -> Result<u64, StoreError> {
        self.next::<i64>().map(i64::cast_unsigned)
    }

    fn small(&mut self) -> Result<u32, StoreError> {
        let number: i64 = self.next()?;
        u32::try_from(number).map_err(|_| self.corrupt(&format!("{number} is out of range")))
    }

    pub(crate) fn digest(&mut self) -> Result<Digest, StoreError> {
        self.digest_if_any()?.ok_or_else(|| self.corrupt("there is no digest"))
    }

    pub(crate) fn digest_if_any(&mut self) -> Result<Option<Digest>, StoreError> {
        let bytes: Option<&[u8]> = self.next()?;
        let digest = bytes.map(<[u8; 32]>::try_from).transpose();
        let digest = digest.map_err(|_| self.corrupt("a digest has 32 bytes"))?;
        Ok(digest.map(Digest::from_bytes))
    }

    pub(crate) fn time(&mut self) -> Result<Timestamp, StoreError> {
        self.next().map(Timestamp::from_ms)
    }

    pub(crate) fn time_if_any(&mut self) -> Result<Option<Timestamp>, StoreError> {
        Ok(self.next::<Option<_>>()?.map(Timestamp::from_ms))
    }

    /// A value kept by its name.
    fn spelt<T: std::str::FromStr<Err: std::fmt::Display>>(&mut self) -> Result<T, StoreError> {
        self.spelt_if_any()?.ok_or_else(|| self.corrupt("a name is missing"))
    }

    fn spelt_if_any<T: std::str::FromStr<Err: std::fmt::Display>>(
        &mut self,
    ) -> Result<Option<T>, StoreError> {
        let text: Option<&str> = self.next()?;
        let parsed = text.map(str::parse::<T>).transpose();
        parsed.map_err(|error| self.corrupt(&error.to_string()))
    }

    /// What a program said, kept as bytes.
    fn said_if_any(&mut self) -> Result<Option<String>, StoreError> {
        let bytes: Option<Vec<u8>> = self.next()?;
        let text = bytes.map(String::from_utf8).transpose();
        text.map_err(|error| self.corrupt(&error.to_string()))
    }

    fn payload(&mut self) -> Result<Payload, StoreError> {
        let text = String::from_utf8(self.next()?);
        let text = text.map_err(|error| self.corrupt(&error.to_string()))?;
        Payload::from_text(text).map_err(|error| self.corrupt(&error.to_string()))
    }
}
