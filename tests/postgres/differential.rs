//! # Differential: the same rounds on memory, SQLite and PostgreSQL, the same answers

use std::sync::Arc;

use semel_store::conformance::differential::{give_the_same_answers, seeds};
use semel_store::conformance::{Fixture, Memory};
use semel_store::{Clock, Store};
use semel_store_sqlite::SqliteStore;
use semel_tests::process::is_full;

use crate::fixture::Database;

const ROUNDS: u32 = 100;

struct Sqlite(tempfile::TempDir);

impl Fixture for Sqlite {
    fn open(&mut self, clock: Arc<Clock>) -> Arc<dyn Store> {
        Arc::new(SqliteStore::open(self.0.path(), clock).unwrap())
    }
}

#[test]
#[ignore = "needs PostgreSQL; run by ./check full"]
fn memory_sqlite_and_postgresql_give_the_same_answers() {
    for seed in seeds(if is_full() { 20 } else { 4 }) {
        let (mut memory, mut postgres) = (Memory::default(), Database::new());
        let mut sqlite = Sqlite(tempfile::tempdir().unwrap());
        let stores: Vec<(_, &mut dyn Fixture)> =
            vec![("memory", &mut memory), ("sqlite", &mut sqlite), ("postgresql", &mut postgres)];
        give_the_same_answers(stores, seed, ROUNDS);
    }
}
