//! # Values: from text to what a key means
//!
//! One function per kind of value. The error says what is expected; the caller adds key and source.
//! **May not:** know where the text came from.

use std::fmt::Display;
use std::net::{IpAddr, SocketAddr};
use std::ops::RangeInclusive;
use std::path::PathBuf;
use std::str::FromStr;

use ipnet::IpNet;
use semel_model::KeyHosts;
use semel_runtime::SecretsKey;
use tracing_subscriber::EnvFilter;

use crate::machine_memory::BYTES_MIN;

/// A pebibyte is no machine of ours.
const MEMORY_LIMIT: u64 = 1 << 50;

/// Where executions are kept.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Store {
    /// One file in the data directory.
    Sqlite,
    /// This process; gone when it ends.
    Memory,
    /// A database, shared with other nodes.
    Postgres(DatabaseUrl),
}

/// The address of a database. Its password is never shown.
#[derive(Clone, PartialEq, Eq)]
pub struct DatabaseUrl(String);

impl DatabaseUrl {
    /// With everything that is needed to get in.
    pub fn reveal(&self) -> &str {
        &self.0
    }
}

impl std::fmt::Display for DatabaseUrl {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&super::error::masked(&self.0))
    }
}

impl std::fmt::Debug for DatabaseUrl {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        std::fmt::Display::fmt(self, f)
    }
}

/// How log lines look.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LogFormat {
    /// For people.
    Text,
    /// One object per line, for machines.
    Json,
}

pub(super) fn address(text: &str) -> Result<SocketAddr, String> {
    text.parse().map_err(|_| "expected an address and port such as 127.0.0.1:8080".to_owned())
}

pub(super) fn path(text: &str) -> Result<PathBuf, String> {
    if text.is_empty() {
        return Err("expected a directory".to_owned());
    }
    Ok(PathBuf::from(text))
}

pub(crate) fn store(text: &str) -> Result<Store, String> {
    match text {
        "sqlite" => Ok(Store::Sqlite),
        "memory" => Ok(Store::Memory),
        _ if text.starts_with("postgres://") || text.starts_with("postgresql://") => {
            Ok(Store::Postgres(DatabaseUrl(text.to_owned())))
        }
        _ => {
            Err("expected sqlite, memory, or postgres://USER:PASSWORD@HOST:PORT/DATABASE"
                .to_owned())
        }
    }
}

pub(super) fn node(text: &str) -> Result<Option<String>, String> {
    const NAME_CHARS_MAX: usize = 100;
    match text.chars().count() <= NAME_CHARS_MAX && !text.contains('\0') {
        true => Ok((!text.is_empty()).then(|| text.to_owned())),
        false => Err(format!("expected a name of at most {NAME_CHARS_MAX} characters")),
    }
}

pub(super) fn number<T>(text: &str, range: RangeInclusive<T>, unit: &str) -> Result<T, String>
where
    T: FromStr + PartialOrd + Display,
{
    text.parse().ok().filter(|number| range.contains(number)).ok_or_else(|| {
        format!("expected a whole number of {unit} from {} to {}", range.start(), range.end())
    })
}

/// 0 leaves it to the machine.
pub(super) fn memory(text: &str) -> Result<u64, String> {
    let is_enough = |bytes: &u64| *bytes == 0 || (BYTES_MIN..=MEMORY_LIMIT).contains(bytes);
    text.parse().ok().filter(is_enough).ok_or_else(|| {
        format!("expected 0 or a whole number of bytes from {BYTES_MIN} to {MEMORY_LIMIT}")
    })
}

pub(super) fn switch(text: &str) -> Result<bool, String> {
    text.parse().map_err(|_| "expected true or false".to_owned())
}

pub(super) fn origins(text: &str) -> Result<Vec<String>, String> {
    let origins = text.split(',').map(str::trim).filter(|origin| !origin.is_empty());
    origins.map(|origin| is_origin(origin).then(|| origin.to_owned())).collect::<Option<_>>().ok_or(
        "expected origins without a path, comma separated, such as https://ui.example.com"
            .to_owned(),
    )
}

/// Names of hosts that honour keys.
pub(super) fn hosts(text: &str) -> Result<KeyHosts, String> {
    own_hosts(text).map(|hosts| hosts.into_iter().collect())
}

