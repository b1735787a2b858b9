//! # Plans: no statement of the hot path is without an index
//!
//! Lanes and readers do what they do all day while the server writes down how it does each statement
//! ([`shown`]), on large tables, for values that are known and for any. Lanes do so on empty tables too,
//! since their plans may be that old, and on tables of which little is left, since a queue is sometimes
//! seen like that. Every statement in the source of these rooms has to be among them ([`rooms`]). What
//! the plans for any value are lies beside this as `plans.txt`, to be looked at.
//! Opening, counting, searching and copying read what they must.

mod day;
mod fill;
mod rooms;
mod shown;

use std::collections::{BTreeMap, BTreeSet};

use semel_store::conformance::samples::BEGIN;
use semel_store_postgres::{Options, PostgresStore};
use semel_tests::postgres::Postgres;
use semel_tests::process::{DEADLINE, until};

use shown::{LANE, Leads, READER, Shown, faults, told};

const SNAPSHOT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/postgres/plans.txt");
const LEADS: &str = "SELECT indexrelid::regclass, pg_get_indexdef(indexrelid, 1, true), \
     pg_get_expr(indpred, indrelid) FROM pg_index";
/// Of a long statement so much is told.
const BEGIN_BYTES: usize = 80;
const END_BYTES: usize = 220;
/// Asked by a node that has not looked at the clock yet: everything that waits is news to it.
const ONCE_PER_START: [&str; 2] = [
    "SELECT task_type, domain, count(*) FROM (SELECT task_type, domain FROM deliveries WHERE NOT leased",
    "SELECT min(ready_at) FROM deliveries WHERE NOT leased",
];

/// A server that says how it does everything.
struct Talkative {
    server: Postgres,
    url: String,
}

impl Talkative {
    fn start() -> Self {
        let server = Postgres::start().unwrap();
        for setting in ["log_line_prefix = '%a|'", "autovacuum = off"] {
            server.psql("postgres", &format!("ALTER SYSTEM SET {setting}")).unwrap();
        }
        server.psql("postgres", "SELECT pg_reload_conf()").unwrap();
        let is_read = || (server.psql("postgres", "SHOW autovacuum").ok()? == "off").then_some(());
        until("the settings are read", DEADLINE, is_read).unwrap();
        let url = server.database().unwrap();
        let name = url.rsplit('/').next().unwrap();
        for setting in [
            "session_preload_libraries = auto_explain",
            "auto_explain.log_min_duration = 0",
            "auto_explain.log_format = json",
        ] {
            server.psql(name, &format!("ALTER DATABASE {name} SET {setting}")).unwrap();
        }
        semel_store_postgres::migrate(&url).unwrap();
        let talkative = Self { server, url };
        talkative.psql(&format!("UPDATE clock SET stands_at = {}", BEGIN.ms()));
        talkative
    }

    fn psql(&self, sql: &str) -> String {
        self.server.psql_at(&self.url, sql).unwrap()
    }

    /// What a node is seen doing, if plans are made so; what it does to come into being is not counted.
    fn watch(&self, node: &str, plans: &str, act: impl Fn(&PostgresStore)) -> Vec<Shown> {
        let name = self.url.rsplit('/').next().unwrap();
        self.psql(&format!("ALTER DATABASE {name} SET plan_cache_mode = {plans}"));
        let store = PostgresStore::open(&self.url, &Options::named(node)).unwrap();
        let before = self.server.log().len();
        act(&store);
        drop(store);
        // The last of a connection is written down when it ends.
        let count = "SELECT count(*) FROM pg_stat_activity \
             WHERE application_name LIKE 'semel%' AND datname = current_database()";
        let is_over = || (self.psql(count) == "0").then_some(());
        until("the connections end", DEADLINE, is_over).unwrap();
        shown::read(&self.server.log()[before..])
    }
}

/// What a release of PostgreSQL does.
struct Days {
    release: String,
    /// By lanes on empty tables.
    early: Vec<Shown>,
    /// On large ones: for values that are known, and for any.
    known: Vec<Shown>,
    any: Vec<Shown>,
    /// By lanes on tables that were large.
    late: Vec<Shown>,
    leads: Leads,
}

