//! # The runtime: the one road on which anything changes
//!
//! Requests become [`Work`]; a [`Lane`] takes everything that waits and works in rounds: gather,
//! hold, decide, write, answer. Nothing leaves before the commit that caused it.
//!
//! **May use:** `store`, `engine`. **May not:** decide; that is the engine's. Wire shapes stop at
//! the door.

mod claims;
mod definitions;
mod descent;
mod documents;
mod draft;
mod edits;
mod events;
mod failure;
mod inbox;
mod lane;
mod messages;
mod polls;
mod reading;
mod removals;
mod revivals;
mod round;
mod runtime;
mod sabotage;
mod secrets;
mod starts;
mod sweep;
mod threads;
mod timers;
mod touches;
mod variables;
mod verify;
mod waiters;
mod work;
mod world;

pub use definitions::Definitions;
pub use failure::Failure;
pub use inbox::{Class, Inbox};
pub use lane::{Lane, LaneDown, Prepared, Stepped};
pub use reading::Snapshot;
pub use runtime::{Runtime, Settings};
pub use sabotage::Sabotage;
pub use secrets::{
    AboutSecret, Confided, KeyRing, Resealed, Secrets, SecretsKey, Unreadable, reseal, unopened,
    unopened_among,
};
pub use starts::StartWork;
pub use variables::{Variable, Variables};
pub use verify::{Verdict, verify};
pub use waiters::Waiting;
pub use work::{
    Answer, Claim, DocumentRule, DocumentWrite, EventWork, HandedOut, Item, Next, Removal, Renewal,
    Reply, Standing, Work,
};
pub use world::World;
