//! # Workload: workers that stay, runs that come and go
//!
//! Registers the definitions and spawns the workers once; each run sends clients through and answers
//! a `Window`: what was done and what it cost both processes.
//! **May not:** start the server or print figures.

use std::net::SocketAddr;
use std::num::NonZeroUsize;
use std::sync::Arc;

use anyhow::{Context, Result};
use serde::Deserialize;
use tokio::task::JoinSet;

use crate::definitions::{self, Kind};
use crate::http::{Call, Client};
use crate::process::{Process, Reading, Spent};
use crate::starters::{self, Completions, Started, Tickets, Until};
use crate::tally::{Counts, Tally};
use crate::workers::{self, WorkerOptions};

pub(crate) struct Workload {
    /// Servers that are asked, each by its share of the connections.
    addresses: Vec<SocketAddr>,
    server: Process,
    clients: NonZeroUsize,
    rate: Option<f64>,
    tally: Arc<Tally>,
    completions: Arc<Completions>,
    /// Dropped with the workload, which ends the workers.
    _workers: JoinSet<()>,
}

/// One measured run.
pub(crate) struct Window {
    pub(crate) spent: Spent,
    pub(crate) counts: Counts,
    pub(crate) started: Started,
    /// Executions looked at after the run that were not COMPLETED.
    pub(crate) not_completed: u64,
}

#[derive(Deserialize)]
struct Status {
    status: String,
}

impl Workload {
    pub(crate) async fn begin(
        addresses: &[SocketAddr],
        server: Process,
        clients: NonZeroUsize,
        options: &WorkerOptions,
    ) -> Result<Self> {
        let tally = Arc::new(Tally::default());
        let completions = Arc::new(Completions::default());
        let mut client = Client::new(addresses[0], Arc::clone(&tally));
        definitions::register(&mut client).await.context("registering the definitions")?;
        let workers = workers::spawn(addresses, options, &tally, &completions)?;
        let addresses = addresses.to_vec();
        let rate = None;
        Ok(Self { addresses, server, clients, rate, tally, completions, _workers: workers })
    }

    /// From now on so many executions are started per second, and not as many as can be.
    pub(crate) fn pace(&mut self, rate: Option<f64>) {
        self.rate = rate;
    }

    /// Sends the clients through; ends when the last execution they started has ended.
    pub(crate) async fn run(&self, kind: Kind, until: Until) -> Result<Window> {
        let (before, counted) = (Reading::of(self.server)?, self.tally.read());
        let tickets = Arc::new(Tickets::new(until, self.rate, Arc::clone(&self.tally)));
        let mut clients = JoinSet::new();
        for address in self.addresses.iter().cycle().take(self.clients.get()) {
            let client = Client::new(*address, Arc::clone(&self.tally));
            let completions = Arc::clone(&self.completions);
            clients.spawn(starters::run(client, kind, Arc::clone(&tickets), completions));
        }
        let mut started = Started::default();
        let mut last = Vec::with_capacity(self.clients.get());
        while let Some(ended) = clients.join_next().await {
            let one = ended.context("a client panicked")??;
            started.latencies.extend(one.latencies);
            started.workflows += one.workflows;
            started.unfinished += one.unfinished;
            last.extend(one.last);
        }
        let spent = Reading::of(self.server)?.since(&before);
        let counts = self.tally.read().since(&counted);
        let not_completed = self.count_not_completed(&last).await?;
        Ok(Window { spent, counts, started, not_completed })
    }

    /// Refusals and broken connections since the beginning, outside the windows too.
    pub(crate) fn failures(&self) -> u64 {
        self.tally.read().failures()
    }

    /// An answered last report is only believed if the server agrees that the execution is closed.
    async fn count_not_completed(&self, ids: &[String]) -> Result<u64> {
        let mut client = Client::new(self.addresses[0], Arc::clone(&self.tally));
        let mut not_completed = 0;
        for id in ids {
            let call = Call::get(&format!("/api/workflow/{id}/status"))?;
            let is_completed = match client.send(&call).await {
                Ok(answer) => serde_json::from_slice::<Status>(&answer.body)
                    .is_ok_and(|answer| answer.status == "COMPLETED"),
                Err(_) => false,
            };
            not_completed += u64::from(!is_completed);
        }
        Ok(not_completed)
    }
}

impl Window {
    pub(crate) fn server_cpu_us_per_task(&self) -> f64 {
        per(self.spent.server.as_secs_f64() * 1e6, self.counts.tasks)
    }

    pub(crate) fn generator_cpu_us_per_task(&self) -> f64 {
        per(self.spent.generator.as_secs_f64() * 1e6, self.counts.tasks)
    }

    pub(crate) fn elapsed_s(&self) -> f64 {
        self.spent.elapsed.as_secs_f64()
    }

    pub(crate) fn tasks_per_s(&self) -> f64 {
        self.counts.tasks as f64 / self.elapsed_s()
    }

    pub(crate) fn workflows_per_s(&self) -> f64 {
        let finished = self.started.workflows - self.started.unfinished;
        finished as f64 / self.elapsed_s()
    }
}

/// A share of nothing is not a number, and is printed so.
pub(crate) fn per(total: f64, count: u64) -> f64 {
    if count == 0 { f64::NAN } else { total / count as f64 }
}
