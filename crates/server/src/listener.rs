//! # The listener: who is let in, and how long a connection may take
//!
//! A connection that says nothing costs a file, so each phase of it has an end, and all together have
//! a limit. At the limit whoever rests, or keeps us waiting for a body or with an answer, and has done so
//! longest, makes room; if nobody does, a few more are let in to ask for `/health` and be told no otherwise. **May not:** know what a
//! request means.

mod awaited;
mod connection;
mod files;
mod register;
mod stream;

use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use metrics::counter;
use semel_api::{Door, Seldom};
use tokio::net::TcpListener;
use tokio::sync::watch;
use tokio::time::{MissedTickBehavior, interval, sleep};

use crate::config::Config;
use crate::machine_memory;
use files::{connections_max, raise_limit};
use register::{CONNECTION_BYTES, Register};

/// How often those that take too long are looked for.
const LOOK_EVERY: Duration = Duration::from_secs(1);
/// After the system could not give us a connection.
const PAUSE: Duration = Duration::from_millis(200);

/// How many connections there may be, and how long each phase of one may take.
pub(crate) struct Rules {
    pub(crate) connections_max: usize,
    /// What bodies and long heads may hold together.
    pub(crate) requests_bytes_max: usize,
    /// From the first byte of a request to the end of its head; also until that first byte.
    pub(crate) head: Duration,
    /// From an answer to the next request.
    pub(crate) idle: Duration,
    /// While the client takes nothing of its answer, or less than a body has to come.
    pub(crate) stalled: Duration,
}

impl Rules {
    /// As the operator said. The limit of open files is raised, so that there is room for all of them.
    pub(crate) fn settled(config: &Config) -> Self {
        let connections = connections_max(config.connections_max, raise_limit());
        Self {
            connections_max: fitting(connections, bytes_of_requests(config)),
            requests_bytes_max: requests_bytes_max(config),
            head: Duration::from_millis(config.header_timeout_ms),
            idle: Duration::from_millis(config.idle_timeout_ms),
            stalled: Duration::from_millis(config.body_timeout_ms),
        }
    }
}

/// Connections whose buffers take half of what requests may hold, or as many as there are files for.
fn fitting(connections: usize, bytes: usize) -> usize {
    let possible = (bytes / 2 / CONNECTION_BYTES).max(1);
    if possible < connections {
        tracing::warn!(possible, connections, "memory_max leaves room for fewer connections");
    }
    connections.min(possible)
}

fn bytes_of_requests(config: &Config) -> usize {
    usize::try_from(machine_memory::budget(config).bodies()).unwrap_or(usize::MAX)
}

/// What bodies and long heads may hold together, beside the buffers of connections.
pub(crate) fn requests_bytes_max(config: &Config) -> usize {
    let bytes = bytes_of_requests(config);
    bytes - config.connections_max.saturating_mul(CONNECTION_BYTES).min(bytes / 2)
}

/// Serves until `told`; returns when the last connection has ended.
pub(crate) async fn serve(
    listener: TcpListener,
    door: Door,
    rules: Rules,
    told: impl Future<Output = ()>,
) {
    let register = Arc::new(Register::new(rules));
    let (closing, closed) = watch::channel(false);
    let mut told = pin!(told);
    let mut look = interval(LOOK_EVERY);
    look.set_missed_tick_behavior(MissedTickBehavior::Delay);
    loop {
        let has_room = register.has_room();
        tokio::select! {
            () = &mut told => break,
            _ = look.tick(), if register.has_any() => register.end_overdue(),
            () = register.freed(), if !has_room => {}
            accepted = listener.accept(), if has_room => match accepted {
                Ok((stream, peer)) => {
                    let place = register.admit();
                    tokio::spawn(connection::serve(stream, peer.ip(), place, door.clone(), closed.clone()));
                }
                Err(error) if is_of_the_peer(&error) => {}
                Err(error) => {
                    note(&error);
                    register.make_room();
                    tokio::select! {
                        () = &mut told => break,
                        () = sleep(PAUSE) => {}
                    }
                }
            },
        }
    }
    drop(listener);
    let _ = closing.send(true); // Nobody listens if there is no connection.
    while register.has_any() {
        tokio::select! {
            () = register.freed() => {}
            _ = look.tick() => register.end_overdue(),
        }
    }
}

/// It went away before it was let in.
fn is_of_the_peer(error: &std::io::Error) -> bool {
    use std::io::ErrorKind::{ConnectionAborted, ConnectionRefused, ConnectionReset};
    matches!(error.kind(), ConnectionAborted | ConnectionRefused | ConnectionReset)
}

fn note(error: &std::io::Error) {
    static TOLD: Seldom = Seldom::new();
    counter!("semel_accept_errors_total").increment(1);
    if TOLD.is_due() {
        tracing::error!(%error, "connections cannot be accepted; is the limit of open files reached?");
    }
}
