//! # The clients: they race for a few keys, and remember what they asked and were told

use std::collections::BTreeMap;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use anyhow::{Context as _, Result, bail, ensure};
use reqwest::Method;
use semel_tests::dice::Dice;
use semel_tests::linearizability::{Asked, Operation, Status, Told};
use semel_tests::process::{Answer, Caller, DEADLINE, until};
use semel_tests::site::Site;
use serde_json::json;

const NAME: &str = "raced";

pub(crate) const STRATEGIES: [&str; 6] = [
    "FAIL",
    "RETURN_EXISTING",
    "FAIL_ON_RUNNING",
    "RETURN_EXISTING_UNLESS_FAILED",
    "TERMINATE_EXISTING",
    "RETURN_RUNNING",
];

/// How large a history is.
pub(crate) struct Plan {
    pub(crate) clients: usize,
    pub(crate) operations: u64,
    pub(crate) keys: u64,
    pub(crate) kills: u64,
}

/// What all clients did, by key.
pub(crate) type Histories = BTreeMap<String, Vec<Operation<Asked, Told>>>;

pub(crate) fn define(caller: &Caller) -> Result<()> {
    let definition = json!({"name": NAME, "version": 1, "schemaVersion": 2, "tasks": [
        {"name": NAME, "taskReferenceName": "only", "type": "SIMPLE"}]});
    let answer = caller.post("/api/metadata/workflow?overwrite=true", &definition)?;
    ensure!(answer.status == 200, "{answer:?}");
    Ok(())
}

/// What the clients of one history share.
struct Arena<'a> {
    caller: Caller,
    prefix: &'a str,
    plan: &'a Plan,
    /// The one order of all calls and answers.
    time: AtomicU64,
    begun: AtomicU64,
    broken: AtomicBool,
    seen: Mutex<Histories>,
    runs: Mutex<BTreeMap<String, Vec<String>>>,
}

/// Lets the clients loose, and kills a server under them now and then.
pub(crate) fn race(
    site: &mut Site,
    prefix: &str,
    plan: &Plan,
    dice: &mut Dice,
) -> Result<Histories> {
    let arena = Arena {
        caller: site.caller()?,
        prefix,
        plan,
        time: AtomicU64::new(0),
        begun: AtomicU64::new(0),
        broken: AtomicBool::new(false),
        seen: Mutex::default(),
        runs: Mutex::default(),
    };
    std::thread::scope(|scope| {
        let clients: Vec<_> = (0..plan.clients)
            .map(|number| {
                let (arena, dice) = (&arena, dice.fork());
                scope.spawn(move || Client { arena, number, dice, requests: 0 }.live())
            })
            .collect();
        let killed = arena.kill(site, dice);
        let lives: Result<Vec<()>> =
            clients.into_iter().map(|client| client.join().expect("it did not panic")).collect();
        killed.and(lives)
    })?;
    Ok(arena.seen.into_inner().expect("nobody panicked"))
}

impl Arena<'_> {
    fn kill(&self, site: &mut Site, dice: &mut Dice) -> Result<()> {
        let share = self.plan.operations / (self.plan.kills + 1);
        for kill in 1..=self.plan.kills {
            let at = share * kill + dice.below(share / 2 + 1);
            let is_there = || self.begun.load(Ordering::Relaxed) >= at || self.is_broken();
            until("the clients are at it", DEADLINE, || is_there().then_some(()))?;
            let restarted = site.any(dice).restart();
            restarted.inspect_err(|_| self.broken.store(true, Ordering::Relaxed))?;
        }
        Ok(())
    }

    fn is_broken(&self) -> bool {
        self.broken.load(Ordering::Relaxed)
    }

    fn tick(&self) -> u64 {
        self.time.fetch_add(1, Ordering::SeqCst)
    }

    fn remember(&self, key: &str, operation: Operation<Asked, Told>) {
        let seen = match &operation.told {
            Some((_, Told::Created(run) | Told::Existing(run) | Told::Conflict(run))) => Some(run),
            Some((_, Told::Latest(Some((run, _))))) => Some(run),
            _ => None,
        };
        if let Some(run) = seen {
            let mut runs = self.runs.lock().expect("nobody panicked");
            let runs = runs.entry(key.to_owned()).or_default();
            if !runs.contains(run) {
                runs.push(run.clone());
            }
        }
        let mut all = self.seen.lock().expect("nobody panicked");
        all.entry(key.to_owned()).or_default().push(operation);
    }
}

struct Client<'a> {
    arena: &'a Arena<'a>,
    number: usize,
    dice: Dice,
    requests: u64,
}

