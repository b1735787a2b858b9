//! # Applications, keys and tokens: what they answer, and what a change of them does at once

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use serde_json::{Value, json};

use crate::access::{Closed, Holder, is_forbidden, is_unknown, mint};
use crate::house::{definition, house, report};
use crate::raw::Request;

fn claims(token: &str) -> Value {
    let parts: Vec<&str> = token.split('.').collect();
    assert_eq!(parts.len(), 3, "{token}");
    let bytes = URL_SAFE_NO_PAD.decode(parts[1]).expect("the claims are base64");
    serde_json::from_slice(&bytes).expect("the claims are JSON")
}

#[test]
fn a_token_is_a_jwt_for_its_key_that_ends() {
    let closed = Closed::built(&["--token-seconds", "60"]);
    let Holder { key, secret, token, .. } = &closed.admin;
    let lives = |token: &str| {
        let claims = claims(token);
        assert_eq!(claims["sub"], key.as_str());
        claims["exp"].as_u64().unwrap() - claims["iat"].as_u64().unwrap()
    };
    assert_eq!(lives(token), 60);
    for (expiration, seconds) in [(1, 1), (59, 59), (100_000, 60)] {
        let body = json!({"keyId": key, "keySecret": secret, "expiration": expiration});
        let minted = mint(&closed.house, &body).json();
        assert_eq!(lives(minted["token"].as_str().unwrap()), seconds);
    }
    for wrong in [json!(0), json!(-1), json!("soon")] {
        let body = json!({"keyId": key, "keySecret": secret, "expiration": wrong});
        let answer = mint(&closed.house, &body);
        assert_eq!(answer.status, 400, "{}", answer.text());
    }
    let get = || closed.admin.says(Request::get("/api/secrets"));
    closed.advance_seconds(57);
    assert_eq!(closed.house.send(&get()).status, 200);
    closed
        .house
        .send(&closed.admin.says(Request::post("/test/clock", &json!({"advanceMs": 4000}))));
    is_unknown(&closed.house.send(&get()), "EXPIRED_TOKEN", "after its end");
    let again = mint(&closed.house, &json!({"keyId": key, "keySecret": secret})).json();
    let again =
        Request::get("/api/secrets").header("X-Authorization", again["token"].as_str().unwrap());
    assert_eq!(closed.house.send(&again).status, 200, "a client gets another");
}

#[test]
fn an_unknown_key_and_a_wrong_secret_look_alike_and_ask_for_no_refresh() {
    let closed = Closed::built(&[]);
    let Holder { key, secret, .. } = &closed.admin;
    let inactive = closed.holder("inactive", &["ADMIN"]);
    closed.toggle(&inactive);
    let wrong = [
        (key.as_str(), "wrong"),
        (key, ""),
        (key, &secret[1..]),
        ("nobody", secret),
        ("", ""),
        (&inactive.key, &inactive.secret),
    ];
    let answers = wrong.map(|(key, secret)| {
        let answer = mint(&closed.house, &json!({"keyId": key, "keySecret": secret}));
        assert_eq!(answer.status, 401, "{}", answer.text());
        let body = answer.json();
        assert_eq!((&body["status"], &body["error"]), (&json!(401), &Value::Null), "{body}");
        body
    });
    assert!(answers.iter().all(|answer| *answer == answers[0]), "{answers:?}");
    for wrong in [json!({}), json!({"keyId": key}), json!([]), json!({"keyId": 1, "keySecret": 2})]
    {
        assert_eq!(mint(&closed.house, &wrong).status, 400, "{wrong}");
    }
}

