//! # The door: Conductor's REST API
//!
//! A handler parses, submits, answers. Wire shapes and their oddities stop here. Routes are listed
//! in one file per section of the contract and merged in `routes.rs`; a failure becomes a status in
//! `error.rs` and nowhere else.

mod answer;
mod app;
mod bulk;
mod caller;
mod confidential;
mod docs;
mod endpoint;
mod environment;
mod error;
mod guard;
mod idempotency;
mod listings;
mod metadata;
mod monitoring;
mod openapi;
mod operations;
mod params;
mod process;
mod queues;
mod request;
mod roles;
mod routes;
mod secrets;
mod service;
mod steering;
mod tags;
mod tasks;
mod view;
mod watch;
mod workflow;

pub use app::{App, Limits};
pub use routes::{Door, door};
pub use watch::{Spans, Watch};
