//! # Parked: an execution that is set aside says so, also after a crash, until it is lifted

use semel_runtime::{Class, Work};
use serde_json::Value;

use crate::house::House;
use crate::raw::Request;

fn explained(house: &House, id: &str) -> Value {
    let answer = house.send(&Request::get(format!("/api/workflow/{id}/explain")));
    assert_eq!(answer.status, 200, "{}", answer.text());
    answer.json()
}

#[test]
fn a_parked_run_is_explained_until_it_is_lifted() {
    let mut house = House::built();
    house.define("aside");
    let id = house.start("aside");
    let reason = "the engine panicked".to_owned();
    let park = Work::Park(id.parse().expect("an id"), reason);
    let parked = house.tokio().block_on(house.runtime().submit(park, Class::Operation));
    assert!(parked.is_ok(), "it is parked");
    for _ in 0..2 {
        let told = explained(&house, &id);
        let first = &told["waits"][0];
        assert_eq!(first["kind"], "PARKED", "{told:#}");
        let sentence = first["sentence"].as_str().unwrap_or_default();
        assert!(sentence.contains("nothing happens to it: the engine panicked"), "{sentence}");
        assert_eq!(first["whatToDo"]["command"], format!("semel workflow unpark {id}"));
        assert_eq!(told["waits"][1]["kind"], "NO_WORKER", "what it was at is told too: {told:#}");
        house.reopen(false);
    }
    let lift = Request::new("DELETE", format!("/api/workflow/{id}/parked"));
    assert_eq!(house.send(&lift).status, 200);
    assert_eq!(explained(&house, &id)["waits"][0]["kind"], "NO_WORKER");
}
