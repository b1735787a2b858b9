//! # The lane: rounds on a connection of its own
//!
//! What it holds, an open transaction holds, and what the database forgets when the connection ends
//! it forgets too. A commit whose answer was lost is found out about in the lane's own row: whoever
//! reads that row waits until the lost transaction is over.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, PoisonError};
use std::thread::ThreadId;
use std::time::{Duration, Instant};

use semel_engine::Queue;
use semel_model::Timestamp;
use semel_store::{Due, Held, Stamp, StoreError, Touches, Writer, Writes};
use uuid::Uuid;

use crate::asks::{Asks, Session, values};
use crate::clock::Seen as Look;
use crate::columns::Fields;
use crate::due::{self, Asked, Next};
use crate::fault::{self, Fault};
use crate::hold::{self, BEGIN, Round};
use crate::open::Shared;
use crate::own::Lane;
use crate::{credit, weight, write};

const TAKE: &str = "INSERT INTO lanes (node, lane, writer, round, at, fence) \
     VALUES ($1, $2, $3, 0, 0, 0) ON CONFLICT (node, lane) DO UPDATE SET writer = excluded.writer";
const LAST_ROUND: &str = "SELECT writer, round FROM lanes WHERE node = $1 AND lane = $2 FOR UPDATE";
const ROLLBACK: &str = "ROLLBACK";

/// A database that does not say for so long what became of a commit is not waited for any more.
const RESOLVE_WITHIN: Duration = Duration::from_secs(60);
/// Longer than the database keeps what a dead writer of this lane holds.
const TAKE_WITHIN: Duration = Duration::from_secs(20);
const TRY_EVERY: Duration = Duration::from_millis(100);
/// While the database does not answer.
const ASK_AGAIN_MS: i64 = 500;
/// What other nodes have written is looked for this often, and seen twice as late at the latest.
const LOOK_EVERY: Duration = Duration::from_millis(250);

pub(crate) struct PostgresWriter {
    shared: Arc<Shared>,
    lane: Lane,
    session: Option<Session>,
    open: Option<Round>,
    /// Whose documents this round has read.
    thread: Option<ThreadId>,
}

impl PostgresWriter {
    pub(crate) fn new(shared: Arc<Shared>, number: u16) -> Result<Self, StoreError> {
        let mut bytes = [0; 16];
        let drawn = getrandom::fill(&mut bytes);
        drawn.map_err(|error| StoreError::Unavailable(error.to_string().into()))?;
        let lane = Lane { node: shared.node, lane: number.into(), writer: Uuid::from_bytes(bytes) };
        let mut writer = Self { shared, lane, session: None, open: None, thread: None };
        writer.take()?;
        Ok(writer)
    }

    /// From now on this writer works for its lane, and no other.
    fn take(&mut self) -> Result<(), StoreError> {
        let Lane { node, lane, writer } = self.lane;
        let mut asks = Asks::default();
        asks.add(TAKE, values![node, lane, writer]);
        self.insist(TAKE_WITHIN, async |session| {
            session.answers(&asks).await.map(drop).map_err(Fault::from)
        })
    }

    /// On a connection that works, tried again while that can help.
    fn insist<T>(
        &mut self,
        within: Duration,
        act: impl AsyncFn(&Session) -> Result<T, Fault>,
    ) -> Result<T, StoreError> {
        let until = Instant::now() + within;
        loop {
            match self.on_session(&act).map_err(StoreError::from) {
                Err(error) if Instant::now() < until => {
                    tracing::debug!(%error, "the database is asked again");
                    std::thread::sleep(TRY_EVERY);
                }
                done => return done,
            }
        }
    }

    /// Nothing has happened yet, so a connection that turns out to be gone is replaced.
    fn try_twice<T>(
        &mut self,
        act: impl AsyncFn(&Session) -> Result<T, Fault>,
    ) -> Result<T, StoreError> {
        match self.on_session(&act) {
            Err(fault) if fault.is_cut_off() => self.on_session(&act).map_err(StoreError::from),
            Err(Fault::LaneGone) => {
                self.take()?;
                self.on_session(&act).map_err(StoreError::from)
            }
            other => other.map_err(StoreError::from),
        }
    }

