//! # Scripts of a server: run by children of its own binary

use std::path::PathBuf;

use semel_engine::{Script, Verdict};
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
}
