//! # PostgreSQL: a real server, started for the tests of one process
//!
//! With a data directory and a port of its own and the durable settings it comes with. It ends with
//! the process that started it, however that ends, and its files with it. A machine without
//! PostgreSQL is an error that says what to install, never a skipped test.

use std::io::{BufRead as _, BufReader, Lines, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdout, Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};

use anyhow::{Context as _, Result, bail, ensure};

use crate::process::{DEADLINE, free_address, signal, until};

/// The oldest that will do.
const VERSION_MIN: u32 = 15;
const BINARIES: &str = "/usr/lib/postgresql";
/// Runs the server, again whenever it ends; when nobody is left to write to its input, it clears up.
const KEEPER: &str = r#"
trap '' INT TERM HUP
bin=$1 dir=$2 port=$3 fsync=$4
"$bin/initdb" -D "$dir/data" -U semel -A trust -E UTF8 --locale=C \
    --locale-provider=icu --icu-locale=en >"$dir/initdb.log" 2>&1 || exit 1
(
    while [ ! -e "$dir/over" ]; do
        "$bin/postgres" -D "$dir/data" -k "$dir" -h 127.0.0.1 -p "$port" -c max_connections=300 \
            -c fsync="$fsync" >>"$dir/server.log" 2>&1
        sleep 0.1
    done
) &
cat >/dev/null
touch "$dir/over"
kill -QUIT "$(head -n 1 "$dir/data/postmaster.pid")"
wait
rm -rf "$dir"
"#;

/// A running server.
pub struct Postgres {
    binaries: PathBuf,
    directory: PathBuf,
    port: u16,
    /// Databases that were given back.
    idle: Mutex<Vec<String>>,
    /// Its input is what the keeper listens to.
    _keeper: Child,
}

/// The server of this process, started by the first test that needs it.
pub fn shared() -> &'static Postgres {
    shared_with("on")
}

/// The same for tests in which nodes die and PostgreSQL does not: it waits for no disk, and says it did.
pub fn shared_without_disk() -> &'static Postgres {
    shared_with("off")
}

fn shared_with(fsync: &str) -> &'static Postgres {
    static SHARED: OnceLock<Postgres> = OnceLock::new();
    SHARED.get_or_init(|| match Postgres::start_with(fsync) {
        Ok(server) => server,
        Err(error) => panic!("{error:#}"),
    })
}

impl Postgres {
    pub fn start() -> Result<Self> {
        Self::start_with("on")
    }

    fn start_with(fsync: &str) -> Result<Self> {
        let binaries = binaries()?;
        let directory = tempfile::Builder::new().prefix("semel-postgres-").tempdir()?.keep();
        let port = free_address()?.port();
        let mut keeper = keeper(&directory)?;
        keeper.args(["sh", "-c", KEEPER, "sh"]).arg(&binaries).arg(&directory);
        let keeper =
            keeper.arg(port.to_string()).arg(fsync).stdin(Stdio::piped()).current_dir("/").spawn();
        let keeper = keeper.context("the keeper of PostgreSQL cannot be started")?;
        let server = Self { binaries, directory, port, idle: Mutex::default(), _keeper: keeper };
        let is_up = || server.psql("postgres", "SELECT 1").ok();
        until("PostgreSQL answers", DEADLINE, is_up).with_context(|| server.log())?;
        Ok(server)
    }

    /// Everything it has in memory is lost, and it starts again.
    pub fn crash(&self) -> Result<()> {
        signal(self.pid()?, "QUIT")?;
        let is_up = || self.psql("postgres", "SELECT 1").ok();
        until("PostgreSQL answers again", DEADLINE, is_up).map(drop).with_context(|| self.log())
    }

    /// All of it stands still, and keeps its connections.
    pub fn freeze(&self) -> Result<()> {
        self.signal_all("STOP")
    }

    pub fn thaw(&self) -> Result<()> {
        self.signal_all("CONT")
    }

    fn signal_all(&self, name: &str) -> Result<()> {
        const ALL: &str = "kill -$1 $2 $(ps -o pid= --ppid $2)";
        let pid = self.pid()?.to_string();
        let sent = Command::new("sh").args(["-c", ALL, "sh", name, &pid]).status()?;
        ensure!(sent.success(), "PostgreSQL cannot be sent {name}: {sent}");
        Ok(())
    }

