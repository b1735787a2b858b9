//! # Filling: a million executions, each known by its number
//!
//! What an execution is called and carries follows from its number alone, so that how many a search
//! must find is counted without asking the server. Most are over when their start is answered.
//! **May not:** try a start again: it might be counted twice.

use std::net::SocketAddr;
use std::num::NonZeroUsize;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{SystemTime, UNIX_EPOCH};

use anyhow::{Context, Result};
use serde_json::{Value, json};
use tokio::task::JoinSet;

use crate::http::{Call, Client};
use crate::tally::Tally;

pub(super) const LARGE: &str = "search_large";
pub(super) const SMALL: &str = "search_small_7";
pub(super) const PARENT: &str = "search_parent";
const CHILD: &str = "search_child";
/// The one task of an execution left RUNNING; nobody polls it.
pub(super) const OPEN_TASK: &str = "search_ship";
/// In the input of about ten executions, whatever their number.
pub(super) const RARE_WORD: &str = "heliotrope";

const PARENT_EVERY: u64 = 100;
const OPEN_EVERY: u64 = 10;
const RARE_WORDS: u64 = 10;
const SAMPLES: u64 = 100;
const PROGRESS_STEPS: u64 = 10;

/// One start; everything follows from its number.
#[derive(Clone, Copy)]
pub(super) struct Seed {
    pub(super) number: u64,
    /// Of how many.
    pub(super) starts: u64,
}

impl Seed {
    pub(super) fn is_parent(self) -> bool {
        self.number.is_multiple_of(PARENT_EVERY)
    }

    /// Left RUNNING with one task scheduled.
    pub(super) fn is_open(self) -> bool {
        self.number % OPEN_EVERY == 1
    }

    /// Half of them have one name, the rest share five.
    pub(super) fn name(self) -> String {
        match self.number / 10 % 10 {
            _ if self.is_parent() => PARENT.to_owned(),
            0..=4 => LARGE.to_owned(),
            small => format!("search_small_{small}"),
        }
    }

    /// Ten executions share one.
    pub(super) fn correlation(self) -> String {
        format!("c-{}", self.number / 10)
    }

    pub(super) fn key(self) -> Option<String> {
        self.number.is_multiple_of(2).then(|| format!("k-{}", self.number))
    }

    pub(super) fn has_rare_word(self) -> bool {
        self.number % (self.starts / RARE_WORDS) == 3
    }

    fn is_sample(self) -> bool {
        let every = (self.starts / SAMPLES).next_multiple_of(PARENT_EVERY);
        self.number.is_multiple_of(every)
    }

    fn body(self) -> String {
        let number = self.number;
        let note = if self.has_rare_word() { RARE_WORD } else { "ordinary" };
        let mut request = json!({
            "name": self.name(),
            "version": if self.is_open() { 2 } else { 1 },
            "correlationId": self.correlation(),
            "input": {"order": number, "customer": format!("customer-{}", number % 5000), "note": note},
        });
        if let Some(key) = self.key() {
            request["idempotencyKey"] = Value::from(key);
        }
        request.to_string()
    }
}

/// What was put in.
pub(crate) struct Filled {
    pub(super) starts: u64,
    /// Ids of parents, spread over the whole time.
    pub(crate) samples: Vec<String>,
    /// By the clock of this machine: before the first start, and after the last.
    pub(super) from_ms: u64,
    pub(super) to_ms: u64,
}

impl Filled {
    pub(super) fn count(&self, holds: impl Fn(Seed) -> bool) -> u64 {
        let starts = self.starts;
        let seeds = (0..starts).map(|number| Seed { number, starts });
        seeds.filter(|seed| holds(*seed)).count() as u64
    }

    pub(super) fn children(&self) -> u64 {
        self.count(Seed::is_parent)
    }

    pub(crate) fn executions(&self) -> u64 {
        self.starts + self.children()
    }
}

