//! # Idle: what a task costs while there is little to do, in rounds and commits

use serde_json::json;

use crate::house::{House, report};
use crate::raw::Request;

const RUNS: u64 = 20;

fn number(house: &House, name: &str) -> u64 {
    let text = house.send(&Request::get("/metrics")).text();
    let lines = text.lines().filter(|line| line.starts_with(name));
    lines.filter_map(|line| line.rsplit(' ').next()?.parse::<f64>().ok()).sum::<f64>() as u64
}

#[test]
fn a_run_of_one_task_costs_a_commit_to_begin_and_one_to_end() {
    let house = House::own(&[]);
    house.define("idle");
    let committed = |house: &House| number(house, r#"semel_rounds_total{outcome="committed"}"#);
    let all = |house: &House| number(house, "semel_rounds_total{");
    let (committed_before, all_before) = (committed(&house), all(&house));
    for _ in 0..RUNS {
        house.start("idle");
        let task = house.claim("idle");
        let done = house.send(&Request::post("/api/tasks", &report(&task, "COMPLETED", json!({}))));
        assert_eq!(done.status, 200, "{}", done.text());
    }
    // A start, a claim and a report; notes that the store is alive are few.
    let (commits, rounds) = (committed(&house) - committed_before, all(&house) - all_before);
    assert!((3 * RUNS..=3 * RUNS + 5).contains(&commits), "{commits} commits for {RUNS} runs");
    assert!(rounds <= 3 * RUNS + 10, "{rounds} rounds for {RUNS} runs");
}
