//! # The indexer: keeps the index a moment behind what is committed
//!
//! Off the commit path. Takes what the lanes marked, writes its rows, and beside that compares the
//! index with the journals, run by run: at open, and whenever marks were lost. Words follow when
//! there is time, or when somebody looks for some.
//!
//! **May not:** be needed. Nothing waits for it but searches, and those not for long.

mod comparing;
mod rows;

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::time::{Duration, Instant};

use semel_model::ExecutionId;
use semel_store::{Batch, StoreError, Words};

use self::comparing::Walk;
use crate::dirty::{Progress, Taken};
use crate::failure::Failure;
use crate::snapshots::Kept;
use crate::world::World;

/// Between two looks at what was marked.
const LOOK_EVERY: Duration = Duration::from_millis(250);
/// Beyond that, while there is little to write and nobody else reads what this process has indexed: a
/// search here asks for what was marked.
const LOOK_LATER: Duration = Duration::from_millis(750);
/// The same while comparing beside other work.
const LOOK_EVERY_COMPARING: Duration = Duration::from_millis(25);
/// After a write that failed.
const AFTER_FAILURE: Duration = Duration::from_secs(1);
/// Where others index too, a run that one of them removes may be written by another that is slower.
const COMPARE_EVERY: Duration = Duration::from_secs(3_600);
/// Rows in one write.
const BATCH_ROWS: usize = 2_000;
/// Runs whose words are written in one look: a few beside other work, more when there is none.
const WORDS_BUSY: usize = 50;
const WORDS_IDLE: usize = 500;

pub(crate) struct Indexer {
    world: Arc<World>,
    walk: Option<Walk>,
    /// When a walk last came to its end, or this began.
    compared_at: Instant,
    kept: Kept,
    progress: Progress,
    has_wordless: bool,
    /// Somebody looks for words and has not got all of them yet.
    wants_words: bool,
    has_failed: bool,
    /// There was something to write at the last look.
    was_busy: bool,
}

impl Indexer {
    pub(crate) fn new(world: Arc<World>) -> Self {
        world.dirty.watch();
        let walk = Some(Walk::default());
        Self {
            world,
            walk,
            compared_at: Instant::now(),
            kept: Kept::default(),
            progress: Progress::default(),
            has_wordless: true,
            wants_words: false,
            has_failed: false,
            was_busy: false,
        }
    }

    /// Until it is told to stop; what is marked then is still written.
    pub(crate) fn run(mut self) {
        loop {
            let pause = self.pause();
            let taken = self.world.dirty.take(pause, self.pause_for_few(pause));
            let is_stopped = taken.is_stopped;
            let done = catch_unwind(AssertUnwindSafe(|| self.look(taken)));
            match done {
                Ok(Ok(())) => self.has_failed = false,
                Ok(Err(failure)) => self.recover(&failure),
                Err(_) => self.recover(&Failure::Fault("the indexer panicked".to_owned())),
            }
            self.world.dirty.tell(self.progress);
            if is_stopped {
                return;
            }
        }
    }

    fn pause(&self) -> Duration {
        match (self.walk.is_some(), self.has_wordless) {
            _ if self.has_failed => AFTER_FAILURE,
            (_, true) if self.wants_words => Duration::ZERO,
            // Marks gather while others work, and nobody is kept from working.
            (true, _) if self.was_busy => LOOK_EVERY_COMPARING,
            (true, _) => Duration::ZERO,
            (false, true) if !self.was_busy => Duration::ZERO,
            (false, _) => LOOK_EVERY,
        }
    }

    fn pause_for_few(&self, pause: Duration) -> Duration {
        let may_wait = pause == LOOK_EVERY && !self.world.store.is_shared();
        if may_wait { LOOK_LATER } else { Duration::ZERO }
    }

