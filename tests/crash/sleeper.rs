//! # Sleepers: workers that are stopped past their lease and wake up with an answer
//!
//! A sleeper is a process of its own (this test binary again), because only a process can be
//! stopped. It claims, says so in a file, waits for leave to report, and writes down its answer.

use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use anyhow::{Context as _, Result, ensure};
use semel_tests::process::{Caller, DEADLINE, Server, freeze, signal, until};
use serde_json::{Value, json};

use crate::load::define;

const ADDRESS: &str = "SEMEL_SLEEPER_ADDRESS";
const DIRECTORY: &str = "SEMEL_SLEEPER_DIRECTORY";
const CLAIMED: &str = "claimed";
const LEAVE: &str = "leave";
const ANSWER: &str = "answer";

/// What a sleeper leaves out of its report, and where it sends it.
struct Manner {
    name: &'static str,
    leaves_out: &'static [&'static str],
    path: &'static str,
    status: u16,
}

const MANNERS: [Manner; 6] = [
    Manner { name: "fenced", leaves_out: &[], path: "/api/tasks", status: 200 },
    Manner { name: "unfenced", leaves_out: &["fenceToken"], path: "/api/tasks", status: 200 },
    Manner {
        name: "nameless",
        leaves_out: &["fenceToken", "workerId"],
        path: "/api/tasks",
        status: 200,
    },
    Manner { name: "second", leaves_out: &[], path: "/api/tasks/update-v2", status: 204 },
    Manner { name: "strict", leaves_out: &[], path: "/api/tasks?strict=true", status: 409 },
    Manner {
        name: "strict_unfenced",
        leaves_out: &["fenceToken"],
        path: "/api/tasks?strict=true",
        status: 409,
    },
];

#[test]
fn a_stopped_worker_that_wakes_after_its_lease_changes_nothing() -> Result<()> {
    let directory = tempfile::tempdir()?;
    let mut server = Server::start(directory.path(), &[])?;
    let caller = server.caller()?;
    let mut sleepers = vec![];
    for manner in MANNERS {
        sleepers.push(Sleeper::asleep(&server, directory.path(), manner)?);
    }
    for sleeper in &sleepers {
        sleeper.is_replaced(&caller)?;
    }
    for sleeper in &mut sleepers {
        sleeper.wakes_in_vain(&caller)?;
    }
    drop(sleepers);
    server.stop()
}

struct Sleeper {
    manner: Manner,
    child: Child,
    directory: PathBuf,
    workflow: String,
}

impl Sleeper {
    /// Starts an execution and a worker that holds its only task and is stopped.
    fn asleep(server: &Server, directory: &Path, manner: Manner) -> Result<Self> {
        let (caller, name) = (server.caller()?, manner.name);
        define(&caller, name, &[name], 2)?;
        let workflow = caller.post(&format!("/api/workflow/{name}"), &json!({}))?.body;
        let directory = directory.join(name);
        std::fs::create_dir(&directory)?;
        let child = Command::new(std::env::current_exe()?)
            .args(["--exact", "sleeper::a_sleeper_at_work", "--ignored"])
            .env(ADDRESS, server.address().to_string())
            .env(DIRECTORY, &directory)
            .stdout(Stdio::null())
            .spawn()?;
        let sleeper = Self { manner, child, directory, workflow };
        until("the sleeper has claimed", DEADLINE, || sleeper.file(CLAIMED))?;
        freeze(sleeper.child.id())?;
        std::fs::write(sleeper.directory.join(LEAVE), "")?;
        Ok(sleeper)
    }

    fn file(&self, name: &str) -> Option<Value> {
        read(&self.directory, name)
    }

