//! # Crash: the real server, a real disk, and signals
//!
//! Plain `cargo test` kills a few times; `SEMEL_FULL=1` fifty times and with a full disk. `SEMEL_KILLS`
//! and `SEMEL_SEED` say otherwise. What was acknowledged must be there afterwards, and nothing twice.
//! **May not:** wait for time to pass, except between two blows at `cluster`, or use anything but HTTP,
//! signals and the exit code.

mod check;
mod cluster;
mod directory;
mod frozen;
mod keys;
mod ledger;
mod load;
mod ordeal;
mod sleeper;
mod stop;
