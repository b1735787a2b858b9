//! # Differential: the same rounds and searches on memory, SQLite and PostgreSQL, the same answers

use std::sync::Arc;

use semel_store::conformance::differential::{Named, give_the_same_answers, seeds};
use semel_store::conformance::finding::find_the_same;
use semel_store::conformance::{Fixture, Memory};
use semel_store::{Clock, Store};
use semel_store_sqlite::SqliteStore;
use semel_tests::process::is_full;

use crate::fixture::Database;

const ROUNDS: u32 = 100;
const ROUNDS_OF_SEARCHES: u32 = 60;

struct Sqlite(tempfile::TempDir);

impl Fixture for Sqlite {
    fn open(&mut self, clock: Arc<Clock>) -> Arc<dyn Store> {
        Arc::new(SqliteStore::open(self.0.path(), clock).unwrap())
    }
}

/// The same on each of the three, from each seed.
fn compare(compared: impl Fn(Vec<Named<'_>>, u64)) {
    for seed in seeds(if is_full() { 20 } else { 4 }) {
        let (mut memory, mut postgres) = (Memory::default(), Database::new());
        let mut sqlite = Sqlite(tempfile::tempdir().unwrap());
        let stores: Vec<Named<'_>> =
            vec![("memory", &mut memory), ("sqlite", &mut sqlite), ("postgresql", &mut postgres)];
        compared(stores, seed);
    }
}

#[test]
#[ignore = "needs PostgreSQL; run by ./check full"]
fn memory_sqlite_and_postgresql_give_the_same_answers() {
    compare(|stores, seed| give_the_same_answers(stores, seed, ROUNDS));
}

#[test]
#[ignore = "needs PostgreSQL; run by ./check full"]
fn memory_sqlite_and_postgresql_find_the_same() {
    compare(|stores, seed| find_the_same(stores, seed, ROUNDS_OF_SEARCHES));
}
