//! # Limits: how many at once, how many per window
//!
//! A limited task type has one row, held by claims only: the number in flight is counted under it
//! and the window of recent hand-outs lives in it. Unlimited types never touch it.

use std::collections::VecDeque;

use semel_model::{TaskDef, Timestamp};
use serde::{Deserialize, Serialize};

/// A window is counted in this many parts: exact enough, small enough to store.
const PARTS: i64 = 20;

/// What a task definition allows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Limits {
    /// 0: any number.
    pub concurrent_max: usize,
    /// 0: any number.
    pub per_window_max: usize,
    pub window_ms: i64,
}

impl Limits {
    pub fn of(policy: &TaskDef) -> Self {
        let count = |limit: i32| usize::try_from(limit).unwrap_or(0);
        Self {
            concurrent_max: count(policy.concurrent_exec_limit.unwrap_or(0)),
            per_window_max: count(policy.rate_limit_per_frequency),
            window_ms: i64::from(policy.rate_limit_frequency_in_seconds.max(1)) * 1000,
        }
    }

    pub fn is_unlimited(&self) -> bool {
        self.concurrent_max == 0 && self.per_window_max == 0
    }
}

/// Recent hand-outs, counted by the part of the window they fell into. A part counts until all of
/// it has left the window, so no stretch of that length ever sees more than the limit.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Window {
    parts: VecDeque<(i64, usize)>,
}

impl Window {
    /// How many more may be handed out now.
    pub fn room(&mut self, now: Timestamp, limits: &Limits) -> usize {
        if limits.per_window_max == 0 {
            return usize::MAX;
        }
        let width = (limits.window_ms / PARTS).max(1);
        while self
            .parts
            .front()
            .is_some_and(|(part, _)| part + width + limits.window_ms <= now.ms())
        {
            self.parts.pop_front();
        }
        let used: usize = self.parts.iter().map(|(_, count)| count).sum();
        limits.per_window_max.saturating_sub(used)
    }

    pub fn take(&mut self, now: Timestamp, limits: &Limits, count: usize) {
        if limits.per_window_max == 0 || count == 0 {
            return;
        }
        let width = (limits.window_ms / PARTS).max(1);
        let part = now.ms() - now.ms().rem_euclid(width);
        match self.parts.back_mut() {
            Some((last, taken)) if *last >= part => *taken += count,
            _ => self.parts.push_back((part, count)),
        }
    }

    /// When a part next leaves a full window.
    pub fn opens_at(&self, limits: &Limits) -> Option<Timestamp> {
        if limits.per_window_max == 0 {
            return None; // What is left of a limit that was lifted.
        }
        let width = (limits.window_ms / PARTS).max(1);
        self.parts.front().map(|(part, _)| Timestamp::from_ms(part + width + limits.window_ms))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_stretch_of_the_window_sees_more_than_the_limit() {
        let limits = Limits { per_window_max: 3, window_ms: 1000, ..Limits::default() };
        let mut window = Window::default();
        let mut taken: Vec<i64> = Vec::new();
        for ms in (0..10_000).step_by(37) {
            let now = Timestamp::from_ms(1_000_000 + ms);
            if window.room(now, &limits) > 0 {
                window.take(now, &limits, 1);
                taken.push(now.ms());
            }
        }
        assert!(taken.len() > 20, "the window opens again");
        for at in &taken {
            let within = taken.iter().filter(|other| (*at..at + 1000).contains(other)).count();
            assert!(within <= 3, "{within} within a second of {at}");
        }
    }

    #[test]
    fn an_unlimited_type_always_has_room() {
        let mut window = Window::default();
        assert_eq!(window.room(Timestamp::from_ms(1), &Limits::default()), usize::MAX);
        assert_eq!(window.opens_at(&Limits::default()), None);
    }
}
