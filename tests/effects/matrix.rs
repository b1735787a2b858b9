//! # The crash matrix: workers and the server die at every point, under every policy
//!
//! Three workflows share each order. With a far side that knows keys, nothing may happen twice,
//! whoever dies. With one that does not, nothing may happen twice either under HOLD, FAIL and PROBE:
//! what may have happened is shown as UNKNOWN until somebody who can look says whether it has.

use std::collections::BTreeMap;

use anyhow::{Context as _, Result, ensure};
use reqwest::Method;
use semel_tests::dice::Dice;
use semel_tests::postgres;
use semel_tests::process::{Caller, DEADLINE, is_full, until};
use semel_tests::site::Site;
use serde_json::{Value, json};

use crate::crew::Crew;
use crate::oracle::Oracle;

const CRASHES: u64 = 4;
const CRASHES_FULL: u64 = 25;
const CRASHES_SOAK: u64 = 500;
/// Through three nodes, which are slower.
const CRASHES_SOAK_NODES: u64 = 125;
const POLICIES: [(&str, bool); 4] =
    [("RETRY", true), ("HOLD", false), ("PROBE", false), ("FAIL", false)];
const CREW: usize = 6;
const SHARERS: usize = 3;
/// Orders that may be open at one time.
const OPEN_MAX: usize = 12;
const LEASE_S: u32 = 1;

#[test]
fn a_far_side_that_knows_keys_does_it_once_whoever_dies() -> Result<()> {
    survive(Site::alone()?, "RETRY", true, crashes())
}

#[test]
fn what_may_have_happened_is_held_until_somebody_says() -> Result<()> {
    survive(Site::alone()?, "HOLD", false, crashes())
}

#[test]
fn what_may_have_happened_is_looked_up() -> Result<()> {
    survive(Site::alone()?, "PROBE", false, crashes())
}

#[test]
fn what_may_have_happened_fails_rather_than_happen_twice() -> Result<()> {
    survive(Site::alone()?, "FAIL", false, crashes())
}

/// Workers and oracle know nothing of it: they ask one node after the other.
#[test]
#[ignore = "needs PostgreSQL; run by ./check full"]
fn nothing_happens_twice_through_three_nodes() -> Result<()> {
    survive_on_three_nodes(crashes())
}

#[test]
#[ignore = "two thousand crashes: ./check soak effects"]
fn soak_nothing_happens_twice() -> Result<()> {
    POLICIES
        .into_iter()
        .try_for_each(|(policy, keyed)| survive(Site::alone()?, policy, keyed, CRASHES_SOAK))
}

#[test]
#[ignore = "five hundred crashes, needs PostgreSQL: ./check soak effects"]
fn soak_nothing_happens_twice_through_three_nodes() -> Result<()> {
    survive_on_three_nodes(CRASHES_SOAK_NODES)
}

fn survive_on_three_nodes(crashes: u64) -> Result<()> {
    POLICIES.into_iter().try_for_each(|(policy, keyed)| {
        let site = Site::cluster(&postgres::shared().database()?)?;
        survive(site, policy, keyed, crashes)
    })
}

fn crashes() -> u64 {
    let given = std::env::var("SEMEL_CRASHES").ok();
    let given = given.map(|crashes| crashes.parse().expect("SEMEL_CRASHES is a whole number"));
    given.unwrap_or(if is_full() { CRASHES_FULL } else { CRASHES })
}

/// Starts orders, three workflows each, until so many have died, and as many servers among them as
/// there are; then everything must end.
fn survive(mut site: Site, policy: &str, keyed: bool, crashes: u64) -> Result<()> {
    let directory = tempfile::tempdir()?;
    let oracle = Oracle::start(directory.path())?;
    let caller = site.caller()?;
    define(&caller, policy, LEASE_S)?;
    let mut dice = Dice::thrown();
    let mut crew = Crew::hire(&site.addresses(), &oracle.address, keyed, CREW, dice.fork())?;
    let mut runs: BTreeMap<String, Vec<String>> = BTreeMap::new();
    let mut open: Vec<String> = Vec::new();
    let (mut kills, kills_min) = (0, u64::try_from(site.addresses().len())?);
    while crew.deaths + kills < crashes || kills < kills_min {
        if open.len() < OPEN_MAX {
            let order = format!("{policy}-{}", runs.len());
            let ids = start(&caller, &order)?;
            open.push(order.clone());
            runs.insert(order, ids);
        }
        let is_due = kills * crashes < kills_min * crew.deaths;
        if is_due || dice.once_in(8 * CREW as u64) {
            site.any(&mut dice).restart()?;
            kills += 1;
        }
        crew.look(true)?;
        if policy == "HOLD" {
            resolve(&caller, &oracle)?;
        }
        open.retain(|order| !all_over(&caller, &runs[order]));
    }
    let ended = until("every workflow has ended", 3 * DEADLINE, || {
        let step = crew.look(false).and_then(|()| match policy {
            "HOLD" => resolve(&caller, &oracle),
            _ => Ok(()),
        });
        if let Err(error) = step {
            return Some(Err(error));
        }
        open.retain(|order| !all_over(&caller, &runs[order]));
        open.is_empty().then_some(Ok(()))
    });
    ended.with_context(|| shown(&caller, &open, &runs)).and_then(|ended| ended)?;
    eprintln!(
        "{policy}: {} workers and {kills} servers died over {} orders",
        crew.deaths,
        runs.len()
    );
    judge(policy, &caller, &oracle, &runs)?;
    drop(crew);
    site.stop()
}

