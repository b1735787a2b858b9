//! # `semel doctor`: is everything as it should be, and if not, what to do
//!
//! Looks at configuration, data directory and server, and changes none of them. The exit code says
//! the worst.

use std::time::SystemTime;

use clap::{Arg, ArgAction, ArgMatches, Args, Command, FromArgMatches as _};
use semel_client::{Client, ClientError};
use semel_server::{CheckUp, Config, Finding, Level, check_deeply, check_up};
use serde_json::{Value, json};

use crate::connection::Connection;
use crate::exit::{self, Verdict};
use crate::flags;
use crate::show::{Show, line};

pub(crate) const NAME: &str = "doctor";
const DEEP: &str = "deep";
const CLOCKS_APART_SECONDS: u64 = 5;

pub(crate) fn command() -> Command {
    let deep = Arg::new(DEEP).long(DEEP).action(ArgAction::SetTrue);
    let command = Command::new(NAME)
        .about("Look at configuration, data and server, and say what to do")
        .args(flags::arguments_of(&["data", "store", "listen", "secrets_key"]))
        .arg(deep.help("Read every page and every journal; takes as long as reading the data"));
    Connection::augment_args(command)
}

pub(crate) fn execute(matches: &ArgMatches) -> anyhow::Result<()> {
    let connection = Connection::from_arg_matches(matches)?;
    let mut findings = Vec::new();
    let mut data = None;
    let config = match flags::load(matches) {
        Ok((config, _)) => {
            findings.push(Finding::ok("configuration", "it can be read"));
            let CheckUp { findings: found, is_held } = check_up(&config);
            findings.extend(found);
            if matches.get_flag(DEEP) {
                findings.extend(check_deeply(&config, &mut |_| {}));
            }
            data = Some(is_held);
            Some(config)
        }
        Err(error) => {
            let says = format!("{:#}", anyhow::anyhow!(error));
            findings.push(Finding::fail("configuration", says, "see: semel config"));
            None
        }
    };
    findings.extend(server(&connection, config.as_ref(), data.unwrap_or(false)));
    print(connection.show(), &findings)?;
    match findings.iter().map(|finding| finding.level).max().unwrap_or(Level::Ok) {
        Level::Ok => Ok(()),
        Level::Warn => Err(Verdict { words: "there are warnings", code: exit::WARNED }.into()),
        Level::Fail => Err(Verdict { words: "something is wrong", code: exit::FAILED }.into()),
    }
}

fn print(show: Show, findings: &[Finding]) -> anyhow::Result<()> {
    if show.json {
        return line(&Value::from_iter(findings.iter().map(object)).to_string());
    }
    let row = |finding: &Finding| {
        let Finding { check, says, remedy, .. } = finding;
        let words = match remedy {
            Some(remedy) => format!("{says}; {remedy}"),
            None => says.clone(),
        };
        vec![word(finding.level).to_owned(), (*check).to_owned(), words]
    };
    show.table(&["", "CHECK", ""], &findings.iter().map(row).collect::<Vec<_>>())
}

fn word(level: Level) -> &'static str {
    match level {
        Level::Ok => "ok",
        Level::Warn => "warn",
        Level::Fail => "fail",
    }
}

fn object(finding: &Finding) -> Value {
    let Finding { check, level, says, remedy } = finding;
    json!({"check": check, "level": word(*level), "says": says, "remedy": remedy})
}

/// The server that was named, else the one this configuration would make.
fn server(connection: &Connection, config: Option<&Config>, is_held: bool) -> Vec<Finding> {
    let listen = config.map(|config| config.listen);
    let default = listen.map_or("http://127.0.0.1:8080".to_owned(), |at| format!("http://{at}"));
    let client = match connection.client_or(&default) {
        Ok(client) => client,
        Err(error) => return vec![Finding::fail("server", format!("{error:#}"), "see --help")],
    };
    let address = client.address();
    let health = match client.health() {
        Ok(answer) => answer,
        Err(ClientError::Unreachable { .. }) => {
            let says = format!("nothing answers at {address}");
            let is_expected = is_held || connection.names_a_server();
            return vec![match is_expected {
                true => {
                    Finding::fail("server", says, "start it, or name its address with --server")
                }
                false => Finding::warn("server", says, "start one: semel server"),
            }];
        }
        Err(error) => {
            let says = format!("{address} is not healthy: {error}");
            return vec![Finding::fail("server", says, "read the server's log; is its disk full?")];
        }
    };
    let mut findings = vec![Finding::ok("server", format!("{address} is healthy"))];
    findings.push(version(&client));
    findings.extend(health.header("date").and_then(clocks));
    findings
}

fn version(client: &Client) -> Finding {
    const OURS: &str = env!("CARGO_PKG_VERSION");
    match client.version() {
        Ok(answer) => match answer.header("x-semel-version") {
            Some(OURS) => Finding::ok("version", format!("both are {OURS}")),
            Some(theirs) => {
                let says = format!("this is {OURS}, the server is {theirs}");
                Finding::warn("version", says, "use the binary of the server's version")
            }
            None => {
                let says = format!("the server says {} and is no Semel of today", answer.text());
                Finding::warn("version", says, "is this a Semel server?")
            }
        },
        Err(error @ ClientError::Unauthorised(_)) => {
            let says = format!("the server does not say: {error}");
            Finding::warn("version", says, "give --auth-key and --auth-secret")
        }
        Err(error) => Finding::fail("version", error.to_string(), "is this a Semel server?"),
    }
}

/// None if the server's date cannot be read.
fn clocks(date: &str) -> Option<Finding> {
    let theirs = jiff::fmt::rfc2822::parse(date).ok()?.timestamp();
    let ours = jiff::Timestamp::try_from(SystemTime::now()).ok()?;
    let apart = ours.as_second().abs_diff(theirs.as_second());
    let says = format!("this machine and the server are {apart} s apart");
    Some(match apart > CLOCKS_APART_SECONDS {
        true => Finding::warn("clocks", says, "keep both with NTP"),
        false => Finding::ok("clocks", says),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clocks_that_are_apart_are_noticed() {
        assert_eq!(clocks("Mon, 16 Nov 2020 03:58:22 GMT").unwrap().level, Level::Warn);
        let now = jiff::Timestamp::now().to_zoned(jiff::tz::TimeZone::UTC);
        let now = jiff::fmt::rfc2822::to_string(&now).unwrap();
        assert_eq!(clocks(&now).unwrap().level, Level::Ok);
        assert_eq!(clocks("yesterday"), None);
    }
}
