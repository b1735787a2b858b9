//! # Frozen: a node that stands still while the others go on, and wakes with the past in its sockets
//!
//! It was stopped in the middle of a round, knows the runs, and has given out their tasks. While it
//! stands still its round is taken from it, the leases end, others are given the tasks and complete
//! everything; meanwhile the first workers report to the frozen node. When it wakes it hears them,
//! and nothing of it may count.

use std::collections::BTreeMap;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use reqwest::Method;
use semel_tests::postgres;
use semel_tests::process::{Answer, Caller, DEADLINE, freeze, is_full, signal, until};
use serde_json::{Value, json};

use crate::cluster::{Cluster, NODES, WORKERS, nothing_is_left};

/// The node that is stopped.
const B: usize = 1;
/// Starts it has answered before it is stopped, so that it is stopped in the middle of something.
const BUSY_MIN: usize = 20;
const CLIENTS: usize = 3;
/// Rounds that nobody has gone on with for longer than a node that runs takes.
const OPEN_ROUNDS: &str = "SELECT pg_sleep(0.2); SELECT count(*) FROM pg_stat_activity \
     WHERE datname = current_database() AND application_name = 'semel lane' \
     AND state = 'idle in transaction' AND state_change < clock_timestamp() - interval '100 ms'";

/// Longer than a lease of the tasks (2 s) and the 5 s for which the database lets a round stand open.
fn standstill() -> Duration {
    Duration::from_secs(if is_full() { 30 } else { 9 })
}

/// A report that comes too late: how it is made, and what it is answered.
struct Manner {
    name: &'static str,
    query: &'static str,
    said: fn(&mut Value),
    status: u16,
}

const MANNERS: [Manner; 5] = [
    Manner { name: "with its fence", query: "", said: |_| {}, status: 200 },
    Manner {
        name: "by its worker's name",
        query: "",
        said: |report| report["fenceToken"] = Value::Null,
        status: 200,
    },
    Manner {
        name: "of a failure",
        query: "",
        said: |report| report["status"] = json!("FAILED"),
        status: 200,
    },
    Manner {
        name: "that asks for more time",
        query: "",
        said: |report| {
            report["status"] = json!("IN_PROGRESS");
            report["extendLease"] = json!(true);
        },
        status: 200,
    },
    Manner { name: "that is strict", query: "?strict=true", said: |_| {}, status: 409 },
];

/// A start that comes when others have used its key.
const STARTS: [(&str, &str, u16); 3] = [
    ("completed", "RETURN_EXISTING", 200),
    ("completed", "FAIL", 409),
    ("running", "FAIL_ON_RUNNING", 409),
];

#[test]
#[ignore = "needs PostgreSQL; run by ./check full"]
fn a_node_that_was_frozen_applies_nothing_stale() {
    let server = postgres::shared();
    let url = server.database().unwrap();
    let cluster = Cluster::start(&url);
    cluster.define();
    let wait = json!({"name": "wait", "taskReferenceName": "wait", "type": "HUMAN"});
    cluster.post(
        "/api/metadata/workflow",
        &json!({"name": "patient", "version": 1, "schemaVersion": 2, "tasks": [wait]}),
    );
    let (address, pid) = {
        let b = cluster.servers[B].lock().unwrap();
        (b.address(), b.pid())
    };
    let scene = Scene {
        b: Caller::patient(address, 2 * DEADLINE).unwrap(),
        pid,
        asked: Default::default(),
        busy: Mutex::default(),
        is_awake: AtomicBool::new(false),
        is_over: AtomicBool::new(false),
        cluster,
    };
    scene.play();
    let busy = scene.busy.lock().unwrap().len();
    nothing_is_left(server, &url, busy + 2); // And one under each key.
}

struct Scene {
    cluster: Cluster,
    b: Caller,
    pid: u32,
    /// The key under which each client asks B for a run.
    asked: [Mutex<String>; CLIENTS],
    /// Runs that B has started, by their keys; some of them are whose tasks are held.
    busy: Mutex<BTreeMap<String, String>>,
    is_awake: AtomicBool,
    is_over: AtomicBool,
}

