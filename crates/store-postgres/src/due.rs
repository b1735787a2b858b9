//! # Due: what has come due, leased to whoever is told
//!
//! In the order of time and, at the same time, of names, whatever kind it is. What another node is
//! just looking at is passed over. A lease need not survive a crash of the database, so it waits for
//! no disk.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use semel_engine::{Address, MessageKey, Queue};
use semel_model::{ExecutionId, Timestamp};
use semel_store::{DUE_LEASE_MS, Due, Place, StoreError};
use tokio_postgres::Row;

use crate::asks::{Answers, Asks, At, Session, Value, column, values};
use crate::clock::{LOOK, Seen as Look, now_ms};
use crate::columns::{self, Fields, limit, uuid};
use crate::fault::Fault;
use crate::hold::{BEGIN, place_keys};
use crate::missing::message_keys;
use crate::write::COMMIT;

const RELAXED: &str = "SET LOCAL synchronous_commit = off";
const EXECUTIONS: &str = "SELECT id, due_at FROM executions WHERE due_at <= $1 \
     ORDER BY due_at, id LIMIT $2 FOR UPDATE SKIP LOCKED";
const DELIVERIES: &str = "SELECT execution, task, due_at FROM deliveries WHERE due_at <= $1 \
     ORDER BY due_at, execution, task LIMIT $2 FOR UPDATE SKIP LOCKED";
const MESSAGES: &str = "SELECT sender, seq, at, receiver, sink, due_at FROM messages \
     WHERE due_at <= $1 ORDER BY due_at, sender, seq, at LIMIT $2 FOR UPDATE SKIP LOCKED";
const TELL_EXECUTIONS: &str = "UPDATE executions SET due_at = $2, told_by = $1 WHERE id = ANY ($3)";
const TELL_DELIVERIES: &str = "UPDATE deliveries SET due_at = $2, told_by = $1 \
     WHERE (execution, task) IN (SELECT * FROM unnest($3::uuid[], $4::uuid[]))";
const TELL_MESSAGES: &str = "UPDATE messages SET due_at = $2, told_by = $1 WHERE (sender, seq, at) \
     IN (SELECT * FROM unnest($3::uuid[], $4::bigint[], $5::bigint[]))";
/// Tasks that have become ready since this node was told last.
const RIPE: &str = "SELECT task_type, domain, count(*) FROM deliveries \
     WHERE delayed AND NOT leased AND ready_at > $2 AND ready_at <= $1 GROUP BY task_type, domain";
/// A node that was told nothing yet hears of all of them.
const RIPE_EVER: &str = "SELECT task_type, domain, count(*) FROM deliveries \
     WHERE NOT leased AND ready_at <= $1 GROUP BY task_type, domain";
const NEXT: &str = "SELECT least((SELECT min(due_at) FROM executions WHERE due_at IS NOT NULL), \
     (SELECT min(due_at) FROM deliveries WHERE due_at IS NOT NULL), \
     (SELECT min(due_at) FROM messages WHERE due_at IS NOT NULL))";
const NEXT_RIPE: &str =
    "SELECT min(ready_at) FROM deliveries WHERE delayed AND NOT leased AND ready_at > $1";
const NEXT_RIPE_EVER: &str = "SELECT min(ready_at) FROM deliveries WHERE NOT leased";

/// Tasks that can be taken from each of several queues.
const OFFERS: &str = concat!(
    "SELECT queue.task_type, queue.domain, count(*) \
     FROM unnest($1::text[], $2::text[]) AS queue (task_type, domain), \
     LATERAL (SELECT 1 FROM deliveries WHERE deliveries.task_type = queue.task_type \
         AND deliveries.domain IS NOT DISTINCT FROM queue.domain AND NOT leased AND ready_at <= ",
    now_ms!(),
    " LIMIT $3) AS task GROUP BY queue.task_type, queue.domain"
);

/// When there will be something to tell, if ever.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Next(pub(crate) Option<Timestamp>);

