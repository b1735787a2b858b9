//! # Churn: whether tables of PostgreSQL stay the size of what is in them
//!
//! W1 until so many tasks are done, looked at after every tenth, when nothing is under way. What waits
//! for somebody is written, changed and deleted all the time: those tables must not grow with what has
//! passed through them. The others keep history: what a task adds to them is the figure.

use std::num::NonZeroUsize;
use std::time::Duration;

use anyhow::{Context, Result};

use crate::definitions::Kind;
use crate::disk;
use crate::postgres::{Postgres, SECRETS_KEY, STATISTICS_AFTER, TableState};
use crate::report::{Report, Row};
use crate::server::{Server, ServerOptions, Site};
use crate::starters::Until;
use crate::w1::describe;
use crate::workers::WorkerOptions;
use crate::workload::{Workload, per};

const DATABASE: &str = "churn";
const TENTHS: u64 = 10;
const TASKS_OF_W1: u64 = 3;
/// What is in them is gone a moment later.
const QUEUES: [&str; 4] = ["deliveries", "messages", "placeholders", "lanes"];
/// What is in them stays as long as what it is about.
const KEPT: [&str; 8] =
    ["executions", "journal", "limits", "polls", "records", "runs", "snapshots", "tasks"];

#[derive(clap::Args)]
pub(crate) struct Options {
    #[command(flatten)]
    server: ServerOptions,
    #[command(flatten)]
    workers: WorkerOptions,
    /// Clients that start executions, each waiting for its own.
    #[arg(long, default_value = "64")]
    clients: NonZeroUsize,
    /// Tasks in all.
    #[arg(long, default_value_t = 1_000_000, value_parser = clap::value_parser!(u64).range(100..))]
    tasks: u64,
}

/// One tenth of the tasks, and how things were after it.
struct Tenth {
    tasks_per_s: f64,
    node_cpu_us: f64,
    database_cpu_us: f64,
    tables: Vec<TableState>,
}

impl Tenth {
    fn table(&self, name: &str) -> Option<&TableState> {
        self.tables.iter().find(|table| table.name == name)
    }

    fn bytes(&self, name: &str) -> f64 {
        self.table(name).map_or(f64::NAN, |table| table.bytes() as f64)
    }
}

pub(crate) async fn run(options: &Options) -> Result<Report> {
    let mut report = Report::default();
    report.text("command", "churn");
    describe(&mut report, options.clients, &options.workers);
    let site = Site::prepare(&options.server)?;
    report.fdatasync(disk::probe_fdatasync(site.directory())?);
    let postgres = Postgres::start(site.directory())?;
    let url = postgres.database(DATABASE)?;
    let mut server =
        Server::start_with(&site, &["--store", &url, "--secrets-key", SECRETS_KEY]).await?;
    let (address, process) = (server.address, server.process());
    let workload = Workload::begin(&[address], process, options.clients, &options.workers).await?;
    let mut tenths = Vec::new();
    for number in 1..=TENTHS {
        let tenth = tenth(options, &postgres, &workload, &mut report).await;
        let tenth = tenth.with_context(|| format!("tenth {number}"))?;
        eprintln!("{number} of {TENTHS}: {:.0} tasks/s", tenth.tasks_per_s);
        tenths.push(tenth);
    }
    server.expect_running(&site)?;
    report.count("run_failures_count", workload.failures());
    drop(workload);
    tell(&mut report, &tenths, options.tasks);
    server.stop().await?;
    Ok(report)
}

async fn tenth(
    options: &Options,
    postgres: &Postgres,
    workload: &Workload,
    report: &mut Report,
) -> Result<Tenth> {
    let executions = options.tasks.div_ceil(TENTHS * TASKS_OF_W1);
    let before = postgres.cpu()?;
    let window = workload.run(Kind::W1, Until::Workflows(executions)).await?;
    let database = postgres.cpu()?.saturating_sub(before);
    report.check_quietly(&window);
    tokio::time::sleep(STATISTICS_AFTER).await;
    let us = |cpu: Duration| per(cpu.as_secs_f64() * 1e6, window.counts.tasks);
    Ok(Tenth {
        tasks_per_s: window.tasks_per_s(),
        node_cpu_us: window.server_cpu_us_per_task(),
        database_cpu_us: us(database),
        tables: postgres.tables(DATABASE)?,
    })
}

fn tell(report: &mut Report, tenths: &[Tenth], tasks: u64) {
    let (Some(first), Some(last)) = (tenths.first(), tenths.last()) else { return };
    report.count("tasks_count", tasks);
    for (name, tenth) in [("first", first), ("last", last)] {
        report.figure(&format!("{name}_tenth_tasks_per_s"), tenth.tasks_per_s);
        report.figure(&format!("{name}_tenth_node_cpu_us_per_task"), tenth.node_cpu_us);
        report.figure(&format!("{name}_tenth_database_cpu_us_per_task"), tenth.database_cpu_us);
    }
    report.figure("last_to_first_rate_ratio", last.tasks_per_s / first.tasks_per_s);
    let cpu = last.database_cpu_us / first.database_cpu_us;
    report.figure("last_to_first_database_cpu_ratio", cpu);
    for name in QUEUES {
        report.figure(&format!("{name}_first_tenth_bytes"), first.bytes(name));
        report.figure(&format!("{name}_bytes"), last.bytes(name));
        let ratio = last.bytes(name) / first.bytes(name);
        report.figure(&format!("{name}_last_to_first_bytes_ratio"), ratio);
    }
    for name in KEPT {
        let grown = last.bytes(name) - first.bytes(name);
        let each = per(grown, tasks - tasks / TENTHS);
        report.figure(&format!("{name}_bytes_per_task"), each);
    }
    report.table("tables", tables(last));
    report.table("tenths", tenths.iter().zip(1..).map(course).collect());
}

fn tables(tenth: &Tenth) -> Vec<Row> {
    let named = QUEUES.iter().chain(&KEPT).filter_map(|name| tenth.table(name));
    named
        .map(|table| {
            let mut row = Row::default();
            row.text("table", &table.name);
            row.count("table_bytes", table.table_bytes);
            row.count("indexes_bytes", table.indexes_bytes);
            row.count("live_rows", table.live_rows);
            row.count("dead_rows", table.dead_rows);
            row.count("autovacuums", table.autovacuums);
            row.figure("hot_updates_share", table.hot_updates_share);
            row
        })
        .collect()
}

fn course((tenth, number): (&Tenth, u64)) -> Row {
    let mut row = Row::default();
    row.text("tenth", &number.to_string());
    row.figure("tasks_per_s", tenth.tasks_per_s);
    row.figure("node_cpu_us", tenth.node_cpu_us);
    row.figure("database_cpu_us", tenth.database_cpu_us);
    for name in QUEUES {
        row.figure(&format!("{name}_kib"), tenth.bytes(name) / 1024.0);
    }
    row.count("deliveries_dead", tenth.table("deliveries").map_or(0, |table| table.dead_rows));
    row
}
