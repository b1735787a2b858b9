//! # Watchers: who waits for an execution to change
//!
//! Told after the commit. Each waits on one bell for any number of executions; a bell rung while
//! nobody listens stays rung, so nothing is missed between a look and the wait after it.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use semel_model::ExecutionId;
use tokio::sync::Notify;

#[derive(Default)]
pub(crate) struct Watchers {
    bells: Mutex<BTreeMap<ExecutionId, Vec<Arc<Notify>>>>,
    /// How many executions are watched: commits look at this before they take the lock.
    watched: AtomicUsize,
    is_closing: AtomicBool,
}

impl Watchers {
    pub(crate) fn changed(&self, id: ExecutionId) {
        if self.watched.load(Ordering::Acquire) == 0 {
            return;
        }
        let bells = self.bells.lock().unwrap_or_else(PoisonError::into_inner);
        bells.get(&id).into_iter().flatten().for_each(|bell| bell.notify_one());
    }

    /// Nobody shall wait any longer: the process is going down.
    pub(crate) fn close(&self) {
        self.is_closing.store(true, Ordering::Release);
        let bells = self.bells.lock().unwrap_or_else(PoisonError::into_inner);
        bells.values().flatten().for_each(|bell| bell.notify_one());
    }

    pub(crate) fn is_closing(&self) -> bool {
        self.is_closing.load(Ordering::Acquire)
    }

    pub(crate) fn watch(&self) -> Watch<'_> {
        Watch { watchers: self, bell: Arc::default(), seen: BTreeSet::new() }
    }

    fn update(&self, change: impl FnOnce(&mut BTreeMap<ExecutionId, Vec<Arc<Notify>>>)) {
        let mut bells = self.bells.lock().unwrap_or_else(PoisonError::into_inner);
        change(&mut bells);
        self.watched.store(bells.len(), Ordering::Release);
    }
}

/// One caller's watch, over when it is dropped.
pub(crate) struct Watch<'a> {
    watchers: &'a Watchers,
    bell: Arc<Notify>,
    seen: BTreeSet<ExecutionId>,
}

impl Watch<'_> {
    /// Listens to these too. True: to one it did not listen to before, which may have changed.
    pub(crate) fn extend(&mut self, ids: impl IntoIterator<Item = ExecutionId>) -> bool {
        let new: Vec<_> = ids.into_iter().filter(|id| self.seen.insert(*id)).collect();
        if new.is_empty() {
            return false;
        }
        self.watchers.update(|bells| {
            for id in new {
                bells.entry(id).or_default().push(Arc::clone(&self.bell));
            }
        });
        true
    }

    pub(crate) async fn changed(&self) {
        self.bell.notified().await;
    }
}

impl Drop for Watch<'_> {
    fn drop(&mut self) {
        self.watchers.update(|bells| {
            for id in &self.seen {
                let Some(of_id) = bells.get_mut(id) else { continue };
                of_id.retain(|bell| !Arc::ptr_eq(bell, &self.bell));
                if of_id.is_empty() {
                    bells.remove(id);
                }
            }
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_change_between_the_look_and_the_wait_is_not_missed() {
        let watchers = Watchers::default();
        let (watched, other) = (ExecutionId::draw(), ExecutionId::draw());
        let mut watch = watchers.watch();
        assert!(watch.extend([watched]));
        assert!(!watch.extend([watched]));
        watchers.changed(watched);
        watch.changed().await;
        watchers.changed(other);
        let again = tokio::time::timeout(std::time::Duration::ZERO, watch.changed()).await;
        assert!(again.is_err(), "another execution's change rang");
    }

    #[test]
    fn nothing_is_left_of_a_watch_that_is_over() {
        let watchers = Watchers::default();
        let id = ExecutionId::draw();
        let mut first = watchers.watch();
        first.extend([id]);
        let mut second = watchers.watch();
        second.extend([id, ExecutionId::draw()]);
        drop(second);
        assert_eq!(watchers.watched.load(Ordering::Acquire), 1);
        drop(first);
        assert!(watchers.bells.lock().unwrap().is_empty());
    }
}
