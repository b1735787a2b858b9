//! # The scene: a server that may speak to loopback, and the oracle it speaks to

use std::io::{Read as _, Write as _};
use std::net::{SocketAddr, TcpListener};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use semel_tests::oracle::Oracle;
use semel_tests::process::{Caller, DEADLINE, Server, until};
use serde_json::{Value, json};

/// Loopback is open to it and known to honour keys, as the oracle does; time is in our hands.
pub(crate) const OPTIONS: [&str; 5] =
    ["--http-allow", "127.0.0.0/8", "--http-key-hosts", "127.0.0.1", "--test-clock"];

/// The same, and nothing is known of the other side.
pub(crate) const UNKNOWN_HOST: [&str; 5] =
    ["--http-allow", "127.0.0.0/8", "--test-clock", "--store", "memory"];

pub(crate) struct Scene {
    pub(crate) server: Server,
    pub(crate) caller: Caller,
    pub(crate) oracle: Oracle,
    _directory: tempfile::TempDir,
}

impl Scene {
    pub(crate) fn set() -> Self {
        Self::set_with(&[&OPTIONS[..], &["--store", "memory"]].concat())
    }

    pub(crate) fn set_with(options: &[&str]) -> Self {
        let directory = tempfile::tempdir().expect("a directory can be made");
        let server = serving(directory.path(), options);
        let caller = server.caller().expect("a client can be made");
        Self { server, caller, oracle: Oracle::default(), _directory: directory }
    }

    /// A workflow of one HTTP step `call` that charges the order it is started with. `more` is laid
    /// over the request.
    pub(crate) fn define(&self, name: &str, more: Value, policy: Value) {
        let request = json!({"uri": self.oracle.uri(), "method": "POST",
            "body": {"order": "${workflow.input.order}", "amount": 10.50}});
        let policy = with(json!({"name": "call", "retryDelaySeconds": 0}), policy);
        let step = json!({"name": "call", "taskReferenceName": "call", "type": "HTTP",
            "taskDefinition": policy, "inputParameters": {"http_request": with(request, more)}});
        self.register(&json!({"name": name, "schemaVersion": 2, "tasks": [step]}));
    }

    pub(crate) fn register(&self, definition: &Value) {
        let answer = self.caller.post("/api/metadata/workflow", definition).expect("an answer");
        assert_eq!(answer.status, 200, "{}", answer.body);
    }

    pub(crate) fn start(&self, name: &str, order: &str) -> String {
        let body = json!({"name": name, "input": {"order": order}});
        let answer = self.caller.post("/api/workflow", &body).expect("an answer");
        assert_eq!(answer.status, 200, "{}", answer.body);
        answer.body
    }

    pub(crate) fn run(&self, id: &str) -> Value {
        self.caller.get(&format!("/api/workflow/{id}")).expect("an answer").json()
    }

    /// The run as soon as it is like that.
    pub(crate) fn when(&self, id: &str, what: &str, is_so: impl Fn(&Value) -> bool) -> Value {
        let look = || Some(self.run(id)).filter(|run| is_so(run));
        until(what, DEADLINE, look)
            .unwrap_or_else(|error| panic!("{error:#}\n{:#}\n{}", self.run(id), self.server.log()))
    }

    pub(crate) fn over(&self, id: &str) -> Value {
        self.when(id, "the run is over", |run| run["status"] != "RUNNING")
    }

    /// What became of the only attempt at `call`.
    pub(crate) fn task(&self, id: &str) -> Value {
        let run = self.over(id);
        assert_eq!(run["tasks"].as_array().map(Vec::len), Some(1), "{run:#}");
        run["tasks"][0].clone()
    }

    /// The only task of a run, once nobody knows what became of its request.
    pub(crate) fn doubtful(&self, id: &str) -> Value {
        let look = || {
            let run = self.caller.get(&format!("/api/workflow/{id}")).ok()?.json();
            Some(run["tasks"][0].clone()).filter(|task| task["effectStatus"] == "UNKNOWN")
        };
        until("it is in doubt", DEADLINE, look).expect("a task in doubt")
    }

    /// What is said about a run that waits for its share of the places; nothing if it does not.
    pub(crate) fn waits(&self, id: &str) -> String {
        let path = format!("/api/workflow/{id}/explain");
        let said = self.caller.get(&path).expect("an answer").json();
        let waits = said["waits"].as_array().cloned().unwrap_or_default();
        let share = waits.iter().find(|wait| wait["kind"] == "HTTP_SHARE");
        share.and_then(|wait| wait["sentence"].as_str()).unwrap_or_default().to_owned()
    }

    pub(crate) fn advance(&self, seconds: i64) {
        let body = json!({"advanceMs": seconds * 1000});
        assert_eq!(self.caller.post("/test/clock", &body).expect("an answer").status, 200);
    }

    /// As soon as so many requests for the order have come.
    pub(crate) fn heard(&self, order: &str, count: usize) {
        let look = || (self.oracle.heard(order).len() >= count).then_some(());
        until("the requests come", DEADLINE, look)
            .unwrap_or_else(|error| panic!("{error:#}\n{}", self.server.log()));
    }
}

/// A service that answers at once, and then with a byte now and then, for ever. It serves as long as the
/// process lives.
pub(crate) struct Dripping {
    address: SocketAddr,
    open: Arc<AtomicUsize>,
}

impl Dripping {
    pub(crate) fn serve() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port is free");
        let address = listener.local_addr().expect("it is bound");
        let open = Arc::new(AtomicUsize::new(0));
        let counted = Arc::clone(&open);
        std::thread::spawn(move || {
            for mut stream in listener.incoming().flatten() {
                let counted = Arc::clone(&counted);
                std::thread::spawn(move || {
                    counted.fetch_add(1, Ordering::SeqCst);
                    let _ = stream.read(&mut [0; 4096]);
                    let head = "HTTP/1.1 200 OK\r\nContent-Length: 1000000\r\n\r\n";
                    let mut sent = stream.write_all(head.as_bytes());
                    while sent.is_ok() {
                        std::thread::sleep(Duration::from_millis(20));
                        sent = stream.write_all(b"x");
                    }
                    counted.fetch_sub(1, Ordering::SeqCst);
                });
            }
        });
        Self { address, open }
    }

    pub(crate) fn uri(&self) -> String {
        format!("http://{}/", self.address)
    }

    /// How many requests it has open.
    pub(crate) fn open(&self) -> usize {
        self.open.load(Ordering::SeqCst)
    }
}

pub(crate) fn serving(directory: &Path, options: &[&str]) -> Server {
    let server = Server::start(directory, options);
    server.unwrap_or_else(|error| panic!("the server does not start: {error:#}"))
}

/// `base` with the fields of `over` set.
pub(crate) fn with(mut base: Value, over: Value) -> Value {
    let (Value::Object(fields), Value::Object(news)) = (&mut base, over) else {
        panic!("both are objects")
    };
    fields.extend(news);
    base
}

/// Neither a key nor anybody's word that a repeat does no harm.
pub(crate) fn without_key() -> Value {
    json!({"idempotency": {"enabled": false}})
}
