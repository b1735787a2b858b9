//! # Explaining: what has to be read before the engine can say why a run waits
//!
//! Plain reads, nothing is held: what is told was so a moment ago. **May not:** find reasons; that is
//! the engine's (`explain.rs` there).

use std::collections::BTreeMap;

use semel_engine::{
    Delivery, InLine, Letter, LimitState, Message, MessageRow, Needs, RecordKey, Surroundings,
    explain, needs,
};
use semel_model::{ExecutionId, Explanation, TaskId};
use semel_store::Place;

use crate::failure::Failure;
use crate::reading::Snapshot;
use crate::runtime::Runtime;
use crate::world::World;

/// The queue of the worker of our own.
const HTTP: &str = "HTTP";

/// How far down children are asked for their own reason.
const DEPTH_MAX: u32 = 5;

/// Children of the run itself that are asked; below, the first reason is enough.
const CHILDREN_MAX: usize = 20;

/// Of a line so many are looked at for a place in it.
const LINE_MAX: usize = 10_000;

impl Runtime {
    /// Why a run waits, or how it ended; none: there is no such run.
    pub async fn explain(&self, id: ExecutionId) -> Result<Option<Explanation>, Failure> {
        self.blocking(move |world| world.explain(id, 0)).await
    }
}

impl World {
    fn explain(&self, id: ExecutionId, depth: u32) -> Result<Option<Explanation>, Failure> {
        let Some(found) = self.read(id)? else { return Ok(None) };
        let needed = needs(&found.execution);
        let mut around = Surroundings { now: self.store.now(), ..Surroundings::default() };
        self.look_at_workers(&found, &needed, &mut around)?;
        for key in &needed.records {
            around.records.extend(self.store.record(key)?.map(|record| (key.clone(), record)));
            around.lines.insert(key.clone(), self.line(key)?);
        }
        let children_max = if depth == 0 { CHILDREN_MAX } else { 1 };
        if depth < DEPTH_MAX {
            for child in needed.children.iter().take(children_max) {
                around.children.insert(*child, self.explain(*child, depth + 1)?);
            }
        }
        if depth == 0 {
            around.stale = self.stale_reports(id)?.into_iter().collect();
        }
        around.parked.clone_from(&found.head.parked);
        around.held_up = self.held_up_in(&found);
        let rows = found.deliveries.into_iter();
        around.deliveries = rows.map(|row| (row.task, row)).collect();
        Ok(Some(explain(&found.execution, &around)))
    }

    /// Who polls for the tasks that are offered, and what limits them.
    fn look_at_workers(
        &self,
        found: &Snapshot,
        needed: &Needs,
        around: &mut Surroundings,
    ) -> Result<(), Failure> {
        let is_free = |task: &TaskId| needed.offered.contains(task);
        let rows = found.deliveries.iter().filter(|row| !row.hand_out.leased && is_free(&row.task));
        let rows: Vec<_> = rows.collect();
        if rows.is_empty() {
            return Ok(());
        }
        around.polls = self.poll_data();
        around.waiting = self.waiting()?;
        let mut limits: BTreeMap<String, LimitState> = BTreeMap::new();
        for row in rows {
            let task_type = &row.queue.task_type;
            let of_type = self.limits_of(row)?;
            if limits.contains_key(task_type) || of_type.is_unlimited() {
                continue;
            }
            let used = self.store.limit(task_type)?;
            let (window, in_flight) = (used.window, used.in_flight);
            limits.insert(task_type.clone(), LimitState { limits: of_type, window, in_flight });
        }
        around.limits = limits;
        Ok(())
    }

    /// Tasks that a worker of our own lets wait, and why.
    fn held_up_in(&self, found: &Snapshot) -> BTreeMap<TaskId, String> {
        let rows = found.deliveries.iter().filter(|row| row.queue.task_type == HTTP);
        let why = |row: &Delivery| {
            let place = Place { execution: row.execution, task: row.task };
            Some((row.task, self.held_up.why(place, row.definition, row.hand_out.leased)?))
        };
        rows.filter_map(why).collect()
    }

    fn line(&self, key: &RecordKey) -> Result<Vec<InLine>, Failure> {
        let rows = self.store.line(key, LINE_MAX)?;
        Ok(rows.iter().filter_map(in_line).collect())
    }
}

/// Somebody in a line is a message to itself that the record holds back.
fn in_line(row: &MessageRow) -> Option<InLine> {
    match Letter::decode(&row.body).ok()?.message {
        Message::YourTurn { task, .. } => Some(InLine { run: row.key.from, task }),
        _ => None,
    }
}
