//! # PostgreSQL: the store of many nodes, on a real server
//!
//! Not part of a plain `cargo test`, which needs a Rust toolchain only: `./check full` runs it, or
//! `cargo test -p semel-tests --test postgres -- --include-ignored`.

#![expect(clippy::unwrap_used, reason = "a test says what went wrong by panicking")]

mod between;
mod cluster;
mod company;
mod conformance;
mod contention;
mod copy;
mod deadlock;
mod differential;
mod fixture;
mod frozen;
mod indexing;
mod lapses;
mod later;
mod limits;
mod lost;
mod nodes;
mod opening;
mod plans;
mod retention;
mod skew;
mod standstill;
mod tls;
mod under_way;
