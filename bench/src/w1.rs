//! # W1: the workload the design is judged by
//!
//! One window of starts and reports on a fresh server. **May not:** keep a server between runs: the
//! disk and memory figures are those of exactly this run.

use std::num::NonZeroUsize;
use std::time::Duration;

use anyhow::Result;

use crate::definitions::Kind;
use crate::disk;
use crate::report::Report;
use crate::server::{Server, ServerOptions, Site};
use crate::starters::Until;
use crate::workers::WorkerOptions;
use crate::workload::{Workload, per};

const SECONDS_DEFAULT: f64 = 10.0;

#[derive(clap::Args)]
pub(crate) struct Options {
    #[command(flatten)]
    server: ServerOptions,
    #[command(flatten)]
    workers: WorkerOptions,
    /// Clients that start executions, each waiting for its own; 1 measures latency.
    #[arg(long, default_value = "64")]
    clients: NonZeroUsize,
    /// Start so many executions a second, and not as many as can be: what it costs to have little to do.
    #[arg(long)]
    rate: Option<f64>,
    /// Measure this many executions.
    #[arg(long, conflicts_with = "seconds")]
    workflows: Option<u64>,
    /// Measure for this long (default 10).
    #[arg(long)]
    seconds: Option<f64>,
    /// Executions before the measured window.
    #[arg(long, default_value_t = 500)]
    warmup: u64,
}

pub(crate) async fn run(options: &Options) -> Result<Report> {
    let seconds = options.seconds.unwrap_or(SECONDS_DEFAULT);
    let until = match options.workflows {
        Some(workflows) => Until::Workflows(workflows),
        None => Until::Elapsed(Duration::try_from_secs_f64(seconds)?),
    };
    let mut report = Report::default();
    report.text("command", "w1");
    describe(&mut report, options.clients, &options.workers);
    let site = Site::prepare(&options.server)?;
    report.fdatasync(disk::probe_fdatasync(site.directory())?);
    let mut server = Server::start(&site).await?;
    let mut workload =
        Workload::begin(&[server.address], server.process(), options.clients, &options.workers)
            .await?;
    let warmup = workload.run(Kind::W1, Until::Workflows(options.warmup)).await?;
    workload.pace(options.rate.filter(|rate| *rate > 0.0));
    let window = workload.run(Kind::W1, until).await?;
    server.expect_running(&site)?;
    report.window("", &window);
    report.check("warmup_", &warmup);
    report.count("run_failures_count", workload.failures());
    drop(workload);

    let workflows = warmup.started.workflows + window.started.workflows;
    let running_bytes = disk::size_bytes(&site.data())?;
    report.figure("disk_bytes_per_workflow", per(running_bytes as f64, workflows));
    report.count("disk_bytes", running_bytes);
    report.count("server_memory_peak_bytes", server.process().memory_peak_bytes()?);
    report.figure("server_stop_ms", server.stop().await?.as_secs_f64() * 1e3);
    let stopped_bytes = disk::size_bytes(&site.data())?;
    report.figure("disk_after_stop_bytes_per_workflow", per(stopped_bytes as f64, workflows));
    Ok(report)
}

/// The circumstances, so that a line of figures can be read without its command line.
pub(crate) fn describe(report: &mut Report, clients: NonZeroUsize, workers: &WorkerOptions) {
    let cores = std::thread::available_parallelism().map_or(0, |cores| cores.get() as u64);
    report.count("machine_cores_count", cores);
    report.count("clients_count", clients.get() as u64);
    report.count("workers_per_type_count", workers.workers_per_type.get() as u64);
    report.count("slots_per_worker_count", workers.batch.get() as u64);
    report.count("poll_timeout_ms", workers.poll_timeout_ms);
}
