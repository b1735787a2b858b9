//! # Holding: a lane takes its rows
//!
//! The lane's own row first, then all others in one global order, each unless another lane has it:
//! that one is skipped, or waited for where the round says so. What is not found is looked for again ([`crate::missing`]):
//! only a row that is not there is a fact, one that was skipped is none. The time is read last.

use std::collections::{BTreeSet, HashMap};

use semel_engine::{Delivery, Head, Queue, RecordKey, Token};
use semel_model::{Digest, ExecutionId, Timestamp};
use semel_store::{Held, LimitRow, Place, StoreError, Touches};
use tokio_postgres::Row;

use crate::asks::{Answers, Asks, At, Session, Value, column, values};
use crate::clock::{LOOK, Seen as Look, now_ms};
use crate::columns::{
    self, Fields, delivery_columns, head_columns, limit, message_columns, task_uuid, uuid,
};
use crate::fault::Fault;
use crate::missing::{self, ALL_THERE, DOCUMENTS, IN_FLIGHT, LIMITS, RECORDS, TOKENS_THERE};
use crate::named::{by_message, by_place};
use crate::own::{self, Lane};

/// The same rows, in the one order of holding: those that others hold are skipped, or waited for.
pub(crate) struct Holds {
    pub(crate) skipping: &'static str,
    waiting: &'static str,
}

impl Holds {
    pub(crate) const fn new(skipping: &'static str, waiting: &'static str) -> Self {
        Self { skipping, waiting }
    }

    pub(crate) fn of(&self, touches: &Touches) -> &'static str {
        if touches.waits { self.waiting } else { self.skipping }
    }
}

macro_rules! holds {
    (named: $by:ident, $columns:expr) => {
        $crate::hold::Holds::new(
            concat!("SELECT found.* ", $by!($columns, "FOR UPDATE SKIP LOCKED")),
            concat!("SELECT found.* ", $by!($columns, "FOR UPDATE")),
        )
    };
    ($($part:expr),+ $(,)?) => {
        $crate::hold::Holds::new(
            concat!($($part),+, " FOR UPDATE SKIP LOCKED"),
            concat!($($part),+, " FOR UPDATE"),
        )
    };
}

pub(crate) use holds;

pub(crate) const BEGIN: &str = "BEGIN ISOLATION LEVEL READ COMMITTED";
/// How long a round waits for rows that others hold.
const PATIENTLY: &str = "SET LOCAL lock_timeout = '500ms'";
const HEADS: Holds =
    holds!("SELECT ", head_columns!(), " FROM executions WHERE id = ANY ($1) ORDER BY id");
const NAMED: Holds = holds!(named: by_place, delivery_columns!());
const ALL: Holds = holds!(
    "SELECT ",
    delivery_columns!(),
    " FROM deliveries WHERE execution = ANY ($1) ORDER BY execution, task"
);
/// In their order as one value: an index that has that order is no way to find them.
const TOKENS: Holds = holds!(
    "SELECT ",
    delivery_columns!(),
    " FROM deliveries WHERE token = ANY ($1) ORDER BY (execution, task)"
);
/// The best of a queue first, in the order of the index: `domain` is the same for all, but without it
/// what is sorted is the whole queue. What this node has said to be now is ready, even if the database's
/// clock is behind. Of an execution that is over nothing is handed out, though rows of it may still be
/// there; `+ 0` keeps the index of all that are over out of it.
macro_rules! ready {
    ($which:literal) => {
        concat!(
            "SELECT ",
            delivery_columns!(),
            " FROM deliveries WHERE task_type = $1 AND NOT leased AND ",
            $which,
            " AND ready_at <= greatest($3::bigint, ",
            now_ms!(),
            ") AND NOT EXISTS (SELECT 1 FROM executions \
                WHERE executions.id = deliveries.execution AND executions.ended_at + 0 > 0) \
             ORDER BY domain, priority DESC, ready_at, seq, execution, task LIMIT $2 \
             FOR UPDATE OF deliveries SKIP LOCKED"
        )
    };
}
const READY: &str = ready!("domain IS NULL");
const READY_IN_DOMAIN: &str = ready!("domain = $4");
const READY_BUT: &str = ready!("domain IS NULL AND definition <> ALL ($4)");
const READY_IN_DOMAIN_BUT: &str = ready!("domain = $4 AND definition <> ALL ($5)");
const MESSAGES: Holds = holds!(named: by_message, message_columns!());
/// The waiting ones of a record, oldest first. Not locked: a line changes only under the lock of its
/// record, which is held by then.
pub(crate) const WAITERS: &str = concat!(
    "SELECT ",
    message_columns!(),
    " FROM messages WHERE waits_scope = $1 AND waits_key = $2 \
     ORDER BY waits_since, sender, seq, at LIMIT $3"
);

