//! # Starters: clients that start executions in a closed loop
//!
//! A client starts one execution, waits until its last task was reported, starts the next. The
//! latency of an execution runs from sending the start to the answer of that last report.
//! **May not:** poll or report; that the report came is learnt from `Completions`.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use tokio::sync::oneshot;

use crate::definitions::Kind;
use crate::http::{Call, Client};
use crate::tally::{FAILURES_MAX, Tally};

/// An execution silent for this long is counted as unfinished.
const COMPLETE_WAIT_MS_MAX: u64 = 30_000;
const TRY_AGAIN_MS: u64 = 50;

/// When the clients stop starting: after so many executions, or at a time.
#[derive(Clone, Copy)]
pub(crate) enum Until {
    Workflows(u64),
    Elapsed(Duration),
}

/// The right to start, shared by all clients of one run.
pub(crate) struct Tickets {
    until: Until,
    /// Executions per second; none: as fast as clients come for tickets.
    rate: Option<f64>,
    begun: Instant,
    taken: AtomicU64,
    tally: Arc<Tally>,
}

impl Tickets {
    pub(crate) fn new(until: Until, rate: Option<f64>, tally: Arc<Tally>) -> Self {
        Self { until, rate, begun: Instant::now(), taken: AtomicU64::new(0), tally }
    }

    /// Waits until it is time for the next one.
    async fn take(&self) -> Option<u64> {
        let ticket = self.draw()?;
        let at = self.rate.and_then(|rate| Duration::try_from_secs_f64(ticket as f64 / rate).ok());
        if let Some(at) = at {
            tokio::time::sleep_until((self.begun + at).into()).await;
        }
        Some(ticket)
    }

    fn draw(&self) -> Option<u64> {
        if self.tally.read().failures() >= FAILURES_MAX {
            return None;
        }
        let ticket = self.taken.fetch_add(1, Ordering::Relaxed);
        let is_valid = match self.until {
            Until::Workflows(workflows) => ticket < workflows,
            Until::Elapsed(duration) => self.begun.elapsed() < duration,
        };
        is_valid.then_some(ticket)
    }
}

/// Where a worker's last report meets the client that waits for it, in either order.
#[derive(Default)]
pub(crate) struct Completions {
    meetings: Mutex<HashMap<String, Meeting>>,
}

enum Meeting {
    Awaited(oneshot::Sender<Instant>),
    /// Completed before the client had read the answer to its start.
    Early(Instant),
}

impl Completions {
    pub(crate) fn complete(&self, workflow_id: String, at: Instant) {
        let mut meetings = self.meetings.lock().unwrap_or_else(PoisonError::into_inner);
        match meetings.entry(workflow_id) {
            Entry::Vacant(vacant) => {
                vacant.insert(Meeting::Early(at));
            }
            Entry::Occupied(occupied) => {
                if let Meeting::Awaited(client) = occupied.remove() {
                    let _ = client.send(at); // The client gave up waiting.
                }
            }
        }
    }

    async fn wait(&self, workflow_id: &str) -> Option<Instant> {
        let (sender, receiver) = oneshot::channel();
        {
            let mut meetings = self.meetings.lock().unwrap_or_else(PoisonError::into_inner);
            if let Some(Meeting::Early(at)) = meetings.remove(workflow_id) {
                return Some(at);
            }
            meetings.insert(workflow_id.to_owned(), Meeting::Awaited(sender));
        }
        let wait = Duration::from_millis(COMPLETE_WAIT_MS_MAX);
        tokio::time::timeout(wait, receiver).await.ok()?.ok()
    }
}

/// What one client did during one run.
#[derive(Default)]
pub(crate) struct Started {
    /// One per execution that was worked off.
    pub(crate) latencies: Vec<Duration>,
    /// Answered starts, finished or not.
    pub(crate) workflows: u64,
    pub(crate) unfinished: u64,
    /// The last execution worked off, to be looked at after the run.
    pub(crate) last: Option<String>,
}

/// Runs one client until the tickets are used up.
pub(crate) async fn run(
    mut client: Client,
    kind: Kind,
    tickets: Arc<Tickets>,
    completions: Arc<Completions>,
) -> Result<Started> {
    let route = Call::post("/api/workflow", "")?;
    let name = kind.name();
    let mut started = Started::default();
    while let Some(order) = tickets.take().await {
        let call = route.with_body(format!(
            r#"{{"name":"{name}","version":1,"input":{{"order":{order},"customer":"c-{order}"}}}}"#
        ));
        let begun = Instant::now();
        let Ok(answer) = client.send(&call).await else {
            tokio::time::sleep(Duration::from_millis(TRY_AGAIN_MS)).await;
            continue;
        };
        started.workflows += 1;
        let id = str::from_utf8(&answer.body).context("a workflow id that is not text")?;
        match kind {
            Kind::Open => {}
            Kind::W1 => match completions.wait(id).await {
                Some(at) => {
                    started.latencies.push(at - begun);
                    started.last = Some(id.to_owned());
                }
                None => {
                    eprintln!("unfinished after {COMPLETE_WAIT_MS_MAX} ms: {id}");
                    started.unfinished += 1;
                }
            },
        }
    }
    Ok(started)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_completion_is_met_in_either_order() {
        let completions = Arc::new(Completions::default());
        let at = Instant::now();
        completions.complete("early".to_owned(), at);
        assert_eq!(completions.wait("early").await, Some(at));

        let waiting = Arc::clone(&completions);
        let waiter = tokio::spawn(async move { waiting.wait("late").await });
        tokio::task::yield_now().await;
        completions.complete("late".to_owned(), at);
        assert_eq!(waiter.await.unwrap(), Some(at));
        assert!(completions.meetings.lock().unwrap().is_empty());
    }

    #[test]
    fn tickets_run_out() {
        let tickets = Tickets::new(Until::Workflows(2), None, Arc::new(Tally::default()));
        assert_eq!([tickets.draw(), tickets.draw(), tickets.draw()], [Some(0), Some(1), None]);
    }
}