    /// Its lease lapses, and another worker finishes the next attempt.
    fn is_replaced(&self, caller: &Caller) -> Result<()> {
        let name = self.manner.name;
        let poll = format!("/api/tasks/poll/{name}?workerid=bob");
        let task = until("the lease lapses", DEADLINE, || {
            caller.get(&poll).ok().filter(|answer| answer.status == 200)
        });
        let task = task.with_context(|| {
            let shown = caller.get(&format!("/api/workflow/{}", self.workflow));
            format!("{name}: {:?}", shown.map(|answer| answer.body))
        })?;
        let task = task.json();
        ensure!(task["retryCount"] == 1, "{task} is not the second attempt");
        let report = json!({"workflowInstanceId": self.workflow, "taskId": task["taskId"],
            "status": "COMPLETED", "workerId": "bob", "outputData": {"by": "bob"},
            "fenceToken": task["fenceToken"]});
        let answer = caller.post("/api/tasks", &report)?;
        ensure!(answer.status == 200 && answer.header("x-task-update").is_none(), "{answer:?}");
        Ok(())
    }

    fn wakes_in_vain(&mut self, caller: &Caller) -> Result<()> {
        let look = |path: &str| -> Result<Value> {
            Ok(caller.get(&format!("/api/workflow/{}{path}", self.workflow))?.json())
        };
        let before = (look("")?, look("/log")?);
        ensure!(before.0["status"] == "COMPLETED", "{}", before.0);
        ensure!(self.file(ANSWER).is_none(), "a stopped process reported");
        signal(self.child.id(), "CONT")?;
        let answer = until("the sleeper has reported", DEADLINE, || self.file(ANSWER))?;
        ensure!(answer["status"] == self.manner.status, "{}: {answer}", self.manner.name);
        if self.manner.status == 409 {
            let body = &answer["body"];
            ensure!(body.to_string().contains("STALE_FENCE"), "{answer}");
        } else {
            ensure!(answer["update"] == "STALE", "{}: {answer}", self.manner.name);
        }
        let (mut run, log) = (look("")?, look("/log")?);
        let tasks = run["tasks"].as_array_mut().context("a run has tasks")?;
        let told = tasks.iter_mut().filter_map(Value::as_object_mut);
        let told = told.filter_map(|task| task.remove("staleReports")).collect::<Vec<_>>();
        let is_told = matches!(&told[..], [Value::Array(reports)] if reports.len() == 1);
        ensure!(is_told, "a stale report is told of: {told:?}");
        ensure!(before == (run, log), "a stale report changed something");
        ensure!(self.child.wait()?.success());
        Ok(())
    }
}

impl Drop for Sleeper {
    fn drop(&mut self) {
        let _ = self.child.kill(); // A stopped process can be killed; a finished one is gone.
        let _ = self.child.wait();
    }
}

fn read(directory: &Path, name: &str) -> Option<Value> {
    serde_json::from_slice(&std::fs::read(directory.join(name)).ok()?).ok()
}

#[test]
#[ignore = "the other process of the test above; alone it has nothing to do"]
fn a_sleeper_at_work() -> Result<()> {
    let (Ok(address), Ok(directory)) = (std::env::var(ADDRESS), std::env::var(DIRECTORY)) else {
        return Ok(());
    };
    let directory = PathBuf::from(directory);
    let name = directory.file_name().and_then(|name| name.to_str()).context("its manner")?;
    let manner = MANNERS.into_iter().find(|manner| manner.name == name).context("a manner")?;
    let caller = Caller::new(address.parse()?)?;
    let task = caller.get(&format!("/api/tasks/poll/{name}?workerid=ann"))?;
    ensure!(task.status == 200, "{task:?}");
    let task = task.json();
    let mut report = json!({"workflowInstanceId": task["workflowInstanceId"],
        "taskId": task["taskId"], "status": "COMPLETED", "workerId": "ann",
        "outputData": {"by": "ann"}, "fenceToken": task["fenceToken"]});
    for field in manner.leaves_out {
        report.as_object_mut().context("a report is an object")?.remove(*field);
    }
    std::fs::write(directory.join(CLAIMED), task.to_string())?;
    until("leave to report", DEADLINE, || directory.join(LEAVE).exists().then_some(()))?;
    let answer = caller.post(manner.path, &report)?;
    let told = json!({"status": answer.status, "body": answer.body,
        "update": answer.header("x-task-update")});
    std::fs::write(directory.join(ANSWER), told.to_string())?;
    Ok(())
}
