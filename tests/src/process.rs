//! # Process: the real server, started, killed and asked over real HTTP
//!
//! For suites that end processes for real. **May not:** know what a workflow is, or reach into the
//! server by any other way than its port and signals. A server that does not start is an error that
//! shows its log, never a skipped test.

use std::fs::File;
use std::net::{SocketAddr, TcpListener};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::atomic::{AtomicU16, Ordering};
use std::time::{Duration, Instant, SystemTime};

use anyhow::{Context as _, Result, anyhow, bail, ensure};

pub use crate::caller::{Answer, Caller};

/// How long anything of this room may take before it counts as broken.
pub const DEADLINE: Duration = Duration::from_secs(60);

/// Between two looks at a condition.
const LOOK_EVERY: Duration = Duration::from_millis(5);

const LOG: &str = "server.log";
const OUT: &str = "server.out";

/// A server process on a directory and a port of its own. Dropped, it is killed.
pub struct Server {
    child: Child,
    directory: PathBuf,
    options: Vec<String>,
    variables: Vec<(String, String)>,
    address: SocketAddr,
}

impl Server {
    /// Starts on a free port and returns when `/health` answers.
    pub fn start(directory: &Path, options: &[&str]) -> Result<Self> {
        Self::start_in(directory, options, &[])
    }

    /// The same, with variables of the process, which has no others.
    pub fn start_in(
        directory: &Path,
        options: &[&str],
        variables: &[(&str, &str)],
    ) -> Result<Self> {
        let options: Vec<String> = options.iter().map(|&option| option.to_owned()).collect();
        let owned = |(name, value): &(&str, &str)| ((*name).to_owned(), (*value).to_owned());
        let variables: Vec<_> = variables.iter().map(owned).collect();
        let address = free_address()?;
        let child = spawn(directory, address, &options, &variables)?;
        let directory = directory.to_owned();
        let mut server = Self { child, directory, options, variables, address };
        server.await_health()?;
        Ok(server)
    }

    pub fn address(&self) -> SocketAddr {
        self.address
    }

    pub fn caller(&self) -> Result<Caller> {
        Caller::new(self.address)
    }

    pub fn pid(&self) -> u32 {
        self.child.id()
    }

    /// Ends the process at once; returns when it is gone.
    pub fn kill9(&mut self) -> Result<()> {
        self.child.kill()?;
        self.child.wait()?;
        Ok(())
    }

    /// Asks the process to stop. It goes on until it has finished what it accepted.
    pub fn terminate(&self) -> Result<()> {
        signal(self.pid(), "TERM")
    }

    /// Returns how the process ended, once it has.
    pub fn await_exit(&mut self) -> Result<ExitStatus> {
        let child = &mut self.child;
        let ended = until("the server ends", DEADLINE, || child.try_wait().ok().flatten());
        ended.with_context(|| self.log())
    }

    /// Stops it politely; anything but exit code 0 is an error.
    pub fn stop(&mut self) -> Result<()> {
        self.terminate()?;
        let ended = self.await_exit()?;
        ensure!(ended.success(), "the server ended with {ended}:\n{}", self.log());
        Ok(())
    }

    /// Starts again where it was, without waiting for its health.
    pub fn respawn(&mut self) -> Result<()> {
        self.kill9()?;
        self.child = spawn(&self.directory, self.address, &self.options, &self.variables)?;
        Ok(())
    }

    /// Starts again on the same directory and port.
    pub fn restart(&mut self) -> Result<()> {
        self.respawn()?;
        self.await_health()
    }

    /// What the processes on this directory have written to stderr so far.
    pub fn log(&self) -> String {
        std::fs::read_to_string(self.directory.join(LOG)).unwrap_or_default()
    }

    /// What they have written to stdout.
    pub fn said(&self) -> String {
        std::fs::read_to_string(self.directory.join(OUT)).unwrap_or_default()
    }

