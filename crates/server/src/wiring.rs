//! # Wiring: the rooms put together, and taken apart in order
//!
//! Opens the store, starts the runtime, opens the door. On a signal the door closes first, parked
//! polls are answered, what was accepted is finished, and only then the store is let go.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use metrics_exporter_prometheus::{BuildError, PrometheusHandle};
use semel_api::{App, Auth, DefinitionLimits, KeyRules, Limits, Watch, WebRules, door};
use semel_engine::SizeLimits;
use semel_http::Settings as Client;
use semel_runtime::{Failure, Runtime, Settings, World};
use semel_store::StoreError;
use semel_tasks::{Closer, HttpSettings, HttpWorker};
use tokio::net::TcpListener;
use tokio::sync::watch;

use crate::config::Config;
use crate::first_key::{self, FirstKey};
use crate::keys::{self, KeysError};
use crate::listener::{self, Rules};
use crate::process_variables::readable;
use crate::scripts::ScriptPool;
use crate::signals::{self, Stop, reached};
use crate::stores::{self, OpenError};
use crate::{machine_memory, numbers, otlp};

/// How often parked polls are answered while the door closes.
const DRAIN_EVERY: Duration = Duration::from_millis(20);

const DAY_MS: i64 = 24 * 3_600 * 1_000;

