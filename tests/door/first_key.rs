//! # The first key: in a file of its owner, once, and another for whoever has the data

use anyhow::{Context as _, Result};
use semel_tests::process::{Caller, Server, run};
use serde_json::json;

/// What `semel admin-key` printed.
fn printed(said: &str) -> Option<(String, String)> {
    let line = said.lines().rfind(|line| line.starts_with("SEMEL_AUTH_KEY="))?;
    let (key, secret) = line.split_once(' ')?;
    let key = key.strip_prefix("SEMEL_AUTH_KEY=")?;
    Some((key.to_owned(), secret.strip_prefix("SEMEL_AUTH_SECRET=")?.to_owned()))
}

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
fn the_first_key_is_in_a_file_of_its_owner_and_in_no_stream() -> Result<()> {
    let directory = tempfile::tempdir()?;
    let mut server = Server::start(directory.path(), &["--auth", "--log", "debug"])?;
    let first = server.first_key()?;
    let file = directory.path().join("data/admin.key");
    assert_eq!(server.said(), format!("{}\n", file.display()), "stdout has the path only");
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt as _;
        assert_eq!(file.metadata()?.permissions().mode() & 0o777, 0o600);
    }
    let token = mints(&server, &first)?;
    assert_eq!(status(&server, &token)?, 200);
    let (held, words) = run(directory.path(), &["admin-key"])?;
    assert!(held.code() == Some(1) && words.contains("used by another process"), "{words}");
    let said = server.said();
    server.kill9()?;
    server.restart()?;
    assert_eq!(server.said(), said, "a second start makes none");
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
    let first = server.first_key()?;
    assert_eq!(status(&server, &mints(&server, &first)?)?, 200);
    let (ended, words) = run(directory.path(), &["admin-key", "--store", "memory"])?;
    assert!(ended.code() == Some(1) && words.contains("a store in memory"), "{words}");
    Ok(())
}

#[test]
fn a_key_made_before_authentication_was_turned_on_counts() -> Result<()> {
    let directory = tempfile::tempdir()?;
    let mut server = Server::start(directory.path(), &[])?;
    assert_eq!(server.said(), "", "no key is made while authentication is off");
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

#[test]
fn a_key_made_before_the_first_start_is_the_only_one() -> Result<()> {
    for is_there in [true, false] {
        let directory = tempfile::tempdir()?;
        let data = directory.path().join("data");
        if is_there {
            std::fs::create_dir(&data)?;
        }
        let (ended, words) = run(directory.path(), &["admin-key"])?;
        assert!(ended.success(), "{words}");
        assert_eq!(words.contains("was not there and is made"), !is_there, "{words}");
        let key = printed(&words).expect("admin-key prints a key");
        let server = Server::start(directory.path(), &["--auth"])?;
        assert_eq!(server.said(), "", "there is a key already");
        assert_eq!(status(&server, &mints(&server, &key)?)?, 200);
    }
    Ok(())
}

#[test]
fn a_first_key_that_cannot_be_kept_is_not_made() -> Result<()> {
    let directory = tempfile::tempdir()?;
    std::fs::write(directory.path().join("data"), "a file where a directory should be")?;
    let server = Server::start(directory.path(), &["--auth", "--store", "memory"])?;
    assert_eq!(server.said(), "");
    let log = server.log();
    assert!(log.contains("NO FIRST KEY") && log.contains("semel admin-key"), "{log}");
    assert_eq!(server.caller()?.get("/api/applications")?.status, 401);
    Ok(())
}