/// What a round holds, and what its commit has to know of it.
#[derive(Default)]
pub(crate) struct Round {
    pub(crate) held: Held,
    /// Rows as they were found, so that the commit writes only what has changed in them.
    pub(crate) heads: HashMap<ExecutionId, Head>,
    pub(crate) deliveries: HashMap<Place, Delivery>,
    /// Names of rows that are held and are not there.
    pub(crate) placeholders: Vec<Digest>,
}

/// Where the answers to the first flight are found.
struct Flight {
    lane: At,
    heads: Option<At>,
    limits: Option<At>,
    in_flight: Option<At>,
    records: Option<At>,
    deliveries: Vec<At>,
    tokens: Option<At>,
    ready: Vec<(Queue, At)>,
    messages: Option<At>,
    waiters: Vec<(RecordKey, At)>,
    documents: Option<At>,
    /// Plain reads: what there is of all that was not asked for by its name.
    all_there: Option<At>,
    tokens_there: Option<At>,
    look: At,
}

pub(crate) async fn hold(
    session: &Session,
    lane: Lane,
    touches: &Touches,
    said: Timestamp,
) -> Result<(Round, Look), Fault> {
    let mut asks = Asks::default();
    let flight = ask(&mut asks, lane, touches, said);
    let mut answers = session.answers(&asks).await?;
    let look = Look::of(&answers.take(flight.look))?;
    let last = lane.last_at(&answers.take(flight.lane))?;
    let mut round = Round::default();
    round.held.now = look.now.max(last); // A database that was restored or moved may be behind.
    round.read(touches, &flight, &mut answers)?;
    missing::look_again(session, &mut round, touches).await?;
    read_late_lines(session, &mut round, touches).await?;
    Ok((round, look))
}

/// Lines of records that are not there: these are held since they were looked for again.
async fn read_late_lines(
    session: &Session,
    round: &mut Round,
    touches: &Touches,
) -> Result<(), Fault> {
    let mut asks = Asks::default();
    let is_late = |key: &RecordKey| matches!(round.held.records.get(key), Some(None));
    let lines = ask_lines(&mut asks, touches, is_late);
    if lines.is_empty() {
        return Ok(());
    }
    let mut answers = session.answers(&asks).await?;
    Ok(round.read_lines(&lines, &mut answers)?)
}

fn ask_lines<'a>(
    asks: &mut Asks<'a>,
    touches: &'a Touches,
    is_asked: impl Fn(&RecordKey) -> bool,
) -> Vec<(RecordKey, At)> {
    let lines = touches.waiters.iter().filter(|(key, _)| is_asked(key));
    lines
        .map(|(key, count)| {
            let values = values![key.scope.as_str(), key.key.as_str(), limit(*count)];
            (key.clone(), asks.add(WAITERS, values))
        })
        .collect()
}

/// Begins with nothing held but the lane itself.
pub(crate) async fn begin(session: &Session, lane: Lane) -> Result<Round, Fault> {
    let (round, _) = hold(session, lane, &Touches::default(), Timestamp::NOT_YET).await?;
    Ok(round)
}

