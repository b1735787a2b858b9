//! # What waits, in the memory store

use semel_engine::{MessageRow, Record, RecordKey};

use super::MemoryStore;
use crate::StoreError;
use crate::rows::LimitRow;
use crate::waits::{OpenWaits, Waits, joined_at, line_kind};

impl Waits for MemoryStore {
    fn limit(&self, task_type: &str) -> Result<LimitRow, StoreError> {
        let shared = self.shared();
        let window = shared.live.limits.get(task_type).cloned().unwrap_or_default();
        Ok(LimitRow { window, in_flight: shared.mirror.in_flight(task_type) })
    }

    fn line(&self, record: &RecordKey, max: usize) -> Result<Vec<MessageRow>, StoreError> {
        let shared = self.shared();
        let line = shared.live.waiters(record).into_iter().take(max);
        Ok(line.filter_map(|key| shared.live.messages.get(&key).cloned()).collect())
    }

    fn open_waits(&self) -> Result<OpenWaits, StoreError> {
        let shared = self.shared();
        let mut open = OpenWaits::default();
        for wait in shared.live.messages.values().filter_map(|row| row.waits.as_ref()) {
            let kind = line_kind(&wait.on.scope).to_owned();
            open.lines.entry(kind).or_default().add(joined_at(wait.since));
        }
        for head in shared.live.heads.values().filter(|head| head.parked.is_some()) {
            open.parked.add(head.updated_at);
        }
        let doubts = shared.live.records.values().filter_map(Record::doubted_at);
        doubts.for_each(|since| open.unknown.add(since));
        Ok(open)
    }
}
