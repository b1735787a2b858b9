//! # The house: a whole server in this process, which can die and come back
//!
//! Messages go through the real door, without sockets. Time stands still until it is advanced, so
//! the house can be waited for by condition: it is quiet when nothing waits and nothing is due.

use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail, ensure};
use axum::body::{Body, to_bytes};
use axum::http::{HeaderMap, Request};
use semel_api::{App, Door, KeyRules, Limits, Watch, door};
use semel_model::Timestamp;
use semel_runtime::{Runtime, Sabotage, Settings, World};
use semel_store::{Clock, MemoryStore, Plant, Store};
use semel_store_sqlite::SqliteStore;
use semel_tests::scripts::AtOnce;
use tempfile::TempDir;
use tower::ServiceExt;

/// A house that needs more lives than this to become quiet never will.
const LIVES_MAX: usize = 500;

/// Nothing here takes longer unless it hangs.
const PATIENCE: Duration = Duration::from_secs(30);

/// How often a condition is looked at.
const GLANCE: Duration = Duration::from_micros(200);

/// An ordinary moment: 2026-01-01T00:00:00Z.
const DAWN: Timestamp = Timestamp::from_ms(1_767_225_600_000);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum On {
    Memory,
    Sqlite,
}

/// A request that can be sent again.
#[derive(Clone, Debug)]
pub(crate) struct Message {
    method: &'static str,
    path: String,
    body: String,
    /// What it is called by, so that it is known when it comes again.
    key: Option<String>,
}

impl Message {
    pub(crate) fn get(path: impl Into<String>) -> Self {
        Self { method: "GET", path: path.into(), body: String::new(), key: None }
    }

    pub(crate) fn post(path: impl Into<String>, body: impl Into<String>) -> Self {
        Self { method: "POST", path: path.into(), body: body.into(), key: None }
    }

    pub(crate) fn put(path: impl Into<String>, body: impl Into<String>) -> Self {
        Self { method: "PUT", path: path.into(), body: body.into(), key: None }
    }

    pub(crate) fn delete(path: impl Into<String>) -> Self {
        Self { method: "DELETE", path: path.into(), body: String::new(), key: None }
    }

    pub(crate) fn keyed(self, key: String) -> Self {
        Self { key: Some(key), ..self }
    }
}

#[derive(Debug)]
pub(crate) struct Reply {
    pub(crate) status: u16,
    pub(crate) headers: HeaderMap,
    pub(crate) body: String,
}

impl Reply {
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name)?.to_str().ok()
    }

    pub(crate) fn json(&self) -> Result<serde_json::Value> {
        serde_json::from_str(&self.body).with_context(|| format!("no JSON: {}", self.body))
    }
}

pub(crate) struct House {
    tokio: tokio::runtime::Runtime,
    clock: Arc<Clock>,
    disk: Disk,
    settings: Settings,
    /// None while it is dead.
    life: Option<Life>,
}

/// What outlives a life.
enum Disk {
    Memory(MemoryStore),
    Sqlite(TempDir),
}

struct Life {
    door: Door,
    runtime: Arc<Runtime>,
}

impl House {
    /// With `DiesAfterCommit` it is mortal: it dies after every commit, before anybody is answered.
    pub(crate) fn build(on: On, sabotage: Sabotage) -> Result<Self> {
        let clock = Arc::new(Clock::manual(DAWN));
        let disk = match on {
            On::Memory => Disk::Memory(MemoryStore::with_disk(Arc::clone(&clock))),
            On::Sqlite => Disk::Sqlite(tempfile::tempdir()?),
        };
        let tokio = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        let settings = Settings { sabotage, retention_ms: None, down: || {} };
        let mut house = Self { tokio, clock, disk, settings, life: None };
        house.live()?;
        Ok(house)
    }

    fn is_mortal(&self) -> bool {
        self.settings.sabotage == Sabotage::DiesAfterCommit
    }

