//! # The sequential object of a start key: what one key would say, asked one thing at a time
//!
//! Contract: docs/reference/idempotency.md#sequential-object.
//!
//! The latest run under the key, which runs there have been and how they fare. Written down here
//! once more, from the contract and not from the engine.

use std::collections::BTreeMap;

use super::checker::Model;

/// Names of runs and requests are the server's and the clients'; here only equality counts.
type Run = String;
type Request = String;

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Asked {
    /// With the wire name of a strategy, and the id of the request.
    Start(&'static str, Request),
    /// Which run is the latest?
    Look,
    Reset,
    Terminate(Run),
    /// Its only task is answered, so that it completes.
    Complete(Run),
    Restart(Run),
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Told {
    Created(Run),
    Existing(Run),
    Conflict(Run),
    /// Nothing is known of the key.
    Unknown,
    /// The key is known; this is its latest run, unless it was reset.
    Latest(Option<(Run, Status)>),
    Done,
    /// It does not fit how things are.
    Refused,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Status {
    Live,
    Completed,
    Terminated,
}

/// The model.
pub struct StartKeys;

#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct State {
    /// Somebody has started under the key.
    is_known: bool,
    latest: Option<Latest>,
    /// All runs whose names are known.
    runs: BTreeMap<Run, Status>,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Latest {
    /// None: whoever started it has not been told, and nobody has seen it yet.
    run: Option<Run>,
    /// Of a run without a name; else `runs` knows.
    status: Status,
    request: Option<Request>,
}

impl State {
    fn status(&self) -> Option<Status> {
        let latest = self.latest.as_ref()?;
        Some(latest.run.as_ref().map_or(latest.status, |run| self.runs[run]))
    }

    fn is_live(&self) -> bool {
        self.status() == Some(Status::Live)
    }

    fn set(&mut self, run: &Run, status: Status) {
        self.runs.insert(run.clone(), status);
    }

    /// The latest run is seen under that name: it must be its own, or its first.
    fn sees(mut self, seen: &Run) -> Option<Self> {
        let latest = self.latest.as_mut()?;
        match &latest.run {
            Some(run) => (run == seen).then_some(self),
            None if self.runs.contains_key(seen) => None,
            None => {
                latest.run = Some(seen.clone());
                self.runs.insert(seen.clone(), latest.status);
                Some(self)
            }
        }
    }

    fn create(mut self, run: Option<&Run>, request: &Request) -> Option<Self> {
        if run.is_some_and(|run| self.runs.contains_key(run)) {
            return None; // No id is given out twice.
        }
        self.is_known = true;
        let (status, request) = (Status::Live, Some(request.clone()));
        self.latest = Some(Latest { run: run.cloned(), status, request });
        self.runs.extend(run.map(|run| (run.clone(), status)));
        Some(self)
    }

    /// The latest run is no longer live.
    fn end_latest(&mut self) {
        let Some(latest) = &mut self.latest else { return };
        latest.status = Status::Terminated;
        if let Some(run) = latest.run.clone() {
            self.set(&run, Status::Terminated);
        }
    }
}

/// What the strategy makes of the latest run.
enum Verdict {
    Create,
    Replace,
    Existing,
    Conflict,
}

fn verdict(state: &State, strategy: &str, request: &Request) -> Verdict {
    let Some(status) = state.status() else { return Verdict::Create };
    let is_creator = state.latest.as_ref().and_then(|it| it.request.as_ref()) == Some(request);
    match (strategy, status) {
        _ if is_creator => Verdict::Existing,
        ("FAIL", _) | ("FAIL_ON_RUNNING", Status::Live) => Verdict::Conflict,
        ("RETURN_EXISTING", _)
        | ("RETURN_RUNNING", Status::Live)
        | ("RETURN_EXISTING_UNLESS_FAILED", Status::Live | Status::Completed) => Verdict::Existing,
        ("TERMINATE_EXISTING", Status::Live) => Verdict::Replace,
        _ => Verdict::Create,
    }
}

fn start(state: &State, strategy: &str, request: &Request, told: Option<&Told>) -> Option<State> {
    let mut state = state.clone();
    match (verdict(&state, strategy, request), told) {
        (Verdict::Create, Some(Told::Created(run))) => state.create(Some(run), request),
        (Verdict::Create, None) => state.create(None, request),
        (Verdict::Replace, Some(Told::Created(run))) => {
            state.end_latest();
            state.create(Some(run), request)
        }
        (Verdict::Replace, None) => {
            state.end_latest();
            state.create(None, request)
        }
        (Verdict::Existing, Some(Told::Existing(run)))
        | (Verdict::Conflict, Some(Told::Conflict(run))) => state.sees(run),
        (Verdict::Existing | Verdict::Conflict, None) => Some(state),
        _ => None,
    }
}

fn restart(state: &State, run: &Run) -> Option<State> {
    let is_latest = state.latest.as_ref().is_some_and(|latest| latest.run.as_ref() == Some(run));
    if state.runs.get(run)? == &Status::Live || (!is_latest && state.is_live()) {
        return None;
    }
    let mut state = state.clone();
    state.is_known = true;
    state.set(run, Status::Live);
    if !is_latest {
        state.latest = Some(Latest { run: Some(run.clone()), status: Status::Live, request: None });
    }
    Some(state)
}

/// The state if the run is live and ends so.
fn end(state: &State, run: &Run, status: Status) -> Option<State> {
    let mut state = state.clone();
    (state.runs.get(run)? == &Status::Live).then(|| {
        state.set(run, status);
        state
    })
}

/// With an answer it either was done or was refused; without one it was done if it could be.
fn done_or(done: Option<State>, state: &State, told: Option<&Told>) -> Option<State> {
    match told {
        Some(Told::Done) => done,
        Some(Told::Refused) => done.is_none().then(|| state.clone()),
        None => Some(done.unwrap_or_else(|| state.clone())),
        Some(_) => None,
    }
}

impl Model for StartKeys {
    type State = State;
    type Asked = Asked;
    type Told = Told;

    fn begin(&self) -> State {
        State::default()
    }

    fn step(&self, state: &State, asked: &Asked, told: Option<&Told>) -> Option<State> {
        match asked {
            Asked::Start(strategy, request) => start(state, strategy, request, told),
            Asked::Look => match told {
                None => Some(state.clone()),
                Some(Told::Unknown) => (!state.is_known).then(|| state.clone()),
                Some(Told::Latest(None)) => {
                    (state.is_known && state.latest.is_none()).then(|| state.clone())
                }
                Some(Told::Latest(Some((run, status)))) => {
                    (state.status()? == *status).then(|| state.clone().sees(run))?
                }
                Some(_) => None,
            },
            Asked::Reset => {
                let free = State { latest: None, ..state.clone() };
                match told {
                    None => Some(free),
                    Some(Told::Done) => state.is_known.then_some(free),
                    Some(Told::Unknown) => (!state.is_known).then(|| state.clone()),
                    Some(_) => None,
                }
            }
            // Ending what is TERMINATED already is done, and changes nothing.
            Asked::Terminate(run) => {
                let is_so = state.runs.get(run) == Some(&Status::Terminated);
                let so = is_so.then(|| state.clone());
                done_or(so.or_else(|| end(state, run, Status::Terminated)), state, told)
            }
            Asked::Complete(run) => done_or(end(state, run, Status::Completed), state, told),
            Asked::Restart(run) => done_or(restart(state, run), state, told),
        }
    }

    fn only_looked(&self, _: &Asked, told: &Told) -> bool {
        match told {
            Told::Existing(_)
            | Told::Conflict(_)
            | Told::Refused
            | Told::Latest(_)
            | Told::Unknown => true,
            Told::Created(_) | Told::Done => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::checker::{Operation, check};
    use super::*;

    /// One after the other, each by its own request.
    fn told(story: &[(Asked, Option<Told>)]) -> bool {
        let at = |n: usize| 2 * n as u64;
        let history: Vec<_> = story
            .iter()
            .enumerate()
            .map(|(n, (asked, told))| Operation {
                client: n,
                asked_at: at(n),
                told: told.clone().map(|told| (at(n) + 1, told)),
                asked: asked.clone(),
            })
            .collect();
        check(&StartKeys, &history).is_ok()
    }

    fn start(strategy: &'static str, request: &str) -> Asked {
        Asked::Start(strategy, request.to_owned())
    }

    fn created(run: &str) -> Option<Told> {
        Some(Told::Created(run.to_owned()))
    }

    fn existing(run: &str) -> Option<Told> {
        Some(Told::Existing(run.to_owned()))
    }

    fn conflict(run: &str) -> Option<Told> {
        Some(Told::Conflict(run.to_owned()))
    }

    #[test]
    fn each_strategy_is_judged_by_how_the_latest_run_fares() {
        let begun = (start("FAIL", "1"), created("a"));
        let completed = (Asked::Complete("a".to_owned()), Some(Told::Done));
        let ended = (Asked::Terminate("a".to_owned()), Some(Told::Done));
        for (strategy, live, complete, terminated) in [
            ("FAIL", conflict("a"), conflict("a"), conflict("a")),
            ("RETURN_EXISTING", existing("a"), existing("a"), existing("a")),
            ("FAIL_ON_RUNNING", conflict("a"), created("b"), created("b")),
            ("RETURN_EXISTING_UNLESS_FAILED", existing("a"), existing("a"), created("b")),
            ("TERMINATE_EXISTING", created("b"), created("b"), created("b")),
            ("RETURN_RUNNING", existing("a"), created("b"), created("b")),
        ] {
            let all = [created("b"), existing("a"), conflict("a"), created("a")];
            for (between, right) in [
                (None, live),
                (Some(completed.clone()), complete),
                (Some(ended.clone()), terminated),
            ] {
                for answer in &all {
                    let mut story = vec![begun.clone()];
                    story.extend(between.clone());
                    story.push((start(strategy, "2"), answer.clone()));
                    assert_eq!(told(&story), *answer == right, "{story:?}");
                }
            }
        }
    }

    #[test]
    fn two_runs_are_never_created_by_one_key_that_is_taken() {
        let story =
            [(start("FAIL", "1"), created("a")), (start("RETURN_EXISTING", "2"), created("b"))];
        assert!(!told(&story));
        // Not even at the same time.
        let both = |n: u64, run: &str| Operation {
            client: 0,
            asked_at: n,
            told: Some((n + 10, Told::Created(run.to_owned()))),
            asked: start("RETURN_EXISTING", &n.to_string()),
        };
        assert!(check(&StartKeys, &[both(1, "a"), both(2, "b")]).is_err());
    }

    #[test]
    fn a_start_nobody_heard_of_is_seen_by_the_next_or_was_none() {
        let lost = (start("FAIL", "1"), None);
        let next = |answer| [lost.clone(), (start("RETURN_EXISTING", "2"), answer)];
        assert!(told(&next(existing("a"))) && told(&next(created("a"))));
        let seen_twice = |second| {
            let mut story = next(existing("a")).to_vec();
            story.push((start("FAIL", "3"), second));
            told(&story)
        };
        assert!(seen_twice(conflict("a")));
        assert!(!seen_twice(conflict("b")), "it has one name");
        assert!(!seen_twice(created("b")));
    }

    #[test]
    fn whoever_created_it_is_told_so_again() {
        let again = |request, answer| {
            told(&[(start("FAIL", "1"), created("a")), (start("FAIL", request), answer)])
        };
        assert!(again("1", existing("a")) && !again("1", conflict("a")));
        assert!(again("2", conflict("a")) && !again("2", existing("a")));
    }

    #[test]
    fn an_old_run_does_not_come_back_while_a_newer_one_is_live() {
        let story = |between: Option<(Asked, Option<Told>)>, answer| {
            let mut story = vec![
                (start("FAIL_ON_RUNNING", "1"), created("a")),
                (Asked::Complete("a".to_owned()), Some(Told::Done)),
                (start("FAIL_ON_RUNNING", "2"), created("b")),
            ];
            story.extend(between);
            story.push((Asked::Restart("a".to_owned()), Some(answer)));
            told(&story)
        };
        assert!(story(None, Told::Refused) && !story(None, Told::Done));
        let over = Some((Asked::Terminate("b".to_owned()), Some(Told::Done)));
        assert!(story(over.clone(), Told::Done) && !story(over, Told::Refused));
    }

    #[test]
    fn a_key_that_is_reset_is_free_and_a_look_says_so() {
        let live = Some(Told::Latest(Some(("a".to_owned(), Status::Live))));
        let story = [
            (Asked::Look, Some(Told::Unknown)),
            (Asked::Reset, Some(Told::Unknown)),
            (start("FAIL", "1"), created("a")),
            (Asked::Look, live.clone()),
            (Asked::Reset, Some(Told::Done)),
            (Asked::Look, Some(Told::Latest(None))),
            (start("FAIL", "2"), created("b")),
            (Asked::Terminate("a".to_owned()), Some(Told::Done)),
            (start("FAIL", "3"), conflict("b")),
        ];
        assert!(told(&story));
        let stale = [story[2].clone(), story[4].clone(), (Asked::Look, live)];
        assert!(!told(&stale));
    }
}
