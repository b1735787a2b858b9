//! # Reads: committed data, on connections of their own

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, PoisonError};

use semel_engine::{Delivery, Head, Queue, Record, RecordKey};
use semel_model::{Digest, ExecutionId, Timestamp};
use semel_store::{
    About, After, Census, Clock, DocumentKey, Hear, Index, Item, Kind, Loaded, LogLine, Page,
    Place, Polled, Store, StoreError, Writer,
};
use tokio_postgres::Row;
use uuid::Uuid;

use crate::asks::{Asks, Value, values};
use crate::clock::{LOOK, Seen as Look};
use crate::columns::{
    self, Fields, delivery_columns, execution_id, head_columns, limit, record_columns, task_uuid,
    uuid,
};
use crate::lane::PostgresWriter;
use crate::open::PostgresStore;
use crate::write::COMMIT;
use crate::{census, migrate, missing, shelves};

/// All that is read in it is of one moment.
const AT_ONCE: &str = "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY";
const HEAD: &str = concat!("SELECT ", head_columns!(), " FROM executions WHERE id = $1");
const ENTRIES: &str = "SELECT entry FROM journal WHERE execution = $1 AND seq > $2 ORDER BY seq";
const DELIVERY: &str =
    concat!("SELECT ", delivery_columns!(), " FROM deliveries WHERE execution = $1 AND task = $2");
const DELIVERIES: &str =
    concat!("SELECT ", delivery_columns!(), " FROM deliveries WHERE execution = $1 ORDER BY task");
const RECORD: &str =
    concat!("SELECT ", record_columns!(), " FROM records WHERE scope = $1 AND key = $2");
const RECORDS: &str = concat!(
    "SELECT ",
    record_columns!(),
    " FROM records WHERE (scope, key) > ($1, $2) AND scope < $3 ORDER BY scope, key LIMIT $4"
);
const ENDED: &str = "SELECT id FROM executions WHERE ended_at > 0 AND ended_at < $1 \
     ORDER BY ended_at, id LIMIT $2";
const EXPIRED: &str = "SELECT scope, key FROM records WHERE expires_at <= $1 \
     ORDER BY expires_at, scope, key LIMIT $2";
const LAPSED: &str = "SELECT scope, key FROM records WHERE lapses_at <= $1 \
     AND state = 'CLAIMED' ORDER BY lapses_at, scope, key LIMIT $2";
const LOGS: &str = "SELECT created_at, line FROM task_logs WHERE execution = $1 AND task = $2 \
     ORDER BY noted_at DESC, node DESC, lane DESC, round DESC, at DESC LIMIT $3";
const PINNED: &str = "SELECT body FROM pinned WHERE digest = $1";
const ENDS: &str = "SELECT id, seq FROM executions WHERE id > $1 ORDER BY id LIMIT $2";
const ENDS_ALL: &str = "SELECT id, seq FROM executions ORDER BY id LIMIT $1";
pub(crate) const DOCUMENT: &str = "SELECT kind, name, version, body FROM documents \
     WHERE kind = $1 AND name = $2 AND version = $3";
const DOCUMENTS: &str = "SELECT kind, name, version, body FROM documents WHERE kind = $1 \
     ORDER BY name, version";
const DOCUMENTS_OF: &str = "SELECT kind, name, version, body FROM documents \
     WHERE kind = $1 AND name = $2 ORDER BY version";
const ROUND: &str = "SELECT round FROM lanes WHERE node = $1 AND lane = $2";
/// A lane that has not committed yet was never alive.
const LAST: &str = "SELECT max(at) FROM lanes WHERE at > 0";
const FENCE: &str = "SELECT coalesce(greatest((SELECT max(fence) FROM lanes), \
     (SELECT value FROM meta WHERE name = 'fence_floor')), 0)";

impl PostgresStore {
    fn rows(&self, sql: &'static str, values: &dyn Fn() -> Vec<Value<'static>>) -> Rows {
        self.shared.readers.read(async |session| session.rows(sql, values()).await)
    }

    fn one<T>(
        &self,
        sql: &'static str,
        values: &dyn Fn() -> Vec<Value<'static>>,
        read: impl Fn(&Row) -> Result<T, StoreError>,
    ) -> Result<Option<T>, StoreError> {
        self.rows(sql, values)?.first().map(read).transpose()
    }

