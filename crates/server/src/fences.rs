//! # Fences: lifted after a restore
//!
//! A store that was put back to an earlier moment does not know what was handed out since. New fences
//! are drawn above its floor, so the floor is lifted above all that can have been lost.

use std::path::PathBuf;

use semel_store::{FENCE_MARGIN, Stamp, StoreError, Touches, Writes};

use crate::config::{Config, Store};
use crate::copy::End;
use crate::stores::OpenError;

/// The name under which it works on a database.
const NODE: &str = "semel raise-fences";

#[derive(Debug, thiserror::Error)]
pub enum CannotRaise {
    #[error("a store in memory cannot be restored; use --store sqlite or --store postgres://...")]
    Memory,
    #[error("{} holds no data; name the directory of the server with --data", .directory.display())]
    NoData { directory: PathBuf },
    #[error("the store cannot be opened")]
    Open(#[from] OpenError),
    #[error("the store cannot be written")]
    Store(#[from] StoreError),
}

/// The floor before and after.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Raised {
    pub before: u64,
    pub after: u64,
}

/// Durable when it returns. Nobody may serve the store meanwhile.
pub fn raise_fences(config: &Config) -> Result<Raised, CannotRaise> {
    let end = match &config.store {
        Store::Memory => return Err(CannotRaise::Memory),
        Store::Sqlite => End::Sqlite(config.data.clone()),
        Store::Postgres(url) => End::Postgres(url.clone()),
    };
    if !end.has_data()? {
        return Err(CannotRaise::NoData { directory: config.data.clone() });
    }
    let store = end.open_alone(NODE)?;
    let before = store.fence_floor()?;
    let by_clock = u64::try_from(store.now().ms()).unwrap_or(0).saturating_mul(1_000);
    let after = before.max(by_clock).saturating_add(FENCE_MARGIN);
    let mut writer = store.writer(0)?;
    writer.hold(&Touches::default())?;
    // Not now: whoever serves it next gives leases the time since it was last alive.
    let at = store.last_at()?.unwrap_or_default();
    let stamp = Stamp { lane: 0, round: store.last_round(0)? + 1, at, fence: after };
    writer.commit(Writes { stamp, ..Writes::default() })?;
    Ok(Raised { before, after })
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use semel_store::{Clock, Store as _};
    use semel_store_sqlite::SqliteStore;

    use super::*;
    use crate::config::Flags;

    #[test]
    fn every_time_fences_begin_higher() {
        let directory = tempfile::tempdir().unwrap();
        let (mut config, _) = Config::load(&Flags::new(None), |_| None, directory.path()).unwrap();
        config.data = directory.path().join("data");
        assert!(matches!(raise_fences(&config), Err(CannotRaise::NoData { .. })));
        drop(SqliteStore::open(&config.data, Arc::new(Clock::wall())).unwrap());
        let first = raise_fences(&config).unwrap();
        assert!(first.before == 0 && first.after > FENCE_MARGIN);
        let second = raise_fences(&config).unwrap();
        assert_eq!(second, Raised { before: first.after, after: first.after + FENCE_MARGIN });
        let store = SqliteStore::open(&config.data, Arc::new(Clock::wall())).unwrap();
        assert_eq!(store.fence_floor().unwrap(), second.after);
        assert!(matches!(raise_fences(&config), Err(CannotRaise::Open(_))), "it is served");
    }
}
