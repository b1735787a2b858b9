//! # Set back: what became of data whose time was far ahead of the clock

use semel_model::ExecutionId;

/// So many of the runs that wait for too long are named.
pub const SET_BACK_NAMED_MAX: usize = 20;

/// What was done.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SetBack {
    pub ahead_ms: i64,
    /// Tasks that wait for workers or are held by them.
    pub tasks: usize,
    /// Runs that wait for a time that is as far ahead as the data was.
    pub waiting: u64,
    /// The first of them.
    pub named: Vec<ExecutionId>,
}