    fn pid(&self) -> Result<u32> {
        let file = self.directory.join("data").join("postmaster.pid");
        Ok(std::fs::read_to_string(file)?.lines().next().unwrap_or_default().parse()?)
    }

    /// From now on it lets in only who speaks TLS, and shows that certificate.
    pub fn speak_tls_only(&self, certificate: &Path, key: &Path) -> Result<()> {
        let data = self.directory.join("data");
        for (from, name) in [(certificate, "server.crt"), (key, "server.key")] {
            let to = data.join(name);
            let place = "install -m 600 \"$1\" \"$2\" && chown --reference=\"$3\" \"$2\"";
            let mut install = Command::new("sh");
            install.args(["-c", place, "sh"]).arg(from).arg(&to).arg(data.join("PG_VERSION"));
            ensure!(install.status()?.success(), "{} cannot be put in its place", to.display());
        }
        std::fs::write(
            data.join("pg_hba.conf"),
            "local all all trust\nhostssl all all all trust\n",
        )?;
        self.psql("postgres", "ALTER SYSTEM SET ssl = on")?;
        self.psql("postgres", "SELECT pg_reload_conf()")?;
        let speaks_tls = || self.psql("postgres", "SHOW ssl").ok().filter(|ssl| ssl == "on");
        until("PostgreSQL speaks TLS", DEADLINE, speaks_tls).map(drop)
    }

    /// Ends some of the connections that servers have to that database.
    pub fn cut_some(&self, url: &str) -> Result<()> {
        const CUT: &str = "SELECT count(*) FILTER (WHERE pg_terminate_backend(pid)) FROM ( \
             SELECT pid FROM pg_stat_activity \
             WHERE datname = current_database() AND application_name LIKE 'semel%' \
             ORDER BY random() LIMIT 3) chosen";
        let cut = self.psql_at(url, CUT)?;
        ensure!(cut != "0", "no server has a connection that could be cut");
        Ok(())
    }

    /// The address of a new database with tables in it, where it is that moment until somebody moves
    /// the clock. Tables are made once and copied.
    pub fn database_at(&self, ms: i64) -> Result<String> {
        const TEMPLATE: &str = "semel_template";
        static MADE: OnceLock<std::result::Result<(), String>> = OnceLock::new();
        let made = MADE.get_or_init(|| {
            let made = self.psql("postgres", &format!("CREATE DATABASE {TEMPLATE}"));
            made.map_err(|error| error.to_string())?;
            let made = semel_store_postgres::migrate(&self.url(TEMPLATE));
            made.map(drop).map_err(|error| error.to_string())
        });
        made.clone().map_err(anyhow::Error::msg)?;
        let idle = self.idle().pop();
        let url = idle.map_or_else(|| self.database_like(TEMPLATE), Ok)?;
        self.psql_at(&url, &format!("UPDATE clock SET stands_at = {ms}"))?;
        Ok(url)
    }

    /// The address of a new, empty database.
    pub fn database(&self) -> Result<String> {
        self.database_like("template0")
    }

    /// The same with everything in it that another one holds, which nobody uses.
    pub fn database_like(&self, template: &str) -> Result<String> {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let name = format!("semel_{}", COUNT.fetch_add(1, Ordering::Relaxed));
        self.psql("postgres", &format!("CREATE DATABASE {name} TEMPLATE {template}"))?;
        Ok(self.url(&name))
    }

    /// A database of [`Self::database_at`] that is not needed any more: emptied, it serves again.
    pub fn give_back(&self, url: String) {
        const EMPTY: &str = "DO $$ DECLARE name text; BEGIN \
             FOR name IN SELECT tablename FROM pg_tables WHERE schemaname = 'public' \
                 AND tablename NOT IN ('clock', 'meta', 'migrations') \
             LOOP EXECUTE 'DELETE FROM ' || name; END LOOP; \
             DELETE FROM meta WHERE name = 'fence_floor'; \
             UPDATE clock SET offset_ms = 0, stands_at = NULL; END $$";
        if self.psql_at(&url, EMPTY).is_ok() {
            self.idle().push(url);
        }
    }

    fn idle(&self) -> MutexGuard<'_, Vec<String>> {
        self.idle.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub fn url(&self, database: &str) -> String {
        format!("postgres://semel@127.0.0.1:{}/{database}", self.port)
    }

    pub fn port(&self) -> u16 {
        self.port
    }

