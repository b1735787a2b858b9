//! # What must hold of flows: one end for each task, whole outputs, no step forgotten

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use semel_engine::{Change, Execution, Flow, Task};
use semel_model::{TaskId, TaskStatus, WorkflowStatus, WorkflowTask};
use serde_json::{Map, Value};

use crate::bench::Bench;

/// How the tasks of a run have ended so far.
#[derive(Clone, Default)]
pub(crate) struct Ends {
    scheduled: BTreeSet<TaskId>,
    ended: BTreeMap<TaskId, TaskStatus>,
}

impl Ends {
    /// What one event changed, and the run as it is then.
    pub(crate) fn note(&mut self, execution: &Execution, changes: &[Change]) {
        for change in changes {
            match change {
                Change::TaskScheduled { task, .. } | Change::TaskSkipped { task, .. } => {
                    assert!(self.scheduled.insert(*task), "an id is given once");
                }
                Change::TaskReset { task, .. }
                | Change::TaskResumed { task, .. }
                | Change::TaskReopened { task, .. } => _ = self.ended.remove(task),
                Change::TaskClosed { task, status, .. } => {
                    let before = self.ended.insert(*task, *status);
                    let is_absorbed = *status == TaskStatus::CompletedWithErrors;
                    assert!(before.is_none() || is_absorbed, "{task} has two ends: {change:?}");
                }
                _ => {}
            }
        }
        for change in changes {
            if let Change::TaskClosed { task, status, .. } = change
                && let Some(task) = execution.task(*task).filter(|it| it.status == *status)
            {
                check_output(execution, task);
            }
        }
        check_names(execution);
    }
}

/// Numbers, ids, and attempts at a task are unique.
fn check_names(execution: &Execution) {
    let mut seqs = BTreeSet::new();
    let mut attempts = BTreeSet::new();
    for task in execution.tasks() {
        assert!(seqs.insert(task.seq), "{} has a number of its own", task.reference);
        let attempt = (Arc::clone(&task.reference), task.attempt);
        assert!(attempts.insert(attempt), "{} is tried once", task.reference);
    }
}

/// What a JOIN or a loop says when it ends is what its tasks have said.
fn check_output(execution: &Execution, task: &Task) {
    let is_scripted = task.step.task().expression.is_some();
    match &task.flow {
        Flow::Join(join) if !is_scripted && task.status != TaskStatus::Canceled => {
            let mut wanted = Map::new();
            for name in join.on.iter() {
                let Some(joined) = execution.latest(name) else {
                    assert!(!task.status.is_successful(), "{} did not wait", task.reference);
                    continue;
                };
                let is_over = joined.status.is_terminal();
                assert!(is_over || !task.status.is_successful(), "{} did not wait", task.reference);
                if is_over && !joined.output.is_empty() {
                    wanted.insert(name.to_string(), joined.output.value());
                }
            }
            assert_eq!(execution.output_of(task).value(), Value::Object(wanted));
        }
        Flow::Loop(own) if task.status == TaskStatus::Completed => {
            let mut turns: BTreeMap<u32, Map<String, Value>> = BTreeMap::new();
            let inside = |it: &&Arc<Task>| it.within == Some(task.id) && it.fork == task.fork;
            for it in execution.tasks().filter(inside).filter(|it| !it.replaced) {
                let turn = turns.entry(it.turns.last().copied().unwrap_or(0)).or_default();
                turn.insert(it.step.reference().to_owned(), execution.output_of(it).value());
            }
            let output = task.output.value();
            let said = output.as_object().expect("an object");
            assert_eq!(said["iteration"], own.turn);
            let numbers: Vec<u32> = said.keys().filter_map(|key| key.parse().ok()).collect();
            let kept = task.input.value().get("keepLastN").is_some();
            let first = if kept { own.turn } else { 1 };
            assert_eq!(numbers, (first..=own.turn).collect::<Vec<_>>(), "every turn that ran");
            for number in numbers {
                assert_eq!(said[&number.to_string()], Value::Object(turns[&number].clone()));
            }
        }
        Flow::None | Flow::Case(_) | Flow::Fork { .. } | Flow::Join(_) | Flow::Loop(_) => {}
    }
}

/// A completed run has done every step, and has forgotten no failure.
pub(crate) fn check_end(run: &Bench) {
    let execution = &run.execution;
    if execution.status() != Some(WorkflowStatus::Completed) {
        return;
    }
    let is_terminated = execution.tasks().any(|task| task.step.task_type() == "TERMINATE");
    let failed = execution.tasks().find(|task| {
        let failed = task.status.is_terminal() && !task.status.is_successful();
        failed && !task.replaced && !task.is_passed_over && task.status != TaskStatus::Canceled
    });
    assert!(failed.is_none() || is_terminated, "a failure was forgotten: {:?}", run.story());
    if !is_terminated {
        check_list(run, execution.definition().definition().steps(), &[]);
    }
}

/// False: somebody jumped out of here.
fn check_list(run: &Bench, steps: &[WorkflowTask], turns: &[u32]) -> bool {
    for step in steps {
        let name = turns
            .iter()
            .fold(step.task_reference_name.clone(), |name, turn| format!("{name}__{turn}"));
        let Some(task) = run.execution.latest(&name) else {
            panic!("{name} was forgotten: {:?}", run.story());
        };
        assert!(task.status.is_terminal());
        if task.is_passed_over {
            return false;
        }
        if task.status != TaskStatus::Completed {
            continue;
        }
        match &task.flow {
            Flow::Case(case) => {
                let chosen = step.case(case).unwrap_or(step.default_case());
                if !check_list(run, chosen, turns) {
                    return false;
                }
            }
            Flow::Fork { branches: None, .. } => {
                for branch in step.branches() {
                    check_list(run, branch, turns); // The others were jumped out of as well.
                }
            }
            Flow::Fork { branches: Some(_), .. } => {
                for name in task.input.value()["forkedTasks"].as_array().into_iter().flatten() {
                    let name = name.as_str().unwrap_or_default();
                    let name =
                        turns.iter().fold(name.to_owned(), |name, turn| format!("{name}__{turn}"));
                    assert!(run.execution.latest(&name).is_some(), "{name} was forgotten");
                }
            }
            Flow::Loop(own) => {
                let kept = task.input.value().get("keepLastN").is_some();
                for turn in (if kept { own.turn } else { 1 })..=own.turn {
                    check_list(run, step.body(), &[turns, &[turn]].concat());
                }
            }
            Flow::None | Flow::Join(_) => {}
        }
    }
    true
}
