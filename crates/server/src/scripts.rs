//! # Scripts of a server: run by children of its own binary

use std::path::PathBuf;
use std::sync::mpsc::channel;
use std::time::Duration;

use semel_engine::{Language, Script, Verdict};
use semel_model::{Payload, TaskId, Timestamp};
use semel_runtime::Scripts;
use semel_scripts::{Budget, Guards, Pool, child};

/// Children at one time: a script that hangs must not keep all others waiting.
const CHILDREN_MIN: usize = 2;
const CHILDREN_MAX: usize = 8;

pub(crate) struct ScriptPool(Pool);

impl ScriptPool {
    pub(crate) fn new() -> std::io::Result<Self> {
        let cores = std::thread::available_parallelism().map_or(CHILDREN_MIN, usize::from);
        let size = cores.clamp(CHILDREN_MIN, CHILDREN_MAX);
        Ok(Self(Pool::new(
            program()?,
            &[child::COMMAND],
            size,
            Budget::default(),
            Guards::default(),
        )))
    }
}

/// This very program, also when another was put in its place meanwhile.
fn program() -> std::io::Result<PathBuf> {
    let own = PathBuf::from("/proc/self/exe");
    if own.exists() { Ok(own) } else { std::env::current_exe() }
}

impl Scripts for ScriptPool {
    fn ask(&self, script: Script, reply: Box<dyn FnOnce(Verdict) + Send>) {
        self.0.ask(script, reply);
    }

    fn are_sealed(&self) -> Option<bool> {
        self.0.is_sealed()
    }
}

/// How long a first child may take to answer.
const CHILD_WITHIN: Duration = Duration::from_secs(10);

/// Has a child calculate, and tells whether the kernel refuses it files and network.
pub(crate) fn try_one() -> Result<bool, String> {
    let program =
        program().map_err(|error| format!("this program does not find itself: {error}"))?;
    let pool = Pool::new(program, &[child::COMMAND], 1, Budget::default(), Guards::default());
    let script = Script {
        language: Language::JavaScript,
        source: "1".to_owned(),
        input: Payload::empty(),
        now: Timestamp::NOT_YET,
        seed: TaskId::from_bytes([0; 16]),
    };
    let (tell, told) = channel();
    // Nobody listens any more if it took too long.
    pool.ask(script, move |verdict| drop(tell.send(verdict)));
    match told.recv_timeout(CHILD_WITHIN) {
        Ok(Verdict::Value(_)) => Ok(pool.is_sealed().unwrap_or(false)),
        Ok(Verdict::Failed(why) | Verdict::Exhausted(why)) => Err(why),
        Err(_) => Err("a child gave no answer".to_owned()),
    }
}
