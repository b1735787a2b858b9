//! # What waits: reads by the indexes made for it

use semel_engine::{MessageRow, RecordKey, Window};
use semel_store::{LimitRow, Open, OpenWaits, StoreError, Waits, joined_at};

use crate::asks::{Asks, values};
use crate::columns::{self, Fields, limit};
use crate::hold::WAITERS;
use crate::missing::IN_FLIGHT;
use crate::open::PostgresStore;

const WINDOW: &str = "SELECT used FROM limits WHERE task_type = $1";
const LINES: &str = "SELECT split_part(waits_scope, ':', 1), count(*), min(waits_since) \
     FROM messages WHERE waits_scope IS NOT NULL GROUP BY 1";
const PARKED: &str = "SELECT count(*), min(updated_at) FROM executions WHERE parked IS NOT NULL";
const UNKNOWN: &str = "SELECT count(*), min(doubted_at) FROM records WHERE state = 'UNKNOWN'";

impl Waits for PostgresStore {
    fn limit(&self, task_type: &str) -> Result<LimitRow, StoreError> {
        let mut asks = Asks::default();
        let window = asks.add(WINDOW, values![task_type.to_owned()]);
        let in_flight = asks.add(IN_FLIGHT, values![vec![task_type.to_owned()]]);
        let mut answers = self.shared.readers.read(async |session| session.answers(&asks).await)?;
        let mut row = LimitRow::default();
        if let Some(found) = answers.take(window).first() {
            let used: Vec<u8> = Fields::of(found).next()?;
            row.window = serde_json::from_slice::<Window>(&used).map_err(|error| {
                StoreError::Corrupt(format!("limit of task type {task_type}: {error}"))
            })?;
        }
        if let Some(found) = answers.take(in_flight).first() {
            let mut fields = Fields::of(found);
            let _: String = fields.next()?;
            row.in_flight = usize::try_from(fields.count()?).unwrap_or(usize::MAX);
        }
        Ok(row)
    }

    fn line(&self, record: &RecordKey, max: usize) -> Result<Vec<MessageRow>, StoreError> {
        let values = || values![record.scope.clone(), record.key.clone(), limit(max)];
        let rows =
            self.shared.readers.read(async |session| session.rows(WAITERS, values()).await)?;
        rows.iter().map(columns::message).collect()
    }

    fn open_waits(&self) -> Result<OpenWaits, StoreError> {
        let mut asks = Asks::default();
        let [lines, parked, unknown] =
            [LINES, PARKED, UNKNOWN].map(|sql| asks.add(sql, Vec::new()));
        let mut answers = self.shared.readers.read(async |session| session.answers(&asks).await)?;
        let mut open = OpenWaits::default();
        for row in answers.take(lines) {
            let mut fields = Fields::of(&row);
            let (kind, count) = (fields.next()?, fields.count()?);
            let oldest = joined_at(fields.count()?);
            open.lines.insert(kind, Open { count, oldest: Some(oldest) });
        }
        for (answer, all) in [(parked, &mut open.parked), (unknown, &mut open.unknown)] {
            if let Some(row) = answers.take(answer).first() {
                let mut fields = Fields::of(row);
                *all = Open { count: fields.count()?, oldest: fields.time_if_any()? };
            }
        }
        Ok(open)
    }
}
