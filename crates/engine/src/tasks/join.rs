//! # JOIN: until all of these are over
//!
//! Looked at whenever one of them ends for good, in the same decision. With a program of its own it
//! ends when that says so. What it has gathered is put together when somebody reads it, and when it
//! ends.

use std::sync::Arc;

use semel_model::{Payload, TaskId, TaskStatus};
use serde_json::{Value, json};

use crate::change::{Change, HandOutFacts};
use crate::decide::Stop;
use crate::execution::Execution;
use crate::kinds::Kind;
use crate::schedule::Site;
use crate::script::{Language, Verdict};
use crate::settle::successor;
use crate::task::{Join, Task, in_turns};
use crate::turn::{PAYLOAD_BYTES_MAX, Turn};

/// Of those it waits for in vain, so many are named.
const NAMED_MAX: usize = 10;

impl Turn<'_> {
    /// The parameters, and the names of what is waited for.
    pub(crate) fn join_input(&mut self, site: &Site, task: TaskId) -> Payload {
        let given = self.resolve_parameters(&site.step, task).value();
        let mut input = given.as_object().cloned().unwrap_or_default();
        let names = match self.fork_before(site) {
            Some(fork) => self.branch_names(&fork),
            None => self.names_for(site, site.step.task().join_on()),
        };
        input.insert("joinOn".to_owned(), json!(names));
        if site.step.kind() == Kind::ExclusiveJoin {
            let defaults = self.names_for(site, site.step.task().default_exclusive_join_task());
            input.insert("defaultExclusiveJoinTask".to_owned(), json!(defaults));
        }
        Payload::from_value(&Value::Object(input))
    }

    /// The dynamic fork whose branches a JOIN waits for: the one before it, or the one that the case
    /// before it ended with.
    fn fork_before(&self, site: &Site) -> Option<Arc<Task>> {
        let home = self.execution().home(site.fork);
        let forks = home.steps().iter().filter(|it| it.kind() == Kind::DynamicFork);
        let before = forks.filter(|it| successor(home, it) == Some(&site.step));
        let names =
            self.names_for(site, &before.map(|it| it.reference().to_owned()).collect::<Vec<_>>());
        names.iter().find_map(|name| self.execution().latest(name).cloned())
    }

    fn branch_names(&self, fork: &Task) -> Vec<String> {
        let home = self.execution().home(Some(fork.id));
        home.top().map(|step| in_turns(step.reference(), &fork.turns)).collect()
    }

    /// Steps by the names their tasks have in the turns this site is in.
    fn names_for(&self, site: &Site, references: &[String]) -> Vec<String> {
        let execution = self.execution();
        let home = execution.home(site.fork);
        let turns = Task::turns_in(&site.reference, &site.step);
        let fork = site.fork.and_then(|fork| execution.task(fork));
        let around_fork = fork.map_or(0, |fork| fork.turns.len());
        let name = |reference: &String| {
            let loops = home.find(reference).map_or(turns.len(), |it| home.loops_around(it));
            in_turns(reference, &turns[..(around_fork + loops).min(turns.len())])
        };
        references.iter().map(name).collect()
    }

    pub(crate) fn begin_join(&mut self, id: TaskId) {
        let seq = self.execution().expect_task(id).seq;
        self.joins.insert(seq);
    }

    pub(crate) fn look_at_join(&mut self, seq: u32) -> Result<(), Stop> {
        let execution = self.execution();
        let may_end = execution.is_live() && !execution.is_paused();
        let found = execution.tasks.get(&seq).cloned().filter(|_| may_end);
        let Some(task) = found.filter(|task| !task.status.is_terminal()) else { return Ok(()) };
        if task.kind() == Kind::ExclusiveJoin {
            self.look_at_exclusive_join(&task);
            return Ok(());
        }
        match program(&task) {
            Some(_) if task.question.is_some() => {} // Looked at again when it is answered.
            Some(program) => {
                let scope = self.execution().join_scope(&task);
                self.run_script(task.id, Language::JavaScript, &program, scope)?;
            }
            None if task.as_join().is_some_and(|join| join.missing == 0) => {
                self.end_join(&task);
            }
            None => {}
        }
        Ok(())
    }

    fn end_join(&mut self, task: &Task) {
        let Some(join) = task.as_join() else { return };
        let joined: Vec<Arc<Task>> =
            join.on.iter().filter_map(|name| self.execution().latest(name).cloned()).collect();
        let failed: Vec<_> = joined.iter().filter(|it| !it.status.is_successful()).collect();
        let output = self.execution().join_output(join);
        if output.len() > PAYLOAD_BYTES_MAX {
            let bytes = output.len();
            let why = format!("output of {bytes} bytes is over the limit of {PAYLOAD_BYTES_MAX}");
            return self.end_failed(task.id, TaskStatus::FailedWithTerminalError, &why);
        }
        if !failed.is_empty() {
            let is_cancelled = failed.iter().all(|it| it.status == TaskStatus::Canceled);
            let status = if is_cancelled { TaskStatus::Canceled } else { TaskStatus::Failed };
            let reasons: Vec<&str> = failed.iter().filter_map(|it| it.reason.as_deref()).collect();
            return self.end_system(task.id, status, output, Some(reasons.join(" ")));
        }
        let with_errors = |it: &&Arc<Task>| it.status == TaskStatus::CompletedWithErrors;
        let errors: Vec<String> = joined
            .iter()
            .filter(with_errors)
            .map(|it| format!("{}/{} completed with errors", it.step.task_def_name(), it.id))
            .collect();
        if errors.is_empty() {
            return self.end_system(task.id, TaskStatus::Completed, output, None);
        }
        let status = TaskStatus::CompletedWithErrors;
        self.end_system(task.id, status, output, Some(errors.join(" ")));
    }

    /// True ends it, an object with a final status ends it as it says, anything else lets it wait on.
    pub(crate) fn join_verdict(&mut self, task: &Task, verdict: &Verdict) {
        let value = match verdict {
            Verdict::Value(value) => value.value(),
            Verdict::Failed(reason) | Verdict::Exhausted(reason) => {
                return self.end_failed(task.id, TaskStatus::FailedWithTerminalError, reason);
            }
        };
        let gathered = task.as_join().map(|join| self.execution().join_output(join));
        let gathered = gathered.unwrap_or_default();
        if value == Value::Bool(true) {
            return self.end_system(task.id, TaskStatus::Completed, gathered, None);
        }
        if value.is_object() && !is_not_yet(&value) {
            return self.end_as_said(task.id, &value, gathered);
        }
        let Some(asked) = &task.question else {
            return self.note_so_far(task.id, &value);
        };
        self.emit(Change::Heard { task: task.id });
        self.note_so_far(task.id, &value);
        if asked.input != self.execution().join_scope(task) {
            self.joins.insert(task.seq); // Something ended while it was asked.
        }
        self.stirred = true;
    }

    /// What the program says while the JOIN waits on is shown until it ends.
    fn note_so_far(&mut self, id: TaskId, verdict: &Value) {
        let task = self.execution().expect_task(id).clone();
        let output = verdict.get("outputData").filter(|it| it.is_object()).map(Payload::from_value);
        let reason = verdict.get("reasonForIncompletion").and_then(Value::as_str);
        let output = output.unwrap_or_else(|| task.output.clone());
        let reason = reason.map(str::to_owned).or_else(|| task.reason.clone());
        if output == task.output && reason == task.reason {
            return;
        }
        let (output, ready_at) = (self.store(output), self.now());
        let hand_out = HandOutFacts { started_at: task.started_at, ..HandOutFacts::default() };
        self.emit(Change::TaskProgressed {
            task: id,
            output,
            ready_at,
            reason,
            callback_after_seconds: 0,
            fingerprint: None,
            hand_out,
        });
    }

    fn end_as_said(&mut self, id: TaskId, verdict: &Value, gathered: Payload) {
        let status = verdict.get("status").and_then(Value::as_str);
        let status = match status.unwrap_or("COMPLETED") {
            "COMPLETED" => TaskStatus::Completed,
            "COMPLETED_WITH_ERRORS" => TaskStatus::CompletedWithErrors,
            "FAILED" => TaskStatus::Failed,
            "FAILED_WITH_TERMINAL_ERROR" => TaskStatus::FailedWithTerminalError,
            "CANCELED" => TaskStatus::Canceled,
            other => {
                let why = format!("the JOIN's expression gave the status {other}");
                return self.end_failed(id, TaskStatus::FailedWithTerminalError, &why);
            }
        };
        let reason = verdict.get("reasonForIncompletion").and_then(Value::as_str);
        let output = verdict.get("outputData").filter(|it| it.is_object());
        let output = output.map_or(gathered, Payload::from_value);
        self.end_system(id, status, output, reason.map(str::to_owned));
    }

    /// What waits for tasks that will not run any more would wait for ever.
    pub(crate) fn fail_stuck(&mut self, task: &Task) {
        let missing = |name: &&Arc<str>| {
            let found = self.execution().latest(name);
            found.is_none_or(|found| !found.status.is_terminal())
        };
        let names = task.as_join().into_iter().flat_map(|join| join.on.iter());
        let names: Vec<&str> = names.filter(missing).take(NAMED_MAX).map(|name| &**name).collect();
        let why = match (names.is_empty(), program(task)) {
            (false, _) => format!("it waits for tasks that will not run: {}", names.join(", ")),
            (true, Some(_)) => match &task.reason {
                Some(said) => format!("everything is over and its expression is not true: {said}"),
                None => "everything is over and its expression is not true".to_owned(),
            },
            (true, None) => "nothing is left that could end it".to_owned(),
        };
        self.end_failed(task.id, TaskStatus::FailedWithTerminalError, &why);
    }
}

