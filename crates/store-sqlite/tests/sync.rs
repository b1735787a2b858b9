//! # Sync: a commit of the bundled SQLite asks the kernel for fdatasync
//!
//! SQLite calls fsync unless it is compiled with `HAVE_FDATASYNC`, and fsync writes times of files that no commit needs.
//! The flag stands in `.cargo/config.toml`; a build that does not read it fails here. Linux only.

#![cfg(target_os = "linux")]
#![expect(clippy::unwrap_used, reason = "a test says what went wrong by panicking")]

use std::fs::File;

use rusqlite::Connection;
use seccompiler::{BpfProgram, SeccompAction, SeccompFilter, TargetArch, apply_filter};

/// On a thread of its own, to which the kernel refuses that call and nothing else.
fn refused<T: Send + 'static>(call: libc::c_long, work: impl FnOnce() -> T + Send + 'static) -> T {
    let work = move || {
        let machine = TargetArch::try_from(std::env::consts::ARCH).unwrap();
        let error = SeccompAction::Errno(libc::EIO.unsigned_abs());
        let rules = [(call, Vec::new())].into();
        let filter = SeccompFilter::new(rules, SeccompAction::Allow, error, machine).unwrap();
        apply_filter(&BpfProgram::try_from(filter).unwrap()).unwrap();
        work()
    };
    std::thread::spawn(work).join().unwrap()
}

/// Commits a row as the store does, and copies the log into the file.
fn commit() -> rusqlite::Result<()> {
    let directory = tempfile::tempdir().unwrap();
    let database = Connection::open(directory.path().join("test.db"))?;
    database.pragma_update(None, "journal_mode", "WAL")?;
    database.pragma_update(None, "synchronous", "FULL")?;
    database.execute_batch("CREATE TABLE t (a); INSERT INTO t VALUES (1)")?;
    database.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(()))
}

#[test]
fn a_commit_needs_fdatasync_and_no_fsync() {
    let synced = |call, sync: fn(&File) -> std::io::Result<()>| {
        refused(call, move || sync(&tempfile::tempfile().unwrap()))
    };
    assert!(synced(libc::SYS_fsync, File::sync_all).is_err(), "the kernel refuses fsync");
    assert!(synced(libc::SYS_fsync, File::sync_data).is_ok(), "and not fdatasync");
    refused(libc::SYS_fsync, commit).expect("nothing of a commit calls fsync");
    assert!(refused(libc::SYS_fdatasync, commit).is_err(), "a commit without fdatasync fails");
}
