//! # Polls: of two who ask for one task, one gets it

use std::collections::BTreeSet;
use std::time::Duration;

use semel_engine::Queue;
use semel_tests::process::is_full;

use crate::house::House;
use crate::raw::Request;

#[test]
fn two_polls_race_for_one_task_and_one_of_them_gets_it() {
    let rounds = if is_full() { 10_000 } else { 1_000 };
    let house = House::built();
    house.define("race");
    let mut handed = BTreeSet::new();
    let mut last = 0;
    for _ in 0..rounds {
        house.start("race");
        let poll = |worker: &str| {
            let queue = Queue { task_type: "race".to_owned(), domain: None };
            house.runtime().claim(queue, Some(worker.to_owned()), 1, None, Duration::ZERO)
        };
        let (ann, bob) = house.tokio().block_on(async { tokio::join!(poll("ann"), poll("bob")) });
        let (ann, bob) = (ann.expect("a poll is answered"), bob.expect("a poll is answered"));
        assert_eq!(ann.len() + bob.len(), 1, "one task was there");
        for out in ann.into_iter().chain(bob) {
            let row = out.delivery;
            assert!(handed.insert(row.task), "task {} was handed out before", row.task);
            assert!(row.hand_out.fence > last, "fences grow");
            last = row.hand_out.fence;
        }
    }
    let left = house.send(&Request::get("/api/tasks/poll/batch/race?timeout=0"));
    assert_eq!(left.text(), "[]");
}
