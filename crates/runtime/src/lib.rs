//! # The runtime: the one road on which anything changes
//!
//! Requests become [`Work`]; a [`Lane`] takes everything that waits and works in rounds: gather,
//! hold, decide, write, answer. Nothing leaves before the commit that caused it.
//!
//! **May use:** `store`, `engine`. **May not:** decide; that is the engine's. Wire shapes stop at
//! the door.

mod aftermath;
mod alarms;
mod applications;
mod asking;
mod bells;
mod blocking;
mod cache;

#[cfg(test)]
mod bombs;
mod claims;
mod definition_cache;
mod definitions;
mod descent;
mod dirty;
mod documents;
mod draft;
mod edits;
mod events;
mod explaining;
mod failure;
mod gates;
mod gauges;
mod guards;
mod handlers;
mod health;
mod held_up;
mod hits;
mod in_flight;
mod inbox;
mod inboxes;
mod indexer;
mod labels;
mod lane;
mod ledger;
mod lineages;
mod lives;
mod logs;
mod memory;
mod messages;
mod meters;
mod offline;
mod outage;
mod outside;
mod patience;
mod polls;
mod prepared;
mod publications;
mod reading;
mod rehearsal;
mod removals;
mod replays;
mod requests;
mod revivals;
mod round;
mod runtime;
mod sabotage;
mod schemas;
mod searching;
mod secrets;
mod shares;
mod snapshots;
mod stale;
mod starts;
mod sweep;
mod tally;
mod threads;
mod timers;
mod touches;
mod undone;
mod variables;
mod verify;
mod waiters;
mod watchers;
mod work;
mod world;

pub use applications::{
    AccessKey, Application, Applications, Holder, KnownKeys, NewKey, Role, add_admin_key,
    first_admin_key,
};
pub use asking::{NoScripts, Scripts};
pub use blocking::{Blocked, Seen};
pub use definitions::Definitions;
pub use edits::Edited;
pub use failure::Failure;
pub use handlers::Handlers;
pub use health::{Health, State};
pub use held_up::{HeldUp, Share};
pub use in_flight::{InFlight, Room};
pub use inbox::{Class, Inbox};
pub use lane::{Lane, LaneDown, Stepped};
pub use ledger::{Asks, Call};
pub use memory::Budget;
pub use prepared::Prepared;
pub use reading::Snapshot;
pub use rehearsal::{Mock, Script};
pub use requests::{
    KeyedRequest, Looked, REQUEST_KEY_MS, RequestKey, RequestTurn, Settled, Settlement, Step,
    StoredAnswer, request_id,
};
pub use runtime::{Runtime, Settings};
pub use sabotage::Sabotage;
pub use schemas::Schemas;
pub use searching::Found;
pub use secrets::{
    AboutSecret, Confided, KeyRing, Resealed, Secrets, SecretsKey, Unreadable, reseal, unopened,
    unopened_among,
};
pub use starts::{Found as FoundRun, Refused, StartWork, Why};
pub use variables::{Variable, Variables};
pub use verify::{Verdict, verify};
pub use waiters::Waiting;
pub use work::{
    Answer, Claim, DocumentRule, DocumentWrite, EventWork, HandedOut, Item, Next, Poll, Removal,
    Renewal, Reply, Standing, Work,
};
pub use world::World;
