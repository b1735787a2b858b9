//! # A process: one child as its parent sees it
//!
//! A thread of its own speaks to the child, because a pipe may block for ever; whoever asks only
//! waits for that thread, looks at the guards meanwhile, and can always kill. A script is lent to a
//! child, and a child that does not give it back loses it
//! (docs/reference/principles.md#every-hand-out-is-a-lease-with-a-token).

use std::fmt;
use std::io;
use std::path::PathBuf;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread;
use std::time::{Duration, Instant};

use semel_engine::Verdict;

use crate::budget::{CHILD_SCRIPTS_MAX, Guards};
use crate::{cpu, frame};

/// Between two looks at the guards.
const LOOK_EVERY: Duration = Duration::from_millis(20);

/// What is run as a child.
pub(crate) struct Launch {
    pub(crate) program: PathBuf,
    pub(crate) arguments: Vec<String>,
}

/// A child. Dropped, it is killed.
pub(crate) struct Process {
    child: Child,
    requests: Sender<Vec<u8>>,
    answers: Receiver<Vec<u8>>,
    asked: usize,
}

/// Why a child gave no answer.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Ending {
    TooMuchCpu {
        cpu_ms: u64,
    },
    TooLong {
        wall_ms: u64,
    },
    Died,
    /// Nobody wants to know any more.
    Closed,
}

impl fmt::Display for Ending {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::TooMuchCpu { cpu_ms } => write!(f, "it took more than {cpu_ms} ms of CPU time"),
            Self::TooLong { wall_ms } => write!(f, "it took more than {wall_ms} ms"),
            Self::Died => f.write_str("its process ended, out of memory or stack"),
            Self::Closed => f.write_str("the server is stopping"),
        }
    }
}

impl Launch {
    /// The child sees no environment, and one time zone everywhere.
    pub(crate) fn start(&self) -> io::Result<Process> {
        let mut child = Command::new(&self.program)
            .args(&self.arguments)
            .env_clear()
            .env("TZ", "UTC")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()?;
        let pipes = child.stdin.take().zip(child.stdout.take());
        let (stdin, stdout) = pipes.expect("both were asked for");
        let (requests, to_send) = channel();
        let (received, answers) = channel();
        let process = Process { child, requests, answers, asked: 0 };
        thread::Builder::new()
            .name("script-pipe".to_owned())
            .spawn(move || converse(stdin, stdout, &to_send, &received))?;
        Ok(process)
    }
}

/// Ends with either pipe, or when nobody is left to ask.
fn converse(
    mut stdin: ChildStdin,
    mut stdout: ChildStdout,
    requests: &Receiver<Vec<u8>>,
    answers: &Sender<Vec<u8>>,
) {
    while let Ok(request) = requests.recv() {
        let answer = frame::write(&mut stdin, &request).and_then(|()| frame::read(&mut stdout));
        let Ok(Some(answer)) = answer else { return };
        if answers.send(answer).is_err() {
            return;
        }
    }
}

impl Process {
    /// Whether the kernel refuses it files and network. To be asked after it has answered something.
    pub(crate) fn is_sealed(&self) -> bool {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.child.id()));
        status.is_ok_and(|status| status.lines().any(|line| line == "Seccomp:\t2"))
    }

    /// Waits for the verdict on one request. After an error the process is of no more use.
    pub(crate) fn ask(
        &mut self,
        request: Vec<u8>,
        guards: &Guards,
        is_closed: &AtomicBool,
    ) -> Result<Verdict, Ending> {
        let Guards { cpu_ms, wall_ms } = *guards;
        let started = Instant::now();
        let mut spent_before = None;
        self.asked += 1;
        self.requests.send(request).map_err(|_| Ending::Died)?;
        loop {
            match self.answers.recv_timeout(LOOK_EVERY) {
                Ok(answer) => return serde_json::from_slice(&answer).map_err(|_| Ending::Died),
                Err(RecvTimeoutError::Disconnected) => return Err(Ending::Died),
                Err(RecvTimeoutError::Timeout) => {}
            }
            if is_closed.load(Ordering::Relaxed) {
                return Err(Ending::Closed);
            }
            let passed_ms = u64::try_from(started.elapsed().as_millis()).unwrap_or(u64::MAX);
            if passed_ms > wall_ms {
                return Err(Ending::TooLong { wall_ms });
            }
            // Counted from the first look: most scripts are over before it, and cost no look.
            let spent_ms = cpu::spent_ms(self.child.id()).unwrap_or(passed_ms);
            if spent_ms.saturating_sub(*spent_before.get_or_insert(spent_ms)) > cpu_ms {
                return Err(Ending::TooMuchCpu { cpu_ms });
            }
        }
    }

    /// Whether it may be asked again: it is alive, and has not been asked too often.
    pub(crate) fn is_usable(&mut self) -> bool {
        self.asked < CHILD_SCRIPTS_MAX && matches!(self.child.try_wait(), Ok(None))
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        // Both fail only for a process that is gone.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
