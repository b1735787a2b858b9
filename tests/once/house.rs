//! # The house: a server in this process that can die after a commit, and come back
//!
//! Its disk outlives it, and so does the key of its secrets. Time stands still until it is advanced.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::{Duration, Instant};

use axum::ServiceExt;
use axum::extract::Request as HttpRequest;
use semel_api::{App, DefinitionLimits, KeyRules, Limits, Watch, WebRules, door};
use semel_model::Timestamp;
use semel_runtime::{KeyRing, Runtime, Sabotage, SecretsKey, Settings, World};
use semel_store::{Clock, MemoryStore, Store as _};
use serde_json::{Value, json};

use crate::raw::{Answer, Request, exchange};

/// Nothing here takes longer unless it hangs.
const PATIENCE: Duration = Duration::from_secs(60);

const GLANCE: Duration = Duration::from_micros(200);

/// An ordinary moment: 2026-01-01T00:00:00Z.
const DAWN: Timestamp = Timestamp::from_ms(1_767_225_600_000);

pub(crate) struct House {
    tokio: tokio::runtime::Runtime,
    store: MemoryStore,
    key: SecretsKey,
    life: Option<Life>,
}

struct Life {
    runtime: Arc<Runtime>,
    address: SocketAddr,
    serving: tokio::task::JoinHandle<()>,
}

impl House {
    pub(crate) fn built() -> Self {
        let clock = Arc::new(Clock::manual(DAWN));
        let mut threads = tokio::runtime::Builder::new_multi_thread();
        let tokio = threads.worker_threads(2).enable_all().build();
        let tokio = tokio.expect("threads can be started");
        let store = MemoryStore::with_disk(clock);
        let mut house = Self { tokio, store, key: SecretsKey::draw(), life: None };
        house.reopen(false);
        house
    }

    /// Ends where it stands and begins again; a mortal one dies after its next commit.
    pub(crate) fn reopen(&mut self, mortal: bool) {
        if let Some(life) = self.life.take() {
            life.serving.abort();
            life.runtime.stop();
            self.store.crash();
        }
        let sabotage = if mortal { Sabotage::DiesAfterCommit } else { Sabotage::None };
        let settings = Settings { sabotage, down: || {}, ..Settings::default() };
        let ring = KeyRing::of(self.key.clone(), Vec::new());
        let world = World::new(Arc::new(self.store.clone())).with_keys(ring);
        let world = world.expect("the key opens what it sealed");
        let runtime = Runtime::over(world, settings).expect("the store opens");
        let runtime = Arc::new(runtime);
        let limits = Limits {
            body_bytes_max: 1 << 20,
            bodies_bytes_max: 64 << 20,
            body_timeout_ms: 30_000,
            header_timeout_ms: 10_000,
            poll_wait_ms_max: 10,
            execute_wait_ms_max: 10,
            definitions: DefinitionLimits::default(),
        };
        let app = App {
            runtime: Arc::clone(&runtime),
            limits,
            auth: None,
            keys: KeyRules::default(),
            test_clock: true,
            watch: Watch::default(),
            web: WebRules::default(),
        };
        let listener = self.tokio.block_on(tokio::net::TcpListener::bind("127.0.0.1:0"));
        let listener = listener.expect("a port is free");
        let address = listener.local_addr().expect("it has an address");
        let service = ServiceExt::<HttpRequest>::into_make_service(door(app));
        let serving = self.tokio.spawn(async move {
            axum::serve(listener, service).await.expect("the listener lives");
        });
        self.life = Some(Life { runtime, address, serving });
    }

    fn life(&self) -> &Life {
        self.life.as_ref().expect("it is reopened whenever it ends")
    }

    pub(crate) fn runtime(&self) -> &Arc<Runtime> {
        &self.life().runtime
    }

    pub(crate) fn tokio(&self) -> &tokio::runtime::Runtime {
        &self.tokio
    }

    pub(crate) fn send(&self, request: &Request) -> Answer {
        exchange(self.life().address, &request.bytes())
            .unwrap_or_else(|error| panic!("{error:#}\nto {request:?}"))
    }

    /// The same request over as many lives as it takes, each of which ends after its first commit.
    pub(crate) fn insist(&mut self, request: &Request) -> Answer {
        const LIVES_MAX: usize = 8;
        for _ in 0..LIVES_MAX {
            self.reopen(true);
            let answer = self.send(request);
            if answer.status != 503 {
                return answer;
            }
        }
        panic!("{LIVES_MAX} lives were not enough for {request:?}");
    }

    /// Waits until nothing waits and nothing is due.
    pub(crate) fn settle(&self) {
        let deadline = Instant::now() + PATIENCE;
        while !self.runtime().is_quiet() {
            assert!(Instant::now() < deadline, "the house does not become quiet");
            std::thread::sleep(GLANCE);
        }
    }

    pub(crate) fn advance(&self, ms: i64) {
        let moved = self.tokio.block_on(self.runtime().advance_ms(ms));
        moved.expect("the clock can be moved");
        self.settle();
    }

    /// How many records of requests there are.
    pub(crate) fn request_records(&self) -> usize {
        let count = |scope: &str| self.store.records(scope, None, usize::MAX).map(|all| all.len());
        count("req:").expect("it can be read") + count("step:").expect("it can be read")
    }

    /// Registers a workflow of one worker task, both of that name.
    pub(crate) fn define(&self, name: &str) {
        let task = json!([{"name": name, "retryDelaySeconds": 0}]);
        let workflow = json!({"name": name, "version": 1, "schemaVersion": 2, "tasks": [
            {"name": name, "taskReferenceName": "only", "type": "SIMPLE"}]});
        let tasks = Request::post("/api/metadata/taskdefs", &task);
        let workflow = Request::post("/api/metadata/workflow", &workflow);
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

impl Drop for House {
    fn drop(&mut self) {
        if let Some(life) = self.life.take() {
            life.serving.abort();
            life.runtime.stop();
        }
    }
}
