//! # Properties: what holds whatever happens, in whatever order
//!
//! `PROPTEST_CASES` raises the number of runs; a failure prints the smallest plan that shows it.

use std::collections::BTreeMap;
use std::sync::Arc;

use proptest::prelude::*;
use semel_engine::{Answer, Event, Task};
use semel_model::{Digest, Payload, TaskId, TaskResultStatus, TaskStatus, Timestamp};
use serde_json::json;

use crate::bench::Bench;
use crate::plan::{Act, Claimant, Plan, Told, plans};
use crate::shapes::Said;

const WORKERS: [&str; 3] = ["ann", "bob", "cid"];

/// A run and everybody who ever held one of its tasks.
#[derive(Clone)]
struct Play {
    run: Bench,
    claims: Vec<Said>,
    sent: Vec<Said>,
}

impl Play {
    fn of(plan: &Plan) -> Self {
        let run = Bench::start_in(plan.definition.clone(), json!({"n": 1}), &plan.domains);
        Self { run, claims: Vec::new(), sent: Vec::new() }
    }

    /// Acts as written, the event delivered so many times.
    fn act(&mut self, act: &Act, times: usize) {
        match act {
            Act::Claim { worker } => self.claim(WORKERS[*worker]),
            Act::Advance { seconds } => self.run.advance(*seconds),
            _ => {
                let Some((event, payloads)) = self.event(act) else { return };
                let mut first = self.run.happen(event.clone(), &payloads).is_ok();
                for _ in 1..times {
                    let again = self.run.happen(event.clone(), &payloads);
                    let changed = again.is_ok_and(|changes| !changes.is_empty());
                    assert!(!changed, "said twice is said once: {event:?} (first taken: {first})");
                    first = true;
                }
            }
        }
    }

    fn claim(&mut self, worker: &str) {
        let ready =
            |row: &semel_engine::Delivery| !row.hand_out.leased && row.ready_at <= self.run.now;
        let found = self.run.rows.values().find(|row| ready(row));
        if let Some(reference) = found.map(|row| row.reference.clone()) {
            let said = self.run.claim(&reference, worker);
            self.claims.push(said);
        }
    }

    fn event(&mut self, act: &Act) -> Option<(Event, Vec<Payload>)> {
        let event = match act {
            Act::Claim { .. } | Act::Advance { .. } => return None,
            Act::Report { claimant, fenced, named, told } => {
                let mut said = match claimant {
                    Claimant::Last => self.claims.last()?.clone(),
                    Claimant::Earlier(at) => pick(&self.claims, *at)?.clone(),
                };
                said.fence = said.fence.filter(|_| *fenced);
                said.worker = said.worker.filter(|_| *named);
                return Some(self.say(say(said, told)));
            }
            Act::Echo(at) => {
                let said = pick(&self.sent, *at)?.clone();
                return Some(self.say(said));
            }
            Act::Unclaimed { worker, told } => {
                let said = Said::new(self.open()?.id, told.status).worker(Some(WORKERS[*worker]));
                return Some(self.say(say(said, told)));
            }
            Act::Expire => Event::Expired { task: self.run.execution.tasks().last()?.id },
            Act::Wake => Event::Woke,
            Act::Answer { active, right } => self.answer(*active, *right)?,
            Act::Pause => Event::Paused,
            Act::Resume => Event::Resumed,
            Act::Terminate => {
                Event::Terminated { reason: Some("enough".to_owned()), compensate: false }
            }
        };
        Some((event, vec![]))
    }

    fn say(&mut self, said: Said) -> (Event, Vec<Payload>) {
        self.sent.push(said.clone());
        said.told()
    }

    fn open(&self) -> Option<Arc<Task>> {
        self.run.execution.open_tasks().next().cloned()
    }

    fn answer(&self, active: usize, right: bool) -> Option<Event> {
        let task = self.open()?;
        let question = task.question.as_ref()?;
        let question = if right { question.digest(task.id) } else { Digest::of(b"another") };
        let active = ["x", "y", "NO_DOMAIN"].iter().skip(active).map(|name| (*name).to_owned());
        let answer = Answer::ActiveDomains(active.collect());
        Some(Event::Answered { task: task.id, question, answer })
    }

