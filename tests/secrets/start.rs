//! # Starting: keys that do not fit, and variables of the process

use anyhow::{Result, ensure};
use semel_tests::process::{Server, refused, run};
use serde_json::{Value, json};

#[test]
fn a_key_that_does_not_open_what_is_stored_refuses_to_start() -> Result<()> {
    let directory = tempfile::tempdir()?;
    let mut server = Server::start(directory.path(), &[])?;
    server.caller()?.put_text("/api/secrets/a", "hunter22")?;
    let (held, words) = run(directory.path(), &["rotate-secrets-key"])?;
    ensure!(held.code() == Some(1) && words.contains("used by another process"), "{words}");
    server.stop()?;
    let other = "ab".repeat(32);
    let (ended, words) = refused(directory.path(), &["--secrets-key", &other])?;
    ensure!(ended.code() == Some(1), "{ended}: {words}");
    ensure!(words.contains("not the one that sealed the stored secrets"), "{words}");
    ensure!(words.contains("rotate-secrets-key") && !words.contains(&other), "{words}");
    let (ended, words) = run(directory.path(), &["rotate-secrets-key", "--secrets-key", &other])?;
    ensure!(ended.success(), "{words}");
    let server = Server::start(directory.path(), &["--secrets-key", &other])?;
    ensure!(server.caller()?.get("/api/secrets/a")?.body == "hunter22");
    ensure!(!server.log().contains(&other), "{}", server.log());
    Ok(())
}

#[test]
fn of_the_process_only_what_is_meant_for_workflows_can_be_read() -> Result<()> {
    let directory = tempfile::tempdir()?;
    let variables =
        [("CONDUCTOR_ENV_REGION", "eu"), ("NETFLIX_ENV", "test"), ("HIDDEN", "not-for-you")];
    let server = Server::start_in(directory.path(), &["--store", "memory"], &variables)?;
    let caller = server.caller()?;
    let listed = caller.get("/api/environment")?.json();
    let value = |name: &str, value: &str| json!({"name": name, "value": value, "tags": []});
    ensure!(listed == json!([value("NETFLIX_ENV", "test"), value("REGION", "eu")]), "{listed}");
    let input = json!({"region": "${workflow.env.REGION}", "stage": "${NETFLIX_ENV}",
        "hidden": "${workflow.env.HIDDEN}"});
    let workflow = json!({"name": "w", "version": 1, "schemaVersion": 2, "tasks": [
        {"name": "t", "taskReferenceName": "t", "type": "SIMPLE", "inputParameters": input}]});
    let answer = caller.post("/api/metadata/workflow", &workflow)?;
    ensure!(answer.status == 200, "{}", answer.body);
    let seen = || -> Result<Value> {
        caller.post("/api/workflow/w", &json!({}))?;
        Ok(caller.get("/api/tasks/poll/t")?.json()["inputData"].clone())
    };
    ensure!(seen()? == json!({"region": "eu", "stage": "test", "hidden": null}));
    caller.put_text("/api/environment/REGION", "stored")?;
    ensure!(seen()?["region"] == "stored", "stored values win");
    Ok(())
}
