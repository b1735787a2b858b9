//! # The door: Conductor's REST API
//!
//! A handler parses, submits, answers. Wire shapes and their oddities stop here. Routes are listed
//! in one file per section of the contract and merged in `routes.rs`; a failure becomes a status in
//! `error.rs` and nowhere else.

mod answer;
mod app;
mod bulk;
mod confidential;
mod environment;
mod error;
mod events;
mod idempotency;
mod listings;
mod metadata;
mod operations;
mod params;
mod queues;
mod request;
mod routes;
mod secrets;
mod service;
mod tags;
mod tasks;
mod view;
mod workflow;

pub use app::{App, Limits};
pub use routes::{Door, door};
