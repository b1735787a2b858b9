//! # Keys: what a duplicate costs, and whether many keys slow a lookup
//!
//! First starts, the same starts again, then lookups with few keys in the store and with many; the
//! ratios are the figures.
//! **May not:** compare with another run: disk and neighbours differ, the ratio cancels them.

use std::net::SocketAddr;
use std::num::NonZeroUsize;
use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use anyhow::{Result, ensure};
use tokio::task::JoinSet;

use crate::disk;
use crate::http::{Call, Client};
use crate::process::{Reading, Spent};
use crate::report::{Report, millis, percentile, sorted};
use crate::server::{Server, ServerOptions, Site};
use crate::tally::Tally;
use crate::workload::per;

/// One worker task, so that a first start costs what a start costs.
const STARTED: &str = "keyed_start";
/// Over at once: only its key is to stay.
const RESIDENT: &str = "keyed_resident";
const OUTCOME: &str = "x-idempotency-outcome";
/// Neighbours in a walk over all keys lie far apart; a prime, so that it visits all of them.
const STRIDE: u64 = 7_368_787;
/// A server that needs next to nothing for so long has nothing left to do.
const QUIET_FOR: Duration = Duration::from_secs(1);

#[derive(clap::Args)]
pub(crate) struct Options {
    #[command(flatten)]
    server: ServerOptions,
    /// Connections that start and look.
    #[arg(long, default_value = "64")]
    clients: NonZeroUsize,
    /// Starts of one window.
    #[arg(long, default_value_t = 20_000)]
    window: u64,
    /// Starts of a window with one connection.
    #[arg(long, default_value_t = 2_000)]
    alone: u64,
    /// Keys in the store at the first look.
    #[arg(long, default_value_t = 10_000, value_parser = clap::value_parser!(u64).range(1..))]
    few: u64,
    /// Keys in the store at the second look.
    #[arg(long, default_value_t = 1_000_000, value_parser = clap::value_parser!(u64).range(1..))]
    many: u64,
    /// Lookups of one look.
    #[arg(long, default_value_t = 20_000)]
    lookups: u64,
}

