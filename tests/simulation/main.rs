//! # Simulation: one seed decides everything that can go wrong
//!
//! Several lanes of two nodes over one memory store with a simulated disk, driven step by step in
//! one thread: crashes between any two steps, commits of unknown outcome, lost, doubled and
//! reordered messages, stale and dying workers, clock jumps. A failing seed prints the command that
//! replays it. Planted bugs prove that the checks can fail.

mod chance;
mod cluster;
mod family;
mod faults;
mod hearing;
mod history;
mod network;
mod sim;
mod workers;

use semel_runtime::Sabotage;
use semel_store::Plant;

use crate::sim::{Bug, Sim};

/// Faults every seed must have seen at least.
const FAULTS_MIN: usize = 20;

fn seeds() -> u64 {
    std::env::var("SEMEL_SEEDS").ok().and_then(|text| text.parse().ok()).unwrap_or(300)
}

fn run(seed: u64, bug: Option<Bug>) -> Result<usize, String> {
    Sim::new(seed, bug).run()
}

fn replay(seed: u64) -> String {
    format!("SEMEL_SEED={seed} cargo test -p semel-tests --test simulation one_seed -- --nocapture")
}

fn hold_over(first: u64, count: u64) {
    for seed in first..first + count {
        match run(seed, None) {
            Err(violation) => panic!("seed {seed}: {violation}\nreplay: {}", replay(seed)),
            Ok(faults) => assert!(faults >= FAULTS_MIN, "seed {seed} saw only {faults} faults"),
        }
    }
}

#[test]
fn no_seed_breaks_a_promise() {
    hold_over(1, seeds());
}

#[test]
fn one_seed() {
    let seed = std::env::var("SEMEL_SEED").ok().and_then(|text| text.parse().ok()).unwrap_or(1);
    hold_over(seed, 1);
}

#[test]
fn the_same_seed_gives_the_same_run() {
    for seed in [3, 17, 99] {
        let trace = |seed| {
            let mut sim = Sim::new(seed, None);
            sim.run().expect("the seed holds");
            sim.trace()
        };
        assert_eq!(trace(seed), trace(seed), "seed {seed} is not repeatable");
    }
}

/// Some seed must notice the bug.
fn is_caught(bug: Bug) {
    let caught = (1..=300).find_map(|seed| run(seed, Some(bug)).err().map(|what| (seed, what)));
    let (seed, what) = caught.unwrap_or_else(|| panic!("{bug:?} was not noticed by 300 seeds"));
    println!("{bug:?} caught by seed {seed}: {what}");
}

#[test]
fn a_skipped_fsync_is_caught() {
    is_caught(Bug::Store(Plant::FsyncSkipped));
}

#[test]
fn a_record_that_is_not_held_is_caught() {
    is_caught(Bug::Store(Plant::RecordsNotHeld));
}

#[test]
fn a_fence_that_is_not_checked_is_caught() {
    is_caught(Bug::Lane(Sabotage::FenceNotChecked));
}

/// By hand: `./check soak simulation`.
#[test]
#[ignore = "long; run by ./check soak simulation"]
fn soak_many_seeds() {
    let count = std::env::var("SEMEL_SEEDS").ok().and_then(|text| text.parse().ok());
    hold_over(1_000_000, count.unwrap_or(20_000));
}
