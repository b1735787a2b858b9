//! # Nodes: W1 on SQLite, then on PostgreSQL with one node after the other
//!
//! All of them share the machine with PostgreSQL and the load, so more nodes are not faster here: what
//! a transition costs is the figure, and whether it stays the same.

use std::num::NonZeroUsize;
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context, Result};

use crate::definitions::Kind;
use crate::disk;
use crate::http::{Call, Client};
use crate::postgres::{Postgres, SECRETS_KEY, STATISTICS_AFTER, Work};
use crate::report::Report;
use crate::server::{Server, ServerOptions, Site};
use crate::starters::Until;
use crate::tally::Tally;
use crate::w1::describe;
use crate::workers::WorkerOptions;
use crate::workload::{Window, Workload, per};

/// Counters of the nodes, per transition.
const COUNTERS: [(&str, &str); 4] = [
    ("semel_store_round_trips_total", "round_trips"),
    ("semel_rows_skipped_total", "rows_skipped"),
    ("semel_rounds_waited_total", "rounds_waited"),
    ("semel_misses_total", "misses"),
];

#[derive(clap::Args)]
pub(crate) struct Options {
    #[command(flatten)]
    server: ServerOptions,
    #[command(flatten)]
    workers: WorkerOptions,
    /// Clients that start executions, each waiting for its own.
    #[arg(long, default_value = "64")]
    clients: NonZeroUsize,
    /// Measure for this long, each time.
    #[arg(long, default_value_t = 10.0)]
    seconds: f64,
    /// Executions before each measured window.
    #[arg(long, default_value_t = 500)]
    warmup: u64,
    /// Nodes at the most.
    #[arg(long, default_value = "3")]
    nodes: NonZeroUsize,
}

pub(crate) async fn run(options: &Options) -> Result<Report> {
    let mut report = Report::default();
    report.text("command", "nodes");
    describe(&mut report, options.clients, &options.workers);
    let site = Site::prepare(&options.server)?;
    report.fdatasync(disk::probe_fdatasync(site.directory())?);
    let server = Server::start(&site).await?;
    let alone = measure(options, std::slice::from_ref(&server)).await?;
    report.window("sqlite_", &alone);
    server.stop().await?;
    let postgres = Postgres::start(site.directory())?;
    for nodes in 1..=options.nodes.get() {
        let rate = with_nodes(options, &site, &postgres, nodes, &mut report).await?;
        report
            .figure(&format!("postgres_{nodes}_to_sqlite_rate_ratio"), rate / alone.tasks_per_s());
    }
    Ok(report)
}

async fn measure(options: &Options, servers: &[Server]) -> Result<Window> {
    let addresses: Vec<_> = servers.iter().map(|server| server.address).collect();
    let first = servers.first().context("there is a server")?.process();
    let workload = Workload::begin(&addresses, first, options.clients, &options.workers).await?;
    workload.run(Kind::W1, Until::Workflows(options.warmup)).await?;
    let seconds = Duration::try_from_secs_f64(options.seconds)?;
    workload.run(Kind::W1, Until::Elapsed(seconds)).await
}

async fn with_nodes(
    options: &Options,
    site: &Site,
    postgres: &Postgres,
    nodes: usize,
    report: &mut Report,
) -> Result<f64> {
    let database = format!("nodes_{nodes}");
    let url = postgres.database(&database)?;
    let mut servers = Vec::new();
    for _ in 0..nodes {
        servers.push(
            Server::start_with(site, &["--store", &url, "--secrets-key", SECRETS_KEY]).await?,
        );
    }
    let cpu = |servers: &[Server]| {
        servers.iter().map(|server| server.process().cpu()).sum::<Result<Duration>>()
    };
    let (before, spent) = (postgres.work(&database)?, cpu(&servers)?);
    let counted = counters(&servers).await?;
    let window = measure(options, &servers).await?;
    tokio::time::sleep(STATISTICS_AFTER).await;
    let (after, spent) = (postgres.work(&database)?, cpu(&servers)?.saturating_sub(spent));
    let prefix = format!("postgres_{nodes}_");
    report.figure(&format!("{prefix}tasks_per_s"), window.tasks_per_s());
    report.check(&prefix, &window);
    let transitions = after.transitions - before.transitions;
    tell(report, &prefix, &before, &after);
    // Three tasks and a start are four transitions.
    let tasks = transitions / 4 * 3;
    let us = |cpu: Duration| per(cpu.as_secs_f64() * 1e6, tasks);
    report.figure(&format!("{prefix}nodes_cpu_us_per_task"), us(spent));
    report.figure(
        &format!("{prefix}database_cpu_us_per_task"),
        us(after.cpu.saturating_sub(before.cpu)),
    );
    for ((_, name), (end, begin)) in
        COUNTERS.iter().zip(counters(&servers).await?.iter().zip(&counted))
    {
        report.figure(&format!("{prefix}{name}_per_transition"), per(end - begin, transitions));
    }
    for server in servers {
        server.stop().await?;
    }
    Ok(window.tasks_per_s())
}

fn tell(report: &mut Report, prefix: &str, before: &Work, after: &Work) {
    let transitions = after.transitions - before.transitions;
    for (name, end, begin) in [
        ("statements", after.statements, before.statements),
        ("rows", after.rows, before.rows),
        ("wal_bytes", after.wal_bytes, before.wal_bytes),
    ] {
        let each = per((end - begin) as f64, transitions);
        report.figure(&format!("{prefix}{name}_per_transition"), each);
    }
}

/// What the nodes have counted so far, all of them together.
async fn counters(servers: &[Server]) -> Result<[f64; COUNTERS.len()]> {
    let mut sums = [0.0; COUNTERS.len()];
    for server in servers {
        let mut client = Client::new(server.address, Arc::new(Tally::default()));
        let answer = client.send(&Call::get("/metrics")?).await?;
        let text = String::from_utf8_lossy(&answer.body);
        for ((name, _), sum) in COUNTERS.iter().zip(&mut sums) {
            let line =
                text.lines().find_map(|line| line.strip_prefix(name)?.split(' ').next_back());
            let line = line.with_context(|| format!("{} does not count {name}", server.address))?;
            *sum += line.parse::<f64>().with_context(|| format!("{name} {line}"))?;
        }
    }
    Ok(sums)
}
