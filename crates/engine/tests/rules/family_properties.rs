//! # Family properties: what holds whatever happens to runs that begin, tell and revive one another
//!
//! Messages are delivered in any order, some long after their matter is over. `PROPTEST_CASES`
//! raises the number of families.

use std::sync::Arc;

use proptest::prelude::*;
use semel_engine::{Event, Rerun, Slot, Task};
use semel_model::{ExecutionId, Payload, TaskResultStatus, TaskStatus, WorkflowStatus};
use serde_json::json;

use crate::family::Family;
use crate::family_plan::{Act, Operation, Plan, plans};
use crate::shapes::{Said, payload};

/// More members than this are not begun by hand.
const MEMBERS_MAX: usize = 40;

struct Play {
    family: Family,
    /// Silent holders of tasks.
    silent: Vec<(ExecutionId, Said)>,
}

impl Play {
    fn of(plan: &Plan) -> Self {
        let mut family = Family::of(&plan.definitions);
        family.start("top", json!({}));
        Self { family, silent: Vec::new() }
    }

    fn act(&mut self, act: &Act) {
        match act {
            Act::Work { at, status } => {
                if let Some((id, said)) = self.take(*at) {
                    self.say(id, Said { status: *status, ..said });
                }
            }
            Act::Claim(at) => {
                let taken = self.take(*at);
                self.silent.extend(taken);
            }
            Act::Late { at, status } => {
                if let Some((id, said)) = pick(&self.silent, *at).cloned() {
                    self.say(id, Said { status: *status, ..said });
                }
            }
            Act::Answer { at, status } => {
                let members = self.family.members.iter();
                let open: Vec<_> = members
                    .flat_map(|(id, it)| it.execution.open_tasks().map(|task| (*id, task.id)))
                    .collect();
                if let Some((id, task)) = pick(&open, *at) {
                    self.say(*id, Said::new(*task, *status));
                }
            }
            Act::Deliver(at) => {
                let keys: Vec<_> = self.family.letters.keys().copied().collect();
                if let Some(key) = pick(&keys, *at) {
                    self.family.deliver(*key);
                }
            }
            Act::Tick(seconds) => self.family.tick(*seconds),
            Act::Crash => self.family.crash(),
            Act::Start => {
                if self.family.members.len() < MEMBERS_MAX {
                    self.family.start("middle", json!({}));
                }
            }
            Act::Operate { run, operation } => {
                let ids: Vec<_> = self.family.members.keys().copied().collect();
                if let Some(id) = pick(&ids, *run) {
                    self.operate(*id, operation);
                }
            }
        }
    }

    /// Claims the nth offered task.
    fn take(&mut self, at: usize) -> Option<(ExecutionId, Said)> {
        let now = self.family.now;
        let rows = self.family.members.values().flat_map(|member| member.rows.values());
        let ready = rows.filter(|row| !row.hand_out.leased && row.ready_at <= now);
        let ready: Vec<_> = ready.map(|row| (row.execution, row.reference.clone())).collect();
        let (id, reference) = pick(&ready, at)?;
        Some((*id, self.family.claim(*id, reference, "ann")))
    }

    /// Whether it is taken or refused is for the engine to say.
    fn say(&mut self, id: ExecutionId, said: Said) {
        let _ = self.family.report(id, &said);
    }

    fn operate(&mut self, id: ExecutionId, operation: &Operation) {
        if matches!(operation, Operation::Remove) {
            return self.family.remove(id);
        }
        if let Some((event, payloads)) = self.event(id, operation) {
            let _ = self.family.tell(id, event, &payloads);
        }
    }

    fn event(&self, id: ExecutionId, operation: &Operation) -> Option<(Event, Vec<Payload>)> {
        let execution = self.family.execution(id);
        let definition = execution.definition().definition();
        let other = self.family.shelf.find(&definition.name, 3 - definition.version);
        let other = other.map(|pinned| pinned.digest());
        let names: Vec<_> =
            definition.steps().iter().map(|step| step.task_reference_name.clone()).collect();
        let nothing = vec![payload(&json!({}))];
        let event = match operation {
            Operation::Pause => Event::Paused,
            Operation::Resume => Event::Resumed,
            Operation::Terminate { compensate } => {
                Event::Terminated { reason: None, compensate: *compensate }
            }
            Operation::Retry => Event::Retried,
            Operation::Restart { other: on_other } => {
                Event::Restarted { definition: other.filter(|_| *on_other) }
            }
            Operation::Rerun => Event::Reran(Rerun::default()),
            Operation::RerunFrom(at) => {
                let tasks: Vec<&Arc<Task>> = execution.tasks().collect();
                let from = Some(pick(&tasks, *at)?.id);
                Event::Reran(Rerun { from, ..Rerun::default() })
            }
            Operation::Skip(at) => {
                let reference = pick(&names, *at)?.clone();
                Event::Skipped { reference, input: Slot(0), output: Slot(0) }
            }
            Operation::Jump(at) => {
                Event::Jumped { reference: pick(&names, *at)?.clone(), input: None }
            }
            Operation::Upgrade => {
                Event::Upgraded { definition: other?, input: None, outputs: [].into() }
            }
            Operation::Variables(n) => {
                let variables = vec![payload(&json!({"n": n}))];
                return Some((Event::VariablesUpdated { variables: Slot(0) }, variables));
            }
            Operation::ResetCallbacks => Event::CallbacksReset,
            Operation::Remove => return None,
        };
        Some((event, nothing))
    }

