//! # The pool: scripts answered by a few children
//!
//! A thread per child takes what waits longest. Children are started when first needed, and anew
//! after a script that was too much for one. A verdict of the budget repeats and is final; a child
//! that is killed or dies may have been unlucky, so its script is asked once more, in a fresh one.
//! **May not:** bound the queue; whoever asks knows how much may wait.

use std::collections::VecDeque;
use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, OnceLock};
use std::thread::{self, JoinHandle};

use semel_engine::{Script, Verdict};

use crate::budget::{Budget, FRAME_BYTES_MAX, Guards};
use crate::process::{Ending, Launch, Process};

/// How often a script is asked before its silence is the verdict.
const ASKED_MAX: usize = 2;

/// Children that evaluate scripts. Dropped, it ends them; what was not answered by then never is.
pub struct Pool {
    line: Arc<Line>,
    threads: Vec<JoinHandle<()>>,
}

impl Pool {
    /// A pool of at most `size` children, each this program with these arguments: a process that
    /// calls [`crate::child::serve`].
    pub fn new(
        program: impl Into<PathBuf>,
        arguments: &[&str],
        size: usize,
        budget: Budget,
        guards: Guards,
    ) -> Self {
        let arguments = arguments.iter().map(|&argument| argument.to_owned()).collect();
        let launch = Launch { program: program.into(), arguments };
        let line = Arc::new(Line {
            waiting: Mutex::default(),
            arrived: Condvar::new(),
            is_closed: AtomicBool::new(false),
            sealed: OnceLock::new(),
            launch,
            budget,
            guards,
        });
        let threads = (0..size.max(1)).map(|_| {
            let line = Arc::clone(&line);
            thread::spawn(move || line.serve())
        });
        Self { threads: threads.collect(), line }
    }

    /// Has a script evaluated; `then` is told the verdict, once, on a thread of the pool. Never
    /// blocks.
    pub fn ask(&self, script: Script, then: impl FnOnce(Verdict) + Send + 'static) {
        self.line.waiting().push_back(Job { script, then: Box::new(then) });
        self.line.arrived.notify_one();
    }

    /// Whether the kernel refuses children files and network. None: none has answered yet.
    pub fn is_sealed(&self) -> Option<bool> {
        self.line.sealed.get().copied()
    }
}

impl Drop for Pool {
    fn drop(&mut self) {
        {
            // Under the lock, so that nobody misses it between looking and waiting.
            let _waiting = self.line.waiting();
            self.line.is_closed.store(true, Ordering::Relaxed);
        }
        self.line.arrived.notify_all();
        for thread in self.threads.drain(..) {
            // The last owner may be a `then`, on one of these very threads.
            if thread.thread().id() != thread::current().id() && thread.join().is_err() {
                tracing::error!("a thread of the script pool panicked");
            }
        }
    }
}

struct Job {
    script: Script,
    then: Box<dyn FnOnce(Verdict) + Send>,
}

/// What the threads share.
struct Line {
    waiting: Mutex<VecDeque<Job>>,
    arrived: Condvar,
    is_closed: AtomicBool,
    /// Whether the kernel refuses children files and network; known when the first has answered.
    sealed: OnceLock<bool>,
    launch: Launch,
    budget: Budget,
    guards: Guards,
}

impl Line {
    fn waiting(&self) -> MutexGuard<'_, VecDeque<Job>> {
        self.waiting.lock().expect("nobody panics while looking at the queue")
    }

    /// The next script; none when the pool is dropped.
    fn next(&self) -> Option<Job> {
        let is_idle = |waiting: &mut VecDeque<Job>| {
            waiting.is_empty() && !self.is_closed.load(Ordering::Relaxed)
        };
        let waiting = self.arrived.wait_while(self.waiting(), is_idle);
        let mut waiting = waiting.expect("nobody panics while looking at the queue");
        if self.is_closed.load(Ordering::Relaxed) { None } else { waiting.pop_front() }
    }

    /// The life of one thread. It starts its children itself and outlives them: a child is told to
    /// die with the thread that started it.
    fn serve(&self) {
        let mut process = None;
        while let Some(Job { script, then }) = self.next() {
            let Some(verdict) = self.verdict(&mut process, &script) else { return };
            if catch_unwind(AssertUnwindSafe(|| then(verdict))).is_err() {
                tracing::error!(task = %script.seed, "whoever asked panicked at the verdict");
            }
        }
    }

    /// None when the pool is dropped meanwhile.
    fn verdict(&self, process: &mut Option<Process>, script: &Script) -> Option<Verdict> {
        let request = serde_json::to_vec(&(script, &self.budget)).expect("a script is plain data");
        if request.len() > FRAME_BYTES_MAX {
            let text = format!("script and input are longer than {FRAME_BYTES_MAX} bytes");
            return Some(Verdict::Exhausted(text));
        }
        let mut asked = 0;
        loop {
            asked += 1;
            let running = match self.running(process) {
                Ok(running) => running,
                Err(error) => return Some(self.unstartable(&error)),
            };
            match running.ask(request.clone(), &self.guards, &self.is_closed) {
                Ok(verdict) => {
                    self.sealed.get_or_init(|| told_if_open(running.is_sealed()));
                    // An engine that was refused memory may be damaged, and keeps what it took.
                    if matches!(verdict, Verdict::Exhausted(_)) {
                        *process = None;
                    }
                    return Some(verdict);
                }
                Err(Ending::Closed) => return None,
                Err(ending) => {
                    *process = None;
                    tracing::warn!(task = %script.seed, asked, %ending, "a script did not finish");
                    if asked == ASKED_MAX {
                        return Some(Verdict::Exhausted(format!(
                            "script did not finish: {ending}"
                        )));
                    }
                }
            }
        }
    }

    fn unstartable(&self, error: &io::Error) -> Verdict {
        const WHAT: &str = "no process for scripts can be started";
        tracing::error!(%error, program = %self.launch.program.display(), "{WHAT}");
        Verdict::Exhausted(format!("{WHAT}: {error}"))
    }

    fn running<'a>(&self, process: &'a mut Option<Process>) -> io::Result<&'a mut Process> {
        if process.as_mut().is_some_and(|process| !process.is_usable()) {
            *process = None;
        }
        match process {
            Some(process) => Ok(process),
            None => Ok(process.insert(self.launch.start()?)),
        }
    }
}

/// Said once, of the first child.
fn told_if_open(is_sealed: bool) -> bool {
    if !is_sealed {
        tracing::warn!(
            "this system does not filter the system calls of script children; \
             they are confined by limits only (docs/security.md)"
        );
    }
    is_sealed
}
