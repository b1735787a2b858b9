//! # Check-up: would a server start on this directory, and is it well?
//!
//! Each look is one finding: what was looked at, how it is, what to do. **May not:** change
//! anything; a server may be running on the directory.

use std::cmp::Ordering;
use std::path::Path;
use std::time::{SystemTime, UNIX_EPOCH};

use semel_runtime::{KeyRing, unopened_among};
use semel_store_postgres::Schema;
use semel_store_sqlite::{
    AHEAD_MS_MAX, Look, OpenError, Shared, examine_beside, is_held, look, shared,
};

use crate::config::{Config, Store};
use crate::key_file::KeyFile;

/// Less than this is no room for a log to grow.
const FREE_BYTES_FAIL: u64 = 64 << 20;
const FREE_BYTES_WARN: u64 = 1 << 30;
/// The first of January 2025: before it was written, nobody ran this.
const EPOCH_MS: i64 = 1_735_689_600_000;
/// Servers note that they are alive every two seconds at most.
const CLOCK_BEHIND_MS: i64 = 5_000;

/// From best to worst.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Level {
    Ok,
    Warn,
    Fail,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    pub check: &'static str,
    pub level: Level,
    pub says: String,
    /// What to do about it.
    pub remedy: Option<String>,
}

impl Finding {
    pub fn ok(check: &'static str, says: impl Into<String>) -> Self {
        Self { check, level: Level::Ok, says: says.into(), remedy: None }
    }

    pub fn warn(check: &'static str, says: impl Into<String>, remedy: impl Into<String>) -> Self {
        Self { check, level: Level::Warn, says: says.into(), remedy: Some(remedy.into()) }
    }

    pub fn fail(check: &'static str, says: impl Into<String>, remedy: impl Into<String>) -> Self {
        Self { check, level: Level::Fail, says: says.into(), remedy: Some(remedy.into()) }
    }
}

/// What a look at the data found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CheckUp {
    pub findings: Vec<Finding>,
    /// A process holds the directory.
    pub is_held: bool,
}

pub fn check_up(config: &Config) -> CheckUp {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    let now_ms = i64::try_from(now.as_millis()).unwrap_or(i64::MAX);
    if config.store == Store::Memory {
        let findings = vec![
            Finding::ok("data", "the store is memory: nothing is on disk, nothing survives"),
            clock(now_ms, None),
        ];
        return CheckUp { findings, is_held: false };
    }
    if let Store::Postgres(url) = &config.store {
        let findings = vec![database(url.reveal()), database_clock(url.reveal(), now_ms)];
        return CheckUp { findings, is_held: false };
    }
    let directory = &config.data;
    if !directory.is_dir() {
        return CheckUp { findings: vec![absent(directory), clock(now_ms, None)], is_held: false };
    }
    let (is_held, lock) = held(directory);
    let mut findings = vec![permissions(directory), lock, disk(directory)];
    let mut seen = None;
    match look(directory) {
        Ok(Some(found)) => {
            findings.push(schema(&found));
            findings.push(secrets(config, &found));
            seen = Some(found);
        }
        Ok(None) => {
            findings.push(Finding::ok("schema", "there is no database yet; a start makes it"));
        }
        Err(error) => findings.push(unreadable(&error)),
    }
    findings.push(files(directory));
    findings.push(scripts());
    findings.push(commits(directory));
    findings.extend(key_mode(directory));
    findings.push(clock(now_ms, seen.and_then(|seen| seen.last_at).map(|at| at.ms())));
    CheckUp { findings, is_held }
}

/// The database is reached, of the right age, and its tables are known.
fn database(url: &str) -> Finding {
    match semel_store_postgres::schema(url) {
        Ok(Schema { found, known }) => {
            let says = match found.cmp(&known) {
                Ordering::Less => format!(
                    "the database has schema {found}, this binary {known}; \
                     a start or `semel migrate` brings it there"
                ),
                Ordering::Equal => format!("the database has schema {found}"),
                Ordering::Greater => format!(
                    "the database has schema {found}, this binary {known}, \
                     which is enough to serve it; a newer release has worked on it"
                ),
            };
            Finding::ok("schema", says)
        }
        Err(error) => Finding::fail("schema", error.to_string(), "correct --store or the database"),
    }
}

/// Nodes go by the clock of the database; this machine's own has to be sane all the same.
fn database_clock(url: &str, now_ms: i64) -> Finding {
    match semel_store_postgres::clock(url) {
        Ok(Some((now, last))) => clock(now.ms(), Some(last.ms())),
        // What is wrong with the database is told by the finding about it.
        Ok(None) | Err(_) => clock(now_ms, None),
    }
}

