//! # Wiring: the rooms put together, and taken apart in order
//!
//! Opens the store, starts the runtime, opens the door. On a signal the door closes first, parked
//! polls are answered, what was accepted is finished, and only then the store is let go.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use axum::ServiceExt;
use axum::extract::Request;
use semel_api::{App, Limits, door};
use semel_runtime::{Runtime, Settings};
use semel_store::{Clock, MemoryStore, Store as _, StoreError};
use semel_store_sqlite::{OpenError, SqliteStore};
use tokio::net::TcpListener;
use tokio::sync::watch;

use crate::config::{Config, Store};

/// How often parked polls are answered while the door closes.
const DRAIN_EVERY: Duration = Duration::from_millis(20);

#[derive(Debug, thiserror::Error)]
pub enum RunError {
    #[error("the store cannot be opened")]
    Open(#[from] OpenError),
    #[error("the store does not answer")]
    Store(#[from] StoreError),
    #[error("cannot listen on {address}; is another server running there? use --listen")]
    Listen { address: SocketAddr, source: std::io::Error },
    #[error("the listener failed")]
    Serve(#[from] std::io::Error),
}

/// Serves until the process is told to stop. `ready` is called once the door is open.
pub async fn run(config: Config, ready: impl FnOnce(SocketAddr, &Config)) -> Result<(), RunError> {
    let listener = TcpListener::bind(config.listen)
        .await
        .map_err(|source| RunError::Listen { address: config.listen, source })?;
    let address = listener.local_addr()?;
    let runtime = Arc::new(open(&config)?);
    let app = App {
        runtime: Arc::clone(&runtime),
        limits: Limits {
            body_bytes_max: config.body_bytes_max,
            poll_wait_ms_max: config.poll_wait_ms_max,
        },
        test_clock: config.test_clock,
    };
    let service = ServiceExt::<Request>::into_make_service(door(app, &config.cors_origins));
    ready(address, &config);
    tracing::info!(%address, "serving");
    let (closing, closed) = watch::channel(false);
    let serve = axum::serve(listener, service).with_graceful_shutdown(told_to_stop(closing));
    let deadline = after_signal(closed, Duration::from_millis(config.shutdown_ms), &runtime);
    tokio::select! {
        served = async { serve.await } => served?,
        () = deadline => tracing::warn!("connections were still open after shutdown_ms"),
    }
    tokio::task::spawn_blocking(move || runtime.stop()).await.map_err(std::io::Error::other)?;
    tracing::info!("stopped");
    Ok(())
}

fn open(config: &Config) -> Result<Runtime, RunError> {
    let clock = Arc::new(Clock::wall());
    let runtime = match config.store {
        Store::Memory => Runtime::open(Arc::new(MemoryStore::new(clock)), Settings::default())?,
        Store::Sqlite => {
            let store = SqliteStore::open(&config.data, clock)?;
            tracing::debug!(now = store.now().ms(), "store is open");
            Runtime::open(Arc::new(store), Settings::default())?
        }
    };
    Ok(runtime)
}

async fn told_to_stop(closing: watch::Sender<bool>) {
    let interrupted = tokio::signal::ctrl_c();
    #[cfg(unix)]
    {
        let terminated = async {
            match tokio::signal::unix::signal(tokio::signal::unix::SignalKind::terminate()) {
                Ok(mut signal) => signal.recv().await,
                Err(_) => std::future::pending().await,
            }
        };
        tokio::select! {
            _ = interrupted => {}
            _ = terminated => {}
        }
    }
    #[cfg(not(unix))]
    let _ = interrupted.await;
    tracing::info!("stopping: finishing what was accepted");
    let _ = closing.send(true); // Nobody listens if the server is gone already.
}

/// Answers parked polls until the deadline, so that their connections can close.
async fn after_signal(mut closed: watch::Receiver<bool>, within: Duration, runtime: &Runtime) {
    if closed.wait_for(|closing| *closing).await.is_err() {
        std::future::pending::<()>().await;
    }
    let drain = async {
        loop {
            runtime.drain();
            tokio::time::sleep(DRAIN_EVERY).await;
        }
    };
    let _ = tokio::time::timeout(within, drain).await; // The loop only ends by the timeout.
}