impl Scene {
    fn play(&self) {
        let cluster = &self.cluster;
        std::thread::scope(|scope| {
            let _curtain = Curtain(self);
            let busy: Vec<_> =
                (0..CLIENTS).map(|client| scope.spawn(move || self.keep_busy(client))).collect();
            let is_busy = || (self.busy.lock().unwrap().len() >= BUSY_MIN).then_some(());
            until("B is busy", DEADLINE, is_busy).unwrap();
            let held = self.hold_tasks();
            cluster.away.store(B, Ordering::Release);
            self.stop_in_a_round();
            let frozen = Instant::now();

            let late = held.clone().into_iter();
            let late: Vec<_> = late
                .map(|(task, manner)| scope.spawn(move || self.report(&task, manner)))
                .collect();
            let ids: Vec<&str> = held.iter().map(|(task, _)| id_of(task)).collect();
            for worker in 0..WORKERS {
                scope.spawn(move || cluster.work(worker, &self.is_over));
            }
            let keys = self.use_keys();
            let starts = STARTS.map(|start| scope.spawn(move || self.start(start)));
            let first = run(ids[0]);
            let terminated = scope.spawn(move || self.ask(Method::DELETE, &first, None));
            ids.iter().chain([&&*keys["completed"]]).for_each(|id| self.completes(id));
            let before: Vec<_> = ids.iter().map(|id| self.told(id)).collect();

            self.rows_are_free();

            // Part of the scenario: it is about what happens to who stands still for so long.
            std::thread::sleep(standstill().saturating_sub(frozen.elapsed()));
            assert!(!late.iter().any(|report| report.is_finished()), "B answers nobody");
            signal(self.pid, "CONT").unwrap();

            for (answer, (_, manner)) in late.into_iter().zip(&held) {
                is_stale(&answer.join().unwrap(), manner);
            }
            for (answer, (key, strategy, status)) in starts.into_iter().zip(STARTS) {
                let answer = answer.join().unwrap();
                assert_eq!(answer.status, status, "{strategy}: {answer:?}");
                assert!(answer.body.contains(&keys[key]), "{strategy}: {answer:?}");
            }
            let terminated = terminated.join().unwrap();
            assert_eq!(terminated.status, 409, "{terminated:?}");
            for (id, before) in ids.iter().zip(before) {
                assert_eq!(self.told(id), before, "a stale report changed something");
            }

            cluster.away.store(NODES, Ordering::Release);
            self.is_awake.store(true, Ordering::Release);
            busy.into_iter().for_each(|client| client.join().unwrap());
            self.end(&keys);
        });
    }

    /// Starts runs at B, one after the other, for as long as it stands still and a little longer.
    fn keep_busy(&self, client: usize) {
        let before = (0..).take_while(|_| !self.is_awake.load(Ordering::Acquire));
        let before = before.map(|number| format!("before {client} {number}"));
        let after = (0..BUSY_MIN).map(|number| format!("after {client} {number}"));
        for key in before.chain(after) {
            self.asked[client].lock().unwrap().clone_from(&key);
            let id = self.ask(Method::POST, "/api/workflow", Some(&begin("pair", &key)));
            assert_eq!(id.status, 200, "{id:?}");
            self.busy.lock().unwrap().insert(key, id.body);
        }
    }

    /// One task for each manner, given out by B to somebody who will not be heard of for long.
    fn hold_tasks(&self) -> Vec<(Value, &'static Manner)> {
        let mut held = vec![];
        until("B has given out its tasks", DEADLINE, || {
            let count = MANNERS.len() - held.len();
            let poll = format!("/api/tasks/poll/batch/first?workerid=ann&count={count}");
            let given = self.b.get(&poll).unwrap().json();
            held.extend(given.as_array().into_iter().flatten().cloned());
            (held.len() == MANNERS.len()).then_some(())
        })
        .unwrap();
        held.into_iter().zip(&MANNERS).collect()
    }

    /// Again and again, until the database waits for what B would have said next.
    fn stop_in_a_round(&self) {
        until("B is stopped in a round", DEADLINE, || {
            freeze(self.pid).unwrap();
            let open = postgres::shared().psql_at(&self.cluster.url, OPEN_ROUNDS).unwrap();
            if open == "0" {
                signal(self.pid, "CONT").unwrap();
            }
            (open != "0").then_some(())
        })
        .unwrap();
    }

    /// The database has ended the round, and others do what it was about, while B stands still.
    fn rows_are_free(&self) {
        let open = || postgres::shared().psql_at(&self.cluster.url, OPEN_ROUNDS).unwrap();
        until("no round stands open", DEADLINE, || (open() == "0").then_some(())).unwrap();
        for key in self.asked.each_ref().map(|key| key.lock().unwrap().clone()) {
            self.cluster.begin(&key);
        }
    }

