//! # Cluster: real servers on one database, killed under load
//!
//! Clients and workers speak to any node and to another one when theirs is gone. What was
//! acknowledged is there in the end, under each key there is one run, and every run completes.

use std::collections::BTreeMap;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

use reqwest::Method;
use semel_tests::dice::Dice;
use semel_tests::postgres::{self, Postgres};
use semel_tests::process::{Answer, Caller, DEADLINE, Server, is_full, refused, run, until};
use serde_json::{Value, json};
use tempfile::TempDir;

pub(crate) const KEY: &str = "000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f";
pub(crate) const NODES: usize = 3;
pub(crate) const WORKERS: usize = 4;
/// For one run to complete, whatever happened to it.
const PATIENCE: Duration = Duration::from_secs(120);

pub(crate) struct Cluster {
    pub(crate) url: String,
    pub(crate) servers: Vec<Mutex<Server>>,
    pub(crate) callers: Vec<Caller>,
    turn: AtomicUsize,
    /// A node nobody asks, because it would not answer.
    pub(crate) away: AtomicUsize,
    _directories: Vec<TempDir>,
}

impl Cluster {
    /// All at the same moment.
    pub(crate) fn start(url: &str) -> Self {
        let directories: Vec<_> = (0..NODES).map(|_| tempfile::tempdir().unwrap()).collect();
        let options = ["--store", url, "--secrets-key", KEY];
        let start = &|directory: &TempDir| Server::start(directory.path(), &options).unwrap();
        let servers: Vec<Server> = std::thread::scope(|scope| {
            let starting = directories.iter().map(|at| scope.spawn(move || start(at)));
            let starting: Vec<_> = starting.collect();
            starting.into_iter().map(|server| server.join().unwrap()).collect()
        });
        let callers = servers.iter().map(|server| server.caller().unwrap()).collect();
        let servers = servers.into_iter().map(Mutex::new).collect();
        let (turn, away) = (AtomicUsize::new(0), AtomicUsize::new(NODES));
        let url = url.to_owned();
        Self { url, servers, callers, turn, away, _directories: directories }
    }

    /// One node after the other.
    fn next(&self) -> Option<&Caller> {
        let turn = self.turn.fetch_add(1, Ordering::Relaxed) % NODES;
        (turn != self.away.load(Ordering::Acquire)).then(|| &self.callers[turn])
    }

    /// Asks one node after the other until there is a verdict.
    pub(crate) fn insist(&self, method: &Method, path: &str, body: Option<&Value>) -> Answer {
        let verdict = until(&format!("a verdict on {method} {path}"), DEADLINE, || {
            let answer = self.next()?.ask(method.clone(), path, body).ok()?;
            (!matches!(answer.status, 429 | 503)).then_some(answer)
        });
        verdict.unwrap()
    }

    pub(crate) fn post(&self, path: &str, body: &Value) -> Answer {
        let answer = self.insist(&Method::POST, path, Some(body));
        assert!(answer.status < 300, "{path}: {} {}", answer.status, answer.body);
        answer
    }

    pub(crate) fn define(&self) {
        let task = |name: &str| {
            json!({"name": name, "retryCount": 10, "retryDelaySeconds": 0,
                   "responseTimeoutSeconds": 2, "timeoutSeconds": 0})
        };
        self.post("/api/metadata/taskdefs", &json!([task("first"), task("second")]));
        let step = |name: &str| json!({"name": name, "taskReferenceName": name, "type": "SIMPLE"});
        let workflow = json!({"name": "pair", "version": 1, "schemaVersion": 2,
            "ownerEmail": "a@b.c", "tasks": [step("first"), step("second")]});
        self.post("/api/metadata/workflow", &workflow);
    }

    /// Starts the run of that key, twice, and gives its id.
    pub(crate) fn begin(&self, key: &str) -> String {
        let body = json!({"name": "pair", "idempotencyKey": key,
                          "idempotencyStrategy": "RETURN_EXISTING"});
        let ids = [0, 1].map(|_| self.post("/api/workflow", &body).body);
        assert_eq!(ids[0], ids[1], "one run under {key}");
        ids[0].clone()
    }

    pub(crate) fn status(&self, id: &str) -> String {
        let answer = self.insist(&Method::GET, &format!("/api/workflow/{id}"), None);
        answer.json()["status"].as_str().unwrap_or_default().to_owned()
    }

    /// Takes tasks and completes them until there is nothing left to do.
    pub(crate) fn work(&self, worker: usize, is_over: &AtomicBool) {
        let mut dice = Dice::of(u64::try_from(worker).unwrap());
        while !is_over.load(Ordering::Acquire) {
            let Some(caller) = self.next() else { continue };
            let name = if dice.once_in(2) { "first" } else { "second" };
            let poll =
                format!("/api/tasks/poll/batch/{name}?workerid=w{worker}&count=5&timeout=100");
            let Ok(answer) = caller.get(&poll) else { continue };
            for task in answer.json().as_array().into_iter().flatten() {
                let report = json!({"taskId": task["taskId"], "status": "COMPLETED",
                    "workflowInstanceId": task["workflowInstanceId"], "workerId": format!("w{worker}"),
                    "outputData": {"by": worker}});
                self.insist(&Method::POST, "/api/tasks", Some(&report));
            }
        }
    }
}

