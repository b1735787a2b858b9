//! # Credit: what a node that comes back finds
//!
//! While no node could be reached no worker could renew its lease, so open leases get the time that
//! was lost, once. What this very node was offered before it went, nobody carries any more. Nodes that
//! went and never came back are forgotten.

use semel_model::Timestamp;
use semel_store::StoreError;

use crate::asks::{Asks, Session, values};
use crate::clock::{LOOK, Seen as Look};
use crate::columns::Fields;
use crate::fault::Fault;
use crate::hold::BEGIN;
use crate::write::COMMIT;

/// Of several nodes that come back at once, one credits.
const ONE: &str = "SELECT pg_advisory_xact_lock(7359286002)";
/// There may be many leases, and nobody goes on before they have got it.
pub(crate) const AT_LEISURE: &str = "SET LOCAL statement_timeout = 0";
pub(crate) const LAST: &str = "SELECT max(at) FROM lanes";
/// When a delivery wants to be looked at, if ever.
macro_rules! due_at {
    ($lease:literal) => {
        concat!(
            "CASE WHEN armed THEN least(CASE WHEN leased THEN ",
            $lease,
            " ELSE poll_until END, run_until) END"
        )
    };
}
pub(crate) use due_at;

const CREDIT: &str = concat!(
    "UPDATE deliveries SET lease_until = least(lease_until, $1::bigint - $2::bigint) + $2::bigint, due_at = ",
    due_at!("least(lease_until, $1::bigint - $2::bigint) + $2::bigint"),
    ", told_by = NULL WHERE leased AND lease_until IS NOT NULL"
);
/// Else a second start before the first round would credit the same time again.
const ALIVE: &str = "UPDATE lanes SET at = $1 WHERE at < $1 AND at = (SELECT max(at) FROM lanes)";
const RELEASE: [&str; 2] = [
    "UPDATE executions SET due_at = wake_at, told_by = NULL \
     WHERE told_by = $1 AND due_at IS NOT NULL",
    concat!(
        "UPDATE deliveries SET due_at = ",
        due_at!("lease_until"),
        ", told_by = NULL WHERE told_by = $1 AND due_at IS NOT NULL"
    ),
];
const RELEASE_MESSAGES: &str =
    "UPDATE messages SET due_at = $2 WHERE told_by = $1 AND due_at IS NOT NULL";

/// Nodes that have not written anything for so long are forgotten; one that comes back begins anew.
const FORGOTTEN_AFTER_MS: i64 = 7 * 24 * 3_600 * 1_000;
/// What they have drawn is not: no fence is drawn twice.
const FORGET: &str = "WITH old AS (SELECT node FROM lanes GROUP BY node HAVING max(at) > 0 \
         AND max(at) < $1 AND max(at) < (SELECT max(at) FROM lanes) AND node <> $2), \
     gone AS (DELETE FROM lanes WHERE node IN (SELECT node FROM old) RETURNING fence), \
     forgotten AS (DELETE FROM nodes WHERE number IN (SELECT node FROM old)) \
     INSERT INTO meta (name, value) SELECT 'fence_floor', max(fence) FROM gone \
         HAVING count(*) > 0 \
         ON CONFLICT (name) DO UPDATE SET value = greatest(meta.value, excluded.value)";

/// Of queues that nobody has asked for so long.
const FORGET_POLLS: &str = "DELETE FROM polls WHERE at < $1";

/// Rows of nodes that never come back, as where every start has a name of its own.
pub(crate) async fn forget_old_nodes(
    session: &Session,
    node: i64,
    now: Timestamp,
) -> Result<(), StoreError> {
    let before = now.plus_ms(-FORGOTTEN_AFTER_MS).ms();
    let mut asks = Asks::default();
    asks.add(FORGET, values![before, node]);
    asks.add(FORGET_POLLS, values![before]);
    session.answers(&asks).await.map(drop).map_err(crate::fault::of)
}

/// Credits open leases if nobody has been alive for longer than `grace_ms`. What time it is, and when
/// somebody was alive last.
pub(crate) async fn downtime(session: &Session, grace_ms: i64) -> Result<(Look, Timestamp), Fault> {
    let mut asks = Asks::default();
    asks.add(BEGIN, Vec::new());
    asks.add(AT_LEISURE, Vec::new());
    asks.add(ONE, Vec::new());
    let last = asks.add(LAST, Vec::new());
    let look = asks.add(LOOK, Vec::new());
    let mut answers = session.answers(&asks).await?;
    let last = answers.take(last);
    let last = last.first().map(|row| Fields::of(row).time_if_any()).transpose()?.flatten();
    let look = Look::of(&answers.take(look))?;
    let lost_ms = last.map_or(0, |last: Timestamp| look.now.since_ms(last));
    let mut asks = Asks::default();
    if lost_ms > grace_ms {
        asks.add(CREDIT, values![i64::MAX, lost_ms]);
        asks.add(ALIVE, values![look.now.ms()]);
    }
    asks.add(COMMIT, Vec::new());
    asks.at_leisure = true;
    session.answers(&asks).await?;
    Ok((look, last.unwrap_or(Timestamp::NOT_YET)))
}

/// Whoever this node told is gone: it is offered again at once.
pub(crate) async fn release(
    session: &Session,
    node: i64,
    now: Timestamp,
) -> Result<(), StoreError> {
    let mut asks = Asks::default();
    for sql in RELEASE {
        asks.add(sql, values![node]);
    }
    asks.add(RELEASE_MESSAGES, values![node, now.ms()]);
    session.answers(&asks).await.map(drop).map_err(crate::fault::of)
}