#[test]
fn an_application_is_made_read_renamed_and_removed() {
    let closed = Closed::built(&[]);
    let made = closed.ask("POST", "/api/applications", &json!({"name": "shop"}));
    let admin = format!("/api/applications/key/{}", closed.admin.key);
    let admin = closed.ask("GET", &admin, &json!({}));
    let by = format!("app:{}", admin["id"].as_str().unwrap());
    assert_eq!((&made["name"], &made["createdBy"]), (&json!("shop"), &json!(by)));
    let path = format!("/api/applications/{}", made["id"].as_str().unwrap());
    assert_eq!(closed.ask("GET", &path, &json!({})), made);
    let renamed = closed.ask("PUT", &path, &json!({"name": "store"}));
    assert_eq!((&renamed["name"], &renamed["id"]), (&json!("store"), &made["id"]));
    let tag = json!([{"key": "team", "type": "METADATA", "value": "a"}]);
    closed.ask("PUT", &format!("{path}/tags"), &tag);
    assert_eq!(closed.ask("GET", &format!("{path}/tags"), &json!({})), tag);
    closed.ask("DELETE", &format!("{path}/tags"), &tag);
    assert_eq!(closed.ask("GET", &path, &json!({}))["tags"], json!([]));
    let listed = closed.ask("GET", "/api/applications", &json!({}));
    assert_eq!(listed.as_array().unwrap().len(), 2, "{listed}");
    assert_eq!(closed.ask("DELETE", &path, &json!({})), json!({}));
    for (method, path) in [
        ("GET", path.clone()),
        ("DELETE", path.clone()),
        ("GET", format!("{path}/tags")),
        ("GET", format!("{path}/accessKeys")),
        ("POST", format!("{path}/accessKeys")),
        ("POST", format!("{path}/roles/USER")),
        ("DELETE", format!("{path}/accessKeys/x")),
        ("GET", "/api/applications/key/x".to_owned()),
    ] {
        let answer = closed.asked(&closed.admin, method, &path, &json!({}));
        assert_eq!(answer.status, 404, "{method} {path}: {}", answer.text());
    }
    for name in ["", " ", "a\nb", &"n".repeat(101)] {
        let answer =
            closed.asked(&closed.admin, "POST", "/api/applications", &json!({"name": name}));
        assert_eq!(answer.status, 400, "{name:?}: {}", answer.text());
    }
}

#[test]
fn a_key_tells_its_secret_once_and_is_switched_off_and_on() {
    let closed = Closed::built(&[]);
    let holder = closed.holder("shop", &["USER"]);
    let keys = format!("/api/applications/{}/accessKeys", holder.application);
    let listed = closed.ask("GET", &keys, &json!({}));
    assert_eq!(listed[0]["id"], holder.key.as_str());
    assert_eq!(listed[0]["status"], "ACTIVE");
    assert!(listed[0]["createdAt"].is_u64() && !listed.to_string().contains(&holder.secret));
    let found = closed.ask("GET", &format!("/api/applications/key/{}", holder.key), &json!({}));
    assert_eq!(found["id"], holder.application.as_str());
    let look = || closed.house.send(&holder.says(Request::get("/api/metadata/workflow")));
    assert_eq!(look().status, 200);
    assert_eq!(closed.toggle(&holder)["status"], "INACTIVE");
    is_unknown(&look(), "INVALID_TOKEN", "while it is off");
    assert_eq!(closed.toggle(&holder)["status"], "ACTIVE");
    assert_eq!(look().status, 200);
    let another = closed.another_key(&holder.application);
    assert_eq!(closed.ask("DELETE", &format!("{keys}/{}", holder.key), &json!({})), json!({}));
    is_unknown(&look(), "INVALID_TOKEN", "after it was deleted");
    let look = another.says(Request::get("/api/metadata/workflow"));
    assert_eq!(closed.house.send(&look).status, 200, "the other key still counts");
}

#[test]
fn a_role_counts_from_the_next_request_on() {
    let closed = Closed::built(&[]);
    let holder = closed.holder("shop", &[]);
    let look = || closed.house.send(&holder.says(Request::get("/api/secrets")));
    let role = |method: &str, role: &str| {
        let path = format!("/api/applications/{}/roles/{role}", holder.application);
        closed.asked(&closed.admin, method, &path, &json!({}))
    };
    let operator = ["operator".to_owned()];
    is_forbidden(&look(), &operator, "without a role");
    for name in ["METADATA_MANAGER", "WORKFLOW_MANAGER", "operator", "ADMIN"] {
        assert_eq!(role("POST", name).json(), json!({}));
        assert_eq!(role("POST", name).status, 200, "said twice");
        assert_eq!(look().status, 200, "{name}");
        assert_eq!(role("DELETE", name).status, 200);
        is_forbidden(&look(), &operator, name);
    }
    let refused = role("POST", "ROOT");
    assert_eq!(refused.status, 400);
    assert!(refused.text().contains("WORKFLOW_MANAGER"), "{}", refused.text());
}

