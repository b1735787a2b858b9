//! # Pools: of the real binary, or of anything else that can be started

use std::path::Path;
use std::sync::mpsc;
use std::time::Duration;

use semel_engine::{Script, Verdict};
use semel_scripts::{Budget, Guards, Pool, child};
use semel_tests::process::binary;

/// How long a verdict may take before it counts as lost.
const DEADLINE: Duration = Duration::from_secs(120);

pub(crate) fn real(size: usize, budget: Budget, guards: Guards) -> Pool {
    Pool::new(binary().unwrap(), &[child::COMMAND], size, budget, guards)
}

/// Of one child, which a shell starts: it notes every start in `starts`, then does as told.
pub(crate) fn shell(starts: &Path, then: &str, budget: Budget, guards: Guards) -> Pool {
    let path = "PATH=/usr/local/bin:/usr/bin:/bin";
    let line = format!("{path}; echo started >> '{}'; {then}", starts.display());
    Pool::new("/bin/sh", &["-c", &line], 1, budget, guards)
}

/// What tells that shell to be a real child.
pub(crate) fn as_child() -> String {
    format!("exec '{}' {}", binary().unwrap().display(), child::COMMAND)
}

/// How often the shell noted a start.
pub(crate) fn starts(file: &Path) -> usize {
    std::fs::read_to_string(file).unwrap_or_default().lines().count()
}

pub(crate) fn ask(pool: &Pool, script: Script) -> Verdict {
    ask_all(pool, [script]).remove(0)
}

/// Asks all at once; the verdicts in the order of the scripts.
pub(crate) fn ask_all(pool: &Pool, scripts: impl IntoIterator<Item = Script>) -> Vec<Verdict> {
    let (sender, receiver) = mpsc::channel();
    let mut asked = 0;
    for (at, script) in scripts.into_iter().enumerate() {
        let sender = sender.clone();
        pool.ask(script, move |verdict| sender.send((at, verdict)).unwrap());
        asked += 1;
    }
    let mut verdicts: Vec<(usize, Verdict)> =
        (0..asked).map(|_| receiver.recv_timeout(DEADLINE).unwrap()).collect();
    verdicts.sort_by_key(|(at, _)| *at);
    verdicts.into_iter().map(|(_, verdict)| verdict).collect()
}