    /// What fails leaves no transaction open.
    fn on_session<T>(
        &mut self,
        act: &impl AsyncFn(&Session) -> Result<T, Fault>,
    ) -> Result<T, Fault> {
        let session = self.session.take().filter(|session| !session.client.is_closed());
        let shared = Arc::clone(&self.shared);
        let link = shared.readers.link();
        let (session, done) = link.wait(async {
            let session = match session {
                Some(session) => session,
                None => {
                    let session = link.lane().await?;
                    // If everybody was cut off for long, leases have lost that time.
                    let (look, _) = credit::downtime(&session, shared.lease_grace_ms).await?;
                    shared.next.forget();
                    shared.heard.made_up_for();
                    shared.clock.note(look);
                    session
                }
            };
            let done = act(&session).await;
            let is_usable = done.is_ok() || session.rows(ROLLBACK, Vec::new()).await.is_ok();
            Ok::<_, Fault>((is_usable.then_some(session), done))
        })?;
        self.session = session;
        done
    }

    /// If nothing was heard for long, leases get that time before anything is decided on them. True:
    /// it was so.
    fn make_up_for_silence(&mut self) -> Result<bool, StoreError> {
        // While time stands still nobody loses any.
        if !self.shared.heard.was_silent() || self.shared.clock.stands() {
            return Ok(false);
        }
        self.release();
        let grace_ms = self.shared.lease_grace_ms;
        self.try_twice(async |session| credit::downtime(session, grace_ms).await)?;
        self.shared.next.forget();
        self.shared.heard.made_up_for();
        Ok(true)
    }

    fn held(&mut self, touches: &Touches) -> Result<Look, StoreError> {
        let (lane, said) = (self.lane, self.shared.clock.now());
        let (round, look) =
            self.try_twice(async |session| hold::hold(session, lane, touches, said).await)?;
        self.open = Some(round);
        Ok(look)
    }

    fn told(&self) -> Option<Timestamp> {
        *self.shared.told.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn note_told(&self, now: Timestamp) {
        *self.shared.told.lock().unwrap_or_else(PoisonError::into_inner) = Some(now);
    }

    /// Documents are as this round has read them until it ends.
    fn read_documents_of(&mut self, generation: Option<u64>) {
        let generations = self.shared.generations.lock();
        let mut generations = generations.unwrap_or_else(PoisonError::into_inner);
        if let Some(thread) = self.thread.take() {
            generations.remove(&thread);
        }
        if let Some(generation) = generation {
            let thread = std::thread::current().id();
            generations.insert(thread, generation);
            self.thread = Some(thread);
        }
    }

    /// Whether it is written, and what is due next after that, if both went well.
    fn write(
        &mut self,
        round: &Round,
        writes: &Writes,
        asked: Asked,
    ) -> (Result<(), StoreError>, Option<Next>) {
        let Some(session) = self.session.take() else { return (Err(StoreError::Unknown), None) };
        let mut asks = Asks::default();
        let commit = write::round(&mut asks, self.lane, round, writes);
        // Who was told nothing yet is about to look at everything.
        let next = self.told().map(|told| due::ask_next(&mut asks, Some(told), asked.from));
        let shared = Arc::clone(&self.shared);
        let link = shared.readers.link();
        let mut answers = match link.wait(session.all(&asks)) {
            Ok(answers) => answers,
            // All of it is decided again, on a connection that works.
            Err(error) if fault::is_cut_off(&error) => return (Err(StoreError::Unknown), None),
            // A statement could not even be prepared: nothing was sent.
            Err(error) => {
                let _ = link.wait(session.rows(ROLLBACK, Vec::new())); // Else its end ends it.
                return (Err(fault::of(error)), None);
            }
        };
        match answers.failure() {
            None => {
                self.session = Some(session);
                self.shared.heard.note();
                let next = next.map(|next| next.map(|at| answers.take(at)));
                (Ok(()), next.and_then(|rows| Next::of(&rows).ok()))
            }
            Some((at, error)) if at.is_before(commit) && !fault::is_cut_off(&error) => {
                // The COMMIT that followed has undone it; if none did, its connection ends.
                self.session = error.as_db_error().is_some().then_some(session);
                (Err(fault::of(error)), None)
            }
            Some((at, _)) if at.is_after(commit) => (Ok(()), None),
            Some((_, error)) => {
                tracing::warn!(%error, "a commit was sent and its answer is lost");
                (Err(StoreError::Unknown), None)
            }
        }
    }

    /// The round as it was held; one that was not held holds its lane.
    fn opened(&mut self) -> Result<Round, StoreError> {
        if let Some(round) = self.open.take() {
            return Ok(round);
        }
        let lane = self.lane;
        self.try_twice(async |session| hold::begin(session, lane).await)
    }
}

impl Writer for PostgresWriter {
    fn hold(&mut self, touches: &Touches) -> Result<Held, StoreError> {
        self.release();
        self.make_up_for_silence()?;
        let mut look = self.held(touches)?;
        if self.make_up_for_silence()? {
            look = self.held(touches)?; // It was asked before the silence and answered after it.
        }
        self.shared.heard.note();
        let now = self.shared.clock.note(look);
        self.read_documents_of(Some(look.documents_generation));
        let mut held =
            self.open.as_mut().map(|it| std::mem::take(&mut it.held)).unwrap_or_default();
        held.now = held.now.max(now);
        Ok(held)
    }

