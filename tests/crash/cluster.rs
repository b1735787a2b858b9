//! # Three nodes on one database, and everything under them fails
//!
//! Every three seconds one of the nodes is killed and some connections are cut; five times in all
//! PostgreSQL itself loses its memory and starts again. The load is that of one server: what it was
//! promised must stand, and after every blow it goes on.

use std::time::Duration;

use anyhow::Result;
use semel_tests::dice::Dice;
use semel_tests::postgres::Postgres;
use semel_tests::process::is_full;
use semel_tests::site::Site;

use crate::check;
use crate::load::Load;

const EVERY: Duration = Duration::from_secs(3);
const BLOWS: u64 = 5;
const BLOWS_FULL: u64 = 20;
const BLOWS_SOAK: u64 = 200;
const CRASHES: u64 = 5;

#[test]
#[ignore = "needs PostgreSQL; run by ./check full"]
fn every_acknowledged_transition_survives_on_three_nodes() -> Result<()> {
    survive(if is_full() { BLOWS_FULL } else { BLOWS })
}

#[test]
#[ignore = "ten minutes of kills: ./check soak crash"]
fn soak_every_acknowledged_transition_survives_on_three_nodes() -> Result<()> {
    survive(BLOWS_SOAK)
}

fn survive(blows: u64) -> Result<()> {
    let database = Postgres::start()?; // Nobody else's: it is going to be crashed.
    let url = database.database()?;
    let mut site = Site::cluster(&url)?;
    let load = Load::new(site.caller()?)?;
    let mut dice = Dice::thrown();
    std::thread::scope(|scope| {
        let mut running = load.run(scope, &mut dice);
        for blow in 1..=blows {
            running.progress(1)?;
            std::thread::sleep(EVERY); // The load goes on meanwhile.
            if blow % (blows / CRASHES) == 0 {
                database.crash()?;
            } else {
                database.cut_some(&url)?;
            }
            site.any(&mut dice).restart()?;
            eprintln!("blow {blow} after {} transitions", load.ledger.progress());
        }
        running.progress(1)?;
        running.stop_starting()?;
        check::await_completion(&load.caller, &load.ledger)?;
        running.stop()
    })?;
    check::promises(&load.caller, &load.ledger)?;
    site.stop()
}
