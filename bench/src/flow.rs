//! # Flow: what branches, turns and scripts cost
//!
//! Forks and loops of two sizes on one server, an execution of many tasks, the end of one with many
//! open tasks, and hostile scripts; beside the last two a probe measures what others feel.
//! **May not:** compare with another run: the ratios of one run are the figures.

pub(crate) mod fork;
mod probe;
mod shapes;

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use bytes::Bytes;
use serde_json::{Value, json};
use tokio::task::JoinSet;

use self::probe::Probe;
use crate::http::{Call, Client};
use crate::process::Reading;
use crate::report::Report;
use crate::server::{Server, ServerOptions, Site};
use crate::tally::Tally;
use crate::workload::per;

/// The promises: cost per branch and per turn may grow by so much, and a probe's worst may as well.
const GROWTH_BELOW: f64 = 1.5;
const PROBE_BELOW: f64 = 3.0;
const LOOK_MS: u64 = 20;
const RUN_S_MAX: u64 = 1_200;
const PROBE_S: u64 = 10;

#[derive(clap::Args)]
pub(crate) struct Options {
    #[command(flatten)]
    server: ServerOptions,
    /// Branches of the small fork; the large one has ten times as many.
    #[arg(long, default_value_t = 1000)]
    branches: usize,
    /// Turns of the short loop; the long one has ten times as many.
    #[arg(long, default_value_t = 100)]
    turns: usize,
    /// Tasks of the large execution, in ten turns.
    #[arg(long, default_value_t = 100_000)]
    tasks: usize,
    /// Connections that do tasks.
    #[arg(long, default_value_t = 8)]
    workers: usize,
    /// Hostile scripts at one time.
    #[arg(long, default_value_t = 8)]
    hostile: usize,
}

pub(crate) struct Bench {
    address: SocketAddr,
    tally: Arc<Tally>,
    client: Client,
}

impl Bench {
    fn new(address: SocketAddr) -> Result<Self> {
        let tally = Arc::new(Tally::default());
        Ok(Self { address, client: Client::new(address, Arc::clone(&tally)), tally })
    }

    async fn define(&mut self, definition: &Value) -> Result<()> {
        let body = definition.to_string();
        self.client.send(&Call::post("/api/metadata/workflow?overwrite=true", body)?).await?;
        Ok(())
    }

    async fn start(&mut self, name: &str, input: &Value) -> Result<String> {
        let call = Call::post(&format!("/api/workflow/{name}"), input.to_string())?;
        Ok(String::from_utf8(self.client.send(&call).await?.body.to_vec())?)
    }

    async fn status(&mut self, id: &str) -> Result<String> {
        let call = Call::get(&format!("/api/workflow/{id}/status?includeOutput=false"))?;
        let body: Value = serde_json::from_slice(&self.client.send(&call).await?.body)?;
        Ok(body["status"].as_str().unwrap_or_default().to_owned())
    }

    async fn ended(&mut self, id: &str) -> Result<String> {
        let begun = Instant::now();
        loop {
            let status = self.status(id).await?;
            if status != "RUNNING" {
                return Ok(status);
            }
            ensure!(begun.elapsed().as_secs() < RUN_S_MAX, "{id} does not end");
            tokio::time::sleep(Duration::from_millis(LOOK_MS)).await;
        }
    }

    /// Connections that do every task of that type until the set is dropped.
    fn workers(&self, count: usize, task_type: &str) -> Result<JoinSet<()>> {
        let mut workers = JoinSet::new();
        let update = Call::post("/api/tasks", "")?;
        for number in 0..count {
            let poll = Call::get(&format!(
                "/api/tasks/poll/batch/{task_type}?workerid=w-{number}&count=20&timeout=1000"
            ))?;
            let client = Client::new(self.address, Arc::clone(&self.tally));
            workers.spawn(work(client, poll, update.clone()));
        }
        Ok(workers)
    }
}

async fn work(mut client: Client, poll: Call, update: Call) {
    while let Ok(answer) = client.send(&poll).await {
        let tasks: Vec<Value> = serde_json::from_slice(&answer.body).unwrap_or_default();
        for task in tasks {
            let report = json!({
                "workflowInstanceId": task["workflowInstanceId"], "taskId": task["taskId"],
                "status": "COMPLETED", "outputData": {"ok": true},
            });
            if client.send(&update.with_body(Bytes::from(report.to_string()))).await.is_err() {
                return;
            }
        }
    }
}

pub(crate) async fn run(options: &Options) -> Result<Report> {
    let mut report = Report::default();
    report.text("command", "flow");
    let site = Site::prepare(&options.server)?;
    let small = grow(&site, options, options.tasks / 10, &mut report).await?;
    let large = grow(&site, options, options.tasks, &mut report).await?;
    for (name, ratio) in [
        ("grown_large_to_small_cpu_ratio", large.cpu_us / small.cpu_us),
        ("grown_large_to_small_memory_ratio", large.memory_bytes / small.memory_bytes),
    ] {
        report.figure(name, ratio);
        report.bar(name, ratio, GROWTH_BELOW);
    }
    let mut server = Server::start(&site).await?;
    let mut bench = Bench::new(server.address)?;
    for shape in shapes::pairs(options.branches, options.turns) {
        let small = cost(&mut bench, &server, options, &shape.small, &mut report).await?;
        let large = cost(&mut bench, &server, options, &shape.large, &mut report).await?;
        let ratio = large / small;
        report.figure(&format!("{}_large_to_small_cpu_ratio", shape.name), ratio);
        report.bar(&format!("{}_large_to_small_cpu_ratio", shape.name), ratio, GROWTH_BELOW);
        server.expect_running(&site)?;
    }
    terminate(&mut bench, options, &mut report).await?;
    server.expect_running(&site)?;
    hostile(&mut bench, options, &mut report).await?;
    server.expect_running(&site)?;
    report.problems("run_failures_count", bench.tally.read().failures());
    report.count("server_memory_peak_bytes", server.process().memory_peak_bytes()?);
    report.figure("server_stop_ms", server.stop().await?.as_secs_f64() * 1e3);
    Ok(report)
}

