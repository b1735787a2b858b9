//! # Load: clients that start and workers that work, badly and without end
//!
//! Workers lose interest, fail, ask for more time, repeat themselves and contradict themselves. All
//! of them write what they were promised into the ledger; a broken promise ends the run.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread::{Scope, ScopedJoinHandle};

use anyhow::{Result, bail, ensure};
use reqwest::Method;
use semel_tests::dice::Dice;
use semel_tests::process::{Answer, Caller, DEADLINE, until};
use serde_json::{Value, json};

use crate::ledger::{Accepted, Ledger};

const WORKFLOW: &str = "crash";
/// Has two children of that kind, one after the other.
const PARENT: &str = "crash_parent";
const CHILDREN: usize = 2;
const STEPS: [&str; 3] = ["crash_a", "crash_b", "crash_c"];
const STARTERS: usize = 2;
const WORKERS: usize = 4;

/// Executions that may be open before the starters wait.
const OPEN_MAX: usize = 60;

pub(crate) struct Load {
    pub(crate) caller: Caller,
    pub(crate) ledger: Ledger,
    starting: AtomicBool,
    working: AtomicBool,
    started: AtomicUsize,
    finished: AtomicUsize,
}

/// The threads of a load; a panic elsewhere must not leave them running.
pub(crate) struct Running<'scope, 'a> {
    load: &'a Load,
    starters: Vec<ScopedJoinHandle<'scope, Result<()>>>,
    workers: Vec<ScopedJoinHandle<'scope, Result<()>>>,
}

impl Load {
    /// Registers what will be run.
    pub(crate) fn new(caller: Caller) -> Result<Self> {
        define(&caller, WORKFLOW, &STEPS, 3)?;
        define_parent(&caller)?;
        Ok(Self {
            caller,
            ledger: Ledger::default(),
            starting: AtomicBool::new(true),
            working: AtomicBool::new(true),
            started: AtomicUsize::new(0),
            finished: AtomicUsize::new(0),
        })
    }

    pub(crate) fn run<'scope, 'a: 'scope>(
        &'a self,
        scope: &'scope Scope<'scope, '_>,
        dice: &mut Dice,
    ) -> Running<'scope, 'a> {
        let starters = (0..STARTERS).map(|n| scope.spawn(move || self.start_on(&format!("s{n}"))));
        let starters = starters.collect();
        let workers = (0..WORKERS).map(|n| {
            let mut dice = dice.fork();
            scope.spawn(move || self.work_on(&format!("w{n}"), &mut dice))
        });
        Running { load: self, starters, workers: workers.collect() }
    }

    fn start_on(&self, name: &str) -> Result<()> {
        for n in 0_usize.. {
            let has_room = || {
                self.started.load(Ordering::Relaxed)
                    < self.finished.load(Ordering::Relaxed) + OPEN_MAX
            };
            let starting = || self.starting.load(Ordering::Relaxed);
            until("room for a start", DEADLINE, || (has_room() || !starting()).then_some(()))?;
            if !starting() {
                break;
            }
            if n % 4 == 1 {
                self.start(PARENT, None, CHILDREN)?;
            } else {
                self.start(WORKFLOW, n.is_multiple_of(2).then(|| format!("{name}-{n}")), 1)?;
            }
        }
        Ok(())
    }

    /// With a key it is sent until it is answered; without one it is sent once, like any POST.
    fn start(&self, name: &str, key: Option<String>, runs: usize) -> Result<()> {
        let body = json!({"name": name, "input": {"key": key}, "idempotencyKey": key,
            "idempotencyStrategy": "RETURN_EXISTING"});
        let path = "/api/workflow";
        let answer = match &key {
            Some(_) => self.caller.insist(Method::POST, path, Some(&body))?,
            None => match self.caller.post(path, &body) {
                Ok(answer) if !matches!(answer.status, 429 | 503) => answer,
                _ => return self.await_server(),
            },
        };
        ensure!(answer.status == 200, "a start was answered {answer:?}");
        self.ledger.started(key, answer.body);
        self.started.fetch_add(runs, Ordering::Relaxed);
        Ok(())
    }

    fn await_server(&self) -> Result<()> {
        self.caller.insist(Method::GET, "/health", None).map(|_| ())
    }

    fn work_on(&self, name: &str, dice: &mut Dice) -> Result<()> {
        for turn in 0_usize.. {
            if !self.working.load(Ordering::Relaxed) {
                break;
            }
            for task in self.poll(STEPS[turn % STEPS.len()], name, turn, dice)? {
                let mut task = Some(task);
                while let Some(held) = task {
                    self.ledger.claimed(&held, name);
                    task = self.serve(&held, name, dice)?;
                }
            }
        }
        Ok(())
    }

    /// Half of the polls name themselves and may therefore be repeated.
    fn poll(&self, step: &str, name: &str, turn: usize, dice: &mut Dice) -> Result<Vec<Value>> {
        let count = 1 + dice.below(3);
        let path = format!("/api/tasks/poll/batch/{step}?workerid={name}&count={count}&timeout=50");
        let answer = if dice.once_in(2) {
            self.caller.insist(Method::GET, &format!("{path}&pollId={turn}"), None)?
        } else {
            match self.caller.get(&path) {
                Ok(answer) if !matches!(answer.status, 429 | 503) => answer,
                _ => return self.await_server().map(|()| vec![]),
            }
        };
        match answer.json() {
            Value::Array(tasks) if answer.status == 200 => Ok(tasks),
            _ => bail!("a poll was answered {answer:?}"),
        }
    }

    /// Does what a worker does with a task; may return the next one it was given.
    fn serve(&self, task: &Value, name: &str, dice: &mut Dice) -> Result<Option<Value>> {
        let status = match dice.below(40) {
            0 => return Ok(None), // It dies here: the lease must lapse.
            1 | 2 => "FAILED",
            3 | 4 => "IN_PROGRESS",
            _ => "COMPLETED",
        };
        let mut report = json!({"workflowInstanceId": task["workflowInstanceId"],
            "taskId": task["taskId"], "status": status, "workerId": name,
            "outputData": {"by": name, "n": dice.below(1 << 30)}});
        if !dice.once_in(3) {
            report["fenceToken"] = task["fenceToken"].clone();
        }
        let path = if dice.once_in(3) { "/api/tasks/update-v2" } else { "/api/tasks" };
        let answer = self.caller.insist(Method::POST, path, Some(&report))?;
        let is_stale = standing(&answer)? == Some("STALE");
        if status != "IN_PROGRESS" && !is_stale {
            self.note(task, status, &report);
            self.repeat_and_contradict(&report, dice)?;
        }
        Ok((answer.status == 200 && path.ends_with("v2")).then(|| answer.json()))
    }

    fn note(&self, task: &Value, status: &'static str, report: &Value) {
        let text = |name: &str| task[name].as_str().unwrap_or_default().to_owned();
        self.ledger.accepted(Accepted {
            workflow: text("workflowInstanceId"),
            task: text("taskId"),
            status,
            output: report["outputData"].clone(),
        });
        if status == "COMPLETED" && task["taskType"] == STEPS[2] {
            self.finished.fetch_add(1, Ordering::Relaxed);
        }
    }

    fn repeat_and_contradict(&self, report: &Value, dice: &mut Dice) -> Result<()> {
        let say = |report: &Value| self.caller.insist(Method::POST, "/api/tasks", Some(report));
        if dice.once_in(10) {
            let answer = say(report)?;
            ensure!(standing(&answer)? == Some("REPEATED"), "a repeat was answered {answer:?}");
        }
        if dice.once_in(20) {
            let mut other = report.clone();
            other["outputData"]["n"] = json!(-1);
            let answer = say(&other)?;
            ensure!(standing(&answer)? == Some("STALE"), "a second result was answered {answer:?}");
        }
        Ok(())
    }
}

