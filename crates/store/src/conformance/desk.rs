//! # The desk: a store, its one lane, and the power switch
//!
//! Rules work through it so that no store stays open behind a crash.

use std::collections::BTreeMap;
use std::sync::Arc;

use semel_engine::Queue;
use semel_model::Timestamp;

use super::samples;
use crate::{Clock, Due, Held, Place, Stamp, Store, Touches, Writer, Writes};

/// What a store brings to the suite.
pub trait Fixture {
    /// Opens what is there: the first time nothing, later what [`Fixture::crash`] has left.
    fn open(&mut self, clock: Arc<Clock>) -> Arc<dyn Store>;

    /// Power is cut, here and now, with the store still open; it is dropped next.
    fn crash(&mut self) {}
}

pub struct Desk<'a> {
    fixture: &'a mut dyn Fixture,
    open: Option<Open>,
    last: Stamp,
}

struct Open {
    writer: Box<dyn Writer>,
    store: Arc<dyn Store>,
}

impl<'a> Desk<'a> {
    pub fn new(fixture: &'a mut dyn Fixture) -> Self {
        let clock = Arc::new(Clock::manual(samples::BEGIN));
        let store = fixture.open(clock);
        let writer = store.writer(0).expect("lane 0 exists");
        Self { fixture, open: Some(Open { writer, store }), last: Stamp::default() }
    }

    pub fn store(&self) -> &dyn Store {
        &*self.open.as_ref().expect("open but while crashing").store
    }

    pub fn writer(&mut self) -> &mut dyn Writer {
        &mut *self.open.as_mut().expect("open but while crashing").writer
    }

    pub fn now(&self) -> Timestamp {
        self.store().now()
    }

    pub fn advance_ms(&self, ms: i64) {
        self.store().clock().advance_ms(ms);
    }

    /// Commits as the next round and gives its stamp.
    pub fn commit(&mut self, writes: Writes) -> Stamp {
        self.commit_with_fence(writes, self.last.fence)
    }

    pub fn commit_with_fence(&mut self, writes: Writes, fence: u64) -> Stamp {
        let stamp = Stamp { lane: 0, round: self.last.round + 1, at: self.now(), fence };
        self.writer().commit(Writes { stamp, ..writes }).expect("a good round is committed");
        self.last = stamp;
        stamp
    }

    pub fn hold(&mut self, touches: &Touches) -> Held {
        self.writer().hold(touches).expect("nobody else holds anything")
    }

    /// What is in the store, held for a moment.
    pub fn look(&mut self, touches: &Touches) -> Held {
        let held = self.hold(touches);
        self.writer().release();
        held
    }

    pub fn ready(&mut self, queue: &Queue, count: usize) -> Vec<Place> {
        let wanted = [(queue.clone(), count)].into();
        let mut held = self.look(&Touches { wanted, ..Touches::default() });
        for place in &held.ready[queue] {
            assert!(held.deliveries[place].is_some(), "a ready task comes with its row");
        }
        held.ready.remove(queue).expect("what is wanted is answered")
    }

    /// What fires now, without the delays that are over.
    pub fn due(&mut self, max: usize) -> Due {
        let now = self.now();
        let due = self.writer().due(now, max).expect("due is known");
        Due { ripe: BTreeMap::new(), ..due }
    }

    /// The delays that are over, by queue.
    pub fn ripe(&mut self) -> BTreeMap<Queue, usize> {
        let now = self.now();
        self.writer().due(now, 100).expect("due is known").ripe
    }

    pub fn crash(&mut self) {
        self.crash_for_ms(0);
    }

    /// Power is cut and comes back after a while.
    pub fn crash_for_ms(&mut self, ms: i64) {
        let clock = Arc::clone(self.store().clock());
        self.power_off();
        clock.advance_ms(ms);
        self.power_on(clock);
    }

    /// Power comes back on a machine whose clock shows something else.
    pub fn crash_with_clock_at(&mut self, time: Timestamp) {
        self.power_off();
        self.power_on(Arc::new(Clock::manual(time)));
    }

    fn power_off(&mut self) {
        self.fixture.crash();
        self.open = None;
    }

    fn power_on(&mut self, clock: Arc<Clock>) {
        let store = self.fixture.open(clock);
        let writer = store.writer(0).expect("lane 0 exists");
        self.open = Some(Open { writer, store });
    }
}
