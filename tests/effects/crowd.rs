//! # A crowd: two hundred workflows, one order, twenty workers, one charge

use std::collections::BTreeSet;

use anyhow::{Result, ensure};
use semel_tests::postgres;
use semel_tests::process::{Caller, DEADLINE, until};
use semel_tests::site::Site;
use serde_json::json;

use crate::matrix::define;
use crate::oracle::Oracle;
use crate::worker::Worker;

const WORKFLOWS: usize = 200;
const WORKERS: usize = 20;

#[test]
fn two_hundred_workflows_with_one_key_have_one_effect() -> Result<()> {
    crowd(Site::alone()?)
}

#[test]
#[ignore = "needs PostgreSQL; run by ./check full"]
fn two_hundred_workflows_with_one_key_have_one_effect_through_three_nodes() -> Result<()> {
    crowd(Site::cluster(&postgres::shared().database()?)?)
}

fn crowd(site: Site) -> Result<()> {
    let directory = tempfile::tempdir()?;
    let oracle = Oracle::start(directory.path())?;
    let caller = site.caller()?;
    define(&caller, "RETRY", 600)?;
    let ids: Vec<String> = (0..WORKFLOWS)
        .map(|_| Ok(caller.post("/api/workflow/checkout", &json!({"order": "9243"}))?.body))
        .collect::<Result<_>>()?;
    std::thread::scope(|scope| -> Result<()> {
        let workers: Vec<_> = (0..WORKERS)
            .map(|n| {
                scope.spawn({
                    let (caller, oracle, ids) = (&caller, &oracle, &ids);
                    move || work(caller, oracle, ids, n)
                })
            })
            .collect();
        workers.into_iter().try_for_each(|worker| worker.join().expect("it did not panic"))
    })?;
    let effects = oracle.effects()?;
    ensure!(effects.len() == 1 && effects["9243"].len() == 1, "it happened {effects:?}");
    let mut statuses = Vec::new();
    let mut outputs = BTreeSet::new();
    for id in &ids {
        let run = caller.get(&format!("/api/workflow/{id}"))?.json();
        ensure!(run["status"] == "COMPLETED", "{run}");
        statuses.push(run["tasks"][0]["effectStatus"].as_str().unwrap_or_default().to_owned());
        outputs.insert(run["tasks"][0]["outputData"].to_string());
    }
    ensure!(outputs.len() == 1, "they were told different things: {outputs:?}");
    let replayed = statuses.iter().filter(|status| *status == "REPLAYED").count();
    ensure!(replayed == WORKFLOWS - 1, "{replayed} were replayed: {statuses:?}");
    site.stop()
}

/// Until every workflow has ended.
fn work(server: &Caller, oracle: &Oracle, ids: &[String], n: usize) -> Result<()> {
    let worker = Worker {
        server: server.clone(),
        oracle: Caller::new(oracle.address.parse()?)?,
        name: format!("w{n}"),
        keyed: false,
    };
    until("every workflow has ended", 2 * DEADLINE, || {
        let worked = worker.turn("charge");
        let is_over = |id: &String| {
            let answer = server.get(&format!("/api/workflow/{id}/status"));
            answer.is_ok_and(|answer| answer.json()["status"] != "RUNNING")
        };
        match worked {
            Ok(true) => None,
            Ok(false) => ids.iter().all(is_over).then_some(Ok(())),
            Err(error) => Some(Err(error)),
        }
    })?
}
