//! # The run as a whole: paused, parked, queued, ended
//!
//! And the tasks that made a run fail, when it has ended.

use std::collections::BTreeMap;
use std::sync::Arc;

use semel_model::{
    BlockerKind, Explanation, KeptAnswer, Note, NoteKind, Timestamp, Wait, WaitKind, WhatToDo,
    WorkflowStatus,
};

use super::words::{future, list, moment, past};
use super::{EXPLAINED_TASKS_MAX, Scene, advice, blocker, command, explained};
use crate::execution::Execution;
use crate::kinds::Kind;
use crate::record::RecordKey;
use crate::task::Task;

/// Reports of one task that its note names.
const REPORTS_MAX: usize = 3;

/// Answers for one step that its note names.
const ANSWERS_MAX: usize = 3;

impl Scene<'_> {
    pub(super) fn explanation(&self) -> Explanation {
        let execution = self.execution;
        let definition = execution.definition().definition();
        let status = execution.status().unwrap_or(WorkflowStatus::Running);
        let summary = format!(
            "{} is a run of {} version {}: {status}, started {}.",
            self.id(),
            definition.name,
            definition.version,
            past(self.now(), execution.started_at())
        );
        let (waits, more_tasks) = match execution.is_closed() {
            true => (self.ending(), 0),
            false => (self.waits(), execution.open_count().saturating_sub(EXPLAINED_TASKS_MAX)),
        };
        Explanation {
            workflow_id: self.id(),
            workflow_name: definition.name.clone(),
            workflow_version: definition.version,
            status,
            summary,
            waits,
            more_tasks,
            notes: self.notes(),
        }
    }

    fn waits(&self) -> Vec<Wait> {
        let mut waits = Vec::new();
        if let Some(reason) = &self.around.parked {
            let sentence = format!("The run is parked, and nothing happens to it: {reason}.");
            let unpark = format!("semel workflow unpark {}", self.id());
            let what_to_do = command("When the cause is gone, let it go on", unpark);
            waits.push(Wait { what_to_do, ..self.of_run(WaitKind::Parked, sentence) });
        }
        if self.execution.is_paused() {
            let sentence =
                "The run is paused: what is under way may end, nothing new is scheduled.";
            let resume = format!("semel workflow resume {}", self.id());
            let what_to_do = command("Let it go on", resume);
            let wait = self.of_run(WaitKind::Paused, sentence.to_owned());
            let since = self.execution.run().paused_since;
            waits.push(Wait { what_to_do, since, ..wait });
        }
        waits.extend(self.queued());
        waits.extend(explained(self.execution).map(|task| self.task(task)));
        if waits.is_empty() {
            let sentence = "No task is open: the run is between two steps. Look again.".to_owned();
            let since = Some(self.execution.last_at());
            waits.push(Wait { since, ..self.of_run(WaitKind::BetweenSteps, sentence) });
        }
        waits
    }

    /// It waits for its turn at the gate that `concurrency` sets.
    fn queued(&self) -> Option<Wait> {
        let gate = self.execution.queued_at()?;
        let until = self.execution.queued_until();
        let holders = self.around.records.get(gate).map(|record| record.detail.holders.clone());
        let holders = holders.unwrap_or_default();
        let position = self.position(gate, None);
        let name = gate.scope.strip_prefix(crate::gate::GATE_SCOPE).unwrap_or(&gate.scope);
        let key = match gate.key.as_str() {
            "" => String::new(),
            key => format!(" with the key '{key}'"),
        };
        let place = position.map(|at| format!(", at place {at} of the line")).unwrap_or_default();
        let runs: Vec<String> = holders.iter().map(ToString::to_string).collect();
        let behind = match runs.is_empty() {
            true => String::new(),
            false => format!(" Under way: {}.", list(&runs)),
        };
        let ends = until.map(|at| format!(" It gives up {}.", future(self.now(), at)));
        let sentence = format!(
            "The run has not begun: as many runs of {name}{key} are under way as its concurrency \
             allows, and it waits for its turn{place}.{behind}{}",
            ends.unwrap_or_default()
        );
        let mut blocked_by = vec![blocker(BlockerKind::Gate, format!("{name}/{}", gate.key))];
        blocked_by[0].position = position;
        for run in holders {
            let mut one = blocker(BlockerKind::Workflow, run.to_string());
            one.workflow_id = Some(run);
            blocked_by.push(one);
        }
        let what_to_do = advice("Wait until one of those runs ends, or end one.");
        let since = self.execution.run().queued_since;
        let wait = self.of_run(WaitKind::Queued, sentence);
        Some(Wait { since, until, blocked_by, what_to_do, ..wait })
    }

    fn ending(&self) -> Vec<Wait> {
        let execution = self.execution;
        let ended = past(self.now(), execution.ended_at());
        let sentence = match execution.reason().unwrap_or_default() {
            "" => format!("It ended {ended}."),
            reason => format!("It ended {ended}: {reason}"),
        };
        let has_failed = execution.status() != Some(WorkflowStatus::Completed);
        let retry =
            || command("Try again what failed", format!("semel workflow retry {}", self.id()));
        let what_to_do = has_failed.then(retry).flatten();
        let since = Some(execution.ended_at());
        let mut told = vec![Wait { since, what_to_do, ..self.of_run(WaitKind::Ended, sentence) }];
        let is_failed =
            |task: &&Arc<Task>| !task.status.is_successful() && !task.replaced && !task.is_ahead;
        let failed = execution.tasks().filter(is_failed).take(EXPLAINED_TASKS_MAX);
        told.extend(failed.map(|task| self.failed(task)));
        told
    }

    fn failed(&self, task: &Task) -> Wait {
        let reason = task.reason.as_deref().unwrap_or("no reason was given");
        let sentence = format!(
            "{} is {} after attempt {}: {reason}",
            task.reference,
            task.status,
            task.attempt + 1
        );
        let is_unsupported = task.kind() == Kind::Absent;
        let kind = if is_unsupported { WaitKind::Unsupported } else { WaitKind::FailedTask };
        let own = "Give the step a type of your own, and let a worker do it.";
        let what_to_do: Option<WhatToDo> = is_unsupported.then(|| advice(own)).flatten();
        Wait { since: Some(task.ended_at), what_to_do, ..self.of_task(task, kind, sentence) }
    }

    /// What is worth knowing and is no wait; another kind of note is one more line here.
    fn notes(&self) -> Vec<Note> {
        self.uncounted()
            .into_iter()
            .chain(self.stale_reports())
            .chain(self.kept_answers())
            .collect()
    }

    /// Its gate does not count it, so the limit does not hold for it.
    fn uncounted(&self) -> Option<Note> {
        let why = self.execution.not_counted()?;
        let kind = NoteKind::NotCounted;
        Some(Note {
            kind,
            task_reference_name: None,
            task_id: None,
            sentence: format!("{why}, and the limit does not hold for it."),
            stale_reports: Vec::new(),
            docs: kind.docs(),
        })
    }

    /// Answers whose task is not there yet, step by step.
    fn kept_answers(&self) -> impl Iterator<Item = Note> {
        let mut by_step: BTreeMap<Option<String>, Vec<KeptAnswer>> = BTreeMap::new();
        for answer in self.execution.kept_answers(self.now()) {
            by_step.entry(answer.task_reference_name.clone()).or_default().push(answer);
        }
        by_step.into_iter().map(move |(name, answers)| {
            let what = name.as_deref().unwrap_or("The next WAIT or YIELD");
            let told = answers.iter().take(ANSWERS_MAX).map(|answer| {
                let said = past(self.now(), answer.received_at);
                let end = moment(answer.expires_at);
                format!("{}, said {said}, kept until {end}", answer.status)
            });
            let is_one = answers.len() == 1;
            let is_for_nothing = name.is_none() && !self.execution.may_still_wait();
            let prospect = match self.execution.is_closed() {
                true => "; the run is over",
                false if is_for_nothing => "; nothing is known to come that takes it",
                false => "",
            };
            let sentence = format!(
                "{what} has {} answer{} before {} task is there{}: {}.",
                answers.len(),
                if is_one { "" } else { "s" },
                if is_one { "its" } else { "their" },
                prospect,
                told.collect::<Vec<_>>().join("; ")
            );
            let kind = NoteKind::KeptAnswers;
            Note {
                kind,
                task_reference_name: name,
                task_id: None,
                sentence,
                stale_reports: Vec::new(),
                docs: kind.docs(),
            }
        })
    }

    fn stale_reports(&self) -> impl Iterator<Item = Note> {
        self.around.stale.iter().map(move |(id, reports)| {
            let task = self.execution.task(*id);
            let name = task.map_or_else(|| id.to_string(), |task| task.reference.to_string());
            let last = reports.iter().rev().take(REPORTS_MAX).map(|report| {
                let at = past(self.now(), report.at);
                format!("by {} {at}: {}", report.by, report.reason)
            });
            let sentence = format!(
                "{name} had {} report{} that {} not applied, {}.",
                reports.len(),
                if reports.len() == 1 { "" } else { "s" },
                if reports.len() == 1 { "was" } else { "were" },
                last.collect::<Vec<_>>().join("; ")
            );
            let kind = NoteKind::StaleReports;
            let (stale_reports, docs) = (reports.clone(), kind.docs());
            Note {
                kind,
                task_reference_name: Some(name),
                task_id: Some(*id),
                sentence,
                stale_reports,
                docs,
            }
        })
    }
}

impl Execution {
    /// The gate at which it waits for its turn.
    pub(super) fn queued_at(&self) -> Option<&RecordKey> {
        let place = self.run.guards.place.as_ref().filter(|place| !place.passed);
        place.map(|place| &place.gate)
    }

    /// When it gives up waiting for its turn.
    pub(super) fn queued_until(&self) -> Option<Timestamp> {
        self.run.guards.place.as_ref().filter(|place| !place.passed)?.until
    }
}
