//! # Keys: a thousand who ask for the same thing

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicUsize, Ordering};

use anyhow::{Result, ensure};
use reqwest::Method;
use semel_tests::process::{Caller, DEADLINE, Server, until};
use serde_json::{Value, json};

use crate::load::define;

const STARTERS: usize = 1_000;
const KILLS: usize = 2;

#[test]
fn a_thousand_concurrent_starts_with_one_key_make_one_execution() -> Result<()> {
    let directory = tempfile::tempdir()?;
    let mut server = Server::start(directory.path(), &[])?;
    let caller = server.caller()?;
    define(&caller, "once", &["only"], 60)?;
    let (sent, answered) = (AtomicUsize::new(0), AtomicUsize::new(0));
    let ids: Result<BTreeSet<String>> = std::thread::scope(|scope| {
        let starters: Vec<_> = (0..STARTERS)
            .map(|_| {
                scope.spawn(|| {
                    sent.fetch_add(1, Ordering::Relaxed);
                    let answer = caller.insist(
                        Method::POST,
                        "/api/workflow",
                        Some(&request("RETURN_EXISTING")),
                    );
                    answered.fetch_add(1, Ordering::Relaxed);
                    answer
                })
            })
            .collect();
        for kill in 1..=KILLS {
            let enough = || sent.load(Ordering::Relaxed) >= STARTERS / (KILLS + 1) * kill;
            until("starts are under way", DEADLINE, || enough().then_some(()))?;
            server.kill9()?;
            eprintln!("killed when {} had an answer", answered.load(Ordering::Relaxed));
            server.restart()?;
        }
        let answers = starters.into_iter().map(|it| it.join().expect("the thread did not panic"));
        answers
            .map(|answer| answer.map(|answer| format!("{} {}", answer.status, answer.body)))
            .collect()
    });
    let ids: Vec<String> = ids?.into_iter().collect();
    let [id] = ids.as_slice() else { panic!("one key, many answers: {ids:?}") };
    let id = id.strip_prefix("200 ").expect("every start was accepted");
    one_task_is_handed_out(&caller, id)?;
    a_conflict_names(&caller, id)?;
    server.stop()
}

fn request(strategy: &str) -> Value {
    json!({"name": "once", "idempotencyKey": "order-9243", "idempotencyStrategy": strategy})
}

fn one_task_is_handed_out(caller: &Caller, id: &str) -> Result<()> {
    let poll = "/api/tasks/poll/batch/only?workerid=ann&count=1000&timeout=0";
    let tasks = caller.get(poll)?.json();
    let tasks = tasks.as_array().expect("a batch poll answers a list");
    let owners: Vec<_> = tasks.iter().map(|task| task["workflowInstanceId"].as_str()).collect();
    ensure!(owners == [Some(id)], "first tasks of {owners:?} were handed out");
    let report = json!({"workflowInstanceId": id, "taskId": tasks[0]["taskId"],
        "status": "COMPLETED", "workerId": "ann"});
    ensure!(caller.post("/api/tasks", &report)?.status == 200);
    ensure!(caller.get(poll)?.body == "[]", "a second execution has been waiting");
    Ok(())
}

fn a_conflict_names(caller: &Caller, id: &str) -> Result<()> {
    let answer = caller.post("/api/workflow", &request("FAIL"))?;
    let body = answer.json();
    ensure!(
        answer.status == 409
            && body["code"] == "IDEMPOTENCY_CONFLICT"
            && body["metadata"]["existingWorkflowId"] == id,
        "{answer:?}"
    );
    Ok(())
}