#[test]
fn every_role_of_orkes_is_taken_and_shown_as_it_was_given() {
    let closed = Closed::built(&[]);
    let holder = closed.holder("shop", &[]);
    let path = format!("/api/applications/{}", holder.application);
    let roles = || closed.ask("GET", &path, &json!({}))["roles"].clone();
    for name in [
        "ADMIN",
        "USER",
        "WORKER",
        "METADATA_MANAGER",
        "WORKFLOW_MANAGER",
        "UNRESTRICTED_WORKER",
        "APPLICATION_MANAGER",
        "APPLICATION_CREATOR",
        "USER_READ_ONLY",
        "METADATA_API",
        "PROMPT_MANAGER",
    ] {
        closed.ask("POST", &format!("{path}/roles/{name}"), &json!({}));
        assert_eq!(roles(), json!([name]));
        let user = closed.ask("GET", &format!("/api/users/app:{}", holder.application), &json!({}));
        assert_eq!(user["roles"], json!([{"name": name, "permissions": []}]));
        closed.ask("DELETE", &format!("{path}/roles/{name}"), &json!({}));
        assert_eq!(roles(), json!([]));
    }
    for name in ["METADATA_MANAGER", "METADATA_API"] {
        closed.ask("POST", &format!("{path}/roles/{name}"), &json!({}));
    }
    closed.ask("DELETE", &format!("{path}/roles/METADATA_MANAGER"), &json!({}));
    assert_eq!(roles(), json!(["METADATA_API"]), "the role goes with the last of its names");
    let look = closed.house.send(&holder.says(Request::get("/api/secrets")));
    assert_eq!(look.status, 200);
    let manager = closed.holder("manager", &["APPLICATION_MANAGER"]);
    let applications = closed.house.send(&manager.says(Request::get("/api/applications")));
    assert_eq!(applications.status, 403, "no name of theirs gives more than it says");
}

#[test]
fn an_application_is_a_user_too() {
    let closed = Closed::built(&[]);
    let holder = closed.holder("shop", &["worker"]);
    let id = format!("app:{}", holder.application);
    let user = closed.ask("GET", &format!("/api/users/{id}"), &json!({}));
    let wanted = json!({"id": id, "name": "shop", "groups": [], "uuid": holder.application,
        "applicationUser": true, "roles": [{"name": "WORKER", "permissions": []}]});
    assert_eq!(user, wanted);
    for nobody in ["app:nobody", "ann@example.com", holder.application.as_str()] {
        let path = format!("/api/users/{nobody}");
        let answer = closed.asked(&closed.admin, "GET", &path, &json!({}));
        assert_eq!(answer.status, 404, "{nobody}");
    }
    let operator = closed.holder("ops", &["operator"]);
    let handler =
        json!({"name": "a_by", "event": "paid", "actions": [], "createdBy": "somebody else"});
    assert_eq!(closed.asked(&operator, "POST", "/api/event", &handler).status, 200);
    let by = || closed.ask("GET", "/api/event/handler/a_by", &json!({}))["createdBy"].clone();
    assert_eq!(by(), json!(format!("app:{}", operator.application)));
    closed.ask("PUT", "/api/event", &handler);
    assert_eq!(by(), json!(format!("app:{}", operator.application)), "kept by an update");
}

#[test]
fn a_caller_learns_who_it_is_in_words_clients_know() {
    let closed = Closed::built(&[]);
    let holder = closed.holder("shop", &["worker", "operator"]);
    let answer = closed.house.send(&holder.says(Request::get("/api/token/userInfo?claims=false")));
    let user = answer.json();
    assert_eq!(user["id"], format!("shop:{}", holder.key));
    assert_eq!((&user["name"], &user["applicationUser"]), (&json!("shop"), &json!(true)));
    let roles = user["roles"].as_array().unwrap().iter().map(|role| role["name"].as_str().unwrap());
    let roles: Vec<&str> = roles.collect();
    assert_eq!(roles, ["WORKER", "METADATA_MANAGER", "WORKFLOW_MANAGER"]);
    let open = house().send(&Request::get("/api/token/userInfo")).json();
    assert_eq!((&open["id"], &open["roles"][0]["name"]), (&json!("anonymous"), &json!("ADMIN")));
}

