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
use crate::named::{by_message, by_place, where_named};
use crate::own::{self, Lane};
use crate::write::COMMIT;

const RELAXED: &str = "SET LOCAL synchronous_commit = off";
const EXECUTIONS: &str = "SELECT id, due_at FROM executions WHERE due_at <= $1 \
     ORDER BY due_at, id LIMIT $2 FOR UPDATE SKIP LOCKED";
const DELIVERIES: &str = "SELECT execution, task, due_at FROM deliveries WHERE due_at <= $1 \
     ORDER BY due_at, execution, task LIMIT $2 FOR UPDATE SKIP LOCKED";
const MESSAGES: &str = "SELECT sender, seq, at, receiver, sink, due_at FROM messages \
     WHERE due_at <= $1 ORDER BY due_at, sender, seq, at LIMIT $2 FOR UPDATE SKIP LOCKED";
const TELL_EXECUTIONS: &str = "UPDATE executions SET told_by = $2, due_at = $3 WHERE id = ANY ($1)";
const TELL_DELIVERIES: &str =
    concat!("UPDATE deliveries SET told_by = $3, due_at = $4 ", where_named!(by_place));
const TELL_MESSAGES: &str =
    concat!("UPDATE messages SET told_by = $4, due_at = $5 ", where_named!(by_message));
/// Tasks that have become ready since this node was told last.
const RIPE: &str = "SELECT task_type, domain, count(*) FROM deliveries \
     WHERE delayed AND NOT leased AND ready_at > $2 AND ready_at <= $1 GROUP BY task_type, domain";
/// A node that was told nothing yet hears of all of them, or of so many that it will look anyway.
const RIPE_EVER: &str = "SELECT task_type, domain, count(*) FROM (SELECT task_type, domain \
     FROM deliveries WHERE NOT leased AND ready_at <= $1 LIMIT 10000) AS ripe \
     GROUP BY task_type, domain";
/// Not before $1: an index begins with what was due once and is over, until it is cleaned.
const NEXT: &str = "SELECT least((SELECT min(due_at) FROM executions WHERE due_at >= $1), \
     (SELECT min(due_at) FROM deliveries WHERE due_at >= $1), \
     (SELECT min(due_at) FROM messages WHERE due_at >= $1))";
const NEXT_RIPE: &str =
    "SELECT min(ready_at) FROM deliveries WHERE delayed AND NOT leased AND ready_at > $1";
const NEXT_RIPE_EVER: &str = "SELECT min(ready_at) FROM deliveries WHERE NOT leased";

/// Tasks that can be taken from each of several queues.
macro_rules! offers {
    ($domain:literal) => {
        concat!(
            "SELECT queue.task_type, queue.domain, count(*) \
             FROM unnest($1::text[], $2::text[]) AS queue (task_type, domain), \
             LATERAL (SELECT 1 FROM deliveries WHERE deliveries.task_type = queue.task_type AND ",
            $domain,
            " AND NOT leased AND ready_at <= greatest($4::bigint, ",
            now_ms!(),
            ") LIMIT $3) AS task GROUP BY queue.task_type, queue.domain"
        )
    };
}
const OFFERS: &str = offers!("deliveries.domain IS NULL");
const OFFERS_IN_DOMAINS: &str = offers!("deliveries.domain = queue.domain");

/// When there will be something to tell, if ever.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Next(pub(crate) Option<Timestamp>);

/// The same as far as lanes of this node know: nothing comes due before that, but for what another node has
/// written since everything was looked at. What a commit has armed counts once it is over, also for
/// whoever asks beside it: he may not have seen it.
#[derive(Default)]
pub(crate) struct NextKnown(Mutex<State>);

#[derive(Default)]
struct State {
    /// None: nobody has looked, or what was seen is not to be trusted any more.
    known: Option<Known>,
    /// Under way, by number: what they may not have seen.
    beside: BTreeMap<u64, Next>,
    count: u64,
}