/// Names of hosts, not addresses of pages.
pub(super) fn own_hosts(text: &str) -> Result<Vec<String>, String> {
    let hosts = text.split(',').map(str::trim).filter(|host| !host.is_empty());
    let is_host = |host: &&str| {
        let plain = host.strip_prefix("*.").unwrap_or(host);
        let is_known = |c: char| c.is_ascii_alphanumeric() || "-._:[]".contains(c);
        !plain.is_empty() && plain.chars().all(is_known)
    };
    let hosts: Vec<&str> = hosts.collect();
    match hosts.iter().find(|host| !(is_host(host) && semel_api::is_host(host))) {
        None => Ok(hosts.into_iter().map(str::to_owned).collect()),
        Some(wrong) => Err(format!(
            "expected hosts, comma separated, such as api.example.com, api.example.com:8443, [::1] or \
             *.example.com; {wrong} is none"
        )),
    }
}

pub(super) fn ranges(text: &str) -> Result<Vec<IpNet>, String> {
    let ranges = text.split(',').map(str::trim).filter(|range| !range.is_empty());
    // One address is the smallest range.
    let range =
        |text: &str| text.parse().ok().or_else(|| Some(IpNet::from(text.parse::<IpAddr>().ok()?)));
    ranges.map(range).collect::<Option<_>>().ok_or_else(|| {
        "expected ranges of addresses, comma separated, such as 10.1.0.0/16 or fd12::/48".to_owned()
    })
}

/// Where a path of the API begins.
pub(super) fn paths(text: &str) -> Result<Vec<String>, String> {
    let paths = text.split(',').map(str::trim).filter(|path| !path.is_empty());
    let is_path = |path: &str| {
        let is_ours = path == "/api" || path.starts_with("/api/");
        is_ours && path.chars().all(|c| c.is_ascii_graphic() && !"?#".contains(c))
    };
    paths.map(|path| is_path(path).then(|| path.to_owned())).collect::<Option<_>>().ok_or(
        "expected paths of the API, comma separated, such as /api/workflow,/api/metadata"
            .to_owned(),
    )
}

/// Browsers send scheme, host and port, nothing after; anything else would never match.
fn is_origin(text: &str) -> bool {
    let host = text.strip_prefix("https://").or_else(|| text.strip_prefix("http://"));
    host.is_some_and(|host| {
        !host.is_empty() && host.chars().all(|c| c.is_ascii_graphic() && !"/?#@*".contains(c))
    })
}

/// Spans leave in plain HTTP, to a collector nearby; it may send them on as it likes.
pub(super) fn collector(text: &str) -> Result<Option<String>, String> {
    if text.is_empty() {
        return Ok(None);
    }
    if cfg!(not(feature = "otlp")) {
        return Err("this build cannot send spans; leave it empty".to_owned());
    }
    let host = text.strip_prefix("http://").filter(|host| {
        !host.is_empty() && host.chars().all(|c| c.is_ascii_graphic() && !"?#@".contains(c))
    });
    host.map(|_| Some(text.trim_end_matches('/').to_owned())).ok_or_else(|| {
        "expected the address of a collector that speaks HTTP without TLS, such as \
         http://127.0.0.1:4318"
            .to_owned()
    })
}

pub(super) fn secrets_keys(text: &str) -> Result<Vec<SecretsKey>, String> {
    let keys = text.split(',').map(str::trim).filter(|key| !key.is_empty());
    keys.map(SecretsKey::read).collect::<Option<_>>().ok_or(
        "expected 32 bytes in base64 or hex, such as `openssl rand -base64 32` prints; \
         several keys comma separated"
            .to_owned(),
    )
}

pub(super) fn log_filter(text: &str) -> Result<String, String> {
    match EnvFilter::try_new(text) {
        Ok(_) if !text.trim().is_empty() => Ok(text.to_owned()),
        _ => Err("expected error, warn, info, debug, trace, off, or a filter such as \
                  info,semel_api=debug"
            .to_owned()),
    }
}

pub(super) fn log_format(text: &str) -> Result<LogFormat, String> {
    match text {
        "text" => Ok(LogFormat::Text),
        "json" => Ok(LogFormat::Json),
        _ => Err("expected text or json".to_owned()),
    }
}
