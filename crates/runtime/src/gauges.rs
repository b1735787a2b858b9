//! # Gauges: what is so at the moment somebody looks
//!
//! Counted when asked for and never before, so that nobody pays who does not look.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

use metrics::gauge;
use semel_model::Timestamp;
use semel_store::Open;

use crate::failure::Failure;
use crate::held_up::Share;
use crate::world::World;

type Labels = Vec<(&'static str, String)>;

/// What the last look showed: a queue that is empty now says 0, and does not go on as it was.
#[derive(Default)]
pub(crate) struct Shown(Mutex<BTreeMap<&'static str, BTreeMap<Labels, f64>>>);

impl Shown {
    fn show(&self, name: &'static str, now: BTreeMap<Labels, f64>) {
        let mut shown = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let before = shown.entry(name).or_default();
        for labels in before.keys().filter(|labels| !now.contains_key(*labels)) {
            gauge!(name, labels).set(0.0);
        }
        for (labels, value) in &now {
            gauge!(name, labels).set(*value);
        }
        *before = now;
    }
}

/// How long a look at what is open serves the scrapes after it.
const LOOK_LASTS_MS: i64 = 5_000;

/// What was open at the last look, by kind.
#[derive(Default)]
pub(crate) struct OpenLook(Mutex<Option<(Timestamp, BTreeMap<&'static str, Open>)>>);

impl World {
    /// What waits for somebody, by kind. The kinds are those of explanations, in lower case.
    fn open_now(&self, now: Timestamp) -> Result<BTreeMap<&'static str, Open>, Failure> {
        let mut look = self.open_look.0.lock().unwrap_or_else(PoisonError::into_inner);
        let is_fresh = |at: Timestamp| (0..LOOK_LASTS_MS).contains(&now.since_ms(at));
        if let Some((_, open)) = look.as_ref().filter(|(at, _)| is_fresh(*at)) {
            return Ok(open.clone());
        }
        let found = self.store.open_waits()?;
        let line = |kind: &str| found.lines.get(kind).copied().unwrap_or_default();
        let open = BTreeMap::from([
            ("effect_in_doubt", found.unknown),
            ("effect_waited_for", line("effect")),
            ("lock", line("lock")),
            ("queued", line("gate")),
            ("parked", found.parked),
        ]);
        *look = Some((now, open.clone()));
        Ok(open)
    }

    fn observe_open(&self) -> Result<(), Failure> {
        let now = self.store.now();
        for (kind, open) in self.open_now(now)? {
            let age_ms = open.oldest.map_or(0, |at| now.since_ms(at).max(0));
            gauge!("semel_waits_open", "kind" => kind).set(open.count as f64);
            gauge!("semel_waits_oldest_seconds", "kind" => kind).set(age_ms as f64 / 1000.0);
        }
        Ok(())
    }

    fn observe_memory(&self) {
        let (live, ended) = self.executions.kept();
        let held = [("running", live), ("ended", ended)];
        for (kind, kept) in held {
            gauge!("semel_cached_executions", "kind" => kind).set(kept.count as f64);
            gauge!("semel_memory_bytes", "kind" => kind).set(kept.bytes as f64);
        }
        let definitions = self.definitions.bytes() as f64;
        gauge!("semel_memory_bytes", "kind" => "definitions").set(definitions);
        gauge!("semel_memory_bytes", "kind" => "answers").set(self.answers.bytes() as f64);
        let budget = self.budget();
        let shares = [
            ("executions", budget.executions()),
            ("definitions", budget.definitions()),
            ("answers", budget.answers()),
            ("bodies", budget.bodies()),
        ];
        for (kind, bytes) in shares {
            gauge!("semel_memory_budget_bytes", "kind" => kind).set(bytes as f64);
        }
    }

    /// Sets every gauge. `inbox` is how many items wait for the lane.
    pub(crate) fn observe(&self, inbox: usize) -> Result<(), Failure> {
        gauge!("semel_inbox_items").set(inbox as f64);
        let (is_complete, behind) = self.dirty.lag();
        gauge!("semel_index_complete").set(f64::from(u8::from(is_complete)));
        gauge!("semel_index_commits_behind").set(behind as f64);
        gauge!("semel_waiting_polls").set(self.waiters.len() as f64);
        for share in Share::ALL {
            let waiting = self.held_up.count(share) as f64;
            gauge!("semel_http_waiting", "share" => share.name()).set(waiting);
        }
        gauge!("semel_store_trouble").set(f64::from(u8::from(self.trouble().is_some())));
        let skew_ms = self.store.clock().skew_ms().unwrap_or(0);
        gauge!("semel_clock_skew_seconds").set(skew_ms as f64 / 1000.0);
        let age_ms = self.commit_age_ms().unwrap_or(0);
        gauge!("semel_last_commit_age_seconds").set(age_ms as f64 / 1000.0);
        self.observe_memory();
        if let Some(bytes) = self.store.about()?.bytes {
            gauge!("semel_store_bytes").set(bytes as f64);
        }
        let census = self.store.census()?;
        gauge!("semel_parked_executions").set(census.parked as f64);
        let mut depth = BTreeMap::new();
        for (queue, count) in self.store.waiting()? {
            *depth.entry(self.task_type(&queue.task_type)).or_default() += count as f64;
        }
        self.shown.show("task_queue_depth", depth);
        let mut held = BTreeMap::new();
        for (task_type, count) in census.held {
            *held.entry(self.task_type(&task_type)).or_default() += count as f64;
        }
        self.shown.show("task_in_progress", held);
        let mut live = BTreeMap::new();
        for ((name, version), count) in census.live {
            let (name, version) = self.meters.version(&name, version);
            let labels = vec![("workflowName", name), ("version", version)];
            *live.entry(labels).or_default() += count as f64;
        }
        self.shown.show("workflow_running", live);
        self.observe_open()
    }

    fn task_type(&self, name: &str) -> Labels {
        vec![("taskType", self.meters.task_types.admit(name))]
    }
}
