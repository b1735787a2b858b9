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
mod descendants;
mod domain;
mod doubt;
mod early;
mod effect;
mod ending;
mod enforcement;
mod entry;
mod event;
mod execution;
mod explain;
mod expression;
mod facts;
mod failure;
mod fence;
mod gate;
mod gate_key;
mod grant;
mod guard;
mod handling;
mod head;
mod idle;
mod in_line;
mod jump;
mod kinds;
mod lapse;
mod ledger;
mod listening;
mod lock;
mod lock_cycle;
mod loose;
mod mailbox;
mod message;
mod once;
mod outcome;
mod pin;
mod preview;
mod probe;
mod publishing;
mod question;
mod queued_again;
mod rate;
mod record;
mod redo;
mod release;
mod replay;
mod report;
mod rerun;
mod resolve;
mod retry;
mod revival;
mod schedule;
mod schema;
mod script;
mod sent;
mod settle;
mod shared_definitions;
mod signals;
mod snapshot;
mod start_key;
mod steering;
mod step_keys;
mod step_start;
mod task;
mod tasks;
mod timeout;
mod told;
mod turn;
pub mod view;
mod weight;

pub use change::{AnswerChange, Change, Removed, Timeout};
pub use decide::{Brought, Decision, Rejection, Rows, Stop, decide};
pub use delivery::{Claimed, Delivery, HandOut, Queue, Token, follow};
pub use descendants::Descendants;
pub use entry::{ENGINE_VERSION, Entry, EntryError, Link};
pub use event::{Event, Parent, Progress, Report, Rerun, Resolution, Slot, Start};
pub use execution::{Deadline, Execution};
pub use explain::{EXPLAINED_TASKS_MAX, InLine, LimitState, Needs, Surroundings, explain, needs};
pub use expression::{
    Mask, Secret, disarmed, is_unfinished, mentions_secrets, reveal, secrets_in, shown,
};
pub use facts::{Claim, Environment, Facts, Registered, SizeLimits};
pub use fence::judge_renewal;
pub use gate::{GATE_SCOPE, Limited};
pub use gate_key::not_counted;
pub use grant::judge_grant;
pub use handling::{Deed, Handled, Handler, Occasion, Publication};
pub use head::Head;
pub use ledger::{Act, Attempt, EFFECT_SCOPE, Hold, LetsGo, Ruled, Ruling, judge_ledger};
pub use lock::{LOCK_SCOPE, LockAct, judge_lock};
pub use message::{Address, ChildEnd, Letter, Message, MessageKey, MessageRow, Wait};
pub use once::{EffectStatus, Once, effect_record};
pub use pin::{Pinned, Registry, Step, pin};
pub use question::{Answer, Question, Said};
pub use rate::{Limits, Window};
pub use record::{
    Decided, Detail, KEY_RETENTION_SECONDS, RING_MAX, Record, RecordKey, RecordState, Resolved,
};
pub use resolve::too_late;
pub use schema::{Schema, embed_in_task, unenforceable};
pub use script::{Language, Script, Verdict, json_number};
pub use start_key::{KeyFault, Standing, StartKey, fingerprint, judge as judge_start};
pub use task::{Asked, Child, Flow, Join, Loop, Signature, Task};
pub use tasks::{LEFT_TO_OTHERS_SECONDS, marked_dynamic};
pub use turn::PAYLOAD_BYTES_MAX;
