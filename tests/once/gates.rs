//! # Gates under deaths: no more runs are under way than may be, and none is forgotten
//!
//! Runs are started, finished and ended in an order that a seed chooses, by a server that dies after
//! every commit. Places are neither lost nor given twice.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use crate::house::House;
use crate::raw::Request;

const TURNS: usize = 40;

struct Crowd {
    house: House,
    limit: usize,
    chance: u64,
    requests: usize,
    live: BTreeSet<String>,
}

impl Crowd {
    fn gathered(limit: usize) -> Self {
        let mut house = House::built();
        let workflow = json!({"name": "gate", "version": 1, "concurrency": {"limit": limit},
            "tasks": [{"name": "gate", "taskReferenceName": "only", "type": "SIMPLE"}]});
        let answer = house.insist(&Request::post("/api/metadata/workflow", &workflow));
        assert!(matches!(answer.status, 200 | 409), "{}", answer.text());
        let chance = u64::try_from(limit).expect("a limit is small");
        Self { house, limit, chance, requests: 0, live: BTreeSet::new() }
    }

    fn below(&mut self, limit: usize) -> usize {
        const FACTOR: u64 = 6_364_136_223_846_793_005;
        self.chance = self.chance.wrapping_mul(FACTOR).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(self.chance >> 33).expect("31 bits fit") % limit
    }

    /// Until it is answered, under one key.
    fn insist(&mut self, request: Request) -> String {
        self.requests += 1;
        let answer = self.house.insist(&request.header("Idempotency-Key", self.key().as_str()));
        assert_eq!(answer.status, 200, "{}", answer.text());
        answer.text()
    }

    fn key(&self) -> String {
        format!("key-{}", self.requests)
    }

    fn start(&mut self) {
        let run = self.insist(Request::post("/api/workflow/gate", &json!({})));
        assert!(self.live.insert(run), "every start has a run of its own");
    }

    fn end_one(&mut self) {
        let at = self.below(self.live.len());
        let run = self.live.iter().nth(at).expect("one of them").clone();
        self.insist(Request::new("DELETE", format!("/api/workflow/{run}")));
        self.live.remove(&run);
    }

    /// Everything that can be taken is done.
    fn work(&mut self) {
        self.requests += 1;
        let key = self.key();
        let path = format!("/api/tasks/poll/batch/gate?workerid=w&count=10&timeout=0&pollId={key}");
        let taken = self.house.insist(&Request::get(path)).json();
        let taken = taken.as_array().expect("a poll gives a list").clone();
        assert!(taken.len() <= self.limit, "{} tasks at once: {taken:?}", taken.len());
        for task in taken {
            let run = task["workflowInstanceId"].as_str().expect("a task names its run");
            assert!(self.live.remove(run), "{run} was not waited for");
            self.insist(Request::post("/api/tasks", &report(&task)));
        }
    }

    fn under_way(&self) -> usize {
        let runs = self
            .live
            .iter()
            .map(|run| self.house.send(&Request::get(format!("/api/workflow/{run}"))).json());
        runs.filter(|run| run["rateLimited"] == false).count()
    }
}

fn report(task: &Value) -> Value {
    json!({"taskId": task["taskId"], "workflowInstanceId": task["workflowInstanceId"],
        "workerId": "w", "status": "COMPLETED", "fenceToken": task["fenceToken"]})
}

#[test]
fn places_survive_a_server_that_dies_after_every_commit() {
    for limit in 1..=3 {
        let mut crowd = Crowd::gathered(limit);
        for _ in 0..TURNS {
            match crowd.below(4) {
                0 | 1 => crowd.start(),
                2 if !crowd.live.is_empty() => crowd.end_one(),
                _ => crowd.work(),
            }
            crowd.house.reopen(false);
            crowd.house.settle();
            let under_way = crowd.under_way();
            let expected = crowd.live.len().min(limit);
            assert_eq!(under_way, expected, "of {} with limit {limit}", crowd.live.len());
        }
        for _ in 0..TURNS {
            if crowd.live.is_empty() {
                break;
            }
            crowd.work();
            crowd.house.reopen(false);
            crowd.house.settle();
        }
        assert!(crowd.live.is_empty(), "{:?} were forgotten", crowd.live);
    }
}
