//! # The search for an order
//!
//! Cost is bounded by the number of different (operations done, state) pairs, so histories are cut
//! by object before they come here.

use std::collections::HashSet;
use std::fmt::{Debug, Write as _};
use std::hash::Hash;

/// One object, asked one thing at a time.
pub trait Model {
    type State: Clone + Eq + Hash + Debug;
    type Asked: Debug;
    type Told: Debug;

    fn begin(&self) -> Self::State;

    /// The state after the operation; none if it could not have been told that. Without an answer
    /// anything could have been told.
    fn step(
        &self,
        state: &Self::State,
        asked: &Self::Asked,
        told: Option<&Self::Told>,
    ) -> Option<Self::State>;

    /// Whoever was told so has changed nothing, whatever the state was.
    fn only_looked(&self, asked: &Self::Asked, told: &Self::Told) -> bool;
}

/// What one client did. Times are places in one order of all calls and answers.
#[derive(Clone, Debug)]
pub struct Operation<A, T> {
    pub client: usize,
    pub asked_at: u64,
    /// When the answer came and what it was; none: nobody knows what became of it.
    pub told: Option<(u64, T)>,
    pub asked: A,
}

/// No order explains this history.
#[derive(Debug)]
pub struct Violation {
    /// The history, and how far the longest attempt came.
    pub story: String,
}

pub fn check<M: Model>(
    model: &M,
    history: &[Operation<M::Asked, M::Told>],
) -> Result<(), Violation> {
    let mut search =
        Search { model, history, tried: HashSet::new(), order: vec![], longest: vec![] };
    let done = Done(vec![0; history.len().div_ceil(64)]);
    match search.explains(done, &model.begin()) {
        true => Ok(()),
        false => Err(Violation { story: search.story() }),
    }
}

/// Which operations have been put in order.
#[derive(Clone, PartialEq, Eq, Hash)]
struct Done(Vec<u64>);

impl Done {
    fn has(&self, at: usize) -> bool {
        self.0[at / 64] & (1 << (at % 64)) != 0
    }

    fn with(&self, at: usize) -> Self {
        let mut more = self.clone();
        more.0[at / 64] |= 1 << (at % 64);
        more
    }
}

struct Search<'a, M: Model> {
    model: &'a M,
    history: &'a [Operation<M::Asked, M::Told>],
    tried: HashSet<(Done, M::State)>,
    order: Vec<usize>,
    longest: Vec<usize>,
}

impl<M: Model> Search<'_, M> {
    /// Whether what is left can be put in order from this state on. As deep as the history is long.
    fn explains(&mut self, done: Done, state: &M::State) -> bool {
        if self.order.len() > self.longest.len() {
            self.longest.clone_from(&self.order);
        }
        let left = || self.history.iter().enumerate().filter(|(at, _)| !done.has(*at));
        // The first answer that is left: whatever was asked after it comes after it.
        let answers = left().filter_map(|(_, one)| one.told.as_ref().map(|(at, _)| *at));
        let Some(horizon) = answers.min() else { return true };
        let next: Vec<usize> =
            left().filter(|(_, one)| one.asked_at < horizon).map(|(at, _)| at).collect();
        let mut changing = Vec::new();
        for at in next {
            let one = &self.history[at];
            let told = one.told.as_ref().map(|(_, told)| told);
            match self.model.step(state, &one.asked, told) {
                // What changes nothing in any state, and fits, may as well have happened now.
                Some(after)
                    if after == *state
                        && told.is_some_and(|told| self.model.only_looked(&one.asked, told)) =>
                {
                    return self.goes_on(&done, at, &after);
                }
                // What nobody was told of, and would change nothing, need not happen now.
                Some(after) if after != *state || told.is_some() => changing.push((at, after)),
                Some(_) | None => {}
            }
        }
        changing.into_iter().any(|(at, after)| self.goes_on(&done, at, &after))
    }

    fn goes_on(&mut self, done: &Done, at: usize, after: &M::State) -> bool {
        let more = done.with(at);
        if !self.tried.insert((more.clone(), after.clone())) {
            return false;
        }
        self.order.push(at);
        let explained = self.explains(more, after);
        if !explained {
            self.order.pop();
        }
        explained
    }

    fn story(&self) -> String {
        let mut story = String::from("no order explains what was told\n");
        let mut state = self.model.begin();
        let _ = writeln!(story, "the longest attempt:");
        for at in &self.longest {
            let one = &self.history[*at];
            let told = one.told.as_ref().map(|(_, told)| told);
            state = self.model.step(&state, &one.asked, told).unwrap_or(state);
            let _ = writeln!(story, "  {} then {state:?}", line(one));
        }
        let _ = writeln!(story, "could not go on with:");
        for (at, one) in self.history.iter().enumerate() {
            if !self.longest.contains(&at) {
                let _ = writeln!(story, "  {}", line(one));
            }
        }
        story
    }
}

