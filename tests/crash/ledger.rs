//! # The ledger: what the server has acknowledged
//!
//! Written only when an answer has arrived: whatever is in here was promised and must survive.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use serde_json::Value;

#[derive(Default)]
pub(crate) struct Ledger {
    pages: Mutex<Pages>,
    /// Acknowledged transitions of any kind: how a run's progress is measured.
    pub(crate) transitions: AtomicUsize,
}

#[derive(Default, Clone)]
pub(crate) struct Pages {
    pub(crate) starts: Vec<Start>,
    /// By task and fence: a hand-out received twice is one hand-out.
    pub(crate) claims: BTreeMap<(String, u64), Claim>,
    pub(crate) results: Vec<Accepted>,
}

#[derive(Clone)]
pub(crate) struct Start {
    pub(crate) key: Option<String>,
    pub(crate) workflow: String,
}

#[derive(Clone)]
pub(crate) struct Claim {
    pub(crate) workflow: String,
    pub(crate) worker: String,
    /// The key its workflow was started with, as its input says.
    pub(crate) key: Option<String>,
}

/// A final report that the server did not call stale.
#[derive(Clone)]
pub(crate) struct Accepted {
    pub(crate) workflow: String,
    pub(crate) task: String,
    pub(crate) status: &'static str,
    pub(crate) output: Value,
}

impl Ledger {
    pub(crate) fn started(&self, key: Option<String>, workflow: String) {
        self.note().starts.push(Start { key, workflow });
    }

    /// Panics if one fence was given to two workers.
    pub(crate) fn claimed(&self, task: &Value, worker: &str) {
        let text = |name: &str| task[name].as_str().expect("a handed out task names it").to_owned();
        let fence = text("fenceToken").parse().expect("a fence is a number");
        let claim = Claim {
            workflow: text("workflowInstanceId"),
            worker: worker.to_owned(),
            key: task["inputData"]["key"].as_str().map(str::to_owned),
        };
        let before = self.note().claims.insert((text("taskId"), fence), claim);
        assert!(
            before.is_none_or(|before| before.worker == worker),
            "fence {fence} was given to two workers"
        );
    }

    pub(crate) fn accepted(&self, result: Accepted) {
        self.note().results.push(result);
    }

    pub(crate) fn progress(&self) -> usize {
        self.transitions.load(Ordering::Relaxed)
    }

    /// Every execution this run has heard of.
    pub(crate) fn workflows(&self) -> BTreeSet<String> {
        let pages = self.pages();
        let started = pages.starts.iter().map(|start| start.workflow.clone());
        started.chain(pages.claims.values().map(|claim| claim.workflow.clone())).collect()
    }

    pub(crate) fn copy(&self) -> Pages {
        self.pages().clone()
    }

    fn note(&self) -> MutexGuard<'_, Pages> {
        self.transitions.fetch_add(1, Ordering::Relaxed);
        self.pages()
    }

    fn pages(&self) -> MutexGuard<'_, Pages> {
        self.pages.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
