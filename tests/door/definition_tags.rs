//! # Tags of definitions

use serde_json::{Value, json};

use crate::house::house;
use crate::raw::Request;

#[test]
fn tags_of_a_definition_are_set_added_and_taken_away() {
    let house = house();
    house.define("tagged");
    for path in ["/api/metadata/workflow/tagged/tags", "/api/metadata/task/tagged/tags"] {
        let tags = || -> Vec<Value> {
            let all = house.send(&Request::get(path)).json();
            all.as_array().into_iter().flatten().map(|tag| tag["value"].clone()).collect()
        };
        let tag = |value: &str| json!({"key": "team", "value": value, "type": "METADATA"});
        let send = |method: &str, body: Value| {
            let answer = house.send(&Request::new(method, path).json(&body));
            assert_eq!(answer.status, 200, "{}", answer.text());
        };
        assert_eq!(tags(), [json!(null); 0]);
        send("POST", tag("a"));
        send("POST", tag("a"));
        send("POST", tag("b"));
        assert_eq!(tags(), ["a", "b"]);
        send("DELETE", tag("a"));
        assert_eq!(tags(), ["b"]);
        send("PUT", json!([tag("c"), tag("d")]));
        assert_eq!(tags(), ["c", "d"]);
        let all = house.send(&Request::get("/api/metadata/tags")).json();
        assert!(all.as_array().is_some_and(|all| all.contains(&tag("d"))), "{all}");
        send("PUT", json!([]));
        assert_eq!(tags(), [json!(null); 0]);
    }
    for kind in ["workflow", "task"] {
        let nobody = Request::get(format!("/api/metadata/{kind}/nobody/tags"));
        assert_eq!(house.refuses(&nobody).status, 404);
    }
}
