//! # Shares: internal work waits by whose it is
//!
//! Messages between runs, timers, runs that go on in a commit of their own: nobody outside waits for
//! them, and one definition may have a million of them. They wait in one line for each party, and a
//! round takes from the lines in turn, one item each: a party with much to do holds up itself. In
//! each line what ends a run comes first, and what is below a run that has ended waits meanwhile: a
//! tree that is ended does not grow. A party is a definition, by its name; it may become a namespace
//! without a change anywhere else.

use std::collections::{BTreeMap, BTreeSet, HashSet, VecDeque};
use std::hash::{DefaultHasher, Hash, Hasher};

use semel_engine::{Event, MessageKey};
use semel_model::{ExecutionId, TaskId};

use crate::work::{Item, Work};

/// Whose work it is. The default is the server's own, and what is not known.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Party(u64);

impl Party {
    pub(crate) fn of_definition(name: &str) -> Self {
        let mut hasher = DefaultHasher::new();
        name.hash(&mut hasher);
        Self(hasher.finish())
    }
}

/// Whose work an item is, and whether it ends a run.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Claimant {
    pub(crate) party: Party,
    pub(crate) ends: bool,
}

/// What the store tells again after a while. Told twice while it waits, it is done once.
#[derive(PartialEq, Eq, Hash)]
enum Told {
    Message(MessageKey),
    Woke(ExecutionId),
    Expired(ExecutionId, TaskId),
}

impl Told {
    fn of(work: &Work) -> Option<Self> {
        match work {
            Work::Message(key, _) => Some(Self::Message(*key)),
            Work::Event(work) => match work.event {
                Event::Woke => Some(Self::Woke(work.execution)),
                Event::Expired { task } => Some(Self::Expired(work.execution, task)),
                _ => None,
            },
            _ => None,
        }
    }
}

#[derive(Default)]
struct Line {
    endings: VecDeque<Item>,
    others: VecDeque<Item>,
    /// About runs below one that has ended: whatever ends them is on its way.
    held: VecDeque<Item>,
}

impl Line {
    /// While endings are under way, what they will make needless waits.
    fn next(&mut self, is_ending: bool, is_doomed: &dyn Fn(&Item) -> bool) -> Option<Item> {
        if let Some(item) = self.endings.pop_front() {
            return Some(item);
        }
        while let Some(item) = self.others.pop_front() {
            if !is_ending || !is_doomed(&item) {
                return Some(item);
            }
            self.held.push_back(item);
        }
        None
    }

    fn release(&mut self) {
        if self.held.is_empty() {
            return;
        }
        self.held.append(&mut self.others);
        std::mem::swap(&mut self.held, &mut self.others);
    }

    fn has_more(&self) -> bool {
        !self.endings.is_empty() || !self.others.is_empty()
    }
}

/// Never empty lines, and each party that has one is in the order of turns once.
#[derive(Default)]
pub(crate) struct Shares {
    lines: BTreeMap<Party, Line>,
    turns: VecDeque<Party>,
    told: HashSet<Told>,
    items: usize,
}

impl Shares {
    pub(crate) fn push(&mut self, item: Item) {
        if Told::of(&item.work).is_some_and(|told| !self.told.insert(told)) {
            return;
        }
        let Claimant { party, ends } = item.claimant;
        if !self.lines.contains_key(&party) {
            self.turns.push_back(party);
        }
        let line = self.lines.entry(party).or_default();
        let line = if ends { &mut line.endings } else { &mut line.others };
        line.push_back(item);
        self.items += 1;
    }

