//! # Copies: a server's data moves from SQLite to PostgreSQL, and everything goes on

use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::Arc;

use semel_engine::RecordKey;
use semel_store::conformance::samples;
use semel_store::transfer::{TransferError, transfer};
use semel_store::{Clock, Stamp, Store, Writes};
use semel_store_postgres::{Options, PostgresStore};
use semel_store_sqlite::SqliteStore;
use semel_tests::postgres;
use semel_tests::process::{DEADLINE, Server, binary, refused, run, until};
use tempfile::TempDir;

use crate::under_way::{Desk, UnderWay};

/// The key that the server on SQLite has made for itself.
fn secrets_key(directory: &Path) -> String {
    let text = std::fs::read_to_string(directory.join("data/secrets.key")).unwrap();
    text.lines().find(|line| !line.starts_with('#')).unwrap().to_owned()
}

/// A stopped server with something under way.
fn stopped() -> (TempDir, UnderWay) {
    let directory = tempfile::tempdir().unwrap();
    let mut server = Server::start(directory.path(), &["--test-clock"]).unwrap();
    let under_way = UnderWay::begin(&Desk::at(&server));
    server.stop().unwrap();
    (directory, under_way)
}

/// With a password, which nobody needs to see.
fn target() -> String {
    postgres::shared().database().unwrap().replace("semel@", "semel:hush@")
}

fn copy(directory: &Path, to: &str, options: &[&str]) -> (Option<i32>, String) {
    let arguments = [&["copy", "--from", "sqlite", "--to", to], options].concat();
    let (status, said) = run(directory, &arguments).unwrap();
    assert!(!said.contains("hush"), "{said}");
    (status.code(), said)
}

fn serve(url: &str, key: &str) -> (TempDir, Server) {
    let directory = tempfile::tempdir().unwrap();
    let options = ["--store", url, "--secrets-key", key, "--test-clock"];
    let server = Server::start(directory.path(), &options).unwrap();
    (directory, server)
}

#[test]
#[ignore = "needs PostgreSQL; run by ./check full"]
fn everything_that_was_under_way_goes_on_elsewhere() {
    let (directory, under_way) = stopped();
    let (url, key) = (target(), secrets_key(directory.path()));
    let (code, said) = copy(directory.path(), &url, &[]);
    assert_eq!(code, Some(0), "{said}");
    assert!(said.contains("every journal is unbroken") && said.contains("1 secrets"), "{said}");
    let (code, said) = copy(directory.path(), &url, &["--verify"]);
    assert_eq!(code, Some(0), "{said}");
    let (_node, server) = serve(&url, &key);
    under_way.go_on(&Desk::at(&server));
    let (code, said) = copy(directory.path(), &url, &["--verify"]);
    assert!(code == Some(5) && said.contains("stop every node"), "{code:?} {said}");
    drop(server);
    let (code, said) = copy(directory.path(), &url, &[]);
    assert!(code == Some(0) && said.contains("the copy is done"), "{code:?} {said}");
}

#[test]
#[ignore = "needs PostgreSQL; run by ./check full"]
fn there_and_back_again() {
    let (directory, under_way) = stopped();
    let (url, key) = (target(), secrets_key(directory.path()));
    assert_eq!(copy(directory.path(), &url, &[]).0, Some(0));
    let back = tempfile::tempdir().unwrap();
    let (status, said) = run(back.path(), &["copy", "--from", &url, "--to", "sqlite"]).unwrap();
    assert!(status.success(), "{said}");
    let options = ["--test-clock", "--secrets-key", &key];
    let server = Server::start(back.path(), &options).unwrap();
    under_way.go_on(&Desk::at(&server));
}

