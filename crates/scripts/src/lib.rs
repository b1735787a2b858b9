//! # Scripts: other people's programs, run where they can do no harm
//!
//! A script is evaluated on a budget of steps and bytes, so it ends the same on every machine. What
//! no budget can stop, because some built-ins never look up, runs in a child process that can be
//! killed. **May use:** `engine`, for what a script is and what it may say. **May not:** know a
//! task or an execution, decide what a verdict means, or let a script see the clock, the
//! environment or a file.

mod budget;
pub mod child;
mod cpu;
mod frame;
mod javascript;
mod jq;
mod pool;
mod process;
mod reason;
mod result_text;
mod seal;

use semel_engine::{Language, Script, Verdict};

pub use budget::{Budget, Guards};
pub use pool::Pool;

/// Runs one script in this very process, on its budget. Strangers' scripts belong into a [`Pool`]:
/// a built-in of JavaScript may never look at its budget, the engine may not survive being refused
/// memory, and jq counts only what it gives.
pub fn evaluate(script: &Script, budget: &Budget) -> Verdict {
    let outcome = match script.language {
        Language::JavaScript | Language::Function => javascript::run(script, budget),
        Language::Jq => jq::run(script, budget),
    };
    outcome.map_or_else(|stopped| stopped, Verdict::Value)
}
