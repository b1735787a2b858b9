//! # HTTP: one keep-alive connection and its calls
//!
//! The load shares two cores with the server, so a call costs little: prepared paths, no pool, and
//! the connection is polled by the task that waits for the answer.
//! **May not:** know what a call means. Failures are counted here, once, and returned.

use std::future::{Future, poll_fn};
use std::net::SocketAddr;
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context, Result, anyhow, bail};
use bytes::Bytes;
use http_body_util::{BodyExt, Full};
use hyper::client::conn::http1;
use hyper::header::{CONTENT_TYPE, HOST, HeaderValue, RETRY_AFTER};
use hyper::{HeaderMap, Method, Request, StatusCode, Uri};
use hyper_util::rt::TokioIo;
use tokio::net::TcpStream;

use crate::tally::Tally;

const REQUEST_MS_MAX: u64 = 30_000;
const RETRY_AFTER_MS_DEFAULT: u64 = 1000;
const EXCERPT_CHARS_MAX: usize = 300;

/// What is sent; kept apart from the connection because it may be sent again.
#[derive(Clone)]
pub(crate) struct Call {
    method: Method,
    uri: Uri,
    body: Bytes,
}

pub(crate) struct Answer {
    pub(crate) headers: HeaderMap,
    pub(crate) body: Bytes,
}

pub(crate) struct Client {
    address: SocketAddr,
    host: HeaderValue,
    tally: Arc<Tally>,
    wire: Option<Wire>,
}

type Connection = http1::Connection<TokioIo<TcpStream>, Full<Bytes>>;

struct Wire {
    sender: http1::SendRequest<Full<Bytes>>,
    connection: Option<Connection>,
}

impl Call {
    pub(crate) fn get(path: &str) -> Result<Self> {
        Ok(Self { method: Method::GET, uri: uri(path)?, body: Bytes::new() })
    }

    pub(crate) fn post(path: &str, body: impl Into<Bytes>) -> Result<Self> {
        Ok(Self { method: Method::POST, uri: uri(path)?, body: body.into() })
    }

    pub(crate) fn delete(path: &str) -> Result<Self> {
        Ok(Self { method: Method::DELETE, uri: uri(path)?, body: Bytes::new() })
    }

    /// The same route with another body, without parsing the path again.
    pub(crate) fn with_body(&self, body: impl Into<Bytes>) -> Self {
        Self { method: self.method.clone(), uri: self.uri.clone(), body: body.into() }
    }
}

fn uri(path: &str) -> Result<Uri> {
    path.parse().with_context(|| format!("{path} is not a request path"))
}

impl Client {
    /// Connects on the first call.
    pub(crate) fn new(address: SocketAddr, tally: Arc<Tally>) -> Result<Self> {
        let host = HeaderValue::from_str(&address.to_string())?;
        Ok(Self { address, host, tally, wire: None })
    }

    /// Answers with a 2xx body or fails; a 429 is waited out and sent again.
    pub(crate) async fn send(&mut self, call: &Call) -> Result<Answer> {
        loop {
            let deadline = Duration::from_millis(REQUEST_MS_MAX);
            let exchanged = tokio::time::timeout(deadline, self.exchange(call)).await;
            self.tally.add(|counts| counts.requests += 1);
            let (status, headers, body) = match exchanged {
                Ok(Ok(answer)) => answer,
                Ok(Err(error)) => return Err(self.broken(call, &error)),
                Err(_) => return Err(self.broken(call, &anyhow!("no answer in time"))),
            };
            if status == StatusCode::TOO_MANY_REQUESTS {
                self.tally.add(|counts| counts.answers_throttled += 1);
                tokio::time::sleep(retry_after(&headers)).await;
                continue;
            }
            if !status.is_success() {
                let what = format!("{} {}: {status} {}", call.method, call.uri, excerpt(&body));
                self.tally.fail(&what, |counts| counts.answers_refused += 1);
                bail!(what);
            }
            return Ok(Answer { headers, body });
        }
    }

    fn broken(&mut self, call: &Call, error: &anyhow::Error) -> anyhow::Error {
        self.wire = None; // Half an exchange may be in flight; the next call connects anew.
        let what = format!("{} {}: {error:#}", call.method, call.uri);
        self.tally.fail(&what, |counts| counts.connections_broken += 1);
        anyhow!(what)
    }

    async fn exchange(&mut self, call: &Call) -> Result<(StatusCode, HeaderMap, Bytes)> {
        let request = self.request(call);
        let wire = self.ready().await?;
        let sent = wire.sender.send_request(request);
        let response = driven(&mut wire.connection, sent).await?;
        let (head, body) = response.into_parts();
        let body = driven(&mut wire.connection, body.collect()).await?.to_bytes();
        Ok((head.status, head.headers, body))
    }

    fn request(&self, call: &Call) -> Request<Full<Bytes>> {
        let mut request = Request::new(Full::new(call.body.clone()));
        *request.method_mut() = call.method.clone();
        *request.uri_mut() = call.uri.clone();
        request.headers_mut().insert(HOST, self.host.clone());
        if !call.body.is_empty() {
            let json = HeaderValue::from_static("application/json");
            request.headers_mut().insert(CONTENT_TYPE, json);
        }
        request
    }

    /// A connection the server closed while idle is replaced quietly: nothing was lost with it.
    async fn ready(&mut self) -> Result<&mut Wire> {
        let mut kept = self.wire.take();
        if let Some(wire) = &mut kept
            && driven(&mut wire.connection, wire.sender.ready()).await.is_err()
        {
            kept = None;
        }
        let wire = match kept {
            Some(wire) => wire,
            None => Wire::connect(self.address).await?,
        };
        Ok(self.wire.insert(wire))
    }
}

impl Wire {
    async fn connect(address: SocketAddr) -> Result<Self> {
        let stream = TcpStream::connect(address).await?;
        stream.set_nodelay(true)?;
        let (sender, connection) = http1::handshake(TokioIo::new(stream)).await?;
        Ok(Self { sender, connection: Some(connection) })
    }
}

/// Polls the connection and what waits on it in one task; a spawned connection would cost a second
/// wake-up per answer. The connection goes first, so what it read is seen in the same poll.
async fn driven<T>(connection: &mut Option<Connection>, wanted: impl Future<Output = T>) -> T {
    let mut wanted = pin!(wanted);
    poll_fn(|context| {
        if let Some(open) = connection
            && Pin::new(open).poll(context).is_ready()
        {
            *connection = None; // `wanted` now fails or finishes from what was read.
        }
        wanted.as_mut().poll(context)
    })
    .await
}

fn retry_after(headers: &HeaderMap) -> Duration {
    let seconds = headers
        .get(RETRY_AFTER)
        .and_then(|value| value.to_str().ok())
        .and_then(|text| text.trim().parse::<f64>().ok());
    match seconds.map(Duration::try_from_secs_f64) {
        Some(Ok(wait)) => wait,
        Some(Err(_)) | None => Duration::from_millis(RETRY_AFTER_MS_DEFAULT),
    }
}

fn excerpt(body: &[u8]) -> String {
    String::from_utf8_lossy(body).chars().take(EXCERPT_CHARS_MAX).collect()
}