impl Running<'_, '_> {
    /// Waits for so many more acknowledged transitions; fails with the first thread that does.
    pub(crate) fn progress(&mut self, more: u64) -> Result<()> {
        let goal = self.load.ledger.progress() + usize::try_from(more)?;
        let threads = || self.starters.iter().chain(&self.workers);
        until("progress", DEADLINE, || {
            let is_over = self.load.ledger.progress() >= goal;
            (is_over || threads().any(ScopedJoinHandle::is_finished)).then_some(())
        })?;
        for threads in [&mut self.starters, &mut self.workers] {
            let (mut ended, going) = threads.drain(..).partition(ScopedJoinHandle::is_finished);
            *threads = going;
            join(&mut ended)?;
        }
        Ok(())
    }

    /// Returns when the last start has been answered.
    pub(crate) fn stop_starting(&mut self) -> Result<()> {
        self.load.starting.store(false, Ordering::Relaxed);
        join(&mut self.starters)
    }

    pub(crate) fn stop(mut self) -> Result<()> {
        self.stop_starting()?;
        self.load.working.store(false, Ordering::Relaxed);
        join(&mut self.workers)
    }
}

impl Drop for Running<'_, '_> {
    fn drop(&mut self) {
        self.load.starting.store(false, Ordering::Relaxed);
        self.load.working.store(false, Ordering::Relaxed);
    }
}

fn join(threads: &mut Vec<ScopedJoinHandle<'_, Result<()>>>) -> Result<()> {
    let ended = threads.drain(..).map(|thread| thread.join().expect("the thread did not panic"));
    ended.collect()
}

/// What the answer to a report says of it; an error if it is no answer to a report.
fn standing(answer: &Answer) -> Result<Option<&str>> {
    ensure!(matches!(answer.status, 200 | 204), "a report was answered {answer:?}");
    Ok(answer.header("x-task-update"))
}

fn define_parent(caller: &Caller) -> Result<()> {
    let step = |n: usize| {
        json!({"name": WORKFLOW, "taskReferenceName": format!("child_{n}"), "type": "SUB_WORKFLOW",
            "subWorkflowParam": {"name": WORKFLOW}})
    };
    let steps: Vec<Value> = (0..CHILDREN).map(step).collect();
    let parent = json!({"name": PARENT, "version": 1, "tasks": steps});
    let answer =
        caller.insist(Method::POST, "/api/metadata/workflow?overwrite=true", Some(&parent))?;
    ensure!(answer.status == 200, "{PARENT} is not registered: {answer:?}");
    Ok(())
}

/// Registers a workflow of worker tasks that recover soon from a lost claim.
pub(crate) fn define(caller: &Caller, name: &str, steps: &[&str], lease_s: u32) -> Result<()> {
    let definition = |step: &&str| {
        json!({"name": step, "responseTimeoutSeconds": lease_s, "retryCount": 10,
            "retryDelaySeconds": 0, "timeoutPolicy": "RETRY"})
    };
    let tasks: Vec<Value> = steps.iter().map(definition).collect();
    let step = |step: &&str| {
        json!({"name": step, "taskReferenceName": step, "type": "SIMPLE",
            "inputParameters": {"key": "${workflow.input.key}"}})
    };
    let steps: Vec<Value> = steps.iter().map(step).collect();
    let workflow = json!({"name": name, "version": 1, "schemaVersion": 2, "tasks": steps});
    for (path, body) in
        [("/api/metadata/taskdefs", json!(tasks)), ("/api/metadata/workflow", workflow)]
    {
        let answer = caller.post(path, &body)?;
        ensure!(answer.status == 200, "{path}: {answer:?}");
    }
    Ok(())
}
