//! # Workers: polling and reporting as the SDK runners do
//!
//! A worker polls one task type for as many tasks as it has free slots. A slot reports its task with
//! `update-v2` and goes on with the task the answer hands out, until an answer hands out none.
//! **May not:** start executions or look at them; a worker knows its tasks only.

use std::net::SocketAddr;
use std::num::NonZeroUsize;
use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use serde::Deserialize;
use tokio::sync::mpsc;
use tokio::task::JoinSet;

use crate::definitions::TASK_TYPES;
use crate::http::{Call, Client};
use crate::starters::Completions;
use crate::tally::Tally;

/// SDK runners send a result up to four times; said twice is said once.
const REPORT_TRIES_MAX: u32 = 4;
const TRY_AGAIN_MS: u64 = 100;

#[derive(clap::Args, Clone)]
pub(crate) struct WorkerOptions {
    /// Workers (pollers) for each of the three task types.
    #[arg(long, default_value = "2")]
    pub(crate) workers_per_type: NonZeroUsize,
    /// Slots of a worker: the most tasks it polls for and works on at once.
    #[arg(long, default_value = "16")]
    pub(crate) batch: NonZeroUsize,
    /// How long a poll waits for a task; the contract allows 5000.
    #[arg(long, default_value_t = 1000)]
    pub(crate) poll_timeout_ms: u64,
}

/// The part of a polled Task that a worker needs.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Handed {
    task_id: String,
    workflow_instance_id: String,
}

/// One slot with its own connection, as a thread of an SDK runner has.
struct Slot {
    client: Client,
    report: Call,
    worker_id: Arc<str>,
    is_last_step: bool,
    tally: Arc<Tally>,
    completions: Arc<Completions>,
}

/// Spawns all workers; they end when the set is dropped.
pub(crate) fn spawn(
    addresses: &[SocketAddr],
    options: &WorkerOptions,
    tally: &Arc<Tally>,
    completions: &Arc<Completions>,
) -> Result<JoinSet<()>> {
    let mut workers = JoinSet::new();
    let mut addresses = addresses.iter().copied().cycle();
    let mut client = || {
        let address = addresses.next().context("there is no server")?;
        Ok::<_, anyhow::Error>(Client::new(address, Arc::clone(tally)))
    };
    for (step, task_type) in TASK_TYPES.into_iter().enumerate() {
        for number in 0..options.workers_per_type.get() {
            let worker_id: Arc<str> = format!("{task_type}-{number}").into();
            let mut slots = Vec::with_capacity(options.batch.get());
            for _ in 0..options.batch.get() {
                slots.push(Slot {
                    client: client()?,
                    report: Call::post("/api/tasks/update-v2", "")?,
                    worker_id: Arc::clone(&worker_id),
                    is_last_step: step + 1 == TASK_TYPES.len(),
                    tally: Arc::clone(tally),
                    completions: Arc::clone(completions),
                });
            }
            let polls = polls(task_type, &worker_id, options)?;
            workers.spawn(work(client()?, polls, slots));
        }
    }
    Ok(workers)
}

/// The poll for every number of free slots, prepared once: `polls[free - 1]`.
fn polls(task_type: &str, worker_id: &str, options: &WorkerOptions) -> Result<Vec<Call>> {
    let timeout_ms = options.poll_timeout_ms;
    (1..=options.batch.get())
        .map(|count| {
            Call::get(&format!(
                "/api/tasks/poll/batch/{task_type}?workerid={worker_id}&count={count}&timeout={timeout_ms}"
            ))
        })
        .collect()
}

async fn work(mut client: Client, polls: Vec<Call>, slots: Vec<Slot>) {
    let tally = Arc::clone(&slots[0].tally);
    let (give_back, mut given_back) = mpsc::unbounded_channel();
    let mut free = slots;
    let mut busy = JoinSet::new();
    loop {
        if free.is_empty() {
            free.extend(given_back.recv().await);
        }
        while let Ok(slot) = given_back.try_recv() {
            free.push(slot);
        }
        while busy.try_join_next().is_some() {}
        for task in poll(&mut client, &polls[free.len() - 1], &tally).await {
            let Some(mut slot) = free.pop() else {
                tally.fail("a poll answered more tasks than asked for", |counts| {
                    counts.answers_refused += 1;
                });
                break;
            };
            let give_back = give_back.clone();
            busy.spawn(async move {
                slot.run(task).await;
                let _ = give_back.send(slot); // Nobody listens once the run is over.
            });
        }
    }
}

async fn poll(client: &mut Client, call: &Call, tally: &Tally) -> Vec<Handed> {
    let Ok(answer) = client.send(call).await else {
        tokio::time::sleep(Duration::from_millis(TRY_AGAIN_MS)).await;
        return Vec::new();
    };
    let tasks: Vec<Handed> = match serde_json::from_slice(&answer.body) {
        Ok(tasks) => tasks,
        Err(error) => {
            tally.fail(&format!("a poll answer does not parse: {error}"), |counts| {
                counts.answers_refused += 1;
            });
            Vec::new()
        }
    };
    tally.add(|counts| {
        counts.polls += 1;
        counts.polls_empty += u64::from(tasks.is_empty());
    });
    tasks
}

impl Slot {
    async fn run(&mut self, first: Handed) {
        let mut next = Some(first);
        while let Some(task) = next {
            next = self.report(task).await;
        }
    }

    async fn report(&mut self, task: Handed) -> Option<Handed> {
        let Handed { task_id, workflow_instance_id } = task;
        let worker_id = &self.worker_id;
        let call = self.report.with_body(format!(
            r#"{{"workflowInstanceId":"{workflow_instance_id}","taskId":"{task_id}","status":"COMPLETED","workerId":"{worker_id}","outputData":{{"value":1}}}}"#
        ));
        let mut tries = 1;
        let answer = loop {
            match self.client.send(&call).await {
                Ok(answer) => break answer,
                Err(_) if tries == REPORT_TRIES_MAX => return None,
                Err(_) => tokio::time::sleep(Duration::from_millis(TRY_AGAIN_MS)).await,
            }
            tries += 1;
        };
        if self.is_last_step {
            self.completions.complete(workflow_instance_id, Instant::now());
        }
        let next = self.next(&answer.body);
        self.tally.add(|counts| {
            counts.tasks += 1;
            counts.tasks_handed_by_update += u64::from(next.is_some());
        });
        next
    }

    fn next(&self, body: &[u8]) -> Option<Handed> {
        if body.is_empty() {
            return None; // 204: nothing more for this slot.
        }
        match serde_json::from_slice(body) {
            Ok(task) => Some(task),
            Err(error) => {
                self.tally.fail(
                    &format!("an update-v2 answer does not parse: {error}"),
                    |counts| {
                        counts.answers_refused += 1;
                    },
                );
                None
            }
        }
    }
}
