//! # In flight: what answers hold together, from their making until they are sent
//!
//! Who wants to make a large answer reserves room for it and waits while there is none. What has to be
//! answered whatever is held (a task that was handed out is already its worker's) is counted too, and
//! keeps others waiting.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::sync::Notify;

use crate::failure::Failure;

/// How long one waits for room before being told to come back.
const WAIT_MAX: Duration = Duration::from_secs(5);

pub struct InFlight {
    held: Mutex<u64>,
    max: u64,
    freed: Notify,
}

/// Room for an answer, given back when it is dropped.
pub struct Room {
    of: Arc<InFlight>,
    bytes: u64,
}

impl InFlight {
    pub(crate) fn new(max: u64) -> Arc<Self> {
        Arc::new(Self { held: Mutex::new(0), max, freed: Notify::new() })
    }

    /// Waits for room; one answer at a time may be larger than all there is.
    pub async fn reserve(self: &Arc<Self>, bytes: u64) -> Result<Room, Failure> {
        self.reserve_within(bytes, WAIT_MAX).await
    }

    async fn reserve_within(
        self: &Arc<Self>,
        bytes: u64,
        at_most: Duration,
    ) -> Result<Room, Failure> {
        let reserved = tokio::time::timeout(at_most, async {
            loop {
                let freed = self.freed.notified();
                tokio::pin!(freed);
                freed.as_mut().enable();
                if let Some(room) = self.try_reserve(bytes) {
                    return room;
                }
                freed.await;
            }
        });
        reserved.await.map_err(|_| Failure::Busy)
    }

    fn try_reserve(self: &Arc<Self>, bytes: u64) -> Option<Room> {
        let mut held = self.held();
        if *held > 0 && held.saturating_add(bytes) > self.max {
            return None;
        }
        *held += bytes;
        Some(Room { of: Arc::clone(self), bytes })
    }

    /// For what has to be answered.
    pub fn take(self: &Arc<Self>, bytes: u64) -> Room {
        *self.held() += bytes;
        Room { of: Arc::clone(self), bytes }
    }

    /// Waits until there is any room at all.
    pub async fn some_room(self: &Arc<Self>) -> Result<(), Failure> {
        self.reserve(1).await.map(drop)
    }

    pub(crate) fn bytes(&self) -> u64 {
        *self.held()
    }

    fn held(&self) -> MutexGuard<'_, u64> {
        self.held.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Room {
    /// It has turned out to be so large.
    pub fn settle(&mut self, bytes: u64) {
        {
            let mut held = self.of.held();
            *held = held.saturating_sub(self.bytes) + bytes;
        }
        let has_shrunk = bytes < self.bytes;
        self.bytes = bytes;
        if has_shrunk {
            self.of.freed.notify_waiters();
        }
    }
}

impl Drop for Room {
    fn drop(&mut self) {
        self.settle(0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Without waiting.
    async fn reserve(answers: &Arc<InFlight>, bytes: u64) -> Result<Room, Failure> {
        answers.reserve_within(bytes, Duration::ZERO).await
    }

    #[tokio::test]
    async fn who_finds_no_room_waits_for_it_and_is_refused_in_the_end() {
        let answers = InFlight::new(100);
        let mut first = reserve(&answers, 60).await.unwrap();
        assert!(matches!(reserve(&answers, 60).await, Err(Failure::Busy)));
        first.settle(40);
        assert_eq!(answers.bytes(), 40);
        let second = reserve(&answers, 60).await.unwrap();
        let waiting = tokio::spawn({
            let answers = Arc::clone(&answers);
            async move { answers.reserve_within(10, Duration::MAX).await.is_ok() }
        });
        tokio::task::yield_now().await;
        drop((first, second));
        assert!(waiting.await.unwrap());
        assert_eq!(answers.bytes(), 0);
    }

    #[tokio::test]
    async fn one_answer_may_be_larger_than_all_there_is() {
        let answers = InFlight::new(100);
        assert_eq!(reserve(&answers, 1_000).await.unwrap().bytes, 1_000);
    }

    #[tokio::test]
    async fn what_has_to_be_answered_is_counted() {
        let answers = InFlight::new(100);
        let handed_out = answers.take(200);
        assert!(reserve(&answers, 1).await.is_err());
        drop(handed_out);
        assert!(reserve(&answers, 1).await.is_ok());
    }
}
