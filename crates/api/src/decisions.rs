//! # Decisions: what an entry of a journal decided about repeats, in words
//!
//! The changes of an entry say it all, for programs. Whoever reads the log wants to know why nothing
//! was sent, whose answer a task was given, or who wanted something once more.

use semel_engine::{
    AnswerChange, Change, Decided, EFFECT_SCOPE, EffectStatus, Entry, LOCK_SCOPE, Once, Parent,
};
use semel_model::TaskId;

/// What is told of an entry; most entries decide nothing of the kind.
pub(crate) fn decisions(entry: &Entry) -> Vec<String> {
    entry.changes.iter().filter_map(told).collect()
}

fn told(change: &Change) -> Option<String> {
    match change {
        Change::EffectNoted { task, once, reason, .. } => noted(*task, once, reason.as_deref()),
        Change::Guarded { scope, key, record, .. } => {
            let decided = record.as_ref()?.detail.ring.last()?;
            settled(&effect(scope, key)?, decided)
        }
        Change::EffectsRedone { tasks: None } => {
            Some("all effects of the run are wanted once more (redoEffects)".to_owned())
        }
        Change::EffectsRedone { tasks: Some(tasks) } => {
            let tasks = tasks.join(", ");
            Some(format!("the effects of {tasks} are wanted once more (redoEffects)"))
        }
        Change::ChildAttached { task, child, observed: true, mismatch, .. } => {
            let other = if *mismatch { ", started with another payload" } else { "" };
            Some(format!(
                "task {task} is attached to run {child}, which exists under its key{other}"
            ))
        }
        Change::TaskReset { task, .. } => {
            Some(format!("task {task} is reset: nothing of what it did before counts"))
        }
        Change::Awaits { task: Some(task), scope, key, .. } if scope == LOCK_SCOPE => {
            Some(format!("task {task} waits in line for lock {key}"))
        }
        Change::Queued { key, blocked_by, .. } => {
            let behind = blocked_by.map(|run| format!(" behind run {run}")).unwrap_or_default();
            Some(format!("the run waits for its place{behind}, concurrency key '{key}'"))
        }
        Change::Answer(change) => Some(early(change)),
        _ => None,
    }
}

/// What became of an answer whose task was not there yet.
fn early(change: &AnswerChange) -> String {
    match change {
        AnswerChange::Kept { reference, progress, until, .. } => {
            let of = reference.as_deref().unwrap_or("the next WAIT or YIELD");
            let (status, until) = (progress.status, until.ms());
            format!("the answer {status} is kept until {until} for {of}, which is not there yet")
        }
        AnswerChange::Taken { number, task } => {
            format!("task {task} takes the answer that entry {number} kept")
        }
        AnswerChange::Dropped { numbers } => {
            format!("{} answers were kept too long and count no more", numbers.len())
        }
        AnswerChange::Unneeded { .. } => {
            "a signal that a run below gave back is not needed here either: it is kept to be seen"
                .to_owned()
        }
        AnswerChange::Returned { numbers, to } => {
            format!("{} signals were not needed, and go back to run {to}", numbers.len())
        }
    }
}

fn noted(task: TaskId, once: &Once, reason: Option<&str>) -> Option<String> {
    let effect = effect(&once.scope, &once.key)?;
    let by = once.owner.as_ref().map(owner).unwrap_or_default();
    let other = if once.mismatch { "; it asked for something else" } else { "" };
    match once.status {
        EffectStatus::Claimed => None,
        EffectStatus::Waiting => Some(format!("task {task} waits for effect {effect}{by}")),
        EffectStatus::Replayed => {
            Some(format!("task {task} is given what effect {effect} came to{by}{other}"))
        }
        EffectStatus::Unknown => {
            let why = reason.map(|why| format!(": {why}")).unwrap_or_default();
            Some(format!("task {task}: nobody knows whether effect {effect} has happened{why}"))
        }
    }
}

/// What became of the record of an effect.
fn settled(effect: &str, decided: &Decided) -> Option<String> {
    let by = &decided.by;
    Some(match decided.outcome.as_str() {
        "RESOLVED" => format!("effect {effect} is not in doubt any more: {by} has said so"),
        "REDONE" => format!("effect {effect} is done once more, by {by}"),
        "RELEASED" => format!("effect {effect} has not happened and is given up by {by}"),
        "REJECTED" => format!("effect {effect} is refused to {by}"),
        _ => return None,
    })
}

fn owner(owner: &Parent) -> String {
    format!(", by task {} of run {}", owner.task, owner.execution)
}

/// An effect as people know it.
fn effect(scope: &str, key: &str) -> Option<String> {
    Some(format!("{}/{key}", scope.strip_prefix(EFFECT_SCOPE)?))
}