/// Nobody but readers gets at the table until this ends.
fn lock_table(url: &str, table: &str) -> Child {
    let sql = format!("BEGIN; LOCK TABLE {table} IN EXCLUSIVE MODE; SELECT pg_sleep(600)");
    let mut psql = Command::new("psql");
    psql.args(["-X", "-q", "-d", url, "-c", &sql]).stdout(Stdio::null());
    let child = psql.spawn().unwrap();
    let locked = format!(
        "SELECT 1 FROM pg_locks WHERE relation = '{table}'::regclass AND mode = 'ExclusiveLock'"
    );
    let is_locked =
        || Some(postgres::shared().psql_at(url, &locked).unwrap()).filter(|it| it == "1");
    until("the table is locked", DEADLINE, is_locked).unwrap();
    child
}

#[test]
#[ignore = "needs PostgreSQL; run by ./check full"]
fn a_copy_that_was_killed_is_not_served_and_goes_on() {
    let (directory, under_way) = stopped();
    let (url, key) = (target(), secrets_key(directory.path()));
    let psql = |sql: &str| postgres::shared().psql_at(&url, sql).unwrap();
    run(directory.path(), &["migrate", "--store", &url]).unwrap();
    let mut lock = lock_table(&url, "records");
    let mut child = Command::new(binary().unwrap());
    child
        .args(["copy", "--from", "sqlite", "--to", &url, "--data"])
        .arg(directory.path().join("data"));
    let mut child = child.env_clear().stderr(Stdio::null()).spawn().unwrap();
    let waits = "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() \
                 AND application_name = 'semel lane' AND wait_event_type = 'Lock'";
    let is_waiting = || Some(psql(waits)).filter(|count| count == "1");
    until("it is in the middle of it", DEADLINE, is_waiting).unwrap();
    child.kill().unwrap();
    child.wait().unwrap();
    assert_ne!(psql("SELECT count(*) FROM journal"), "0");
    assert_eq!(psql("SELECT count(*) FROM task_logs"), "0", "it did not come so far");
    psql(
        "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE query LIKE '%pg_sleep%' \
          AND datname = current_database() AND pid <> pg_backend_pid()",
    );
    lock.wait().unwrap();
    let node = tempfile::tempdir().unwrap();
    let options = ["--store", &url, "--secrets-key", &key];
    let (status, said) = refused(node.path(), &options).unwrap();
    assert!(
        !status.success() && said.contains("not finished") && said.contains("semel copy"),
        "{said}"
    );
    assert!(!said.contains("hush"), "{said}");
    let (other, _) = stopped();
    let (code, said) = copy(other.path(), &url, &[]);
    assert!(code == Some(5) && said.contains("holds a copy of sqlite:"), "{code:?} {said}");
    let (code, said) = copy(directory.path(), &url, &[]);
    assert_eq!(code, Some(0), "{said}");
    let (_node, server) = serve(&url, &key);
    under_way.go_on(&Desk::at(&server));
}

#[test]
#[ignore = "needs PostgreSQL; run by ./check full"]
fn data_that_is_in_the_way_or_in_use_is_left_alone() {
    let directory = tempfile::tempdir().unwrap();
    let source = Server::start(directory.path(), &[]).unwrap();
    let url = target();
    let (code, said) = copy(directory.path(), &url, &[]);
    assert!(code == Some(5) && said.contains("used by another process"), "{code:?} {said}");
    drop(source);
    let (_node, server) = serve(&url, &secrets_key(directory.path()));
    let (code, said) = copy(directory.path(), &url, &[]);
    assert!(code == Some(5) && said.contains("stop every node"), "{code:?} {said}");
    Desk::at(&server).define();
    drop(server);
    let (code, said) = copy(directory.path(), &url, &[]);
    assert!(code == Some(5) && said.contains("data of its own"), "{code:?} {said}");
    assert!(said.contains("a new database"), "{said}");
    let (code, said) = copy(directory.path(), "memory", &[]);
    assert!(code == Some(2) && said.contains("--to"), "{code:?} {said}");
}

