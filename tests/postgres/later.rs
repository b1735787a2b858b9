//! # Later: tables to which a later release has added
//!
//! Columns, a table and an index came, and what was there stayed as it was. This release serves such
//! tables, runs while they are added to and may start again afterwards. Tables that need a later one
//! it refuses, and so does whoever would copy what it does not know.

use std::sync::Arc;

use semel_store::conformance::Fixture;
use semel_store::{Clock, Store};
use semel_store_postgres::{OpenError, Options, PostgresStore, schema};
use semel_tests::postgres;
use semel_tests::process::{DEADLINE, is_full, refused, run, until};

use crate::cluster::{KEY, NODES, ordeal};
use crate::fixture::Database;

/// What the next migration might do, if it only adds.
const ADDED: &str = "
    ALTER TABLE executions ADD COLUMN later text, ADD COLUMN weight bigint NOT NULL DEFAULT 7;
    ALTER TABLE deliveries ADD COLUMN later text, ADD COLUMN weight bigint NOT NULL DEFAULT 7;
    ALTER TABLE messages ADD COLUMN later text, ADD COLUMN weight bigint NOT NULL DEFAULT 7;
    ALTER TABLE records ADD COLUMN later bytea, ADD COLUMN weight bigint NOT NULL DEFAULT 7;
    ALTER TABLE journal ADD COLUMN later bytea;
    ALTER TABLE documents ADD COLUMN later bytea;
    ALTER TABLE runs ADD COLUMN later text NOT NULL DEFAULT '';
    ALTER TABLE tasks ADD COLUMN later text NOT NULL DEFAULT '';
    CREATE TABLE laters (id uuid PRIMARY KEY, body bytea NOT NULL);
    CREATE INDEX executions_by_weight ON executions (weight, id);
    CREATE INDEX deliveries_by_later ON deliveries (later) WHERE later IS NOT NULL";

/// Does to these tables what a later release would, while nodes may work on them: in one
/// transaction, which lets go of what it cannot have at once.
fn add_to(url: &str, needs: Needs) {
    let known = schema(url).unwrap().known;
    let needs = if needs == Needs::TheSame { known } else { known + 1 };
    let number = known + 1;
    let sql = format!(
        "SET LOCAL lock_timeout = '500ms'; {ADDED}; \
         INSERT INTO migrations (number, needs, checksum) VALUES ({number}, {needs}, '\\x00')"
    );
    let applied = || postgres::shared().psql_at(url, &sql).ok();
    until("the migration has its locks", DEADLINE, applied).unwrap();
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Needs {
    TheSame,
    More,
}

struct Later(Database);

impl Later {
    fn new() -> Self {
        let database = Database::new();
        add_to(&database.url, Needs::TheSame);
        Self(database)
    }
}

impl Fixture for Later {
    fn open(&mut self, clock: Arc<Clock>) -> Arc<dyn Store> {
        self.0.open(clock)
    }
}

mod conformance {
    use super::Later;

    semel_store::conformance!(ignored: "needs PostgreSQL; run by ./check full", Later::new());
}

#[test]
#[ignore = "needs PostgreSQL; run by ./check full"]
fn nodes_go_on_while_a_later_release_adds_to_their_tables_and_start_again_on_them() {
    let (runs, restarts) = if is_full() { (300, 12) } else { (60, 3) };
    let mut time = 0;
    ordeal(postgres::shared(), runs, 1 + restarts, |cluster| {
        match time {
            0 => add_to(&cluster.url, Needs::TheSame),
            time => cluster.servers[time % NODES].lock().unwrap().restart().unwrap(),
        }
        time += 1;
        let schema = schema(&cluster.url).unwrap();
        assert!(schema.found > schema.known && schema.is_current(), "{schema:?}");
    });
    assert_eq!(time, 1 + restarts);
}

#[test]
#[ignore = "needs PostgreSQL; run by ./check full"]
fn tables_that_were_added_to_are_told_to_be_enough_and_are_not_copied() {
    let Later(Database { url }) = Later::new();
    let directory = tempfile::tempdir().unwrap();
    for (option, words) in [(Some("--check"), "enough to serve it"), (None, "the store has schema")]
    {
        let mut arguments = vec!["migrate", "--store", &url];
        arguments.extend(option);
        let (status, said) = run(directory.path(), &arguments).unwrap();
        assert!(status.success() && said.contains(words), "{status} {said}");
        let found = schema(&url).unwrap().found;
        assert!(said.contains(&format!("schema {found}")), "{said}");
    }
    let error = PostgresStore::open(&url, &Options::alone("copy")).err().unwrap();
    assert!(matches!(error, OpenError::Newer { .. }), "{error}");
}

#[test]
#[ignore = "needs PostgreSQL; run by ./check full"]
fn tables_that_need_a_later_release_are_refused() {
    let database = Database::new();
    add_to(&database.url, Needs::More);
    let error = PostgresStore::open(&database.url, &Options::named("node")).err().unwrap();
    let OpenError::Newer { found, needs, known } = error else { panic!("{error}") };
    assert_eq!((found, needs), (known + 1, known + 1));
    let directory = tempfile::tempdir().unwrap();
    let options = ["--store", &database.url, "--secrets-key", KEY];
    let (status, said) = refused(directory.path(), &options).unwrap();
    assert_eq!(status.code(), Some(1), "{said}");
    assert!(said.contains(&format!("needs one that knows {needs}")), "{said}");
    assert!(said.contains("start the newer release"), "{said}");
    let check = ["migrate", "--store", &database.url, "--check"];
    let (status, said) = run(directory.path(), &check).unwrap();
    assert!(status.code() == Some(1) && said.contains("needs one that knows"), "{status} {said}");
}

/// Nodes that run would wait behind a migration that waits.
#[test]
#[ignore = "needs PostgreSQL; run by ./check full"]
fn a_migration_that_cannot_have_its_locks_lets_go_and_tries_again() {
    let server = postgres::shared();
    let Database { url } = Database::new();
    let undo = "DELETE FROM migrations WHERE number = 2; DROP TABLE runs, tasks, snapshots";
    server.psql_at(&url, undo).unwrap();
    let locks = |which: &str| {
        let count = format!(
            "SELECT count(*) FROM pg_locks WHERE relation = 'migrations'::regclass AND {which}"
        );
        let is_so = || (server.psql_at(&url, &count).unwrap() == "1").then_some(());
        until(which, DEADLINE, is_so).unwrap();
    };
    let share = "SET lock_timeout = '60s'; BEGIN; LOCK TABLE migrations IN SHARE MODE";
    std::thread::scope(|scope| {
        let mut reader = server.session(&url).unwrap();
        reader.run(share).unwrap();
        let migrated = scope.spawn(|| semel_store_postgres::migrate(&url));
        locks("NOT granted");
        // Nobody is kept waiting by who waits.
        server.psql_at(&url, &format!("{share}; COMMIT")).unwrap();
        assert!(!migrated.is_finished());
        reader.run("COMMIT").unwrap();
        assert!(migrated.join().unwrap().unwrap().is_current());
    });
}
