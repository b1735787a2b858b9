//! # Patience: `Retry-After`, leases while a request runs, how many at one time

use semel_tests::oracle::Fault;
use serde_json::{Value, json};

use crate::scene::{OPTIONS, Scene};

fn later(said: &[(&str, &str)]) -> Vec<Fault> {
    let headers = said.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned()));
    vec![Fault::Refuse(503, headers.collect())]
}

fn second(run: &Value) -> bool {
    run["tasks"].as_array().is_some_and(|tasks| tasks.len() == 2)
}

#[test]
fn the_other_side_says_when_to_come_again() {
    let scene = Scene::set();
    scene.define("free", json!({}), json!({"retryCount": 1}));
    let capped = json!({"retryCount": 1, "maxRetryDelaySeconds": 5});
    scene.define("capped", json!({}), capped);
    let date = "Sun, 06 Nov 1994 08:49:37 GMT";
    let moment = "Sun, 06 Nov 1994 08:50:07 GMT";
    for (workflow, order, said, seconds) in [
        ("free", "seconds", later(&[("Retry-After", "30")]), 30),
        ("free", "moment", later(&[("Retry-After", moment), ("Date", date)]), 30),
        ("capped", "capped", later(&[("Retry-After", "30")]), 5),
    ] {
        scene.oracle.plan(order, &said);
        let id = scene.start(workflow, order);
        let run = scene.when(&id, "there is a second attempt", second);
        assert_eq!(run["tasks"][1]["callbackAfterSeconds"], seconds, "{order}");
        assert_eq!(run["tasks"][1]["status"], "SCHEDULED", "{order}");
        scene.advance(seconds);
        assert_eq!(scene.over(&id)["status"], "COMPLETED", "{order}");
        assert_eq!(scene.oracle.effects(order), 1);
    }
}

#[test]
fn a_lease_is_renewed_while_the_answer_is_waited_for() {
    let scene = Scene::set();
    let policy = json!({"retryCount": 0, "responseTimeoutSeconds": 1});
    scene.define("slow", json!({"readTimeOut": 60_000}), policy);
    scene.oracle.plan("s", &[Fault::Held]);
    let id = scene.start("slow", "s");
    scene.heard("s", 1);
    let first = scene.run(&id)["tasks"][0]["leaseUntil"].as_i64().expect("it is held");
    let is_renewed = |run: &Value| {
        run["tasks"][0]["leaseUntil"].as_i64().is_some_and(|until| until > first + 1_000)
    };
    scene.when(&id, "the lease is renewed beyond its first end", is_renewed);
    scene.oracle.release();
    assert_eq!(scene.task(&id)["status"], "COMPLETED");
    assert_eq!(scene.oracle.heard("s").len(), 1);
}

#[test]
fn only_so_many_requests_run_at_one_time() {
    let options = [&OPTIONS[..], &["--store", "memory", "--http-requests-max", "2"]].concat();
    let scene = Scene::set_with(&options);
    scene.define("held", json!({"readTimeOut": 60_000}), json!({}));
    let orders: Vec<String> = (0..6).map(|at| format!("h{at}")).collect();
    for order in &orders {
        scene.oracle.plan(order, &[Fault::Held]);
    }
    let runs: Vec<String> = orders.iter().map(|order| scene.start("held", order)).collect();
    let heard = || orders.iter().map(|order| scene.oracle.heard(order).len()).sum::<usize>();
    semel_tests::process::until("two are open", semel_tests::process::DEADLINE, || {
        (heard() == 2).then_some(())
    })
    .expect("two are sent");
    scene.oracle.release();
    for id in runs {
        assert_eq!(scene.over(&id)["status"], "COMPLETED");
    }
    assert_eq!(scene.oracle.open_max(), 2);
}
