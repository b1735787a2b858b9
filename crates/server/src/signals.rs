//! # Signals: how a server is told to stop, and to hurry
//!
//! `SIGTERM`, `SIGINT` (Ctrl-C) and `SIGHUP` mean the same: the first one lets the server finish what it accepted,
//! the second one ends it at once. Nothing is lost by that, because what was acknowledged is on disk. A process that was
//! started with `SIGHUP` ignored, as `nohup` does, goes on ignoring it.

use tokio::sync::watch;

/// How far the stop is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Stop {
    NotYet,
    Asked,
    Hurried,
}

/// Listens from this call on, not from the first poll of a future: once the door is open, a signal is
/// never left to its default, which is to end the process at once.
pub(crate) fn listen() -> std::io::Result<watch::Receiver<Stop>> {
    let mut signals = Signals::new()?;
    let (told, stop) = watch::channel(Stop::NotYet);
    tokio::spawn(async move {
        for next in [Stop::Asked, Stop::Hurried] {
            signals.next().await;
            let _ = told.send(next); // Nobody listens if the server is gone already.
        }
        std::future::pending::<()>().await; // A receiver whose sender is gone would not wait.
    });
    Ok(stop)
}

/// Returns when the stop is as far as that.
pub(crate) async fn reached(mut stop: watch::Receiver<Stop>, wanted: Stop) {
    if stop.wait_for(|now| *now >= wanted).await.is_err() {
        std::future::pending::<()>().await;
    }
}

#[cfg(unix)]
struct Signals {
    interrupted: tokio::signal::unix::Signal,
    terminated: tokio::signal::unix::Signal,
    hung_up: Option<tokio::signal::unix::Signal>,
}

#[cfg(unix)]
impl Signals {
    fn new() -> std::io::Result<Self> {
        use tokio::signal::unix::{SignalKind, signal};
        let is_ignored = std::fs::read_to_string("/proc/self/status")
            .is_ok_and(|status| ignores_hangup(&status));
        let hung_up = if is_ignored { None } else { Some(signal(SignalKind::hangup())?) };
        Ok(Self {
            interrupted: signal(SignalKind::interrupt())?,
            terminated: signal(SignalKind::terminate())?,
            hung_up,
        })
    }

    async fn next(&mut self) {
        let hung_up = async {
            match &mut self.hung_up {
                Some(hung_up) => drop(hung_up.recv().await),
                None => std::future::pending().await,
            }
        };
        tokio::select! {
            _ = self.interrupted.recv() => {}
            _ = self.terminated.recv() => {}
            () = hung_up => {}
        }
    }
}

/// Linux tells which signals a process ignores, the first in the lowest bit; `SIGHUP` is the first.
#[cfg(unix)]
fn ignores_hangup(status: &str) -> bool {
    let ignored = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    let bits = ignored.and_then(|hex| u64::from_str_radix(hex.trim(), 16).ok());
    bits.is_some_and(|bits| bits & 1 == 1)
}

#[cfg(not(unix))]
struct Signals;

#[cfg(not(unix))]
impl Signals {
    fn new() -> std::io::Result<Self> {
        Ok(Self)
    }

    async fn next(&mut self) {
        drop(tokio::signal::ctrl_c().await);
    }
}

#[cfg(unix)]
#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_hangup_that_is_ignored_is_recognised() {
        assert!(ignores_hangup("Name:\tsemel\nSigIgn:\t0000000000001001\nSigCgt:\t0\n"));
        for status in ["", "SigIgn:\t0000000000001000\n", "SigCgt:\t0000000000000001\n"] {
            assert!(!ignores_hangup(status), "{status}");
        }
    }
}
