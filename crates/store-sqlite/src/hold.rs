//! # Holding: point reads on the write connection
//!
//! There is one writer, so what it has read stays so until it commits; nothing is locked and no
//! transaction is open while a round decides.

use std::collections::btree_map::Entry;
use std::collections::{BTreeSet, HashMap};

use rusqlite::Connection;
use semel_engine::{Delivery, Head, Queue, Window};
use semel_model::{ExecutionId, Timestamp};
use semel_store::{Held, LimitRow, Mirror, Place, StoreError, Touches};

use crate::fault;
use crate::read::{self, cached, one};
use crate::readers::at_once;

/// Rows as the round has seen them, so that its commit writes only what has changed in them.
#[derive(Default)]
pub(crate) struct Seen {
    pub(crate) heads: HashMap<ExecutionId, Head>,
    pub(crate) deliveries: HashMap<Place, Delivery>,
}

impl Seen {
    pub(crate) fn clear(&mut self) {
        self.heads.clear();
        self.deliveries.clear();
    }

    fn note(&mut self, held: &Held) {
        let heads = held.heads.values().flatten();
        self.heads.extend(heads.map(|head| (head.id, head.clone())));
        let deliveries = held.deliveries.iter();
        self.deliveries.extend(
            deliveries.filter_map(|(place, row)| row.as_ref().map(|row| (*place, row.clone()))),
        );
    }
}

pub(crate) fn hold(
    connection: &Connection,
    mirror: &mut Mirror,
    seen: &mut Seen,
    touches: &Touches,
    now: Timestamp,
) -> Result<Held, StoreError> {
    let mut held = Held { now, ..Held::default() };
    let places = places(mirror, touches, &mut held);
    at_once(connection, || {
        for id in &touches.heads {
            held.heads.insert(*id, read::head(connection, *id)?);
        }
        for task_type in &touches.limits {
            let window = window(connection, task_type)?;
            let in_flight = mirror.in_flight(task_type);
            held.limits.insert(task_type.clone(), LimitRow { window, in_flight });
        }
        for key in &touches.records {
            held.records.insert(key.clone(), read::record(connection, key)?);
        }
        for place in places {
            held.deliveries.insert(place, read::delivery(connection, place)?);
        }
        for queue in touches.wanted.keys() {
            hold_ready(connection, queue, touches, &mut held)?;
        }
        for id in &touches.all_deliveries {
            for row in read::deliveries(connection, *id)? {
                let place = Place { execution: row.execution, task: row.task };
                held.deliveries.insert(place, Some(row));
            }
        }
        for key in &touches.messages {
            held.messages.insert(*key, read::message(connection, *key)?);
        }
        let lines = touches.waiters.iter().filter(|(key, _)| touches.records.contains(*key));
        for (record, count) in lines {
            let waiting = read::waiters(connection, record, *count)?;
            held.waiters.insert(record.clone(), waiting.iter().map(|row| row.key).collect());
            held.messages.extend(waiting.into_iter().map(|row| (row.key, Some(row))));
        }
        for key in &touches.documents {
            held.documents.insert(key.clone(), read::document(connection, key)?);
        }
        Ok(())
    })?;
    seen.note(&held);
    Ok(held)
}

/// Reads what is ready in a queue until it is too large together.
fn hold_ready(
    connection: &Connection,
    queue: &Queue,
    touches: &Touches,
    held: &mut Held,
) -> Result<(), StoreError> {
    let places = held.ready.remove(queue).unwrap_or_default();
    let (places, is_all) = touches.fill(places, |place| {
        let row = match held.deliveries.entry(place) {
            Entry::Occupied(known) => known.into_mut(),
            Entry::Vacant(free) => free.insert(read::delivery(connection, place)?),
        };
        Ok::<_, StoreError>(row.as_ref().map_or(0, Delivery::payload_bytes))
    })?;
    if !is_all {
        held.cut.insert(queue.clone());
    }
    held.ready.insert(queue.clone(), places);
    Ok(())
}

/// Every single delivery to read: those named, those a token holds. What is ready in a queue is read one by one.
fn places(mirror: &mut Mirror, touches: &Touches, held: &mut Held) -> BTreeSet<Place> {
    let mut places = touches.deliveries.clone();
    for token in &touches.tokens {
        let found = mirror.by_token(token);
        places.extend(&found);
        held.by_token.insert(*token, found);
    }
    for (queue, count) in &touches.wanted {
        let passed_over = touches.passed_over(queue);
        let ready = mirror.ready(queue, held.now, *count, passed_over, |_| false);
        held.ready.insert(queue.clone(), ready);
    }
    places
}

pub(crate) fn window(connection: &Connection, task_type: &str) -> Result<Window, StoreError> {
    const WINDOW: &str = "SELECT window FROM limits WHERE task_type = ?1";
    let name = || format!("limit of task type {task_type}");
    let bytes: Option<Vec<u8>> = one(connection, WINDOW, [task_type], |row| row.get(0), name)?;
    let Some(bytes) = bytes else { return Ok(Window::default()) };
    serde_json::from_slice(&bytes)
        .map_err(|error| StoreError::Corrupt(format!("limit of task type {task_type}: {error}")))
}

/// The last round this lane has committed.
pub(crate) fn last_round(connection: &Connection, lane: u16) -> Result<Option<u64>, StoreError> {
    let mut statement = cached(connection, "SELECT round FROM lanes WHERE lane = ?1")?;
    let mut rows = statement.query([lane]).map_err(fault::of)?;
    let row = rows.next().map_err(fault::of)?;
    row.map(|row| row.get(0)).transpose().map_err(fault::of)
}
