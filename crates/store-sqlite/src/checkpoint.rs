//! # Checkpoints: moving the log into the file, off the commit path
//!
//! The commit that leaves the log long enough says so; a thread with a connection of its own then
//! copies it. Copying beside a busy writer never reaches the end, so the last few pages are copied
//! with the writer held back: the log starts again from its beginning and cannot grow without bound.
//! **May not:** fail a commit. What is not copied now is copied next time.

use std::path::Path;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

use rusqlite::hooks::Wal;
use rusqlite::wal::CheckpointMode;
use rusqlite::{Connection, OpenFlags};

/// 128 MiB of log at 8 KiB a page.
pub(crate) const WAL_PAGES: u32 = 16_000;
/// Beyond so many times that, starting again is worth making the writer wait, and the disk is
/// given back.
const OVERDUE: u32 = 4;
const WAIT_MS: u64 = 20;
const WAIT_OVERDUE_MS: u64 = 2_000;
/// Somebody was in the way, or there is little to gain: let others work first.
const PAUSE_MS: u64 = 250;

pub(crate) struct Checkpointer {
    signal: Arc<Signal>,
    thread: Option<JoinHandle<()>>,
}

#[derive(Default)]
struct Signal {
    asked: Mutex<Asked>,
    changed: Condvar,
}

#[derive(Default)]
struct Asked {
    wal_pages: u32,
    stop: bool,
}

impl Checkpointer {
    /// Watches the commits of `writer`, whose own checkpoints are off. `copied` is called when the log
    /// was copied.
    pub(crate) fn start(
        file: &Path,
        writer: &mut Connection,
        wal_pages: u32,
        copied: impl Fn() + Send + 'static,
    ) -> rusqlite::Result<Self> {
        let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let connection = Connection::open_with_flags(file, flags)?;
        connection.pragma_update(None, "wal_autocheckpoint", 0)?;
        connection.pragma_update(None, "synchronous", "FULL")?;
        connection.pragma_update(None, "checkpoint_fullfsync", "ON")?;
        let signal = Arc::new(Signal::default());
        let asking = Arc::clone(&signal);
        writer.wal_hook(Some(move |_: &mut Wal, pages| {
            let pages = u32::try_from(pages).unwrap_or(0);
            if pages >= wal_pages {
                asking.ask(pages);
            }
            Ok(())
        }))?;
        let asked = Arc::clone(&signal);
        let work = move || {
            let overdue = wal_pages.saturating_mul(OVERDUE);
            let mut patience = overdue;
            while let Some(pages) = asked.wait() {
                // A long reader, such as a backup, is in the way of every try, and each try holds
                // the writer back: the next one waits until the log is twice as long.
                let done = copy(&connection, pages > patience);
                if done {
                    copied();
                }
                patience = if done { overdue } else { pages.saturating_mul(2).max(overdue) };
                asked.pause();
            }
        };
        let thread = std::thread::Builder::new().name("semel-checkpoint".to_owned()).spawn(work);
        let thread =
            thread.map_err(|error| rusqlite::Error::ToSqlConversionFailure(error.into()))?;
        Ok(Self { signal, thread: Some(thread) })
    }
}

impl Drop for Checkpointer {
    fn drop(&mut self) {
        self.signal.asked().stop = true;
        self.signal.changed.notify_all();
        if let Some(thread) = self.thread.take()
            && thread.join().is_err()
        {
            tracing::error!("the checkpoint thread panicked");
        }
    }
}

impl Signal {
    fn asked(&self) -> MutexGuard<'_, Asked> {
        self.asked.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn ask(&self, wal_pages: u32) {
        self.asked().wal_pages = wal_pages;
        self.changed.notify_one();
    }

    /// The length of a log that wants copying; none when it is time to stop.
    fn wait(&self) -> Option<u32> {
        let idle = |asked: &mut Asked| !asked.stop && asked.wal_pages == 0;
        let asked = self.changed.wait_while(self.asked(), idle);
        let mut asked = asked.unwrap_or_else(PoisonError::into_inner);
        (!asked.stop).then(|| std::mem::take(&mut asked.wal_pages))
    }

    fn pause(&self) {
        let pause = Duration::from_millis(PAUSE_MS);
        drop(self.changed.wait_timeout_while(self.asked(), pause, |asked| !asked.stop));
    }
}

/// Most of it beside the writer, twice, as the first copy takes long enough for a second to matter;
/// then the rest with the writer held back. False: somebody was in the way.
fn copy(connection: &Connection, is_overdue: bool) -> bool {
    let (last, wait_ms) = match is_overdue {
        false => (CheckpointMode::RESTART, WAIT_MS),
        true => (CheckpointMode::TRUNCATE, WAIT_OVERDUE_MS),
    };
    let steps = [CheckpointMode::PASSIVE, CheckpointMode::PASSIVE, last];
    let done = connection
        .busy_timeout(Duration::from_millis(wait_ms))
        .and_then(|()| steps.into_iter().try_for_each(|mode| checkpoint(connection, mode)));
    match done {
        Ok(()) => return true,
        Err(error) if is_busy(&error) => tracing::debug!("the log is in use; it is copied later"),
        Err(error) => tracing::warn!(%error, "the log could not be copied into the file"),
    }
    false
}

fn checkpoint(connection: &Connection, mode: CheckpointMode) -> rusqlite::Result<()> {
    connection.wal_checkpoint_v2(None::<&str>, mode).map(|_| ())
}

fn is_busy(error: &rusqlite::Error) -> bool {
    error.sqlite_error_code() == Some(rusqlite::ErrorCode::DatabaseBusy)
}

/// All of the log is in the file, and the next frame is its first: what a power cut tore is not left to
/// lie behind what is written now.
pub(crate) fn begin_anew(connection: &Connection) -> rusqlite::Result<()> {
    match checkpoint(connection, CheckpointMode::TRUNCATE) {
        Err(error) if is_busy(&error) => {
            tracing::debug!("the log is in use; it is copied later");
            Ok(())
        }
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use std::time::Instant;

    use super::*;

    #[test]
    fn the_log_starts_again_under_constant_load() {
        let directory = tempfile::tempdir().unwrap();
        let file = directory.path().join("semel.db");
        let mut writer = Connection::open(&file).unwrap();
        writer.pragma_update(None, "journal_mode", "WAL").unwrap();
        writer.pragma_update(None, "synchronous", "OFF").unwrap();
        writer.pragma_update(None, "wal_autocheckpoint", 0).unwrap();
        writer.busy_timeout(Duration::from_secs(10)).unwrap();
        writer.execute_batch("CREATE TABLE t (x BLOB)").unwrap();
        let checkpointer = Checkpointer::start(&file, &mut writer, 50, || {}).unwrap();
        let log = directory.path().join("semel.db-wal");
        let began = Instant::now();
        let mut written_bytes = 0;
        while written_bytes < 10_000_000
            || std::fs::metadata(&log).unwrap().len() > written_bytes / 4
        {
            writer.execute("INSERT INTO t VALUES (zeroblob(3000))", []).unwrap();
            written_bytes += 3_000;
            assert!(began.elapsed() < Duration::from_secs(60), "the log never started again");
        }
        drop(checkpointer);
    }
}
