//! # PostgreSQL: a server of its own for a run, and what it says about its work
//!
//! Debian's binaries, a private directory and port, durable defaults; `pg_stat_statements` is loaded to
//! count statements. **May not:** tune anything: what is measured is what somebody gets who installs it.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail, ensure};

use crate::process::Process;
use crate::server::free_address;
use crate::workload::per;

const BINARIES: &str = "/usr/lib/postgresql";
const VERSION_MIN: u32 = 15;
const START_WITHIN: Duration = Duration::from_secs(60);
const LOOK_EVERY: Duration = Duration::from_millis(50);
/// Statistics of backends are written a second after what they are about.
pub(crate) const STATISTICS_AFTER: Duration = Duration::from_millis(1_500);
/// Nodes that share a database share a key.
pub(crate) const SECRETS_KEY: &str =
    "000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f";

pub(crate) struct Postgres {
    child: Child,
    binaries: PathBuf,
    port: u16,
    directory: PathBuf,
}

/// Everything it has done so far; what a window cost is the difference of two.
pub(crate) struct Work {
    pub(crate) statements: u64,
    /// Rows inserted, updated and deleted.
    pub(crate) rows: u64,
    pub(crate) wal_bytes: u64,
    /// Entries of journals: one per transition of an execution.
    pub(crate) transitions: u64,
    pub(crate) cpu: Duration,
}

/// A table with all of its indexes.
pub(crate) struct TableState {
    pub(crate) name: String,
    pub(crate) table_bytes: u64,
    pub(crate) indexes_bytes: u64,
    pub(crate) live_rows: u64,
    pub(crate) dead_rows: u64,
    pub(crate) autovacuums: u64,
    /// Updates that touched no index.
    pub(crate) hot_updates_share: f64,
}

impl TableState {
    pub(crate) fn bytes(&self) -> u64 {
        self.table_bytes + self.indexes_bytes
    }

    fn parse(line: &str) -> Result<Self> {
        let (name, numbers) = line.split_once('|').context("a name")?;
        let numbers: Vec<u64> = numbers.split('|').map(str::parse).collect::<Result<_, _>>()?;
        let [table_bytes, indexes_bytes, live_rows, dead_rows, autovacuums, updates, hot] =
            numbers[..]
        else {
            bail!("{line:?}")
        };
        let hot_updates_share = per(hot as f64, updates);
        let name = name.to_owned();
        Ok(Self {
            name,
            table_bytes,
            indexes_bytes,
            live_rows,
            dead_rows,
            autovacuums,
            hot_updates_share,
        })
    }
}

impl Postgres {
    pub(crate) fn start(parent: &Path) -> Result<Self> {
        let binaries = binaries()?;
        let directory = parent.join("postgres");
        fs::create_dir(&directory)?;
        let data = directory.join("data");
        let user = user(&directory)?;
        let made = as_user(user, &binaries.join("initdb"))
            .arg("-D")
            .arg(&data)
            .args(["-U", "semel", "-A", "trust", "-E", "UTF8", "--locale=C"])
            .current_dir("/")
            .output()?;
        let said = String::from_utf8_lossy(&made.stderr);
        ensure!(made.status.success(), "initdb: {said}");
        let port = free_address()?.port();
        let child = as_user(user, &binaries.join("postgres"))
            .arg("-D")
            .arg(&data)
            .arg("-k")
            .arg(&directory)
            .args(["-h", "127.0.0.1", "-p", &port.to_string()])
            .args(["-c", "shared_preload_libraries=pg_stat_statements"])
            .current_dir("/")
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(fs::File::create(directory.join("server.log"))?)
            .spawn()
            .context("starting PostgreSQL")?;
        let server = Self { child, binaries, port, directory };
        let until = Instant::now() + START_WITHIN;
        while server.ask("postgres", "SELECT 1").is_err() {
            if Instant::now() > until {
                let log = fs::read_to_string(server.directory.join("server.log"));
                bail!("PostgreSQL does not answer: {}", log.unwrap_or_default());
            }
            std::thread::sleep(LOOK_EVERY);
        }
        Ok(server)
    }

    /// The address of a new database in which statements are counted.
    pub(crate) fn database(&self, name: &str) -> Result<String> {
        self.ask("postgres", &format!("CREATE DATABASE {name}"))?;
        self.ask(name, "CREATE EXTENSION pg_stat_statements")?;
        Ok(format!("postgres://semel@127.0.0.1:{}/{name}", self.port))
    }