fn line<A: Debug, T: Debug>(one: &Operation<A, T>) -> String {
    let Operation { client, asked_at, told, asked } = one;
    match told {
        Some((at, told)) => format!("{asked_at}..{at} client {client}: {asked:?} -> {told:?}"),
        None => format!("{asked_at}.. client {client}: {asked:?} -> nobody knows"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A number that is written and read.
    struct Register;

    #[derive(Clone, Debug)]
    enum Access {
        Write(u8),
        Read,
    }

    impl Model for Register {
        type State = u8;
        type Asked = Access;
        type Told = u8;

        fn begin(&self) -> u8 {
            0
        }

        fn step(&self, state: &u8, asked: &Access, told: Option<&u8>) -> Option<u8> {
            match asked {
                Access::Write(value) => Some(*value),
                Access::Read => told.is_none_or(|told| told == state).then_some(*state),
            }
        }

        fn only_looked(&self, asked: &Access, _: &u8) -> bool {
            matches!(asked, Access::Read)
        }
    }

    fn one(asked_at: u64, told_at: Option<u64>, asked: Access, told: u8) -> Operation<Access, u8> {
        Operation { client: 0, asked_at, told: told_at.map(|at| (at, told)), asked }
    }

    #[test]
    fn what_overlaps_may_have_happened_in_any_order() {
        for seen in [0, 1] {
            let history = [
                one(1, Some(4), Access::Write(1), 0),
                one(2, Some(3), Access::Read, seen),
                one(5, Some(6), Access::Read, 1),
            ];
            check(&Register, &history).unwrap();
        }
    }

    #[test]
    fn what_changes_nothing_now_may_have_changed_something_later() {
        // Written back to 0 between two reads; at first it would have changed nothing.
        let history = [
            one(1, Some(9), Access::Write(0), 0),
            one(2, Some(3), Access::Write(1), 0),
            one(4, Some(5), Access::Read, 1),
            one(6, Some(7), Access::Read, 0),
        ];
        check(&Register, &history).unwrap();
    }

    #[test]
    fn what_was_answered_before_comes_first() {
        let history = [one(1, Some(2), Access::Write(1), 0), one(3, Some(4), Access::Read, 0)];
        let violation = check(&Register, &history).unwrap_err();
        assert!(violation.story.contains("could not go on with:\n  3..4"), "{}", violation.story);
    }

    #[test]
    fn two_reads_agree_on_the_order_of_two_writes() {
        let history = [
            one(1, Some(10), Access::Write(1), 0),
            one(2, Some(11), Access::Write(2), 0),
            one(3, Some(4), Access::Read, 1),
            one(5, Some(6), Access::Read, 2),
            one(7, Some(8), Access::Read, 1),
        ];
        assert!(check(&Register, &history).is_err());
    }

    #[test]
    fn what_nobody_knows_of_happened_late_or_never() {
        let lost = one(1, None, Access::Write(1), 0);
        for seen in [[0, 0], [0, 1], [1, 1]] {
            let history = [
                lost.clone(),
                one(2, Some(3), Access::Read, seen[0]),
                one(4, Some(5), Access::Read, seen[1]),
            ];
            check(&Register, &history).unwrap();
        }
        let history = [lost, one(2, Some(3), Access::Read, 1), one(4, Some(5), Access::Read, 0)];
        assert!(check(&Register, &history).is_err());
        let early = [one(2, Some(3), Access::Read, 1), one(4, None, Access::Write(1), 0)];
        assert!(check(&Register, &early).is_err(), "nothing happens before it is asked for");
    }
}
