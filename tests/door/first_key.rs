//! # The first key: printed once, and another for whoever has the data

use semel_tests::process::{Caller, Server, run};
use serde_json::json;

use crate::access::printed;

fn mints(server: &Server, (key, secret): &(String, String)) -> String {
    let body = json!({"keyId": key, "keySecret": secret});
    let answer = server.caller().unwrap().post("/api/token", &body).unwrap();
    assert_eq!(answer.status, 200, "{}", answer.body);
    answer.json()["token"].as_str().unwrap().to_owned()
}

fn status(server: &Server, token: &str) -> u16 {
    let caller = Caller::with_token(server.address(), Some(token)).unwrap();
    caller.get("/api/applications").unwrap().status
}

#[test]
fn the_first_key_is_printed_once_and_never_logged() {
    let directory = tempfile::tempdir().unwrap();
    let mut server = Server::start(directory.path(), &["--auth", "--log", "debug"]).unwrap();
    let first = printed(&server.said()).expect("the first start prints a key");
    let token = mints(&server, &first);
    assert_eq!(status(&server, &token), 200);
    let (held, words) = run(directory.path(), &["admin-key"]).unwrap();
    assert!(held.code() == Some(1) && words.contains("used by another process"), "{words}");
    let said = server.said();
    server.kill9().unwrap();
    server.restart().unwrap();
    assert_eq!(server.said(), said, "a second start prints nothing");
    assert_eq!(status(&server, &token), 200, "tokens outlive a restart");
    server.stop().unwrap();

    let (ended, words) = run(directory.path(), &["admin-key"]).unwrap();
    assert!(ended.success(), "{words}");
    let second = printed(&words).expect("admin-key prints a key");
    assert_ne!(first, second);
    server.restart().unwrap();
    assert_eq!(server.said(), said);
    for key in [&first, &second] {
        assert_eq!(status(&server, &mints(&server, key)), 200);
        assert!(!server.log().contains(&key.1), "a secret is in the log");
    }
    server.stop().unwrap();

    let (ended, words) = run(directory.path(), &["rotate-secrets-key"]).unwrap();
    assert!(ended.success(), "{words}");
    server.restart().unwrap();
    assert_eq!(status(&server, &token), 401, "another signing key");
    assert_eq!(status(&server, &mints(&server, &first)), 200);
}

#[test]
fn a_store_in_memory_has_a_first_key_and_no_other() {
    let directory = tempfile::tempdir().unwrap();
    let server = Server::start(directory.path(), &["--auth", "--store", "memory"]).unwrap();
    let first = printed(&server.said()).expect("the first start prints a key");
    assert_eq!(status(&server, &mints(&server, &first)), 200);
    let (ended, words) = run(directory.path(), &["admin-key", "--store", "memory"]).unwrap();
    assert!(ended.code() == Some(1) && words.contains("a store in memory"), "{words}");
}

#[test]
fn a_key_made_before_authentication_was_turned_on_counts() {
    let directory = tempfile::tempdir().unwrap();
    let mut server = Server::start(directory.path(), &[]).unwrap();
    assert_eq!(server.said(), "", "nothing is printed while authentication is off");
    let caller = server.caller().unwrap();
    let made = caller.post("/api/applications", &json!({"name": "mine"})).unwrap().json();
    let path = format!("/api/applications/{}", made["id"].as_str().unwrap());
    caller.post(&format!("{path}/roles/ADMIN"), &json!({})).unwrap();
    let key = caller.post(&format!("{path}/accessKeys"), &json!({})).unwrap().json();
    let text = |name: &str| key[name].as_str().unwrap().to_owned();
    server.stop().unwrap();
    let server = Server::start(directory.path(), &["--auth"]).unwrap();
    assert_eq!(server.said(), "", "there is an application already");
    assert_eq!(status(&server, &mints(&server, &(text("id"), text("secret")))), 200);
}
