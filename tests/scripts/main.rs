//! # Scripts: other people's programs, good and bad
//!
//! Every program of `ordinary` and `hostile` in this process, as far as a budget ends it, and every
//! one through a pool of real children.

#![expect(clippy::unwrap_used, reason = "a test says what went wrong by panicking")]

mod children;
mod corpus;
mod hostile;
mod ordinary;
mod plain;
mod pools;