    /// At B, whose answer may be long in coming.
    fn ask(&self, method: Method, path: &str, body: Option<&Value>) -> Answer {
        self.b.insist(method, path, body).unwrap()
    }

    fn report(&self, task: &Value, manner: &Manner) -> Answer {
        let mut report = json!({"taskId": task["taskId"], "status": "COMPLETED",
            "workflowInstanceId": task["workflowInstanceId"], "workerId": "ann",
            "fenceToken": task["fenceToken"], "outputData": {"by": "ann"}});
        (manner.said)(&mut report);
        self.ask(Method::POST, &format!("/api/tasks{}", manner.query), Some(&report))
    }

    fn start(&self, (key, strategy, _): (&str, &str, u16)) -> Answer {
        let name = if key == "running" { "patient" } else { "pair" };
        let mut body = begin(name, key);
        body["idempotencyStrategy"] = json!(strategy);
        self.ask(Method::POST, "/api/workflow", Some(&body))
    }

    /// Others start under the keys.
    fn use_keys(&self) -> BTreeMap<&'static str, String> {
        let start = |name, key| self.cluster.post("/api/workflow", &begin(name, key)).body;
        [("completed", start("pair", "completed")), ("running", start("patient", "running"))].into()
    }

    fn completes(&self, id: &str) {
        let is_complete = || (self.cluster.status(id) == "COMPLETED").then_some(());
        until(&format!("{id} completes"), DEADLINE, is_complete).unwrap();
    }

    /// All that is told of a run but of stale reports, which are the work of the second worker.
    fn told(&self, id: &str) -> (Value, String) {
        let get = |path: &str| self.cluster.insist(&Method::GET, path, None);
        let mut told = get(&run(id)).json();
        let tasks = told["tasks"].as_array_mut().unwrap();
        for task in tasks.iter_mut().filter_map(Value::as_object_mut) {
            task.remove("staleReports");
        }
        let seen = tasks.iter().map(|task| (&task["status"], &task["referenceTaskName"]));
        let seen: Vec<_> = seen.map(|(status, name)| format!("{status} {name}")).collect();
        let ended = [r#""TIMED_OUT" "first""#, r#""COMPLETED" "first""#, r#""COMPLETED" "second""#];
        assert_eq!(seen, ended);
        assert!(tasks[1]["outputData"]["by"].is_number(), "{}", tasks[1]);
        (told, get(&format!("{}/log", run(id))).body)
    }

    /// Everything completes, is under its key and has a sound journal.
    fn end(&self, keys: &BTreeMap<&str, String>) {
        let end = format!("{}?reason=over", run(&keys["running"]));
        assert!(self.cluster.insist(&Method::DELETE, &end, None).status < 300);
        let busy = self.busy.lock().unwrap();
        for (key, id) in busy.iter() {
            assert_eq!(&self.cluster.begin(key), id, "one run under {key}");
            self.completes(id);
        }
        self.is_over.store(true, Ordering::Release);
        for id in busy.values().chain(keys.values()) {
            self.cluster.post(&format!("{}/verify", run(id)), &json!({}));
        }
    }
}

/// However the scene ends, nobody plays on.
struct Curtain<'a>(&'a Scene);

impl Drop for Curtain<'_> {
    fn drop(&mut self) {
        let _ = signal(self.0.pid, "CONT"); // It may be awake, or gone.
        self.0.is_awake.store(true, Ordering::Release);
        self.0.is_over.store(true, Ordering::Release);
    }
}

fn begin(name: &str, key: &str) -> Value {
    json!({"name": name, "idempotencyKey": key, "idempotencyStrategy": "RETURN_EXISTING"})
}

fn id_of(task: &Value) -> &str {
    task["workflowInstanceId"].as_str().unwrap()
}

fn run(id: &str) -> String {
    format!("/api/workflow/{id}")
}

fn is_stale(answer: &Answer, Manner { name, status, .. }: &Manner) {
    assert_eq!(answer.status, *status, "{name}: {answer:?}");
    match status {
        409 => assert_eq!(answer.json()["code"], "STALE_FENCE", "{name}: {answer:?}"),
        _ => assert_eq!(answer.header("x-task-update"), Some("STALE"), "{name}: {answer:?}"),
    }
}
