//! # The link: how connections are made and who drives them
//!
//! A runtime of two threads moves bytes for all connections of the store. A lane's connection frees
//! what it holds when its node is dead or frozen: the database gives up on silence within seconds.

use std::sync::Arc;
use std::time::Duration;

use rustls::{ClientConfig, RootCertStore};
use tokio::runtime::{Builder, Runtime};
use tokio::time::timeout;
use tokio_postgres::config::{Host, SslMode, TargetSessionAttrs};
use tokio_postgres::tls::MakeTlsConnect;
use tokio_postgres::{Client, Config, Connection, Error, Socket};
use tokio_postgres_rustls::MakeRustlsConnect;

use crate::asks::Session;
use crate::fault::Fault;
use crate::open::OpenError;
use crate::wait::wait;

const CONNECT_WITHIN: Duration = Duration::from_secs(5);
/// With several hosts in the address each has its time.
const HEARD_WITHIN: Duration = Duration::from_secs(30);
const KEEPALIVE_IDLE: Duration = Duration::from_secs(5);
const KEEPALIVE_INTERVAL: Duration = Duration::from_secs(2);
const KEEPALIVES: u32 = 3;
const USER_TIMEOUT: Duration = Duration::from_secs(10);
/// Longer than the database works on a statement: it has stopped, or is one that was replaced.
const LANE_ANSWERS_WITHIN: Duration = Duration::from_secs(15);
const READER_ANSWERS_WITHIN: Duration = Duration::from_secs(35);

/// Both ends give up on a peer that is gone; the database also on one that has fallen asleep in the
/// middle of a round. A lane's statements are all made for indexes, also those that were planned while
/// the tables were small.
const LANE_SETTINGS: &str = "SET application_name = 'semel lane'; \
     SET idle_in_transaction_session_timeout = '5s'; SET statement_timeout = '10s'; \
     SET lock_timeout = '2s'; SET tcp_keepalives_idle = 5; SET tcp_keepalives_interval = 2; \
     SET tcp_keepalives_count = 3; SET tcp_user_timeout = 10000; SET jit = off; \
     SET enable_seqscan = off; SET enable_hashjoin = off; SET enable_mergejoin = off; \
     SET enable_material = off; SET enable_bitmapscan = off";
const READER_SETTINGS: &str = "SET application_name = 'semel'; SET statement_timeout = '30s'; \
     SET lock_timeout = '5s'; SET idle_in_transaction_session_timeout = '30s'";

/// Bytes of one connection.
pub(crate) type Raw = Connection<Socket, <MakeRustlsConnect as MakeTlsConnect<Socket>>::Stream>;

pub(crate) struct Link {
    /// There until this is dropped.
    runtime: Option<Runtime>,
    config: Config,
    tls: MakeRustlsConnect,
}

impl Link {
    pub(crate) fn new(url: &str) -> Result<Self, OpenError> {
        let config = config(url)?;
        let mut runtime = Builder::new_multi_thread();
        let runtime = runtime.worker_threads(2).thread_name("semel-postgres").enable_all();
        let runtime = runtime.build().map_err(OpenError::Threads)?;
        Ok(Self { runtime: Some(runtime), config, tls: tls()? })
    }

    /// Where it leads, without what nobody needs to see.
    pub(crate) fn name(&self) -> String {
        let hosts: Vec<_> = self.config.get_hosts().iter().map(host).collect();
        let ports: Vec<_> = self.config.get_ports().iter().map(u16::to_string).collect();
        let database = self.config.get_dbname().or(self.config.get_user()).unwrap_or_default();
        match &*ports {
            [] => format!("{}/{database}", hosts.join(",")),
            ports => format!("{}:{}/{database}", hosts.join(","), ports.join(",")),
        }
    }

    pub(crate) fn user(&self) -> &str {
        self.config.get_user().unwrap_or_default()
    }

    /// Blocks until the answer is there.
    pub(crate) fn wait<T>(&self, future: impl Future<Output = T>) -> T {
        let runtime = self.runtime.as_ref().expect("there until this is dropped");
        let _inside = runtime.enter();
        wait(future)
    }

    /// Runs beside everything else until the link is gone.
    pub(crate) fn spawn(&self, work: impl Future<Output = ()> + Send + 'static) {
        let runtime = self.runtime.as_ref().expect("there until this is dropped");
        runtime.spawn(work);
    }

    /// A connection whose messages somebody else has to look at.
    pub(crate) async fn raw(&self) -> Result<(Client, Raw), Error> {
        self.config.connect(self.tls.clone()).await
    }

    /// Also who takes a connection may not answer on it.
    async fn connect(&self, settings: &str, within: Option<Duration>) -> Result<Session, Fault> {
        let connected = timeout(HEARD_WITHIN, self.greet(settings, within)).await;
        Ok(connected.map_err(|_| Fault::NoAnswer)??)
    }

    async fn greet(&self, settings: &str, within: Option<Duration>) -> Result<Session, Error> {
        let (client, connection) = self.config.connect(self.tls.clone()).await?;
        let carrier = tokio::spawn(async move {
            if let Err(error) = connection.await {
                tracing::debug!(%error, "a connection to PostgreSQL has ended");
            }
        });
        client.batch_execute(settings).await?;
        Ok(Session::new(client, carrier.abort_handle(), within))
    }