#[derive(Clone, Copy)]
struct Known {
    next: Next,
    /// When everything was looked at.
    looked: Instant,
}

/// A question what is due next, by a commit after it was written, or by a look.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Asked {
    number: u64,
    /// By this commit.
    armed: Next,
    /// Nothing of this node comes due before that.
    pub(crate) from: Next,
}

impl NextKnown {
    pub(crate) fn ask(&self, armed: Next) -> Asked {
        let mut state = self.state();
        state.count += 1;
        let number = state.count;
        state.beside.insert(number, Next::NEVER);
        let from = state.known.map_or(Next::EVER, |known| known.next.earlier(armed));
        Asked { number, armed, from }
    }

    /// A commit is over; the answer is about what comes due from where it was asked on. None: it is not
    /// known what became of the commit, or what is due.
    pub(crate) fn committed(&self, asked: Asked, next: Option<Next>) {
        let mut state = self.state();
        let beside = state.end(asked, asked.armed);
        if let Some(known) = &mut state.known {
            known.next = match next {
                Some(next) => next.earlier(beside),
                None => known.next.earlier(asked.armed),
            };
        }
    }

    /// Everything was looked at, or could not be.
    pub(crate) fn looked(&self, asked: Asked, next: Option<Next>) {
        let mut state = self.state();
        let beside = state.end(asked, next.unwrap_or(Next::NEVER));
        let looked = Instant::now();
        state.known = next.map(|next| Known { next: next.earlier(beside), looked });
    }

    /// Something may be due that nobody here has seen.
    pub(crate) fn forget(&self) {
        self.state().known = None;
    }

    /// Unless everything was looked at longer ago than that.
    pub(crate) fn known(&self, at_most: Duration) -> Option<Next> {
        let known = self.state().known;
        known.filter(|known| known.looked.elapsed() <= at_most).map(|known| known.next)
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    /// Whoever is still under way may not have seen that. What this one may not have seen.
    fn end(&mut self, asked: Asked, that: Next) -> Next {
        let beside = self.beside.remove(&asked.number).unwrap_or(Next::NEVER);
        self.beside.values_mut().for_each(|it| *it = it.earlier(that));
        beside
    }
}

impl Next {
    pub(crate) const NEVER: Self = Self(None);
    /// No row has a time before that.
    pub(crate) const EVER: Self = Self(Some(Timestamp::NOT_YET));

