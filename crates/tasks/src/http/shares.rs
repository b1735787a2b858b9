//! # Shares: whose request goes next
//!
//! There are so many places, and nobody may take them all: a workflow, and likewise a host, gets one more
//! only while it has no more than are left free. Alone it comes to half of them, beside another to a third,
//! and whoever comes last finds one. What may not go yet waits in the order in which it came; those
//! behind it go past it only if its share is what stops it, and not theirs.
//!
//! **May use:** names and numbers. **May not:** know what a request is, or wait.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use semel_model::Digest;
use semel_runtime::Share;

/// What may wait; beyond it nothing more is taken until somebody leaves.
pub(super) const LINE_MAX: usize = 1_024;

/// And of what one workflow may have waiting. More than one poll brings.
const LINE_OF_ONE_MAX: usize = 64;

/// All that wait together: their inputs are in memory.
const LINE_BYTES_MAX: usize = 64 << 20;

/// Names one task that was taken.
pub(super) type Number = u64;

#[derive(Debug, Default)]
pub(super) struct Shares {
    places: usize,
    /// What one workflow, or one host, may have at most; 0: what the others leave.
    share_max: usize,
    /// Everything that was taken and is not over.
    taken: BTreeMap<Number, Taken>,
    /// The numbers of those who wait, in the order in which they asked.
    line: VecDeque<Number>,
    line_bytes: usize,
    open: usize,
    workflows: BTreeMap<String, Holding>,
    hosts: BTreeMap<String, usize>,
    next: Number,
}

#[derive(Debug)]
struct Taken {
    workflow: String,
    definition: Digest,
    bytes: usize,
    /// None until it has asked for a place.
    host: Option<String>,
    is_open: bool,
}

/// What one workflow has.
#[derive(Debug, Default)]
struct Holding {
    taken: usize,
    open: usize,
    waiting: usize,
}

impl Shares {
    pub(super) fn new(places: usize, share_max: usize) -> Self {
        Self { places, share_max, ..Self::default() }
    }

    /// How many more may be taken. What was taken and has not asked yet will want a place.
    pub(super) fn room(&self) -> usize {
        let asking = self.taken.len() - self.open - self.line.len();
        let free = self.places.saturating_sub(self.open + asking);
        match self.line.len() {
            waiting if waiting >= LINE_MAX => 0,
            waiting if waiting >= LINE_MAX / 2 => free.min(1),
            _ => free,
        }
    }

    pub(super) fn is_crowded(&self) -> bool {
        self.line.len() >= LINE_MAX
    }

    /// A task was taken from the queue.
    pub(super) fn take(&mut self, workflow: &str, definition: Digest, bytes: usize) -> Number {
        self.next += 1;
        let workflow = workflow.to_owned();
        self.workflows.entry(workflow.clone()).or_default().taken += 1;
        let taken = Taken { workflow, definition, bytes, host: None, is_open: false };
        self.taken.insert(self.next, taken);
        self.next
    }

    /// It asks for a place, once; false: too many wait already, and it has to come again later.
    pub(super) fn ask(&mut self, number: Number, host: &str) -> bool {
        let Some(taken) = self.taken.get_mut(&number).filter(|taken| taken.host.is_none()) else {
            return false;
        };
        let holding = self.workflows.entry(taken.workflow.clone()).or_default();
        let bytes = self.line_bytes.saturating_add(taken.bytes);
        let is_alone = self.line.is_empty();
        if holding.waiting >= LINE_OF_ONE_MAX || (bytes > LINE_BYTES_MAX && !is_alone) {
            return false;
        }
        taken.host = Some(host.to_owned());
        holding.waiting += 1;
        self.line_bytes = bytes;
        self.line.push_back(number);
        true
    }

    /// Those who may go now, each told once.
    pub(super) fn admit(&mut self) -> Vec<Number> {
        let mut admitted = Vec::new();
        let mut rest = VecDeque::with_capacity(self.line.len());
        for number in std::mem::take(&mut self.line) {
            match self.stopped_by(number) {
                Some(_) => rest.push_back(number),
                None => {
                    self.open(number);
                    admitted.push(number);
                }
            }
        }
        self.line = rest;
        admitted
    }

    /// Whose share keeps it waiting; none: it may go.
    pub(super) fn stopped_by(&self, number: Number) -> Option<Share> {
        let taken = self.taken.get(&number)?;
        let free = self.places.saturating_sub(self.open);
        let of_workflow = self.workflows.get(&taken.workflow).map_or(0, |holding| holding.open);
        let of_host = taken.host.as_ref().and_then(|host| self.hosts.get(host));
        if free == 0 || self.is_full(of_workflow, free) {
            return Some(Share::Workflow);
        }
        self.is_full(of_host.copied().unwrap_or(0), free).then_some(Share::Host)
    }

    fn is_full(&self, open: usize, free: usize) -> bool {
        open > free || (self.share_max > 0 && open >= self.share_max)
    }

    fn open(&mut self, number: Number) {
        let Some(taken) = self.taken.get_mut(&number) else { return };
        taken.is_open = true;
        self.open += 1;
        self.line_bytes = self.line_bytes.saturating_sub(taken.bytes);
        let holding = self.workflows.entry(taken.workflow.clone()).or_default();
        holding.open += 1;
        holding.waiting = holding.waiting.saturating_sub(1);
        if let Some(host) = &taken.host {
            *self.hosts.entry(host.clone()).or_default() += 1;
        }
    }

