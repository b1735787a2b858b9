//! # Fleet: what idle workers cost
//!
//! Many connections, each in a loop of long polls that find nothing. Polls are spread over one
//! timeout, as those of workers that were not started together are.
//! **May not:** hand out a task: one answer that is not empty makes the figures worthless.

use std::net::SocketAddr;
use std::num::NonZeroUsize;
use std::sync::Arc;
use std::time::Duration;

use anyhow::Result;
use tokio::task::JoinSet;

use crate::http::{Call, Client};
use crate::process::Reading;
use crate::report::Report;
use crate::server::{Server, ServerOptions, Site};
use crate::tally::{FAILURES_MAX, Tally};
use crate::workload::per;

/// The promise: a fleet of 2,000 costs less than this.
const CPU_PERCENT_BELOW: f64 = 5.0;
const MEMORY_MB_BELOW: f64 = 100.0;
const TRY_AGAIN_MS: u64 = 100;
const NOTHING: &[u8] = b"[]";

#[derive(clap::Args)]
pub(crate) struct Options {
    #[command(flatten)]
    server: ServerOptions,
    /// Connections, each polling all the time.
    #[arg(long, default_value = "2000")]
    connections: NonZeroUsize,
    /// Task types the connections are spread over.
    #[arg(long, default_value = "20")]
    task_types: NonZeroUsize,
    /// How long a poll waits for a task; the contract allows 5000.
    #[arg(long, default_value_t = 5000)]
    poll_timeout_ms: u64,
    /// Measure for this long.
    #[arg(long, default_value_t = 60)]
    seconds: u64,
}

pub(crate) async fn run(options: &Options) -> Result<Report> {
    let mut report = Report::default();
    report.text("command", "fleet");
    report.count("connections_count", options.connections.get() as u64);
    report.count("task_types_count", options.task_types.get() as u64);
    report.count("poll_timeout_ms", options.poll_timeout_ms);
    let site = Site::prepare(&options.server)?;
    let mut server = Server::start(&site).await?;
    report.count("server_memory_before_bytes", server.process().memory_resident_bytes()?);
    let tally = Arc::new(Tally::default());
    let fleet = spawn(server.address, options, &tally)?;
    // Everyone has connected and polled once before the window begins.
    tokio::time::sleep(2 * Duration::from_millis(options.poll_timeout_ms)).await;
    let (before, counted) = (Reading::of(server.process())?, tally.read());
    tokio::time::sleep(Duration::from_secs(options.seconds)).await;
    let spent = Reading::of(server.process())?.since(&before);
    let counts = tally.read().since(&counted);
    server.expect_running(&site)?;

    let elapsed_s = spent.elapsed.as_secs_f64();
    report.figure("elapsed_s", elapsed_s);
    report.count("polls_count", counts.polls);
    report.figure("polls_per_s", counts.polls as f64 / elapsed_s);
    let cpu_us = per(spent.server.as_secs_f64() * 1e6, counts.polls);
    report.figure("server_cpu_us_per_poll", cpu_us);
    let cpu_percent = 100.0 * spent.cores(spent.server);
    report.figure("server_cpu_percent", cpu_percent);
    report.busy("", &spent);
    report.count("server_memory_bytes", server.process().memory_resident_bytes()?);
    let peak_bytes = server.process().memory_peak_bytes()?;
    report.count("server_memory_peak_bytes", peak_bytes);
    report.bar("server_cpu_percent", cpu_percent, CPU_PERCENT_BELOW);
    report.bar("server_memory_peak_mb", peak_bytes as f64 / 1e6, MEMORY_MB_BELOW);
    let all = tally.read();
    report.problems("polls_not_empty_count", all.polls - all.polls_empty);
    report.problems("run_failures_count", all.failures());
    report.count("answers_throttled_count", all.answers_throttled);
    drop(fleet);
    report.figure("server_stop_ms", server.stop().await?.as_secs_f64() * 1e3);
    Ok(report)
}

/// Every connection polls until the set is dropped.
pub(crate) fn spawn(
    address: SocketAddr,
    options: &Options,
    tally: &Arc<Tally>,
) -> Result<JoinSet<()>> {
    let mut fleet = JoinSet::new();
    let connections = options.connections.get();
    for number in 0..connections {
        let task_type = number % options.task_types.get();
        let timeout_ms = options.poll_timeout_ms;
        let poll = Call::get(&format!(
            "/api/tasks/poll/batch/fleet_{task_type}?workerid=w-{number}&count=1&timeout={timeout_ms}"
        ))?;
        let client = Client::new(address, Arc::clone(tally));
        let begins_after = Duration::from_millis(timeout_ms * number as u64 / connections as u64);
        let tally = Arc::clone(tally);
        fleet.spawn(async move {
            tokio::time::sleep(begins_after).await;
            work(client, poll, &tally).await;
        });
    }
    Ok(fleet)
}

async fn work(mut client: Client, poll: Call, tally: &Tally) {
    while tally.read().failures() < FAILURES_MAX {
        let Ok(answer) = client.send(&poll).await else {
            tokio::time::sleep(Duration::from_millis(TRY_AGAIN_MS)).await;
            continue;
        };
        tally.add(|counts| {
            counts.polls += 1;
            counts.polls_empty += u64::from(answer.body == NOTHING);
        });
    }
}

#[cfg(test)]
pub(crate) fn small() -> Options {
    use clap::Parser;

    #[derive(Parser)]
    struct Line {
        #[command(flatten)]
        options: Options,
    }
    let line = "fleet --connections 10 --task-types 3 --poll-timeout-ms 20";
    Line::parse_from(line.split(' ')).options
}
