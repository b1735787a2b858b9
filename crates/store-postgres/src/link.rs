//! # The link: how connections are made and who drives them
//!
//! A runtime of two threads moves bytes for all connections of the store. A lane's connection frees
//! what it holds when its node is dead or frozen: the database gives up on silence within seconds.

use std::sync::Arc;
use std::time::Duration;

use rustls::{ClientConfig, RootCertStore};
use tokio::runtime::{Builder, Runtime};
use tokio_postgres::config::{Host, SslMode};
use tokio_postgres::tls::MakeTlsConnect;
use tokio_postgres::{Client, Config, Connection, Error, Socket};
use tokio_postgres_rustls::MakeRustlsConnect;

use crate::asks::Session;
use crate::open::OpenError;
use crate::wait::wait;

const CONNECT_WITHIN: Duration = Duration::from_secs(5);
const KEEPALIVE_IDLE: Duration = Duration::from_secs(5);
const KEEPALIVE_INTERVAL: Duration = Duration::from_secs(2);
const KEEPALIVES: u32 = 3;
const USER_TIMEOUT: Duration = Duration::from_secs(10);

/// Both ends give up on a peer that is gone; the database also on one that has fallen asleep in the
/// middle of a round. A lane's statements are all made for indexes, also those that were planned while
/// the tables were small.
const LANE_SETTINGS: &str = "SET application_name = 'semel lane'; \
     SET idle_in_transaction_session_timeout = '5s'; SET statement_timeout = '10s'; \
     SET lock_timeout = '2s'; SET tcp_keepalives_idle = 5; SET tcp_keepalives_interval = 2; \
     SET tcp_keepalives_count = 3; SET tcp_user_timeout = 10000; SET jit = off; \
     SET enable_seqscan = off; SET enable_hashjoin = off; SET enable_mergejoin = off";
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
        let mut config: Config = url.parse().map_err(OpenError::Url)?;
        if !url.contains("sslmode=") {
            config.ssl_mode(if is_near(&config) { SslMode::Disable } else { SslMode::Require });
        }
        config
            .connect_timeout(CONNECT_WITHIN)
            .keepalives(true)
            .keepalives_idle(KEEPALIVE_IDLE)
            .keepalives_interval(KEEPALIVE_INTERVAL)
            .keepalives_retries(KEEPALIVES)
            .tcp_user_timeout(USER_TIMEOUT)
            .target_session_attrs(tokio_postgres::config::TargetSessionAttrs::ReadWrite);
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

    async fn connect(&self) -> Result<Client, Error> {
        let (client, connection) = self.config.connect(self.tls.clone()).await?;
        tokio::spawn(async move {
            if let Err(error) = connection.await {
                tracing::debug!(%error, "a connection to PostgreSQL has ended");
            }
        });
        Ok(client)
    }

    pub(crate) async fn lane(&self) -> Result<Session, Error> {
        let client = self.connect().await?;
        client.batch_execute(LANE_SETTINGS).await?;
        Ok(Session::new(client))
    }

    pub(crate) async fn reader(&self) -> Result<Session, Error> {
        let client = self.connect().await?;
        client.batch_execute(READER_SETTINGS).await?;
        Ok(Session::new(client))
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

/// On this machine: nobody listens in between.
fn is_near(config: &Config) -> bool {
    config.get_hosts().iter().all(|host| match host {
        Host::Tcp(name) => matches!(&**name, "localhost" | "127.0.0.1" | "::1"),
        #[cfg(unix)]
        Host::Unix(_) => true,
    })
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
