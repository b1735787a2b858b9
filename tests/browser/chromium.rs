//! # Chromium: the real browser, without a window
//!
//! Debian's package `chromium`, or the program that `SEMEL_CHROMIUM` names. A browser that is missing
//! is an error, never a skipped test.

use std::process::{Child, Command, Stdio};

use anyhow::{Context as _, Result, ensure};

/// Names of this suite, all of which stand for this machine.
const NAMES: &str =
    "MAP evil.example 127.0.0.1, MAP rebound.example 127.0.0.1, MAP semel.test 127.0.0.1";

/// A browser with a profile of its own. Dropped, it is ended.
pub(crate) struct Browser {
    child: Child,
    _profile: tempfile::TempDir,
}

impl Browser {
    pub(crate) fn open(page: &str) -> Result<Self> {
        let profile = tempfile::tempdir()?;
        let child = command(&profile)?.arg(page).spawn().context(MISSING)?;
        Ok(Self { child, _profile: profile })
    }
}

impl Drop for Browser {
    fn drop(&mut self) {
        let _ = self.child.kill(); // It may have ended already.
        let _ = self.child.wait();
    }
}

const MISSING: &str = "Chromium does not start; install Debian's package chromium";

/// What a page has become once its scripts have run.
pub(crate) fn shown(page: &str) -> Result<String> {
    let profile = tempfile::tempdir()?;
    let mut command = command(&profile)?;
    command.args(["--virtual-time-budget=10000", "--dump-dom", page]).stdout(Stdio::piped());
    let done = command.spawn().and_then(Child::wait_with_output).context(MISSING)?;
    ensure!(done.status.success(), "Chromium ended with {}", done.status);
    Ok(String::from_utf8(done.stdout)?)
}

fn command(profile: &tempfile::TempDir) -> Result<Command> {
    let program = std::env::var_os("SEMEL_CHROMIUM").unwrap_or_else(|| "chromium".into());
    let mut command = Command::new(program);
    // The pages are ours, and whoever is root has no sandbox to put them in.
    command.args(["--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage"]);
    command.args(["--no-first-run", "--disable-background-networking", "--disable-sync"]);
    command.arg(format!("--host-resolver-rules={NAMES}"));
    command.arg(format!("--user-data-dir={}", profile.path().display()));
    command.env("HOME", profile.path());
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    Ok(command)
}