/// The same as far as lanes of this node know. A commit may change it until it is over, so what was asked
/// while another one was under way, or began, is not noted.
#[derive(Default)]
pub(crate) struct NextKnown(Mutex<State>);

#[derive(Default)]
struct State {
    known: Option<(Next, Instant)>,
    /// Commits under way.
    changing: usize,
    /// Counts their beginnings and ends.
    changes: u64,
}

/// When something was asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Moment(u64);

impl NextKnown {
    /// What is asked from here on is noted if nothing changes meanwhile.
    pub(crate) fn ask(&self) -> Moment {
        Moment(self.state().changes)
    }

    pub(crate) fn note(&self, asked: Moment, next: Next) {
        let mut state = self.state();
        if state.changing == 0 && state.changes == asked.0 {
            state.known = Some((next, Instant::now()));
        }
    }

    /// A commit begins.
    pub(crate) fn begin(&self) -> Moment {
        let mut state = self.state();
        state.known = None;
        state.changing += 1;
        state.changes += 1;
        Moment(state.changes)
    }

    /// It is over; `next` was asked after it was written.
    pub(crate) fn end(&self, begun: Moment, next: Option<Next>) {
        let mut state = self.state();
        let was_alone = state.changing == 1 && state.changes == begun.0;
        state.known = next.filter(|_| was_alone).map(|next| (next, Instant::now()));
        state.changing -= 1;
        state.changes += 1;
    }

