//! # `semel server`: the orchestrator
//!
//! Settles the configuration, starts logging and hands over to the server until it stops.

use std::ffi::OsString;
use std::io::Write as _;
use std::net::SocketAddr;
use std::time::Duration;

use clap::{ArgMatches, Command};
use semel_server::{Config, Exporter, FirstKey, LogFormat, Store};

use crate::{flags, logging};

pub(crate) const NAME: &str = "server";

pub(crate) fn command() -> Command {
    Command::new(NAME).about("Run the orchestrator").args(flags::arguments())
}

pub(crate) fn execute(matches: &ArgMatches) -> anyhow::Result<()> {
    let (config, _) = flags::load(matches)?;
    let spans = config.otlp_endpoint.as_deref().map(Exporter::to).transpose()?;
    logging::start(&config, spans.as_ref())?;
    let served = run_server(config);
    if let Some(spans) = spans {
        spans.stop();
    }
    served
}

/// What reads and nothing more gets this long to come to an end.
const LOOSE_ENDS: Duration = Duration::from_secs(1);

/// Returns when the server has stopped.
fn run_server(config: Config) -> anyhow::Result<()> {
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    let served = runtime.block_on(semel_server::run(config, variables(), banner));
    // A search that nobody waits for any more must not keep the process.
    runtime.shutdown_timeout(LOOSE_ENDS);
    Ok(served?)
}

/// Those of the process, once. What is not UTF-8 cannot be a value of a workflow.
fn variables() -> Vec<(String, String)> {
    let text = |(name, value): (OsString, OsString)| {
        Some((name.into_string().ok()?, value.into_string().ok()?))
    };
    std::env::vars_os().filter_map(text).collect()
}

/// Where it listens, where data is, and whom tasks may speak to; the first thing a person wants to
/// know. A program that reads JSON lines is told the same as one of them.
fn banner(address: SocketAddr, config: &Config, first_key: Option<FirstKey>) {
    let data = match &config.store {
        Store::Postgres(url) => url.to_string(),
        Store::Sqlite => format!("{} (SQLite)", config.data.display()),
        Store::Memory => "in memory; nothing survives this process".to_owned(),
    };
    let (version, reach) = (env!("CARGO_PKG_VERSION"), reach_of_http(config));
    let names = names(address, &config.hosts);
    match config.log_format {
        LogFormat::Json => {
            tracing::info!(version, %address, names, data, http_tasks = reach, "semel");
        }
        LogFormat::Text => {
            eprintln!("semel {version}");
            eprintln!("  listening on  http://{address}");
            eprintln!("  workers use   http://{address}/api");
            eprintln!("  known as      {names}");
            eprintln!("  data          {data}");
            eprintln!("  HTTP tasks    {reach}");
        }
    }
    let note = |name: &str, words: &str| match config.log_format {
        LogFormat::Json => tracing::warn!("{words}"),
        LogFormat::Text => eprintln!("  {name:<12}  {words}"),
    };
    match first_key {
        None => {}
        Some(FirstKey::In(path)) => {
            let words = format!("in {}, for its owner only; its path is on stdout", path.display());
            note("first key", &words);
            // A closed stdout is no reason to end: the path is said above too.
            drop(writeln!(std::io::stdout(), "{}", path.display()));
        }
        Some(FirstKey::NotWritten { directory, error }) => {
            let directory = directory.display();
            let words = format!(
                "{directory} cannot be written ({error}), so nobody can come in; \
                 run `semel admin-key` with the same settings"
            );
            note("NO FIRST KEY", &words);
        }
    }
    if config.test_clock {
        note("TEST CLOCK", "POST /test/clock moves time; never use this for real work");
    }
}

/// Under which names it answers. Other machines often use one, and would be refused.
fn names(address: SocketAddr, hosts: &[String]) -> String {
    match hosts {
        [] if address.ip().is_loopback() => "addresses, localhost".to_owned(),
        [] => "addresses, localhost; other names are refused; --hosts NAME allows them".to_owned(),
        hosts => format!("addresses, localhost, {}", hosts.join(", ")),
    }
}

/// Whom HTTP tasks may speak to, and how to change that.
fn reach_of_http(config: &Config) -> String {
    if config.http_requests_max == 0 {
        return "are left to workers of your own (http_requests_max is 0)".to_owned();
    }
    match &config.http_allow[..] {
        [] => "reach public addresses only; open your network with --http-allow \
               10.0.0.0/8,172.16.0.0/12,192.168.0.0/16 (docs/http.md#addresses)"
            .to_owned(),
        opened => {
            let opened: Vec<_> = opened.iter().map(ToString::to_string).collect();
            format!("reach public addresses and {}", opened.join(", "))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_starts_it_is_told_its_names() {
        let (near, open) = (SocketAddr::from(([127, 0, 0, 1], 1)), SocketAddr::from(([0; 4], 1)));
        assert_eq!(names(near, &[]), "addresses, localhost");
        assert!(names(open, &[]).ends_with("other names are refused; --hosts NAME allows them"));
        let hosts = ["semel", "*.internal"].map(str::to_owned);
        assert_eq!(names(open, &hosts), "addresses, localhost, semel, *.internal");
    }
}