impl Client<'_> {
    fn live(mut self) -> Result<()> {
        let arena = self.arena;
        while arena.begun.fetch_add(1, Ordering::Relaxed) < arena.plan.operations
            && !arena.is_broken()
        {
            let key = format!("{}-{}", arena.prefix, self.dice.below(arena.plan.keys));
            let asked = self.choose(&key);
            let done = self.ask(&key, asked);
            done.inspect_err(|_| arena.broken.store(true, Ordering::Relaxed))?;
        }
        Ok(())
    }

    fn choose(&mut self, key: &str) -> Asked {
        let known = self.arena.runs.lock().expect("nobody panicked");
        let known = known.get(key).cloned().unwrap_or_default();
        let choice = self.dice.below(100);
        // The newest ones mostly: what happens to them matters to others.
        let back = self.dice.below(3).min(known.len().saturating_sub(1) as u64) as usize;
        let run = known.len().checked_sub(1 + back).map(|at| known[at].clone());
        match (choice, run) {
            (0..20, _) => Asked::Look,
            (20..24, _) => Asked::Reset,
            (24..36, Some(run)) => Asked::Terminate(run),
            (36..48, Some(run)) => Asked::Complete(run),
            (48..56, Some(run)) => Asked::Restart(run),
            _ => {
                let at = self.dice.below(STRATEGIES.len() as u64) as usize;
                self.requests += 1;
                let request = format!("{}-{}-{}", self.arena.prefix, self.number, self.requests);
                Asked::Start(STRATEGIES[at], request)
            }
        }
    }

    /// Asks; a start whose answer was lost is asked once more, under the same name.
    fn ask(&mut self, key: &str, asked: Asked) -> Result<()> {
        let is_lost = self.once(key, &asked)?;
        if is_lost && matches!(asked, Asked::Start(..)) && self.dice.once_in(2) {
            self.once(key, &asked)?;
        }
        Ok(())
    }

    /// True: nobody knows what became of it. What was never sent, or was turned away unread, is
    /// asked again until it was not.
    fn once(&mut self, key: &str, asked: &Asked) -> Result<bool> {
        let told = until("the server takes a request", DEADLINE, || {
            let asked_at = self.arena.tick();
            match self.send(key, asked) {
                Ok(answer) if answer.status == 429 => None,
                Ok(answer) if answer.status == 503 => Some(Ok((asked_at, None))),
                Ok(answer) => Some(read(asked, &answer).map(|told| (asked_at, Some(told)))),
                Err(error) if was_not_sent(&error) => None,
                Err(_) => Some(Ok((asked_at, None))),
            }
        });
        let (asked_at, told) = told??;
        let told = told.map(|told| (self.arena.tick(), told));
        let is_lost = told.is_none();
        let client = self.number;
        self.arena.remember(key, Operation { client, asked_at, told, asked: asked.clone() });
        Ok(is_lost)
    }

    fn send(&self, key: &str, asked: &Asked) -> Result<Answer> {
        let caller = &self.arena.caller;
        let record = format!("/api/idempotency/workflow/{NAME}/{key}");
        match asked {
            Asked::Start(strategy, request) => {
                let body = json!({"name": NAME, "idempotencyKey": key,
                    "idempotencyStrategy": strategy});
                caller.post(&format!("/api/workflow?requestId={request}"), &body)
            }
            Asked::Look => caller.get(&record),
            Asked::Reset => caller.ask(Method::DELETE, &record, None),
            Asked::Terminate(run) => {
                caller.ask(Method::DELETE, &format!("/api/workflow/{run}"), None)
            }
            Asked::Complete(run) => {
                // Each says something else, so that none is a repeat of another.
                let output = json!({"by": self.number, "at": self.arena.tick()});
                caller.post(&format!("/api/tasks/{run}/only/COMPLETED"), &output)
            }
            Asked::Restart(run) => caller.post(&format!("/api/workflow/{run}/restart"), &json!({})),
        }
    }
}

/// The connection was refused: nobody was there.
fn was_not_sent(error: &anyhow::Error) -> bool {
    error.downcast_ref::<reqwest::Error>().is_some_and(reqwest::Error::is_connect)
}

fn read(asked: &Asked, answer: &Answer) -> Result<Told> {
    let body = answer.json();
    let text = |name: &str| body[name].as_str().map(str::to_owned);
    Ok(match (asked, answer.status) {
        (Asked::Start(..), 200) => match answer.header("x-idempotency-outcome") {
            Some("CREATED") => Told::Created(answer.body.clone()),
            Some("RETURNED_EXISTING") => Told::Existing(answer.body.clone()),
            other => bail!("outcome {other:?} of {asked:?}"),
        },
        (Asked::Start(..), 409) => {
            let run = body["metadata"]["existingWorkflowId"].as_str();
            Told::Conflict(run.context("a conflict names the run")?.to_owned())
        }
        (Asked::Look | Asked::Reset, 404) => Told::Unknown,
        (Asked::Look, 200) => Told::Latest(match text("workflowId") {
            Some(run) => Some((run, status(text("status").as_deref())?)),
            None => None,
        }),
        (Asked::Reset, 204) => Told::Done,
        // Nothing of that name was open: no task is named.
        (Asked::Complete(_), 200 | 204) if answer.body.is_empty() => Told::Refused,
        (Asked::Terminate(_) | Asked::Complete(_) | Asked::Restart(_), 200 | 204) => Told::Done,
        (Asked::Terminate(_) | Asked::Complete(_) | Asked::Restart(_), 400..500) => Told::Refused,
        _ => bail!("{asked:?} is answered {answer:?}"),
    })
}

fn status(text: Option<&str>) -> Result<Status> {
    Ok(match text {
        Some("RUNNING") => Status::Live,
        Some("COMPLETED") => Status::Completed,
        Some("TERMINATED") => Status::Terminated,
        other => bail!("nobody expects status {other:?}"),
    })
}
