//! # The index, differentially: the same rows and searches on memory and on SQLite

#![expect(clippy::unwrap_used, reason = "a test says what went wrong by panicking")]

use std::sync::Arc;

use semel_store::conformance::differential::seeds;
use semel_store::conformance::finding::find_the_same;
use semel_store::conformance::{Fixture, Memory};
use semel_store::{Clock, Store};
use semel_store_sqlite::SqliteStore;

const SEEDS: u64 = 6;
const ROUNDS: u32 = 60;

struct Sqlite(tempfile::TempDir);

impl Fixture for Sqlite {
    fn open(&mut self, clock: Arc<Clock>) -> Arc<dyn Store> {
        Arc::new(SqliteStore::open(self.0.path(), clock).unwrap())
    }
}

#[test]
fn memory_and_sqlite_find_the_same() {
    for seed in seeds(SEEDS) {
        let (mut memory, mut sqlite) = (Memory::default(), Sqlite(tempfile::tempdir().unwrap()));
        let stores: Vec<(_, &mut dyn Fixture)> =
            vec![("memory", &mut memory), ("sqlite", &mut sqlite)];
        find_the_same(stores, seed, ROUNDS);
    }
}
