//! # Accepting a loss: going on, knowingly, with what is left of a damaged directory
//!
//! What cannot be read is put aside, never thrown away. Rounds are counted on from the last one that
//! anybody knows of, and fences begin above all that can have been handed out: whoever holds a task by
//! a commit that is lost is recognised as late.

use std::path::{Path, PathBuf};

use rusqlite::Connection;
use semel_model::Timestamp;
use semel_store::{Clock, FENCE_MARGIN};

use crate::damage::{Beside, Damage, examine};
use crate::last_commit::{self, CommitNote, LastCommit};
use crate::lock::lock;
use crate::open::{DATABASE, OpenError, connect, unusable};
use crate::{checkpoint, fault, index, migrate};

#[derive(Debug, thiserror::Error)]
pub enum AcceptError {
    #[error("{} holds no data; name the directory of the server with --data", .directory.display())]
    NoData { directory: PathBuf },
    #[error("there is nothing to go on with; restore a backup into a fresh directory")]
    Hopeless(#[source] Box<Damage>),
    #[error("the data cannot be opened")]
    Open(#[from] OpenError),
}

impl AcceptError {
    /// A server works on it.
    pub fn is_served(&self) -> bool {
        matches!(self, Self::Open(OpenError::Held { .. }))
    }
}

/// What was done.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Accepted {
    pub damage: Damage,
    /// Where the files lie as they were found.
    pub kept: PathBuf,
    /// Fences begin above it.
    pub fence: u64,
}

/// Durable when it returns. None: nothing is missing, and nothing was changed.
pub fn accept_loss(directory: &Path, clock: &Clock) -> Result<Option<Accepted>, AcceptError> {
    if !directory.is_dir() {
        return Err(AcceptError::NoData { directory: directory.to_owned() });
    }
    let _lock = lock(directory)?;
    let damage = match examine(directory, Beside::NobodyToServe) {
        Ok(_) => return Ok(None),
        Err(OpenError::Damaged(damage)) if damage.may_go_on => damage,
        Err(OpenError::Damaged(damage)) => return Err(AcceptError::Hopeless(damage)),
        Err(error) => return Err(error.into()),
    };
    let now = clock.now();
    let kept = directory.join(format!("semel.lost-{}", now.ms()));
    put_aside(directory, &kept, &damage).map_err(unusable(directory))?;
    let fence = go_on(directory, &damage, now)?;
    Ok(Some(Accepted { damage: *damage, kept, fence }))
}

fn put_aside(directory: &Path, kept: &Path, damage: &Damage) -> std::io::Result<()> {
    std::fs::create_dir_all(kept)?;
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt as _;
        let owner_only = std::fs::Permissions::from_mode(0o700);
        std::fs::set_permissions(kept, owner_only)?;
    }
    let (log, index) = (format!("{DATABASE}-wal"), index::FILE);
    for name in [DATABASE, log.as_str(), last_commit::FILE] {
        if directory.join(name).exists() {
            std::fs::copy(directory.join(name), kept.join(name))?;
            std::fs::File::open(kept.join(name))?.sync_all()?;
        }
    }
    // The index is written anew from the journals.
    let mut gone = ["", "-wal", "-shm"].map(|end| format!("{index}{end}")).to_vec();
    if damage.log_is_foreign {
        gone.extend([log, format!("{DATABASE}-shm")]);
    }
    for name in gone {
        match std::fs::remove_file(directory.join(name)) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => return Err(error),
            Ok(()) | Err(_) => {}
        }
    }
    Ok(())
}

fn go_on(directory: &Path, damage: &Damage, now: Timestamp) -> Result<u64, OpenError> {
    let mut connection = connect(&directory.join(DATABASE))?;
    checkpoint::begin_anew(&connection)?;
    migrate::run(&mut connection, now)?;
    let known = damage.known.unwrap_or_default();
    raise(&connection, known, now)?;
    let sql = "SELECT round, at, fence FROM lanes WHERE lane = 0";
    let (last, fence) = connection.query_row(sql, [], |row| {
        let last = LastCommit { round: row.get(0)?, at: Timestamp::from_ms(row.get(1)?) };
        Ok((last, row.get(2)?))
    })?;
    drop(CommitNote::open(directory, last).map_err(unusable(directory))?);
    Ok(fence)
}

/// Not now: whoever serves it next gives leases the time since it was last alive.
fn raise(connection: &Connection, known: LastCommit, now: Timestamp) -> Result<(), OpenError> {
    let least = now.ms().saturating_mul(1_000);
    crate::write::transact(connection, || {
        let count = "INSERT INTO lanes (lane, round, at, fence) VALUES (0, ?1, ?2, 0) \
                     ON CONFLICT (lane) DO UPDATE SET round = max(round, excluded.round)";
        let row = (known.round.saturating_add(1), known.at.ms());
        connection.execute(count, row).map_err(fault::of)?;
        let raise = "UPDATE lanes SET fence = max(fence, ?1) + ?2";
        connection.execute(raise, (least, FENCE_MARGIN)).map_err(fault::of)?;
        Ok(())
    })?;
    Ok(())
}
