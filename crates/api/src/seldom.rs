//! # Seldom: log lines that an attacker could otherwise write by the thousand

use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

const EVERY: Duration = Duration::from_secs(60);

/// Says once a minute that it is time for a line.
#[derive(Debug)]
pub struct Seldom(Mutex<Option<Instant>>);

impl Seldom {
    pub const fn new() -> Self {
        Self(Mutex::new(None))
    }

    pub fn is_due(&self) -> bool {
        let mut last = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let is_due = last.is_none_or(|last| last.elapsed() >= EVERY);
        if is_due {
            *last = Some(Instant::now());
        }
        is_due
    }
}

impl Default for Seldom {
    fn default() -> Self {
        Self::new()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_second_line_of_a_minute_is_left_out() {
        let seldom = Seldom::new();
        assert!(seldom.is_due());
        assert!(!seldom.is_due());
    }
}
