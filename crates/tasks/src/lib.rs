//! # Tasks that touch the world
//!
//! Done by workers in our own house: they claim, act and report like everyone, with leases and
//! fences. The engine does not know that they are ours.
//!
//! **May use:** the runtime, as the door does, and a client per kind of task. **May not:** decide
//! anything about an execution.

mod hand;
mod http;

pub use http::{Closer, HttpSettings, HttpWorker};
