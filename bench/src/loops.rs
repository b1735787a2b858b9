//! # Loops: how long a thousand turns take
//!
//! One loop at a time on one server: over a task of a worker that reports with `update-v2` and goes on
//! with the turn the answer hands out, over SET_VARIABLE, and over INLINE. The three are run in turn,
//! several times. **May not:** compare with another run: other work on the machine blurs figures.

use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::{Result, ensure};
use serde_json::{Value, json};
use tokio::task::JoinSet;

use crate::disk;
use crate::http::{Call, Client};
use crate::process::{Reading, Spent};
use crate::report::Report;
use crate::server::{Server, ServerOptions, Site};
use crate::tally::Tally;
use crate::workload::per;

const TASK: &str = "loop_task";
const LOOK_MS: u64 = 2;
const RUN_S_MAX: u64 = 300;
const SHAPES: [&str; 3] = ["worker", "set_variable", "inline"];

#[derive(clap::Args)]
pub(crate) struct Options {
    #[command(flatten)]
    server: ServerOptions,
    /// Turns of each loop.
    #[arg(long, default_value_t = 1000)]
    turns: u64,
    /// How often each loop is run.
    #[arg(long, default_value_t = 5)]
    runs: usize,
}

pub(crate) async fn run(options: &Options) -> Result<Report> {
    let site = Site::prepare(&options.server)?;
    let mut report = Report::default();
    report.text("command", "loop");
    report.fdatasync(disk::probe_fdatasync(site.directory())?);
    let mut server = Server::start(&site).await?;
    let tally = Arc::new(Tally::default());
    let mut client = Client::new(server.address, Arc::clone(&tally));
    for shape in SHAPES {
        let body = definition(shape, options.turns).to_string();
        client.send(&Call::post("/api/metadata/workflow?overwrite=true", body)?).await?;
    }
    let mut workers = JoinSet::new();
    workers.spawn(work(Client::new(server.address, Arc::clone(&tally)), Arc::clone(&tally)));
    let mut all: [Vec<Spent>; 3] = Default::default();
    for _ in 0..options.runs.max(1) {
        for (shape, spent) in SHAPES.into_iter().zip(&mut all) {
            let before = Reading::of(server.process())?;
            turn(&mut client, shape, options.turns).await?;
            spent.push(Reading::of(server.process())?.since(&before));
        }
    }
    drop(workers);
    for (shape, spent) in SHAPES.into_iter().zip(&all) {
        tell(shape, spent, options.turns, &mut report);
    }
    let counts = tally.read();
    let handed = per(counts.tasks_handed_by_update as f64, counts.tasks);
    report.figure("worker_turns_handed_by_update_share", handed);
    report.problems("run_failures_count", counts.failures());
    server.expect_running(&site)?;
    report.figure("server_stop_ms", server.stop().await?.as_secs_f64() * 1e3);
    Ok(report)
}

/// The median of the runs, and the best.
fn tell(shape: &str, spent: &[Spent], turns: u64, report: &mut Report) {
    let sorted = |figure: fn(&Spent) -> f64| {
        let mut figures: Vec<f64> = spent.iter().map(figure).collect();
        figures.sort_by(f64::total_cmp);
        figures
    };
    let elapsed = sorted(|spent| spent.elapsed.as_secs_f64());
    let cpu_us = sorted(|spent| spent.server.as_secs_f64() * 1e6);
    let others = sorted(|spent| spent.cores(spent.others));
    let middle = spent.len() / 2;
    report.figure(&format!("{shape}_elapsed_s"), elapsed[middle]);
    report.figure(&format!("{shape}_elapsed_min_s"), elapsed[0]);
    report.figure(&format!("{shape}_server_cpu_us_per_turn"), per(cpu_us[middle], turns));
    report.figure(&format!("{shape}_others_busy_cores"), others[middle]);
}

/// One run of a loop, from its start to its end.
async fn turn(client: &mut Client, shape: &str, turns: u64) -> Result<()> {
    let start = Call::post(&format!("/api/workflow/loop_{shape}"), "{}")?;
    let id = String::from_utf8(client.send(&start).await?.body.to_vec())?;
    let look = Call::get(&format!("/api/workflow/{id}/status?includeOutput=true"))?;
    let begun = Instant::now();
    loop {
        let body: Value = serde_json::from_slice(&client.send(&look).await?.body)?;
        let status = body["status"].as_str().unwrap_or_default();
        if status != "RUNNING" {
            ensure!(status == "COMPLETED", "loop_{shape} ended {status}");
            let done = &body["output"]["turns"];
            ensure!(*done == turns, "loop_{shape} has turned {done} times");
            return Ok(());
        }
        ensure!(begun.elapsed().as_secs() < RUN_S_MAX, "{id} does not end");
        tokio::time::sleep(Duration::from_millis(LOOK_MS)).await;
    }
}

fn definition(shape: &str, turns: u64) -> Value {
    let body = match shape {
        "worker" => json!({"name": TASK, "type": "SIMPLE"}),
        "set_variable" => json!({"name": "set", "type": "SET_VARIABLE",
            "inputParameters": {"n": 1}}),
        _ => json!({"name": "calculate", "type": "INLINE", "inputParameters":
            {"expression": "$.n * 2 + 1", "n": 20}}),
    };
    let mut body = body;
    body["taskReferenceName"] = json!("turn");
    let condition = format!("if ($.loop['iteration'] < {turns}) {{ true; }} else {{ false; }}");
    json!({
        "name": format!("loop_{shape}"), "version": 1,
        "tasks": [{"name": "loop", "taskReferenceName": "loop", "type": "DO_WHILE",
            "loopCondition": condition, "loopOver": [body]}],
        "outputParameters": {"turns": "${loop.output.iteration}"},
    })
}

/// Polls for a first turn, and goes on with the turns its reports are answered with.
async fn work(mut client: Client, tally: Arc<Tally>) {
    let poll = format!("/api/tasks/poll/batch/{TASK}?workerid=loop&count=1&timeout=1000");
    let (Ok(poll), Ok(update)) = (Call::get(&poll), Call::post("/api/tasks/update-v2", "")) else {
        return;
    };
    while let Ok(answer) = client.send(&poll).await {
        let tasks: Vec<Value> = serde_json::from_slice(&answer.body).unwrap_or_default();
        let mut next = tasks.into_iter().next();
        while let Some(task) = next {
            let report = json!({
                "workflowInstanceId": task["workflowInstanceId"], "taskId": task["taskId"],
                "status": "COMPLETED", "workerId": "loop", "outputData": {"ok": true},
            });
            let Ok(answer) = client.send(&update.with_body(report.to_string())).await else {
                return;
            };
            next = serde_json::from_slice(&answer.body).ok();
            tally.add(|counts| {
                counts.tasks += 1;
                counts.tasks_handed_by_update += u64::from(next.is_some());
            });
        }
    }
}