    /// Nobody waits for what will not come. All messages have been delivered.
    fn check_edges(&self) {
        for (id, member) in &self.family.members {
            let execution = &member.execution;
            for task in execution.open_tasks().filter(|task| task.child.is_some()) {
                let child = task.child.expect("it has one").run;
                let found = self.family.members.get(&child);
                let is_live = found.is_some_and(|child| child.execution.is_live());
                assert!(is_live, "{} of {id} waits for {child}: {:?}", task.reference, self.tell());
            }
            let alone = self.family.alone.contains(id);
            if let Some(parent) = execution.parent().filter(|_| execution.is_live() && !alone) {
                let above = self.family.members.get(&parent.execution);
                let task = above.and_then(|above| above.execution.task(parent.task));
                let is_waited_for = task.is_some_and(|task| {
                    !task.status.is_terminal() && task.child.is_some_and(|child| child.run == *id)
                });
                assert!(is_waited_for, "nobody waits for {id}: {:?}", self.tell());
            }
        }
    }

    fn tell(&self) -> Vec<(String, Vec<String>)> {
        let members = self.family.members.iter();
        let name = |it: &crate::bench::Bench| it.execution.definition().definition().name.clone();
        members.map(|(id, it)| (format!("{} {id}", name(it)), it.story())).collect()
    }

    /// An open run that is not paused stands somewhere, and no failure is forgotten.
    fn check_places(&self) {
        for member in self.family.members.values() {
            let execution = &member.execution;
            let stands = execution.open_tasks().next().is_some();
            let waits = execution.is_paused() || execution.is_closed();
            assert!(stands || waits, "a run stands nowhere: {:?}", self.tell());
            let failed = execution.tasks().any(|task| {
                let is_over = task.status.is_successful() || task.status == TaskStatus::Canceled;
                !task.replaced && !is_over
            });
            let is_completed = execution.status() == Some(WorkflowStatus::Completed);
            assert!(!(is_completed && failed), "a failure was forgotten: {:?}", self.tell());
        }
    }

    /// Good workers, a steady clock, an operator and a carrier: every run comes to its end.
    fn finish(&mut self) {
        for _ in 0..3_000 {
            self.family.deliver_all();
            self.check_edges();
            let members = &self.family.members;
            if !members.values().any(|it| it.execution.is_live()) {
                return;
            }
            let paused = members.values().find(|it| it.execution.is_paused());
            if let Some(id) = paused.map(|it| it.execution.id()) {
                self.family.tell(id, Event::Resumed, &[]).expect("a paused run resumes");
            } else if !self.serve() {
                self.family.tick(1);
            }
        }
        panic!("the family never rests: {:?}", self.tell());
    }

    /// One held or offered task is completed.
    fn serve(&mut self) -> bool {
        let mut rows = self.family.members.values().flat_map(|member| member.rows.values());
        let held = rows.find(|row| row.hand_out.leased).cloned();
        if let Some(row) = held {
            let said = Said::new(row.task, TaskResultStatus::Completed);
            let said = said.fence(Some(row.hand_out.fence));
            self.family.report(row.execution, &said).expect("the holder reports");
            return true;
        }
        match self.take(0) {
            Some((id, said)) => {
                self.family.report(id, &said).expect("the holder reports");
                true
            }
            None => false,
        }
    }
}

fn pick<T>(list: &[T], at: usize) -> Option<&T> {
    list.get(at.checked_rem(list.len())?)
}

fn config() -> ProptestConfig {
    ProptestConfig { failure_persistence: None, ..ProptestConfig::default() }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: cases(), ..config() })]

    #[test]
    fn whatever_happens_every_run_of_a_family_ends_and_nobody_waits_in_vain(plan in plans()) {
        let mut play = Play::of(&plan);
        for act in &plan.acts {
            play.act(act);
            play.check_places();
        }
        play.finish();
        play.family.members.values().for_each(|member| member.replay());
    }
}

/// Families are dearer than single runs.
fn cases() -> u32 {
    if std::env::var_os("PROPTEST_CASES").is_some() { config().cases } else { 64 }
}
