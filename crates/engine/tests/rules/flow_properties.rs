//! # Flow properties: what holds whatever happens inside forks, loops and choices
//!
//! `SEMEL_FLOW_CASES` says how many runs are played; a failure prints the smallest plan that shows
//! it. What must hold of a finished run is in `flow_checks.rs`.

use std::sync::Arc;

use proptest::prelude::*;
use semel_engine::{Event, Execution, Rerun, Said as Verdict, Slot, Stop, Task};
use semel_model::{Payload, TaskId, TaskResultStatus, Timestamp};
use serde_json::{Value, json};

use crate::bench::Bench;
use crate::flow_checks::Ends;
use crate::flow_plan::{Act, Plan, Program, plans};
use crate::shapes::{Said, payload};

/// A loop whose program would never let it go is let go after so many turns.
const TURNS_MAX: u32 = 3;

#[derive(Clone)]
struct Play {
    run: Bench,
    /// Silent holders of tasks.
    silent: Vec<Said>,
    ends: Ends,
}

impl Play {
    fn of(plan: &Plan) -> Self {
        let run = Bench::unborn(plan.definition.clone());
        let mut play = Self { run, silent: Vec::new(), ends: Ends::default() };
        let start = play.run.plain_start();
        let input = json!({"case": "x", "items": [1, 2]});
        play.tell(Event::Started(start), &[payload(&input)]);
        play
    }

    /// Every event comes twice, and the second time nothing changes.
    fn tell(&mut self, event: Event, payloads: &[Payload]) {
        let Ok(changes) = self.run.happen(event.clone(), payloads) else { return };
        self.ends.note(&self.run.execution, &changes);
        if !changes.is_empty() && !can_repeat(&event, &self.run.execution) {
            let again = self.run.clone().happen(event.clone(), payloads);
            let is_heard = again.as_ref().is_ok_and(Vec::is_empty);
            let is_refused = matches!(again, Err(Stop::Rejected(_)));
            assert!(is_heard || is_refused, "said twice is said once: {event:?}, {again:?}");
        }
    }

    fn act(&mut self, act: &Act) {
        match act {
            Act::Work { at, status, output } => {
                if let Some(said) = self.take(*at) {
                    let output = json!({"v": output});
                    let output =
                        if *status == TaskResultStatus::Completed { output } else { json!({}) };
                    self.report(&Said { status: *status, ..said.output(output) });
                }
            }
            Act::Claim(at) => {
                let taken = self.take(*at);
                self.silent.extend(taken);
            }
            Act::Late { at, status } => {
                if let Some(said) = pick(&self.silent, *at).cloned() {
                    self.report(&Said { status: *status, ..said });
                }
            }
            Act::Answer { at, said } => self.answer(*at, *said),
            Act::Person { at, status } => {
                let open = self.run.execution.open_tasks();
                let waits = |task: &&Arc<Task>| matches!(task.step.task_type(), "HUMAN" | "WAIT");
                let open: Vec<TaskId> = open.filter(waits).map(|task| task.id).collect();
                if let Some(task) = pick(&open, *at) {
                    self.report(&Said::new(*task, *status));
                }
            }
            Act::Tick(seconds) => self.tick(self.run.now.plus_seconds(*seconds)),
            Act::Reopen => {
                let before = Bench::seen(&self.run.execution);
                self.run.reopen();
                assert_eq!(before, Bench::seen(&self.run.execution), "folded from its bytes");
            }
            _ => {
                if let Some((event, payloads)) = self.operation(act) {
                    self.tell(event, &payloads);
                }
            }
        }
    }

    fn operation(&self, act: &Act) -> Option<(Event, Vec<Payload>)> {
        let execution = &self.run.execution;
        let home = execution.definition();
        let nothing = vec![payload(&json!({}))];
        let event = match act {
            Act::Pause => Event::Paused,
            Act::Resume => Event::Resumed,
            Act::Terminate => Event::Terminated { reason: None, compensate: false },
            Act::Retry => Event::Retried,
            Act::Restart => Event::Restarted { definition: None },
            Act::Rerun => Event::Reran(Rerun::default()),
            Act::RerunFrom(at) => {
                let tasks: Vec<TaskId> = execution.tasks().map(|task| task.id).collect();
                Event::Reran(Rerun { from: Some(*pick(&tasks, *at)?), ..Rerun::default() })
            }
            Act::Skip(at) => {
                let reference = pick(home.steps(), *at)?.reference().to_owned();
                Event::Skipped { reference, input: Slot(0), output: Slot(0) }
            }
            Act::Jump(at) => {
                let step = pick(home.definition().steps(), *at)?;
                Event::Jumped { reference: step.task_reference_name.clone(), input: None }
            }
            Act::Upgrade => {
                Event::Upgraded { definition: home.digest(), input: None, outputs: [].into() }
            }
            Act::Variables(n) => {
                let variables = vec![payload(&json!({"n": n}))];
                return Some((Event::VariablesUpdated { variables: Slot(0) }, variables));
            }
            Act::Work { .. }
            | Act::Claim(_)
            | Act::Late { .. }
            | Act::Answer { .. }
            | Act::Person { .. }
            | Act::Tick(_)
            | Act::Reopen => return None,
        };
        Some((event, nothing))
    }

    /// Claims the nth offered task.
    fn take(&mut self, at: usize) -> Option<Said> {
        let now = self.run.now;
        let ready = self.run.rows.values();
        let ready = ready.filter(|row| !row.hand_out.leased && row.ready_at <= now);
        let ready: Vec<String> = ready.map(|row| row.reference.clone()).collect();
        let reference = pick(&ready, at)?;
        Some(self.run.claim(reference, "ann"))
    }

