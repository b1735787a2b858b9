//! # A worker: naive, and mortal
//!
//! It polls, makes the effect happen, and reports; it keeps no ledger of its own. One of its tasks
//! kills it, at a point its dice choose. As a process of its own it really dies.

use anyhow::{Context as _, Result, bail, ensure};
use semel_tests::dice::Dice;
use semel_tests::process::Caller;
use serde_json::{Value, json};

/// Where a worker ends its life.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Death {
    BeforeEffect,
    AfterEffect,
    AfterReport,
}

pub(crate) struct Worker {
    pub(crate) server: Caller,
    pub(crate) oracle: Caller,
    pub(crate) name: String,
    /// It sends the task's effect key to a far side that knows keys.
    pub(crate) keyed: bool,
}

impl Worker {
    /// Polls once; what it was given it does. True: there was something.
    pub(crate) fn turn(&self, task_type: &str) -> Result<bool> {
        Ok(self.take(task_type)?.map(|task| self.work(&task, None)).transpose()?.is_some())
    }

    fn take(&self, task_type: &str) -> Result<Option<Value>> {
        let path = format!("/api/tasks/poll/{task_type}?workerid={}&timeout=50", self.name);
        let answer = self.server.get(&path)?;
        match answer.status {
            200 => Ok(Some(answer.json())),
            204 => Ok(None),
            429 | 503 => Ok(None),
            _ => bail!("a poll was answered {answer:?}"),
        }
    }

    fn work(&self, task: &Value, death: Option<Death>) -> Result<()> {
        die_at(death, Death::BeforeEffect);
        let output = match task["taskType"].as_str() {
            Some("find_effect") => self.find(task)?,
            _ => self.charge(task)?,
        };
        die_at(death, Death::AfterEffect);
        let report = json!({"workflowInstanceId": task["workflowInstanceId"],
            "taskId": task["taskId"], "status": "COMPLETED", "workerId": self.name,
            "fenceToken": task["fenceToken"], "outputData": output});
        let answer = self.server.insist(reqwest::Method::POST, "/api/tasks", Some(&report))?;
        ensure!(answer.status == 200, "a report was answered {answer:?}");
        die_at(death, Death::AfterReport);
        Ok(())
    }

    fn charge(&self, task: &Value) -> Result<Value> {
        let key = key_of(task)?;
        let headers: &[(&str, &str)] = match self.keyed {
            true => &[("Idempotency-Key", key)],
            false => &[],
        };
        let answer = self.oracle.ask_with(headers, &format!("/effects/{key}"))?;
        ensure!(answer.status == 200, "the oracle answered {answer:?}");
        Ok(answer.json())
    }

    /// A probe: has it happened?
    fn find(&self, task: &Value) -> Result<Value> {
        let answer = self.oracle.get(&format!("/effects/{}", key_of(task)?))?;
        Ok(match answer.status {
            200 => json!({"applied": true, "output": answer.json()}),
            _ => json!({"applied": false}),
        })
    }
}

fn key_of(task: &Value) -> Result<&str> {
    task["inputData"]["order"].as_str().context("the task has an order")
}

fn die_at(death: Option<Death>, here: Death) {
    if death == Some(here) {
        std::process::abort();
    }
}

pub(crate) const SERVERS: &str = "SEMEL_WORKER_SERVERS";
pub(crate) const ORACLE: &str = "SEMEL_WORKER_ORACLE";
pub(crate) const NAME: &str = "SEMEL_WORKER_NAME";
pub(crate) const KEYED: &str = "SEMEL_WORKER_KEYED";
pub(crate) const MORTAL: &str = "SEMEL_WORKER_MORTAL";

/// Works until it is killed or kills itself; the task type of a probe is served as well.
#[test]
#[ignore = "the other process of the tests here; alone it has nothing to do"]
fn a_worker_at_work() -> Result<()> {
    let Ok(servers) = std::env::var(SERVERS) else { return Ok(()) };
    let servers: Vec<_> = servers.split(',').map(str::parse).collect::<Result<_, _>>()?;
    let said = |name: &str| std::env::var(name).with_context(|| name.to_owned());
    let worker = Worker {
        server: Caller::of(&servers)?,
        oracle: Caller::new(said(ORACLE)?.parse()?)?,
        name: said(NAME)?,
        keyed: said(KEYED)? == "1",
    };
    let mut dice = Dice::thrown();
    let mortal = said(MORTAL)? == "1";
    let mut left = mortal.then(|| 1 + dice.below(4));
    for turn in 0_usize.. {
        let task_type = if turn % 2 == 0 { "charge" } else { "find_effect" };
        let Ok(Some(task)) = worker.take(task_type) else { continue }; // The server may be down.
        left = left.map(|left| left - 1);
        let deaths = [Death::BeforeEffect, Death::AfterEffect, Death::AfterReport];
        let death = deaths[usize::try_from(dice.below(3))?];
        worker.work(&task, (left == Some(0)).then_some(death))?;
    }
    Ok(())
}