    fn load_with(
        &self,
        id: ExecutionId,
        after_seq: u64,
        has_deliveries: bool,
    ) -> Result<Option<Loaded>, StoreError> {
        let after = i64::try_from(after_seq).unwrap_or(i64::MAX);
        let mut asks = Asks::default();
        asks.add(AT_ONCE, Vec::new());
        let head = asks.add(HEAD, values![uuid(id)]);
        let entries = asks.add(ENTRIES, values![uuid(id), after]);
        let deliveries = asks.add_if(has_deliveries, DELIVERIES, || values![uuid(id)]);
        asks.add(COMMIT, Vec::new());
        let mut answers = self.shared.readers.read(async |session| session.answers(&asks).await)?;
        let Some(head) = answers.take(head).first().map(columns::head).transpose()? else {
            return Ok(None);
        };
        let entries = answers.take(entries);
        let entries = entries.iter().map(|row| Fields::of(row).next());
        let deliveries = answers.take(deliveries);
        Ok(Some(Loaded {
            head,
            entries: entries.collect::<Result<_, _>>()?,
            deliveries: deliveries.iter().map(columns::delivery).collect::<Result<_, _>>()?,
        }))
    }
}

type Rows = Result<Vec<Row>, StoreError>;

fn bytes(row: &Row) -> Result<Vec<u8>, StoreError> {
    Fields::of(row).next()
}

impl Store for PostgresStore {
    fn writer(&self, lane: u16) -> Result<Box<dyn Writer>, StoreError> {
        Ok(Box::new(PostgresWriter::new(Arc::clone(&self.shared), lane)?))
    }

    fn is_shared(&self) -> bool {
        true
    }

    fn polls(&self) -> Result<Vec<Polled>, StoreError> {
        census::polls(&self.shared.readers)
    }

    fn note_poll(&self, polled: &Polled) -> Result<(), StoreError> {
        census::note_poll(&self.shared.readers, polled)
    }

    fn hint(&self, queues: BTreeSet<Queue>) {
        self.shared.hints.send(queues);
    }

    fn on_hint(&self, hear: Hear) {
        self.shared.hints.listen(self.shared.readers.link(), hear);
    }

    fn clock(&self) -> &Arc<Clock> {
        &self.shared.kept
    }

    fn load(&self, id: ExecutionId, after_seq: u64) -> Result<Option<Loaded>, StoreError> {
        self.load_with(id, after_seq, true)
    }

    fn journal(&self, id: ExecutionId, after_seq: u64) -> Result<Option<Loaded>, StoreError> {
        self.load_with(id, after_seq, false)
    }

    fn head(&self, id: ExecutionId) -> Result<Option<Head>, StoreError> {
        self.one(HEAD, &|| values![uuid(id)], columns::head)
    }

    fn delivery(&self, place: Place) -> Result<Option<Delivery>, StoreError> {
        let key = || values![uuid(place.execution), task_uuid(place.task)];
        self.one(DELIVERY, &key, columns::delivery)
    }

    fn record(&self, key: &RecordKey) -> Result<Option<Record>, StoreError> {
        let values = || values![key.scope.clone(), key.key.clone()];
        self.one(RECORD, &values, |row| columns::record(row).map(|(_, record)| record))
    }

    fn records(
        &self,
        scopes: &str,
        after: Option<&RecordKey>,
        max: usize,
    ) -> Result<Vec<(RecordKey, Record)>, StoreError> {
        let after = after.map_or((scopes, ""), |after| (&after.scope, &after.key));
        let (scope, key) = after.max((scopes, ""));
        let beyond = format!("{scopes}{}", char::MAX);
        let (scope, key) = (scope.to_owned(), key.to_owned());
        let values = || values![scope.clone(), key.clone(), beyond.clone(), limit(max)];
        self.rows(RECORDS, &values)?.iter().map(columns::record).collect()
    }

    fn ended_before(&self, before: Timestamp, max: usize) -> Result<Vec<ExecutionId>, StoreError> {
        let rows = self.rows(ENDED, &|| values![before.ms(), limit(max)])?;
        rows.iter().map(|row| Fields::of(row).execution()).collect()
    }

    fn expired_records(&self, now: Timestamp, max: usize) -> Result<Vec<RecordKey>, StoreError> {
        let rows = self.rows(EXPIRED, &|| values![now.ms(), limit(max)])?;
        rows.iter().map(columns::record_key).collect()
    }

