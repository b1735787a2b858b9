//! # Company: what nodes do for each other and to each other
//!
//! Rows that another one holds are waited for where a round says so, a poll that names itself is
//! answered by one of them, hints are heard, and who never comes back is forgotten.

use std::collections::BTreeSet;
use std::sync::mpsc::channel;
use std::time::Duration;

use semel_model::{Digest, TaskStatus, Timestamp, WorkflowStatus};
use semel_store::conformance::samples::{self, BEGIN, execution, place, queue};
use semel_store::conformance::search;
use semel_store::search::{Hits, Search};
use semel_store::{
    Batch, HandedOver, Place, Polled, Row, RunRow, Stamp, Store, StoreError, Stretch, TaskRow,
    Touches, Writes,
};
use semel_tests::postgres;
use semel_tests::process::{DEADLINE, until};

use crate::between::{Between, HINTED};
use crate::fixture::Database;

const WEEK_MS: i64 = 7 * 24 * 3_600 * 1_000;

fn at(round: u64, at: Timestamp, writes: Writes) -> Writes {
    Writes { stamp: Stamp { lane: 0, round, at, fence: round * 1_000 }, ..writes }
}

#[test]
#[ignore = "needs PostgreSQL; run by ./check full"]
fn a_round_that_waits_gets_its_row_when_the_other_has_committed() {
    let database = Database::new();
    let (first, second) = (database.open_as("one"), database.open_as("two"));
    let mut one = first.writer(0).unwrap();
    one.commit(at(1, BEGIN, samples::put_heads([samples::head(1)]))).unwrap();
    let touches = Touches { heads: [execution(1)].into(), ..Touches::default() };
    one.hold(&touches).unwrap();
    let waiting = Touches { waits: true, ..touches };
    let (begun, is_begun) = channel();
    let waiter = std::thread::spawn(move || {
        let mut two = second.writer(0).unwrap();
        begun.send(()).unwrap();
        // A round that waited too long was told so, and asks again.
        let held = until("the row is free", DEADLINE, || match two.hold(&waiting) {
            Ok(held) => Some(held),
            Err(StoreError::Contended) => None,
            Err(error) => panic!("{error}"),
        });
        held.unwrap()
    });
    is_begun.recv().unwrap();
    let server = postgres::shared();
    let waits = "SELECT count(*) FROM pg_stat_activity \
         WHERE wait_event_type = 'Lock' AND datname = current_database()";
    let is_waiting = || (server.psql_at(&database.url, waits).ok()? != "0").then_some(());
    until("the second waits", DEADLINE, is_waiting).unwrap();
    let moved = semel_engine::Head { updated_at: BEGIN.plus_ms(7), ..samples::head(1) };
    one.commit(at(2, BEGIN, samples::put_heads([moved.clone()]))).unwrap();
    let held = waiter.join().unwrap();
    assert_eq!(held.heads, [(execution(1), Some(moved))].into(), "as the first has left it");
    assert!(held.skipped.is_empty());
}

#[test]
#[ignore = "needs PostgreSQL; run by ./check full"]
fn a_round_that_waits_for_too_long_is_told_that_nothing_happened() {
    let database = Database::new();
    let [mut one, mut two] = ["one", "two"].map(|name| database.open_as(name).writer(0).unwrap());
    one.commit(at(1, BEGIN, samples::put_heads([samples::head(1)]))).unwrap();
    let touches = Touches { heads: [execution(1)].into(), waits: true, ..Touches::default() };
    one.hold(&touches).unwrap();
    assert!(matches!(two.hold(&touches), Err(StoreError::Contended)));
    two.commit(at(1, BEGIN, samples::put_heads([samples::head(2)]))).unwrap();
}

#[test]
#[ignore = "needs PostgreSQL; run by ./check full"]
fn a_poll_that_names_itself_is_answered_by_one_node_at_a_time() {
    let database = Database::new();
    let [mut one, mut two] = ["one", "two"].map(|name| database.open_as(name).writer(0).unwrap());
    one.commit(at(1, BEGIN, samples::put_deliveries([samples::delivery(1, 1)]))).unwrap();
    let name = Digest::of(b"poll");
    let poll = Touches { tokens: [name].into(), polls: [name].into(), ..Touches::default() };
    let claim = Touches { wanted: [(queue("work"), 1)].into(), ..poll.clone() };
    assert_eq!(one.hold(&claim).unwrap().by_token, [(name, vec![])].into());
    let held = two.hold(&poll).unwrap();
    assert_eq!(held.by_token, [].into(), "the first may be handing something out");
    assert_eq!(held.skipped, [Row::Poll(name)].into());
    two.release();
    let mut taken = samples::leased(samples::delivery(1, 1), BEGIN);
    taken.hand_out.token = Some(name);
    one.commit(at(2, BEGIN, samples::put_deliveries([taken]))).unwrap();
    let held = two.hold(&poll).unwrap();
    assert_eq!(held.by_token, [(name, vec![place(1, 1)])].into());
}