    fn earlier(self, other: Self) -> Self {
        Self([self.0, other.0].into_iter().flatten().min())
    }

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
    said: Timestamp,
) -> Result<BTreeMap<Queue, usize>, Fault> {
    let (within, plain): (Vec<&Queue>, Vec<&Queue>) =
        queues.iter().partition(|queue| queue.domain.is_some());
    let mut asks = Asks::default();
    let asked = [(OFFERS, plain), (OFFERS_IN_DOMAINS, within)].map(|(sql, queues)| {
        asks.add_if(!queues.is_empty(), sql, || {
            vec![
                column(&queues, |queue| queue.task_type.as_str()),
                column(&queues, |queue| queue.domain.as_deref()),
                Box::new(limit(max)),
                Box::new(said.ms()),
            ]
        })
    });
    let mut answers = session.answers(&asks).await?;
    let rows: Vec<Row> = asked.into_iter().flat_map(|at| answers.take(at)).collect();
    counted(&rows)
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

/// What comes due from then on, and what can be taken from when lanes were told last on.
pub(crate) fn ask_next(asks: &mut Asks<'_>, told: Option<Timestamp>, from: Next) -> [At; 2] {
    let ripe = match told {
        Some(told) => asks.add(NEXT_RIPE, values![told.ms()]),
        None => asks.add(NEXT_RIPE_EVER, Vec::new()),
    };
    let from = from.0.map_or(i64::MAX, Timestamp::ms);
    [asks.add(NEXT, values![from]), ripe]
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
    lane: Lane,
    told: Option<Timestamp>,
    now: Timestamp,
    max: usize,
) -> Result<(Due, Next, Look), Fault> {
    let mut asks = Asks::default();
    asks.add(BEGIN, Vec::new());
    asks.add(RELAXED, Vec::new());
    let own = asks.add(own::LOOK_AT, values![lane.node, lane.lane]);
    let bounds = || values![now.ms(), limit(max)];
    let found = [EXECUTIONS, DELIVERIES, MESSAGES].map(|sql| asks.add(sql, bounds()));
    let ripe = match told {
        Some(told) => asks.add(RIPE, values![now.ms(), told.ms()]),
        None => asks.add(RIPE_EVER, values![now.ms()]),
    };
    let look = asks.add(LOOK, Vec::new());
    let mut answers = session.answers(&asks).await?;
    lane.last_at(&answers.take(own))?;
    let look = Look::of(&answers.take(look))?;
    let mut due = first(things(&mut answers, found)?, max);
    due.ripe = counted(&answers.take(ripe))?;
    let next = lease(session, &due, lane.node, now).await?;
    Ok((due, next, look))
}

/// Each is offered again only after a while, unless a commit moves it.
async fn lease(session: &Session, due: &Due, node: i64, now: Timestamp) -> Result<Next, Fault> {
    let mut asks = Asks::default();
    tell(&mut asks, due, node, now);
    asks.add(COMMIT, Vec::new());
    let next = ask_next(&mut asks, Some(now), Next::EVER);
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
    let lease = |mut values: Vec<Value<'a>>| {
        values.extend(values![node, now.plus_ms(DUE_LEASE_MS).ms()]);
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

    fn at(ms: i64) -> Next {
        Next(Some(Timestamp::from_ms(ms)))
    }

    fn known(next: &NextKnown) -> Option<Next> {
        next.known(Duration::MAX)
    }

    #[test]
    fn nothing_is_known_before_somebody_has_looked() {
        let next = NextKnown::default();
        next.committed(next.ask(at(7)), Some(at(7)));
        assert_eq!(known(&next), None);
        assert_eq!(next.ask(at(7)).from, Next::EVER);
        next.looked(next.ask(Next::NEVER), Some(at(5)));
        assert_eq!(known(&next), Some(at(5)));
        assert_eq!(next.known(Duration::ZERO), None, "others may have written since");
        next.looked(next.ask(Next::NEVER), None);
        assert_eq!(known(&next), None, "a look that failed");
    }

    #[test]
    fn a_commit_asks_from_where_nothing_was_due_before_or_from_what_it_arms() {
        let next = NextKnown::default();
        next.looked(next.ask(Next::NEVER), Some(at(5)));
        assert_eq!((next.ask(at(9)).from, next.ask(at(3)).from), (at(5), at(3)));
        assert_eq!(known(&next), Some(at(5)), "nobody can see it before it is committed");
    }

    #[test]
    fn what_others_arm_meanwhile_counts_though_the_answer_does_not_know_it() {
        let next = NextKnown::default();
        next.looked(next.ask(Next::NEVER), Some(at(5)));
        let [first, second] = [next.ask(at(9)), next.ask(at(3))];
        next.committed(first, Some(at(8)));
        assert_eq!(known(&next), Some(at(8)));
        let look = next.ask(Next::NEVER);
        next.committed(second, Some(Next::NEVER));
        assert_eq!(known(&next), Some(at(9)), "of the first, beside which it was asked");
        let third = next.ask(Next::NEVER);
        next.looked(look, Some(at(4)));
        assert_eq!(known(&next), Some(at(3)), "of the second, beside which it was asked");
        next.committed(third, Some(Next::NEVER));
        assert_eq!(known(&next), Some(at(4)), "of another node, as the look has found");
        next.committed(next.ask(at(2)), None);
        assert_eq!(known(&next), Some(at(2)), "it may have been committed");
    }
}
