//! # Backups: of one moment, proven, never half a file

use std::path::Path;
use std::sync::Arc;

use rusqlite::Connection;
use semel_engine::{ENGINE_VERSION, Entry, Event, Facts, Head, Link};
use semel_model::{Digest, Timestamp};
use semel_store::conformance::samples;
use semel_store::{Clock, Stamp, Store, Writer, Writes};
use tempfile::TempDir;

use super::*;
use crate::SqliteStore;

/// A store with one run of two entries and one hand-out.
fn store(directory: &Path) -> (SqliteStore, Box<dyn Writer>) {
    let clock = Arc::new(Clock::manual(samples::BEGIN));
    let store = SqliteStore::open(directory, clock).unwrap();
    let mut writer = store.writer(0).unwrap();
    writer.commit(journal(1)).unwrap();
    (store, writer)
}

fn journal(number: u8) -> Writes {
    let (mut link, mut entries) = (Link::default(), Vec::new());
    for _ in 0..2 {
        let entry = Entry {
            at: Timestamp::from_ms(1),
            engine_version: ENGINE_VERSION,
            actor: "ann".to_owned(),
            event_id: String::new(),
            cause: Event::Woke,
            facts: Facts::default(),
            changes: Vec::new(),
            payloads: Vec::new(),
            prev: link.digest,
        };
        let bytes = entry.encode();
        link = Link { seq: link.seq + 1, digest: Digest::of(&bytes) };
        entries.push((samples::execution(number), link.seq, bytes));
    }
    let head = Head { link, ..samples::head(number) };
    let stamp = Stamp { lane: 0, round: u64::from(number), at: samples::BEGIN, fence: 77 };
    Writes { entries, stamp, ..samples::put_heads([head]) }
}

fn names(directory: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(directory).unwrap();
    entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect()
}

fn run(directory: &Path, to: &Path) -> Result<BackedUp, BackupError> {
    backup(directory, to, false, |_| {})
}

#[test]
fn a_backup_is_made_beside_a_writer_and_opens_as_data() {
    let (data, kept, restored) =
        (TempDir::new().unwrap(), TempDir::new().unwrap(), TempDir::new().unwrap());
    let (original, mut writer) = store(data.path());
    let to = kept.path().join("a.backup");
    let mut steps = Vec::new();
    let done = backup(data.path(), &to, false, |step| {
        if step == Progress::Began {
            writer.commit(journal(2)).unwrap();
        }
        steps.push(step);
    });
    let proven = done.unwrap().proven.unwrap();
    assert_eq!(proven, Counts { executions: 1, entries: 2 }, "of the moment it began");
    let all =
        steps.iter().any(|step| matches!(step, Progress::Copied { pages, of } if pages == of));
    assert!(all && steps.contains(&Progress::Checking), "{steps:?}");
    assert_eq!(names(kept.path()), ["a.backup"], "one file and nothing beside it");
    std::fs::copy(&to, restored.path().join(DATABASE)).unwrap();
    let clock = Arc::new(Clock::manual(samples::BEGIN));
    let opened = SqliteStore::open(restored.path(), clock).unwrap();
    assert!(opened.head(samples::execution(1)).unwrap().is_some());
    assert!(opened.head(samples::execution(2)).unwrap().is_none());
    let (before, after) = (original.fence_floor().unwrap(), opened.fence_floor().unwrap());
    assert!(after >= before + FENCE_MARGIN, "{before} {after}");
}

#[test]
fn what_is_there_is_not_overwritten() {
    let (data, kept) = (TempDir::new().unwrap(), TempDir::new().unwrap());
    let _open = store(data.path());
    let to = kept.path().join("a.backup");
    std::fs::write(&to, "precious").unwrap();
    let refused = run(data.path(), &to).unwrap_err();
    assert!(matches!(refused, BackupError::Taken { .. }), "{refused}");
    assert_eq!(std::fs::read_to_string(&to).unwrap(), "precious");
    let late = kept.path().join("b.backup");
    let refused = backup(data.path(), &late, true, |step| {
        if step == Progress::Checking {
            std::fs::write(&late, "somebody else's").unwrap();
        }
    });
    assert!(matches!(refused, Err(BackupError::Taken { .. })), "{refused:?}");
    assert_eq!(std::fs::read_to_string(&late).unwrap(), "somebody else's");
    assert_eq!(names(kept.path()).len(), 2, "no unfinished copy is left");
}

#[test]
fn a_directory_without_data_is_refused_and_not_made() {
    let parent = TempDir::new().unwrap();
    let directory = parent.path().join("nothing");
    let refused = run(&directory, &parent.path().join("a")).unwrap_err();
    assert!(matches!(refused, BackupError::NoData { .. }), "{refused}");
    assert_eq!(names(parent.path()), [""; 0]);
}

#[test]
fn a_journal_that_was_altered_is_not_backed_up() {
    let cases = [
        (
            "UPDATE journal SET entry = CAST(replace(CAST(entry AS TEXT), 'ann', 'bob') AS BLOB) \
             WHERE seq = 2",
            "digests differ",
        ),
        ("UPDATE journal SET entry = CAST(entry || ' ' AS BLOB) WHERE seq = 1", "the chain"),
        ("DELETE FROM journal WHERE seq = 1", "entry 1 is missing"),
        ("DELETE FROM journal WHERE seq = 2", "journal ends with entry 1"),
        ("DELETE FROM journal", "have a row and no journal"),
        ("DELETE FROM executions", "has a journal and no row"),
    ];
    for (sql, words) in cases {
        let (data, kept) = (TempDir::new().unwrap(), TempDir::new().unwrap());
        drop(store(data.path()));
        let connection = Connection::open(data.path().join(DATABASE)).unwrap();
        assert!(connection.execute(sql, []).unwrap() > 0, "{sql}");
        drop(connection);
        let to = kept.path().join("a.backup");
        let refused = run(data.path(), &to).unwrap_err().to_string();
        assert!(refused.contains(words), "{sql}: {refused}");
        assert_eq!(names(kept.path()), [""; 0], "{sql}");
        assert!(backup(data.path(), &to, true, |_| {}).unwrap().proven.is_none(), "quick");
    }
}
