//! # The house: a whole server in this process, which can die and come back
//!
//! Or several that share a database and die one by one, some of them in the middle of nothing.
//! Messages go through the real door, without sockets. Time stands still until it is advanced, so
//! the house can be waited for by condition: it is quiet when nothing waits and nothing is due.

use std::cell::Cell;
use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail, ensure};
use axum::body::{Body, to_bytes};
use axum::http::{HeaderMap, Request};
use semel_api::{App, DefinitionLimits, Door, KeyRules, Limits, Watch, WebRules, door};
use semel_model::Timestamp;
use semel_runtime::{Runtime, Sabotage, Settings, World};
use semel_store::{Clock, MemoryStore, Plant, Store};
use semel_store_postgres::{Options, PostgresStore};
use semel_store_sqlite::SqliteStore;
use semel_tests::dice::Dice;
use semel_tests::postgres;
use semel_tests::scripts::AtOnce;
use tempfile::TempDir;
use tower::ServiceExt;

/// A house that needs more lives than this to become quiet never will.
const LIVES_MAX: usize = 500;

/// Nothing here takes longer unless it hangs.
const PATIENCE: Duration = Duration::from_secs(120);

/// How often a condition is looked at.
const GLANCE: Duration = Duration::from_micros(200);

/// The same where a database has to be asked, which has the same two cores.
const LONG_GLANCE: Duration = Duration::from_millis(1);

/// Several nodes are quiet if they are at so many glances in a row.
const GLANCES: usize = 5;

/// Beside the node that has committed another one dies once in so many times.
const BYSTANDERS: u64 = 3;

/// An ordinary moment: 2026-01-01T00:00:00Z.
const DAWN: Timestamp = Timestamp::from_ms(1_767_225_600_000);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum On {
    Memory,
    Sqlite,
    Postgres,
    /// Three nodes on one database; each message goes to the next of them.
    ThreeNodes,
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
    lives: Vec<Life>,
    /// Counts what was asked, so that all of them are.
    asked: Cell<usize>,
    /// Who dies beside the one that has committed.
    dice: Dice,
}

