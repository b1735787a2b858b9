//! # Secrets: planted, used, echoed, and looked for everywhere
//!
//! A real server on a real disk, a worker that blurts out everything it is handed, and a
//! [`witness::Witness`] that looks for the planted values in every stored byte, log line and answer.
//! **May not:** trust a search that never finds anything: what is no secret has to be found by it.

mod access;
mod start;
mod witness;

use anyhow::{Context as _, Result, ensure};
use semel_tests::process::{Server, run};
use serde_json::{Value, json};

use witness::Witness;

const MARKER: &str = "märker-that-is-no-secret";

const PLANTED: [(&str, &str); 5] = [
    ("plain", "correct-horse-battery-staple"),
    ("quoted", r#"say "hunter22" \ twice"#),
    ("unicode", "pässwörd-Ω-😀-geheim"),
    ("lines", "first-line-of-key\nsecond-line-of-key\t!"),
    ("json", r#"{"user":"ann-the-admin","password":"p4ss\"wörd-in-json","pin":98765432}"#),
];

/// Parts of the last one, which a worker may say alone.
const PARTS: [&str; 2] = ["ann-the-admin", "p4ss\"wörd-in-json"];

fn definition() -> Value {
    let all: serde_json::Map<String, Value> = PLANTED
        .iter()
        .map(|(name, _)| ((*name).to_owned(), json!(format!("${{workflow.secrets.{name}}}"))))
        .collect();
    json!({"name": "leak", "version": 1, "schemaVersion": 2, "tasks": [
        {"name": "keep", "taskReferenceName": "keep", "type": "SET_VARIABLE",
         "inputParameters": {"kept": "${workflow.secrets.plain}", "all": all}},
        {"name": "blurt", "taskReferenceName": "first", "type": "SIMPLE", "inputParameters": {
            "all": all, "text": "Bearer ${workflow.secrets.quoted}!", "marker": MARKER,
            "password": "${workflow.secrets.json.password}", "pin": "${workflow.secrets.json.pin}",
            "kept": "${workflow.variables.kept}", "escaped": "$${workflow.secrets.plain}"}},
        {"name": "blurt", "taskReferenceName": "second", "type": "SIMPLE",
         "inputParameters": {"copied": "${first.input.all}", "kept": "${workflow.variables.all}"}}],
     "outputParameters": {"first": "${first.output}", "second": "${second.output}",
        "secret": "${workflow.secrets.unicode}", "variables": "${workflow.variables}"}})
}

struct Scene {
    directory: tempfile::TempDir,
    witness: Witness,
    server: Server,
}

impl Scene {
    fn set() -> Result<Self> {
        let directory = tempfile::tempdir()?;
        let server = Server::start(directory.path(), &["--log", "debug"])?;
        let witness = Witness::new(directory.path());
        let scene = Self { directory, witness, server };
        for (name, value) in PLANTED {
            let sent = if name == "lines" { json!(value).to_string() } else { value.to_owned() };
            let put =
                scene.witness.put_text(&scene.server, &format!("/api/secrets/{name}"), &sent)?;
            ensure!(put.status == 200, "{}", put.body);
        }
        scene.witness.put_text(&scene.server, "/api/environment/MARKER", MARKER)?;
        let task = json!([{"name": "blurt", "retryCount": 5, "retryDelaySeconds": 0,
            "runtimeMetadata": ["unicode"]}]);
        scene.ask("POST", "/api/metadata/taskdefs", Some(&task))?;
        scene.ask("POST", "/api/metadata/workflow", Some(&definition()))?;
        Ok(scene)
    }

    fn ask(&self, method: &str, path: &str, body: Option<&Value>) -> Result<String> {
        let answer = self.witness.ask(&self.server, method, path, body)?;
        ensure!(answer.status < 300, "{} to {method} {path}: {}", answer.status, answer.body);
        Ok(answer.body)
    }

    fn begin(&self) -> Result<String> {
        self.ask("POST", "/api/workflow/leak", Some(&json!({"marker": MARKER})))
    }

    /// A task as its worker receives it; fails unless everything planted is in its hands.
    fn take(&self) -> Result<Value> {
        let task = self.ask("GET", "/api/tasks/poll/blurt?workerid=blurter", None)?;
        let task: Value = serde_json::from_str(&task).context("no task was handed out")?;
        is_handed(&task)?;
        Ok(task)
    }

    /// Reports everything the task brought, in every way a worker can say something.
    fn blurt(&self, path: &str, task: &Value, status: &str) -> Result<String> {
        let said = said(task);
        let words = values(&task["inputData"]).join(" and ");
        let logs = json!([{"log": words, "taskId": task["taskId"], "createdTime": 1}]);
        let report = json!({"workflowInstanceId": task["workflowInstanceId"],
            "taskId": task["taskId"], "workerId": "blurter", "fenceToken": task["fenceToken"],
            "status": status, "outputData": said, "logs": logs,
            "reasonForIncompletion": format!("refused: {words}; {}", task["inputData"])});
        self.ask("POST", path, Some(&report))
    }

    /// One run, from hand to hand.
    fn play(&self) -> Result<()> {
        let id = self.begin()?;
        self.blurt("/api/tasks", &self.take()?, "FAILED")?;
        self.look(&id)?;
        self.blurt("/api/tasks", &self.take()?, "IN_PROGRESS")?;
        let next = self.blurt("/api/tasks/update-v2", &self.take()?, "COMPLETED")?;
        let next: Value = serde_json::from_str(&next).context("update-v2 handed nothing out")?;
        is_handed(&next)?;
        let named = format!("/api/tasks/{id}/second/COMPLETED?force=true");
        self.ask("POST", &named, Some(&said(&next)))?;
        let seen = self.look(&id)?;
        ensure!(seen["status"] == "COMPLETED", "{seen}");
        ensure!(seen["output"]["first"]["plain"] == "***", "{}", seen["output"]);
        ensure!(seen["output"]["secret"] == "${workflow.secrets.unicode}", "{}", seen["output"]);
        Ok(())
    }

    /// Asks everything there is to ask.
    fn look(&self, id: &str) -> Result<Value> {
        for path in ["status?includeOutput=true&includeVariables=true", "log"] {
            self.ask("GET", &format!("/api/workflow/{id}/{path}"), None)?;
        }
        self.ask("POST", &format!("/api/workflow/{id}/verify"), None)?;
        for path in
            ["metadata/workflow", "metadata/taskdefs", "environment", "secrets", "secrets/v2"]
        {
            self.ask("GET", &format!("/api/{path}"), None)?;
        }
        for path in ["secrets-v2", "secrets/plain/tags", "secrets/plain/exists", "health"] {
            self.ask("GET", &format!("/api/{path}"), None)?;
        }
        self.ask("POST", "/api/secrets", None)?;
        let seen = self.ask("GET", &format!("/api/workflow/{id}?includeTasks=true"), None)?;
        Ok(serde_json::from_str(&seen)?)
    }

    /// What is secret stands nowhere, what is not is found.
    fn check(&self, when: &str) -> Result<()> {
        let planted = PLANTED.iter().map(|(_, value)| *value).chain(PARTS);
        for value in planted {
            let places = self.witness.places_of(value)?;
            ensure!(places.is_empty(), "{when}, {value:?} stands in {places:?}");
        }
        let key_file = std::fs::read_to_string(self.directory.path().join("data/secrets.key"))?;
        for key in key_file.lines().filter(|line| !line.starts_with('#')) {
            let places = self.witness.places_of(key)?;
            ensure!(places == ["data/secrets.key"], "{when}, the key stands in {places:?}");
        }
        let places = self.witness.places_of(MARKER)?;
        let finds = |place: &str| places.iter().any(|found| found.starts_with(place));
        ensure!(finds("data/semel.db"), "{when}, the marker is not found: {places:?}");
        ensure!(finds("the answer to GET /api/workflow"), "{when}: {places:?}");
        let places = self.witness.places_of("store is open")?;
        ensure!(places == ["server.log"], "{when}, the log is not searched: {places:?}");
        Ok(())
    }
}

/// Every string of a value.
fn values(value: &Value) -> Vec<&str> {
    match value {
        Value::String(text) => vec![text],
        Value::Array(items) => items.iter().flat_map(values).collect(),
        Value::Object(map) => map.values().flat_map(values).collect(),
        Value::Null | Value::Bool(_) | Value::Number(_) => vec![],
    }
}

fn is_handed(task: &Value) -> Result<()> {
    let given = values(&task["inputData"]);
    for (name, value) in PLANTED {
        ensure!(given.contains(&value), "{name} is not in {}", task["inputData"]);
    }
    ensure!(task["runtimeMetadata"]["unicode"] == PLANTED[2].1, "{}", task["runtimeMetadata"]);
    if task["referenceTaskName"] == "first" {
        ensure!(task["inputData"]["password"] == PARTS[1], "{}", task["inputData"]);
        ensure!(task["inputData"]["pin"] == 98_765_432, "{}", task["inputData"]);
        ensure!(task["inputData"]["escaped"] == "${workflow.secrets.plain}");
    }
    Ok(())
}

fn said(task: &Value) -> Value {
    let input = &task["inputData"];
    let parsed: Value = serde_json::from_str(PLANTED[4].1).unwrap_or_default();
    let once = input.to_string();
    json!({"plain": PLANTED[0].1, "input": input, "parsed": parsed, "text": once,
        "twice": json!({"body": once}).to_string(), "metadata": task["runtimeMetadata"],
        "python": ascii(&once), "list": [[values(input)]], PLANTED[2].1: {PLANTED[1].1: 1}})
}

/// As Python writes JSON.
fn ascii(text: &str) -> String {
    let written = |next: char| match next.is_ascii() {
        true => next.to_string(),
        false => next.encode_utf16(&mut [0; 2]).iter().map(|u| format!("\\u{u:04x}")).collect(),
    };
    text.chars().map(written).collect()
}

#[test]
fn planted_secrets_are_handed_out_and_stand_nowhere_else() -> Result<()> {
    let mut scene = Scene::set()?;
    scene.play()?;
    let running = scene.begin()?;
    let held = scene.take()?;
    scene.check("while it runs")?;
    scene.server.kill9()?;
    scene.check("after a kill")?;
    scene.server.restart()?;
    scene.blurt("/api/tasks", &held, "FAILED")?;
    scene.look(&running)?;
    scene.take()?;
    scene.server.stop()?;
    scene.check("after a stop")?;

    let path = scene.directory.path().join("data/secrets.key");
    let before = std::fs::read_to_string(&path)?;
    let (ended, words) = run(scene.directory.path(), &["rotate-secrets-key", "--log", "debug"])?;
    ensure!(ended.success() && words.contains("sealed with the new key: 5"), "{words}");
    let after = std::fs::read_to_string(&path)?;
    let old = before.lines().last().context("there was a key")?;
    ensure!(before != after && scene.witness.places_of(old)?.is_empty(), "the old key is kept");
    scene.check("after a rotation")?;

    scene.server.restart()?;
    scene.play()?;
    for (name, value) in PLANTED {
        ensure!(scene.ask("GET", &format!("/api/secrets/{name}"), None)? == value, "{name}");
    }
    scene.server.stop()?;
    scene.check("at the end")
}
