//! # Backup: a copy of one moment, made beside a running server
//!
//! One read transaction is held while pages are copied, so rounds that commit meanwhile neither
//! wait nor show. The copy gets its name only when it is complete, proven and on disk; until then
//! it lies beside it under another name. Its fences are raised: whatever was handed out after the
//! backup was made stays stale after a restore.

use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use rusqlite::backup::{Backup, StepResult};
use rusqlite::{Connection, OpenFlags};
use semel_store::FENCE_MARGIN;

use crate::look::examine_beside;
use crate::open::{DATABASE, OpenError};
use crate::proof::{self, Counts};
use crate::{fault, migrate};

/// Pages per step; progress is told after each.
const STEP_PAGES: i32 = 2_048;
const PAUSE_BUSY: Duration = Duration::from_millis(10);

#[derive(Debug, thiserror::Error)]
pub enum BackupError {
    #[error("{} holds no database; name the directory of the server with --data", .directory.display())]
    NoData { directory: PathBuf },
    #[error("{} exists already; name another file, nothing is overwritten", .to.display())]
    Taken { to: PathBuf },
    #[error("{} cannot be written; check the directory, its permissions and the free space", .to.display())]
    Unwritable { to: PathBuf, source: io::Error },
    #[error("the database cannot be read")]
    Source(#[from] OpenError),
    #[error("the copy could not be made")]
    Copy(#[source] rusqlite::Error),
    #[error("the copy does not verify, so it was thrown away: {0}")]
    Unproven(String),
}

/// How far it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Progress {
    /// What is committed from now on is not in it.
    Began,
    Copied {
        pages: u64,
        of: u64,
    },
    Checking,
    Proven {
        entries: u64,
    },
}

/// What the backup holds.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct BackedUp {
    pub bytes: u64,
    /// None: the journals were not read.
    pub proven: Option<Counts>,
}

/// Copies the database of `directory` to the new file `to`. With `quick`, the structure of the copy
/// is checked and its journals are not read.
pub fn backup(
    directory: &Path,
    to: &Path,
    quick: bool,
    mut progress: impl FnMut(Progress),
) -> Result<BackedUp, BackupError> {
    let from = directory.join(DATABASE);
    if !from.is_file() {
        return Err(BackupError::NoData { directory: directory.to_owned() });
    }
    // Else what is missing would be missing there too, and nobody would know.
    examine_beside(directory)?;
    let source = open_source(&from)?;
    let unfinished = Unfinished::beside(to)?;
    copy(&source, &unfinished.path, &mut progress).map_err(BackupError::Copy)?;
    drop(source);
    let proven = finish(&unfinished.path, quick, &mut progress)?;
    let bytes = unfinished.publish(to)?;
    Ok(BackedUp { bytes, proven })
}

fn open_source(file: &Path) -> Result<Connection, OpenError> {
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let connection = Connection::open_with_flags(file, flags)?;
    connection.busy_timeout(Duration::from_secs(5))?;
    migrate::refuse_unknown(&connection)?;
    Ok(connection)
}

fn copy(
    source: &Connection,
    to: &Path,
    progress: &mut impl FnMut(Progress),
) -> rusqlite::Result<()> {
    // Without it, every commit of the server would make the copy begin again.
    source.execute_batch("BEGIN; SELECT count(*) FROM meta")?;
    progress(Progress::Began);
    let mut copy = Connection::open(to)?;
    copy.pragma_update(None, "synchronous", "OFF")?; // All of it is synced before it gets its name.
    {
        let pages = Backup::new(source, &mut copy)?;
        loop {
            let step = pages.step(STEP_PAGES)?;
            let told = pages.progress();
            let of = u64::try_from(told.pagecount).unwrap_or(0);
            let left = u64::try_from(told.remaining).unwrap_or(0);
            progress(Progress::Copied { pages: of.saturating_sub(left), of });
            match step {
                StepResult::Done => break,
                StepResult::More => {}
                _ => std::thread::sleep(PAUSE_BUSY),
            }
        }
    }
    source.execute_batch("COMMIT")
}

/// Raises fences, makes it one file, and looks whether it is whole.
fn finish(
    file: &Path,
    quick: bool,
    progress: &mut impl FnMut(Progress),
) -> Result<Option<Counts>, BackupError> {
    let connection = Connection::open(file).map_err(BackupError::Copy)?;
    connection.pragma_update(None, "journal_mode", "DELETE").map_err(BackupError::Copy)?;
    let raise = "UPDATE lanes SET fence = max(fence, at * 1000) + ?1";
    connection.execute(raise, [FENCE_MARGIN]).map_err(BackupError::Copy)?;
    progress(Progress::Checking);
    let unproven = |error| BackupError::Unproven(fault::of(error).to_string());
    proof::structure(&connection).map_err(unproven)?.map_err(BackupError::Unproven)?;
    if quick {
        return Ok(None);
    }
    let told = &mut |entries| progress(Progress::Proven { entries });
    let counts = proof::journals(&connection, told).map_err(unproven)?;
    counts.map(Some).map_err(BackupError::Unproven)
}

/// A copy without its name yet. Dropped, it is gone.
struct Unfinished {
    path: PathBuf,
}

impl Unfinished {
    fn beside(to: &Path) -> Result<Self, BackupError> {
        let unwritable = |source| BackupError::Unwritable { to: to.to_owned(), source };
        let Some(name) = to.file_name() else {
            return Err(unwritable(io::Error::other("it is not the name of a file")));
        };
        if to.symlink_metadata().is_ok() {
            return Err(BackupError::Taken { to: to.to_owned() });
        }
        let mut unfinished = name.to_owned();
        unfinished.push(format!(".{}.unfinished", std::process::id()));
        let path = to.with_file_name(unfinished);
        let mut options = File::options();
        options.write(true).create_new(true);
        // It holds every payload, so it is its owner's alone.
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        options.open(&path).map_err(unwritable)?;
        Ok(Self { path })
    }

    /// Durable first, then visible.
    fn publish(self, to: &Path) -> Result<u64, BackupError> {
        let done = || -> io::Result<u64> {
            let file = File::open(&self.path)?;
            file.sync_all()?;
            // A link, unlike a rename, never replaces what somebody else put there meanwhile.
            match std::fs::hard_link(&self.path, to) {
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => return Err(error),
                Err(_) if to.symlink_metadata().is_ok() => {
                    return Err(io::ErrorKind::AlreadyExists.into());
                }
                Err(_) => std::fs::rename(&self.path, to)?, // A file system without links.
                Ok(()) => {}
            }
            sync_directory_of(to)?;
            Ok(file.metadata()?.len())
        };
        done().map_err(|source| match source.kind() {
            io::ErrorKind::AlreadyExists => BackupError::Taken { to: to.to_owned() },
            _ => BackupError::Unwritable { to: to.to_owned(), source },
        })
    }
}

impl Drop for Unfinished {
    fn drop(&mut self) {
        for suffix in ["", "-journal", "-wal", "-shm"] {
            let mut path = self.path.clone().into_os_string();
            path.push(suffix);
            let _ = std::fs::remove_file(path); // Most of them are not there.
        }
    }
}

fn sync_directory_of(file: &Path) -> io::Result<()> {
    match std::path::absolute(file)?.parent() {
        Some(directory) if cfg!(unix) => File::open(directory)?.sync_all(),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests;
