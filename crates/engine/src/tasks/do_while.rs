//! # DO_WHILE: again, until its condition is not true
//!
//! Each turn is a run through the body; its tasks are named after it, `step__2`. A turn is over when
//! nothing inside it is open. What the loop has done is put together when somebody reads it, and
//! when it ends.

mod condition;

use std::sync::Arc;

use semel_model::{Payload, TaskId, TaskStatus};
use serde_json::{Value, json};

use super::join::object;
use crate::change::{Change, Removed};
use crate::decide::Stop;
use crate::execution::Execution;
use crate::schedule::Site;
use crate::script::{Language, Verdict};
use crate::task::{Loop, Task, in_turns};
use crate::turn::{PAYLOAD_BYTES_MAX, Turn};

impl Turn<'_> {
    pub(crate) fn begin_loop(&mut self, id: TaskId) -> Result<(), Stop> {
        let task = self.execution().expect_task(id).clone();
        self.reading.take_costly();
        let items = self.items_of(&task);
        if let Some(why) = self.reading.take_costly() {
            self.end_failed(id, TaskStatus::FailedWithTerminalError, &why);
            return Ok(());
        }
        let is_empty = items.as_ref().is_some_and(|items| items == &json!([]));
        let items = items.map(|items| self.store(Payload::from_value(&items)));
        if is_empty {
            self.emit(Change::LoopTurned { task: id, turn: 0, items });
            self.end_loop(&task);
            return Ok(());
        }
        self.begin_turn(id, 1, items.map(Some).unwrap_or_default())
    }

    /// The list a loop goes over, if it goes over one. A single value is a list of one.
    fn items_of(&mut self, task: &Task) -> Option<Value> {
        let written = task.step.task().items.clone().filter(|text| !text.trim().is_empty());
        let found = match written {
            Some(template) => self.resolve_value(&Value::String(template), Some(task.id)),
            None => task.input.value().get("_items")?.clone(),
        };
        if found.is_null() {
            return Some(json!([]));
        }
        Some(if found.is_array() { found } else { json!([found]) })
    }

    fn begin_turn(
        &mut self,
        id: TaskId,
        turn: u32,
        items: Option<crate::event::Slot>,
    ) -> Result<(), Stop> {
        self.emit(Change::LoopTurned { task: id, turn, items });
        let task = self.execution().expect_task(id).clone();
        if let Some(through) = kept_from(&task).and_then(|kept| turn.checked_sub(kept)) {
            let is_left = self.execution().turns.contains_key(&(id, through));
            if through > 0 && is_left {
                let which = Removed::Turns { of: id, through };
                let generation = self.execution().generation;
                self.emit(Change::TasksRemoved { which, generation });
            }
        }
        self.loops.insert(task.seq); // Perhaps there is nothing to do in this turn.
        match self.head_of_turn(&task) {
            Some(head) => self.schedule_once(head),
            None => Ok(()),
        }
    }

    /// Where the turn begins that a loop is in.
    fn head_of_turn(&self, task: &Task) -> Option<Site> {
        let home = self.execution().home(task.fork);
        let place = home.find(&task.reference).unwrap_or(&task.step);
        let head = &place.task().body().first()?.task_reference_name;
        let step = home.find(head)?.clone();
        let turns = [task.turns.as_slice(), &[task.as_loop()?.turn]].concat();
        let reference = in_turns(step.reference(), &turns);
        Some(self.past_skipped(Site { step, reference, fork: task.fork, definition: None }))
    }

    /// The head of a turn that was begun and is gone: a TERMINATE that is to come again.
    pub(crate) fn unbegun_turn(&self, task: &Task) -> Option<Site> {
        let is_going = !task.status.is_terminal() && task.as_loop()?.turn > 0;
        let head = self.head_of_turn(task).filter(|_| is_going)?;
        self.execution().latest(&head.reference).is_none().then_some(head)
    }

    /// Goes on with a loop whose turn is over.
    pub(crate) fn look_at_loop(&mut self, seq: u32) -> Result<(), Stop> {
        let execution = self.execution();
        let may_go_on = execution.is_live() && !execution.is_paused();
        let found = execution.tasks.get(&seq).cloned().filter(|_| may_go_on);
        let Some(task) = found.filter(|task| !task.status.is_terminal()) else { return Ok(()) };
        let Some(own) = task.as_loop().filter(|_| !execution.is_busy(task.id)) else {
            return Ok(());
        };
        let is_left = |it: &Arc<Task>| self.leads_on(it);
        let is_unfinished =
            self.unbegun_turn(&task).is_some() || execution.in_turn(task.id, own.turn).any(is_left);
        if task.question.is_some() || is_unfinished {
            return Ok(());
        }
        if let Some(reason) = self.failure_in(&task, own) {
            self.end_failed(task.id, TaskStatus::Failed, &reason);
            return Ok(());
        }
        let has_more = own.items.as_ref().is_none_or(|items| (own.turn as usize) < items.len());
        let condition = task.step.task().loop_condition.clone();
        match condition.filter(|text| !text.trim().is_empty()) {
            _ if !has_more => self.end_loop(&task),
            Some(condition) => {
                let scope = self.condition_scope(&task, &condition);
                self.run_script(task.id, Language::JavaScript, &condition, scope)?;
            }
            None if own.items.is_some() => self.begin_turn(task.id, own.turn + 1, None)?,
            None => self.end_loop(&task),
        }
        Ok(())
    }

    /// A permissive task that failed lets its turn end, and then fails the loop.
    fn failure_in(&self, task: &Task, own: &Loop) -> Option<String> {
        let mut inside = self.execution().in_turn(task.id, own.turn);
        let failed = inside.find(|it| {
            let is_last = !it.replaced && !it.is_passed_over;
            is_last && it.status.is_terminal() && !it.status.is_successful()
        });
        failed.map(|it| it.reason.clone().unwrap_or_default())
    }

    pub(crate) fn condition_verdict(&mut self, task: &Task, verdict: &Verdict) -> Result<(), Stop> {
        let goes_on = match verdict {
            Verdict::Value(value) => is_true(&value.value()),
            Verdict::Failed(error) | Verdict::Exhausted(error) => {
                let condition = task.step.task().loop_condition.as_deref().unwrap_or_default();
                let why = format!("Unable to evaluate condition {condition}, exception {error}");
                self.end_failed(task.id, TaskStatus::FailedWithTerminalError, &why);
                return Ok(());
            }
        };
        if !goes_on {
            self.end_loop(task);
            return Ok(());
        }
        if task.question.is_some() {
            self.emit(Change::Heard { task: task.id });
        }
        let own = task.as_loop();
        let (turn, is_over_a_list) = own.map_or((0, false), |own| (own.turn, own.items.is_some()));
        if !is_over_a_list && let Some(why) = self.turns_idly() {
            self.end_failed(task.id, TaskStatus::FailedWithTerminalError, &why);
            return Ok(());
        }
        self.begin_turn(task.id, turn + 1, None)
    }

    fn end_loop(&mut self, task: &Task) {
        let task = self.execution().expect_task(task.id).clone();
        let output = self.execution().loop_output(&task);
        if output.len() > PAYLOAD_BYTES_MAX {
            let why = format!(
                "output of {} bytes is over the limit of {PAYLOAD_BYTES_MAX}; keepLastN keeps less",
                output.len()
            );
            return self.end_failed(task.id, TaskStatus::FailedWithTerminalError, &why);
        }
        self.end_system(task.id, TaskStatus::Completed, output, None);
    }
}

