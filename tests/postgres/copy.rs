//! # Copies: a server's data moves from SQLite to PostgreSQL, and everything goes on

use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::Arc;

use reqwest::Method;
use semel_engine::RecordKey;
use semel_store::{Clock, Stamp, Store, Writes};
use semel_store_sqlite::SqliteStore;
use semel_tests::postgres;
use semel_tests::process::{Answer, Caller, DEADLINE, Server, binary, refused, run, until};
use serde_json::{Value, json};
use tempfile::TempDir;

const HOUR_MS: i64 = 3_600_000;

/// One who asks, and expects to be answered.
struct Desk(Caller);

impl Desk {
    fn at(server: &Server) -> Self {
        Self(server.caller().unwrap())
    }

    fn ask(&self, method: Method, path: &str, body: Option<&Value>) -> Answer {
        let answer = self.0.insist(method, path, body).unwrap();
        assert!(answer.status < 300, "{path}: {} {}", answer.status, answer.body);
        answer
    }

    fn post(&self, path: &str, body: &Value) -> Answer {
        self.ask(Method::POST, path, Some(body))
    }

    fn get(&self, path: &str) -> Value {
        self.ask(Method::GET, path, None).json()
    }

    fn start(&self, name: &str, key: &str) -> String {
        let body = json!({"name": name, "input": {"order": key}, "idempotencyKey": key,
                          "idempotencyStrategy": "RETURN_EXISTING"});
        self.post("/api/workflow", &body).body
    }

    fn claim(&self, task_type: &str) -> Value {
        let task = self.get(&format!("/api/tasks/poll/{task_type}?workerid=ann"));
        assert!(task["taskId"].is_string(), "a task of {task_type}: {task}");
        task
    }

    /// Whether the report counted.
    fn report(&self, task: &Value, output: &Value) -> bool {
        let report = json!({"taskId": task["taskId"], "status": "COMPLETED", "workerId": "ann",
            "workflowInstanceId": task["workflowInstanceId"], "fenceToken": task["fenceToken"],
            "outputData": output});
        self.post("/api/tasks", &report).header("x-task-update") != Some("STALE")
    }

    fn status(&self, id: &str) -> String {
        let run = self.get(&format!("/api/workflow/{id}"));
        run["status"].as_str().unwrap_or_default().to_owned()
    }

    fn await_completion(&self, id: &str) {
        let is_complete = || (self.status(id) == "COMPLETED").then_some(());
        until(&format!("{id} completes"), DEADLINE, is_complete).unwrap();
    }

    fn define(&self) {
        let task = |name: &str| {
            json!({"name": name, "retryDelaySeconds": 0, "responseTimeoutSeconds": 60,
                   "timeoutSeconds": 0, "rateLimitPerFrequency": 1_000,
                   "rateLimitFrequencyInSeconds": 3_600})
        };
        let tasks: Vec<_> = ["first", "second", "charge", "quiet"].map(task).into();
        self.post("/api/metadata/taskdefs", &json!(tasks));
        let step = |name: &str| json!({"name": name, "taskReferenceName": name, "type": "SIMPLE"});
        let kind = |kind: &str, input: Value| {
            json!({"name": "step", "taskReferenceName": "step", "type": kind,
                   "inputParameters": input})
        };
        let effect = json!({"name": "charge", "taskReferenceName": "charge", "type": "SIMPLE",
            "inputParameters": {"order": "paid"}, "effect": {"key": "${order}"}});
        let secret = json!({"name": "quiet", "taskReferenceName": "quiet", "type": "SIMPLE",
            "inputParameters": {"password": "${workflow.secrets.PASSWORD}"}});
        let child = json!({"name": "child", "taskReferenceName": "child", "type": "SUB_WORKFLOW",
            "subWorkflowParam": {"name": "pair", "version": 1}});
        for (name, steps) in [
            ("pair", vec![step("first"), step("second")]),
            ("timer", vec![kind("WAIT", json!({"duration": "1 hours"}))]),
            ("person", vec![kind("HUMAN", json!({}))]),
            (
                "lock",
                vec![kind("ACQUIRE_LOCK", json!({"name": "door"})), {
                    json!({"name": "w", "taskReferenceName": "w", "type": "HUMAN"})
                }],
            ),
            ("charge", vec![effect]),
            ("quiet", vec![secret]),
            ("parent", vec![child]),
        ] {
            self.post(
                "/api/metadata/workflow",
                &json!({"name": name, "version": 1,
                "schemaVersion": 2, "ownerEmail": "a@b.c", "tasks": steps}),
            );
        }
        self.0.put_text("/api/secrets/PASSWORD", "correct-horse").unwrap();
        self.0.put_text("/api/environment/REGION", "eu-1").unwrap();
    }
}

