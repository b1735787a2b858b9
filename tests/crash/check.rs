//! # Checking: is everything there that was promised, and nothing twice?

use std::collections::{BTreeMap, BTreeSet};

use anyhow::{Context as _, Result, ensure};
use reqwest::Method;
use semel_tests::process::{Caller, DEADLINE, until};
use serde_json::Value;

use crate::ledger::{Ledger, Pages};

/// Waits until every execution the ledger has heard of is COMPLETED.
pub(crate) fn await_completion(caller: &Caller, ledger: &Ledger) -> Result<()> {
    let mut done = BTreeSet::new();
    let mut open = BTreeSet::new();
    let all_done = until("every workflow is COMPLETED", 3 * DEADLINE, || {
        open = ledger.workflows().difference(&done).cloned().collect();
        let is_done = |id: &&String| {
            let answer = caller.get(&format!("/api/workflow/{id}/status"));
            answer.is_ok_and(|answer| answer.json()["status"] == "COMPLETED")
        };
        done.extend(open.iter().filter(is_done).cloned().collect::<Vec<_>>());
        ledger.workflows().is_subset(&done).then_some(())
    });
    all_done.with_context(|| {
        let first = open.iter().next().cloned().unwrap_or_default();
        let shown = caller.get(&format!("/api/workflow/{first}")).map(|answer| answer.body);
        format!("{} are open, the first is {shown:?}", open.len())
    })
}

/// Holds every page of the ledger against what the server says now.
pub(crate) fn promises(caller: &Caller, ledger: &Ledger) -> Result<()> {
    let pages = ledger.copy();
    let mut tasks = BTreeMap::new();
    for id in ledger.workflows() {
        let answer = caller.get(&format!("/api/workflow/{id}"))?;
        ensure!(answer.status == 200, "workflow {id} is lost: {answer:?}");
        for task in answer.json()["tasks"].as_array().into_iter().flatten() {
            let task_id = task["taskId"].as_str().unwrap_or_default().to_owned();
            tasks.insert(task_id, task.clone());
        }
        let verified = caller.ask(Method::POST, &format!("/api/workflow/{id}/verify"), None)?;
        ensure!(verified.status == 200, "workflow {id} does not verify: {verified:?}");
    }
    results_stand(&pages, &tasks)?;
    claims_stand(&pages, &tasks)?;
    keys_name_one(caller, &pages)?;
    eprintln!(
        "{} starts, {} claims and {} results were acknowledged and stand",
        pages.starts.len(),
        pages.claims.len(),
        pages.results.len()
    );
    Ok(())
}

fn results_stand(pages: &Pages, tasks: &BTreeMap<String, Value>) -> Result<()> {
    let mut accepted = BTreeMap::new();
    for result in &pages.results {
        let before = accepted.insert(&result.task, &result.output);
        ensure!(before.is_none(), "task {} took two results", result.task);
        let task = tasks.get(&result.task).with_context(|| format!("{} is lost", result.task))?;
        ensure!(task["workflowInstanceId"] == result.workflow.as_str(), "{task} has moved");
        ensure!(
            task["status"] == result.status && task["outputData"] == result.output,
            "{} {} was acknowledged, found {task}",
            result.status,
            result.output
        );
    }
    Ok(())
}

fn claims_stand(pages: &Pages, tasks: &BTreeMap<String, Value>) -> Result<()> {
    let mut by_task: BTreeMap<&String, Vec<&str>> = BTreeMap::new();
    for ((task, _), claim) in &pages.claims {
        by_task.entry(task).or_default().push(&claim.worker); // In the order of their fences.
    }
    for (id, workers) in by_task {
        let task = tasks.get(id).with_context(|| format!("claimed task {id} is lost"))?;
        let polls = task["pollCount"].as_u64().unwrap_or(0);
        let claims = workers.len() as u64;
        ensure!(polls >= claims, "{claims} claims of {task} were acknowledged");
        // More polls than claims: an answer was lost, and somebody unknown may have taken over.
        let last = workers.last().copied().unwrap_or_default();
        ensure!(polls > claims || task["workerId"] == last, "{last} was given {task}");
    }
    Ok(())
}

fn keys_name_one(caller: &Caller, pages: &Pages) -> Result<()> {
    let mut by_key: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    let starts = pages.starts.iter().filter_map(|it| Some((it.key.as_ref()?, &it.workflow)));
    let claims = pages.claims.values().filter_map(|it| Some((it.key.as_ref()?, &it.workflow)));
    for (key, workflow) in starts.chain(claims) {
        by_key.entry(key).or_default().insert(workflow);
    }
    for (key, workflows) in by_key {
        ensure!(workflows.len() == 1, "key {key} has {workflows:?}");
        for id in workflows {
            let found = caller.get(&format!("/api/workflow/{id}?includeTasks=false"))?.json();
            ensure!(found["idempotencyKey"] == key, "{id} was started with {key}: {found}");
        }
    }
    Ok(())
}