    /// Whether it is taken or refused is for the engine to say.
    fn report(&mut self, said: &Said) {
        let (event, payloads) = said.told();
        self.tell(event, &payloads);
    }

    fn answer(&mut self, at: usize, said: Program) {
        let open = self.run.execution.open_tasks().filter(|task| task.question.is_some());
        let open: Vec<Arc<Task>> = open.cloned().collect();
        let Some(task) = pick(&open, at) else { return };
        let value = says(task, matches!(said, Program::Yes));
        let (said, payloads) = match said {
            Program::Yes | Program::No => (Verdict::Value(Slot(0)), vec![payload(&value)]),
            Program::Throws => (Verdict::Failed("it threw".to_owned()), vec![]),
            Program::Exhausted => (Verdict::Exhausted("it took too long".to_owned()), vec![]),
        };
        let event = self.run.answer(&task.reference, said);
        self.tell(event, &payloads);
    }

    /// Lets fire what is due until then.
    fn tick(&mut self, until: Timestamp) {
        self.run.now = self.run.now.max(until);
        for _ in 0..1_000 {
            if self.run.execution.wake_at().is_some_and(|at| at <= self.run.now) {
                self.tell(Event::Woke, &[]);
            } else if let Some(task) = self.run.overdue() {
                self.tell(Event::Expired { task }, &[]);
            } else {
                return;
            }
        }
        panic!("whatever fires is disarmed: {:?}", self.run.story());
    }

    /// Good workers, programs that come to an end, a steady clock and an operator.
    fn finish(&mut self) {
        for _ in 0..3_000 {
            self.check();
            let execution = &self.run.execution;
            let is_due = execution.wake_at().is_some_and(|at| at <= self.run.now);
            if is_due {
                self.tick(self.run.now);
            }
            let execution = &self.run.execution;
            if execution.is_closed() {
                return;
            }
            if execution.is_paused() {
                self.tell(Event::Resumed, &[]);
            } else if !self.serve() {
                let rows = self.run.rows.values().map(|row| row.ready_at);
                let next = rows.chain(self.run.execution.wake_at()).min();
                self.tick(next.expect("something is still to come"));
            }
        }
        panic!("the run never ends: {:?}", self.run.story());
    }

    /// One question is answered, one person asked, or one task done.
    fn serve(&mut self) -> bool {
        let execution = &self.run.execution;
        if execution.open_tasks().any(|task| task.question.is_some()) {
            self.answer(0, Program::No);
            return true;
        }
        let human = execution.open_tasks().find(|task| task.step.task_type() == "HUMAN");
        if let Some(task) = human.map(|task| task.id) {
            self.report(&Said::new(task, TaskResultStatus::Completed));
            return true;
        }
        let held = self.run.rows.values().find(|row| row.hand_out.leased).cloned();
        let held = held.map(|row| {
            let said = Said::new(row.task, TaskResultStatus::Completed);
            said.fence(Some(row.hand_out.fence))
        });
        match held.or_else(|| self.take(0)) {
            Some(said) => {
                self.report(&said.output(json!({"v": 7})));
                true
            }
            None => false,
        }
    }

    /// A run that goes on has something to do or to wait for besides itself.
    fn check(&self) {
        let (run, execution) = (&self.run, &self.run.execution);
        let is_due = execution.wake_at().is_some_and(|at| at <= run.now);
        if execution.is_closed() {
            let is_over = execution.open_count() == 0 && execution.wake_at().is_none();
            assert!(is_over || is_due, "{:?}", run.story());
            return crate::flow_checks::check_end(run);
        }
        let is_busy = |task: &Arc<Task>| {
            let waits = matches!(task.step.task_type(), "JOIN" | "EXCLUSIVE_JOIN" | "DO_WHILE");
            !waits || task.question.is_some()
        };
        let is_moving = execution.open_tasks().any(is_busy);
        assert!(is_moving || is_due || execution.is_paused(), "it is stuck: {:?}", run.story());
    }
}

/// What the programs of this model say. Loops end after a few turns.
fn says(task: &Task, yes: bool) -> Value {
    match task.step.task_type() {
        "SWITCH" => json!(if yes { "x" } else { "y" }),
        "DO_WHILE" => json!(yes && task.iteration() < TURNS_MAX),
        "JOIN" => json!(yes),
        _ => json!(1),
    }
}

/// Done again, this is another deed; and what an event has led to may be due itself.
fn can_repeat(event: &Event, after: &Execution) -> bool {
    let is_jump = matches!(event, Event::Jumped { .. });
    let is_timer = matches!(event, Event::Woke | Event::Expired { .. });
    let goes_on = is_timer && after.wake_at().is_some_and(|at| at <= after.last_at());
    is_jump || goes_on || (event.may_revive() && after.is_closed())
}

fn pick<T>(list: &[T], at: usize) -> Option<&T> {
    list.get(at.checked_rem(list.len())?)
}

/// So many runs are played.
fn cases() -> u32 {
    let given = std::env::var_os("SEMEL_FLOW_CASES").and_then(|given| given.into_string().ok());
    given.and_then(|given| given.parse().ok()).unwrap_or(300)
}

fn config() -> ProptestConfig {
    ProptestConfig { cases: cases(), failure_persistence: None, ..ProptestConfig::default() }
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn whatever_happens_a_flow_comes_to_a_stated_end_and_replays(plan in plans()) {
        let mut play = Play::of(&plan);
        play.check();
        for act in &plan.acts {
            match play.run.execution.is_closed() {
                true => play.act(&act.once_over()),
                false => play.act(act),
            }
            play.check();
        }
        play.finish();
        play.check();
        play.run.replay();
    }
}
