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

#[test]
fn a_tag_has_any_type_or_none_and_is_given_back_as_it_came() {
    let house = house();
    house.define("typed");
    let secret = Request::new("PUT", "/api/secrets/typed").body("s");
    assert_eq!(house.send(&secret).status, 200);
    for path in ["/api/metadata/workflow/typed/tags", "/api/secrets/typed/tags"] {
        let tags = json!([{"key": "a", "type": "metadata", "value": "1"},
            {"key": "b", "type": "my own", "value": "2"}, {"key": "c", "value": "3"}]);
        let answer = house.send(&Request::new("PUT", path).json(&tags));
        assert_eq!(answer.status, 200, "{path} {}", answer.text());
        assert_eq!(house.send(&Request::get(path)).json(), tags);
    }
}

#[test]
fn a_tag_that_is_added_again_gets_the_type_that_is_sent() {
    let house = house();
    house.define("retyped");
    let path = "/api/metadata/workflow/retyped/tags";
    let tag = |kind: Value| json!({"key": "team", "type": kind, "value": "a"});
    for (sent, kept) in [("metadata", "metadata"), ("RATE", "RATE")] {
        let answer = house.send(&Request::post(path, &tag(json!(sent))));
        assert_eq!(answer.status, 200, "{}", answer.text());
        assert_eq!(house.send(&Request::get(path)).json(), json!([tag(json!(kept))]));
    }
    let plain = Request::post(path, &json!({"key": "team", "value": "a"}));
    assert_eq!(house.send(&plain).status, 200);
    assert_eq!(house.send(&Request::get(path)).json(), json!([tag(json!("RATE"))]));
}

#[test]
fn tags_inside_a_definition_tag_its_name() {
    let house = house();
    let tag = |value: &str| json!({"key": "team", "type": "METADATA", "value": value});
    let mut workflow = crate::house::definition("inside");
    workflow["tags"] = json!([tag("a")]);
    type Register = fn(&Value) -> Request;
    let roads: [(&str, Register); 2] = [
        ("/api/metadata/workflow/inside/tags", |it| {
            Request::post("/api/metadata/workflow?overwrite=true", it)
        }),
        ("/api/metadata/task/inside/tags", |it| {
            let task = json!([{"name": "inside", "tags": it["tags"],
                "overwriteTags": it["overwriteTags"]}]);
            Request::post("/api/metadata/taskdefs", &task)
        }),
    ];
    for (path, register) in roads {
        let tags = || house.send(&Request::get(path)).json();
        let mut workflow = workflow.clone();
        assert_eq!(house.send(&register(&workflow)).status, 200);
        assert_eq!(tags(), json!([tag("a")]));
        workflow["tags"] = json!([tag("b")]);
        workflow["overwriteTags"] = json!(false);
        assert_eq!(house.send(&register(&workflow)).status, 200);
        assert_eq!(tags(), json!([tag("a"), tag("b")]), "added");
        workflow["overwriteTags"] = json!(true);
        assert_eq!(house.send(&register(&workflow)).status, 200);
        assert_eq!(tags(), json!([tag("b")]), "instead of those before");
        house.send(&Request::post(path, &tag("c")));
        let read =
            path.strip_suffix("/tags").unwrap().replace("metadata/task/", "metadata/taskdefs/");
        let shown = house.send(&Request::get(&read)).json();
        assert_eq!(shown["tags"], json!([tag("b"), tag("c")]), "those that the name has now");
        workflow["tags"] = json!(null);
        assert_eq!(house.send(&register(&workflow)).status, 200);
        assert_eq!(tags(), json!([tag("b"), tag("c")]), "a definition that brings none keeps them");
        let asked = house.send(&Request::get(format!("{read}?metadata=true"))).json();
        assert_eq!(asked["tags"], json!([tag("b"), tag("c")]));
        assert_eq!(house.send(&Request::get(&read)).json()["tags"], json!(null));
        workflow["tags"] = json!("team:a");
        let kept = house.send(&register(&workflow));
        assert_eq!(kept.status, 200);
        let warning = kept.header("x-semel-warning").unwrap_or_default().to_owned();
        assert!(warning.starts_with("tags: is no list of tags"), "{warning}");
    }
}
