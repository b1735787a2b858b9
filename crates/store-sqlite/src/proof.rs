//! # Proof: a database file is whole, and its journals are what was written
//!
//! SQLite says whether pages and indexes fit together; digests say whether every journal is the one
//! that was committed: each entry continues the one before, and the last is the one its head names.

use rusqlite::{Connection, Result};
use semel_engine::Link;
use semel_model::{Digest, ExecutionId};
use semel_store::Chain;

/// Between two words about progress.
const TOLD_EVERY: u64 = 1_000;

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Counts {
    pub executions: u64,
    pub entries: u64,
}

/// The inner error is the first thing that is wrong.
pub(crate) type Proof<T> = Result<std::result::Result<T, String>>;

pub(crate) fn structure(connection: &Connection) -> Proof<()> {
    let said: String = connection.query_row("PRAGMA integrity_check(1)", [], |row| row.get(0))?;
    Ok(if said == "ok" { Ok(()) } else { Err(said) })
}

/// Every journal, in the order of the table: one pass, whatever their number.
pub(crate) fn journals(connection: &Connection, told: &mut dyn FnMut(u64)) -> Proof<Counts> {
    let heads: u64 =
        connection.query_row("SELECT count(*) FROM executions", [], |row| row.get(0))?;
    let sql = "SELECT j.execution, j.seq, j.entry, e.seq, e.digest FROM journal j \
               LEFT JOIN executions e ON e.id = j.execution ORDER BY j.execution, j.seq";
    let mut statement = connection.prepare(sql)?;
    let mut rows = statement.query([])?;
    let mut counts = Counts::default();
    let mut open: Option<Chain> = None;
    while let Some(row) = rows.next()? {
        let execution = ExecutionId::from_bytes(row.get(0)?);
        if open.as_ref().is_none_or(|chain| chain.execution != execution) {
            if let Some(Err(wrong)) = open.take().map(Chain::end) {
                return Ok(Err(wrong));
            }
            let (Some(seq), Some(digest)) = (row.get(3)?, row.get(4)?) else {
                return Ok(Err(format!("execution {execution} has a journal and no row")));
            };
            let head = Link { seq, digest: Digest::from_bytes(digest) };
            open = Some(Chain::new(execution, head));
            counts.executions += 1;
        }
        let Some(chain) = &mut open else { continue };
        if let Err(wrong) = chain.follow(row.get(1)?, row.get_ref(2)?.as_blob()?) {
            return Ok(Err(wrong));
        }
        counts.entries += 1;
        if counts.entries % TOLD_EVERY == 0 {
            told(counts.entries);
        }
    }
    if let Some(Err(wrong)) = open.map(Chain::end) {
        return Ok(Err(wrong));
    }
    if counts.executions != heads {
        let without = heads.saturating_sub(counts.executions);
        return Ok(Err(format!("{without} executions have a row and no journal")));
    }
    Ok(Ok(counts))
}
