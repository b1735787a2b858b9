//! # Fork: what a branch costs in a small fork and in a large one, and what others feel of the large one
//!
//! Ten small forks one after the other have as many branches as one large one, so that both are measured as finely;
//! they take turns. Then a probe goes on beside a large one, from its start to its end.
//! **May not:** compare with another run: the ratios of one run are the figures.

use std::time::Duration;

use anyhow::{Result, ensure};

use super::probe::{self, Probe};
use super::shapes::{self, Pair, Shape};
use super::{Bench, PROBE_BELOW};
use crate::disk;
use crate::process::Reading;
use crate::report::{Report, millis};
use crate::server::{Server, ServerOptions, Site};
use crate::workload::per;

/// The promises: a branch of a large fork may cost so many times one of a small fork, and nobody waits longer.
const GROWTH_BELOW: f64 = 1.2;
const WAIT_MS_BELOW: f64 = 50.0;
const SMALL_FORKS: usize = 10;
const PROBE_S: u64 = 5;

#[derive(clap::Args)]
pub(crate) struct Options {
    #[command(flatten)]
    server: ServerOptions,
    /// Branches of the small fork; the large one has ten times as many.
    #[arg(long, default_value_t = 1000)]
    branches: usize,
    /// Connections that do tasks.
    #[arg(long, default_value_t = 8)]
    workers: usize,
    /// How often small and large ones take turns.
    #[arg(long, default_value_t = 3)]
    rounds: usize,
}

pub(crate) async fn run(options: &Options) -> Result<Report> {
    let mut report = Report::default();
    report.text("command", "fork");
    let site = Site::prepare(&options.server)?;
    report.fdatasync(disk::probe_fdatasync(site.directory())?);
    let mut server = Server::start(&site).await?;
    let mut bench = Bench::new(server.address)?;
    bench.define(&probe::definition()).await?;
    for pair in shapes::forks(options.branches) {
        bench.define(&pair.small.definition).await?;
        bench.define(&pair.large.definition).await?;
        compare(&mut bench, &server, options, &pair, &mut report).await?;
        server.expect_running(&site)?;
        beside(&mut bench, options, &pair.large, &mut report).await?;
        server.expect_running(&site)?;
    }
    report.problems("run_failures_count", bench.tally.read().failures());
    report.count("server_memory_peak_bytes", server.process().memory_peak_bytes()?);
    report.figure("server_stop_ms", server.stop().await?.as_secs_f64() * 1e3);
    Ok(report)
}

/// CPU of the server and time that passes, per branch.
#[derive(Default)]
struct Cost {
    cpu_us: f64,
    elapsed_us: f64,
    branches: u64,
}

impl Cost {
    fn cpu_us_each(&self) -> f64 {
        per(self.cpu_us, self.branches)
    }

    fn elapsed_us_each(&self) -> f64 {
        per(self.elapsed_us, self.branches)
    }
}

async fn compare(
    bench: &mut Bench,
    server: &Server,
    options: &Options,
    pair: &Pair,
    report: &mut Report,
) -> Result<()> {
    let workers = bench.workers(options.workers, shapes::TASK)?;
    let (mut small, mut large) = (Cost::default(), Cost::default());
    spend(bench, server, &pair.small, 1, &mut Cost::default()).await?; // Warm, and thrown away.
    for _ in 0..options.rounds {
        spend(bench, server, &pair.small, SMALL_FORKS, &mut small).await?;
        spend(bench, server, &pair.large, 1, &mut large).await?;
    }
    drop(workers);
    for (shape, cost) in [(&pair.small, &small), (&pair.large, &large)] {
        report.figure(&format!("{}_server_cpu_us_each", shape.name), cost.cpu_us_each());
        report.figure(&format!("{}_elapsed_us_each", shape.name), cost.elapsed_us_each());
    }
    for (what, ratio) in [
        ("cpu", large.cpu_us_each() / small.cpu_us_each()),
        ("elapsed", large.elapsed_us_each() / small.elapsed_us_each()),
    ] {
        let name = format!("{}_large_to_small_{what}_ratio", pair.name);
        report.figure(&name, ratio);
        report.bar(&name, ratio, GROWTH_BELOW);
    }
    Ok(())
}

async fn spend(
    bench: &mut Bench,
    server: &Server,
    shape: &Shape,
    times: usize,
    cost: &mut Cost,
) -> Result<()> {
    let before = Reading::of(server.process())?;
    for _ in 0..times {
        let id = bench.start(&shape.name, &shape.input).await?;
        let status = bench.ended(&id).await?;
        ensure!(status == "COMPLETED", "{} ended {status}", shape.name);
    }
    let spent = Reading::of(server.process())?.since(&before);
    cost.cpu_us += spent.server.as_secs_f64() * 1e6;
    cost.elapsed_us += spent.elapsed.as_secs_f64() * 1e6;
    cost.branches += (times * shape.count) as u64;
    Ok(())
}

/// A probe beside a large fork, from its start to its end.
async fn beside(
    bench: &mut Bench,
    options: &Options,
    shape: &Shape,
    report: &mut Report,
) -> Result<()> {
    let mut probe = Probe::new(bench)?;
    let idle = probe.run(Duration::from_secs(PROBE_S)).await?;
    let _workers = bench.workers(options.workers, shapes::TASK)?;
    let mut other = Bench::new(bench.address)?;
    let (name, input) = (shape.name.clone(), shape.input.clone());
    let ended = tokio::spawn(async move {
        let id = other.start(&name, &input).await?;
        other.ended(&id).await
    });
    let during = probe.until(|| ended.is_finished()).await?;
    let status = ended.await??;
    ensure!(status == "COMPLETED", "{} ended {status}", shape.name);
    let prefix = format!("beside_{}_probe", shape.name);
    report.probes(&prefix, &idle, &during, PROBE_BELOW);
    for (what, times) in [("idle", &idle), ("during", &during)] {
        report.figure(&format!("{prefix}_{what}_max_ms"), millis(times.last().copied()));
    }
    report.bar(&format!("{prefix}_during_max_ms"), millis(during.last().copied()), WAIT_MS_BELOW);
    Ok(())
}
