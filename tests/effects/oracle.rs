//! # The oracle: a far side that counts
//!
//! It keeps every effect, in memory, because it never dies. Asked with an `Idempotency-Key` it does
//! what it did for that key before; asked without one it does it again, however often it was done.

use std::collections::BTreeMap;
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Mutex};

use anyhow::{Context as _, Result, ensure};
use axum::Json;
use axum::extract::{Path, State};
use axum::http::{HeaderMap, StatusCode};
use axum::routing::{get, post};
use semel_tests::process::{Caller, DEADLINE, until};
use serde_json::{Value, json};

const FILE: &str = "SEMEL_ORACLE_FILE";

type Effects = Arc<Mutex<BTreeMap<String, Vec<String>>>>;

pub(crate) struct Oracle {
    child: Child,
    pub(crate) address: String,
    caller: Caller,
}

impl Oracle {
    pub(crate) fn start(directory: &std::path::Path) -> Result<Self> {
        let file = directory.join("oracle");
        let child = Command::new(std::env::current_exe()?)
            .args(["--exact", "oracle::an_oracle_at_work", "--ignored"])
            .env(FILE, &file)
            .stdout(Stdio::null())
            .spawn()?;
        let found = until("the oracle listens", DEADLINE, || {
            std::fs::read_to_string(&file).ok().filter(|text| text.ends_with('\n'))
        });
        let address = found?.trim().to_owned();
        let caller = Caller::new(address.parse()?)?;
        Ok(Self { child, address, caller })
    }

    /// What happened, by key.
    pub(crate) fn effects(&self) -> Result<BTreeMap<String, Vec<String>>> {
        let answer = self.caller.get("/effects")?;
        ensure!(answer.status == 200, "the oracle is gone: {answer:?}");
        Ok(serde_json::from_value(answer.json())?)
    }

    /// What happened under one key, as somebody who looks it up would see it.
    pub(crate) fn look(&self, key: &str) -> Result<Option<String>> {
        Ok(self.effects()?.get(key).and_then(|effects| effects.first()).cloned())
    }
}

impl Drop for Oracle {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

async fn happen(
    State(effects): State<Effects>,
    Path(key): Path<String>,
    headers: HeaderMap,
) -> Json<Value> {
    let mut effects = effects.lock().expect("nobody panics with it");
    let done = effects.entry(key.clone()).or_default();
    let is_repeat = headers.contains_key("idempotency-key") && !done.is_empty();
    if !is_repeat {
        done.push(format!("{key}-{}", done.len() + 1));
    }
    Json(json!({"effect": if is_repeat { &done[0] } else { &done[done.len() - 1] }}))
}

async fn seen(
    State(effects): State<Effects>,
    Path(key): Path<String>,
) -> (StatusCode, Json<Value>) {
    let effects = effects.lock().expect("nobody panics with it");
    match effects.get(&key).and_then(|done| done.first()) {
        Some(first) => (StatusCode::OK, Json(json!({"effect": first}))),
        None => (StatusCode::NOT_FOUND, Json(json!({}))),
    }
}

async fn all(State(effects): State<Effects>) -> Json<Value> {
    Json(json!(*effects.lock().expect("nobody panics with it")))
}

#[test]
#[ignore = "the other process of the tests here; alone it has nothing to do"]
fn an_oracle_at_work() -> Result<()> {
    let Ok(file) = std::env::var(FILE) else { return Ok(()) };
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    runtime.block_on(async {
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await?;
        std::fs::write(&file, format!("{}\n", listener.local_addr()?)).context(file)?;
        let routes = axum::Router::new()
            .route("/effects", get(all))
            .route("/effects/{key}", post(happen).get(seen))
            .with_state(Effects::default());
        axum::serve(listener, routes).await?;
        Ok(())
    })
}
