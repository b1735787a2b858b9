//! # Linearizability: could what clients saw have happened one after the other?
//!
//! [`check`] searches for an order of all operations on one object that its sequential model allows
//! and that respects real time: whatever had its answer before another was asked comes first. The
//! search is Wing and Gong's, with Lowe's memory of what has been tried. An operation without an
//! answer may have happened at any time since it was asked, or never.

mod checker;
mod start_key;

pub use checker::{Model, Operation, Violation, check};
pub use start_key::{Asked, StartKeys, State, Status, Told};