    pub(crate) async fn lane(&self) -> Result<Session, Fault> {
        self.connect(LANE_SETTINGS, Some(LANE_ANSWERS_WITHIN)).await
    }

    pub(crate) async fn reader(&self) -> Result<Session, Fault> {
        self.connect(READER_SETTINGS, Some(READER_ANSWERS_WITHIN)).await
    }

    /// For what is done once at the start, however long it takes.
    pub(crate) async fn opener(&self) -> Result<Session, Fault> {
        self.connect(READER_SETTINGS, None).await
    }

    /// Whoever has opened reads from now on.
    pub(crate) async fn reads_now(&self, opener: Session) -> Result<Session, Fault> {
        opener.client.batch_execute(READER_SETTINGS).await?;
        Ok(opener.answering_within(READER_ANSWERS_WITHIN))
    }
}

impl Drop for Link {
    /// In the background: a runtime must not be waited for where tasks run.
    fn drop(&mut self) {
        if let Some(runtime) = self.runtime.take() {
            runtime.shutdown_background();
        }
    }
}

/// What the address leaves open.
fn config(url: &str) -> Result<Config, OpenError> {
    let mut config: Config = url.parse().map_err(OpenError::Url)?;
    let options = url.rsplit_once('?').map_or("", |(_, options)| options);
    if !options.contains("sslmode=") {
        config.ssl_mode(if is_near(&config) { SslMode::Disable } else { SslMode::Require });
    }
    if config.get_connect_timeout().is_none() {
        config.connect_timeout(CONNECT_WITHIN);
    }
    config
        .keepalives(true)
        .keepalives_idle(KEEPALIVE_IDLE)
        .keepalives_interval(KEEPALIVE_INTERVAL)
        .keepalives_retries(KEEPALIVES)
        .tcp_user_timeout(USER_TIMEOUT)
        .target_session_attrs(TargetSessionAttrs::ReadWrite);
    Ok(config)
}

/// On this machine: nobody listens in between.
fn is_near(config: &Config) -> bool {
    let is_near = |host: &Host| match host {
        Host::Tcp(name) => matches!(&**name, "localhost" | "127.0.0.1" | "::1"),
        #[cfg(unix)]
        Host::Unix(_) => true,
    };
    let hosts = config.get_hosts().iter().all(is_near);
    hosts && config.get_hostaddrs().iter().all(|address| address.is_loopback())
}

fn host(host: &Host) -> String {
    match host {
        Host::Tcp(name) => name.clone(),
        #[cfg(unix)]
        Host::Unix(path) => path.display().to_string(),
    }
}

/// Certificates are checked against those the machine trusts, or those of `SSL_CERT_FILE`.
fn tls() -> Result<MakeRustlsConnect, OpenError> {
    let mut roots = RootCertStore::empty();
    roots.add_parsable_certificates(rustls_native_certs::load_native_certs().certs);
    let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
    let config = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .map_err(OpenError::Tls)?;
    let config = config.with_root_certificates(roots).with_no_client_auth();
    Ok(MakeRustlsConnect::new(config))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tls_is_asked_for_unless_the_database_is_on_this_machine() {
        for (hosts, mode) in [
            ("localhost", SslMode::Disable),
            ("127.0.0.1:5433", SslMode::Disable),
            ("[::1]", SslMode::Disable),
            ("%2Frun%2Fpostgresql", SslMode::Disable),
            ("localhost,127.0.0.1", SslMode::Disable),
            ("db.example.com", SslMode::Require),
            ("127.0.0.1.example.com", SslMode::Require),
            ("10.0.0.7", SslMode::Require),
            ("localhost,db.example.com", SslMode::Require),
        ] {
            let found = config(&format!("postgres://semel@{hosts}/semel")).unwrap();
            assert_eq!(found.get_ssl_mode(), mode, "{hosts}");
        }
        for address in ["localhost/semel?hostaddr=10.0.0.7", "db.example.com/semel?user=a"] {
            let found = config(&format!("postgres://:sslmode=prefer@{address}")).unwrap();
            assert_eq!(found.get_ssl_mode(), SslMode::Require, "{address}");
        }
    }

    #[test]
    fn what_the_address_says_of_tls_is_done() {
        for (host, mode) in [("db.example.com", "disable"), ("localhost", "require")] {
            let found = config(&format!("postgres://semel@{host}/semel?sslmode={mode}")).unwrap();
            let is_asked_for = found.get_ssl_mode() == SslMode::Require;
            assert_eq!(is_asked_for, mode == "require", "{host}");
        }
    }

    #[test]
    fn the_address_may_say_how_long_a_connection_may_take() {
        let within = |options| {
            let found = config(&format!("postgres://semel@localhost/semel{options}")).unwrap();
            found.get_connect_timeout().copied()
        };
        assert_eq!(within(""), Some(CONNECT_WITHIN));
        assert_eq!(within("?connect_timeout=30"), Some(Duration::from_secs(30)));
    }

    #[test]
    fn whoever_is_connected_to_can_write() {
        let found = config("postgres://semel@one,two/semel").unwrap();
        assert_eq!(found.get_target_session_attrs(), TargetSessionAttrs::ReadWrite);
    }
}
