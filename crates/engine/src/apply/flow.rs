//! # Apply, where tasks lead to tasks

use std::sync::Arc;

use semel_model::{Digest, Payload, TaskId, TaskStatus, Timestamp, WorkflowTask};
use serde_json::value::{RawValue, to_raw_value};
use serde_json::{Value, json};

use crate::execution::{Deadline, Execution};
use crate::expression::{merged, with_members};
use crate::kinds::Kind;
use crate::loose::brief;
use crate::pin::{Pinned, Step};
use crate::task::{Flow, Join, Loop, Task, in_turns};

impl Execution {
    pub(super) fn define(&mut self, text: &Payload) {
        let pinned = Pinned::parse(text.text().as_bytes());
        let pinned = pinned.expect("what the engine has written it can read");
        self.defined.insert(pinned.digest(), Arc::new(pinned));
    }

    pub(super) fn choose(&mut self, id: TaskId, case: &str, followed: bool) {
        let mut said = json!({"case": case});
        if followed {
            said["hasChildren"] = json!("true");
        }
        let said = Payload::from_value(&said);
        self.alter(id, |task| {
            task.flow = Flow::Case(case.to_owned());
            task.input = merged(&task.input, &said);
        });
    }

    pub(super) fn fork(&mut self, id: TaskId, begun: u32, branches: Option<Digest>) {
        let first = self.expect_task(id).flow == Flow::Fork { begun: 0, branches: None };
        let defined = branches.filter(|_| first).and_then(|digest| self.defined.get(&digest));
        let defined = defined.cloned();
        self.alter(id, |task| {
            task.flow = Flow::Fork { begun, branches };
            if let Some(branches) = defined {
                task.input = telling_of_branches(&task.input, &branches);
            }
        });
    }

    pub(super) fn turn_loop(&mut self, id: TaskId, turn: u32, items: Option<&Payload>) {
        let items = items.map(|items| {
            let items = items.value();
            items.as_array().into_iter().flatten().map(Payload::from_value).collect()
        });
        self.alter(id, |task| {
            let before = task.as_loop().and_then(|own| own.items.clone());
            task.flow = Flow::Loop(Loop { turn, items: items.or(before) });
        });
        self.adopt_skipped(id, turn);
    }

    /// Steps of a turn that were skipped before their loop had begun are part of it from now on.
    fn adopt_skipped(&mut self, id: TaskId, turn: u32) {
        let task = Arc::clone(self.expect_task(id));
        let turns = [task.turns.as_slice(), &[turn]].concat();
        for reference in directly_inside(task.step.task().body()) {
            let Some(found) = self.latest(&in_turns(reference, &turns)) else { continue };
            let (skipped, seq) = (found.id, found.seq);
            if found.is_ahead && found.within != Some(id) {
                self.alter(skipped, |task| task.within = Some(id));
                self.turns.entry((id, turn)).or_default().push_back(seq);
            }
        }
    }

    pub(super) fn resume_task(&mut self, id: TaskId, attempt: u32, at: Timestamp) {
        self.alter(id, |task| {
            task.status = TaskStatus::InProgress;
            task.attempt = attempt;
            task.reason = None;
            task.replaced = false;
            task.output = Payload::empty();
            task.ended_at = Timestamp::NOT_YET;
            task.first_scheduled_at = at;
            task.started_at = at;
            task.updated_at = at;
            task.alerted_run = false;
            task.alerted_total = false;
            task.is_passed_over = false;
        });
        self.open_again(id);
    }

    pub(super) fn remain(&mut self, tasks: &[TaskId], at: Timestamp) {
        let waiting = tasks.iter().filter_map(|id| self.by_id.get(id).copied());
        let waiting: Vec<u32> = waiting.collect();
        self.unconsumed.extend(waiting);
        self.remaining_since = Some(at);
        self.deadlines.insert((at, Deadline::Remaining));
    }

    /// What waited is being done.
    pub(super) fn go_on(&mut self) {
        self.unconsumed.clear();
        if let Some(at) = self.remaining_since.take() {
            self.deadlines.remove(&(at, Deadline::Remaining));
        }
    }
}

/// The names of the steps in these lists that are inside no other loop.
fn directly_inside(steps: &[WorkflowTask]) -> Vec<&str> {
    let inside = steps.iter().flat_map(|step| {
        let is_loop = Kind::of(&step.kind) == Kind::DoWhile;
        let inner = step.children().filter(|_| !is_loop).flat_map(directly_inside);
        std::iter::once(step.task_reference_name.as_str()).chain(inner).collect::<Vec<_>>()
    });
    inside.collect()
}

/// What a task of control flow has in mind when it begins.
pub(super) fn flow_of(step: &Step, input: &Payload) -> Flow {
    match step.kind() {
        Kind::Fork | Kind::DynamicFork => Flow::Fork { begun: 0, branches: None },
        Kind::Join | Kind::ExclusiveJoin => Flow::Join(Join { on: awaited(input), missing: 0 }),
        Kind::DoWhile => Flow::Loop(Loop::default()),
        Kind::Worker
        | Kind::Noop
        | Kind::SetVariable
        | Kind::Terminate
        | Kind::Wait
        | Kind::Human
        | Kind::SubWorkflow
        | Kind::StartWorkflow
        | Kind::Event
        | Kind::Switch
        | Kind::Decision
        | Kind::Dynamic
        | Kind::Inline
        | Kind::Lambda
        | Kind::Jq
        | Kind::Yield
        | Kind::Absent
        | Kind::PullMessages
        | Kind::Http
        | Kind::AcquireLock
        | Kind::ReleaseLock => Flow::None,
    }
}

/// The input of a dynamic fork, and what it says of its branches.
fn telling_of_branches(input: &Payload, branches: &Pinned) -> Payload {
    let steps = branches.top().map(|step| {
        let mut step = WorkflowTask::clone(step.task());
        step.task_definition = None;
        brief::text(&step)
    });
    let names: Vec<&str> = branches.top().map(Step::reference).collect();
    let steps: Vec<Box<RawValue>> = steps.collect();
    let names = to_raw_value(&names).expect("names have a text");
    let steps = to_raw_value(&steps).expect("texts have a text");
    with_members(input, [("forkedTasks", names), ("forkedTaskDefs", steps)])
}

/// The names in `joinOn`, and those of an EXCLUSIVE_JOIN's defaults, each once.
fn awaited(input: &Payload) -> Arc<[Arc<str>]> {
    let input = input.value();
    let lists = ["joinOn", "defaultExclusiveJoinTask"];
    let names = lists.iter().filter_map(|list| input.get(list)?.as_array());
    let names = names.flatten().filter_map(Value::as_str);
    let mut seen = std::collections::BTreeSet::new();
    names.filter(|name| seen.insert(*name)).map(Arc::from).collect()
}

impl Task {
    /// Which turns of the loops around it a task's name tells of.
    pub(crate) fn turns_in(reference: &str, step: &Step) -> Vec<u32> {
        let suffix = reference.strip_prefix(step.reference()).unwrap_or_default();
        suffix.split("__").filter_map(|turn| turn.parse().ok()).collect()
    }
}