    /// The first key: its id and its secret, from the file whose path was said.
    pub fn first_key(&self) -> Result<(String, String)> {
        let said = self.said();
        let path = said.lines().next().context("the first start says where its key is")?;
        let text = std::fs::read_to_string(path).with_context(|| path.to_owned())?;
        let value = |name: &str| {
            let line = text.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix('='));
            line.map(str::to_owned).with_context(|| format!("no {name} in {path}"))
        };
        Ok((value("SEMEL_AUTH_KEY")?, value("SEMEL_AUTH_SECRET")?))
    }

    fn await_health(&mut self) -> Result<()> {
        let caller = self.caller()?;
        let child = &mut self.child;
        let health = until("/health answers 200", DEADLINE, || {
            if let Ok(Some(ended)) = child.try_wait() {
                return Some(Err(anyhow!("the server ended with {ended}")));
            }
            caller.get("/health").ok().filter(|answer| answer.status == 200).map(|_| Ok(()))
        });
        health.and_then(|done| done).with_context(|| format!("log:\n{}", self.log()))
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.kill9(); // It may have ended already.
    }
}

/// Runs a server that is expected to refuse to start; its exit status and words.
pub fn refused(directory: &Path, options: &[&str]) -> Result<(ExitStatus, String)> {
    let words = tempfile::NamedTempFile::new()?;
    let mut command = command(directory, free_address()?)?;
    let mut child = command.args(options).stderr(words.reopen()?).spawn()?;
    let ended = until("the server refuses to start", DEADLINE, || child.try_wait().ok().flatten());
    if ended.is_err() {
        child.kill()?;
        child.wait()?;
    }
    Ok((ended?, std::fs::read_to_string(words.path())?))
}

/// Runs a server that is told to stop the very moment it writes these words; how it ended.
pub fn stopped_at(directory: &Path, words: &str) -> Result<ExitStatus> {
    const SCRIPT: &str = r#"
        mkfifo words; said=$1; shift; "$@" 2>words & server=$!
        while read -r line; do case $line in *"$said"*) kill -TERM $server;; esac; done <words
        wait $server"#;
    let server = command(directory, free_address()?)?;
    let mut shell = Command::new("sh");
    shell.env_clear().env("PATH", std::env::var_os("PATH").unwrap_or_default());
    shell.args(["-c", SCRIPT, "sh", words]).arg(server.get_program()).args(server.get_args());
    let mut child = shell.current_dir(directory).stderr(Stdio::null()).spawn()?;
    until("the server ends", DEADLINE, || child.try_wait().ok().flatten())
}

/// `signal(pid, "STOP")`: by the shell's own `kill`, because `unsafe` is forbidden here.
pub fn signal(pid: u32, name: &str) -> Result<()> {
    let sent = Command::new("sh").args(["-c", &format!("kill -{name} {pid}")]).status()?;
    ensure!(sent.success(), "kill -{name} {pid}: {sent}");
    Ok(())
}

/// Stops a process in its tracks; returns when every thread of it stands still, which a signal
/// alone does not promise.
pub fn freeze(pid: u32) -> Result<()> {
    signal(pid, "STOP")?;
    until("the process stands still", DEADLINE, || stands_still(pid).then_some(()))
}

fn stands_still(pid: u32) -> bool {
    if let Ok(threads) = std::fs::read_dir(format!("/proc/{pid}/task")) {
        // `12 (name) T ...`: the state follows the last bracket.
        let stat = |path: PathBuf| std::fs::read_to_string(path.join("stat")).unwrap_or_default();
        let state = |stat: &str| stat.rsplit(") ").next().and_then(|rest| rest.chars().next());
        return threads.flatten().all(|thread| state(&stat(thread.path())) == Some('T'));
    }
    let told = Command::new("ps").args(["-o", "stat=", "-p", &pid.to_string()]).output();
    told.is_ok_and(|told| told.stdout.trim_ascii().starts_with(b"T"))
}

/// Looks until there is something, or fails naming what never came.
pub fn until<T>(what: &str, within: Duration, mut look: impl FnMut() -> Option<T>) -> Result<T> {
    let deadline = Instant::now() + within;
    loop {
        if let Some(found) = look() {
            return Ok(found);
        }
        ensure!(Instant::now() < deadline, "not within {within:?}: {what}");
        std::thread::sleep(LOOK_EVERY);
    }
}

/// The long bars run, against a release binary.
pub fn is_full() -> bool {
    std::env::var("SEMEL_FULL").is_ok_and(|value| value == "1")
}

