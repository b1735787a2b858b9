//! # Linearizability: clients that race for start keys see one object after the other
//!
//! Sixteen clients and more over real HTTP against a real server that is killed under them, with
//! every strategy, lookups, resets, endings and restarts. What they saw is judged per key against
//! the sequential object of docs/reference/idempotency.md#sequential-object.
//! Plain `cargo test` judges a few small histories,
//! `SEMEL_FULL=1` twenty, and as many through three nodes; the soak two hundred, and through three
//! nodes sixty. `SEMEL_SEED` repeats a plan.
//! A store whose records are not held proves that the judge can say no.

mod clients;
mod planted;

use anyhow::Result;
use semel_tests::dice::Dice;
use semel_tests::linearizability::{StartKeys, check};
use semel_tests::postgres;
use semel_tests::process::is_full;
use semel_tests::site::Site;

use crate::clients::{Plan, race};

fn judge(mut site: Site, histories: usize, plan: &Plan) -> Result<()> {
    clients::define(&site.caller()?)?;
    let mut dice = Dice::thrown();
    for history in 1..=histories {
        let seen = race(&mut site, &format!("h{history}"), plan, &mut dice)?;
        let count: usize = seen.values().map(Vec::len).sum();
        let unknown = seen.values().flatten().filter(|one| one.told.is_none()).count();
        eprintln!("history {history}: {count} operations, {unknown} of unknown outcome");
        for (key, operations) in &seen {
            if let Err(violation) = check(&StartKeys, operations) {
                panic!("history {history}, key {key}: {}", violation.story);
            }
        }
    }
    site.stop()
}

#[test]
fn what_racing_clients_see_of_a_key_has_an_order() -> Result<()> {
    match is_full() {
        true => {
            judge(Site::alone()?, 20, &Plan { clients: 32, operations: 1_000, keys: 12, kills: 3 })
        }
        false => {
            judge(Site::alone()?, 3, &Plan { clients: 16, operations: 240, keys: 4, kills: 1 })
        }
    }
}

#[test]
#[ignore = "two hundred histories: ./check soak linearizability"]
fn soak_what_racing_clients_see_of_a_key_has_an_order() -> Result<()> {
    judge(Site::alone()?, 200, &Plan { clients: 64, operations: 2_000, keys: 24, kills: 4 })
}

/// Each operation goes to another of three nodes, and any of them dies.
#[test]
#[ignore = "needs PostgreSQL; run by ./check full"]
fn what_racing_clients_see_of_a_key_through_three_nodes_has_an_order() -> Result<()> {
    let site = Site::cluster(&postgres::shared().database()?)?;
    match is_full() {
        true => judge(site, 20, &Plan { clients: 16, operations: 400, keys: 8, kills: 3 }),
        false => judge(site, 3, &Plan { clients: 16, operations: 240, keys: 4, kills: 1 }),
    }
}

#[test]
#[ignore = "sixty histories, needs PostgreSQL: ./check soak linearizability"]
fn soak_what_racing_clients_see_of_a_key_through_three_nodes_has_an_order() -> Result<()> {
    let site = Site::cluster(&postgres::shared().database()?)?;
    judge(site, 60, &Plan { clients: 32, operations: 1_000, keys: 12, kills: 4 })
}
