//! # Offline: documents written while no lane runs
//!
//! For commands on a stopped server's data, and for what has to be there before the first lane
//! starts. **May not:** be used beside a lane, whose rounds it would not see.

use std::collections::{BTreeMap, BTreeSet};

use semel_store::{DocumentKey, Stamp, Store, StoreError, Touches, Writes};

/// One commit; durable when it returns.
pub(crate) fn commit(
    store: &dyn Store,
    documents: BTreeMap<DocumentKey, Option<Vec<u8>>>,
) -> Result<(), StoreError> {
    let mut writer = store.writer(0)?;
    let held: BTreeSet<_> = documents.keys().cloned().collect();
    writer.hold(&Touches { documents: held, ..Touches::default() })?;
    let stamp = Stamp {
        lane: 0,
        round: store.last_round(0)? + 1,
        at: store.now(),
        fence: store.fence_floor()?,
    };
    writer.commit(Writes { stamp, documents, ..Writes::default() })
}
