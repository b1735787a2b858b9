//! # Storage: keys do not stay for ever

use std::sync::Arc;

use semel_model::Digest;
use semel_runtime::{KeyedRequest, Looked, REQUEST_KEY_MS, RequestKey, Settled, StoredAnswer};

use crate::house::House;
use crate::raw::Request;

const KEYS: usize = 10_000;

fn named(at: usize) -> RequestKey {
    RequestKey::new("somebody", &format!("key-{at}"), Digest::of(b"the same"), "r")
}

#[test]
fn ten_thousand_keys_come_and_go() {
    let house = House::built();
    let runtime = Arc::clone(house.runtime());
    let baseline = house.request_records();
    house.tokio().block_on(async {
        let settle = |at| {
            let runtime = Arc::clone(&runtime);
            tokio::spawn(async move {
                let request = Arc::new(KeyedRequest::new(named(at), runtime.now(), None));
                let answer = StoredAnswer { status: 200, headers: vec![], body: String::new() };
                let settled = runtime.settle_request(&request, answer).await;
                assert!(matches!(settled, Ok(Settled::Kept)), "{settled:?}");
            })
        };
        for from in (0..KEYS).step_by(500) {
            for one in (from..from + 500).map(settle).collect::<Vec<_>>() {
                one.await.expect("it is kept");
            }
        }
    });
    house.settle();
    assert_eq!(house.request_records(), baseline + KEYS);
    house.advance(REQUEST_KEY_MS - 1);
    let looked = house.tokio().block_on(runtime.look_for_request(&named(7)));
    assert!(matches!(looked, Ok(Looked::Answered { .. })), "{looked:?}");
    house.advance(1);
    let looked = house.tokio().block_on(runtime.look_for_request(&named(7)));
    assert!(matches!(looked, Ok(Looked::New)), "{looked:?}");
    for _ in 0..KEYS {
        if house.request_records() == baseline {
            return;
        }
        house.advance(10_000);
    }
    panic!("{} records are left", house.request_records());
}

#[test]
fn a_key_whose_time_is_over_is_new() {
    let house = House::built();
    house.define("over");
    let start =
        Request::post("/api/workflow/over", &serde_json::json!({})).header("Idempotency-Key", "k");
    let first = house.send(&start).text();
    house.settle();
    assert_eq!(house.send(&start).text(), first);
    house.advance(REQUEST_KEY_MS);
    assert_ne!(house.send(&start).text(), first);
}