#[derive(Debug, thiserror::Error)]
pub enum RunError {
    #[error("the store cannot be opened")]
    Open(#[from] OpenError),
    #[error("the stored secrets cannot be opened")]
    Keys(#[from] KeysError),
    #[error("the first access key cannot be stored")]
    FirstKey(#[source] Failure),
    #[error("numbers cannot be collected")]
    Numbers(#[from] BuildError),
    #[error("the store does not answer")]
    Store(#[from] StoreError),
    #[error("cannot listen on {address}; is another server running there? use --listen")]
    Listen { address: SocketAddr, source: std::io::Error },
    #[error("cannot listen for signals")]
    Signals(#[source] std::io::Error),
    #[error("scripts cannot be run: this program does not find itself")]
    Scripts(#[source] std::io::Error),
    #[error("the listener failed")]
    Serve(#[from] std::io::Error),
}

/// Serves until the process is told to stop. `variables` are those of the process; `ready` is called
/// once the door is open, and told what became of a key that was made because there was none.
pub async fn run(
    config: Config,
    variables: impl IntoIterator<Item = (String, String)>,
    ready: impl FnOnce(SocketAddr, &Config, Option<FirstKey>),
) -> Result<(), RunError> {
    let listener = TcpListener::bind(config.listen)
        .await
        .map_err(|source| RunError::Listen { address: config.listen, source })?;
    let address = listener.local_addr()?;
    let node = stores::node(&config, address);
    // Before the runtime, which counts from its first round.
    let kept = numbers::collect(stores::known_as(&config, &node))?;
    let (runtime, first_key) = open(&config, &node, readable(variables))?;
    let runtime = Arc::new(runtime);
    let auth = config.auth.then(|| Arc::new(Auth::new(&runtime, config.token_seconds)));
    let app = App {
        runtime: Arc::clone(&runtime),
        limits: limits(&config),
        auth,
        keys: KeyRules {
            required: config.request_keys_required.clone().into(),
            strict: config.start_keys_strict,
            outlive_removal: config.start_keys_outlive_removal,
            hashed_in_logs: config.log_keys_hashed,
        },
        test_clock: config.test_clock,
        watch: watch(&config, kept),
        web: WebRules::new(&config.hosts, &config.cors_origins),
    };
    let (door, rules) = (door(app), Rules::settled(&config));
    let stop = signals::listen().map_err(RunError::Signals)?;
    ready(address, &config, first_key);
    tracing::info!(%address, "serving");
    let mut http = http_worker(&config, &runtime);
    let closer = http.as_ref().map(HttpWorker::closer);
    let asked = reached(stop.clone(), Stop::Asked);
    let serve = listener::serve(listener, door, rules, async move {
        asked.await;
        tracing::info!("stopping: finishing what was accepted; a second signal stops at once");
        closer.iter().for_each(Closer::close);
    });
    let within = Duration::from_millis(config.shutdown_ms);
    let deadline = after_signal(stop.clone(), within, &runtime);
    tokio::select! {
        served = async {
            serve.await;
            finished(http.as_mut()).await;
        } => served,
        () = deadline => tracing::warn!("requests were still open after shutdown_ms"),
        () = reached(stop.clone(), Stop::Hurried) => {}
    }
    take_apart(http, runtime, stop).await?;
    tracing::info!("stopped");
    Ok(())
}

/// Whoever is in a hurry waits for nothing: the caller gives what still runs a moment, and ends the process.
async fn take_apart(
    http: Option<HttpWorker>,
    runtime: Arc<Runtime>,
    stop: watch::Receiver<Stop>,
) -> Result<(), std::io::Error> {
    let ended = Arc::clone(&runtime);
    let stopped = async {
        if let Some(http) = http {
            http.leave().await;
        }
        tokio::task::spawn_blocking(move || ended.stop()).await.map_err(std::io::Error::other)
    };
    tokio::select! {
        biased;
        () = reached(stop, Stop::Hurried) => {
            tracing::warn!("told to stop twice: stopping at once; what was not answered can be asked again");
            drop(tokio::task::spawn_blocking(move || runtime.stop()));
            Ok(())
        }
        stopped = stopped => stopped,
    }
}

fn limits(config: &Config) -> Limits {
    Limits {
        body_bytes_max: config.body_bytes_max,
        bodies_bytes_max: listener::requests_bytes_max(config),
        body_timeout_ms: config.body_timeout_ms,
        header_timeout_ms: config.header_timeout_ms,
        poll_wait_ms_max: config.poll_wait_ms_max,
        execute_wait_ms_max: config.execute_wait_ms_max,
        definitions: DefinitionLimits {
            tasks_max: config.definition_tasks_max,
            bytes_max: config.definition_bytes_max,
        },
    }
}

fn http_worker(config: &Config, runtime: &Arc<Runtime>) -> Option<HttpWorker> {
    let client = Client {
        allow: config.http_allow.clone(),
        compat_retry: config.http_compat_retry,
        total_ms: config.http_total_ms,
    };
    let (requests_max, share_max) = (config.http_requests_max, config.http_share_max);
    let settings = HttpSettings { client, requests_max, share_max };
    (config.http_requests_max > 0).then(|| HttpWorker::start(Arc::clone(runtime), settings))
}

/// Requests of tasks that were begun may end.
async fn finished(http: Option<&mut HttpWorker>) {
    if let Some(http) = http {
        http.finished().await;
    }
}

fn watch(config: &Config, numbers: PrometheusHandle) -> Watch {
    let spans = config.otlp_endpoint.as_ref().and_then(|_| otlp::spans());
    Watch { numbers: Some(Arc::new(move || numbers.render())), spans }
}

fn open(
    config: &Config,
    node: &str,
    variables: BTreeMap<String, String>,
) -> Result<(Runtime, Option<FirstKey>), RunError> {
    keys::refuse_missing(config)?;
    let store = stores::open(config, node)?;
    tracing::debug!(now = store.now().ms(), node, "store is open");
    let ring = keys::ring(config, &*store)?;
    let world = World::new(Arc::clone(&store)).with_keys(ring).map_err(KeysError::from)?;
    // After everything that is likely to refuse: a start that fails leaves no key behind.
    let first_key = if config.auth { first_key::make(config, &*store) } else { Ok(None) };
    let first_key = first_key.map_err(RunError::FirstKey)?;
    let retention_ms = i64::from(config.retention_days) * DAY_MS;
    let (retention_ms, lanes) = (Some(retention_ms), stores::lanes(config));
    let descendants_max = Some(config.open_descendants_max);
    let settings = Settings { retention_ms, descendants_max, lanes, ..Settings::default() };
    let scripts = Arc::new(ScriptPool::new().map_err(RunError::Scripts)?);
    let world = world.with_variables(variables).with_scripts(scripts);
    let world = world.with_budget(machine_memory::budget(config));
    let world = world.with_key_hosts(config.http_key_hosts.clone());
    let world = world.with_loop_turns_max(config.loop_turns_max);
    let world = world.with_sizes(SizeLimits {
        definition_tasks_max: Some(config.definition_tasks_max),
        fork_branches_max: Some(config.fork_branches_max),
    });
    Ok((Runtime::over(world, settings)?, first_key))
}

/// Answers parked polls until the deadline, so that their connections can close.
async fn after_signal(stop: watch::Receiver<Stop>, within: Duration, runtime: &Runtime) {
    reached(stop, Stop::Asked).await;
    let drain = async {
        loop {
            runtime.drain();
            tokio::time::sleep(DRAIN_EVERY).await;
        }
    };
    let _ = tokio::time::timeout(within, drain).await; // The loop only ends by the timeout.
}