/// Many runs on three nodes, with somebody who disturbs them so many times.
pub(crate) fn ordeal(
    server: &Postgres,
    runs: usize,
    times: usize,
    mut disturb: impl FnMut(&Cluster),
) {
    let url = server.database().unwrap();
    let cluster = Cluster::start(&url);
    cluster.define();
    let begun: Mutex<BTreeMap<String, String>> = Mutex::default();
    let is_over = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let _end = End(&is_over);
        for worker in 0..WORKERS {
            let (cluster, is_over) = (&cluster, &is_over);
            scope.spawn(move || cluster.work(worker, is_over));
        }
        scope.spawn(|| {
            for number in 0..runs {
                let key = format!("key {number}");
                let id = cluster.begin(&key);
                begun.lock().unwrap().insert(key, id);
            }
        });
        let are_begun = |count: usize| {
            let are_begun = || (begun.lock().unwrap().len() >= count).then_some(());
            until("runs are begun", DEADLINE, are_begun).unwrap();
        };
        for time in 1..=times {
            are_begun(runs * time / (times + 1)); // In the middle of things.
            disturb(&cluster);
        }
        are_begun(runs);
        for (key, id) in begun.lock().unwrap().iter() {
            let is_complete = || (cluster.status(id) == "COMPLETED").then_some(());
            until(&format!("{key} completes"), PATIENCE, is_complete).unwrap();
        }
    });
    nothing_is_left(server, &url, runs);
}

/// However it comes: whoever works would otherwise go on for ever.
struct End<'a>(&'a AtomicBool);

impl Drop for End<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Release);
    }
}

/// So many executions, and nothing under way.
pub(crate) fn nothing_is_left(server: &Postgres, url: &str, runs: usize) {
    let count = |table| server.psql_at(url, &format!("SELECT count(*) FROM {table}")).unwrap();
    assert_eq!(count("executions"), runs.to_string());
    for table in ["deliveries", "messages", "placeholders"] {
        assert_eq!(count(table), "0", "rows left in {table}");
    }
}

#[test]
#[ignore = "needs PostgreSQL; run by ./check full"]
fn three_nodes_lose_nothing_when_one_after_the_other_is_killed() {
    let (runs, kills) = if is_full() { (300, 15) } else { (60, 3) };
    let mut dice = Dice::of(7);
    ordeal(postgres::shared(), runs, kills, |cluster| {
        let victim = usize::try_from(dice.below(3)).unwrap();
        cluster.servers[victim].lock().unwrap().restart().unwrap();
    });
}

#[test]
#[ignore = "needs PostgreSQL; run by ./check full"]
fn three_nodes_lose_nothing_when_postgresql_crashes() {
    let (runs, crashes) = if is_full() { (300, 5) } else { (60, 2) };
    let server = Postgres::start().unwrap();
    ordeal(&server, runs, crashes, |_| server.crash().unwrap());
}

#[test]
#[ignore = "needs PostgreSQL; run by ./check full"]
fn servers_that_start_at_the_same_moment_on_an_empty_database_all_serve() {
    let cluster = Cluster::start(&postgres::shared().database().unwrap());
    let [one, two, three] = &*cluster.callers else { panic!("there are three") };
    let task = json!([{"name": "task", "timeoutSeconds": 0, "responseTimeoutSeconds": 9}]);
    assert_eq!(one.post("/api/metadata/taskdefs", &task).unwrap().status, 200);
    for other in [one, two, three] {
        let answer = other.get("/api/metadata/taskdefs/task").unwrap();
        assert_eq!((answer.status, &answer.json()["name"]), (200, &json!("task")));
    }
}

#[test]
#[ignore = "needs PostgreSQL; run by ./check full"]
fn a_poll_at_one_node_is_given_what_another_makes_ready() {
    let url = postgres::shared().database().unwrap();
    let cluster = Cluster::start(&url);
    cluster.define();
    let [one, two, _] = &*cluster.callers else { panic!("there are three") };
    std::thread::scope(|scope| {
        let poll = "/api/tasks/poll/batch/first?workerid=w&count=1&timeout=5000";
        let polled = scope.spawn(|| two.get(poll).unwrap());
        let body = json!({"name": "pair"});
        let begun = one.insist(Method::POST, "/api/workflow", Some(&body)).unwrap();
        let task = &polled.join().unwrap().json()[0];
        assert_eq!(task["workflowInstanceId"], begun.body.as_str(), "long before the poll ends");
    });
}

#[test]
#[ignore = "needs PostgreSQL; run by ./check full"]
fn a_server_says_what_is_wrong_with_its_database() {
    let directory = tempfile::tempdir().unwrap();
    let server = postgres::shared();
    let refusal = |options: &[&str]| {
        let (status, said) = refused(directory.path(), options).unwrap();
        assert_eq!(status.code(), Some(1), "{said}");
        said
    };
    let url = server.url("nowhere");
    let said = refusal(&["--store", &url]);
    assert!(said.contains("share the key that seals secrets"), "{said}");
    let said = refusal(&["--store", &url, "--secrets-key", KEY]);
    assert!(said.contains("there is no database") && said.contains("createdb"), "{said}");
    let secret = "postgres://semel:hush@127.0.0.1:1/semel";
    let said = refusal(&["--store", secret, "--secrets-key", KEY]);
    assert!(said.contains("cannot be reached") && !said.contains("hush"), "{said}");
}

#[test]
#[ignore = "needs PostgreSQL; run by ./check full"]
fn tables_are_brought_up_to_date_by_hand() {
    let directory = tempfile::tempdir().unwrap();
    let url = postgres::shared().database().unwrap();
    let migrate = |option: Option<&str>| {
        let mut arguments = vec!["migrate", "--store", &url];
        arguments.extend(option);
        let (status, said) = run(directory.path(), &arguments).unwrap();
        (status.code(), said)
    };
    let (code, said) = migrate(Some("--check"));
    assert!(code == Some(5) && said.contains("schema 0"), "{code:?} {said}");
    assert_eq!(migrate(None).0, Some(0));
    assert_eq!(migrate(Some("--check")).0, Some(0));
}
