//! # The SQLite store: one file, one writer, one fsync per round
//!
//! The embedded default. Rounds are written on one connection, in WAL mode with `synchronous=FULL`;
//! reads of committed data go to a few read-only connections; checkpoints run beside both.
//! Queues, tokens and due times are answered by the mirror, rows by point reads.
//!
//! **May use:** `store` and the engine's rows as plain data. **May not:** judge them.

mod accept;
mod at_hand;
mod backup;
mod census;
mod checkpoint;
mod columns;
mod credit;
mod damage;
mod deep;
mod fault;
mod hold;
mod index;
mod lane;
mod last_commit;
mod lock;
mod look;
mod migrate;
mod open;
mod private;
mod proof;
mod read;
mod readers;
mod set_back;
mod shelves;
mod sweep;
mod waits;
mod wal;
mod write;

pub use accept::{AcceptError, Accepted, accept_loss};
pub use backup::{BackedUp, BackupError, Progress, backup};
pub use damage::Damage;
pub use deep::{Deep, read_all};
pub use last_commit::LastCommit;
pub use lock::is_held;
pub use look::{Look, examine_beside, look};
pub use migrate::SCHEMA;
pub use open::{AHEAD_MS_MAX, OpenError};
pub use private::{Shared, make_directory, shared};
pub use proof::Counts;
pub use read::SqliteStore;
pub use set_back::{SetBackError, set_clock_back};