pub(crate) async fn fill(
    address: SocketAddr,
    tally: &Arc<Tally>,
    clients: NonZeroUsize,
    starts: u64,
) -> Result<Filled> {
    register(&mut Client::new(address, Arc::clone(tally))).await?;
    let from_ms = now_ms()?;
    let next = Arc::new(AtomicU64::new(0));
    let mut running = JoinSet::new();
    for _ in 0..clients.get() {
        let client = Client::new(address, Arc::clone(tally));
        running.spawn(start_all(client, Arc::clone(&next), starts));
    }
    let mut samples = Vec::new();
    while let Some(ended) = running.join_next().await {
        samples.extend(ended.context("a client panicked")??);
    }
    Ok(Filled { starts, samples, from_ms, to_ms: now_ms()? })
}

async fn start_all(mut client: Client, next: Arc<AtomicU64>, starts: u64) -> Result<Vec<String>> {
    let route = Call::post("/api/workflow", "")?;
    let mut samples = Vec::new();
    loop {
        let number = next.fetch_add(1, Ordering::Relaxed);
        if number >= starts {
            return Ok(samples);
        }
        if number > 0 && number.is_multiple_of(starts / PROGRESS_STEPS) {
            eprintln!("started {number} of {starts}");
        }
        let seed = Seed { number, starts };
        let answer = client.send(&route.with_body(seed.body())).await?;
        if seed.is_sample() {
            let id = str::from_utf8(&answer.body).context("a workflow id that is not text")?;
            samples.push(id.to_owned());
        }
    }
}

async fn register(client: &mut Client) -> Result<()> {
    let tasks = json!([{
        "name": OPEN_TASK, "ownerEmail": "bench@example.com", "retryCount": 0,
        "timeoutSeconds": 0, "responseTimeoutSeconds": 3600,
    }]);
    client.send(&Call::post("/api/metadata/taskdefs", tasks.to_string())?).await?;
    let noop = json!({"name": "done", "taskReferenceName": "done", "type": "NOOP"});
    let ship = json!({"name": OPEN_TASK, "taskReferenceName": "ship", "type": "SIMPLE"});
    let child = json!({
        "name": "child", "taskReferenceName": "child", "type": "SUB_WORKFLOW",
        "subWorkflowParam": {"name": CHILD, "version": 1},
    });
    let names = (5..=9).map(|small| format!("search_small_{small}")).chain([LARGE.to_owned()]);
    let mut definitions = vec![(CHILD.to_owned(), 1, &noop), (PARENT.to_owned(), 1, &child)];
    for name in names {
        definitions.extend([(name.clone(), 1, &noop), (name, 2, &ship)]);
    }
    for (name, version, task) in definitions {
        let definition = json!({
            "name": name, "version": version, "schemaVersion": 2, "tasks": [task],
            "ownerEmail": "bench@example.com", "timeoutSeconds": 0, "timeoutPolicy": "ALERT_ONLY",
        });
        client.send(&Call::post("/api/metadata/workflow", definition.to_string())?).await?;
    }
    Ok(())
}

fn now_ms() -> Result<u64> {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).context("the clock is before 1970")?;
    Ok(u64::try_from(since.as_millis())?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_mixture_is_what_the_searches_count_on() {
        for starts in [10_000, 100_000] {
            let filled = Filled { starts, samples: Vec::new(), from_ms: 0, to_ms: 0 };
            assert_eq!(filled.executions(), starts + starts / 100);
            assert_eq!(filled.count(Seed::is_open), starts / 10);
            assert_eq!(filled.count(|seed| seed.is_open() && seed.is_parent()), 0);
            assert_eq!(filled.count(Seed::has_rare_word), RARE_WORDS);
            assert!(filled.count(|seed| seed.name() == SMALL) >= starts / 20);
            let open_and_large = |seed: Seed| seed.is_open() && seed.name() == LARGE;
            assert_eq!(filled.count(open_and_large), starts / 20);
            let samples = filled.count(Seed::is_sample);
            assert!((10..=SAMPLES).contains(&samples), "{samples}");
            assert_eq!(filled.count(|seed| seed.is_sample() && !seed.is_parent()), 0);
        }
    }
}
