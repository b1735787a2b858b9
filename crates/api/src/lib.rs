//! # The door: Conductor's REST API
//!
//! A handler parses, submits, answers. Wire shapes and their oddities stop here. Routes are listed
//! in one file per section of the contract and merged in `routes.rs`; a failure becomes a status in
//! `error.rs` and nowhere else.

mod answer;
mod app;
mod applications;
mod audit;
mod auth;
mod bulk;
mod caller;
mod confidential;
mod decision_conflict;
mod decisions;
mod definition_size;
mod definition_tags;
mod docs;
mod effects;
mod endpoint;
mod enforceable;
mod environment;
mod error;
mod events;
mod execute;
mod guard;
mod idempotency;
mod keyed;
mod keys;
mod lint;
mod listings;
mod locks;
mod logs;
mod lookups;
mod messages;
mod metadata;
mod monitoring;
mod named;
mod openapi;
mod operations;
mod params;
mod problem;
mod process;
mod queues;
mod records;
mod refusal;
mod rehearsal;
mod request;
mod request_key;
mod resolutions;
mod roles;
mod room;
mod routes;
mod schemas;
mod search;
mod secrets;
mod seen;
mod service;
mod starts;
mod steering;
mod summary;
mod tags;
mod task;
mod tasks;
mod token;
mod unserved;
mod view;
mod warnings;
mod watch;
mod workflow;

pub use app::{House as App, KeyRules, Limits};
pub use auth::Auth;
pub use definition_size::DefinitionLimits;
pub use routes::{Door, door};
pub use watch::{Spans, Watch};
