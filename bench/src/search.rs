//! # Search: how long the common searches take when there is much to search
//!
//! Fills a server, waits until everything can be found, then sends each search again and again over
//! one connection. Every answer is held against what was put in: a fast wrong count is no figure.
//! **May not:** read the index; how large its file is, is all that is known of it.

mod filling;
mod queries;

use std::num::NonZeroUsize;
use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use serde::Deserialize;

use self::filling::Filled;
pub(crate) use self::filling::fill;
use self::queries::Query;
use crate::disk;
use crate::http::{Call, Client};
use crate::process::Reading;
use crate::report::{Report, Row, millis, percentile, sorted};
use crate::server::{Server, ServerOptions, Site};
use crate::tally::Tally;

/// The promise: the slowest search in a hundred answers sooner.
const P99_MS_BELOW: f64 = 100.0;
const INDEX_FILE: &str = "semel-index.db";
const WARNING: &str = "x-semel-warning";
/// Filling a million leaves minutes of words to index.
const INDEXED_WAIT_S_MAX: u64 = 3600;

#[derive(clap::Args)]
pub(crate) struct Options {
    #[command(flatten)]
    server: ServerOptions,
    /// Clients that start executions while filling.
    #[arg(long, default_value = "64")]
    clients: NonZeroUsize,
    /// Executions to search; children of one in a hundred come on top.
    #[arg(long, default_value_t = 1_000_000, value_parser = clap::value_parser!(u64).range(10_000..))]
    executions: u64,
    /// How often each search is sent.
    #[arg(long, default_value = "200")]
    rounds: NonZeroUsize,
}

/// The part of an answer that is checked.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Found {
    total_hits: u64,
    results: Vec<serde::de::IgnoredAny>,
}

pub(crate) async fn run(options: &Options) -> Result<Report> {
    let mut report = Report::default();
    report.text("command", "search");
    let site = Site::prepare(&options.server)?;
    report.fdatasync(disk::probe_fdatasync(site.directory())?);
    let mut server = Server::start(&site).await?;
    let tally = Arc::new(Tally::default());
    let mut client = Client::new(server.address, Arc::clone(&tally));
    let begun = Instant::now();
    let filled = fill(server.address, &tally, options.clients, options.executions).await?;
    server.expect_running(&site)?;
    let fill_s = begun.elapsed().as_secs_f64();
    report.count("executions_count", filled.executions());
    report.figure("fill_elapsed_s", fill_s);
    report.figure("fill_starts_per_s", filled.starts as f64 / fill_s);

    let queries = queries::common(&filled);
    let begun = Instant::now();
    wait_indexed(&mut client, &filled).await?;
    server.expect_running(&site)?;
    report.figure("index_behind_fill_s", begun.elapsed().as_secs_f64());
    let before = Reading::of(server.process())?;
    let mut rows = Vec::with_capacity(queries.len());
    let mut slowest_ms: f64 = 0.0;
    let mut wrong = 0;
    for query in &queries {
        let measured = measure(&mut client, query, options.rounds).await?;
        wrong += measured.wrong;
        slowest_ms = slowest_ms.max(measured.p99_ms);
        rows.push(measured.row);
    }
    report.busy("", &Reading::of(server.process())?.since(&before));
    report.table("searches", rows);
    report.figure("slowest_p99_ms", slowest_ms);
    report.bar("slowest_p99_ms", slowest_ms, P99_MS_BELOW);
    report.problems("answers_wrong_count", wrong);
    report.problems("run_failures_count", tally.read().failures());

    report.count("server_memory_peak_bytes", server.process().memory_peak_bytes()?);
    report.figure("server_stop_ms", server.stop().await?.as_secs_f64() * 1e3);
    let index_bytes = disk::size_bytes_named(&site.data(), INDEX_FILE)?;
    report.count("index_bytes", index_bytes);
    report.figure("index_bytes_per_execution", index_bytes as f64 / filled.executions() as f64);
    report.count("data_bytes", disk::size_bytes(&site.data())?);
    Ok(report)
}

/// A search by words waits for the whole index, and says with a header that it gave up waiting.
async fn wait_indexed(client: &mut Client, filled: &Filled) -> Result<()> {
    let begun = Instant::now();
    let call = Call::get("/api/workflow/search?size=1&freeText=nowhere")?;
    let all = Call::get("/api/workflow/search?size=1")?;
    loop {
        let is_complete = client.send(&call).await?.header(WARNING).is_none();
        // Children close after the start of their parent was answered.
        if is_complete && found(&client.send(&all).await?.body)?.total_hits == filled.executions() {
            return Ok(());
        }
        if begun.elapsed() > Duration::from_secs(INDEXED_WAIT_S_MAX) {
            bail!("the index was still behind after {INDEXED_WAIT_S_MAX} s");
        }
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
}

struct Measured {
    row: Row,
    p99_ms: f64,
    wrong: u64,
}

async fn measure(client: &mut Client, query: &Query, rounds: NonZeroUsize) -> Result<Measured> {
    let calls: Vec<Call> = query.paths.iter().map(|path| Call::get(path)).collect::<Result<_>>()?;
    let mut latencies = Vec::with_capacity(rounds.get());
    let mut wrong = 0;
    let mut hits = 0;
    for call in calls.iter().cycle().take(rounds.get()) {
        let begun = Instant::now();
        let answer = client.send(call).await?;
        latencies.push(begun.elapsed());
        let found = found(&answer.body)?;
        hits = found.total_hits;
        let is_right = query.hits.is(hits) && !found.results.is_empty();
        if !is_right && wrong == 0 {
            let (name, size) = (query.name, found.results.len());
            eprintln!("{name}: {hits} hits, {size} on the page; expected {:?}", query.hits);
        }
        wrong += u64::from(!is_right || answer.header(WARNING).is_some());
    }
    let latencies = sorted(latencies);
    let p99_ms = millis(percentile(&latencies, 99.0));
    let mut row = Row::default();
    row.text("search", query.name);
    row.count("hits", hits);
    row.figure("p50_ms", millis(percentile(&latencies, 50.0)));
    row.figure("p99_ms", p99_ms);
    row.figure("max_ms", millis(percentile(&latencies, 100.0)));
    Ok(Measured { row, p99_ms, wrong })
}

fn found(body: &[u8]) -> Result<Found> {
    serde_json::from_slice(body).context("a search answer does not parse")
}
