//! # Contention: one execution of many branches, completed through three nodes
//!
//! Every report wants the same head, so rounds of three nodes are in each other's way all the time.
//! Each branch counts once, and the whole completes.

use std::sync::atomic::{AtomicUsize, Ordering};

use anyhow::{Context as _, Result, ensure};
use reqwest::Method;
use semel_tests::postgres;
use semel_tests::process::{Caller, DEADLINE, is_full, until};
use semel_tests::site::Site;
use serde_json::{Value, json};

const BRANCHES: usize = 500;
const BRANCHES_FULL: usize = 10_000;
const WORKERS: usize = 6;
const COUNTED: [&str; 5] = [
    "semel_rows_skipped_total",
    "semel_rounds_waited_total",
    "semel_misses_total",
    "semel_store_round_trips_total",
    "semel_round_items_count",
];

#[test]
#[ignore = "needs PostgreSQL; run by ./check full"]
fn many_branches_of_one_execution_are_completed_through_three_nodes() -> Result<()> {
    let branches = if is_full() { BRANCHES_FULL } else { BRANCHES };
    let site = Site::cluster(&postgres::shared().database()?)?;
    let caller = site.caller()?;
    define(&caller)?;
    let tasks: Vec<Value> = (0..branches)
        .map(|n| json!({"name": "branch", "taskReferenceName": format!("b{n}"), "type": "SIMPLE"}))
        .collect();
    let body = json!({"name": "wide", "input": {"tasks": tasks, "inputs": {}}});
    let started = caller.insist(Method::POST, "/api/workflow", Some(&body))?;
    ensure!(started.status == 200, "{started:?}");
    let done = AtomicUsize::new(0);
    std::thread::scope(|scope| -> Result<()> {
        let workers: Vec<_> = (0..WORKERS)
            .map(|n| {
                scope.spawn({
                    let (caller, done) = (&caller, &done);
                    move || work(caller, n, done, branches)
                })
            })
            .collect();
        workers.into_iter().try_for_each(|worker| worker.join().expect("it did not panic"))
    })?;
    let path = format!("/api/workflow/{}?includeTasks=false", started.body);
    let run = until("the execution completes", DEADLINE, || {
        let run = caller.get(&path).ok()?.json();
        (run["status"] == "COMPLETED").then_some(run)
    })?;
    ensure!(run["output"]["count"] == branches, "{run}");
    let verified =
        caller.ask(Method::POST, &format!("/api/workflow/{}/verify", started.body), None)?;
    ensure!(verified.status == 200, "{verified:?}");
    for name in COUNTED {
        let count = counted(&site, name)?;
        eprintln!("{name}: {count}, {:.3} per transition", count / branches as f64);
    }
    site.stop()
}

fn define(caller: &Caller) -> Result<()> {
    let task = json!([{"name": "branch", "retryCount": 3, "retryDelaySeconds": 0,
        "responseTimeoutSeconds": 120, "timeoutSeconds": 0}]);
    let fork = json!({"name": "fork", "taskReferenceName": "fork", "type": "FORK_JOIN_DYNAMIC",
        "inputParameters": {"tasks": "${workflow.input.tasks}", "inputs": "${workflow.input.inputs}"},
        "dynamicForkTasksParam": "tasks", "dynamicForkTasksInputParamName": "inputs"});
    let join = json!({"name": "join", "taskReferenceName": "join", "type": "JOIN"});
    let count = json!({"name": "count", "taskReferenceName": "count", "type": "JSON_JQ_TRANSFORM",
        "inputParameters": {"of": "${join.output}", "queryExpression": ".of | length"}});
    let workflow = json!({"name": "wide", "version": 1, "schemaVersion": 2,
        "tasks": [fork, join, count], "outputParameters": {"count": "${count.output.result}"}});
    for (path, body) in [("/api/metadata/taskdefs", task), ("/api/metadata/workflow", workflow)] {
        let answer = caller.insist(Method::POST, path, Some(&body))?;
        ensure!(answer.status == 200, "{path}: {answer:?}");
    }
    Ok(())
}

/// Takes branches and completes them until all are done.
fn work(caller: &Caller, worker: usize, done: &AtomicUsize, branches: usize) -> Result<()> {
    let poll = format!("/api/tasks/poll/batch/branch?workerid=w{worker}&count=20&timeout=100");
    while done.load(Ordering::Acquire) < branches {
        let given = caller.insist(Method::GET, &poll, None)?;
        for task in given.json().as_array().into_iter().flatten() {
            let report = json!({"taskId": task["taskId"], "status": "COMPLETED",
                "workflowInstanceId": task["workflowInstanceId"],
                "fenceToken": task["fenceToken"], "workerId": format!("w{worker}"),
                "outputData": {"by": worker}});
            let answer = caller.insist(Method::POST, "/api/tasks", Some(&report))?;
            ensure!(answer.status == 200, "a report was answered {answer:?}");
            done.fetch_add(1, Ordering::AcqRel);
        }
    }
    Ok(())
}

/// A counter of all nodes together.
fn counted(site: &Site, name: &'static str) -> Result<f64> {
    let mut sum = 0.0;
    for address in site.addresses() {
        let text = Caller::new(address)?.get("/metrics")?.body;
        let line = text.lines().find_map(|line| line.strip_prefix(name)?.split_whitespace().last());
        let line = line.with_context(|| format!("{address} does not count {name}"))?;
        sum += line.parse::<f64>().context(name)?;
    }
    Ok(sum)
}
