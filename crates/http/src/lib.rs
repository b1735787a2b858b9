//! # The client of HTTP tasks
//!
//! Sends what a task's input says, to addresses it may speak to, and says what the answer means:
//! whether the effect happened, and whether it may be tried again
//! (docs/reference/idempotency.md#http-tasks).
//!
//! **May use:** the model and the network. **May not:** know of executions, or try anything twice:
//! whoever has the retry policy does.

mod answer;
mod client;
mod condition;
mod connected;
mod fault;
mod guard;
mod outcome;
mod outgoing;
mod redirect;
mod resolver;
mod retry_after;
mod verdict;

pub use client::{Client, Settings, TOTAL_MS, TOTAL_MS_MAX};
pub use guard::{Guard, Refused};
pub use outcome::{Applied, Outcome, Status};
pub use outgoing::{Identity, host};