#[test]
fn whoever_acts_is_named_and_nobody_else_can_be() {
    let closed = Closed::built(&[]);
    let (operator, worker) = (closed.holder("ops", &["operator"]), closed.holder("w", &["worker"]));
    let (ops, hand) = (format!("ops:{}", operator.key), format!("w:{}", worker.key));
    let task = json!([{"name": "named"}]);
    assert_eq!(closed.asked(&operator, "POST", "/api/metadata/taskdefs", &task).status, 200);
    let workflow = definition("named");
    assert_eq!(closed.asked(&operator, "POST", "/api/metadata/workflow", &workflow).status, 200);
    let defined = closed.ask("GET", "/api/metadata/workflow/named", &json!({}));
    assert_eq!(defined["createdBy"], ops.as_str());
    let path = "/api/metadata/workflow?overwrite=true";
    closed.ask("POST", path, &workflow);
    let defined = closed.ask("GET", "/api/metadata/workflow/named", &json!({}));
    let admin = format!("admin:{}", closed.admin.key);
    assert_eq!((&defined["createdBy"], &defined["updatedBy"]), (&json!(ops), &json!(admin)));
    let task = closed.ask("GET", "/api/metadata/taskdefs/named", &json!({}));
    assert_eq!(task["createdBy"], ops.as_str());

    let start = json!({"name": "named", "createdBy": "mallory"});
    let id = closed.asked(&operator, "POST", "/api/workflow", &start).text();
    let poll = worker.says(Request::get("/api/tasks/poll/named?workerid=mallory"));
    let done = report(&closed.house.send(&poll).json(), "COMPLETED", json!({}));
    assert_eq!(closed.asked(&worker, "POST", "/api/tasks", &done).status, 200);
    let seen = closed.ask("GET", &format!("/api/workflow/{id}"), &json!({}));
    assert_eq!((&seen["createdBy"], &seen["status"]), (&json!(ops), &json!("COMPLETED")));
    let journal = closed.ask("GET", &format!("/api/workflow/{id}/log"), &json!({}));
    let actors = journal.as_array().unwrap().iter().map(|line| line["entry"]["actor"].clone());
    assert_eq!(actors.collect::<Vec<_>>(), [json!(ops), json!(hand)], "{journal}");
}

#[test]
fn every_mutation_is_one_line_of_the_audit() {
    let closed = Closed::built(&[]);
    let reader = closed.holder("reader", &["reader"]);
    let name = format!("reader:{}", reader.key);
    let tagged = |request: Request, id: &str| request.header("X-Request-Id", id);
    let delete = || Request::new("DELETE", "/api/metadata/workflow/gone/1");
    closed.house.send(&tagged(closed.admin.says(delete()), "audit-1"));
    closed.house.send(&tagged(reader.says(delete()), "audit-2"));
    closed.house.send(&tagged(delete(), "audit-3"));
    closed.house.send(&tagged(reader.says(Request::get("/api/metadata/workflow")), "audit-4"));
    let wrong = Request::post("/api/token", &json!({"keyId": reader.key, "keySecret": "x"}));
    closed.house.send(&tagged(wrong, "audit-5"));
    let right = json!({"keyId": reader.key, "keySecret": reader.secret});
    closed.house.send(&tagged(Request::post("/api/token", &right), "audit-6"));
    let log = closed.house.log();
    let audit = || log.lines().filter(|line| line.contains("audit: asked"));
    let admin = format!("admin:{}", closed.admin.key);
    let gone = "/api/metadata/workflow/{name}/{version}";
    for (id, principal, method, path, status) in [
        ("audit-1", admin.as_str(), "DELETE", gone, 404),
        ("audit-2", &name, "DELETE", gone, 403),
        ("audit-3", "anonymous", "DELETE", gone, 401),
        ("audit-5", "anonymous", "POST", "/api/token", 401),
        ("audit-6", &name, "POST", "/api/token", 200),
    ] {
        let lines: Vec<&str> = audit().filter(|line| line.contains(id)).collect();
        let [line] = lines[..] else { panic!("{id}: {lines:?}") };
        for part in [
            format!("principal=\"{principal}\""),
            format!("method={method}"),
            format!("path=\"{path}\""),
            format!("status={status}"),
        ] {
            assert!(line.contains(&part), "{part} is not in {line}");
        }
    }
    assert!(!audit().any(|line| line.contains("audit-4")), "a look changes nothing");
    for secret in [&reader.secret, &reader.token, &closed.admin.secret, &closed.admin.token] {
        assert!(!log.contains(secret.as_str()), "{log}");
    }
}