    fn look(&mut self, taken: Taken) -> Result<(), Failure> {
        if taken.must_reset {
            tracing::warn!("the search index cannot be read and is made anew");
            self.world.store.index().reset()?;
        }
        if taken.must_reset || taken.has_overflowed {
            self.begin_again();
        }
        let is_busy = !taken.runs.is_empty();
        self.was_busy = is_busy;
        let mut batch = Batch::default();
        for (id, mark) in taken.runs {
            match self.world.index_mark(&mut batch, id, &mark) {
                // It is the run that cannot be read, not the index.
                Err(Failure::Store(StoreError::Corrupt(what))) => {
                    tracing::warn!(what, execution = %id, "a run cannot be read and is not indexed");
                }
                marked => marked?,
            }
            if let Some(execution) = mark.execution.as_ref().filter(|_| !mark.is_removed) {
                self.kept.look(&mut batch, execution);
            }
            self.write_large(&mut batch)?;
        }
        self.write(&mut batch)?;
        self.progress.rows = taken.up_to;
        if taken.is_stopped {
            return Ok(());
        }
        if self.world.store.is_shared() && self.compared_at.elapsed() >= COMPARE_EVERY {
            self.walk.get_or_insert_default();
        }
        if let Some(walk) = self.walk.take() {
            self.walk = self.compare(walk)?;
            if self.walk.is_none() {
                self.progress.is_complete = true;
                self.compared_at = Instant::now();
            }
        }
        self.has_wordless |= is_busy;
        self.wants_words |= taken.wanted.words;
        if self.has_wordless {
            let is_urgent = self.wants_words || !is_busy;
            self.write_words(if is_urgent { WORDS_IDLE } else { WORDS_BUSY })?;
        }
        if !self.has_wordless {
            self.progress.words = taken.up_to;
            self.wants_words = false;
        }
        Ok(())
    }

    fn begin_again(&mut self) {
        self.walk = Some(Walk::default());
        self.progress.is_complete = false;
    }

    /// What was taken may be lost: compare everything again.
    fn recover(&mut self, failure: &Failure) {
        if !self.has_failed {
            tracing::warn!(%failure, "the search index could not be written; it is compared again");
        }
        self.has_failed = true;
        if matches!(failure, Failure::Store(StoreError::Corrupt(_))) {
            self.world.give_up_index();
        }
        self.begin_again();
    }

    fn write_words(&mut self, max: usize) -> Result<(), Failure> {
        let ids = self.world.store.index().wordless(max)?;
        self.has_wordless = ids.len() == max;
        let mut batch = Batch::default();
        for id in ids {
            batch.words.push(self.words_of(id)?);
        }
        self.write(&mut batch)
    }

    /// Nothing for a run that cannot be read, whatever becomes of it: it is asked for once.
    fn words_of(&self, of: ExecutionId) -> Result<Words, Failure> {
        let nothing = Words { of, seq: i64::MAX.unsigned_abs(), text: String::new() };
        match self.world.glance(of) {
            Ok(Some(found)) => {
                let (seq, text) = (found.execution.link().seq, rows::words(&found.execution));
                Ok(Words { of, seq, text })
            }
            Ok(None) => Ok(nothing),
            Err(Failure::Store(StoreError::Corrupt(what))) => {
                tracing::warn!(what, execution = %of, "a run cannot be read for its words");
                Ok(nothing)
            }
            Err(failure) => Err(failure),
        }
    }

    fn write_large(&self, batch: &mut Batch) -> Result<(), Failure> {
        if batch.len() >= BATCH_ROWS { self.write(batch) } else { Ok(()) }
    }

    fn write(&self, batch: &mut Batch) -> Result<(), Failure> {
        if !batch.is_empty() {
            self.put(&std::mem::take(batch))?;
        }
        Ok(())
    }

    /// What is refused where others write too is a row, not the index: the batch is split until its
    /// run stands alone, and that one is left out.
    fn put(&self, batch: &Batch) -> Result<(), Failure> {
        let store = &self.world.store;
        let what = match store.index().put(batch) {
            Err(StoreError::Corrupt(what)) if store.is_shared() => what,
            done => return Ok(done?),
        };
        if let Some(halves) = batch.halves() {
            return halves.iter().try_for_each(|half| self.put(half));
        }
        let execution = batch.of().first().map(ToString::to_string);
        tracing::warn!(what, execution, "a run is refused by the search index and is not found");
        Ok(())
    }
}

impl World {
    /// It turned out to be unreadable. One that is shared is not made anew by a single node: all of
    /// them would have to fill it again, and one of them may be mistaken.
    pub(crate) fn give_up_index(&self) {
        if !self.store.is_shared() {
            self.dirty.ask_for_reset();
        }
    }
}