    /// Runs SQL as its owner; what it said.
    pub fn psql(&self, database: &str, sql: &str) -> Result<String> {
        self.psql_at(&self.url(database), sql)
    }

    pub fn psql_at(&self, url: &str, sql: &str) -> Result<String> {
        let mut psql = Command::new(self.binaries.join("psql"));
        psql.args(["-X", "-q", "-A", "-t", "-v", "ON_ERROR_STOP=1", "-d", url]);
        let done = psql.arg("-c").arg(sql).output()?;
        let said = String::from_utf8_lossy(&done.stderr).into_owned();
        ensure!(done.status.success(), "{sql}: {said}");
        Ok(String::from_utf8_lossy(&done.stdout).trim().to_owned())
    }

    /// Somebody who does one thing after the other on that database.
    pub fn session(&self, url: &str) -> Result<Session> {
        Session::begin(&self.binaries.join("psql"), url)
    }

    /// What it has written to its log so far.
    pub fn log(&self) -> String {
        let read = |name| std::fs::read_to_string(self.directory.join(name)).unwrap_or_default();
        format!("{}{}", read("initdb.log"), read("server.log"))
    }
}

/// A connection that is told what to do, one thing after the other.
pub struct Session {
    psql: Child,
    said: Lines<BufReader<ChildStdout>>,
}

impl Session {
    const DONE: &str = "that was all";

    fn begin(program: &Path, url: &str) -> Result<Self> {
        let mut psql = Command::new(program);
        psql.args(["-X", "-q", "-A", "-t", "-v", "ON_ERROR_STOP=1", "-d", url]);
        let mut psql = psql.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn()?;
        let said = psql.stdout.take().context("it was asked for")?;
        Ok(Self { psql, said: BufReader::new(said).lines() })
    }

    /// Without waiting for it to be done.
    pub fn tell(&mut self, sql: &str) -> Result<()> {
        let told = self.psql.stdin.as_mut().context("it was asked for")?;
        writeln!(told, "{sql};\n\\echo {}", Self::DONE)?;
        Ok(told.flush()?)
    }

    /// What it says to what it was told last, once that is done.
    pub fn answer(&mut self) -> Result<String> {
        let mut answer = Vec::new();
        for line in &mut self.said {
            match line? {
                line if line == Self::DONE => return Ok(answer.join("\n")),
                line => answer.push(line),
            }
        }
        bail!("the connection has ended after {answer:?}")
    }

    pub fn run(&mut self, sql: &str) -> Result<String> {
        self.tell(sql)?;
        self.answer()
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        let _ = self.psql.kill(); // It may have ended by itself.
        let _ = self.psql.wait();
    }
}

/// PostgreSQL refuses to run as root, so whoever is root becomes somebody else for it.
fn keeper(directory: &Path) -> Result<Command> {
    let id = Command::new("id").arg("-u").output().context("there is no `id`")?;
    if String::from_utf8_lossy(&id.stdout).trim() != "0" {
        return Ok(Command::new("env"));
    }
    let user = ["postgres", "nobody"].into_iter().find(|user| {
        Command::new("id").arg(user).output().is_ok_and(|found| found.status.success())
    });
    let user = user.context("PostgreSQL cannot run as root, and there is no user `postgres`")?;
    let given = Command::new("chown").arg(user).arg(directory).status()?;
    ensure!(given.success(), "{} cannot be given to {user}", directory.display());
    let mut keeper = Command::new("setpriv");
    keeper.args([&format!("--reuid={user}"), "--regid=nogroup", "--clear-groups", "--"]);
    Ok(keeper)
}

/// `SEMEL_PG_BIN`, else the newest of Debian's packages that will do.
fn binaries() -> Result<PathBuf> {
    if let Some(path) = std::env::var_os("SEMEL_PG_BIN") {
        return Ok(PathBuf::from(path));
    }
    let versions = std::fs::read_dir(BINARIES).into_iter().flatten().flatten();
    let versions = versions.filter_map(|entry| entry.file_name().to_str()?.parse::<u32>().ok());
    let Some(version) = versions.filter(|version| *version >= VERSION_MIN).max() else {
        bail!(
            "there is no PostgreSQL {VERSION_MIN} or newer in {BINARIES}; \
             install it (`apt-get install postgresql`), or name its programs in SEMEL_PG_BIN"
        );
    };
    Ok(Path::new(BINARIES).join(version.to_string()).join("bin"))
}
