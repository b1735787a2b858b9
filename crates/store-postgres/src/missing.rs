//! # Missing rows: skipped, or not there?
//!
//! A row that was not found is either held by another lane or does not exist. A plain read tells.
//! Where a row could come into being behind our back (records, limits, documents) its absence is
//! held too, by a placeholder under its name: another lane that wants the same row waits for us a
//! moment, and then goes on without it. A poll that names itself holds its name the same way. Rows that
//! have come into being meanwhile are never waited for: others of ours are held by now.

use std::collections::BTreeSet;

use semel_engine::{MessageKey, RecordKey, Token};
use semel_model::{Digest, ExecutionId};
use semel_store::{DocumentKey, Held, Kind, LimitRow, Place, Row as Name, StoreError, Touches};
use tokio_postgres::Row;

use crate::asks::{Asks, Session, Value, column};
use crate::columns::{self, Fields, execution_id, record_columns, uuid};
use crate::fault::{self, Fault};
use crate::hold::{Holds, Round, holds, place_keys, token_keys};
use crate::named::{by_document, by_message, by_place, by_record, there};

pub(crate) const LIMITS: Holds =
    holds!("SELECT task_type, used FROM limits WHERE task_type = ANY ($1) ORDER BY task_type");
pub(crate) const IN_FLIGHT: &str = "SELECT task_type, count(*) FROM deliveries \
     WHERE leased AND task_type = ANY ($1) GROUP BY task_type";
pub(crate) const RECORDS: Holds = holds!(named: by_record, record_columns!());
pub(crate) const DOCUMENTS: Holds = holds!(named: by_document, "kind, name, version, body");

const HEADS_THERE: &str = "SELECT id FROM executions WHERE id = ANY ($1)";
const PLACES_THERE: &str = there!(by_place, "execution, task");
pub(crate) const ALL_THERE: &str =
    "SELECT execution, task FROM deliveries WHERE execution = ANY ($1)";
pub(crate) const TOKENS_THERE: &str =
    "SELECT execution, task, token FROM deliveries WHERE token = ANY ($1)";
const MESSAGES_THERE: &str = there!(by_message, "sender, seq, at");
const LIMITS_THERE: &str = "SELECT task_type FROM limits WHERE task_type = ANY ($1)";
const RECORDS_THERE: &str = there!(by_record, "scope, key");
const DOCUMENTS_THERE: &str = there!(by_document, "kind, name, version, ''::bytea");

const SAVEPOINT: &str = "SAVEPOINT placeholders";
const BACK: &str = "ROLLBACK TO SAVEPOINT placeholders";
const HURRY: &str = "SET LOCAL lock_timeout = '20ms'";
const AS_BEFORE: &str = "SET LOCAL lock_timeout = '2s'";
/// In order, so that of two lanes that want the same rows one gets all of them.
const PLACEHOLDERS: &str = "INSERT INTO placeholders (key) \
     SELECT key FROM unnest($1::bytea[]) AS key ORDER BY key ON CONFLICT DO NOTHING";

/// Tells absent rows from skipped ones, for everything that was asked for and not found.
pub(crate) async fn look_again(
    session: &Session,
    round: &mut Round,
    touches: &Touches,
) -> Result<(), Fault> {
    tell_apart(session, round, touches).await?;
    hold_absent(session, round, touches).await
}

/// Rows whose absence needs no holding: nobody makes a head, a delivery or a message that somebody
/// else has asked for by its id, but whoever holds what it follows from.
async fn tell_apart(session: &Session, round: &mut Round, touches: &Touches) -> Result<(), Fault> {
    let held = &round.held;
    let heads = missing(&touches.heads, |id| held.heads.contains_key(id));
    let places = missing(&touches.deliveries, |place| held.deliveries.contains_key(place));
    let messages = missing(&touches.messages, |key| held.messages.contains_key(key));
    let mut asks = Asks::default();
    let heads_there = asks.add_if(!heads.is_empty(), HEADS_THERE, || {
        vec![column(&heads, |id: &ExecutionId| uuid(*id))]
    });
    let places_there = asks.add_if(!places.is_empty(), PLACES_THERE, || place_keys(&places));
    let messages_there =
        asks.add_if(!messages.is_empty(), MESSAGES_THERE, || message_keys(&messages));
    if asks.is_empty() {
        return Ok(());
    }
    let mut answers = session.answers(&asks).await?;
    drop(asks);
    for row in answers.take(heads_there) {
        round.held.skipped.insert(Name::Head(execution_id(row.try_get(0)?)));
    }
    round.skip_places(&answers.take(places_there))?;
    round.skip_messages(&answers.take(messages_there))?;
    let held = &mut round.held;
    let is_absent = |name: Name| !held.skipped.contains(&name);
    let heads = heads.into_iter().filter(|id| is_absent(Name::Head(*id)));
    let places = places.into_iter().filter(|place| is_absent(Name::Delivery(*place)));
    let messages = messages.into_iter().filter(|key| is_absent(Name::Message(*key)));
    held.heads.extend(heads.map(|id| (id, None)));
    held.deliveries.extend(places.map(|place| (place, None)));
    held.messages.extend(messages.map(|key| (key, None)));
    Ok(())
}