/// CPU of the server per branch or turn.
async fn cost(
    bench: &mut Bench,
    server: &Server,
    options: &Options,
    shape: &shapes::Shape,
    report: &mut Report,
) -> Result<f64> {
    bench.define(&shape.definition).await?;
    let workers = bench.workers(options.workers, shapes::TASK)?;
    let before = Reading::of(server.process())?;
    let id = bench.start(&shape.name, &shape.input).await?;
    let status = bench.ended(&id).await?;
    let spent = Reading::of(server.process())?.since(&before);
    drop(workers);
    ensure!(status == "COMPLETED", "{} ended {status}", shape.name);
    let count = shape.count as u64;
    let cpu_us = per(spent.server.as_secs_f64() * 1e6, count);
    report.figure(&format!("{}_server_cpu_us_each", shape.name), cpu_us);
    report.figure(&format!("{}_elapsed_s", shape.name), spent.elapsed.as_secs_f64());
    report.figure(&format!("{}_others_busy_cores", shape.name), spent.cores(spent.others));
    Ok(cpu_us)
}

/// What one task of an execution costs.
struct PerTask {
    cpu_us: f64,
    memory_bytes: f64,
}

/// Ten turns of a loop over a dynamic fork, on a server that has done nothing before: memory and
/// CPU per task.
async fn grow(
    site: &Site,
    options: &Options,
    tasks: usize,
    report: &mut Report,
) -> Result<PerTask> {
    let mut server = Server::start(site).await?;
    let mut bench = Bench::new(server.address)?;
    let (turns, branches) = (10, tasks / 10);
    bench.define(&shapes::large()).await?;
    let workers = bench.workers(options.workers, shapes::TASK)?;
    let input = json!({"turns": turns, "inputs": vec![json!({}); branches]});
    let begun = Reading::of(server.process())?;
    let memory_before = server.process().memory_resident_bytes()?;
    let id = bench.start("flow_large", &input).await?;
    let status = bench.ended(&id).await?;
    let spent = Reading::of(server.process())?.since(&begun);
    ensure!(status == "COMPLETED", "the large execution ended {status}");
    let memory = server.process().memory_resident_bytes()?;
    let count = tasks as u64;
    let cpu_us = per(spent.server.as_secs_f64() * 1e6, count);
    report.figure(&format!("grown_{tasks}_server_cpu_us_per_task"), cpu_us);
    report.figure(&format!("grown_{tasks}_elapsed_s"), spent.elapsed.as_secs_f64());
    let grown = memory.saturating_sub(memory_before) as f64;
    let memory_bytes = per(grown, count);
    report.figure(&format!("grown_{tasks}_memory_bytes_per_task"), memory_bytes);
    drop(workers);
    report.problems(&format!("grown_{tasks}_failures_count"), bench.tally.read().failures());
    server.expect_running(site)?;
    server.stop().await?;
    Ok(PerTask { cpu_us, memory_bytes })
}

/// Ends an execution with many open tasks while a probe goes on.
async fn terminate(bench: &mut Bench, options: &Options, report: &mut Report) -> Result<()> {
    bench.define(&shapes::open()).await?;
    bench.define(&probe::definition()).await?;
    let branches = options.tasks / 10;
    let input = json!({"inputs": vec![json!({}); branches]});
    let id = bench.start("flow_open", &input).await?;
    let begun = Instant::now();
    let idle = Call::get(&format!("/api/workflow/{id}/tasks?count=1&status=SCHEDULED"))?;
    let wanted = branches as u64 * 10;
    loop {
        let body: Value = serde_json::from_slice(&bench.client.send(&idle).await?.body)?;
        if body["totalHits"].as_u64().unwrap_or(0) >= wanted {
            break;
        }
        ensure!(begun.elapsed().as_secs() < RUN_S_MAX, "the branches do not begin");
        tokio::time::sleep(Duration::from_millis(200)).await;
    }
    let mut probe = Probe::new(bench)?;
    let before = probe.run(Duration::from_secs(PROBE_S)).await?;
    let call = Call::delete(&format!("/api/workflow/{id}?reason=bench"))?;
    let ending = Instant::now();
    bench.client.send(&call).await.context("ending the large execution")?;
    report.figure("terminate_answered_ms", ending.elapsed().as_secs_f64() * 1e3);
    let during = probe.run(Duration::from_secs(PROBE_S)).await?;
    report.probes("terminate_probe", &before, &during, PROBE_BELOW);
    Ok(())
}

/// Scripts that never end, while a probe goes on.
async fn hostile(bench: &mut Bench, options: &Options, report: &mut Report) -> Result<()> {
    bench.define(&probe::definition()).await?;
    bench.define(&shapes::hostile()).await?;
    let mut probe = Probe::new(bench)?;
    let before = probe.run(Duration::from_secs(PROBE_S)).await?;
    let mut attackers = JoinSet::new();
    for _ in 0..options.hostile {
        let mut attacker = Client::new(bench.address, Arc::clone(&bench.tally));
        let call = Call::post("/api/workflow/flow_hostile", "{}")?;
        attackers.spawn(async move { while attacker.send(&call).await.is_ok() {} });
    }
    let during = probe.run(Duration::from_secs(PROBE_S)).await?;
    drop(attackers);
    report.probes("hostile_probe", &before, &during, PROBE_BELOW);
    Ok(())
}
