//! # Inboxes: which lane of this node does what
//!
//! Work about one execution, one key or one queue goes to one lane, so that lanes of a node are seldom
//! in each other's way. Any lane could do any of it: what it needs is held, whoever decides.

use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::Arc;

use semel_model::Timestamp;

use crate::inbox::{self, Inbox};
use crate::work::{Item, Work};

/// One per lane. The first lane also looks at the clock for all of them.
#[derive(Clone)]
pub(crate) struct Inboxes(Arc<[Arc<Inbox>]>);

impl Inboxes {
    pub(crate) fn of(inboxes: impl IntoIterator<Item = Arc<Inbox>>) -> Self {
        Self(inboxes.into_iter().collect())
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = &Arc<Inbox>> {
        self.0.iter()
    }

    /// Of the lane that does this work.
    pub(crate) fn to(&self, work: &Work) -> &Arc<Inbox> {
        let lane = if self.0.len() == 1 { 0 } else { number(work) % self.0.len() as u64 };
        &self.0[usize::try_from(lane).unwrap_or(0)]
    }

    /// An internal send.
    pub(crate) fn push(&self, item: Item) {
        self.to(&item.work).push(item);
    }

    /// A commit has armed something for then: whoever looks at the clock must not sleep longer.
    pub(crate) fn rouse(&self, at: Timestamp) {
        self.0[0].rouse(at);
    }

    /// Whoever looks at the clock shall look around.
    pub(crate) fn nudge_first(&self) {
        self.0[0].nudge();
    }

    pub(crate) fn nudge(&self) {
        self.iter().for_each(|inbox| inbox.nudge());
    }

    /// Items that wait.
    pub(crate) fn len(&self) -> usize {
        self.iter().map(|inbox| inbox.len()).sum()
    }

    /// Nothing waits anywhere, nothing is away, and by `now` no lane has anything to do by itself.
    pub(crate) fn are_quiet(&self, now: Timestamp) -> bool {
        inbox::are_quiet(&self.0, now)
    }

    /// Whether more than so much waits in any of them that nobody has asked for.
    pub(crate) fn is_any_behind(&self, max: usize) -> bool {
        self.iter().any(|inbox| inbox.is_behind(max))
    }

    pub(crate) fn is_any_closed(&self) -> bool {
        self.iter().any(|inbox| inbox.is_closed())
    }
}

/// The same for everything that is about the same.
fn number(work: &Work) -> u64 {
    let mut about = DefaultHasher::new();
    match work {
        Work::Start(start) => match start.record_key() {
            Some(key) => key.hash(&mut about),
            None => start.id.hash(&mut about),
        },
        Work::Event(_) | Work::Lift(_) | Work::Park(..) | Work::Remove(_) => {
            work.execution().hash(&mut about);
        }
        Work::Message(key, _) => match work.execution() {
            None => key.hash(&mut about),
            execution => execution.hash(&mut about),
        },
        Work::Renew(renewal) => Some(renewal.place.execution).hash(&mut about),
        Work::Log(line) => Some(line.place.execution).hash(&mut about),
        Work::Claim(claim) => claim.queue.hash(&mut about),
        Work::Call(call) => call.key.hash(&mut about),
        Work::Reset(key, _) => key.hash(&mut about),
        Work::Settle(settlement) => settlement.request.named.key.hash(&mut about),
        Work::Documents(_) | Work::Expire(..) | Work::Forget(_) | Work::Beat => return 0,
    }
    about.finish()
}

#[cfg(test)]
mod tests {
    use semel_engine::Event;
    use semel_model::ExecutionId;

    use super::*;
    use crate::lane::timer;

    #[test]
    fn what_is_about_one_execution_goes_to_one_lane_and_all_lanes_get_some() {
        let inboxes = Inboxes::of((0..4).map(|_| Arc::default()));
        for number in 0..100 {
            let id = ExecutionId::from_bytes([number; 16]);
            inboxes.push(timer(id, Event::Woke));
            inboxes.push(Item::unasked(Work::Lift(id)));
        }
        for inbox in inboxes.iter() {
            let of = |item: &Item| item.work.execution();
            let items: Vec<_> = inbox.gather(200, &|_| false).iter().map(of).collect();
            assert!(!items.is_empty());
            assert!(items.chunks(2).all(|pair| pair[0] == pair[1]), "{items:?}");
        }
    }

    #[test]
    fn whoever_looks_at_the_clock_is_roused_for_what_comes_before_its_next_look() {
        let inboxes = Inboxes::of([Arc::default(), Arc::default()]);
        let at = Timestamp::from_ms(1_000);
        let watch = Arc::clone(&inboxes.0[0]);
        let sleeper = std::thread::spawn(move || {
            let long = std::time::Duration::from_secs(60);
            watch.wait(long, Timestamp::from_ms(2_000));
        });
        while !inboxes.0[0].is_quiet(at) {
            std::thread::yield_now();
        }
        inboxes.rouse(Timestamp::from_ms(3_000));
        assert!(inboxes.0[0].is_quiet(at), "it looks before that anyway");
        inboxes.rouse(at);
        sleeper.join().expect("it only sleeps");
    }

    #[test]
    fn what_is_armed_between_a_look_and_its_sleep_is_not_slept_through() {
        let inboxes = Inboxes::of([Arc::default(), Arc::default()]);
        let (at, look) = (Timestamp::from_ms(1_000), Timestamp::from_ms(2_000));
        inboxes.rouse(at);
        let for_ever = std::time::Duration::MAX;
        inboxes.0[0].wait(for_ever, look); // It returns at once.
        inboxes.rouse(look);
        inboxes.0[0].wait(std::time::Duration::ZERO, at); // It looks before that anyway.
    }
}