    fn live(&mut self) -> Result<()> {
        let store: Arc<dyn Store> = match &self.disk {
            Disk::Memory(store) => Arc::new(store.clone()),
            Disk::Sqlite(directory) => {
                Arc::new(SqliteStore::open(directory.path(), Arc::clone(&self.clock))?)
            }
        };
        let world = World::new(store).with_scripts(Arc::new(AtOnce));
        let runtime = Arc::new(Runtime::over(world, self.settings)?);
        let limits = Limits {
            body_bytes_max: 16 << 20,
            poll_wait_ms_max: 5_000,
            execute_wait_ms_max: 60_000,
        };
        let app = App {
            runtime: Arc::clone(&runtime),
            limits,
            auth: None,
            keys: KeyRules::default(),
            test_clock: true,
            watch: Watch::default(),
        };
        self.life = Some(Life { door: door(app, &[]), runtime });
        Ok(())
    }

    /// Plants a bug in the memory store.
    pub(crate) fn plant(&self, bug: Plant) {
        if let Disk::Memory(store) = &self.disk {
            store.plant(bug);
        }
    }

    /// The process ends where it stands, and is started again.
    pub(crate) fn reopen(&mut self) -> Result<()> {
        self.away(0)
    }

    /// The same, but nobody starts it again for a while.
    pub(crate) fn away(&mut self, ms: i64) -> Result<()> {
        self.life = None;
        self.clock.advance_ms(ms);
        if let Disk::Memory(store) = &self.disk {
            store.crash();
        }
        self.live()
    }

    pub(crate) fn ask(&self, message: &Message) -> Result<Reply> {
        let life = self.life.as_ref().context("the house is dead")?;
        let mut request = Request::builder()
            .method(message.method)
            .uri(&message.path)
            .header("content-type", "application/json");
        if let Some(key) = &message.key {
            request = request.header("idempotency-key", key);
        }
        let request = request.body(Body::from(message.body.clone()))?;
        let answer = async {
            let answer = life.door.clone().oneshot(request).await?;
            let (parts, body) = answer.into_parts();
            let body = to_bytes(body, usize::MAX).await?;
            let body = String::from_utf8(body.to_vec())?;
            anyhow::Ok(Reply { status: parts.status.as_u16(), headers: parts.headers, body })
        };
        let answer = async { tokio::time::timeout(PATIENCE, answer).await };
        let answer = self.tokio.block_on(answer);
        answer.with_context(|| format!("{} {} is never answered", message.method, message.path))?
    }

    /// Time passes, and whatever comes due is dealt with. A mortal house dies of it.
    pub(crate) fn advance(&mut self, ms: i64) -> Result<()> {
        let message = Message::post("/test/clock", format!("{{\"advanceMs\":{ms}}}"));
        let reply = self.ask(&message)?;
        let died = reply.status == 503 && self.is_mortal();
        ensure!(reply.status == 200 || died, "the clock answers {}: {}", reply.status, reply.body);
        self.settle()
    }

    /// Waits until nothing waits and nothing is due, over as many lives as that takes.
    pub(crate) fn settle(&mut self) -> Result<()> {
        for _ in 0..LIVES_MAX {
            if self.becomes_quiet()? {
                return Ok(());
            }
            self.reopen()?;
        }
        bail!("the house died {LIVES_MAX} times and still has something to do")
    }

    /// False: it died meanwhile.
    fn becomes_quiet(&self) -> Result<bool> {
        let runtime = &self.life.as_ref().context("the house is dead")?.runtime;
        let deadline = Instant::now() + PATIENCE;
        while !runtime.is_quiet() {
            if runtime.is_down() {
                ensure!(self.is_mortal(), "the lane is down, and nobody asked for it");
                return Ok(false);
            }
            ensure!(Instant::now() < deadline, "the house does not become quiet");
            std::thread::sleep(GLANCE);
        }
        Ok(true)
    }
}
