//! # The engine: what happened in, what is now so out
//!
//! [`decide()`] turns an event into changes; `apply.rs` is the only code that alters an execution,
//! while deciding and while folding a journal. Everything here is pure: no clock, no
//! randomness, no I/O, no unordered map (this crate's `clippy.toml` enforces it).
//!
//! Beside them stand the rows that follow from an execution, as plain data: the [`Delivery`] of a
//! task, the [`Head`] of an execution, the [`Record`] behind a key.

#![warn(clippy::wildcard_enum_match_arm)]

mod apply;
mod behind;
mod change;
mod deadlines;
mod decide;
mod delivery;
mod domain;
mod ending;
mod enforcement;
mod entry;
mod event;
mod execution;
mod expression;
mod facts;
mod failure;
mod fence;
mod handling;
mod head;
mod jump;
mod kinds;
mod listening;
mod loose;
mod mailbox;
mod message;
mod pin;
mod preview;
mod publishing;
mod question;
mod rate;
mod record;
mod release;
mod report;
mod retry;
mod revival;
mod schedule;
mod schema;
mod script;
mod settle;
mod snapshot;
mod start_key;
mod steering;
mod task;
mod tasks;
mod timeout;
mod told;
mod turn;
pub mod view;

pub use change::{Change, Removed, Timeout};
pub use decide::{Brought, Decision, Rejection, Rows, Stop, decide};
pub use delivery::{Claimed, Delivery, HandOut, Queue, Token, follow};
pub use entry::{ENGINE_VERSION, Entry, EntryError, Link};
pub use event::{Event, Parent, Progress, Report, Rerun, Slot, Start};
pub use execution::{Deadline, Execution};
pub use expression::{Mask, Secret, disarmed, mentions_secrets, reveal, secrets_in};
pub use facts::{Claim, Environment, Facts, Registered};
pub use handling::{Deed, Handled, Handler, Occasion, Publication};
pub use head::Head;
pub use message::{Address, ChildEnd, Letter, Message, MessageKey, MessageRow};
pub use pin::{Pinned, Registry, Step, pin};
pub use question::{Answer, Question, Said};
pub use rate::{Limits, Window};
pub use record::{Record, RecordKey};
pub use release::{is_absent, is_supported, unsupported};
pub use schema::{Schema, embed_in_task, unenforceable};
pub use script::{Language, Script, Verdict};
pub use start_key::{Standing, StartKey, judge as judge_start};
pub use task::{Asked, Child, Flow, Join, Loop, Task};
pub use tasks::marked_dynamic;
pub use turn::PAYLOAD_BYTES_MAX;