fn absent(directory: &Path) -> Finding {
    let says = format!("{} does not exist", directory.display());
    if directory.exists() {
        let says = format!("{} is not a directory", directory.display());
        return Finding::fail("data", says, "name a directory with --data");
    }
    Finding::warn("data", says, "name the server's directory with --data; a first start makes it")
}

#[cfg(unix)]
fn permissions(directory: &Path) -> Finding {
    use rustix::fs::{Access, access};
    match access(directory, Access::READ_OK | Access::WRITE_OK | Access::EXEC_OK) {
        Ok(()) => Finding::ok("data", format!("{} may be written", directory.display())),
        Err(error) => {
            let says = format!("{} may not be written: {error}", directory.display());
            Finding::fail("data", says, "run as its owner, or change its owner with chown")
        }
    }
}

#[cfg(not(unix))]
fn permissions(directory: &Path) -> Finding {
    Finding::ok("data", format!("{} exists", directory.display()))
}

fn held(directory: &Path) -> (bool, Finding) {
    match is_held(directory) {
        Ok(true) => (true, Finding::ok("lock", "a server holds the directory")),
        Ok(false) => (false, Finding::ok("lock", "no server holds the directory")),
        Err(error) => {
            let says = format!("semel.lock cannot be read: {error}");
            (false, Finding::fail("lock", says, "run as the owner of the directory"))
        }
    }
}

#[cfg(unix)]
fn disk(directory: &Path) -> Finding {
    match rustix::fs::statvfs(directory) {
        Ok(found) => room(found.f_bavail.saturating_mul(found.f_frsize)),
        Err(error) => {
            let says = format!("the free space cannot be read: {error}");
            Finding::warn("disk", says, "look yourself, with df")
        }
    }
}

#[cfg(not(unix))]
fn disk(_: &Path) -> Finding {
    Finding::warn("disk", "the free space cannot be read on this system", "look yourself")
}

fn room(free_bytes: u64) -> Finding {
    let says = format!("{} MiB are free", free_bytes >> 20);
    let remedy =
        "free some space, or move the directory: when the disk is full, nothing is accepted";
    match free_bytes {
        0..FREE_BYTES_FAIL => Finding::fail("disk", says, remedy),
        FREE_BYTES_FAIL..FREE_BYTES_WARN => Finding::warn("disk", says, remedy),
        _ => Finding::ok("disk", says),
    }
}

/// Whether all is there that was acknowledged.
fn commits(directory: &Path) -> Finding {
    match examine_beside(directory) {
        Ok(last) if last.round == 0 => Finding::ok("commits", "nothing was committed yet"),
        Ok(last) => Finding::ok("commits", format!("none is missing; the last is {last}")),
        Err(error) => {
            let remedy =
                "do not start a server before you know why; docs/errors/commits-missing.md";
            Finding::fail("commits", chain(&error), remedy)
        }
    }
}

fn schema(found: &Look) -> Finding {
    let Look { schema, schema_known, bytes, .. } = found;
    let says = format!("schema {schema} of {schema_known}, {} MiB", bytes >> 20);
    if schema < schema_known {
        let remedy = "the next start brings it up to date; make a backup before";
        return Finding::warn("schema", says, remedy);
    }
    Finding::ok("schema", says)
}

fn unreadable(error: &OpenError) -> Finding {
    let remedy = "if the message names no remedy, restore a backup into a fresh directory";
    Finding::fail("schema", chain(error), remedy)
}

fn chain(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        text.push_str(&format!(": {error}"));
        cause = error.source();
    }
    text
}

/// Whether the keys at hand open what is sealed.
fn secrets(config: &Config, found: &Look) -> Finding {
    let stored = found.secrets.len();
    let keys = if config.secrets_key.is_empty() {
        KeyFile::of(&config.data).read().map_err(|error| chain(&error))
    } else {
        Ok(config.secrets_key.clone())
    };
    let remedy = "start with the key that sealed them (secrets.key, or --secrets-key)";
    let mut keys = match keys {
        Ok(keys) => keys.into_iter(),
        Err(says) => return Finding::fail("secrets", says, remedy),
    };
    let Some(newest) = keys.next() else {
        if stored == 0 {
            return Finding::ok("secrets", "no key and no secrets yet");
        }
        let says = format!("{stored} secrets are stored and secrets.key is missing");
        return Finding::fail("secrets", says, remedy);
    };
    let ring = KeyRing::of(newest, keys.collect());
    let documents = found.secrets.iter().map(|(name, body)| (name.as_str(), body.as_slice()));
    match unopened_among(documents, &ring) {
        Ok(closed) if closed.is_empty() => {
            Finding::ok("secrets", format!("the key opens all {stored} stored secrets"))
        }
        Ok(closed) => {
            let names = closed.into_keys().collect::<Vec<_>>().join(", ");
            Finding::fail("secrets", format!("the key does not open: {names}"), remedy)
        }
        Err(failure) => Finding::fail("secrets", chain(&failure), remedy),
    }
}