/// Of how many turns the loop keeps what they did.
fn kept_from(task: &Task) -> Option<u32> {
    let kept = task.input.value().get("keepLastN")?.clone();
    let text = kept.as_str().and_then(|text| text.trim().parse().ok());
    let number = kept.as_u64().and_then(|number| u32::try_from(number).ok());
    text.or(number).filter(|kept| *kept > 0)
}

/// What a program's result means as a condition.
fn is_true(value: &Value) -> bool {
    match value {
        Value::Bool(flag) => *flag,
        Value::Number(number) => number.as_f64().is_some_and(|number| number > 0.0),
        Value::Null | Value::String(_) | Value::Array(_) | Value::Object(_) => false,
    }
}

impl Execution {
    /// What a loop has done so far, turn by turn.
    pub(crate) fn loop_output(&self, task: &Task) -> Payload {
        let Some(own) = task.as_loop() else { return Payload::empty() };
        let first = self.turns.range((task.id, 0)..=(task.id, own.turn));
        let turns: Vec<(String, Payload)> =
            first.map(|((_, turn), _)| (turn.to_string(), self.turn_output(task, *turn))).collect();
        let head = self.loop_head(task);
        let turns = turns.iter().map(|(turn, output)| (turn.as_str(), output.text()));
        object(head.iter().map(|(key, value)| (*key, value.as_str())).chain(turns))
    }

    /// What is said of a loop besides its turns.
    pub(crate) fn loop_head(&self, task: &Task) -> Vec<(&'static str, String)> {
        let Some(own) = task.as_loop() else { return Vec::new() };
        let mut head = vec![("iteration", own.turn.to_string())];
        if let (Some(items), Some(at)) = (&own.items, own.turn.checked_sub(1)) {
            let item = items.get(at as usize).map_or("null", |item| item.text());
            head.push(("loopIndex", at.to_string()));
            head.push(("loopItem", item.to_owned()));
        }
        head
    }

    /// What a loop did in one turn: the newest output of each step, by the step's name. The branches
    /// of a dynamic fork are their JOIN's to tell of.
    pub(crate) fn turn_output(&self, task: &Task, turn: u32) -> Payload {
        let inside = self.in_turn(task.id, turn).filter(|it| !it.replaced && it.fork == task.fork);
        let inside: Vec<(&str, Payload)> =
            inside.map(|it| (it.step.reference(), self.output_of(it))).collect();
        object(inside.iter().map(|(name, output)| (*name, output.text())))
    }

    /// A task's output as it is now; of a loop or a join that was cut short, what it had done.
    pub fn output_of(&self, task: &Task) -> Payload {
        let is_whole = task.status.is_terminal() && task.status.is_successful();
        if is_whole || !task.output.is_empty() {
            return task.output.clone();
        }
        match (task.as_loop(), task.as_join()) {
            (Some(_), _) => self.loop_output(task),
            (_, Some(join)) => self.join_output(join),
            (None, None) => task.output.clone(),
        }
    }
}