    /// It is over, however it ended.
    pub(super) fn end(&mut self, number: Number) {
        let Some(taken) = self.taken.remove(&number) else { return };
        let Some(holding) = self.workflows.get_mut(&taken.workflow) else { return };
        holding.taken = holding.taken.saturating_sub(1);
        if taken.is_open {
            self.open = self.open.saturating_sub(1);
            holding.open = holding.open.saturating_sub(1);
        } else if taken.host.is_some() {
            holding.waiting = holding.waiting.saturating_sub(1);
            self.line_bytes = self.line_bytes.saturating_sub(taken.bytes);
            self.line.retain(|waiting| *waiting != number);
        }
        if holding.taken == 0 {
            self.workflows.remove(&taken.workflow);
        }
        if let Some(host) = taken.host.filter(|_| taken.is_open)
            && let Some(open) = self.hosts.get_mut(&host)
        {
            *open = open.saturating_sub(1);
            if *open == 0 {
                self.hosts.remove(&host);
            }
        }
    }

    /// Definitions of which nothing more is taken for now: what was taken of them waits, or fills their
    /// share.
    pub(super) fn passed_over(&self) -> BTreeSet<Digest> {
        let free = self.places.saturating_sub(self.open);
        let is_full = |taken: &Taken| {
            let holding = self.workflows.get(&taken.workflow);
            holding.is_some_and(|it| it.waiting > 0 || self.is_full(it.taken - it.waiting, free))
        };
        let full = self.taken.values().filter(|taken| is_full(taken));
        full.map(|taken| taken.definition).collect()
    }

    /// Who waits, and for whose share.
    pub(super) fn waiting(&self) -> Vec<(Number, Share)> {
        let stopped = |number: &Number| Some((*number, self.stopped_by(*number)?));
        self.line.iter().filter_map(stopped).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn definition(workflow: &str) -> Digest {
        Digest::of(workflow.as_bytes())
    }

    /// Takes one and asks for its place.
    fn ask(shares: &mut Shares, workflow: &str, host: &str) -> Number {
        let number = shares.take(workflow, definition(workflow), 10);
        assert!(shares.ask(number, host));
        number
    }

    fn ask_many(shares: &mut Shares, workflow: &str, host: &str, count: usize) -> Vec<Number> {
        (0..count).map(|_| ask(shares, workflow, host)).collect()
    }

    #[test]
    fn nobody_takes_the_last_places_while_others_have_none() {
        let mut shares = Shares::new(64, 0);
        ask_many(&mut shares, "a", "slow", 60);
        assert_eq!(shares.admit().len(), 33, "one that is alone has half");
        ask_many(&mut shares, "b", "slower", 60);
        assert_eq!(shares.admit().len(), 16, "the next has half of the rest");
        for at in 0..8 {
            let late = ask(&mut shares, &format!("c{at}"), &format!("h{at}"));
            assert_eq!(shares.admit(), [late], "whoever comes later finds a place");
        }
    }

    #[test]
    fn a_host_is_shared_by_workflows_as_places_are() {
        let mut shares = Shares::new(8, 0);
        for at in 0..8 {
            ask(&mut shares, &format!("w{at}"), "slow");
        }
        assert_eq!(shares.admit().len(), 5);
        assert!(shares.waiting().iter().all(|(_, share)| *share == Share::Host));
        let other = ask(&mut shares, "w0", "quick");
        assert_eq!(shares.admit(), [other], "the same workflow at another host");
    }

    #[test]
    fn those_who_wait_for_the_same_go_in_their_order() {
        let mut shares = Shares::new(4, 1);
        let asked = ask_many(&mut shares, "a", "h", 5);
        for next in asked {
            assert_eq!(shares.admit(), [next]);
            assert!(shares.admit().is_empty(), "its share is one");
            shares.end(next);
        }
        assert_eq!(shares.passed_over(), BTreeSet::new());
    }

    #[test]
    fn of_whoever_waits_nothing_more_is_taken() {
        let mut shares = Shares::new(8, 0);
        let asked = ask_many(&mut shares, "a", "h", 8);
        assert_eq!(shares.room(), 8, "what waits takes no place");
        let open = shares.admit();
        assert_eq!((open.len(), shares.room()), (5, 3));
        assert_eq!(shares.passed_over(), BTreeSet::from([definition("a")]));
        let taken = shares.take("b", definition("b"), 10);
        assert_eq!(shares.room(), 2, "it will ask for a place");
        assert!(!shares.passed_over().contains(&definition("b")));
        shares.end(taken);
        asked.into_iter().for_each(|number| shares.end(number));
        assert_eq!((shares.room(), shares.admit()), (8, Vec::new()));
        assert!(shares.passed_over().is_empty() && shares.waiting().is_empty());
    }

    #[test]
    fn a_line_has_an_end_in_number_and_in_bytes() {
        let mut shares = Shares::new(1, 0);
        ask_many(&mut shares, "a", "h", LINE_OF_ONE_MAX);
        let more = shares.take("a", definition("a"), 10);
        assert!(!shares.ask(more, "h"), "of one workflow");
        let large = shares.take("b", definition("b"), LINE_BYTES_MAX);
        assert!(!shares.ask(large, "h"), "in bytes");
        let mut shares = Shares::new(1, 0);
        for at in 0..LINE_MAX / 2 {
            ask(&mut shares, &format!("w{at}"), "h");
        }
        assert_eq!(shares.room(), 1, "one at a time");
        for at in LINE_MAX / 2..LINE_MAX {
            ask(&mut shares, &format!("w{at}"), "h");
        }
        assert_eq!((shares.room(), shares.is_crowded()), (0, true));
    }

    #[test]
    fn what_is_larger_than_everything_goes_when_nobody_waits() {
        let mut shares = Shares::new(1, 0);
        let large = shares.take("a", definition("a"), 2 * LINE_BYTES_MAX);
        assert!(shares.ask(large, "h"));
        assert_eq!(shares.admit(), [large]);
    }
}
