//! # Dice: one seed decides when to kill and how workers behave
//!
//! Threads still race, so a seed repeats the plan of a run and not every interleaving of it.

use std::time::{SystemTime, UNIX_EPOCH};

/// Knuth's MMIX generator; the high bits are the good ones.
pub struct Dice(u64);

impl Dice {
    /// From `SEMEL_SEED`, else from the time; printed either way.
    pub fn thrown() -> Self {
        let given = std::env::var("SEMEL_SEED").ok();
        let given = given.map(|seed| seed.parse().expect("SEMEL_SEED is a whole number"));
        let seed = given.unwrap_or_else(|| {
            let now = SystemTime::now().duration_since(UNIX_EPOCH);
            now.expect("the clock is past 1970").as_secs() % 1_000_000
        });
        eprintln!("SEMEL_SEED={seed}");
        Self(seed)
    }

    pub fn of(seed: u64) -> Self {
        Self(seed)
    }

    /// Dice of its own for one of several threads.
    pub fn fork(&mut self) -> Self {
        Self(self.next())
    }

    pub fn below(&mut self, sides: u64) -> u64 {
        self.next() % sides
    }

    /// True once in so many throws.
    pub fn once_in(&mut self, throws: u64) -> bool {
        self.below(throws) == 0
    }

    fn next(&mut self) -> u64 {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        self.0 >> 33
    }
}
