//! # A server in this process, asked through its door and through its runtime

use std::path::Path;
use std::sync::Arc;

use axum::body::{Body, to_bytes};
use axum::http::Request;
use semel_api::{App, DefinitionLimits, KeyRules, Limits, Watch, WebRules, door};
use semel_model::{ExecutionId, TaskId};
use semel_runtime::{Found, Runtime, Settings};
use semel_store::search::{TaskSearch, WorkflowSearch};
use semel_store::{Clock, MemoryStore, Place, Store};
use semel_store_sqlite::SqliteStore;
use serde_json::{Value, json};
use tower::ServiceExt;

/// Where a server keeps what it knows, between its lives.
pub(crate) enum Disk {
    Memory(MemoryStore),
    Directory(tempfile::TempDir, Arc<Clock>),
}

impl Disk {
    pub(crate) fn both() -> [Self; 2] {
        let clock = || Arc::new(Clock::manual(semel_model::Timestamp::from_ms(1_767_225_600_000)));
        let directory = tempfile::tempdir().unwrap();
        [Self::Memory(MemoryStore::with_disk(clock())), Self::Directory(directory, clock())]
    }

    pub(crate) fn store(&self) -> Arc<dyn Store> {
        match self {
            Self::Memory(store) => Arc::new(store.clone()),
            Self::Directory(directory, clock) => {
                Arc::new(SqliteStore::open(directory.path(), Arc::clone(clock)).unwrap())
            }
        }
    }

    /// What is on it while somebody still writes, as a kill would leave it.
    pub(crate) fn as_cut_off(&self) -> Self {
        match self {
            Self::Memory(store) => {
                store.crash();
                Self::Memory(store.clone())
            }
            Self::Directory(directory, clock) => {
                let left = tempfile::tempdir().unwrap();
                let mut files: Vec<_> =
                    std::fs::read_dir(directory.path()).unwrap().map(Result::unwrap).collect();
                // What notes commits is never ahead of them, so it is copied before the database.
                files
                    .sort_by_key(|file| file.file_name().to_string_lossy().starts_with("semel.db"));
                for file in files {
                    // The log's own index belongs to the process that is gone.
                    if !file.file_name().to_string_lossy().ends_with("-shm") {
                        std::fs::copy(file.path(), left.path().join(file.file_name())).unwrap();
                    }
                }
                Self::Directory(left, Arc::clone(clock))
            }
        }
    }

    pub(crate) fn directory(&self) -> Option<&Path> {
        match self {
            Self::Memory(_) => None,
            Self::Directory(directory, _) => Some(directory.path()),
        }
    }
}

pub(crate) struct Server {
    pub(crate) runtime: Arc<Runtime>,
    tokio: tokio::runtime::Runtime,
}

impl Server {
    pub(crate) fn on(disk: &Disk) -> Self {
        Self::keeping(disk, None)
    }

    pub(crate) fn keeping(disk: &Disk, retention_ms: Option<i64>) -> Self {
        let settings = Settings { retention_ms, down: || {}, ..Settings::default() };
        let runtime = Arc::new(Runtime::open(disk.store(), settings).unwrap());
        let tokio = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        Self { runtime, tokio }
    }

    pub(crate) fn ask(&self, method: &str, path: &str, body: &Value) -> String {
        let limits = Limits {
            body_bytes_max: 16 << 20,
            bodies_bytes_max: 64 << 20,
            body_timeout_ms: 30_000,
            header_timeout_ms: 10_000,
            poll_wait_ms_max: 5_000,
            execute_wait_ms_max: 60_000,
            definitions: DefinitionLimits::default(),
        };
        let runtime = Arc::clone(&self.runtime);
        let door = door(App {
            runtime,
            limits,
            auth: None,
            keys: KeyRules::default(),
            test_clock: true,
            watch: Watch::default(),
            web: WebRules::default(),
        });
        let request = Request::builder()
            .method(method)
            .uri(path)
            .header("host", "localhost")
            .header("content-type", "application/json")
            .body(Body::from(if body.is_null() { String::new() } else { body.to_string() }))
            .unwrap();
        self.tokio.block_on(async {
            let (parts, body) = door.oneshot(request).await.unwrap().into_parts();
            let text =
                String::from_utf8(to_bytes(body, usize::MAX).await.unwrap().to_vec()).unwrap();
            assert!(parts.status.is_success(), "{method} {path}: {} {text}", parts.status);
            text
        })
    }

    pub(crate) fn define(&self, name: &str, task: &str) {
        let step = |task: &str| json!({"name": task, "taskReferenceName": format!("{task}_ref")});
        let definition = json!({"name": name, "version": 1, "schemaVersion": 2,
            "ownerEmail": "a@b.c", "tasks": [step(task), step("ship")]});
        self.ask("POST", "/api/metadata/workflow", &definition);
    }

    pub(crate) fn start(&self, name: &str, more: &Value) -> ExecutionId {
        let mut start = json!({"name": name});
        for (key, value) in more.as_object().unwrap() {
            start[key] = value.clone();
        }
        self.ask("POST", "/api/workflow", &start).parse().unwrap()
    }

    pub(crate) fn poll(&self, task: &str) -> Value {
        let text = self.ask("GET", &format!("/api/tasks/poll/{task}?workerid=ann"), &Value::Null);
        serde_json::from_str(&text).unwrap()
    }

    pub(crate) fn report(&self, task: &Value, status: &str, output: &Value) {
        let report = json!({"taskId": task["taskId"], "workerId": "ann", "status": status,
            "workflowInstanceId": task["workflowInstanceId"], "outputData": output});
        self.ask("POST", "/api/tasks", &report);
    }

    pub(crate) fn runs(&self, query: &str, text: &str) -> Vec<ExecutionId> {
        let search = WorkflowSearch::parse(query, text, "startTime:ASC|workflowId:ASC").unwrap();
        whole(self.tokio.block_on(self.runtime.search_workflows(search)).unwrap())
    }

    pub(crate) fn tasks(&self, query: &str, text: &str) -> Vec<Place> {
        let search = TaskSearch::parse(query, text, "").unwrap();
        whole(self.tokio.block_on(self.runtime.search_tasks(search)).unwrap())
    }

    pub(crate) fn place_of(&self, task: TaskId) -> Option<Place> {
        self.tokio.block_on(self.runtime.place_of_task(task)).unwrap()
    }
}

fn whole<T>(found: Found<T>) -> Vec<T> {
    assert!(found.is_complete, "the index does not catch up");
    assert_eq!(found.total_hits, found.ids.len());
    found.ids
}
