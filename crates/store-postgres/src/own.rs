//! # The lane's own row
//!
//! Held first by every round and written by its commit: it tells who works for the lane, and what
//! became of a commit whose answer was lost.

use semel_model::Timestamp;
use semel_store::StoreError;
use tokio_postgres::Row;
use uuid::Uuid;

use crate::columns::Fields;
use crate::fault::Fault;

pub(crate) const HOLD: &str =
    "SELECT writer, at FROM lanes WHERE node = $1 AND lane = $2 FOR UPDATE";
/// Between two rounds.
pub(crate) const LOOK_AT: &str = "SELECT writer, at FROM lanes WHERE node = $1 AND lane = $2";

/// Which lane this is, and who works for it.
#[derive(Clone, Copy)]
pub(crate) struct Lane {
    pub(crate) node: i64,
    pub(crate) lane: i32,
    pub(crate) writer: Uuid,
}

impl Lane {
    /// When it last committed, unless somebody else works for it now.
    pub(crate) fn last_at(self, rows: &[Row]) -> Result<Timestamp, Fault> {
        let mut fields = rows.first().map(Fields::of).ok_or(Fault::LaneGone)?;
        match fields.next::<Uuid>()? == self.writer {
            true => Ok(fields.time()?),
            false => Err(StoreError::Replaced.into()),
        }
    }
}