    /// At most one task is open, and an open run waits for something that will come.
    fn check(&self) {
        let (run, execution) = (&self.run, &self.run.execution);
        let open: Vec<_> = execution.open_tasks().collect();
        assert!(open.len() <= 1, "a linear run has one task at a time: {:?}", run.story());
        if execution.is_closed() {
            assert!(open.is_empty() && run.rows.is_empty(), "{:?}", run.story());
            assert_eq!(execution.wake_at(), None);
        } else if !execution.is_paused() {
            let asked = open.iter().any(|task| task.question.is_some());
            let offered = run.rows.len() == 1;
            assert!(offered || (asked && execution.wake_at().is_some()), "{:?}", run.story());
        }
    }

    /// How each closed task ended, which no later event may alter.
    fn verdicts(&self) -> BTreeMap<TaskId, (TaskStatus, Payload, Timestamp)> {
        let closed = self.run.execution.tasks().filter(|task| task.status.is_terminal());
        closed.map(|task| (task.id, (task.status, task.output.clone(), task.ended_at))).collect()
    }

    /// Good workers, a steady clock and an operator: the run must come to its end.
    fn finish(&mut self) {
        for _ in 0..500 {
            if self.run.execution.is_closed() {
                return;
            }
            if self.run.execution.is_paused() {
                self.run.resume();
            } else if let Some(answer) = self.answer(0, true) {
                self.run.happen(answer, &[]).expect("an answer is not refused");
            } else {
                self.serve();
            }
        }
        panic!("the run never ends: {:?}", self.run.story());
    }

    fn serve(&mut self) {
        let row = self.run.rows.values().next().expect("a running run offers a task").clone();
        if row.hand_out.leased {
            let said = Said::new(row.task, TaskResultStatus::Completed);
            self.run.report(&said.fence(Some(row.hand_out.fence))).expect("the holder reports");
        } else if row.ready_at > self.run.now {
            self.run.now = row.ready_at;
            self.run.tick(0);
        } else {
            self.claim("ann");
        }
    }
}

fn pick(said: &[Said], at: usize) -> Option<&Said> {
    said.get(at.checked_rem(said.len())?)
}

fn say(said: Said, told: &Told) -> Said {
    Said {
        status: told.status,
        output: json!({"v": told.output}),
        reason: (told.output > 1).then(|| "because".to_owned()),
        callback_after_seconds: told.callback_after_seconds,
        ..said
    }
}

fn config() -> ProptestConfig {
    ProptestConfig { failure_persistence: None, ..ProptestConfig::default() }
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn whatever_happens_the_run_stays_sound_and_replays(plan in plans()) {
        let mut play = Play::of(&plan);
        play.check();
        for act in &plan.acts {
            let before = play.verdicts();
            play.act(act, 1);
            play.check();
            let after = play.verdicts();
            for (task, (status, output, ended_at)) in before {
                let absorbed = after[&task].0 == TaskStatus::CompletedWithErrors;
                prop_assert!(absorbed || after[&task].0 == status, "a verdict stands");
                prop_assert_eq!(&after[&task].1, &output);
                prop_assert_eq!(after[&task].2, ended_at);
            }
        }
        play.run.replay();
    }

    #[test]
    fn everything_said_twice_ends_as_if_said_once(plan in plans()) {
        let (mut once, mut twice) = (Play::of(&plan), Play::of(&plan));
        for act in &plan.acts {
            once.act(act, 1);
            twice.act(act, 2);
            let (once, twice) = (&once.run, &twice.run);
            prop_assert_eq!(Bench::seen(&once.execution), Bench::seen(&twice.execution));
            prop_assert_eq!(&once.rows, &twice.rows);
            prop_assert_eq!(&once.journal, &twice.journal);
        }
    }

    #[test]
    fn every_run_comes_to_its_end(plan in plans()) {
        let mut play = Play::of(&plan);
        plan.acts.iter().for_each(|act| play.act(act, 1));
        play.finish();
        play.check();
        play.run.replay();
    }

    #[test]
    fn a_run_folded_from_bytes_at_any_point_goes_on_the_same(plan in plans(), cut in 0..60_usize) {
        let mut live = Play::of(&plan);
        for act in plan.acts.iter().take(cut) {
            live.act(act, 1);
        }
        let mut reopened = live.clone();
        reopened.run.reopen();
        for act in plan.acts.iter().skip(cut) {
            live.act(act, 1);
            reopened.act(act, 1);
        }
        prop_assert_eq!(&live.run.journal, &reopened.run.journal);
        prop_assert_eq!(Bench::seen(&live.run.execution), Bench::seen(&reopened.run.execution));
    }
}
