//! # Setting the time of the data back to the clock of the database
//!
//! Nodes never let time go back by themselves. Where the clock of the database was once far ahead, an
//! operator says so while no node works. What workers hold, and what waits for them, is moved along;
//! what runs wait for by themselves stands in their journals and stays.

use semel_model::Timestamp;
use semel_store::{SET_BACK_NAMED_MAX, SetBack, StoreError};

use crate::asks::{Asks, Session, values};
use crate::clock::{LOOK, Seen as Look};
use crate::columns::Fields;
use crate::credit::{AT_LEISURE, LAST, due_at};
use crate::fault::Fault;
use crate::hold::BEGIN;
use crate::link::Link;
use crate::migrate;
use crate::open::{self, OpenError, Purpose};
use crate::write::COMMIT;

const LANES: &str = "UPDATE lanes SET at = least(at, $1)";
/// None becomes earlier than now: nothing ends because of this.
macro_rules! moved {
    ($column:literal) => {
        concat!(
            $column,
            " = CASE WHEN ",
            $column,
            " > $1 THEN greatest(",
            $column,
            " - $2, $1) ELSE ",
            $column,
            " END"
        )
    };
}
const TASKS: &str = "SELECT count(*) FROM deliveries \
     WHERE greatest(ready_at, lease_until, run_until, poll_until) > $1";
const DELIVERIES: &str = concat!(
    "UPDATE deliveries SET ",
    moved!("lease_until"),
    ", ",
    moved!("run_until"),
    ", ",
    moved!("poll_until"),
    ", ",
    moved!("ready_at"),
    " WHERE greatest(ready_at, lease_until, run_until, poll_until) > $1"
);
/// No node works, so nothing is under way: what was offered to one is offered again.
const OFFERED: [&str; 2] = [
    concat!(
        "UPDATE deliveries SET due_at = ",
        due_at!("lease_until"),
        ", told_by = NULL WHERE due_at IS NOT NULL"
    ),
    "UPDATE executions SET due_at = wake_at, told_by = NULL WHERE due_at IS NOT NULL",
];
const MESSAGES: &str = "UPDATE messages SET due_at = $1, told_by = NULL WHERE due_at > $1";
const POLLS: &str = "UPDATE polls SET at = least(at, $1)";
/// Windows of rate limits that begin in years would let nobody in until then.
const LIMITS: &str = "DELETE FROM limits";
const WAITING: &str = "SELECT count(*) FROM executions WHERE wake_at >= $1";
const NAMED: &str = "SELECT id FROM executions WHERE wake_at >= $1 ORDER BY id LIMIT $2";

/// The clock of the database, and the time of the data. None: there is no data.
pub fn clock(url: &str) -> Result<Option<(Timestamp, Timestamp)>, OpenError> {
    let link = Link::new(url)?;
    link.wait(async {
        let session = open::first_contact(&link).await?;
        if !migrate::has_tables(&session).await? {
            return Ok(None);
        }
        let (look, last) = look(&session).await?;
        Ok(last.map(|last| (look.now, last)))
    })
}

/// Durable when it returns. None: the data is not ahead of the clock, and nothing was changed.
pub fn set_clock_back(url: &str) -> Result<Option<SetBack>, OpenError> {
    let link = Link::new(url)?;
    link.wait(async {
        let session = open::first_contact(&link).await?;
        migrate::run(&session, Purpose::Alone).await?;
        open::refuse_company(&link, &session).await?;
        Ok(set_back(&session).await?)
    })
}

async fn look(session: &Session) -> Result<(Look, Option<Timestamp>), Fault> {
    let mut asks = Asks::default();
    let (last, look) = (asks.add(LAST, Vec::new()), asks.add(LOOK, Vec::new()));
    let mut answers = session.answers(&asks).await?;
    let last = answers.take(last);
    let last = last.first().map(|row| Fields::of(row).time_if_any()).transpose()?.flatten();
    Ok((Look::of(&answers.take(look))?, last))
}

async fn set_back(session: &Session) -> Result<Option<SetBack>, Fault> {
    let (look, last) = look(session).await?;
    let now = look.now;
    let Some(last) = last.filter(|last| last.since_ms(now) > 0) else { return Ok(None) };
    let ahead_ms = last.since_ms(now);
    let mut asks = Asks::default();
    asks.add(BEGIN, Vec::new());
    asks.add(AT_LEISURE, Vec::new());
    asks.add(LANES, values![now.ms()]);
    let tasks = asks.add(TASKS, values![now.ms()]);
    asks.add(DELIVERIES, values![now.ms(), ahead_ms]);
    for sql in OFFERED {
        asks.add(sql, Vec::new());
    }
    asks.add(MESSAGES, values![now.ms()]);
    asks.add(POLLS, values![now.ms()]);
    asks.add(LIMITS, Vec::new());
    let waiting = asks.add(WAITING, values![last.ms()]);
    let most = i64::try_from(SET_BACK_NAMED_MAX).unwrap_or(i64::MAX);
    let named = asks.add(NAMED, values![last.ms(), most]);
    asks.add(COMMIT, Vec::new());
    asks.at_leisure = true;
    let mut answers = session.answers(&asks).await?;
    let tasks = answers.take(tasks).first().map_or(Ok(0), |row| Fields::of(row).count())?;
    let waiting = answers.take(waiting).first().map_or(Ok(0), |row| Fields::of(row).count())?;
    let named = answers.take(named);
    let named = named.iter().map(|row| Fields::of(row).execution());
    let named = named.collect::<Result<Vec<_>, StoreError>>()?;
    let tasks = usize::try_from(tasks).unwrap_or(usize::MAX);
    Ok(Some(SetBack { ahead_ms, tasks, waiting, named }))
}