/// What a window asks for, by number.
type Ask = fn(u64, &Walk) -> Result<(Call, Option<&'static str>)>;

/// Which keys there are.
struct Walk {
    keys: u64,
}

/// How a window went.
struct Window {
    count: u64,
    elapsed: Duration,
    /// CPU of the server, until it had nothing left to do.
    server: Duration,
    /// CPU of this process meanwhile, which shares the cores with the server.
    generator: Duration,
    /// CPU of both until the last answer: what the rate is limited by once all cores are busy.
    busy: Duration,
    latencies: Vec<Duration>,
}

impl Window {
    fn per_s(&self) -> f64 {
        self.count as f64 / self.elapsed.as_secs_f64()
    }

    fn cpu_us(&self) -> f64 {
        per(self.server.as_secs_f64() * 1e6, self.count)
    }

    fn busy_us(&self) -> f64 {
        per(self.busy.as_secs_f64() * 1e6, self.count)
    }

    fn p50_ms(&self) -> f64 {
        millis(percentile(&self.latencies, 50.0))
    }

    fn tell(&self, report: &mut Report, prefix: &str) {
        report.figure(&format!("{prefix}_per_s"), self.per_s());
        report.figure(&format!("{prefix}_server_cpu_us"), self.cpu_us());
        let generator_us = per(self.generator.as_secs_f64() * 1e6, self.count);
        report.figure(&format!("{prefix}_generator_cpu_us"), generator_us);
        report.figure(&format!("{prefix}_busy_cpu_us"), self.busy_us());
        report.figure(&format!("{prefix}_p50_ms"), self.p50_ms());
        report.figure(&format!("{prefix}_p99_ms"), millis(percentile(&self.latencies, 99.0)));
    }
}

pub(crate) async fn run(options: &Options) -> Result<Report> {
    let mut report = Report::default();
    report.text("command", "keys");
    report.count("clients_count", options.clients.get() as u64);
    let site = Site::prepare(&options.server)?;
    report.fdatasync(disk::probe_fdatasync(site.directory())?);
    let mut server = Server::start(&site).await?;
    define(server.address).await?;
    let clients = options.clients.get();
    let window = |numbers, ask, keys| measure(&server, clients, numbers, ask, Walk { keys });
    let alone = |ask| {
        let numbers = options.window..options.window + options.alone;
        measure(&server, 1, numbers, ask, Walk { keys: options.window })
    };

    let first = window(0..options.window, first_start, options.window).await?;
    first.tell(&mut report, "first_start");
    let again = window(0..options.window, repeated_start, options.window).await?;
    again.tell(&mut report, "duplicate_start");
    compare(&mut report, "duplicate_to_first", &first, &again);
    let first = alone(first_start).await?;
    first.tell(&mut report, "first_start_alone");
    let again = alone(repeated_start).await?;
    again.tell(&mut report, "duplicate_start_alone");
    compare(&mut report, "duplicate_to_first_alone", &first, &again);

    fill(&server, options, 0, options.few).await?;
    let few = window(0..options.lookups, look_up, options.few).await?;
    few.tell(&mut report, "lookup_few");
    fill(&server, options, options.few, options.many).await?;
    report.count("resident_keys_count", options.many.max(options.few));
    let many = window(0..options.lookups, look_up, options.many).await?;
    many.tell(&mut report, "lookup_many");
    compare(&mut report, "lookup_many_to_few", &few, &many);
    let late = window(0..options.lookups, repeated_resident, options.many).await?;
    late.tell(&mut report, "duplicate_many");
    server.expect_running(&site)?;
    report.count("server_memory_peak_bytes", server.process().memory_peak_bytes()?);
    report.figure("server_stop_ms", server.stop().await?.as_secs_f64() * 1e3);
    Ok(report)
}

/// The ratios of rates and of CPU; they are 1 where both windows cost the same.
fn compare(report: &mut Report, prefix: &str, first: &Window, again: &Window) {
    report.figure(&format!("{prefix}_rate_ratio"), again.per_s() / first.per_s());
    report.figure(&format!("{prefix}_server_cpu_ratio"), again.cpu_us() / first.cpu_us());
    report.figure(&format!("{prefix}_busy_cpu_ratio"), again.busy_us() / first.busy_us());
    report.figure(&format!("{prefix}_p50_ratio"), again.p50_ms() / first.p50_ms());
}

async fn define(address: SocketAddr) -> Result<()> {
    let mut client = Client::new(address, Arc::new(Tally::default()));
    for (name, kind) in [(STARTED, "SIMPLE"), (RESIDENT, "NOOP")] {
        let body = format!(
            r#"{{"name":"{name}","version":1,"schemaVersion":2,"tasks":[{{"name":"{name}","taskReferenceName":"only","type":"{kind}"}}]}}"#
        );
        client.send(&Call::post("/api/metadata/workflow?overwrite=true", body)?).await?;
    }
    Ok(())
}

fn start(name: &str, key: u64) -> Result<Call> {
    let body = format!(
        r#"{{"name":"{name}","version":1,"idempotencyKey":"key-{key}","idempotencyStrategy":"RETURN_EXISTING","input":{{"order":{key}}}}}"#
    );
    Call::post("/api/workflow", body)
}

fn first_start(number: u64, _: &Walk) -> Result<(Call, Option<&'static str>)> {
    Ok((start(STARTED, number)?, Some("CREATED")))
}

fn repeated_start(number: u64, _: &Walk) -> Result<(Call, Option<&'static str>)> {
    Ok((start(STARTED, number)?, Some("RETURNED_EXISTING")))
}

fn resident_start(number: u64, _: &Walk) -> Result<(Call, Option<&'static str>)> {
    Ok((start(RESIDENT, number)?, Some("CREATED")))
}

fn repeated_resident(number: u64, walk: &Walk) -> Result<(Call, Option<&'static str>)> {
    Ok((start(RESIDENT, walk.key(number))?, Some("RETURNED_EXISTING")))
}

fn look_up(number: u64, walk: &Walk) -> Result<(Call, Option<&'static str>)> {
    let key = walk.key(number);
    Ok((Call::get(&format!("/api/idempotency/workflow/{RESIDENT}/key-{key}"))?, None))
}

impl Walk {
    fn key(&self, number: u64) -> u64 {
        number.wrapping_mul(STRIDE) % self.keys
    }
}

async fn fill(server: &Server, options: &Options, from: u64, to: u64) -> Result<()> {
    let begun = Instant::now();
    let (clients, numbers) = (options.clients.get(), from..to.max(from));
    let filled = race(server.address, clients, numbers, resident_start, Walk { keys: to });
    let count = filled.await?.len();
    quiet(server).await?;
    eprintln!("{count} more keys after {:.0} s", begun.elapsed().as_secs_f64());
    Ok(())
}

/// Waits until the server has done what was left to it, the search index above all.
async fn quiet(server: &Server) -> Result<()> {
    loop {
        let before = Reading::of(server.process())?;
        tokio::time::sleep(QUIET_FOR).await;
        let spent = Reading::of(server.process())?.since(&before);
        if spent.server < QUIET_FOR / 20 {
            return Ok(());
        }
    }
}

async fn measure(
    server: &Server,
    clients: usize,
    numbers: Range<u64>,
    ask: Ask,
    walk: Walk,
) -> Result<Window> {
    let before = Reading::of(server.process())?;
    let latencies = race(server.address, clients, numbers, ask, walk).await?;
    let meanwhile = Reading::of(server.process())?.since(&before);
    let Spent { elapsed, generator, .. } = meanwhile;
    let busy = meanwhile.server + generator;
    quiet(server).await?;
    let server = Reading::of(server.process())?.since(&before).server;
    let count = latencies.len() as u64;
    Ok(Window { count, elapsed, server, generator, busy, latencies: sorted(latencies) })
}

/// All connections take the next number until there is none; each answer must be the expected one.
async fn race(
    address: SocketAddr,
    clients: usize,
    numbers: Range<u64>,
    ask: Ask,
    walk: Walk,
) -> Result<Vec<Duration>> {
    let (next, walk) = (Arc::new(AtomicU64::new(numbers.start)), Arc::new(walk));
    let tally = Arc::new(Tally::default());
    let mut racing = JoinSet::new();
    for _ in 0..clients {
        let (next, walk) = (Arc::clone(&next), Arc::clone(&walk));
        let mut client = Client::new(address, Arc::clone(&tally));
        let end = numbers.end;
        racing.spawn(async move {
            let mut latencies = Vec::new();
            loop {
                let number = next.fetch_add(1, Ordering::Relaxed);
                if number >= end {
                    return Ok(latencies);
                }
                let (call, expected) = ask(number, &walk)?;
                let begun = Instant::now();
                let answer = client.send(&call).await?;
                latencies.push(begun.elapsed());
                let outcome = answer.header(OUTCOME);
                ensure!(outcome == expected, "start {number} was answered {outcome:?}");
            }
        });
    }
    let mut all = Vec::new();
    while let Some(done) = racing.join_next().await {
        let latencies: Result<Vec<Duration>> = done?;
        all.extend(latencies?);
    }
    Ok(all)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn a_walk_visits_every_key() {
        let walk = Walk { keys: 10_000 };
        let seen: BTreeSet<u64> = (0..10_000).map(|number| walk.key(number)).collect();
        assert_eq!(seen.len(), 10_000);
    }
}
