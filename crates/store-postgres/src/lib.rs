//! # The PostgreSQL store: many nodes, one database
//!
//! A round is one transaction of its lane: rows are held with `FOR UPDATE SKIP LOCKED`, decided on
//! in the node, written with `UNNEST` and committed, two round trips in all. What waits, what is due
//! and what time it is, the database says, so any node can do any work.
//!
//! **May use:** `store` and the engine's rows as plain data. **May not:** judge them.

mod asks;
mod census;
mod clock;
mod columns;
mod credit;
mod due;
mod fault;
mod heard;
mod hints;
mod hold;
mod index;
mod lane;
mod link;
mod migrate;
mod missing;
mod named;
mod open;
mod own;
mod read;
mod readers;
mod set_back;
mod shelves;
mod wait;
mod waits;
mod weight;
mod write;

pub use migrate::{Schema, migrate, schema};
pub use open::{OpenError, Options, PostgresStore, Purpose};
pub use set_back::{clock, set_clock_back};
