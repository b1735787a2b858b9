//! # Access keys: told once, and nowhere to be found after that
//!
//! A first key, a key made by request and their tokens, used rightly and wrongly, at a server that
//! logs all it can.

use anyhow::{Context as _, Result, ensure};
use semel_tests::process::{Caller, Server};
use serde_json::{Value, json};

use crate::witness::Witness;

fn text(value: &Value, name: &str) -> Result<String> {
    value[name].as_str().map(str::to_owned).with_context(|| format!("no {name} in {value}"))
}

fn token(server: &Server, key: &str, secret: &str) -> Result<String> {
    let body = json!({"keyId": key, "keySecret": secret});
    text(&server.caller()?.post("/api/token", &body)?.json(), "token")
}

#[test]
fn secrets_of_access_keys_and_tokens_stand_nowhere() -> Result<()> {
    let directory = tempfile::tempdir()?;
    let witness = Witness::new(directory.path());
    let mut server = Server::start(directory.path(), &["--auth", "--log", "trace"])?;
    let (key, first) = server.first_key()?;
    let admin = token(&server, &key, &first)?;
    let caller = Caller::with_token(server.address(), Some(&admin))?;
    let made = caller.post("/api/applications", &json!({"name": "findable"}))?.json();
    let path = format!("/api/applications/{}", text(&made, "id")?);
    caller.post(&format!("{path}/roles/ADMIN"), &json!({}))?;
    let made = caller.post(&format!("{path}/accessKeys"), &json!({}))?.json();
    let (second, secret) = (text(&made, "id")?, text(&made, "secret")?);
    let other = token(&server, &second, &secret)?;

    let mut answers = String::new();
    let wrong = json!({"keyId": second, "keySecret": first});
    answers += &caller.post("/api/token", &wrong)?.body;
    answers += &caller.post("/api/token", &json!({"keySecret": secret}))?.body;
    let broken = Caller::with_token(server.address(), Some(&format!("{other}x")))?;
    answers += &broken.get("/api/applications")?.body;
    for path in ["/api/applications", &path, &format!("{path}/accessKeys"), "/api/token/userInfo"] {
        let answer = caller.get(path)?;
        ensure!(answer.status == 200, "{path}: {}", answer.body);
        answers += &answer.body;
    }
    for when in ["while it runs", "after a kill"] {
        for hidden in [secret.as_str(), &admin, &other] {
            let places = witness.places_of(hidden)?;
            ensure!(places.is_empty(), "{when}, {hidden} stands in {places:?}");
            ensure!(!answers.contains(hidden), "{when}, {hidden} is in an answer");
        }
        let places = witness.places_of(&first)?;
        ensure!(
            places == ["data/admin.key"],
            "{when}, the first key's secret stands in {places:?}"
        );
        let places = witness.places_of("findable")?;
        ensure!(places.iter().any(|it| it.starts_with("data/semel.db")), "{when}: {places:?}");
        let places = witness.places_of("audit: asked")?;
        ensure!(places == ["server.log"], "{when}, the log is not searched: {places:?}");
        server.kill9()?;
    }
    Ok(())
}
