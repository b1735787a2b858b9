//! # The sweep: what has been over for long enough goes
//!
//! Looked for now and then, in batches; each batch is an item of a round like any other, so that
//! nobody waits for it. Keys outlive their runs and go later.

use semel_model::Timestamp;

use crate::lane::Lane;
use crate::removals::record_key;
use crate::work::{Ended, Item, Work};

/// Between two looks when there is nothing more to do, and when there may be.
const SWEEP_MS: i64 = 10_000;
const NEXT_BATCH_MS: i64 = 100;

/// Runs or keys in one batch.
const BATCH_MAX: usize = 100;

impl Lane {
    pub(crate) fn sweep(&mut self, now: Timestamp) {
        if now < self.swept_until {
            return;
        }
        let found = match self.look_for_ended(now) {
            Ok(found) => found,
            Err(error) => {
                tracing::warn!(%error, "what can be removed cannot be read");
                false
            }
        };
        self.swept_until = now.plus_ms(if found { NEXT_BATCH_MS } else { SWEEP_MS });
    }

    fn look_for_ended(&mut self, now: Timestamp) -> Result<bool, semel_store::StoreError> {
        let keys = self.world.store.expired_records(now, BATCH_MAX)?;
        let mut found = !keys.is_empty();
        if found {
            self.again.push_back(Item::unasked(Work::Forget(keys)));
        }
        if let Some(retention_ms) = self.world.retention_ms {
            let before = now.plus_ms(-retention_ms);
            let mut runs = Vec::new();
            for id in self.world.store.ended_before(before, BATCH_MAX)? {
                let head = self.world.store.head(id)?;
                runs.extend(head.map(|head| Ended { id, key: record_key(&head) }));
            }
            if !runs.is_empty() {
                found = true;
                self.again.push_back(Item::unasked(Work::Expire(runs, before)));
            }
        }
        Ok(found)
    }
}