/// Rows that anybody could make, and were not found.
struct Absent {
    limits: BTreeSet<String>,
    records: BTreeSet<RecordKey>,
    documents: BTreeSet<DocumentKey>,
    /// Names of polls under which nothing was handed out.
    polls: BTreeSet<Token>,
}

impl Absent {
    fn of(held: &Held, touches: &Touches) -> Self {
        let is_used = |token: &Token| held.by_token.get(token).is_some_and(|it| !it.is_empty());
        Self {
            limits: missing(&touches.limits, |name| held.limits.contains_key(name)),
            records: missing(&touches.records, |key| held.records.contains_key(key)),
            documents: missing(&touches.documents, |key| held.documents.contains_key(key)),
            polls: missing(&touches.polls, is_used),
        }
    }

    fn names(&self) -> impl Iterator<Item = Name> {
        let limits = self.limits.iter().map(|name| Name::Limit(name.clone()));
        let records = self.records.iter().map(|key| Name::Record(key.clone()));
        let documents = self.documents.iter().map(|key| Name::Document(key.clone()));
        let polls = self.polls.iter().map(|token| Name::Poll(*token));
        limits.chain(records).chain(documents).chain(polls)
    }
}

/// Their absence is held by placeholders.
async fn hold_absent(session: &Session, round: &mut Round, touches: &Touches) -> Result<(), Fault> {
    let absent = Absent::of(&round.held, touches);
    let placeholders: Vec<Digest> = absent.names().filter_map(|it| placeholder(&it)).collect();
    if placeholders.is_empty() {
        return Ok(());
    }
    let Absent { limits, records, documents, polls } = &absent;
    let mut asks = Asks::default();
    asks.add(SAVEPOINT, Vec::new());
    asks.add(HURRY, Vec::new());
    let bytes = column(&placeholders, |key: &Digest| key.as_bytes().as_slice());
    let place = asks.add(PLACEHOLDERS, vec![bytes]);
    asks.add(AS_BEFORE, Vec::new());
    let limits_at = asks.add(LIMITS.skipping, limit_keys(limits));
    let in_flight = asks.add(IN_FLIGHT, limit_keys(limits));
    let records_at = asks.add(RECORDS.skipping, record_keys(records));
    let documents_at = asks.add(DOCUMENTS.skipping, document_keys(documents));
    let limits_there = asks.add(LIMITS_THERE, limit_keys(limits));
    let records_there = asks.add(RECORDS_THERE, record_keys(records));
    let documents_there = asks.add(DOCUMENTS_THERE, document_keys(documents));
    let polls_there = asks.add_if(!polls.is_empty(), TOKENS_THERE, || token_keys(polls));
    let mut answers = session.all(&asks).await?;
    drop(asks);
    match answers.failure() {
        Some((at, error)) if at.is(place) && fault::is_locked(&error) => {
            session.rows(BACK, Vec::new()).await?;
            round.held.skipped.extend(absent.names());
            polls.iter().for_each(|token| drop(round.held.by_token.remove(token)));
            return Ok(());
        }
        Some((_, error)) => return Err(error.into()),
        None => {}
    }
    let in_flight = answers.take(in_flight);
    round.read_limits(&answers.take(limits_at), &[])?;
    round.read_records(&answers.take(records_at))?;
    round.read_documents(&answers.take(documents_at))?;
    let mut there: BTreeSet<Name> = BTreeSet::new();
    for row in answers.take(limits_there) {
        there.insert(Name::Limit(row.try_get(0)?));
    }
    for row in answers.take(records_there) {
        there.insert(Name::Record(columns::record_key(&row)?));
    }
    for row in answers.take(documents_there) {
        there.insert(Name::Document(document(&row)?.0));
    }
    absent.names().for_each(|name| round.absent_or_skipped(name, &there));
    round.read_limits(&[], &in_flight)?;
    round.skip_tokens(&answers.take(polls_there))?;
    round.placeholders = placeholders;
    Ok(())
}

impl Round {
    /// These are there: what of them is not held was skipped.
    pub(crate) fn skip_places(&mut self, there: &[Row]) -> Result<(), StoreError> {
        for row in there {
            let place = columns::place(row)?;
            if !self.held.deliveries.contains_key(&place) {
                self.held.skipped.insert(Name::Delivery(place));
            }
        }
        Ok(())
    }

