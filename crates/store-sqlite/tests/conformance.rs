//! # Conformance: the suite, on files
//!
//! Twice: closed cleanly, so that the log is copied into the file; and cut off, so that what was
//! committed lies in the log alone.

#![expect(clippy::unwrap_used, reason = "a test says what went wrong by panicking")]

use std::path::Path;
use std::sync::Arc;

use semel_store::conformance::Fixture;
use semel_store::{Clock, Store};
use semel_store_sqlite::SqliteStore;
use tempfile::TempDir;

struct Directory {
    path: TempDir,
    is_cut_off: bool,
}

impl Directory {
    fn new(is_cut_off: bool) -> Self {
        Self { path: TempDir::new().unwrap(), is_cut_off }
    }
}

impl Fixture for Directory {
    fn open(&mut self, clock: Arc<Clock>) -> Arc<dyn Store> {
        Arc::new(SqliteStore::open(self.path.path(), clock).unwrap())
    }

    /// What a crash leaves is what the files hold while the store is still open.
    fn crash(&mut self) {
        if self.is_cut_off {
            let left = TempDir::new().unwrap();
            copy_files(self.path.path(), left.path());
            self.path = left;
        }
    }
}

fn copy_files(from: &Path, to: &Path) {
    for name in ["semel.db", "semel.db-wal"] {
        std::fs::copy(from.join(name), to.join(name)).unwrap();
    }
}

mod closed {
    semel_store::conformance!(super::Directory::new(false));
}

mod cut_off {
    semel_store::conformance!(super::Directory::new(true));
}