    /// Up to `max` items, one of each party in turn. `is_doomed`: it is about a run below one that has
    /// ended.
    pub(crate) fn take(&mut self, max: usize, is_doomed: &dyn Fn(&Item) -> bool) -> Vec<Item> {
        let (mut taken, mut resting) = (Vec::with_capacity(max.min(self.items)), Vec::new());
        let is_ending = |(party, line): (&Party, &Line)| {
            let ends = !line.endings.is_empty();
            ends.then_some(*party)
        };
        let ending: BTreeSet<Party> = self.lines.iter().filter_map(is_ending).collect();
        let others = self.lines.iter_mut().filter(|(party, _)| !ending.contains(*party));
        others.for_each(|(_, line)| line.release());
        while taken.len() < max
            && let Some(party) = self.turns.pop_front()
        {
            let Some(line) = self.lines.get_mut(&party) else { continue };
            let item = line.next(ending.contains(&party), is_doomed);
            match (line.has_more(), line.held.is_empty()) {
                (true, _) => self.turns.push_back(party),
                (false, false) => resting.push(party),
                (false, true) => drop(self.lines.remove(&party)),
            }
            if let Some(told) = item.as_ref().and_then(|item| Told::of(&item.work)) {
                self.told.remove(&told);
            }
            taken.extend(item);
        }
        self.turns.extend(resting);
        self.items -= taken.len();
        taken
    }

    pub(crate) fn clear(&mut self) {
        *self = Self::default();
    }

    pub(crate) fn len(&self) -> usize {
        self.items
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lane::timer;

    fn woken(number: u16, definition: &str, ends: bool) -> Item {
        let mut id = [0; 16];
        id[..2].copy_from_slice(&number.to_be_bytes());
        let party = Party::of_definition(definition);
        timer(ExecutionId::from_bytes(id), Event::Woke).of(Claimant { party, ends })
    }

    fn numbers(items: &[Item]) -> Vec<u16> {
        let id = |item: &Item| item.work.execution().map(|id| *id.as_bytes());
        items.iter().filter_map(id).map(|id| u16::from_be_bytes([id[0], id[1]])).collect()
    }

    fn take(shares: &mut Shares, max: usize) -> Vec<Item> {
        shares.take(max, &|_| false)
    }

    #[test]
    fn a_definition_with_much_to_do_holds_up_itself() {
        let mut shares = Shares::default();
        (0..1_000).for_each(|number| shares.push(woken(number, "bomb", false)));
        shares.push(woken(1_000, "quiet", false));
        shares.push(woken(1_001, "calm", false));
        assert_eq!(numbers(&take(&mut shares, 4)), [0, 1_000, 1_001, 1]);
        (2_000..2_003).for_each(|number| shares.push(woken(number, "quiet", false)));
        assert_eq!(numbers(&take(&mut shares, 8)), [2, 2_000, 3, 2_001, 4, 2_002, 5, 6]);
        assert_eq!(shares.len(), 1_005 - 12);
    }

    #[test]
    fn what_ends_a_run_comes_first_among_its_own() {
        let mut shares = Shares::default();
        (0..5).for_each(|number| shares.push(woken(number, "bomb", false)));
        shares.push(woken(5, "quiet", false));
        (6..9).for_each(|number| shares.push(woken(number, "bomb", true)));
        assert_eq!(numbers(&take(&mut shares, 9)), [6, 5, 7, 8, 0, 1, 2, 3, 4]);
        assert_eq!((shares.len(), take(&mut shares, 1).len()), (0, 0));
    }

    #[test]
    fn what_is_told_again_while_it_waits_is_done_once() {
        let mut shares = Shares::default();
        (0..3).for_each(|_| shares.push(woken(1, "bomb", false)));
        assert_eq!((shares.len(), take(&mut shares, 9).len()), (1, 1));
        shares.push(woken(1, "bomb", false));
        assert_eq!(shares.len(), 1, "it has had its turn");
    }

    #[test]
    fn what_is_below_an_ended_run_waits_while_endings_are_under_way() {
        let mut shares = Shares::default();
        let even = |item: &Item| numbers(std::slice::from_ref(item))[0].is_multiple_of(2);
        (0..6).for_each(|number| shares.push(woken(number, "bomb", false)));
        shares.push(woken(8, "quiet", false));
        shares.push(woken(9, "bomb", true));
        assert_eq!(numbers(&shares.take(9, &even)), [9, 8, 1, 3, 5], "only where something ends");
        shares.push(woken(11, "bomb", true));
        shares.push(woken(12, "bomb", false));
        assert_eq!(numbers(&shares.take(9, &even)), [11]);
        assert_eq!(shares.len(), 4);
        assert_eq!(numbers(&shares.take(9, &even)), [0, 2, 4, 12], "nothing waits for ever");
        assert_eq!(shares.len(), 0);
    }
}
