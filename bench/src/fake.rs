//! # Fake: just enough of the contract to run the load against
//!
//! Queues in memory, W1 known by heart, every wrong report refused. For tests only.
//! **May not:** be fast or durable; it says whether the generator speaks the contract.

use std::collections::{BTreeMap, VecDeque};
use std::net::{Ipv4Addr, SocketAddr};
use std::num::NonZeroUsize;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use axum::extract::{Path, Query, State};
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use axum::{Json, Router};
use serde_json::{Value, json};

use crate::definitions::{Kind, TASK_TYPES};
use crate::process::Process;
use crate::starters::Until;
use crate::workers::WorkerOptions;
use crate::workload::Workload;

#[derive(Default)]
struct Fake {
    definitions: Vec<String>,
    /// The step an execution is at; three is COMPLETED.
    executions: Vec<usize>,
    queues: BTreeMap<String, VecDeque<Value>>,
    throttled: u64,
}

type App = State<Arc<Mutex<Fake>>>;

impl Fake {
    fn schedule(&mut self, execution: usize) {
        let step = self.executions[execution];
        if let Some(task_type) = TASK_TYPES.get(step) {
            let task = json!({
                "taskId": format!("t-{execution}-{step}"), "taskType": task_type,
                "workflowInstanceId": format!("e-{execution}"),
                "status": "IN_PROGRESS", "inputData": {"value": null}, "taskDefinition": null,
            });
            self.queues.entry((*task_type).to_owned()).or_default().push_back(task);
        }
    }
}

async fn define(State(app): App, Json(body): Json<Value>) {
    app.lock().unwrap().definitions.push(body.to_string());
}

async fn start(State(app): App, Json(body): Json<Value>) -> Response {
    let mut fake = app.lock().unwrap();
    if fake.throttled == 0 {
        fake.throttled += 1;
        return (StatusCode::TOO_MANY_REQUESTS, [("retry-after", "0")]).into_response();
    }
    fake.executions.push(0);
    let execution = fake.executions.len() - 1;
    if body["name"] == "w1" {
        fake.schedule(execution);
    }
    format!("e-{execution}").into_response()
}