/// Whether scripts can be run, and how far their processes are confined.
fn scripts() -> Finding {
    match crate::scripts::try_one() {
        Ok(true) => Finding::ok("scripts", "their processes reach neither files nor network"),
        Ok(false) => Finding::warn(
            "scripts",
            "this system does not filter the system calls of their processes",
            "run on Linux (x86_64, aarch64, riscv64) with seccomp; until then limits of memory and time confine them",
        ),
        Err(why) => Finding::fail("scripts", why, "a child of this program must be able to start"),
    }
}

/// Whether others may use what is the owner's alone.
fn files(directory: &Path) -> Finding {
    let named = |Shared { path, mode }: &Shared| {
        let name = path.file_name().unwrap_or(path.as_os_str());
        format!("{} ({mode:03o})", name.to_string_lossy())
    };
    match shared(directory) {
        Ok(found) if found.is_empty() => {
            Finding::ok("files", "only their owner may use the directory and its files")
        }
        Ok(found) => {
            let names = found.iter().map(named).collect::<Vec<_>>().join(", ");
            let remedy = format!(
                "chmod 700 {}; a start of the server closes the files itself",
                directory.display()
            );
            Finding::warn("files", format!("others may use {names}"), remedy)
        }
        Err(error) => {
            let says = format!("the modes of the files cannot be read: {error}");
            Finding::warn("files", says, "run as the owner of the directory")
        }
    }
}

#[cfg(unix)]
fn key_mode(directory: &Path) -> Option<Finding> {
    use std::os::unix::fs::PermissionsExt as _;
    let file = KeyFile::of(directory);
    let mode = std::fs::metadata(file.path()).ok()?.permissions().mode() & 0o777;
    let says = format!("secrets.key has mode {mode:03o}");
    Some(if mode & 0o077 == 0 {
        Finding::ok("key file", says)
    } else {
        let remedy = format!("others may read it: chmod 600 {}", file.path().display());
        Finding::warn("key file", says, remedy)
    })
}

#[cfg(not(unix))]
fn key_mode(_: &Path) -> Option<Finding> {
    None
}

fn clock(now_ms: i64, last_ms: Option<i64>) -> Finding {
    let remedy = "set the clock, and keep it with NTP";
    if now_ms < EPOCH_MS {
        return Finding::fail("clock", "the clock of this machine is years behind", remedy);
    }
    let behind_ms = last_ms.map_or(0, |last| last.saturating_sub(now_ms));
    if behind_ms > AHEAD_MS_MAX {
        let says = format!("the stored data is {} days ahead of the clock", behind_ms / 86_400_000);
        let remedy = "set the clock if it is wrong; if the data is: semel set-clock-back";
        return Finding::fail("clock", says, remedy);
    }
    if behind_ms > CLOCK_BEHIND_MS {
        let says = format!("the clock is {} s behind the stored data", behind_ms / 1000);
        let remedy = format!("{remedy}; until then a server goes on from the time it stored");
        return Finding::warn("clock", says, remedy);
    }
    Finding::ok("clock", "not behind the stored data")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn little_room_is_a_warning_and_none_a_failure() {
        assert_eq!(room(FREE_BYTES_FAIL - 1).level, Level::Fail);
        assert_eq!(room(FREE_BYTES_FAIL).level, Level::Warn);
        assert_eq!(room(FREE_BYTES_WARN).level, Level::Ok);
    }

    #[test]
    fn a_clock_behind_the_data_is_noticed() {
        assert_eq!(clock(0, None).level, Level::Fail);
        let now = EPOCH_MS + 1_000_000;
        assert_eq!(clock(now, None).level, Level::Ok);
        assert_eq!(clock(now, Some(now + CLOCK_BEHIND_MS)).level, Level::Ok);
        let behind = clock(now, Some(now + 60_000));
        assert_eq!((behind.level, behind.says.contains("60 s behind")), (Level::Warn, true));
        let years = clock(now, Some(now + 10 * 365 * 86_400_000));
        assert_eq!((years.level, years.says.contains("3650 days")), (Level::Fail, true));
    }

    #[test]
    fn an_old_schema_is_a_warning() {
        let found = |schema| Look {
            schema,
            schema_known: 2,
            bytes: 0,
            last_at: None,
            secrets: std::collections::BTreeMap::new(),
        };
        assert_eq!(schema(&found(1)).level, Level::Warn);
        assert_eq!(schema(&found(2)).level, Level::Ok);
    }
}
