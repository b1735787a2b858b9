//! # Server: the child process under load
//!
//! Starts the release binary on a free port with a private directory, waits for `/health`, stops it
//! with SIGTERM. **May not:** know its files or its code; it is measured from outside like any process.

use std::fs::{self, File};
use std::net::{Ipv4Addr, SocketAddr, TcpListener};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use tempfile::TempDir;

use crate::http::{Call, Client};
use crate::process::Process;
use crate::tally::Tally;

const HEALTH_WAIT_MS_MAX: u64 = 60_000;
const HEALTH_LOOK_MS: u64 = 1;
const STOP_WAIT_MS_MAX: u64 = 60_000;
const STOP_LOOK_MS: u64 = 2;
const LOG_LINES_SHOWN_MAX: usize = 20;

/// Which binary to run and where; the same for every command.
#[derive(clap::Args)]
pub(crate) struct ServerOptions {
    /// The server binary; by default `semel` beside this one.
    #[arg(long, value_name = "PATH")]
    server: Option<PathBuf>,
    /// An argument passed on to `semel server`; may be repeated.
    #[arg(long = "server-arg", value_name = "ARG", allow_hyphen_values = true)]
    server_args: Vec<String>,
    /// Where the private directory is made; choose the disk to be measured.
    #[arg(long, value_name = "DIR")]
    dir: Option<PathBuf>,
    /// Keep the private directory (data and server log) after the run.
    #[arg(long)]
    keep: bool,
}

/// The private directory of one run: `data/` for the server, its log beside it.
pub(crate) struct Site {
    directory: TempDir,
    binary: PathBuf,
    arguments: Vec<String>,
}

pub(crate) struct Server {
    pub(crate) address: SocketAddr,
    /// From just before the process was made to the first 200 from `/health`.
    pub(crate) health_after: Duration,
    child: Child,
}

impl Site {
    pub(crate) fn prepare(options: &ServerOptions) -> Result<Self> {
        let binary = match &options.server {
            Some(path) => path.clone(),
            None => std::env::current_exe()?.with_file_name("semel"),
        };
        if !binary.is_file() {
            bail!("no server at {}; run `cargo build --release` first", binary.display());
        }
        let parent = options.dir.clone().unwrap_or_else(std::env::temp_dir);
        let mut directory = tempfile::Builder::new().prefix("semel-bench-").tempdir_in(&parent)?;
        if options.keep {
            directory.disable_cleanup(true);
            eprintln!("keeping {}", directory.path().display());
        }
        fs::create_dir(directory.path().join("data"))?;
        Ok(Self { directory, binary, arguments: options.server_args.clone() })
    }

    pub(crate) fn data(&self) -> PathBuf {
        self.directory.path().join("data")
    }

    pub(crate) fn directory(&self) -> &Path {
        self.directory.path()
    }

    pub(crate) fn binary_bytes(&self) -> Result<u64> {
        Ok(fs::metadata(&self.binary)?.len())
    }

    fn log(&self) -> PathBuf {
        self.directory.path().join("server.log")
    }

    fn log_end(&self) -> String {
        let log = fs::read_to_string(self.log()).unwrap_or_default();
        let lines: Vec<&str> = log.lines().collect();
        lines[lines.len().saturating_sub(LOG_LINES_SHOWN_MAX)..].join("\n")
    }
}

impl Server {
    pub(crate) async fn start(site: &Site) -> Result<Self> {
        Self::start_with(site, &[]).await
    }

    pub(crate) async fn start_with(site: &Site, arguments: &[&str]) -> Result<Self> {
        let address = free_address()?;
        let log = File::options().create(true).append(true).open(site.log())?;
        let begun = Instant::now();
        let child = Command::new(&site.binary)
            .arg("server")
            .args(["--listen", &address.to_string()])
            .arg("--data")
            .arg(site.data())
            .args(&site.arguments)
            .args(arguments)
            .stdin(Stdio::null())
            .stdout(log.try_clone()?)
            .stderr(log)
            .spawn()
            .with_context(|| format!("starting {}", site.binary.display()))?;
        let mut server = Self { address, health_after: Duration::ZERO, child };
        match server.wait_healthy(begun).await {
            Ok(health_after) => server.health_after = health_after,
            Err(error) => bail!("{error:#}; the server said:\n{}", site.log_end()),
        }
        Ok(server)
    }

    async fn wait_healthy(&mut self, begun: Instant) -> Result<Duration> {
        let health = Call::get("/health")?;
        loop {
            if let Some(status) = self.child.try_wait()? {
                bail!("the server ended before it was healthy: {status}");
            }
            // Refusals are expected here, so they stay out of the run's tally and off stderr.
            if tokio::net::TcpStream::connect(self.address).await.is_ok() {
                let mut client = Client::new(self.address, Arc::new(Tally::default()));
                if client.send(&health).await.is_ok() {
                    return Ok(begun.elapsed());
                }
            }
            if begun.elapsed() > Duration::from_millis(HEALTH_WAIT_MS_MAX) {
                bail!("/health did not answer 200 in {HEALTH_WAIT_MS_MAX} ms");
            }
            tokio::time::sleep(Duration::from_millis(HEALTH_LOOK_MS)).await;
        }
    }

    pub(crate) fn process(&self) -> Process {
        Process::Child(self.child.id())
    }

    /// A server that ended under load leaves no figures, only its last words.
    pub(crate) fn expect_running(&mut self, site: &Site) -> Result<()> {
        match self.child.try_wait()? {
            Some(status) => bail!("the server ended: {status}; it said:\n{}", site.log_end()),
            None => Ok(()),
        }
    }

    /// Asks with SIGTERM and waits for a clean end; answers how long that took.
    pub(crate) async fn stop(mut self) -> Result<Duration> {
        let begun = Instant::now();
        let id = self.child.id().to_string();
        let asked = Command::new("kill").args(["-TERM", &id]).status().context("running kill")?;
        if !asked.success() {
            bail!("kill -TERM {id} failed: the server was no longer there");
        }
        while begun.elapsed() < Duration::from_millis(STOP_WAIT_MS_MAX) {
            if let Some(status) = self.child.try_wait()? {
                if !status.success() {
                    eprintln!("the server ended with {status} after SIGTERM");
                }
                return Ok(begun.elapsed());
            }
            tokio::time::sleep(Duration::from_millis(STOP_LOOK_MS)).await;
        }
        bail!("the server did not end {STOP_WAIT_MS_MAX} ms after SIGTERM")
    }
}

impl Drop for Server {
    /// A failed run must not leave a server behind; after a clean stop both calls do nothing.
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// The kernel picks a port nobody has; the server binds it a moment later.
pub(crate) fn free_address() -> Result<SocketAddr> {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
    Ok(listener.local_addr()?)
}
