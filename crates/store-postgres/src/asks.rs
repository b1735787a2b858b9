//! # Asks: statements that go out together
//!
//! Everything that does not depend on an answer is sent at once and answered in order, one round
//! trip for all. Statements are prepared once per connection.

use std::collections::HashMap;
use std::pin::pin;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use futures_util::future::{join_all, maybe_done};
use futures_util::poll;
use metrics::counter;
use tokio::task::AbortHandle;
use tokio::time::timeout;
use tokio_postgres::types::ToSql;
use tokio_postgres::{Client, Error, Row, Statement};

pub(crate) type Value<'a> = Box<dyn ToSql + Sync + 'a>;

/// A connection and what is prepared on it.
pub(crate) struct Session {
    pub(crate) client: Client,
    /// Whoever moves its bytes.
    carrier: AbortHandle,
    /// A database that has not answered by then does not, though its machine keeps the connection up.
    within: Option<Duration>,
    prepared: Mutex<HashMap<&'static str, Statement>>,
}

/// Statements in the order in which they are executed.
#[derive(Default)]
pub(crate) struct Asks<'a> {
    asked: Vec<(&'static str, Vec<Value<'a>>)>,
    /// They take as long as they take.
    pub(crate) at_leisure: bool,
}

/// What one of several was answered; each is taken once.
#[derive(Clone, Copy)]
pub(crate) struct At(usize);

pub(crate) struct Answers(Vec<Option<Result<Vec<Row>, Error>>>);

/// The values of one column of many rows.
pub(crate) fn column<'a, R, T: ToSql + Sync + 'a>(
    rows: impl IntoIterator<Item = R>,
    value: impl Fn(R) -> T,
) -> Value<'a> {
    Box::new(rows.into_iter().map(value).collect::<Vec<T>>())
}

/// One statement and its values.
macro_rules! values {
    ($($value:expr),* $(,)?) => { vec![$(Box::new($value) as $crate::asks::Value<'_>),*] };
}

pub(crate) use values;

impl<'a> Asks<'a> {
    pub(crate) fn is_empty(&self) -> bool {
        self.asked.is_empty()
    }

    pub(crate) fn add(&mut self, sql: &'static str, values: Vec<Value<'a>>) -> At {
        self.asked.push((sql, values));
        At(self.asked.len() - 1)
    }

    /// Nothing is asked about no rows.
    pub(crate) fn add_if(
        &mut self,
        is_wanted: bool,
        sql: &'static str,
        values: impl FnOnce() -> Vec<Value<'a>>,
    ) -> Option<At> {
        is_wanted.then(|| self.add(sql, values()))
    }
}

impl Answers {
    /// The first error, if any: those after it only follow from it.
    pub(crate) fn failure(&mut self) -> Option<(At, Error)> {
        let at = self.0.iter().position(|answer| matches!(answer, Some(Err(_))))?;
        match self.0[at].take() {
            Some(Err(error)) => Some((At(at), error)),
            _ => None,
        }
    }

    /// Its rows; none where nothing was asked.
    pub(crate) fn take(&mut self, at: impl Into<Option<At>>) -> Vec<Row> {
        let answer = at.into().and_then(|At(at)| self.0.get_mut(at)?.take());
        answer.and_then(Result::ok).unwrap_or_default()
    }
}

impl At {
    pub(crate) fn is(self, other: Self) -> bool {
        self.0 == other.0
    }

    pub(crate) fn is_before(self, other: Self) -> bool {
        self.0 < other.0
    }

    pub(crate) fn is_after(self, other: Self) -> bool {
        self.0 > other.0
    }
}

impl Session {
    pub(crate) fn new(client: Client, carrier: AbortHandle, within: Option<Duration>) -> Self {
        Self { client, carrier, within, prepared: Mutex::default() }
    }

    pub(crate) fn answering_within(self, within: Duration) -> Self {
        Self { within: Some(within), ..self }
    }

    /// All of them, in order. An error in the middle of a transaction fails those after it too.
    pub(crate) async fn all(&self, asks: &Asks<'_>) -> Result<Answers, Error> {
        let mut all = pin!(self.send(asks));
        let Some(within) = self.within.filter(|_| !asks.at_leisure) else { return all.await };
        match timeout(within, all.as_mut()).await {
            Ok(answers) => answers,
            Err(_) => {
                self.carrier.abort(); // Whoever waits for an answer is told that it is lost.
                all.await
            }
        }
    }

    async fn send(&self, asks: &Asks<'_>) -> Result<Answers, Error> {
        self.prepare(asks).await?;
        let statements: Vec<_> = asks.asked.iter().map(|(sql, _)| self.statement(sql)).collect();
        let values: Vec<Vec<&(dyn ToSql + Sync)>> = asks
            .asked
            .iter()
            .map(|(_, values)| values.iter().map(|value| &**value).collect())
            .collect();
        let asked = statements.iter().zip(&values).map(|(statement, values)| async move {
            match statement {
                Some(statement) => self.client.query(statement, values).await,
                None => Ok(Vec::new()),
            }
        });
        counter!("semel_store_round_trips_total").increment(1);
        let mut sent = Vec::new();
        for mut ask in asked.map(|ask| Box::pin(maybe_done(ask))) {
            let _ = poll!(ask.as_mut()); // Now it is on its way, or cannot be sent.
            // What the database says may be heard already, and is followed by a COMMIT that undoes it.
            let is_sent = match ask.as_mut().output_mut() {
                Some(Err(error)) => error.as_db_error().is_some(),
                _ => true,
            };
            sent.push(ask);
            if !is_sent {
                break; // No COMMIT must follow what was left out.
            }
        }
        let mut answers = Vec::new();
        for mut ask in sent {
            ask.as_mut().await;
            answers.push(ask.as_mut().take_output());
        }
        Ok(Answers(answers))
    }

    /// The answers, or the first error.
    pub(crate) async fn answers(&self, asks: &Asks<'_>) -> Result<Answers, Error> {
        let mut answers = self.all(asks).await?;
        match answers.failure() {
            Some((_, error)) => Err(error),
            None => Ok(answers),
        }
    }

    pub(crate) async fn rows(
        &self,
        sql: &'static str,
        values: Vec<Value<'_>>,
    ) -> Result<Vec<Row>, Error> {
        let mut asks = Asks::default();
        let at = asks.add(sql, values);
        Ok(self.answers(&asks).await?.take(at))
    }

    fn statement(&self, sql: &str) -> Option<Statement> {
        self.prepared.lock().unwrap_or_else(PoisonError::into_inner).get(sql).cloned()
    }

    async fn prepare(&self, asks: &Asks<'_>) -> Result<(), Error> {
        let mut new: Vec<&'static str> = asks.asked.iter().map(|(sql, _)| *sql).collect();
        new.retain(|sql| self.statement(sql).is_none());
        new.sort_unstable();
        new.dedup();
        for (sql, statement) in
            new.iter().zip(join_all(new.iter().map(|sql| self.client.prepare(sql))).await)
        {
            let statement = statement?;
            self.prepared.lock().unwrap_or_else(PoisonError::into_inner).insert(sql, statement);
        }
        Ok(())
    }
}