#[test]
#[ignore = "needs PostgreSQL; run by ./check full"]
fn what_was_changed_after_the_copy_is_noticed() {
    let (directory, under_way) = stopped();
    let url = target();
    assert_eq!(copy(directory.path(), &url, &[]).0, Some(0));
    let data = directory.path().join("data");
    let source = SqliteStore::open_for_copy(&data, Arc::new(Clock::wall())).unwrap();
    let key = RecordKey { scope: "a".to_owned(), key: "planted".to_owned() };
    let (_, record) = source.records("", None, 1).unwrap().remove(0);
    let stamp = Stamp {
        lane: 0,
        round: source.last_round(0).unwrap() + 1,
        at: source.last_at().unwrap().unwrap(),
        fence: source.fence_floor().unwrap(),
    };
    let records = [(key, Some(record))].into();
    source.writer(0).unwrap().commit(Writes { stamp, records, ..Writes::default() }).unwrap();
    drop(source);
    let (code, said) = copy(directory.path(), &url, &["--verify"]);
    assert!(code == Some(1) && said.contains("record planted of a"), "{code:?} {said}");
    let spoil = format!(
        "UPDATE journal SET entry = replace(convert_from(entry, 'UTF8'), 'ann', 'eve')::bytea \
         WHERE execution = '{}'",
        under_way.ended
    );
    postgres::shared().psql_at(&url, &spoil).unwrap();
    let (code, said) = copy(directory.path(), &url, &["--verify"]);
    let words = format!("execution {}: entry", under_way.ended);
    assert!(code == Some(1) && said.contains(&words), "{code:?} {said}");
    assert!(said.contains("does not continue the chain"), "{said}");
}

#[test]
#[ignore = "needs PostgreSQL; run by ./check full"]
fn a_row_that_the_target_cannot_keep_is_named() {
    let directory = tempfile::tempdir().unwrap();
    let clock = Arc::new(Clock::manual(samples::BEGIN));
    let source = SqliteStore::open_for_copy(directory.path(), clock).unwrap();
    let stamp = Stamp { lane: 0, round: 1, at: samples::BEGIN, fence: 1 };
    let mut heads: Vec<_> = (1..9).map(samples::head).collect();
    heads[6].name = "a\0b".to_owned();
    let writes = Writes { stamp, ..samples::put_heads(heads) };
    source.writer(0).unwrap().commit(writes).unwrap();
    let url = postgres::shared().database().unwrap();
    let target = PostgresStore::open(&url, &Options::alone("semel copy")).unwrap();
    let refused = transfer("here", &source, &target, &mut |_| {}).unwrap_err();
    let TransferError::Unfit { row, why } = &refused else { panic!("{refused}") };
    assert_eq!(row, &format!("execution {}", samples::execution(7)), "{why}");
    assert!(target.head(samples::execution(6)).unwrap().is_some(), "all before it are there");
}

#[test]
#[ignore = "needs PostgreSQL; run by ./check full"]
fn fences_do_not_go_back_after_a_restore() {
    let key = "00".repeat(32);
    let url = postgres::shared().database().unwrap();
    let directory = tempfile::tempdir().unwrap();
    let raise = |url: &str| run(directory.path(), &["raise-fences", "--store", url]).unwrap();
    let claim = |url: &str, task_type: &str| {
        let (_node, server) = serve(url, &key);
        let task = Desk::at(&server).claim(task_type);
        task["fenceToken"].as_str().unwrap().parse::<u64>().unwrap()
    };
    {
        let (_node, server) = serve(&url, &key);
        let desk = Desk::at(&server);
        desk.define();
        for number in 0..4 {
            desk.start("pair", &number.to_string());
        }
        let (status, said) = raise(&url);
        assert!(!status.success() && said.contains("stop every node"), "{said}");
    }
    // Above the clock, which is then no help.
    assert!(raise(&url).0.success());
    claim(&url, "first");
    let backup = postgres::shared().database_like(url.rsplit('/').next().unwrap()).unwrap();
    let forgotten = claim(&url, "first");
    let (status, said) = raise(&backup);
    assert!(status.success() && said.contains("fences begin above"), "{said}");
    assert!(claim(&backup, "first") > forgotten);
}