fn ask<'a>(asks: &mut Asks<'a>, lane: Lane, touches: &'a Touches, said: Timestamp) -> Flight {
    let Touches { heads, limits, records, deliveries, all_deliveries, .. } = touches;
    let Touches { wanted, tokens, messages, documents, .. } = touches;
    asks.add(BEGIN, Vec::new());
    asks.add_if(touches.waits, PATIENTLY, Vec::new);
    let flight_lane = asks.add(own::HOLD, values![lane.node, lane.lane]);
    let heads =
        asks.add_if(!heads.is_empty(), HEADS.of(touches), || vec![column(heads, |id| uuid(*id))]);
    let held_limits =
        asks.add_if(!limits.is_empty(), LIMITS.of(touches), || missing::limit_keys(limits));
    // In a statement of its own: whoever claims holds the limit until it is written.
    let in_flight = asks.add_if(!limits.is_empty(), IN_FLIGHT, || missing::limit_keys(limits));
    let records =
        asks.add_if(!records.is_empty(), RECORDS.of(touches), || missing::record_keys(records));
    let named = asks.add_if(!deliveries.is_empty(), NAMED.of(touches), || place_keys(deliveries));
    let all = asks.add_if(!all_deliveries.is_empty(), ALL.of(touches), || {
        vec![column(all_deliveries, |id| uuid(*id))]
    });
    let all_there = asks.add_if(!all_deliveries.is_empty(), ALL_THERE, || {
        vec![column(all_deliveries, |id| uuid(*id))]
    });
    let held_tokens = asks.add_if(!tokens.is_empty(), TOKENS.of(touches), || token_keys(tokens));
    let tokens_there = asks.add_if(!tokens.is_empty(), TOKENS_THERE, || token_keys(tokens));
    let mut ready = Vec::new();
    for (queue, count) in wanted {
        let mut values = values![queue.task_type.as_str(), limit(*count), said.ms()];
        values.extend(queue.domain.iter().map(|domain| Box::new(domain.as_str()) as Value<'_>));
        let passed_over = touches.passed_over(queue);
        values.extend(passed_over.map(|them| column(them, |it| it.as_bytes().as_slice())));
        let sql = match (queue.domain.is_some(), passed_over.is_some()) {
            (false, false) => READY,
            (true, false) => READY_IN_DOMAIN,
            (false, true) => READY_BUT,
            (true, true) => READY_IN_DOMAIN_BUT,
        };
        ready.push((queue.clone(), asks.add(sql, values)));
    }
    let messages =
        asks.add_if(!messages.is_empty(), MESSAGES.of(touches), || missing::message_keys(messages));
    let waiters = ask_lines(asks, touches, |key| touches.records.contains(key));
    let documents = asks
        .add_if(!documents.is_empty(), DOCUMENTS.of(touches), || missing::document_keys(documents));
    let look = asks.add(LOOK, Vec::new());
    Flight {
        lane: flight_lane,
        heads,
        limits: held_limits,
        in_flight,
        records,
        deliveries: named.into_iter().chain(all).collect(),
        tokens: held_tokens,
        ready,
        messages,
        waiters,
        documents,
        all_there,
        tokens_there,
        look,
    }
}

pub(crate) fn place_keys<'a>(
    places: impl IntoIterator<Item = &'a Place> + Clone,
) -> Vec<Value<'a>> {
    vec![
        column(places.clone(), |place: &Place| uuid(place.execution)),
        column(places, |place: &Place| task_uuid(place.task)),
    ]
}

pub(crate) fn token_keys(tokens: &BTreeSet<Token>) -> Vec<Value<'_>> {
    vec![column(tokens, |token| token.as_bytes().as_slice())]
}

impl Round {
    /// Deliveries are all read before what there is of them is compared with what is held.
    fn read(
        &mut self,
        touches: &Touches,
        flight: &Flight,
        answers: &mut Answers,
    ) -> Result<(), StoreError> {
        for row in answers.take(flight.heads) {
            let head = columns::head(&row)?;
            self.heads.insert(head.id, head.clone());
            self.held.heads.insert(head.id, Some(head));
        }
        self.read_limits(&answers.take(flight.limits), &answers.take(flight.in_flight))?;
        self.read_records(&answers.take(flight.records))?;
        for at in &flight.deliveries {
            self.read_deliveries(&answers.take(*at))?;
        }
        for token in &touches.tokens {
            self.held.by_token.insert(*token, Vec::new());
        }
        for row in answers.take(flight.tokens) {
            let (place, token) = self.read_delivery(&row)?;
            self.held.by_token.entry(token.unwrap_or_default()).or_default().push(place);
        }
        for (queue, at) in &flight.ready {
            let rows = answers.take(*at);
            self.read_ready(queue, touches, &rows)?;
        }
        for row in answers.take(flight.messages) {
            let message = columns::message(&row)?;
            self.held.messages.insert(message.key, Some(message));
        }
        self.read_lines(&flight.waiters, answers)?;
        self.skip_places(&answers.take(flight.all_there))?;
        self.skip_tokens(&answers.take(flight.tokens_there))?;
        self.read_documents(&answers.take(flight.documents))
    }

