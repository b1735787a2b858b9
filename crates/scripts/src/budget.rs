//! # Budgets: what one script may spend
//!
//! Every limit of this room and its default. A budget is counted in steps and bytes, never in time,
//! so that its verdict repeats. The guards around a child process are the exception: they catch
//! what spends no budget.

use serde::{Deserialize, Serialize};

const MIB: usize = 1024 * 1024;

/// How deep a result may nest, as everywhere else on the wire.
pub(crate) const DEPTH_MAX: usize = 100;

/// How much of a reason is kept. A script can make its own arbitrarily long.
pub(crate) const REASON_BYTES_MAX: usize = 4096;

/// What a child process may map in all. jq has no other limit; JavaScript stays below by its own.
pub(crate) const CHILD_BYTES_MAX: u64 = 768 * MIB as u64;

/// How much a child gives way to others, the server above all.
pub(crate) const CHILD_NICENESS: i32 = 10;

/// The stack of the thread that evaluates. jq recurses on it without counting.
pub(crate) const CHILD_STACK_BYTES: usize = 64 * MIB;

/// After how many scripts a child is replaced: it does not give back all that a large one took.
pub(crate) const CHILD_SCRIPTS_MAX: usize = 1000;

/// One request or answer between parent and child.
pub(crate) const FRAME_BYTES_MAX: usize = 64 * MIB;

/// What evaluating one script may cost.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Budget {
    /// Times JavaScript looks up from its work: once per ten thousand calls and turns of loops.
    pub ticks_max: u64,
    /// What JavaScript may keep in memory at a time, its input included.
    pub memory_bytes_max: usize,
    /// How deep JavaScript may recurse.
    pub stack_bytes_max: usize,
    /// The text of a result.
    pub result_bytes_max: usize,
    /// How many results a jq program may give.
    pub results_max: usize,
}

impl Default for Budget {
    fn default() -> Self {
        Self {
            ticks_max: 500,
            memory_bytes_max: 128 * MIB,
            stack_bytes_max: MIB,
            result_bytes_max: 10 * MIB,
            results_max: 1_000_000,
        }
    }
}

/// When a child process is killed. Whatever it was asked is asked once more, in a fresh one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Guards {
    /// The child's CPU time for one script; where that cannot be read, the time that passed.
    pub cpu_ms: u64,
    /// The time one script may take in all, however little of it is spent working.
    pub wall_ms: u64,
}

impl Default for Guards {
    fn default() -> Self {
        Self { cpu_ms: 4_000, wall_ms: 30_000 }
    }
}
