//! # Neighbours: what a quiet tenant feels of a bad one
//!
//! A quiet tenant starts small runs and does runs of one task, one after the other. Its times are taken
//! alone, and then beside a tenant that does its worst: HTTP tasks to a service that drips, patterns
//! over much text, definitions without measure, loops without end, workflows that start themselves.
//! Each neighbour has a server of its own, so that none pays for another; the ratio of the two windows is
//! the figure. **May not:** be clever for the server's sake: a refusal is an answer, and is asked again.

mod bad;

use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result};
use clap::ValueEnum as _;
use serde_json::{Value, json};

use crate::disk;
use crate::http::{Call, Client};
use crate::report::Report;
use crate::server::{Server, ServerOptions, Site};
use crate::tally::Tally;
use bad::Neighbour;

/// A quiet tenant may become so many times slower.
const RATIO_BELOW: f64 = 3.0;
/// Between two of its rounds.
const PAUSE: Duration = Duration::from_millis(10);
/// Before a window begins.
const SETTLE: Duration = Duration::from_secs(1);
const POLL: &str = "/api/tasks/poll/batch/quiet_task?count=1&timeout=1000&workerid=quiet";

#[derive(clap::Args)]
pub(crate) struct Options {
    #[command(flatten)]
    server: ServerOptions,
    /// Length of each window.
    #[arg(long, default_value_t = 10)]
    seconds: u64,
    /// Which neighbours; all of them if none is named.
    #[arg(long = "beside", value_enum)]
    beside: Vec<Neighbour>,
}

pub(crate) async fn run(options: &Options) -> Result<Report> {
    let mut report = Report::default();
    report.text("command", "neighbours");
    let all = Neighbour::value_variants();
    let chosen = if options.beside.is_empty() { all } else { options.beside.as_slice() };
    for (at, neighbour) in chosen.iter().enumerate() {
        let site = Site::prepare(&options.server)?;
        if at == 0 {
            report.fdatasync(disk::probe_fdatasync(site.directory())?);
        }
        // One beside which nobody is served any more must not hide the figures of the others.
        if let Err(error) = beside(*neighbour, &site, options, &mut report).await {
            let name = neighbour.name();
            report.text(&format!("beside_{name}_ended"), &format!("{error:#}"));
            report.problems(&format!("beside_{name}_failures_count"), 1);
        }
    }
    Ok(report)
}

async fn beside(
    neighbour: Neighbour,
    site: &Site,
    options: &Options,
    report: &mut Report,
) -> Result<()> {
    let mut server = Server::start_with(site, &["--http-allow", "127.0.0.0/8"]).await?;
    let mut quiet = Quiet::begin(&server).await?;
    let window = Duration::from_secs(options.seconds);
    quiet.window(Duration::from_secs(1)).await?; // Warm, and thrown away.
    let alone = quiet.window(window).await?;
    let bad = neighbour.begin(server.address).await?;
    tokio::time::sleep(SETTLE).await;
    let during = quiet.window(window).await?;
    let name = neighbour.name();
    report.count(&format!("beside_{name}_asked_count"), bad.end());
    report.probes(&format!("beside_{name}_start"), &alone.starts, &during.starts, RATIO_BELOW);
    report.probes(&format!("beside_{name}_run"), &alone.runs, &during.runs, RATIO_BELOW);
    server.expect_running(site)?;
    Ok(()) // Dropped and killed: a neighbour may have left it much to finish.
}

/// What one window took, sorted.
struct Window {
    starts: Vec<Duration>,
    runs: Vec<Duration>,
}

/// Somebody who does little, and waits for it.
struct Quiet {
    client: Client,
    start: Call,
    start_task: Call,
    poll: Call,
    report: Call,
}

impl Quiet {
    async fn begin(server: &Server) -> Result<Self> {
        let mut client = Client::new(server.address, Arc::new(Tally::default()));
        let workflow = |name: &str, kind: &str, task: &str| {
            json!({"name": name, "version": 1, "schemaVersion": 2, "ownerEmail": "a@example.com",
                "tasks": [{"name": task, "taskReferenceName": "t", "type": kind}]})
        };
        for definition in
            [workflow("quiet", "NOOP", "noop"), workflow("quiet_one", "SIMPLE", "quiet_task")]
        {
            let body = serde_json::to_vec(&definition)?;
            client.send(&Call::post("/api/metadata/workflow", body)?).await?;
        }
        Ok(Self {
            client,
            start: Call::post("/api/workflow/quiet", "{}")?,
            start_task: Call::post("/api/workflow/quiet_one", "{}")?,
            poll: Call::get(POLL)?,
            report: Call::post("/api/tasks", "")?,
        })
    }

    async fn window(&mut self, length: Duration) -> Result<Window> {
        let begun = Instant::now();
        let (mut starts, mut runs) = (Vec::new(), Vec::new());
        while begun.elapsed() < length {
            let at = Instant::now();
            self.client.send(&self.start).await?;
            starts.push(at.elapsed());
            let at = Instant::now();
            self.one_task().await?;
            runs.push(at.elapsed());
            tokio::time::sleep(PAUSE).await;
        }
        starts.sort_unstable();
        runs.sort_unstable();
        Ok(Window { starts, runs })
    }

    /// Starts a run, takes its task and completes it.
    async fn one_task(&mut self) -> Result<()> {
        self.client.send(&self.start_task).await?;
        let task = loop {
            let answer = self.client.send(&self.poll).await?;
            let tasks: Value = serde_json::from_slice(&answer.body).unwrap_or(Value::Null);
            if let Some(task) = tasks.get(0) {
                break task.clone();
            }
        };
        let field = |name: &str| task[name].as_str().map(str::to_owned).context("a task has ids");
        let done = json!({"taskId": field("taskId")?, "status": "COMPLETED", "outputData": {},
            "workflowInstanceId": field("workflowInstanceId")?});
        self.client.send(&self.report.with_body(serde_json::to_vec(&done)?)).await?;
        Ok(())
    }
}