    /// A line is true if its record was held when it was read.
    fn read_lines(
        &mut self,
        lines: &[(RecordKey, At)],
        answers: &mut Answers,
    ) -> Result<(), StoreError> {
        for (record, at) in lines {
            let rows = answers.take(*at);
            if !self.held.records.contains_key(record) {
                continue;
            }
            let waiting = rows.iter().map(columns::message).collect::<Result<Vec<_>, _>>()?;
            let keys = waiting.iter().map(|message| message.key).collect();
            self.held.waiters.insert(record.clone(), keys);
            self.held.messages.extend(waiting.into_iter().map(|row| (row.key, Some(row))));
        }
        Ok(())
    }

    /// Those that do not fit are put back: their locks end with the round.
    fn read_ready(
        &mut self,
        queue: &Queue,
        touches: &Touches,
        rows: &[Row],
    ) -> Result<(), StoreError> {
        let places = rows.iter().map(columns::place).collect::<Result<Vec<_>, _>>()?;
        let mut rows = rows.iter();
        let (places, is_all) = touches.fill(places, |place| {
            rows.next().map(|row| self.read_delivery(row)).transpose()?;
            let read = self.held.deliveries.get(&place).and_then(Option::as_ref);
            Ok::<_, StoreError>(read.map_or(0, Delivery::payload_bytes))
        })?;
        if !is_all {
            self.held.cut.insert(queue.clone());
        }
        self.held.ready.insert(queue.clone(), places);
        Ok(())
    }

    fn read_deliveries(&mut self, rows: &[Row]) -> Result<Vec<Place>, StoreError> {
        rows.iter().map(|row| self.read_delivery(row).map(|(place, _)| place)).collect()
    }

    fn read_delivery(&mut self, row: &Row) -> Result<(Place, Option<Token>), StoreError> {
        let delivery = columns::delivery(row)?;
        let place = Place { execution: delivery.execution, task: delivery.task };
        let token = delivery.hand_out.token;
        self.deliveries.insert(place, delivery.clone());
        self.held.deliveries.insert(place, Some(delivery));
        Ok((place, token))
    }

    pub(crate) fn read_limits(
        &mut self,
        rows: &[Row],
        in_flight: &[Row],
    ) -> Result<(), StoreError> {
        for row in rows {
            let mut fields = Fields::of(row);
            let (name, used): (String, &[u8]) = (fields.next()?, fields.next()?);
            let window = serde_json::from_slice(used).map_err(|error| {
                StoreError::Corrupt(format!("limit of task type {name}: {error}"))
            })?;
            self.held.limits.insert(name, LimitRow { window, in_flight: 0 });
        }
        for row in in_flight {
            let mut fields = Fields::of(row);
            let (name, count): (String, i64) = (fields.next()?, fields.next()?);
            if let Some(limit) = self.held.limits.get_mut(&name) {
                limit.in_flight = usize::try_from(count).unwrap_or(usize::MAX);
            }
        }
        Ok(())
    }

    pub(crate) fn read_records(&mut self, rows: &[Row]) -> Result<(), StoreError> {
        for row in rows {
            let (key, record) = columns::record(row)?;
            self.held.records.insert(key, Some(record));
        }
        Ok(())
    }

    pub(crate) fn read_documents(&mut self, rows: &[Row]) -> Result<(), StoreError> {
        for row in rows {
            let (key, body) = missing::document(row)?;
            self.held.documents.insert(key, Some(body));
        }
        Ok(())
    }
}
