//! # The first key: printed once, and another for whoever has the data

use anyhow::{Context as _, Result};
use semel_tests::process::{Caller, Server, run};
use serde_json::json;

use crate::access::printed;

fn mints(server: &Server, (key, secret): &(String, String)) -> Result<String> {
    let body = json!({"keyId": key, "keySecret": secret});
    let answer = server.caller()?.post("/api/token", &body)?;
    let token = answer.json()["token"].as_str().map(str::to_owned);
    token.with_context(|| format!("{}: {}", answer.status, answer.body))
}

fn status(server: &Server, token: &str) -> Result<u16> {
    let caller = Caller::with_token(server.address(), Some(token))?;
    Ok(caller.get("/api/applications")?.status)
}

#[test]
fn the_first_key_is_printed_once_and_never_logged() -> Result<()> {
    let directory = tempfile::tempdir()?;
    let mut server = Server::start(directory.path(), &["--auth", "--log", "debug"])?;
    let first = printed(&server.said()).expect("the first start prints a key");
    let token = mints(&server, &first)?;
    assert_eq!(status(&server, &token)?, 200);
    let (held, words) = run(directory.path(), &["admin-key"])?;
    assert!(held.code() == Some(1) && words.contains("used by another process"), "{words}");
    let said = server.said();
    server.kill9()?;
    server.restart()?;
    assert_eq!(server.said(), said, "a second start prints nothing");
    assert_eq!(status(&server, &token)?, 200, "tokens outlive a restart");
    server.stop()?;

    let (ended, words) = run(directory.path(), &["admin-key"])?;
    assert!(ended.success(), "{words}");
    let second = printed(&words).expect("admin-key prints a key");
    assert_ne!(first, second);
    server.restart()?;
    assert_eq!(server.said(), said);
    for key in [&first, &second] {
        assert_eq!(status(&server, &mints(&server, key)?)?, 200);
        assert!(!server.log().contains(&key.1), "a secret is in the log");
    }
    server.stop()?;

    let (ended, words) = run(directory.path(), &["rotate-secrets-key"])?;
    assert!(ended.success(), "{words}");
    server.restart()?;
    assert_eq!(status(&server, &token)?, 401, "another signing key");
    assert_eq!(status(&server, &mints(&server, &first)?)?, 200);
    Ok(())
}

#[test]
fn a_store_in_memory_has_a_first_key_and_no_other() -> Result<()> {
    let directory = tempfile::tempdir()?;
    let server = Server::start(directory.path(), &["--auth", "--store", "memory"])?;
    let first = printed(&server.said()).expect("the first start prints a key");
    assert_eq!(status(&server, &mints(&server, &first)?)?, 200);
    let (ended, words) = run(directory.path(), &["admin-key", "--store", "memory"])?;
    assert!(ended.code() == Some(1) && words.contains("a store in memory"), "{words}");
    Ok(())
}

#[test]
fn a_key_made_before_authentication_was_turned_on_counts() -> Result<()> {
    let directory = tempfile::tempdir()?;
    let mut server = Server::start(directory.path(), &[])?;
    assert_eq!(server.said(), "", "nothing is printed while authentication is off");
    let caller = server.caller()?;
    let made = caller.post("/api/applications", &json!({"name": "mine"}))?.json();
    let path = format!("/api/applications/{}", made["id"].as_str().unwrap());
    caller.post(&format!("{path}/roles/ADMIN"), &json!({}))?;
    let key = caller.post(&format!("{path}/accessKeys"), &json!({}))?.json();
    let text = |name: &str| key[name].as_str().unwrap().to_owned();
    server.stop()?;
    let server = Server::start(directory.path(), &["--auth"])?;
    assert_eq!(server.said(), "", "there is an application already");
    assert_eq!(status(&server, &mints(&server, &(text("id"), text("secret")))?)?, 200);
    Ok(())
}