#[test]
#[ignore = "needs PostgreSQL; run by ./check full"]
fn a_hint_is_heard_by_the_others() {
    let database = Database::new();
    let [one, two] = ["one", "two"].map(|name| database.open_as(name));
    let (told_one, one_heard) = channel();
    let (told_two, two_heard) = channel();
    one.on_hint(Box::new(move |queues| drop(told_one.send(queues))));
    two.on_hint(Box::new(move |queues| drop(told_two.send(queues))));
    let begin = one_heard.recv_timeout(DEADLINE).unwrap();
    assert_eq!(begin, BTreeSet::new(), "it may have missed something");
    two_heard.recv_timeout(DEADLINE).unwrap();
    let queues: BTreeSet<_> = [queue("work"), queue("\u{1F528} \"work\"")].into();
    one.hint(queues.clone());
    assert_eq!(two_heard.recv_timeout(DEADLINE).unwrap(), queues);
    two.hint([queue("other")].into());
    let heard = one_heard.recv_timeout(DEADLINE).unwrap();
    assert_eq!(heard, [queue("other")].into(), "and nobody hears himself");
    let cut = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity \
         WHERE datname = current_database() AND application_name = 'semel hints'";
    postgres::shared().psql_at(&database.url, cut).unwrap();
    let is_heard = || {
        one.hint(queues.clone());
        let heard = two_heard.recv_timeout(Duration::from_millis(100)).ok()?;
        (heard == queues).then_some(())
    };
    until("they hear each other again", DEADLINE, is_heard).unwrap();
}

#[test]
#[ignore = "needs PostgreSQL; run by ./check full"]
fn hints_are_heard_again_after_their_connection_has_ended_in_the_middle_of_one() {
    let database = Database::new();
    let between = Between::stand();
    let (one, two) = (database.open_as("one"), between.way_to(&database).open_as("two"));
    let (told, heard) = channel();
    one.on_hint(Box::new(|_| {}));
    two.on_hint(Box::new(move |queues| drop(told.send(queues))));
    assert_eq!(heard.recv_timeout(DEADLINE).unwrap(), BTreeSet::new());
    between.cut_at(HINTED);
    one.hint([queue("lost")].into());
    let again = heard.recv_timeout(DEADLINE).unwrap();
    assert_eq!(again, BTreeSet::new(), "it may have missed something");
    assert!(between.has_cut());
    one.hint([queue("work")].into());
    assert_eq!(heard.recv_timeout(DEADLINE).unwrap(), [queue("work")].into());
}

#[test]
#[ignore = "needs PostgreSQL; run by ./check full"]
fn nodes_that_never_come_back_are_forgotten_and_their_fences_are_not() {
    let database = Database::new();
    let (gone, idle) = (database.open_as("gone"), database.open_as("idle"));
    gone.writer(0).unwrap().commit(at(9, BEGIN, Writes::default())).unwrap();
    let mut lane = idle.writer(0).unwrap();
    lane.commit(at(1, BEGIN, Writes::default())).unwrap();
    let alive = database.open_as("alive");
    let mut lives = alive.writer(0).unwrap();
    lives.commit(at(1, BEGIN.plus_ms(1), Writes::default())).unwrap();
    let late = BEGIN.plus_ms(2 * WEEK_MS);
    let polled = |task_type, at| {
        let worker = None;
        alive.note_poll(&Polled { queue: samples::queue(task_type), worker, at }).unwrap();
    };
    polled("of old", BEGIN);
    idle.clock().advance_ms(2 * WEEK_MS);
    polled("of now", late);
    lives.commit(at(2, late, Writes::default())).unwrap();
    drop(database.open_as("alive"));
    let names = "SELECT string_agg(name, ' ' ORDER BY name) FROM nodes";
    let names = postgres::shared().psql_at(&database.url, names).unwrap();
    assert_eq!(names, "alive");
    let polls = alive.polls().unwrap();
    assert_eq!(polls.len(), 1, "nobody asks for what was asked for so long ago: {polls:?}");
    assert_eq!(alive.fence_floor().unwrap(), 9_000, "no fence is drawn twice");
    assert_eq!(alive.last_at().unwrap(), Some(late));
    // One that was only idle goes on.
    lane.hold(&Touches::default()).unwrap();
    lane.commit(at(2, late, samples::put_heads([samples::head(1)]))).unwrap();
    assert_eq!(idle.last_round(0).unwrap(), 2);
}