/// An object whose status is an open one: the JOIN is asked again when another task has ended.
fn is_not_yet(verdict: &Value) -> bool {
    let status = verdict.get("status").and_then(Value::as_str);
    matches!(status, Some("IN_PROGRESS" | "SCHEDULED"))
}

fn program(task: &Task) -> Option<String> {
    let expression = task.step.task().expression.clone();
    expression.filter(|text| task.kind() == Kind::Join && !text.trim().is_empty())
}

impl Execution {
    /// The outputs of what it waits for, by name, as far as there are any.
    pub(crate) fn join_output(&self, join: &Join) -> Payload {
        let gathered = join.on.iter().filter_map(|name| {
            let found = self.latest(name).filter(|task| task.status.is_terminal())?;
            (!found.output.is_empty()).then(|| (&**name, found.output.text()))
        });
        object(gathered)
    }

    /// What the program of a JOIN looks at.
    fn join_scope(&self, task: &Task) -> Payload {
        let Some(join) = task.as_join() else { return Payload::empty() };
        let names: Vec<&str> = join.on.iter().map(|name| &**name).collect();
        let names = json!(names).to_string();
        let tasks = join.on.iter().filter_map(|name| {
            let found = self.latest(name)?;
            let head = json!({
                "status": found.status,
                "referenceTaskName": &*found.reference,
                "taskId": found.id,
                "reasonForIncompletion": found.reason,
            });
            let head = head.to_string();
            let head = head.strip_suffix('}').unwrap_or_default();
            let output = found.output.text();
            Some((&**name, format!("{head},\"output\":{output},\"outputData\":{output}}}")))
        });
        let tasks: Vec<(&str, String)> = tasks.collect();
        let given = task.input.value();
        let given = given.as_object().into_iter().flatten();
        let given = given.filter(|(key, _)| *key != "joinOn");
        let given: Vec<(&str, String)> =
            given.map(|(key, value)| (key.as_str(), value.to_string())).collect();
        let all = given.iter().map(|(key, text)| (*key, text.as_str()));
        let tasks = tasks.iter().map(|(key, text)| (*key, text.as_str()));
        object(all.chain([("joinOn", names.as_str())]).chain(tasks))
    }
}

/// An object of values that are JSON already.
pub(crate) fn object<'a>(fields: impl Iterator<Item = (&'a str, &'a str)>) -> Payload {
    let mut text = String::from("{");
    for (key, value) in fields {
        if text.len() > 1 {
            text.push(',');
        }
        text.push_str(&Value::from(key).to_string());
        text.push(':');
        text.push_str(value);
    }
    text.push('}');
    Payload::from_text(text).expect("JSON inside an object is JSON")
}
