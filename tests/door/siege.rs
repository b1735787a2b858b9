//! # The siege: hostile requests by the thousand, and a quiet tenant beside them
//!
//! `cargo test` sends 2,000, `SEMEL_FULL=1` 10,000, the soak 200,000. One seed draws them; it is printed, and
//! `SEMEL_SEED` repeats it. **May not:** assert how long anything takes; the ratio of the tenant's p99 is printed.

use std::fmt;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use semel_tests::dice::Dice;
use semel_tests::process::{Answer, Caller, DEADLINE, is_full, until};
use serde_json::{Value, json};

use crate::attacker::{Attacker, Seen};
use crate::house::{House, report};
use crate::memory::{ENDED, number, resident_bytes};
use crate::raw::Request;
use crate::routes::{ROUTES, Subject};

const ATTACKERS: usize = 4;
const QUIET: &str = "s_quiet";

/// Polled until it is so; only a server that never gets there takes so long.
const PATIENCE: Duration = Duration::from_secs(180);

#[test]
fn under_siege_a_quiet_tenant_goes_on() {
    siege(if is_full() { 10_000 } else { 2_000 });
}

#[test]
#[ignore = "200,000 hostile requests: ./check soak door"]
fn soak_under_siege_a_quiet_tenant_goes_on() {
    siege(200_000);
}

fn siege(requests: usize) {
    let dice = Dice::thrown();
    let house = House::locked(&["--execute-wait-ms-max", "10", "--poll-wait-ms-max", "100"]);
    house.define(QUIET);
    let subject = Subject::made(&house, "s_warm");
    for route in ROUTES {
        house.send(&subject.request(route));
    }
    let mut quiet = Quiet::of(&house);
    let runs = (requests / 20).min(2_000);
    // The first calls make what all others find.
    quiet.go_on(runs);
    quiet.took.clear();
    quiet.go_on(runs);
    let alone = quiet.p99();
    eprintln!("the tenant alone: {alone}");
    if requests > 2_000 {
        let gone = until("ended runs are dropped", PATIENCE, || {
            (number(&house, ENDED) == 0.0).then_some(())
        });
        gone.unwrap_or_else(|error| panic!("{error:#}"));
    }
    let idle = resident_bytes(&house);
    // What as much harmless work does to the tenant, by as many.
    let ask = || harmless(&house, requests / 4);
    beside(&mut quiet, vec![ask; ATTACKERS]);
    let busy = quiet.p99();
    eprintln!("beside harmless requests: {busy}, {}", busy.ratio_to(&alone));

    let began = Instant::now();
    let seen = attack(&house, requests, dice, &mut quiet);
    eprintln!(
        "{} requests in {:?}, {} connections without an answer: {:?}",
        seen.requests,
        began.elapsed(),
        seen.mute,
        seen.statuses
    );
    let (besieged, height) = (quiet.p99(), resident_bytes(&house));
    eprintln!("beside the siege: {besieged}, {}", besieged.ratio_to(&alone));

    assert!(seen.faults.is_empty(), "{}", seen.faults.join("\n"));
    assert!(seen.requests >= requests, "{}", seen.requests);
    house.is_healthy();
    assert!(!house.log().contains("a request failed"), "{}", house.log());
    quiet.is_complete(&house);
    let given_back = until("memory is given back", PATIENCE, || {
        let now = resident_bytes(&house);
        (now <= 2 * idle).then_some(now)
    });
    let now = resident_bytes(&house);
    eprintln!("resident: {idle} bytes idle, {height} at the end of it, {now} after");
    given_back.unwrap_or_else(|error| panic!("{error:#}: {idle} bytes idle, {now} after"));
}

fn attack(house: &House, requests: usize, mut dice: Dice, quiet: &mut Quiet) -> Seen {
    let attackers = (0..ATTACKERS).map(|at| {
        let dice = dice.fork();
        move || Attacker::new(house, at, dice).attack(requests / ATTACKERS)
    });
    let mut all = Seen::default();
    for seen in beside(quiet, attackers.collect()) {
        all.add(seen);
    }
    all
}

/// Asks for something small that is there, on a new connection each time, as attackers do.
fn harmless(house: &House, requests: usize) {
    let request = Request::get(format!("/api/metadata/workflow/{QUIET}"));
    for _ in 0..requests / ATTACKERS {
        assert_eq!(house.send(&request).status, 200);
    }
}

