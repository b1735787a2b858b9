//! # Cycles of locks: runs that would wait for each other for ever
//!
//! The record of a lock says which locks the run that has it waits for. Whoever begins to wait, or is
//! given one lock while it waits for another, brings that up to date in the same commit and follows
//! it from lock to lock, on rows that are held: whoever closes a circle finds it, and fails. A lock
//! with a lease ends by itself and closes no circle.

use std::collections::BTreeSet;
use std::sync::Arc;

use semel_model::{ExecutionId, Payload, TaskStatus, lock_name};

use crate::decide::{Rows, Stop};
use crate::kinds::Kind;
use crate::record::{Record, RecordKey, RecordState};
use crate::task::Task;
use crate::turn::Turn;

/// Locks that are looked at in search of a circle.
const LOCKS_MAX: usize = 16;

impl Turn<'_> {
    /// Says in the records of its locks what this run waits for. True: it closed a circle, and a task
    /// of it has failed.
    pub(crate) fn tell_of_waits(&mut self) -> Result<bool, Stop> {
        let guards = &self.execution().run().guards;
        if guards.locks.is_empty() || !self.execution().is_live() {
            return Ok(false);
        }
        let waiting = self.waiting_for_locks();
        let awaited: BTreeSet<String> = waiting.iter().map(|(name, _)| name.clone()).collect();
        let awaited: Vec<String> = awaited.into_iter().collect();
        let told = |name: &String| guards.waits.get(name).map_or(&[][..], Vec::as_slice);
        let outdated: Vec<String> =
            guards.locks.iter().filter(|name| told(name) != awaited).cloned().collect();
        let own = self.own_locks(&outdated)?;
        if !self.missing.is_empty() || own.is_empty() {
            return Ok(false);
        }
        for (key, mut record) in own {
            record.detail.awaits.clone_from(&awaited);
            self.put_guard(&key, Some(record));
        }
        for (name, task) in waiting {
            if let Some(why) = self.circle(&name)? {
                let status = TaskStatus::FailedWithTerminalError;
                self.end_system(task.id, status, Payload::empty(), Some(why));
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// The locks that open tasks of this run wait for.
    fn waiting_for_locks(&self) -> Vec<(String, Arc<Task>)> {
        let locks = &self.execution().run().guards.locks;
        let is_waiting = |task: &&Arc<Task>| {
            task.kind() == Kind::AcquireLock && task.status == TaskStatus::InProgress
        };
        let open = self.execution().open_tasks().filter(is_waiting);
        let named = open.filter_map(|task| {
            let name = lock_name(&task.input.value()).ok()?;
            Some((name, Arc::clone(task)))
        });
        named.filter(|(name, _)| !locks.contains(name)).collect()
    }

    /// Those of these locks that are still this run's. All that have to be held are named at once.
    fn own_locks(&mut self, names: &[String]) -> Result<Vec<(RecordKey, Record)>, Stop> {
        let run = self.execution().id();
        let mut own = Vec::new();
        for name in names {
            let key = RecordKey::lock(name);
            match self.guard(&key) {
                Ok(Some(record)) if holder(&record) == Some(run) => own.push((key, record)),
                Ok(_) => {}
                Err(Stop::Miss(Rows::Guard(key))) => self.missing.push(key),
                Err(stop) => return Err(stop),
            }
        }
        Ok(own)
    }

    /// Whether whoever waits for that lock waits for this run in the end, and by which way.
    fn circle(&mut self, name: &str) -> Result<Option<String>, Stop> {
        let own = self.execution().id();
        let mut seen = BTreeSet::new();
        let mut ways = vec![(name.to_owned(), format!("this run waits for lock {name}"))];
        while let Some((name, way)) = ways.pop() {
            if seen.len() >= LOCKS_MAX || !seen.insert(name.clone()) {
                continue;
            }
            let record = self.guard(&RecordKey::lock(&name))?;
            let Some((record, run)) = record.and_then(|it| holder(&it).map(|run| (it, run))) else {
                continue;
            };
            if run == own && seen.len() == 1 {
                continue; // It was just given to this run, which has not heard of it.
            }
            if run == own {
                return Ok(Some(format!("deadlock: {way}, which this run has")));
            }
            let further = record.detail.awaits.iter();
            ways.extend(further.map(|next| {
                (
                    next.clone(),
                    format!("{way}, which run {run} has; that one waits for lock {next}"),
                )
            }));
        }
        Ok(None)
    }
}

/// The run that has the lock until it gives it back.
fn holder(record: &Record) -> Option<ExecutionId> {
    let lasts = record.state == RecordState::Claimed && record.detail.lease_until.is_none();
    record.run.filter(|_| lasts)
}