    /// Unless it is older than that.
    pub(crate) fn known(&self, at_most: Duration) -> Option<Next> {
        let known = self.state().known;
        known.filter(|(_, at)| at.elapsed() <= at_most).map(|(next, _)| next)
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Next {
    pub(crate) fn of(rows: &[Vec<Row>; 2]) -> Result<Self, StoreError> {
        let mut next = None;
        for row in rows.iter().flatten() {
            let time = Fields::of(row).time_if_any()?;
            next = [next, time].into_iter().flatten().min();
        }
        Ok(Self(next))
    }

    pub(crate) fn is_after(self, now: Timestamp) -> bool {
        self.0.is_none_or(|next| next > now)
    }
}

pub(crate) async fn offers(
    session: &Session,
    queues: &BTreeSet<Queue>,
    max: usize,
) -> Result<BTreeMap<Queue, usize>, Fault> {
    let values = vec![
        column(queues, |queue: &Queue| queue.task_type.as_str()),
        column(queues, |queue: &Queue| queue.domain.as_deref()),
        Box::new(limit(max)),
    ];
    counted(&session.rows(OFFERS, values).await?)
}

/// Columns `task_type, domain, count`.
fn counted(rows: &[Row]) -> Result<BTreeMap<Queue, usize>, Fault> {
    let mut counted = BTreeMap::new();
    for row in rows {
        let mut fields = Fields::of(row);
        let queue = Queue { task_type: fields.next()?, domain: fields.next()? };
        counted.insert(queue, usize::try_from(fields.count()?).unwrap_or(usize::MAX));
    }
    Ok(counted)
}

pub(crate) fn ask_next(asks: &mut Asks<'_>, told: Option<Timestamp>) -> [At; 2] {
    let ripe = match told {
        Some(told) => asks.add(NEXT_RIPE, values![told.ms()]),
        None => asks.add(NEXT_RIPE_EVER, Vec::new()),
    };
    [asks.add(NEXT, Vec::new()), ripe]
}

/// One thing that is due; the order of kinds breaks ties.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
enum Thing {
    Execution(ExecutionId),
    Delivery(Place),
    Message(MessageKey, Address),
}

pub(crate) async fn due(
    session: &Session,
    node: i64,
    told: Option<Timestamp>,
    now: Timestamp,
    max: usize,
) -> Result<(Due, Next, Look), Fault> {
    let mut asks = Asks::default();
    asks.add(BEGIN, Vec::new());
    asks.add(RELAXED, Vec::new());
    let bounds = || values![now.ms(), limit(max)];
    let found = [EXECUTIONS, DELIVERIES, MESSAGES].map(|sql| asks.add(sql, bounds()));
    let ripe = match told {
        Some(told) => asks.add(RIPE, values![now.ms(), told.ms()]),
        None => asks.add(RIPE_EVER, values![now.ms()]),
    };
    let look = asks.add(LOOK, Vec::new());
    let mut answers = session.answers(&asks).await?;
    let look = Look::of(&answers.take(look))?;
    let mut due = first(things(&mut answers, found)?, max);
    due.ripe = counted(&answers.take(ripe))?;
    let next = lease(session, &due, node, now).await?;
    Ok((due, next, look))
}

/// Each is offered again only after a while, unless a commit moves it.
async fn lease(session: &Session, due: &Due, node: i64, now: Timestamp) -> Result<Next, Fault> {
    let mut asks = Asks::default();
    tell(&mut asks, due, node, now);
    asks.add(COMMIT, Vec::new());
    let next = ask_next(&mut asks, Some(now));
    let mut answers = session.answers(&asks).await?;
    Ok(Next::of(&next.map(|at| answers.take(at)))?)
}

fn things(answers: &mut Answers, found: [At; 3]) -> Result<Vec<(Timestamp, Thing)>, StoreError> {
    let [executions, deliveries, messages] = found.map(|at| answers.take(at));
    let mut things = Vec::new();
    for row in &executions {
        let mut fields = Fields::of(row);
        let thing = Thing::Execution(fields.execution()?);
        things.push((fields.time()?, thing));
    }
    for row in &deliveries {
        let mut fields = Fields::of(row);
        let place = Place { execution: fields.execution()?, task: fields.task()? };
        things.push((fields.time()?, Thing::Delivery(place)));
    }
    for row in &messages {
        let (key, to) = columns::addressed(row)?;
        let at: i64 = row.try_get(5).map_err(crate::fault::of)?;
        things.push((Timestamp::from_ms(at), Thing::Message(key, to)));
    }
    Ok(things)
}

/// What has been due longest; the rest is left for the next look.
fn first(mut things: Vec<(Timestamp, Thing)>, max: usize) -> Due {
    things.sort_unstable();
    let mut due = Due::default();
    for (_, thing) in things.into_iter().take(max) {
        match thing {
            Thing::Execution(id) => due.executions.push(id),
            Thing::Delivery(place) => due.deliveries.push(place),
            Thing::Message(key, to) => due.messages.push((key, to)),
        }
    }
    due
}

fn tell<'a>(asks: &mut Asks<'a>, due: &'a Due, node: i64, now: Timestamp) {
    let lease = |keys: Vec<Value<'a>>| {
        let mut values = values![node, now.plus_ms(DUE_LEASE_MS).ms()];
        values.extend(keys);
        values
    };
    asks.add_if(!due.executions.is_empty(), TELL_EXECUTIONS, || {
        lease(vec![column(&due.executions, |id| uuid(*id))])
    });
    asks.add_if(!due.deliveries.is_empty(), TELL_DELIVERIES, || lease(place_keys(&due.deliveries)));
    asks.add_if(!due.messages.is_empty(), TELL_MESSAGES, || {
        lease(message_keys(due.messages.iter().map(|(key, _)| key)))
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    const NEVER: Next = Next(None);

    #[test]
    fn what_was_asked_beside_another_commit_is_not_noted() {
        let known = NextKnown::default();
        let is_known = || known.known(Duration::MAX).is_some();
        let alone = known.begin();
        known.end(alone, Some(NEVER));
        assert!(is_known());
        let (first, second) = (known.begin(), known.begin());
        known.end(second, Some(NEVER));
        assert!(!is_known(), "the first one may arm something yet");
        let asked = known.ask();
        known.note(asked, NEVER);
        assert!(!is_known(), "it is still under way");
        known.end(first, Some(NEVER));
        assert!(!is_known(), "the second one has written meanwhile");
        known.note(asked, NEVER);
        assert!(!is_known(), "it was asked before that");
        known.note(known.ask(), NEVER);
        assert!(is_known());
    }
}
