//! # Opening: what is wrong is said with what to do, and many may open at once

use semel_store::{Store, Writes};
use semel_store_postgres::{OpenError, Options, PostgresStore, migrate, schema};
use semel_tests::postgres;

fn refusal(url: &str) -> OpenError {
    PostgresStore::open(url, &Options::named("node")).err().unwrap()
}

#[test]
#[ignore = "needs PostgreSQL; run by ./check full"]
fn nodes_that_start_together_make_the_tables_once() {
    let url = postgres::shared().database().unwrap();
    let found = schema(&url).unwrap();
    assert_eq!((found.found, found.is_current()), (0, false));
    std::thread::scope(|scope| {
        for number in 0..6 {
            let url = &url;
            scope.spawn(move || {
                let options = Options::named(format!("node {number}"));
                let store = PostgresStore::open(url, &options).unwrap();
                assert_eq!(store.about().unwrap().kind, "postgres");
            });
        }
    });
    assert!(schema(&url).unwrap().is_current());
    assert!(migrate(&url).unwrap().is_current(), "said twice is said once");
}

#[test]
#[ignore = "needs PostgreSQL; run by ./check full"]
fn what_is_wrong_with_an_address_is_said() {
    let server = postgres::shared();
    let error = refusal("postgres://semel@127.0.0.1:port/semel");
    assert!(matches!(error, OpenError::Url(_)), "{error}");
    let error = refusal("postgres://semel@127.0.0.1:1/semel");
    assert!(matches!(error, OpenError::Unreachable { .. }), "{error}");
    assert!(error.to_string().contains("127.0.0.1:1/semel cannot be reached"), "{error}");
    let error = refusal(&server.url("nowhere"));
    assert!(matches!(error, OpenError::NoDatabase { .. }), "{error}");
    assert!(error.to_string().contains("/nowhere"), "{error}");
    let stranger = format!("postgres://stranger@127.0.0.1:{}/postgres", server.port());
    let error = refusal(&stranger);
    assert!(matches!(error, OpenError::Login { .. }), "{error}");
    assert!(error.to_string().contains("stranger"), "{error}");
}

#[test]
#[ignore = "needs PostgreSQL; run by ./check full"]
fn of_several_hosts_the_one_that_is_there_is_used() {
    let url = postgres::shared().database().unwrap();
    for hosts in ["127.0.0.1:1,127.0.0.1:", "localhost:1,127.0.0.1:"] {
        let url = url.replace("127.0.0.1:", hosts);
        let store = PostgresStore::open(&url, &Options::named("node")).unwrap();
        store.writer(0).unwrap().commit(Writes::default()).unwrap();
    }
    let error = refusal("postgres://semel@127.0.0.1:1,127.0.0.1:2/semel");
    assert!(error.to_string().contains("127.0.0.1,127.0.0.1:1,2/semel"), "{error}");
}

#[test]
#[ignore = "needs PostgreSQL; run by ./check full"]
fn a_database_that_forgets_what_it_acknowledged_is_refused() {
    let server = postgres::shared();
    let url = server.database().unwrap();
    let name = url.rsplit('/').next().unwrap();
    server.psql(name, &format!("ALTER DATABASE {name} SET synchronous_commit = off")).unwrap();
    let error = refusal(&url);
    assert!(matches!(error, OpenError::NotDurable), "{error}");
    assert_eq!(server.psql(name, "SELECT to_regclass('migrations') IS NULL").unwrap(), "t");
}

#[test]
#[ignore = "needs PostgreSQL; run by ./check full"]
fn a_user_without_rights_is_told_which() {
    let server = postgres::shared();
    let url = server.database().unwrap();
    let name = url.rsplit('/').next().unwrap();
    server.psql(name, "CREATE ROLE guest LOGIN").unwrap();
    let url = format!("postgres://guest@127.0.0.1:{}/{name}", server.port());
    let error = refusal(&url);
    assert!(matches!(error, OpenError::Rights { .. }), "{error}");
    assert!(error.to_string().contains("permission denied"), "{error}");
}

#[test]
#[ignore = "needs PostgreSQL; run by ./check full"]
fn tables_of_a_newer_or_another_release_are_refused() {
    let server = postgres::shared();
    let url = server.database_at(0).unwrap();
    server.psql_at(&url, "INSERT INTO migrations VALUES (999, 998, '\\x00')").unwrap();
    assert!(matches!(refusal(&url), OpenError::Newer { found: 999, needs: 998, .. }));
    server.psql_at(&url, "DELETE FROM migrations WHERE number = 999").unwrap();
    server.psql_at(&url, "UPDATE migrations SET checksum = '\\x00' WHERE number = 1").unwrap();
    assert!(matches!(refusal(&url), OpenError::Changed { number: 1 }));
}
