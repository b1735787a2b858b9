//! # Bench: the load generator
//!
//! Commands, each of which starts a server of its own, measures it and stops it. A bench
//! measures and never asserts on time; ratios come from one run on one machine.
//! **May use:** the public HTTP contract and /proc. **May not:** link any crate of the server.

mod churn;
mod definitions;
mod disk;
#[cfg(test)]
mod fake;
mod fleet;
mod flow;
mod growth;
mod http;
mod keys;
mod loops;
mod neighbours;
mod nodes;
mod postgres;
mod process;
mod report;
mod search;
mod server;
mod starters;
mod tally;
mod w1;
mod workers;
mod workload;

use std::process::ExitCode;
use std::time::Duration;

use anyhow::Result;
use clap::{Parser, Subcommand};

use crate::report::Report;
use crate::server::{Server, ServerOptions, Site};

const IDLE_MS: u64 = 2000;

#[derive(Parser)]
#[command(name = "semel-bench", about = "Load generator for Semel")]
struct Arguments {
    /// Print one JSON object instead of lines.
    #[arg(long, global = true)]
    json: bool,
    /// Threads of the load generator; more than one takes cores from the server.
    #[arg(long, global = true, default_value_t = 1)]
    generator_threads: usize,
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Throughput and latency of start + 3 SIMPLE tasks with external workers.
    W1(w1::Options),
    /// Cost per task on an empty store and on a full one, in one run.
    Growth(growth::Options),
    /// The common searches over a million executions, and the size of what they are searched by.
    Search(search::Options),
    /// What a fleet of idle workers in long polls costs.
    Fleet(fleet::Options),
    /// First starts against duplicates, and lookups among many keys.
    Keys(keys::Options),
    /// A thousand turns over a task of a worker, SET_VARIABLE and INLINE.
    Loop(loops::Options),
    /// What a quiet tenant feels of a bad one: dripping HTTP, patterns, definitions, loops, bombs.
    Neighbours(neighbours::Options),
    /// W1 on SQLite and on PostgreSQL with one node, two and three, and what the database does for it.
    Nodes(nodes::Options),
    /// W1 on PostgreSQL for so long that tables would grow if they did.
    Churn(churn::Options),
    /// Forks, loops, an execution of many tasks, its end, and hostile scripts.
    Flow(flow::Options),
    /// A branch of a fork of 1,000 against one of 10,000, and a probe beside the large one.
    Fork(flow::fork::Options),
    /// Time to healthy, resident memory when idle, size of the binary.
    Idle(ServerOptions),
}

fn main() -> ExitCode {
    match run(&Arguments::parse()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error:#}"); // Without a backtrace, whatever the environment asks for.
            ExitCode::FAILURE
        }
    }
}

fn run(arguments: &Arguments) -> Result<()> {
    if cfg!(debug_assertions) {
        eprintln!("this load generator is a debug build: its own CPU distorts the figures");
    }
    let mut builder = match arguments.generator_threads {
        0 | 1 => tokio::runtime::Builder::new_current_thread(),
        _ => tokio::runtime::Builder::new_multi_thread(),
    };
    let runtime =
        builder.worker_threads(arguments.generator_threads.max(1)).enable_all().build()?;
    let report = runtime.block_on(async {
        match &arguments.command {
            Command::W1(options) => w1::run(options).await,
            Command::Growth(options) => growth::run(options).await,
            Command::Search(options) => search::run(options).await,
            Command::Fleet(options) => fleet::run(options).await,
            Command::Keys(options) => keys::run(options).await,
            Command::Loop(options) => loops::run(options).await,
            Command::Neighbours(options) => neighbours::run(options).await,
            Command::Nodes(options) => nodes::run(options).await,
            Command::Churn(options) => churn::run(options).await,
            Command::Flow(options) => flow::run(options).await,
            Command::Fork(options) => flow::fork::run(options).await,
            Command::Idle(options) => idle(options).await,
        }
    })?;
    report.print(arguments.json)
}

async fn idle(options: &ServerOptions) -> Result<Report> {
    let site = Site::prepare(options)?;
    let mut report = Report::default();
    report.text("command", "idle");
    let server = Server::start(&site).await?;
    report.figure("health_after_ms", server.health_after.as_secs_f64() * 1e3);
    tokio::time::sleep(Duration::from_millis(IDLE_MS)).await;
    report.count("server_memory_idle_bytes", server.process().memory_resident_bytes()?);
    report.figure("server_cpu_since_start_ms", server.process().cpu()?.as_secs_f64() * 1e3);
    report.count("binary_bytes", site.binary_bytes()?);
    report.figure("server_stop_ms", server.stop().await?.as_secs_f64() * 1e3);
    Ok(report)
}
