//! # Effects: how often did it happen in the world outside?
//!
//! An oracle, a process of its own, counts effects by key. Workers are processes too, and die before
//! the effect, after it, and after their report; the server is killed as well. Plain `cargo test`
//! crashes a few times, `SEMEL_FULL=1` a hundred times, and as often through three nodes; the soak two
//! thousand times, and five hundred through three. `SEMEL_CRASHES` and `SEMEL_SEED` say otherwise.
//! **May not:** wait for time to pass, or use anything but HTTP, signals and the exit code.

mod crew;
mod crowd;
mod matrix;
mod oracle;
mod worker;