/// What was under way when the server was stopped.
struct UnderWay {
    ended: String,
    held: String,
    task: Value,
    timer: String,
    person: String,
    locks: [String; 2],
    quiet: String,
    parent: String,
    charged: String,
}

impl UnderWay {
    fn begin(desk: &Desk) -> Self {
        desk.define();
        let ended = desk.start("pair", "ended");
        let task = desk.claim("first");
        desk.post(&format!("/api/tasks/{}/log", task["taskId"].as_str().unwrap()), &json!("half"));
        assert!(desk.report(&task, &json!({"by": "ann"})));
        assert!(desk.report(&desk.claim("second"), &json!({})));
        let charged = desk.start("charge", "charged");
        assert!(desk.report(&desk.claim("charge"), &json!({"receipt": 7})));
        let held = desk.start("pair", "held");
        let task = desk.claim("first");
        let (timer, person) = (desk.start("timer", "timer"), desk.start("person", "person"));
        let locks = ["one", "two"].map(|key| desk.start("lock", key));
        let (quiet, parent) = (desk.start("quiet", "quiet"), desk.start("parent", "parent"));
        Self { ended, held, task, timer, person, locks, quiet, parent, charged }
    }

    fn ids(&self) -> Vec<&str> {
        let [one, two] = &self.locks;
        let ids = [&self.ended, &self.held, &self.timer, &self.person, one, two, &self.quiet];
        ids.into_iter().chain([&self.parent, &self.charged]).map(String::as_str).collect()
    }

    /// Everything goes on where it was.
    fn go_on(&self, desk: &Desk) {
        for (key, id) in [("held", &self.held), ("ended", &self.ended)] {
            assert_eq!(&desk.start("pair", key), id, "its key still answers");
        }
        let fence = |task: &Value| task["fenceToken"].as_str().unwrap().parse::<u64>().unwrap();
        assert!(desk.report(&self.task, &json!({})), "whoever had a task still has it");
        assert!(!desk.report(&self.task, &json!({"by": "somebody"})), "once");
        let next = desk.claim("second");
        assert!(fence(&next) > fence(&self.task), "{next}");
        assert!(desk.report(&next, &json!({})));
        desk.await_completion(&self.held);
        let quiet = desk.claim("quiet");
        assert_eq!(quiet["inputData"]["password"], "correct-horse");
        assert!(desk.report(&quiet, &json!({})));
        let again = desk.start("charge", "again");
        assert_eq!(
            desk.get(&format!("/api/workflow/{again}"))["tasks"][0]["outputData"],
            json!({"receipt": 7}),
            "what has happened is replayed"
        );
        assert!(desk.report(&desk.claim("first"), &json!({})), "of the child");
        assert!(desk.report(&desk.claim("second"), &json!({})));
        desk.await_completion(&self.parent);
        desk.post(&format!("/api/tasks/{}/step/COMPLETED", self.person), &json!({}));
        let [one, two] = &self.locks;
        let waits = desk.get(&format!("/api/workflow/{two}"))["tasks"][0]["status"].clone();
        assert_eq!(waits, "IN_PROGRESS", "the other one has the lock");
        for id in [one, two] {
            let completed = || {
                let path = format!("/api/tasks/{id}/w/COMPLETED");
                desk.0.post(&path, &json!({})).ok().filter(|answer| answer.status == 200)
            };
            until("the lock is its own", DEADLINE, completed).unwrap();
            desk.await_completion(id);
        }
        assert_eq!(desk.status(&self.timer), "RUNNING");
        desk.post("/test/clock", &json!({"advanceMs": HOUR_MS}));
        desk.await_completion(&self.timer);
        for id in self.ids() {
            desk.await_completion(id);
            desk.post(&format!("/api/workflow/{id}/verify"), &json!({}));
        }
        self.is_found(desk);
    }

    /// What is searched by, and what was written about tasks.
    fn is_found(&self, desk: &Desk) {
        let found = || {
            let page = desk.get("/api/workflow/search?query=status%3DCOMPLETED&size=100");
            let ids = page["results"].as_array()?.iter();
            let ids: Vec<_> = ids.filter_map(|run| run["workflowId"].as_str()).collect();
            self.ids().iter().all(|id| ids.contains(id)).then_some(())
        };
        until("all are found", DEADLINE, found).unwrap();
        let ended = desk.get(&format!("/api/workflow/{}", self.ended));
        let task = ended["tasks"][0]["taskId"].as_str().unwrap();
        assert_eq!(desk.get(&format!("/api/tasks/{task}/log"))[0]["log"], "half");
    }
}

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
          AND pid <> pg_backend_pid()",
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
