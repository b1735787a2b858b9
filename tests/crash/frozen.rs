//! # Frozen: a server that stands still for longer than the leases it gave
//!
//! Nobody could renew a lease meanwhile, so it is not over when the server wakes: whoever held the task
//! reports it, and nobody else was given it.

use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, ensure};
use semel_tests::process::{DEADLINE, Server, freeze, signal, until};
use serde_json::json;

use crate::load::define;

const LEASE_SECONDS: u32 = 6;
/// Longer than the lease, and than the silence that is taken for standing still.
const STANDSTILL: Duration = Duration::from_secs(9);

#[test]
fn a_lease_outlives_a_server_that_stood_still() -> Result<()> {
    let directory = tempfile::tempdir()?;
    let mut server = Server::start(directory.path(), &[])?;
    let caller = server.caller()?;
    define(&caller, "freezing", &["cool"], LEASE_SECONDS)?;
    let id = caller.post("/api/workflow/freezing", &json!({}))?.body;
    let task = until("the task is there", DEADLINE, || {
        let polled = caller.get("/api/tasks/poll/cool?workerid=ann").ok()?;
        (polled.status == 200).then(|| polled.json())
    })?;
    freeze(server.pid())?;
    let frozen = Instant::now();
    until("it has stood still for long", DEADLINE, || {
        (frozen.elapsed() > STANDSTILL).then_some(())
    })?;
    signal(server.pid(), "CONT")?;
    let other = caller.get("/api/tasks/poll/cool?workerid=bob")?;
    ensure!(other.status == 204, "the task is ann's: {other:?}");
    let report = json!({"workflowInstanceId": id, "taskId": task["taskId"], "workerId": "ann",
        "fenceToken": task["fenceToken"], "status": "COMPLETED"});
    let reported = caller.post("/api/tasks", &report)?;
    ensure!(reported.status == 200, "{reported:?}");
    let run = caller.get(&format!("/api/workflow/{id}"))?.json();
    let tasks = run["tasks"].as_array().context("a run has tasks")?;
    ensure!(run["status"] == "COMPLETED" && tasks.len() == 1, "one attempt: {run}");
    ensure!(server.log().contains("this process stood still"), "{}", server.log());
    server.stop()
}
