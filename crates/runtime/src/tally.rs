//! # The tally: what a round did, counted
//!
//! Kept with the layers it comes from and told to the meters after the commit: what did not happen
//! is not counted. The engine knows nothing of it.

use std::collections::BTreeMap;

use semel_engine::{Change, Decision, Delivery, Event, Execution, Queue, Record};
use semel_model::{TaskId, TaskStatus, Timestamp};

use crate::alarms::{Alarm, alarms_of};
use crate::stale::LateReport;

#[derive(Default)]
pub(crate) struct Tally {
    /// Runs that began, by name and version.
    pub(crate) begun: BTreeMap<(String, i32), u64>,
    /// How long runs took that ended, by name and how they ended.
    pub(crate) ended: BTreeMap<(String, &'static str), Vec<f64>>,
    /// How long tasks had been ready that were handed out.
    pub(crate) handed: BTreeMap<Queue, Vec<f64>>,
    /// How long workers had tasks that are closed now, by type and how they ended.
    pub(crate) closed: BTreeMap<(String, &'static str), Vec<f64>>,
    /// Tasks that took too long, by type.
    pub(crate) timed_out: BTreeMap<String, u64>,
    /// Tasks whose worker fell silent, by type.
    pub(crate) lapsed: BTreeMap<String, u64>,
    /// Runs that began and that their gate does not count, by name.
    pub(crate) uncounted: BTreeMap<String, u64>,
    /// What was decided on effects, by what it is called.
    pub(crate) effects: BTreeMap<&'static str, u64>,
    /// Executions that were parked.
    pub(crate) parked: u64,
    /// Runs that were not begun, because too many of their lineage are open.
    pub(crate) crowded: u64,
    /// Items that needed more rows than were held.
    pub(crate) misses: u64,
    /// Reports that did not count.
    pub(crate) stale: Vec<LateReport>,
    /// What somebody should look at.
    pub(crate) alarms: Vec<Alarm>,
}

impl Tally {
    /// What one decision did to one execution. `rows` are the deliveries it was decided on.
    pub(crate) fn of(
        after: &Execution,
        event: &Event,
        decision: &Decision,
        rows: &BTreeMap<TaskId, Option<Delivery>>,
    ) -> Self {
        let crowded = u64::from(decision.used.descendants.is_some());
        let mut tally = Self { alarms: alarms_of(after, decision), crowded, ..Self::default() };
        let definition = after.definition().definition();
        for change in &decision.changes {
            match change {
                Change::Started { .. } => {
                    let key = (definition.name.clone(), definition.version);
                    *tally.begun.entry(key).or_default() += 1;
                    if after.not_counted().is_some() {
                        *tally.uncounted.entry(definition.name.clone()).or_default() += 1;
                    }
                }
                Change::ExecutionClosed { status, .. } => {
                    let took = seconds(after.started_at(), decision.at);
                    tally
                        .ended
                        .entry((definition.name.clone(), status.as_str()))
                        .or_default()
                        .push(took);
                }
                Change::TaskClosed { task, status, hand_out, .. } => {
                    let Some(task) = after.task(*task) else { continue };
                    let task_type = task.step.task_type();
                    if hand_out.started_at.is_set() {
                        let took = seconds(hand_out.started_at, decision.at);
                        let key = (task_type.to_owned(), status.as_str());
                        tally.closed.entry(key).or_default().push(took);
                    }
                    if *status == TaskStatus::TimedOut {
                        tally.time_out(task_type, is_lapse(event, task.id, rows, decision.at));
                    }
                }
                Change::Guarded { scope, record: Some(record), .. }
                    if scope.starts_with("effect:") =>
                {
                    tally.note_effects(record);
                }
                Change::TaskAlerted { task, .. } => {
                    if let Some(task) = after.task(*task) {
                        tally.time_out(task.step.task_type(), false);
                    }
                }
                _ => {}
            }
        }
        tally
    }

    /// A record tells by its ring what this decision did to it.
    fn note_effects(&mut self, record: &Record) {
        for decided in &record.detail.ring {
            let outcome = match decided.outcome.as_str() {
                "CLAIMED" | "REDONE" => "claimed",
                "REPLAYED" if decided.mismatch => "mismatched",
                "REPLAYED" => "replayed",
                "WAITED" => "attached",
                "REJECTED" if decided.mismatch => "mismatched",
                "REJECTED" => "rejected",
                "UNKNOWN" => "unknown",
                _ => continue,
            };
            *self.effects.entry(outcome).or_default() += 1;
        }
    }

    fn time_out(&mut self, task_type: &str, lapsed: bool) {
        let counts = if lapsed { &mut self.lapsed } else { &mut self.timed_out };
        *counts.entry(task_type.to_owned()).or_default() += 1;
    }

    pub(crate) fn hand_out(&mut self, row: &Delivery, now: Timestamp) {
        let waited = seconds(row.ready_at, now);
        match self.handed.get_mut(&row.queue) {
            Some(waits) => waits.push(waited),
            None => drop(self.handed.insert(row.queue.clone(), vec![waited])),
        }
    }

    pub(crate) fn absorb(&mut self, other: Self) {
        add(&mut self.begun, other.begun);
        add(&mut self.uncounted, other.uncounted);
        add(&mut self.timed_out, other.timed_out);
        add(&mut self.lapsed, other.lapsed);
        append(&mut self.ended, other.ended);
        append(&mut self.handed, other.handed);
        append(&mut self.closed, other.closed);
        add(&mut self.effects, other.effects);
        self.parked += other.parked;
        self.misses += other.misses;
        self.crowded += other.crowded;
        self.stale.extend(other.stale);
        self.alarms.extend(other.alarms);
    }
}

/// The worker's lease ran out, and not the time the task itself may take.
fn is_lapse(
    event: &Event,
    task: TaskId,
    rows: &BTreeMap<TaskId, Option<Delivery>>,
    at: Timestamp,
) -> bool {
    let Event::Expired { task: expired } = event else { return false };
    let Some(row) = rows.get(&task).and_then(Option::as_ref) else { return false };
    let over = |until: Option<Timestamp>| until.is_some_and(|until| until <= at);
    let held = &row.hand_out;
    *expired == task && held.leased && over(held.lease_until) && !over(held.run_until)
}

fn seconds(from: Timestamp, to: Timestamp) -> f64 {
    to.since_ms(from).max(0) as f64 / 1000.0
}

fn add<K: Ord>(sum: &mut BTreeMap<K, u64>, more: BTreeMap<K, u64>) {
    more.into_iter().for_each(|(key, count)| *sum.entry(key).or_default() += count);
}

fn append<K: Ord>(all: &mut BTreeMap<K, Vec<f64>>, more: BTreeMap<K, Vec<f64>>) {
    more.into_iter().for_each(|(key, values)| all.entry(key).or_default().extend(values));
}
