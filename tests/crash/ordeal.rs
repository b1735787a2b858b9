//! # The ordeal: kill -9, again and again, under load

use std::time::Duration;

use anyhow::Result;
use semel_tests::dice::Dice;
use semel_tests::process::{Server, is_full, until};
use semel_tests::site::Site;

use crate::check;
use crate::load::Load;

const KILLS: u64 = 3;
const KILLS_FULL: u64 = 50;
const KILLS_SOAK: u64 = 5_000;

#[test]
fn every_acknowledged_transition_survives_kill_nine() -> Result<()> {
    survive(kills(if is_full() { KILLS_FULL } else { KILLS }))
}

#[test]
#[ignore = "half an hour of kills: ./check soak crash"]
fn soak_every_acknowledged_transition_survives_kill_nine() -> Result<()> {
    survive(kills(KILLS_SOAK))
}

fn survive(kills: u64) -> Result<()> {
    let mut site = Site::alone()?;
    let load = Load::new(site.caller()?)?;
    let mut dice = Dice::thrown();
    std::thread::scope(|scope| {
        let mut running = load.run(scope, &mut dice);
        for kill in 1..=kills {
            running.progress(20 + dice.below(400))?;
            end(site.any(&mut dice), &load, &mut dice)?;
            eprintln!("kill {kill} after {} transitions", load.ledger.progress());
        }
        running.progress(1)?;
        running.stop_starting()?;
        check::await_completion(&load.caller, &load.ledger)?;
        running.stop()
    })?;
    check::promises(&load.caller, &load.ledger)?;
    site.stop()
}

/// So many, unless `SEMEL_KILLS` says otherwise.
fn kills(unless_told: u64) -> u64 {
    let given = std::env::var("SEMEL_KILLS").ok();
    let given = given.map(|kills| kills.parse().expect("SEMEL_KILLS is a whole number"));
    given.unwrap_or(unless_told)
}

/// Now and then the next process is killed too, while it is still opening the store.
fn end(server: &mut Server, load: &Load, dice: &mut Dice) -> Result<()> {
    server.kill9()?;
    if dice.once_in(4) {
        server.respawn()?;
        let opening = Duration::from_millis(dice.below(60));
        let opened =
            until("the store is open", opening, || load.caller.get("/health").ok().map(|_| ()));
        eprintln!("killed again when {}", if opened.is_ok() { "open" } else { "opening" });
    }
    server.restart()
}
