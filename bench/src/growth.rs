//! # Growth: does a task cost more when the store is full?
//!
//! The same window twice on one server, before and after filling the store; the ratio is the figure.
//! **May not:** compare with another run: disk and neighbours differ, the ratio cancels them.

use std::num::NonZeroUsize;
use std::time::Duration;

use anyhow::Result;

use crate::definitions::Kind;
use crate::disk;
use crate::report::Report;
use crate::server::{Server, ServerOptions, Site};
use crate::starters::Until;
use crate::w1::describe;
use crate::workers::WorkerOptions;
use crate::workload::{Window, Workload, per};

const FILL_STEPS: u64 = 10;
/// Lets checkpoints and other after-work of the load before end outside the window.
const SETTLE_MS: u64 = 1000;

#[derive(clap::Args)]
pub(crate) struct Options {
    #[command(flatten)]
    server: ServerOptions,
    #[command(flatten)]
    workers: WorkerOptions,
    /// Clients that start executions, in the windows and while filling.
    #[arg(long, default_value = "64")]
    clients: NonZeroUsize,
    /// Executions put into the store between the two windows.
    #[arg(long, default_value_t = 200_000, value_parser = clap::value_parser!(u64).range(FILL_STEPS..))]
    executions: u64,
    /// Executions of one window; CPU is counted in ticks of 10 ms, so more is finer.
    #[arg(long, default_value_t = 1000)]
    window: u64,
    /// Executions before each window.
    #[arg(long, default_value_t = 200)]
    warmup: u64,
    /// Fill with executions left RUNNING instead of completed ones.
    #[arg(long)]
    open: bool,
}

pub(crate) async fn run(options: &Options) -> Result<Report> {
    let mut report = Report::default();
    report.text("command", "growth");
    describe(&mut report, options.clients, &options.workers);
    let site = Site::prepare(&options.server)?;
    report.fdatasync(disk::probe_fdatasync(site.directory())?);
    let mut server = Server::start(&site).await?;
    let workload =
        Workload::begin(&[server.address], server.process(), options.clients, &options.workers)
            .await?;
    let empty = measure(&workload, options).await?;
    server.expect_running(&site)?;
    report.window("empty_", &empty);
    let empty_bytes = disk::size_bytes(&site.data())?;

    let filled = fill(&workload, options, &mut report).await?;
    server.expect_running(&site)?;
    let full_bytes = disk::size_bytes(&site.data())?;
    let grown_bytes = full_bytes.saturating_sub(empty_bytes);
    report.figure("fill_disk_bytes_per_workflow", per(grown_bytes as f64, filled));
    let memory_bytes = server.process().memory_resident_bytes()?;
    report.count("fill_server_memory_bytes", memory_bytes);

    let full = measure(&workload, options).await?;
    server.expect_running(&site)?;
    report.window("full_", &full);
    ratios(&mut report, &empty, &full);
    report.count("run_failures_count", workload.failures());
    drop(workload);
    report.count("server_memory_peak_bytes", server.process().memory_peak_bytes()?);
    report.figure("server_stop_ms", server.stop().await?.as_secs_f64() * 1e3);
    Ok(report)
}

async fn measure(workload: &Workload, options: &Options) -> Result<Window> {
    tokio::time::sleep(Duration::from_millis(SETTLE_MS)).await;
    workload.run(Kind::W1, Until::Workflows(options.warmup)).await?;
    workload.run(Kind::W1, Until::Workflows(options.window)).await
}

/// Fills in steps and says on stderr how each went, so a slope shows before the run is over.
async fn fill(workload: &Workload, options: &Options, report: &mut Report) -> Result<u64> {
    let kind = if options.open { Kind::Open } else { Kind::W1 };
    report.text("fill_kind", kind.name());
    let mut filled = 0;
    let mut unfinished = 0;
    let mut fill_s = 0.0;
    for step in 1..=FILL_STEPS {
        let wanted = options.executions * step / FILL_STEPS - filled;
        let window = workload.run(kind, Until::Workflows(wanted)).await?;
        filled += window.started.workflows;
        fill_s += window.elapsed_s();
        let server_us = window.spent.server.as_secs_f64() * 1e6;
        eprintln!(
            "filled {filled} of {}: {:.0} workflows/s, server CPU {:.1} us per workflow",
            options.executions,
            window.workflows_per_s(),
            per(server_us, window.started.workflows),
        );
        unfinished += window.started.unfinished;
        anyhow::ensure!(window.started.workflows > 0, "no start was answered while filling");
    }
    report.count("fill_workflows_count", filled);
    report.figure("fill_elapsed_s", fill_s);
    report.figure("fill_workflows_per_s", filled as f64 / fill_s);
    report.problems("fill_workflows_unfinished_count", unfinished);
    Ok(filled)
}

/// Full divided by empty: 1.0 is flat. CPU above one and rate below one are growth.
fn ratios(report: &mut Report, empty: &Window, full: &Window) {
    let cpu = full.server_cpu_us_per_task() / empty.server_cpu_us_per_task();
    report.figure("full_to_empty_server_cpu_per_task_ratio", cpu);
    let rate = full.tasks_per_s() / empty.tasks_per_s();
    report.figure("full_to_empty_tasks_per_s_ratio", rate);
}
