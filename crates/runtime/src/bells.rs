//! # Bells: who waits for a record to be given back
//!
//! Rung after the commit, once for each time; one of those who listen hears it, the first first. A
//! bell is only a hint: whoever hears it asks again.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use semel_engine::RecordKey;
use tokio::sync::Notify;

#[derive(Default)]
pub(crate) struct Bells {
    bells: Mutex<BTreeMap<RecordKey, (Arc<Notify>, usize)>>,
    /// Rounds look at this before they take the lock.
    listened: AtomicUsize,
}

impl Bells {
    pub(crate) fn ring(&self, key: &RecordKey) {
        if self.listened.load(Ordering::Acquire) == 0 {
            return;
        }
        let bells = self.bells.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((bell, _)) = bells.get(key) {
            bell.notify_one();
        }
    }

    pub(crate) fn listen(&self, key: &RecordKey) -> Listener<'_> {
        let mut bells = self.bells.lock().unwrap_or_else(PoisonError::into_inner);
        let (bell, count) = bells.entry(key.clone()).or_default();
        *count += 1;
        let bell = Arc::clone(bell);
        self.listened.store(bells.len(), Ordering::Release);
        Listener { bells: self, key: key.clone(), bell }
    }
}

/// Listens until it is dropped.
pub(crate) struct Listener<'a> {
    bells: &'a Bells,
    key: RecordKey,
    bell: Arc<Notify>,
}

impl Listener<'_> {
    pub(crate) async fn rung(&self) {
        self.bell.notified().await;
    }
}

impl Drop for Listener<'_> {
    fn drop(&mut self) {
        let mut bells = self.bells.bells.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, count)) = bells.get_mut(&self.key) {
            *count -= 1;
            if *count == 0 {
                bells.remove(&self.key);
            }
        }
        self.bells.listened.store(bells.len(), Ordering::Release);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_bell_rung_before_anybody_waits_is_heard_and_nothing_is_left_behind() {
        let bells = Bells::default();
        let key = RecordKey::lock("door");
        bells.ring(&key);
        let (first, second) = (bells.listen(&key), bells.listen(&key));
        bells.ring(&key);
        first.rung().await;
        let silent = tokio::time::timeout(std::time::Duration::ZERO, second.rung()).await;
        assert!(silent.is_err(), "one ring was heard twice");
        drop((first, second));
        assert!(bells.bells.lock().unwrap().is_empty());
    }
}
