//! # Patience: `Retry-After`, leases while a request runs, how many at one time

use semel_tests::oracle::Fault;
use semel_tests::process::{DEADLINE, until};
use serde_json::{Value, json};

use crate::scene::{Dripping, OPTIONS, Scene, UNKNOWN_HOST, with};

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
fn a_service_that_drips_for_ever_gives_its_places_back() {
    let options = [&OPTIONS[..], &["--store", "memory"]].concat();
    let few = ["--http-requests-max", "2", "--http-total-ms", "1500"];
    let scene = Scene::set_with(&[&options[..], &few].concat());
    let dripping = Dripping::serve();
    // Together less than the server allows, which would else be raised to what they allow.
    let post = json!({"uri": dripping.uri(), "connectionTimeOut": 500, "readTimeOut": 500});
    scene.define("dripping", post.clone(), json!({"retryCount": 0}));
    scene.define("reading", with(post, json!({"method": "GET"})), json!({"retryCount": 0}));
    scene.define("charge", json!({}), json!({}));
    let (posted, got) = (scene.start("dripping", "d1"), scene.start("reading", "d2"));
    let both = || (dripping.open() == 2).then_some(());
    until("both places are taken", DEADLINE, both).expect("both are sent");
    let charged = scene.start("charge", "c");
    assert_eq!(scene.task(&charged)["status"], "COMPLETED");
    assert_eq!(scene.oracle.effects("c"), 1);
    for id in [posted, got] {
        let task = scene.task(&id);
        assert_eq!(task["status"], "FAILED", "{task:#}");
        let reason = task["reasonForIncompletion"].as_str().unwrap_or_default();
        assert!(reason.contains("did not end within 1500 ms in all"), "{reason}");
    }
}

#[test]
fn a_service_that_drips_leaves_places_for_the_others() {
    let options = [&OPTIONS[..], &["--store", "memory", "--http-requests-max", "8"]].concat();
    let scene = Scene::set_with(&options);
    let dripping = Dripping::serve();
    let read = json!({"uri": dripping.uri(), "method": "GET"});
    for workflow in ["slow", "slower"] {
        scene.define(workflow, read.clone(), json!({"retryCount": 0}));
    }
    scene.define("charge", json!({}), json!({}));
    let slow: Vec<String> = (0..40).map(|at| scene.start("slow", &format!("s{at}"))).collect();
    until("it has its share", DEADLINE, || (dripping.open() == 5).then_some(())).expect("five");
    // Another workflow at the same host, and another host.
    let slower: Vec<String> = (0..4).map(|at| scene.start("slower", &format!("t{at}"))).collect();
    for order in ["c1", "c2", "c3"] {
        let charged = scene.start("charge", order);
        assert_eq!(scene.task(&charged)["status"], "COMPLETED");
        assert_eq!(scene.oracle.effects(order), 1);
    }
    assert_eq!(dripping.open(), 5, "what waits for a share stays where it is");
    let waits_at = |id: &str| scene.waits(id);
    let last = slow.last().expect("there are some");
    assert!(waits_at(last).contains("its workflow has as many HTTP requests open"));
    until("it waits for the host", DEADLINE, || {
        waits_at(&slower[0]).contains("the host it speaks to").then_some(())
    })
    .expect("who waits for a host is told so");
    let numbers = scene.caller.get("/metrics").expect("an answer").body;
    let by_host = |line: &&str| line.starts_with("semel_http_waiting{share=\"host\"}");
    let counted = numbers.lines().find(by_host).unwrap_or_default();
    assert!(!counted.is_empty() && !counted.ends_with(" 0"), "{counted}");
}

#[test]
fn a_post_that_was_sent_when_its_time_was_over_is_in_doubt() {
    let scene = Scene::set_with(&UNKNOWN_HOST);
    scene.define("slow", json!({"readTimeOut": 60_000, "totalTimeOut": 300}), json!({}));
    scene.oracle.plan("s", &[Fault::Slow]);
    let id = scene.start("slow", "s");
    let task = scene.doubtful(&id);
    assert_eq!(task["status"], "IN_PROGRESS", "{task:#}");
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
    let two = || (heard() == 2).then_some(());
    until("two are open", DEADLINE, two).expect("two are sent");
    scene.oracle.release();
    for id in runs {
        assert_eq!(scene.over(&id)["status"], "COMPLETED");
    }
    assert_eq!(scene.oracle.open_max(), 2);
}
