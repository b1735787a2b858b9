//! # Indexing: what nodes write about runs, a moment behind, and what is found meanwhile

use reqwest::Method;
use semel_model::Digest;
use semel_store::conformance::samples::{BEGIN, execution, place};
use semel_store::conformance::search::{run, task_row};
use semel_store::search::{TaskField, TaskSearch, WorkflowField, WorkflowSearch};
use semel_store::{Batch, HandedOver, Place, RunRow, Store, TaskRow};
use semel_tests::postgres;
use semel_tests::process::{DEADLINE, Server, until};
use serde_json::{Value, json};

use crate::cluster::{Cluster, KEY};
use crate::fixture::Database;

/// As if whoever made a task died before it was indexed.
const LOSE_TASKS: &str = "CREATE FUNCTION lose() RETURNS trigger LANGUAGE plpgsql \
     AS 'BEGIN RETURN NULL; END'; \
     CREATE TRIGGER lose BEFORE INSERT ON tasks FOR EACH ROW EXECUTE FUNCTION lose()";
/// As of a row that is too large for the index.
const REFUSE_RUNS: &str = "CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS \
     'BEGIN RAISE EXCEPTION USING ERRCODE = ''54000'', MESSAGE = ''too large''; END'; \
     CREATE TRIGGER refuse BEFORE INSERT ON runs FOR EACH ROW WHEN (NEW.name = 'refused') \
     EXECUTE FUNCTION refuse()";

#[test]
#[ignore = "needs PostgreSQL; run by ./check full"]
fn a_line_about_a_task_that_nobody_has_indexed_is_kept() {
    let url = postgres::shared().database().unwrap();
    let cluster = Cluster::start(&url);
    cluster.define();
    postgres::shared().psql_at(&url, LOSE_TASKS).unwrap();
    cluster.post("/api/workflow", &json!({"name": "pair"}));
    let poll = "/api/tasks/poll/batch/first?workerid=w&count=1&timeout=5000";
    let task = &cluster.insist(&Method::GET, poll, None).json()[0];
    let path = format!("/api/tasks/{}", task["taskId"].as_str().unwrap());
    cluster.post(&format!("{path}/log"), &json!("half way"));
    let lines = cluster.insist(&Method::GET, &format!("{path}/log"), None);
    assert_eq!((lines.status, &lines.json()[0]["log"]), (200, &json!("half way")));
    let found = cluster.insist(&Method::GET, &path, None);
    assert_eq!((found.status, &found.json()["status"]), (200, &json!("IN_PROGRESS")));
}

/// So many characters that nothing makes them fewer.
fn long(count: u32) -> String {
    (0..count).map(|number| Digest::of(&number.to_be_bytes()).to_string()).collect()
}

#[test]
#[ignore = "needs PostgreSQL; run by ./check full"]
fn names_of_any_length_are_indexed_and_told_apart() {
    let database = Database::new();
    let store = database.open_as("one");
    let index = store.index();
    let names = [long(200), long(201)];
    let named = |number: u8, name: &String| {
        let task = TaskRow {
            task_type: name.clone(),
            definition_name: name.clone(),
            ..task_row(number, number)
        };
        (RunRow { name: name.clone(), ..run(number) }, task)
    };
    let (runs, tasks) = [named(1, &names[0]), named(2, &names[1])].into_iter().unzip();
    index.put(&Batch { runs, tasks, ..Batch::default() }).unwrap();
    for (name, number) in names.iter().zip([1, 2]) {
        let search = WorkflowSearch::default().and(WorkflowField::Name, [&**name]).unwrap();
        assert_eq!(index.workflows(&search).unwrap().page, [execution(number)]);
        for field in [TaskField::TaskType, TaskField::DefinitionName] {
            let search = TaskSearch::default().and(field, [&**name]).unwrap();
            assert_eq!(index.tasks(&search).unwrap().page, [place(number, number)]);
        }
    }
    let beginning = format!("workflowType = '{}*'", &names[0][..900]);
    let search = WorkflowSearch::parse(&beginning, "*", "").unwrap();
    assert_eq!(index.workflows(&search).unwrap().total, 2);
}

/// One goes by tasks, the other by runs, and their orders are opposite.
#[test]
#[ignore = "needs PostgreSQL; run by ./check full"]
fn nodes_that_write_the_same_runs_in_different_orders_meet_no_deadlock() {
    const ROUNDS: usize = 60;
    let database = Database::new();
    let nodes = ["one", "two"].map(|name| database.open_as(name));
    let places: Vec<_> = (1..=200).map(|number| place(201 - number, number)).collect();
    let task = |at: &Place| TaskRow { place: *at, ..task_row(1, 1) };
    let tasks = Batch { tasks: places.iter().map(task).collect(), ..Batch::default() };
    let to = HandedOver { started_at: BEGIN, updated_at: BEGIN };
    let handed_over = places.iter().map(|place| (*place, to)).collect();
    let handed_over = Batch { handed_over, ..Batch::default() };
    let runs = (1..=200).map(run).collect();
    nodes[0].index().put(&Batch { runs, ..tasks.clone() }).unwrap();
    std::thread::scope(|scope| {
        for (node, batch) in nodes.iter().zip([&tasks, &handed_over]) {
            scope.spawn(move || (0..ROUNDS).for_each(|_| node.index().put(batch).unwrap()));
        }
    });
    drop(nodes);
    // What a connection has met is counted when it ends.
    let psql = |sql| postgres::shared().psql_at(&database.url, sql).unwrap();
    let open = "SELECT count(*) FROM pg_stat_activity \
         WHERE application_name = 'semel' AND datname = current_database()";
    until("the connections end", DEADLINE, || (psql(open) == "0").then_some(())).unwrap();
    let met = "SELECT deadlocks FROM pg_stat_database WHERE datname = current_database()";
    assert_eq!(psql(met), "0");
}

#[test]
#[ignore = "needs PostgreSQL; run by ./check full"]
fn a_run_that_the_index_refuses_is_left_out_and_the_others_are_found() {
    let url = postgres::shared().database().unwrap();
    let directory = tempfile::tempdir().unwrap();
    let options = ["--store", &url, "--secrets-key", KEY];
    let server = Server::start(directory.path(), &options).unwrap();
    let caller = server.caller().unwrap();
    let post = |path: &str, body: &Value| {
        let answer = caller.post(path, body).unwrap();
        assert_eq!(answer.status, 200, "{path}: {}", answer.body);
    };
    for name in ["fine", "refused"] {
        let step = json!({"name": "work", "taskReferenceName": "work", "type": "SIMPLE"});
        let definition = json!({"name": name, "version": 1, "schemaVersion": 2,
            "ownerEmail": "a@b.c", "tasks": [step]});
        post("/api/metadata/workflow", &definition);
    }
    let found = || caller.get("/api/workflow/search?size=10").unwrap().json()["totalHits"].clone();
    post("/api/workflow", &json!({"name": "fine"}));
    assert_eq!(found(), 1);
    postgres::shared().psql_at(&url, REFUSE_RUNS).unwrap();
    for name in ["fine", "refused", "fine"] {
        post("/api/workflow", &json!({"name": name}));
    }
    assert_eq!(found(), 3, "none was thrown away");
    let is_logged = || server.log().contains("refused by the search index").then_some(());
    until("somebody can read of it", DEADLINE, is_logged).unwrap();
    assert!(!server.log().contains("is made anew"), "{}", server.log());
}