async fn poll(
    State(app): App,
    Path(task_type): Path<String>,
    Query(query): Query<BTreeMap<String, String>>,
) -> Json<Vec<Value>> {
    let count: usize = query["count"].parse().unwrap();
    let timeout_ms: u64 = query["timeout"].parse().unwrap();
    for _ in 0..timeout_ms {
        let mut tasks = Vec::new();
        if let Some(queue) = app.lock().unwrap().queues.get_mut(&task_type) {
            tasks.extend(queue.drain(..count.min(queue.len())));
        }
        if !tasks.is_empty() {
            return Json(tasks);
        }
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
    Json(Vec::new())
}

async fn update(State(app): App, headers: HeaderMap, Json(body): Json<Value>) -> Response {
    assert_eq!(headers["content-type"], "application/json");
    assert_eq!(body["status"], "COMPLETED");
    let mut fake = app.lock().unwrap();
    let execution: usize =
        body["workflowInstanceId"].as_str().unwrap().trim_start_matches("e-").parse().unwrap();
    let step = fake.executions[execution];
    if body["taskId"] != format!("t-{execution}-{step}") {
        return StatusCode::NOT_FOUND.into_response();
    }
    fake.executions[execution] += 1;
    fake.schedule(execution);
    match fake.queues.get_mut(TASK_TYPES[step]).and_then(VecDeque::pop_front) {
        Some(next) => Json(next).into_response(),
        None => StatusCode::NO_CONTENT.into_response(),
    }
}

async fn status(State(app): App, Path(id): Path<String>) -> Json<Value> {
    let execution: usize = id.trim_start_matches("e-").parse().unwrap();
    let is_closed = app.lock().unwrap().executions[execution] == TASK_TYPES.len();
    Json(json!({"workflowId": id, "status": if is_closed { "COMPLETED" } else { "RUNNING" }}))
}

async fn serve() -> (SocketAddr, Arc<Mutex<Fake>>) {
    let fake = Arc::new(Mutex::new(Fake::default()));
    let routes = Router::new()
        .route("/api/metadata/taskdefs", post(define))
        .route("/api/metadata/workflow", post(define))
        .route("/api/workflow", post(start))
        .route("/api/workflow/{id}/status", get(status))
        .route("/api/tasks/poll/batch/{task_type}", get(poll))
        .route("/api/tasks/update-v2", post(update))
        .with_state(Arc::clone(&fake));
    let listener = tokio::net::TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.unwrap();
    let address = listener.local_addr().unwrap();
    tokio::spawn(async move { axum::serve(listener, routes).await.unwrap() });
    (address, fake)
}

async fn workload(address: SocketAddr) -> Workload {
    let count = |count| NonZeroUsize::new(count).unwrap();
    let options =
        WorkerOptions { workers_per_type: count(2), batch: count(3), poll_timeout_ms: 50 };
    Workload::begin(&[address], Process::Own, count(8), &options).await.unwrap()
}

#[tokio::test]
async fn every_started_execution_is_worked_off() {
    let (address, fake) = serve().await;
    let workload = workload(address).await;
    let window = workload.run(Kind::W1, Until::Workflows(100)).await.unwrap();
    assert_eq!(window.started.workflows, 100);
    assert_eq!(window.started.latencies.len(), 100);
    assert_eq!(window.started.unfinished, 0);
    assert_eq!(window.not_completed, 0);
    assert_eq!(window.counts.tasks, 300);
    assert_eq!(window.counts.answers_throttled, 1);
    assert_eq!(workload.failures(), 0);
    let fake = fake.lock().unwrap();
    assert_eq!(fake.definitions.len(), 3);
    assert!(fake.executions.iter().all(|step| *step == TASK_TYPES.len()));
}

#[tokio::test]
async fn open_executions_are_left_running() {
    let (address, fake) = serve().await;
    let workload = workload(address).await;
    let window = workload.run(Kind::Open, Until::Workflows(20)).await.unwrap();
    assert_eq!(window.started.workflows, 20);
    assert_eq!(window.counts.tasks, 0);
    assert!(fake.lock().unwrap().executions.iter().all(|step| *step == 0));
}

#[tokio::test]
async fn a_missing_server_is_counted_and_not_waited_for() {
    let address = {
        let listener = std::net::TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        listener.local_addr().unwrap()
    };
    let tally = Arc::new(crate::tally::Tally::default());
    let mut client = crate::http::Client::new(address, Arc::clone(&tally));
    let call = crate::http::Call::get("/health").unwrap();
    assert!(client.send(&call).await.is_err());
    assert_eq!(tally.read().connections_broken, 1);
}

#[tokio::test]
async fn a_fleet_polls_and_finds_nothing() {
    let (address, _fake) = serve().await;
    let tally = Arc::new(crate::tally::Tally::default());
    let fleet = crate::fleet::spawn(address, &crate::fleet::small(), &tally).unwrap();
    let has_polled = async {
        while tally.read().polls < 40 {
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
    };
    tokio::time::timeout(Duration::from_secs(60), has_polled).await.unwrap();
    drop(fleet);
    let counts = tally.read();
    assert_eq!((counts.polls, counts.failures()), (counts.polls_empty, 0));
}

#[tokio::test]
async fn every_seed_is_started_once() {
    let (address, fake) = serve().await;
    let tally = Arc::new(crate::tally::Tally::default());
    let clients = NonZeroUsize::new(8).unwrap();
    let filled = crate::search::fill(address, &tally, clients, 1000).await.unwrap();
    assert_eq!(fake.lock().unwrap().executions.len(), 1000);
    assert_eq!((filled.executions(), filled.samples.len()), (1010, 10));
}