    /// Of a token of which something was skipped, nothing is told.
    pub(crate) fn skip_tokens(&mut self, there: &[Row]) -> Result<(), StoreError> {
        self.skip_places(there)?;
        for row in there {
            let mut fields = Fields::of(row);
            let place = Place { execution: fields.execution()?, task: fields.task()? };
            if let (false, Some(token)) =
                (self.held.deliveries.contains_key(&place), fields.digest_if_any()?)
            {
                self.held.by_token.remove(&token);
            }
        }
        Ok(())
    }

    pub(crate) fn skip_messages(&mut self, there: &[Row]) -> Result<(), StoreError> {
        for row in there {
            let key = columns::message_key(row)?;
            if !self.held.messages.contains_key(&key) {
                self.held.skipped.insert(Name::Message(key));
            }
        }
        Ok(())
    }

    /// Found meanwhile, held by another, or not there, which is held now.
    fn absent_or_skipped(&mut self, name: Name, there: &BTreeSet<Name>) {
        let held = &mut self.held;
        let is_found = match &name {
            Name::Limit(name) => held.limits.contains_key(name),
            Name::Record(key) => held.records.contains_key(key),
            Name::Document(key) => held.documents.contains_key(key),
            Name::Head(_) | Name::Delivery(_) | Name::Message(_) | Name::Poll(_) => true,
        };
        if is_found {
            return;
        }
        if there.contains(&name) {
            held.skipped.insert(name);
            return;
        }
        match name {
            Name::Limit(name) => drop(held.limits.insert(name, LimitRow::default())),
            Name::Record(key) => drop(held.records.insert(key, None)),
            Name::Document(key) => drop(held.documents.insert(key, None)),
            Name::Head(_) | Name::Delivery(_) | Name::Message(_) | Name::Poll(_) => {}
        }
    }
}

fn missing<K: Ord + Clone>(wanted: &BTreeSet<K>, is_held: impl Fn(&K) -> bool) -> BTreeSet<K> {
    wanted.iter().filter(|key| !is_held(key)).cloned().collect()
}

/// The name under which an absent row is held.
fn placeholder(name: &Name) -> Option<Digest> {
    let parts = match name {
        Name::Limit(name) => vec![b"limit".to_vec(), name.clone().into_bytes()],
        Name::Record(RecordKey { scope, key }) => {
            vec![b"record".to_vec(), scope.clone().into_bytes(), key.clone().into_bytes()]
        }
        Name::Document(DocumentKey { kind, name, version }) => vec![
            b"document".to_vec(),
            kind.as_str().as_bytes().to_vec(),
            name.clone().into_bytes(),
            version.to_be_bytes().to_vec(),
        ],
        Name::Poll(token) => vec![b"poll".to_vec(), token.as_bytes().to_vec()],
        Name::Head(_) | Name::Delivery(_) | Name::Message(_) => return None,
    };
    // No text holds a NUL here, and a token is of one length.
    Some(Digest::of(&parts.join(&0)))
}

pub(crate) fn limit_keys(limits: &BTreeSet<String>) -> Vec<Value<'_>> {
    vec![column(limits, |name: &String| name.as_str())]
}

pub(crate) fn record_keys<'a>(
    keys: impl IntoIterator<Item = &'a RecordKey> + Clone,
) -> Vec<Value<'a>> {
    vec![
        column(keys.clone(), |key: &RecordKey| key.scope.as_str()),
        column(keys.clone(), |key: &RecordKey| key.key.as_str()),
    ]
}

pub(crate) fn message_keys<'a>(
    keys: impl IntoIterator<Item = &'a MessageKey> + Clone,
) -> Vec<Value<'a>> {
    vec![
        column(keys.clone(), |key: &MessageKey| uuid(key.from)),
        column(keys.clone(), |key: &MessageKey| key.seq.cast_signed()),
        column(keys.clone(), |key: &MessageKey| i64::from(key.at)),
    ]
}

pub(crate) fn document_keys<'a>(
    keys: impl IntoIterator<Item = &'a DocumentKey> + Clone,
) -> Vec<Value<'a>> {
    vec![
        column(keys.clone(), |key: &DocumentKey| key.kind.as_str()),
        column(keys.clone(), |key: &DocumentKey| key.name.as_str()),
        column(keys.clone(), |key: &DocumentKey| key.version),
    ]
}

/// Columns `kind, name, version, body`.
pub(crate) fn document(row: &Row) -> Result<(DocumentKey, Vec<u8>), StoreError> {
    let mut fields = Fields::of(row);
    let kind: &str = fields.next()?;
    let kind = Kind::named(kind)
        .ok_or_else(|| StoreError::Corrupt(format!("a document of an unknown kind, {kind}")))?;
    Ok((DocumentKey { kind, name: fields.next()?, version: fields.next()? }, fields.next()?))
}