fn start(caller: &Caller, order: &str) -> Result<Vec<String>> {
    let start = |n| {
        let body = json!({"name": "checkout", "input": {"order": order},
            "idempotencyKey": format!("{order}/{n}"), "idempotencyStrategy": "RETURN_EXISTING"});
        let answer = caller.insist(Method::POST, "/api/workflow", Some(&body))?;
        ensure!(answer.status == 200, "a start was answered {answer:?}");
        Ok(answer.body)
    };
    (0..SHARERS).map(start).collect()
}

fn all_over(caller: &Caller, ids: &[String]) -> bool {
    ids.iter().all(|id| {
        let answer = caller.get(&format!("/api/workflow/{id}/status"));
        answer.is_ok_and(|answer| answer.status == 200 && answer.json()["status"] != "RUNNING")
    })
}

/// What is in doubt is settled by somebody who looks at the far side, as a person would.
fn resolve(caller: &Caller, oracle: &Oracle) -> Result<()> {
    let path = "/api/effects?scope=charge&state=UNKNOWN";
    let answer = caller.insist(Method::GET, path, None)?;
    ensure!(answer.status == 200, "{path}: {answer:?}");
    let doubtful = answer.json();
    for record in doubtful["results"].as_array().into_iter().flatten() {
        let key = record["key"].as_str().context("a record has its key")?;
        let body = match oracle.look(key)? {
            Some(effect) => json!({"applied": true, "output": {"effect": effect}, "by": "ann"}),
            None => json!({"applied": false, "by": "ann"}),
        };
        let path = format!("/api/effects/charge/{key}/resolve");
        let answer = caller.insist(Method::POST, &path, Some(&body))?;
        // Somebody's late report may have settled it meanwhile.
        ensure!(matches!(answer.status, 200 | 409), "{path}: {answer:?}");
    }
    Ok(())
}

fn judge(
    policy: &str,
    caller: &Caller,
    oracle: &Oracle,
    runs: &BTreeMap<String, Vec<String>>,
) -> Result<()> {
    let effects = oracle.effects()?;
    for (order, ids) in runs {
        let happened = effects.get(order).map_or(0, Vec::len);
        ensure!(happened <= 1, "{order} happened {happened} times");
        let mut outputs = Vec::new();
        for id in ids {
            let run = caller.get(&format!("/api/workflow/{id}"))?.json();
            let verified = caller.ask(Method::POST, &format!("/api/workflow/{id}/verify"), None)?;
            ensure!(verified.status == 200, "workflow {id} does not verify: {verified:?}");
            match run["status"].as_str() {
                Some("COMPLETED") => outputs.push(run["output"]["effect"].clone()),
                Some("FAILED") if policy == "FAIL" => {}
                _ => anyhow::bail!("{order}: {run}"),
            }
        }
        ensure!(outputs.windows(2).all(|pair| pair[0] == pair[1]), "{order}: {outputs:?}");
        if let Some(told) = outputs.first() {
            ensure!(happened == 1, "{order} is completed and never happened");
            ensure!(*told == json!(effects[order][0]), "{order}: {told} is not what happened");
        }
    }
    Ok(())
}

fn shown(caller: &Caller, open: &[String], runs: &BTreeMap<String, Vec<String>>) -> String {
    let first = open.first().and_then(|order| runs.get(order)).into_iter().flatten();
    let shown: Vec<_> =
        first.map(|id| caller.get(&format!("/api/workflow/{id}")).map(|it| it.body)).collect();
    let ledger = caller.get("/api/effects?scope=charge").map(|it| it.body);
    format!("{} orders are open, the first is {shown:?}; effects {ledger:?}", open.len())
}

/// A workflow that charges once for an order, however many of it there are.
pub(crate) fn define(caller: &Caller, on_unknown: &str, lease_s: u32) -> Result<()> {
    let task = |name: &str| {
        json!({"name": name, "responseTimeoutSeconds": lease_s, "retryCount": 20,
            "retryDelaySeconds": 0, "timeoutPolicy": "RETRY"})
    };
    let mut effect = json!({"mode": "ONCE", "key": "${order}", "onUnknown": on_unknown});
    if on_unknown == "PROBE" {
        effect["probe"] = json!({"name": "find_effect", "taskReferenceName": "find_effect",
            "type": "SIMPLE", "inputParameters": {"order": "${workflow.input.order}"}});
    }
    let charge = json!({"name": "charge", "taskReferenceName": "charge", "type": "SIMPLE",
        "inputParameters": {"order": "${workflow.input.order}"}, "effect": effect});
    let workflow: Value = json!({"name": "checkout", "version": 1, "schemaVersion": 2,
        "tasks": [charge], "outputParameters": {"effect": "${charge.output.effect}"}});
    for (path, body) in [
        ("/api/metadata/taskdefs", json!([task("charge"), task("find_effect")])),
        ("/api/metadata/workflow", workflow),
    ] {
        let answer = caller.post(path, &body)?;
        ensure!(answer.status == 200, "{path}: {answer:?}");
    }
    Ok(())
}
