//! # The house: the server behind the door
//!
//! Tests that only look share one; tests that must see that nothing was written have their own.

use std::net::SocketAddr;
use std::sync::{Arc, Mutex, PoisonError, Weak};

use semel_tests::process::{Server, is_full};
use serde_json::{Value, json};

use crate::raw::{Answer, Request, exchange};

pub(crate) struct House {
    server: Server,
    /// Sent with every request.
    token: Option<String>,
    _directory: tempfile::TempDir,
}

/// The one house for everybody, as long as somebody is in it.
pub(crate) fn house() -> Arc<House> {
    static SHARED: Mutex<Weak<House>> = Mutex::new(Weak::new());
    let mut shared = SHARED.lock().unwrap_or_else(PoisonError::into_inner);
    shared.upgrade().unwrap_or_else(|| {
        let house = Arc::new(House::built("sqlite", &[]));
        *shared = Arc::downgrade(&house);
        house
    })
}

impl House {
    /// In memory, because hostility is sent by the thousand, and impatient for the same reason; with
    /// `SEMEL_FULL=1` on disk.
    pub(crate) fn own(options: &[&str]) -> Self {
        let options = [&["--execute-wait-ms-max", "10"], options].concat();
        Self::built(if is_full() { "sqlite" } else { "memory" }, &options)
    }

    /// With a store on disk, always.
    pub(crate) fn on_disk(options: &[&str]) -> Self {
        Self::built("sqlite", options)
    }

    pub(crate) fn pid(&self) -> u32 {
        self.server.pid()
    }

    fn built(store: &str, options: &[&str]) -> Self {
        let directory = tempfile::tempdir().expect("a directory can be made");
        let options = [&["--store", store], options].concat();
        let server = Server::start(directory.path(), &options);
        let server = server.unwrap_or_else(|error| panic!("the server does not start: {error:#}"));
        Self { server, token: None, _directory: directory }
    }

    /// On disk, with authentication; what is sent by this house is sent by its first key.
    pub(crate) fn locked(options: &[&str]) -> Self {
        let mut house = Self::on_disk(&[&["--auth"], options].concat());
        let (key, secret) = house.first_key();
        let body = json!({"keyId": key, "keySecret": secret});
        let answer = house.send(&Request::post("/api/token", &body));
        assert_eq!(answer.status, 200, "{}", answer.text());
        house.token = answer.json()["token"].as_str().map(str::to_owned);
        house
    }

    pub(crate) fn token(&self) -> Option<&str> {
        self.token.as_deref()
    }

    pub(crate) fn address(&self) -> SocketAddr {
        self.server.address()
    }

    /// Id and secret of the key that the first start made.
    pub(crate) fn first_key(&self) -> (String, String) {
        self.server.first_key().unwrap_or_else(|error| panic!("no first key: {error:#}"))
    }

    /// What the server has logged so far.
    pub(crate) fn log(&self) -> String {
        self.server.log()
    }

    pub(crate) fn send(&self, request: &Request) -> Answer {
        match &self.token {
            Some(token) => {
                let request = request.clone().header("X-Authorization", token.as_str());
                self.send_bytes(&request.bytes())
            }
            None => self.send_bytes(&request.bytes()),
        }
    }

    pub(crate) fn send_bytes(&self, bytes: &[u8]) -> Answer {
        let shown = String::from_utf8_lossy(&bytes[..bytes.len().min(2000)]);
        exchange(self.address(), bytes)
            .unwrap_or_else(|error| panic!("{error:#}\nto {shown}\n{}", self.server.log()))
    }

    /// Sends, and fails unless the answer is one a client can live with: a success, or a 4xx that
    /// explains itself.
    pub(crate) fn is_civil(&self, request: &Request) -> Answer {
        let answer = self.send(request);
        if !(200..300).contains(&answer.status) {
            explains_itself(request, &answer);
        }
        answer
    }

    /// Sends, and fails unless it is refused with a reason.
    pub(crate) fn refuses(&self, request: &Request) -> Answer {
        let answer = self.send(request);
        explains_itself(request, &answer);
        answer
    }

    pub(crate) fn is_healthy(&self) {
        assert_eq!(self.send(&Request::get("/health")).status, 200);
        let log = self.server.log();
        assert!(!log.contains("panicked"), "{log}");
    }

    /// Everything that is registered.
    pub(crate) fn definitions(&self) -> (Value, Value) {
        let list = |path: &str| self.send(&Request::get(path)).json();
        (list("/api/metadata/workflow"), list("/api/metadata/taskdefs"))
    }

    /// Registers a workflow of one worker task, both of that name.
    pub(crate) fn define(&self, name: &str) {
        let task = json!([{"name": name, "retryDelaySeconds": 0}]);
        let tasks = Request::post("/api/metadata/taskdefs", &task);
        let workflow = Request::post("/api/metadata/workflow?overwrite=true", &definition(name));
        for request in [tasks, workflow] {
            let answer = self.send(&request);
            assert_eq!(answer.status, 200, "{}", answer.text());
        }
    }

    pub(crate) fn start(&self, name: &str) -> String {
        let answer = self.send(&Request::post(format!("/api/workflow/{name}"), &json!({})));
        assert_eq!(answer.status, 200, "{}", answer.text());
        answer.text()
    }

    /// Takes one task that must be there.
    pub(crate) fn claim(&self, kind: &str) -> Value {
        let answer = self.send(&Request::get(format!("/api/tasks/poll/{kind}?workerid=w")));
        assert_eq!(answer.status, 200, "{}", answer.text());
        answer.json()
    }
}

fn explains_itself(request: &Request, answer: &Answer) {
    let shown: String = format!("{request:?}").chars().take(3000).collect();
    assert!((400..500).contains(&answer.status), "{} to {shown}\n{}", answer.status, answer.text());
    if request.method == "HEAD" {
        return;
    }
    let body = answer.json();
    assert_eq!(body["status"], answer.status, "{body} to {shown}");
    assert!(body["message"].as_str().is_some_and(|text| !text.is_empty()), "{body} to {shown}");
    assert!(body["retryable"].is_boolean(), "{body} to {shown}");
}

pub(crate) fn definition(name: &str) -> Value {
    json!({"name": name, "version": 1, "schemaVersion": 2, "tasks": [
        {"name": name, "taskReferenceName": "only", "type": "SIMPLE",
         "inputParameters": {"given": "${workflow.input.given}"}}]})
}

/// A report on a task as it was handed out.
pub(crate) fn report(task: &Value, status: &str, output: Value) -> Value {
    json!({"workflowInstanceId": task["workflowInstanceId"], "taskId": task["taskId"],
        "status": status, "workerId": "w", "fenceToken": task["fenceToken"], "outputData": output})
}