impl Days {
    fn see() -> Self {
        let server = Talkative::start();
        let release = server.psql("SHOW server_version").split('.').next().unwrap().to_owned();
        let early = server.watch("early", "force_generic_plan", day::of_a_lane);
        server.psql(fill::TABLES);
        server.psql("VACUUM ANALYZE");
        let whole = |store: &PostgresStore| {
            day::of_a_lane(store);
            day::of_readers(store);
        };
        let known = server.watch("known", "force_custom_plan", whole);
        let any = server.watch("any", "force_generic_plan", whole);
        server.psql(fill::EMPTIED);
        server.psql("VACUUM ANALYZE");
        let late = server.watch("late", "force_generic_plan", day::of_a_lane);
        let leads = server.psql(LEADS);
        let lead = |line: &str| {
            let mut parts = line.split('|').map(str::to_owned);
            Some((parts.next()?, (parts.next()?, parts.next()?)))
        };
        let leads = leads.lines().filter_map(lead).collect();
        Self { release, early: of(early, LANE), known, any, late: of(late, LANE), leads }
    }

    fn title(&self) -> String {
        format!("How PostgreSQL {} does what nodes ask for all day", self.release)
    }

    /// For people: a statement with its plan, once.
    fn written(&self) -> String {
        let mut written = self.title();
        written += "\n(see plans.rs; the middle of long statements is left out)\n";
        for (by, whose) in [(LANE, "Lanes"), (READER, "Readers")] {
            let shown = self.any.iter().filter(|shown| shown.by == by);
            let plans: BTreeMap<_, _> = shown.map(|shown| (&shown.sql, &shown.plan)).collect();
            written += &format!("\n{whose}\n");
            for (sql, plan) in plans {
                written += &format!("\n{}\n{}", shortened(sql), told(plan));
            }
        }
        written
    }
}

fn of(mut shown: Vec<Shown>, by: &str) -> Vec<Shown> {
    shown.retain(|shown| shown.by == by);
    shown
}

fn shortened(sql: &str) -> String {
    let end = sql.len().saturating_sub(END_BYTES);
    match (sql.get(..BEGIN_BYTES), sql.get(end..)) {
        (Some(begin), Some(rest)) if end > BEGIN_BYTES => format!("{begin} ... {rest}"),
        _ => sql.to_owned(),
    }
}

#[test]
#[ignore = "needs PostgreSQL; run by ./check full"]
fn every_statement_of_lanes_and_readers_goes_by_an_index() {
    let days = Days::see();
    let Days { early, known, any, late, leads, .. } = &days;
    let is_asked_often = |shown: &&Shown| !ONCE_PER_START.iter().any(|sql| shown.asks(sql));
    let days_of = [(early, "empty"), (known, "large"), (any, "any value"), (late, "emptied")];
    for (shown, tables) in days_of {
        for Shown { by, sql, plan } in shown.iter().filter(is_asked_often) {
            let faults = faults(plan, leads);
            assert!(faults.is_empty(), "{by}, {tables}: {sql}\n{faults:#?}\n{}", told(plan));
        }
    }
    for (room, part) in rooms::statements() {
        let is_shown = any.iter().any(|shown| shown.sql.contains(&part));
        assert!(is_shown, "{room}: nobody has done `{part}`; let `day` do it");
    }
    let agreed = std::fs::read_to_string(SNAPSHOT).unwrap();
    // Another release may know other ways.
    if agreed.starts_with(&days.title()) {
        let (written, parts) = (days.written(), |text: &str| -> BTreeSet<String> {
            text.split("\n\n").map(str::to_owned).collect()
        });
        let (now, before) = (parts(&written), parts(&agreed));
        let [new, gone] = [&now - &before, &before - &now];
        assert!(new.is_empty() && gone.is_empty(), "see `regenerate`: {new:#?} for {gone:#?}");
    }
}

/// `cargo test -p semel-tests --test postgres -- --ignored regenerate`, then look at the difference.
#[test]
#[ignore = "writes the snapshot"]
fn regenerate_the_plans() {
    std::fs::write(SNAPSHOT, Days::see().written()).unwrap();
}
