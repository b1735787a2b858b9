//! # A database for one test
//!
//! Its clock stands still until it is moved, as every store's does in these tests, and it stands in
//! the database, for all that open it.

use std::sync::Arc;

use semel_model::Timestamp;
use semel_store::conformance::{Fixture, samples};
use semel_store::{Clock, Store};
use semel_store_postgres::{Options, PostgresStore};
use semel_tests::postgres;

pub(crate) struct Database {
    pub(crate) url: String,
}

impl Database {
    pub(crate) fn new() -> Self {
        Self { url: postgres::shared().database_at(samples::BEGIN.ms()).unwrap() }
    }

    pub(crate) fn set_clock(&self, time: Timestamp) {
        let set = format!("UPDATE clock SET stands_at = {}, offset_ms = 0", time.ms());
        postgres::shared().psql_at(&self.url, &set).unwrap();
    }

    /// As the node of that name, which credits the shortest silence.
    pub(crate) fn open_as(&self, node: &str) -> PostgresStore {
        let options = Options { lease_grace_ms: 0, ..Options::named(node) };
        PostgresStore::open(&self.url, &options).unwrap()
    }
}

impl Fixture for Database {
    /// On a machine whose clock shows that.
    fn open(&mut self, clock: Arc<Clock>) -> Arc<dyn Store> {
        self.set_clock(clock.now());
        Arc::new(self.open_as("node"))
    }
}