/// What outlives a life.
enum Disk {
    Memory(MemoryStore),
    Sqlite(TempDir),
    /// The address of a database, where time stands still too, and the names of its nodes.
    Postgres(String, &'static [&'static str]),
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
            On::Postgres => {
                Disk::Postgres(postgres::shared_without_disk().database_at(DAWN.ms())?, &["one"])
            }
            On::ThreeNodes => {
                let url = postgres::shared_without_disk().database_at(DAWN.ms())?;
                Disk::Postgres(url, &["one", "two", "three"])
            }
        };
        let tokio = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        let lanes = if matches!(on, On::Postgres | On::ThreeNodes) { 2 } else { 1 };
        let settings = Settings { sabotage, lanes, down: || {}, ..Settings::default() };
        let (lives, asked, dice) = (Vec::new(), Cell::new(0), Dice::thrown());
        let mut house = Self { tokio, clock, disk, settings, lives, asked, dice };
        house.live()?;
        Ok(house)
    }

    fn is_mortal(&self) -> bool {
        self.settings.sabotage == Sabotage::DiesAfterCommit
    }

    fn live(&mut self) -> Result<()> {
        let stores: Vec<Arc<dyn Store>> = match &self.disk {
            Disk::Memory(store) => vec![Arc::new(store.clone())],
            Disk::Sqlite(directory) => {
                vec![Arc::new(SqliteStore::open(directory.path(), Arc::clone(&self.clock))?)]
            }
            Disk::Postgres(url, nodes) => {
                let stores = nodes.iter().map(|node| open_postgres(url, node));
                stores.collect::<Result<_>>()?
            }
        };
        let lives = stores.into_iter().map(|store| self.live_on(store));
        self.lives = lives.collect::<Result<_>>()?;
        Ok(())
    }

    fn live_on(&self, store: Arc<dyn Store>) -> Result<Life> {
        let world = World::new(store).with_scripts(Arc::new(AtOnce));
        let runtime = Arc::new(Runtime::over(world, self.settings)?);
        let limits = Limits {
            body_bytes_max: 16 << 20,
            bodies_bytes_max: 64 << 20,
            body_timeout_ms: 30_000,
            header_timeout_ms: 10_000,
            poll_wait_ms_max: 5_000,
            execute_wait_ms_max: 60_000,
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
        Ok(Life { door: door(app), runtime })
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
        self.lives.clear();
        self.clock.advance_ms(ms);
        match &self.disk {
            Disk::Memory(store) => store.crash(),
            Disk::Postgres(url, _) if ms > 0 => {
                let advance = format!("UPDATE clock SET offset_ms = offset_ms + {ms}");
                postgres::shared_without_disk().psql_at(url, &advance)?;
            }
            Disk::Sqlite(_) | Disk::Postgres(..) => {}
        }
        self.live()
    }

    pub(crate) fn ask(&self, message: &Message) -> Result<Reply> {
        ensure!(!self.lives.is_empty(), "the house is dead");
        self.asked.set(self.asked.get() + 1);
        self.ask_of(&self.lives[self.asked.get() % self.lives.len()], message)
    }

    fn ask_of(&self, life: &Life, message: &Message) -> Result<Reply> {
        let mut request = Request::builder()
            .method(message.method)
            .uri(&message.path)
            .header("host", "localhost")
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
        // The others notice by themselves, in a moment; nobody wants to wait for that here.
        for (at, life) in self.lives.iter().enumerate() {
            let ms = if at == 0 { ms } else { 0 };
            let message = Message::post("/test/clock", format!("{{\"advanceMs\":{ms}}}"));
            let reply = self.ask_of(life, &message)?;
            let died = reply.status == 503 && self.is_mortal();
            let (status, body) = (reply.status, reply.body);
            ensure!(status == 200 || died, "the clock answers {status}: {body}");
        }
        self.settle()
    }

    /// Whoever died is started again, and now and then one of the others, should there be some: it is
    /// killed wherever it is, and knows nothing of what it has seen. The rest goes on.
    pub(crate) fn revive(&mut self) -> Result<()> {
        let Disk::Postgres(url, nodes) = &self.disk else { return self.reopen() };
        let is_down = |at: &usize| self.lives[*at].runtime.is_down();
        let (mut fallen, others): (Vec<_>, Vec<_>) = (0..nodes.len()).partition(is_down);
        if !others.is_empty() && self.dice.below(BYSTANDERS) == 0 {
            let chosen = self.dice.below(u64::try_from(others.len())?);
            fallen.push(others[usize::try_from(chosen)?]);
        }
        for at in fallen {
            self.lives[at].runtime.stop(); // All of its lanes are dead before it comes back.
            self.lives[at] = self.live_on(open_postgres(url, nodes[at])?)?;
        }
        Ok(())
    }

    /// Waits until nothing waits and nothing is due, over as many lives as that takes.
    pub(crate) fn settle(&mut self) -> Result<()> {
        for _ in 0..LIVES_MAX {
            if self.becomes_quiet()? {
                return Ok(());
            }
            self.revive()?;
        }
        bail!("the house died {LIVES_MAX} times and still has something to do")
    }

    /// False: it died meanwhile.
    fn becomes_quiet(&self) -> Result<bool> {
        let deadline = Instant::now() + PATIENCE;
        let runtimes = || self.lives.iter().map(|life| &life.runtime);
        let mut quiet = 0;
        loop {
            // Nodes are asked one after the other, and one may take up meanwhile what another has left.
            quiet = if runtimes().all(|runtime| runtime.is_quiet()) { quiet + 1 } else { 0 };
            if quiet >= if self.lives.len() > 1 { GLANCES } else { 1 } {
                return Ok(true);
            }
            if runtimes().any(|runtime| runtime.is_down()) {
                ensure!(self.is_mortal(), "the lane is down, and nobody asked for it");
                return Ok(false);
            }
            ensure!(Instant::now() < deadline, "the house does not become quiet");
            std::thread::sleep(match self.disk {
                Disk::Postgres(..) => LONG_GLANCE,
                Disk::Memory(_) | Disk::Sqlite(_) => GLANCE,
            });
        }
    }
}

fn open_postgres(url: &str, node: &str) -> Result<Arc<dyn Store>> {
    let options = Options { lease_grace_ms: 0, ..Options::named(node) };
    Ok(Arc::new(PostgresStore::open(url, &options)?))
}

impl Drop for House {
    /// There are many stories; databases are used again.
    fn drop(&mut self) {
        self.lives.clear();
        if let Disk::Postgres(url, _) = &mut self.disk {
            postgres::shared_without_disk().give_back(std::mem::take(url));
        }
    }
}