/// All of them at once; the tenant goes on until the last one is through.
fn beside<T: Send>(quiet: &mut Quiet, others: Vec<impl FnOnce() -> T + Send>) -> Vec<T> {
    let is_over = AtomicBool::new(false);
    quiet.took.clear();
    thread::scope(|scope| {
        let others: Vec<_> = others.into_iter().map(|other| scope.spawn(other)).collect();
        let is_over = &is_over;
        let tenant = scope.spawn(move || {
            while !is_over.load(Ordering::Relaxed) {
                quiet.go_on(1);
            }
        });
        let ended: Vec<_> = others.into_iter().map(|other| other.join()).collect();
        is_over.store(true, Ordering::Relaxed);
        tenant.join().expect("every call of the tenant succeeds");
        ended.into_iter().map(|ended| ended.expect("it does what it came for")).collect()
    })
}

/// Who starts one-step workflows, and polls and completes them, and is nobody's enemy.
struct Quiet {
    caller: Caller,
    runs: Vec<String>,
    /// What was asked, and how long that took.
    took: Vec<(&'static str, Duration)>,
}

impl Quiet {
    fn of(house: &House) -> Self {
        let caller = Caller::with_token(house.address(), house.token()).expect("a client");
        Self { caller, runs: vec![], took: vec![] }
    }

    fn go_on(&mut self, runs: usize) {
        for _ in 0..runs {
            self.run();
        }
    }

    fn run(&mut self) {
        let start = format!("/api/workflow/{QUIET}");
        let run = self.timed("start", |caller| caller.post(&start, &json!({"given": 1}))).body;
        let poll = format!("/api/tasks/poll/{QUIET}?workerid=w&timeout=100");
        let task = until("the task is there", DEADLINE, || {
            let polled = self.timed("poll", |caller| caller.get(&poll));
            (polled.status == 200).then(|| polled.json())
        });
        let task = task.unwrap_or_else(|error| panic!("{error:#}: {run}"));
        assert_eq!(task["workflowInstanceId"], json!(run));
        let done = report(&task, "COMPLETED", json!({"n": 1}));
        self.timed("complete", |caller| caller.post("/api/tasks", &done));
        self.runs.push(run);
    }

    fn timed(
        &mut self,
        what: &'static str,
        call: impl Fn(&Caller) -> anyhow::Result<Answer>,
    ) -> Answer {
        let began = Instant::now();
        let answer = call(&self.caller).unwrap_or_else(|error| panic!("{what}: {error:#}"));
        self.took.push((what, began.elapsed()));
        assert!(matches!(answer.status, 200 | 204), "{what}: {answer:?}");
        answer
    }

    fn p99(&self) -> P99 {
        let of = |kind: &str| {
            let chosen = self.took.iter().filter(|(what, _)| kind.is_empty() || *what == kind);
            let mut took: Vec<_> = chosen.map(|(_, took)| *took).collect();
            took.sort_unstable();
            took[took.len() * 99 / 100]
        };
        let each = ["start", "poll", "complete"].map(|kind| (kind, of(kind))).to_vec();
        P99 { calls: self.took.len(), all: of(""), each }
    }

    /// Every run has ended well, with one task, and there is no other.
    fn is_complete(&self, house: &House) {
        for run in &self.runs {
            let seen: Value = house.send(&Request::get(format!("/api/workflow/{run}"))).json();
            let tasks = seen["tasks"].as_array().map(Vec::len);
            assert_eq!((&seen["status"], tasks), (&json!("COMPLETED"), Some(1)), "{seen}");
        }
        let search = format!("/api/workflow/search?query=workflowType%3D{QUIET}");
        let found = house.send(&Request::get(search)).json();
        assert_eq!(found["totalHits"], json!(self.runs.len()));
    }
}

/// The p99 of all calls, and of each kind.
struct P99 {
    calls: usize,
    all: Duration,
    each: Vec<(&'static str, Duration)>,
}

impl P99 {
    fn ratio_to(&self, other: &Self) -> String {
        format!("{:.1} x", self.all.as_secs_f64() / other.all.as_secs_f64())
    }
}

impl fmt::Display for P99 {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { calls, all, each } = self;
        write!(f, "{calls} calls, p99 {all:?} {each:?}")
    }
}