    pub(crate) fn ask(&self, database: &str, sql: &str) -> Result<String> {
        let done = Command::new(self.binaries.join("psql"))
            .args([
                "-X",
                "-q",
                "-A",
                "-t",
                "-v",
                "ON_ERROR_STOP=1",
                "-h",
                "127.0.0.1",
                "-U",
                "semel",
            ])
            .args(["-p", &self.port.to_string(), "-d", database, "-c", sql])
            .output()?;
        ensure!(done.status.success(), "{sql}: {}", String::from_utf8_lossy(&done.stderr));
        Ok(String::from_utf8_lossy(&done.stdout).trim().to_owned())
    }

    pub(crate) fn work(&self, database: &str) -> Result<Work> {
        let sql = "SELECT (SELECT sum(calls) FROM pg_stat_statements \
             WHERE dbid = (SELECT oid FROM pg_database WHERE datname = current_database())), \
             (SELECT sum(n_tup_ins + n_tup_upd + n_tup_del) FROM pg_stat_user_tables), \
             pg_current_wal_insert_lsn() - '0/0', (SELECT count(*) FROM journal)";
        let line = self.ask(database, sql)?;
        let numbers: Vec<f64> = line.split('|').map(str::parse).collect::<Result<_, _>>()?;
        let [statements, rows, wal_bytes, transitions] = numbers[..] else { bail!("{line:?}") };
        let cpu = self.cpu()?;
        let whole = |number: f64| number as u64;
        Ok(Work {
            statements: whole(statements),
            rows: whole(rows),
            wal_bytes: whole(wal_bytes),
            transitions: whole(transitions),
            cpu,
        })
    }

    /// Of all its processes so far.
    pub(crate) fn cpu(&self) -> Result<Duration> {
        Process::Family(self.child.id()).cpu()
    }

    pub(crate) fn tables(&self, database: &str) -> Result<Vec<TableState>> {
        let sql = "SELECT relname, pg_table_size(relid), pg_indexes_size(relid), n_live_tup, \
             n_dead_tup, autovacuum_count, n_tup_upd, n_tup_hot_upd FROM pg_stat_user_tables";
        self.ask(database, sql)?.lines().map(TableState::parse).collect()
    }
}

impl Drop for Postgres {
    /// The directory is going to be removed: nothing has to be kept.
    fn drop(&mut self) {
        let id = self.child.id().to_string();
        let _ = Command::new("kill").args(["-QUIT", &id]).status();
        let _ = self.child.wait();
    }
}

fn binaries() -> Result<PathBuf> {
    if let Some(path) = std::env::var_os("SEMEL_PG_BIN") {
        return Ok(PathBuf::from(path));
    }
    let versions = fs::read_dir(BINARIES).into_iter().flatten().flatten();
    let versions = versions.filter_map(|entry| entry.file_name().to_str()?.parse::<u32>().ok());
    let version = versions.filter(|version| *version >= VERSION_MIN).max();
    let version = version.context("no PostgreSQL 15 or newer; install `postgresql`")?;
    Ok(Path::new(BINARIES).join(version.to_string()).join("bin"))
}

/// PostgreSQL does not run as root: then the directory becomes that of its own user.
fn user(directory: &Path) -> Result<Option<&'static str>> {
    let id = Command::new("id").arg("-u").output()?;
    if String::from_utf8_lossy(&id.stdout).trim() != "0" {
        return Ok(None);
    }
    let given = Command::new("chown").arg("postgres").arg(directory).status()?;
    ensure!(given.success(), "{} cannot be given to postgres", directory.display());
    let parent = directory.parent().context("it lies in the directory of the run")?;
    let opened = Command::new("chmod").arg("755").arg(parent).status()?;
    ensure!(opened.success(), "{} cannot be opened", parent.display());
    Ok(Some("postgres"))
}

fn as_user(user: Option<&str>, program: &Path) -> Command {
    let Some(user) = user else { return Command::new(program) };
    let mut command = Command::new("setpriv");
    command.args([&format!("--reuid={user}"), "--regid=nogroup", "--clear-groups", "--"]);
    command.arg(program);
    command
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_says_how_a_table_is() {
        let table = TableState::parse("deliveries|8192|16384|3|40|5|100|25").unwrap();
        assert_eq!((table.name.as_str(), table.bytes()), ("deliveries", 24_576));
        assert_eq!((table.live_rows, table.dead_rows, table.autovacuums), (3, 40, 5));
        assert_eq!(table.hot_updates_share, 0.25);
        assert!(TableState::parse("deliveries|8192").is_err());
    }
}