    fn lapsed_records(&self, now: Timestamp, max: usize) -> Result<Vec<RecordKey>, StoreError> {
        let rows = self.rows(LAPSED, &|| values![now.ms(), limit(max)])?;
        rows.iter().map(columns::record_key).collect()
    }

    fn waiting(&self) -> Result<BTreeMap<Queue, usize>, StoreError> {
        census::waiting(&self.shared.readers)
    }

    fn logs(&self, place: Place, max: usize) -> Result<Vec<LogLine>, StoreError> {
        let values = || values![uuid(place.execution), task_uuid(place.task), limit(max)];
        let lines = self.rows(LOGS, &values)?;
        let line = |row: &Row| {
            let mut fields = Fields::of(row);
            Ok(LogLine { place, created_at: fields.time()?, line: fields.next()? })
        };
        lines.iter().rev().map(line).collect()
    }

    fn open_descendants(&self, root: ExecutionId, max: u64) -> Result<u64, StoreError> {
        census::descendants(&self.shared.readers, root, max)
    }

    fn census(&self) -> Result<Census, StoreError> {
        census::count(&self.shared.readers)
    }

    fn about(&self) -> Result<About, StoreError> {
        let bytes = census::bytes(&self.shared.readers)?;
        let (schema, node) = (Some(migrate::known()), Some(self.shared.name.clone()));
        Ok(About { kind: "postgres", schema, bytes: Some(bytes), node })
    }

    fn pinned(&self, digest: Digest) -> Result<Option<Vec<u8>>, StoreError> {
        self.one(PINNED, &|| values![digest.as_bytes().to_vec()], bytes)
    }

    fn index(&self) -> &dyn Index {
        &self.shared.index
    }

    fn ends_of_journals(
        &self,
        after: Option<ExecutionId>,
        max: usize,
    ) -> Result<Vec<(ExecutionId, u64)>, StoreError> {
        let rows = match after {
            Some(after) => self.rows(ENDS, &|| values![uuid(after), limit(max)])?,
            None => self.rows(ENDS_ALL, &|| values![limit(max)])?,
        };
        let end = |row: &Row| {
            let mut fields = Fields::of(row);
            Ok((execution_id(fields.next::<Uuid>()?), fields.count()?))
        };
        rows.iter().map(end).collect()
    }

    fn document(&self, key: &DocumentKey) -> Result<Option<Vec<u8>>, StoreError> {
        let values = || values![key.kind.as_str(), key.name.clone(), key.version];
        self.one(DOCUMENT, &values, |row| missing::document(row).map(|(_, body)| body))
    }

    fn documents(
        &self,
        kind: Kind,
        name: Option<&str>,
    ) -> Result<Vec<(DocumentKey, Vec<u8>)>, StoreError> {
        let rows = match name.map(str::to_owned) {
            Some(name) => self.rows(DOCUMENTS_OF, &|| values![kind.as_str(), name.clone()])?,
            None => self.rows(DOCUMENTS, &|| values![kind.as_str()])?,
        };
        rows.iter().map(missing::document).collect()
    }

    /// A round under way on this thread has read it after everything it decides on was asked.
    fn documents_generation(&self) -> Result<u64, StoreError> {
        let shared = &self.shared;
        let read = shared.generations.lock().unwrap_or_else(PoisonError::into_inner);
        let read = read.get(&std::thread::current().id()).copied();
        if let Some(generation) = read {
            return Ok(generation);
        }
        let look = Look::of(&self.rows(LOOK, &Vec::new)?)?;
        shared.clock.note(look);
        Ok(look.documents_generation)
    }

    fn last_round(&self, lane: u16) -> Result<u64, StoreError> {
        let key = || values![self.shared.node, i32::from(lane)];
        let last = self.one(ROUND, &key, |row| Fields::of(row).count())?;
        Ok(last.unwrap_or(0))
    }

    fn fence_floor(&self) -> Result<u64, StoreError> {
        let fence = self.one(FENCE, &Vec::new, |row| Fields::of(row).count())?;
        Ok(fence.unwrap_or(0))
    }

    fn last_at(&self) -> Result<Option<Timestamp>, StoreError> {
        let last = self.one(LAST, &Vec::new, |row| Fields::of(row).time_if_any())?;
        Ok(last.flatten())
    }

    fn walk(&self, after: &After, page: Page) -> Result<Vec<Item>, StoreError> {
        shelves::walk(&self.shared.readers, after, page)
    }
}