/// Each node writes the index a moment after its commit, and a moment is not always the same.
#[test]
#[ignore = "needs PostgreSQL; run by ./check full"]
fn what_a_slower_node_writes_of_an_earlier_moment_replaces_nothing_later() {
    let database = Database::new();
    let store = database.open_as("one");
    let index = store.index();
    let task = |seq, number, status, ended_at| TaskRow {
        seq,
        status,
        ended_at,
        ..search::task_row(1, number)
    };
    let run = |seq, status| RunRow { seq, status, ..search::run(1) };
    let later = Batch {
        runs: vec![run(7, WorkflowStatus::Completed)],
        tasks: vec![
            task(7, 1, TaskStatus::Completed, BEGIN),
            task(7, 2, TaskStatus::Scheduled, Timestamp::NOT_YET),
        ],
        ..Batch::default()
    };
    let earlier = Batch {
        runs: vec![run(6, WorkflowStatus::Running)],
        emptied: vec![(execution(1), 6)],
        tasks: vec![
            task(6, 1, TaskStatus::Scheduled, Timestamp::NOT_YET),
            task(6, 3, TaskStatus::Failed, BEGIN),
        ],
        handed_over: [(place(1, 1), HandedOver { started_at: BEGIN, updated_at: BEGIN })].into(),
        ..Batch::default()
    };
    index.put(&later).unwrap();
    index.put(&earlier).unwrap();
    let tasks = |status: &str| {
        let search = Search::parse(&format!("status = '{status}'"), "*", "").unwrap();
        let hits: Hits<Place> = index.tasks(&search).unwrap();
        hits.page.into_iter().map(|place| place.task).collect::<BTreeSet<_>>()
    };
    let of = |number: u8| BTreeSet::from([samples::task(number)]);
    assert_eq!(tasks("COMPLETED"), of(1));
    assert_eq!(tasks("SCHEDULED"), of(2), "it was not emptied away");
    assert_eq!(tasks("FAILED"), of(3), "what only the slower one knew");
    let completed = Search::parse("status = 'COMPLETED'", "*", "").unwrap();
    assert_eq!(index.workflows(&completed).unwrap().page, [execution(1)]);
    assert_eq!(index.indexed(None, 9).unwrap()[0].1.seq, 7);
}

/// As after a restart, which leaves none of them.
#[test]
#[ignore = "needs PostgreSQL; run by ./check full"]
fn a_task_that_is_gone_is_not_brought_back_by_a_slower_node() {
    let database = Database::new();
    let store = database.open_as("one");
    let index = store.index();
    let put = |seq, task, is_anew| {
        let emptied = if is_anew { vec![(execution(1), seq)] } else { Vec::new() };
        let runs = vec![RunRow { seq, ..search::run(1) }];
        let tasks = vec![TaskRow { seq, ..search::task_row(1, task) }];
        index.put(&Batch { emptied, runs, tasks, ..Batch::default() }).unwrap();
        let found: Hits<Place> = index.tasks(&Search::parse("", "*", "").unwrap()).unwrap();
        found.page.into_iter().map(|place| place.task).collect::<BTreeSet<_>>()
    };
    let of = |numbers: &[u8]| numbers.iter().copied().map(samples::task).collect::<BTreeSet<_>>();
    assert_eq!(put(4, 1, false), of(&[1]));
    assert_eq!(put(6, 2, true), of(&[2]));
    assert_eq!(put(5, 3, false), of(&[2]), "it was there before the restart");
    assert_eq!(put(5, 3, true), of(&[2]), "whoever wrote it");
    assert_eq!(put(6, 4, false), of(&[2, 4]));
    assert_eq!(put(7, 5, false), of(&[2, 4, 5]));
}

#[test]
#[ignore = "needs PostgreSQL; run by ./check full"]
fn a_run_is_whole_when_every_node_has_indexed_its_entries_in_whichever_order() {
    let database = Database::new();
    let nodes = ["one", "two"].map(|name| database.open_as(name));
    let put = |node: usize, seq, brings: &[(u64, u64)]| {
        let brings = brings.iter().map(|(after, to)| Stretch { after: *after, to: *to }).collect();
        let runs = vec![RunRow { seq, brings, ..search::run(1) }];
        nodes[node].index().put(&Batch { runs, ..Batch::default() }).unwrap();
        let indexed = nodes[node].index().indexed(None, 9).unwrap();
        (indexed[0].1.seq, indexed[0].1.is_whole)
    };
    assert_eq!(put(0, 4, &[(3, 4)]), (4, false));
    assert_eq!(put(1, 7, &[(4, 5), (6, 7)]), (7, false));
    assert_eq!(put(1, 3, &[(0, 3)]), (7, false), "one of the first dies with what it knew");
    assert_eq!(put(0, 8, &[(7, 8)]), (8, false));
    assert_eq!(put(0, 6, &[(5, 6)]), (8, true));
}