/// Runs another command of the binary on the data of a server that is stopped; how it ended, and
/// what it said on stdout and stderr.
pub fn run(directory: &Path, arguments: &[&str]) -> Result<(ExitStatus, String)> {
    let mut command = Command::new(binary()?);
    command.env_clear().current_dir(directory).args(arguments).arg("--data");
    let done = command.arg(directory.join("data")).output()?;
    let said = [done.stdout, done.stderr].concat();
    Ok((done.status, String::from_utf8_lossy(&said).into_owned()))
}

fn spawn(
    directory: &Path,
    address: SocketAddr,
    options: &[String],
    variables: &[(String, String)],
) -> Result<Child> {
    let open = |name| File::options().create(true).append(true).open(directory.join(name));
    let (log, out) = (open(LOG)?, open(OUT)?);
    let mut command = command(directory, address)?;
    let variables = variables.iter().map(|(name, value)| (name, value));
    Ok(command.args(options).envs(variables).stderr(log).stdout(out).spawn()?)
}

fn command(directory: &Path, address: SocketAddr) -> Result<Command> {
    let mut command = Command::new(binary()?);
    command.env_clear().current_dir(directory).stdin(Stdio::null()).stdout(Stdio::null());
    command
        .args(["server", "--listen", &address.to_string(), "--data"])
        .arg(directory.join("data"));
    Ok(command)
}

/// A port that is free now and that no outgoing connection will take while the server is down: a
/// client that knocks at a dead port of the ephemeral range can end up connected to itself.
pub(crate) fn free_address() -> Result<SocketAddr> {
    const FIRST: u16 = 15_000;
    const PORTS: u16 = 15_000;
    static TAKEN: AtomicU16 = AtomicU16::new(0);
    let start = u16::try_from(std::process::id() * 37 % u32::from(PORTS))?;
    for _ in 0..PORTS {
        let offset = TAKEN.fetch_add(1, Ordering::Relaxed);
        let port = FIRST + start.wrapping_add(offset) % PORTS;
        if let Ok(listener) = TcpListener::bind(("127.0.0.1", port)) {
            return Ok(listener.local_addr()?);
        }
    }
    bail!("no port is free")
}

/// `SEMEL_BIN`, else the release binary if `SEMEL_FULL=1`, else the one beside this test.
pub fn binary() -> Result<PathBuf> {
    if let Some(path) = std::env::var_os("SEMEL_BIN") {
        let path = PathBuf::from(path);
        ensure!(path.is_file(), "SEMEL_BIN={} is no file", path.display());
        return Ok(path);
    }
    let beside = std::env::current_exe()?;
    let profile = beside.parent().and_then(Path::parent).context("a test is in target/*/deps")?;
    let profile = if is_full() { profile.with_file_name("release") } else { profile.to_owned() };
    let path = profile.join("semel");
    static CHECKED: std::sync::OnceLock<Result<(), String>> = std::sync::OnceLock::new();
    let checked = CHECKED.get_or_init(|| bring_up_to_date(&path).map_err(|why| format!("{why:#}")));
    checked.as_ref().map_err(|why| anyhow!("{why}; run `cargo build` first, or set SEMEL_BIN"))?;
    Ok(path)
}

/// Builds the binary unless it is younger than every source: an old one would prove nothing.
fn bring_up_to_date(path: &Path) -> Result<()> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().context("tests/ is in the root")?;
    let built = path.metadata().and_then(|data| data.modified()).ok();
    if built.is_some() && built > youngest(&root.join("crates"))? {
        return Ok(());
    }
    let mut build = Command::new(env!("CARGO"));
    build.args(["build", "--quiet", "-p", "semel-cli"]).current_dir(root);
    if path.parent().is_some_and(|profile| profile.ends_with("release")) {
        build.arg("--release");
    }
    ensure!(build.status()?.success(), "{} cannot be built", path.display());
    ensure!(path.is_file(), "there is no {}", path.display());
    Ok(())
}

fn youngest(directory: &Path) -> Result<Option<SystemTime>> {
    let mut youngest = None;
    for entry in std::fs::read_dir(directory)? {
        let entry = entry?;
        let changed = if entry.file_type()?.is_dir() {
            youngest_unless_tests(&entry.path())?
        } else {
            Some(entry.metadata()?.modified()?)
        };
        youngest = youngest.max(changed);
    }
    Ok(youngest)
}

fn youngest_unless_tests(directory: &Path) -> Result<Option<SystemTime>> {
    if directory.ends_with("tests") { Ok(None) } else { youngest(directory) }
}