    fn commit(&mut self, writes: Writes) -> Result<(), StoreError> {
        if let Err(error) = weight::check(&writes) {
            self.release();
            return Err(error);
        }
        let round = self.opened()?;
        self.read_documents_of(None);
        let asked = self.shared.next.ask(Next(writes.armed()));
        let (done, next) = self.write(&round, &writes, asked);
        self.shared.next.committed(asked, next);
        done
    }

    fn release(&mut self) {
        self.read_documents_of(None);
        if self.open.take().is_some()
            && let Some(session) = self.session.take()
        {
            let ended = self.shared.readers.link().wait(session.rows(ROLLBACK, Vec::new()));
            self.session = ended.is_ok().then_some(session);
        }
    }

    fn happened(&mut self, stamp: Stamp) -> Result<bool, StoreError> {
        self.release();
        let (node, lane) = (self.lane.node, i32::from(stamp.lane));
        let found = self.insist(RESOLVE_WITHIN, async |session| {
            let mut asks = Asks::default();
            asks.add(BEGIN, Vec::new());
            let last = asks.add(LAST_ROUND, values![node, lane]);
            asks.add(ROLLBACK, Vec::new());
            Ok(session.answers(&asks).await?.take(last))
        });
        let found = found.map_err(|error| {
            tracing::error!(%error, "what became of a commit cannot be found out");
            StoreError::Unknown
        })?;
        let mut last = found.first().map(Fields::of).ok_or(StoreError::Unknown)?;
        self.shared.next.forget(); // What it has armed may have been overlooked.
        // Whoever works for the lane now numbers rounds of his own.
        match last.next::<Uuid>()? == self.lane.writer {
            true => Ok(last.count()? == stamp.round),
            false => Err(StoreError::Replaced),
        }
    }

    fn due(&mut self, now: Timestamp, max: usize) -> Result<Due, StoreError> {
        if self.shared.next.known(LOOK_EVERY).is_some_and(|next| next.is_after(now)) {
            self.note_told(now);
            return Ok(Due::default());
        }
        self.release();
        self.make_up_for_silence()?;
        let (lane, told) = (self.lane, self.told());
        let asked = self.shared.next.ask(Next::NEVER);
        let looked = self.try_twice(async |session| due::due(session, lane, told, now, max).await);
        self.shared.next.looked(asked, looked.as_ref().ok().map(|(_, next, _)| *next));
        let (due, _, look) = looked?;
        self.shared.heard.note();
        self.shared.clock.note(look);
        self.note_told(now);
        Ok(due)
    }

    fn offers(
        &mut self,
        queues: &BTreeSet<Queue>,
        max: usize,
    ) -> Result<BTreeMap<Queue, usize>, StoreError> {
        self.release();
        let said = self.shared.clock.now();
        self.try_twice(async |session| due::offers(session, queues, max, said).await)
    }

    fn next_due(&self) -> Option<Timestamp> {
        if let Some(known) = self.shared.next.known(Duration::MAX) {
            return known.0;
        }
        let (asked, told) = (self.shared.next.ask(Next::NEVER), self.told());
        let next = self.shared.readers.read(async |session| {
            let mut asks = Asks::default();
            let next = due::ask_next(&mut asks, told, Next::EVER);
            let mut answers = session.answers(&asks).await?;
            Ok(next.map(|at| answers.take(at)))
        });
        let next = next.and_then(|rows| Next::of(&rows));
        self.shared.next.looked(asked, next.as_ref().ok().copied());
        match next {
            Ok(next) => next.0,
            Err(error) => {
                tracing::debug!(%error, "what is due next is not known");
                Some(self.shared.clock.now().plus_ms(ASK_AGAIN_MS))
            }
        }
    }
}

impl Drop for PostgresWriter {
    fn drop(&mut self) {
        self.read_documents_of(None);
    }
}
