//! # HTTP: one keep-alive connection and its calls
//!
//! The load shares two cores with the server, so a call costs one write and one read, in buffers that
//! stay: no pool, no map of headers. Speaks as much HTTP/1.1 as the server answers with.
//! **May not:** know what a call means. Failures are counted here, once, and returned.

use std::io::{ErrorKind, Write as _};
use std::net::SocketAddr;
use std::ops::Range;
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context, Result, anyhow, bail, ensure};
use bytes::{Bytes, BytesMut};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;

use crate::tally::Tally;

const REQUEST_MS_MAX: u64 = 30_000;
const RETRY_AFTER_MS_DEFAULT: u64 = 1000;
const EXCERPT_CHARS_MAX: usize = 300;
const HEAD_BYTES_MAX: usize = 64 * 1024;
const READ_BYTES: usize = 16 * 1024;
const TOO_MANY_REQUESTS: u16 = 429;
const NO_CONTENT: u16 = 204;

/// What is sent; kept apart from the connection because it may be sent again.
#[derive(Clone)]
pub(crate) struct Call {
    method: &'static str,
    path: Arc<str>,
    body: Bytes,
}

pub(crate) struct Answer {
    head: Bytes,
    status: u16,
    pub(crate) body: Bytes,
}

pub(crate) struct Client {
    address: SocketAddr,
    tally: Arc<Tally>,
    wire: Option<Wire>,
}

struct Wire {
    stream: TcpStream,
    host: String,
    outgoing: Vec<u8>,
    incoming: BytesMut,
}

impl Call {
    pub(crate) fn get(path: &str) -> Result<Self> {
        Self::new("GET", path, Bytes::new())
    }

    pub(crate) fn post(path: &str, body: impl Into<Bytes>) -> Result<Self> {
        Self::new("POST", path, body.into())
    }

    pub(crate) fn delete(path: &str) -> Result<Self> {
        Self::new("DELETE", path, Bytes::new())
    }

    fn new(method: &'static str, path: &str, body: Bytes) -> Result<Self> {
        let is_path = path.starts_with('/') && path.bytes().all(|byte| byte.is_ascii_graphic());
        ensure!(is_path, "{path} is not a request path");
        Ok(Self { method, path: path.into(), body })
    }

    /// The same route with another body.
    pub(crate) fn with_body(&self, body: impl Into<Bytes>) -> Self {
        Self { method: self.method, path: Arc::clone(&self.path), body: body.into() }
    }
}

impl Answer {
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        str::from_utf8(&self.head).ok().and_then(|head| header(head, name))
    }

    fn retry_after(&self) -> Duration {
        let seconds = self.header("retry-after").and_then(|text| text.parse::<f64>().ok());
        match seconds.map(Duration::try_from_secs_f64) {
            Some(Ok(wait)) => wait,
            Some(Err(_)) | None => Duration::from_millis(RETRY_AFTER_MS_DEFAULT),
        }
    }
}

impl Client {
    /// Connects on the first call.
    pub(crate) fn new(address: SocketAddr, tally: Arc<Tally>) -> Self {
        Self { address, tally, wire: None }
    }

    /// Answers with a 2xx body or fails; a 429 is waited out and sent again.
    pub(crate) async fn send(&mut self, call: &Call) -> Result<Answer> {
        loop {
            let deadline = Duration::from_millis(REQUEST_MS_MAX);
            let exchanged = tokio::time::timeout(deadline, self.exchange(call)).await;
            self.tally.add(|counts| counts.requests += 1);
            let answer = match exchanged {
                Ok(Ok(answer)) => answer,
                Ok(Err(error)) => return Err(self.broken(call, &error)),
                Err(_) => return Err(self.broken(call, &anyhow!("no answer in time"))),
            };
            if answer.status == TOO_MANY_REQUESTS {
                self.tally.add(|counts| counts.answers_throttled += 1);
                tokio::time::sleep(answer.retry_after()).await;
                continue;
            }
            if !(200..300).contains(&answer.status) {
                let Answer { status, body, .. } = answer;
                let what = format!("{} {}: {status} {}", call.method, call.path, excerpt(&body));
                self.tally.fail(&what, |counts| counts.answers_refused += 1);
                bail!(what);
            }
            return Ok(answer);
        }
    }

    fn broken(&mut self, call: &Call, error: &anyhow::Error) -> anyhow::Error {
        self.wire = None; // Half an exchange may be in flight; the next call connects anew.
        let what = format!("{} {}: {error:#}", call.method, call.path);
        self.tally.fail(&what, |counts| counts.connections_broken += 1);
        anyhow!(what)
    }

    /// A connection the server closed while idle is replaced quietly: nothing was lost with it.
    async fn exchange(&mut self, call: &Call) -> Result<Answer> {
        let wire = match self.wire.take().filter(Wire::is_open) {
            Some(wire) => wire,
            None => Wire::connect(self.address).await?,
        };
        let wire = self.wire.insert(wire);
        wire.send(call).await?;
        let (answer, is_last) = wire.receive().await?;
        if is_last {
            self.wire = None;
        }
        Ok(answer)
    }
}

impl Wire {
    async fn connect(address: SocketAddr) -> Result<Self> {
        let stream = TcpStream::connect(address).await?;
        stream.set_nodelay(true)?;
        let host = address.to_string();
        Ok(Self { stream, host, outgoing: Vec::new(), incoming: BytesMut::new() })
    }

    /// Costs nothing while there is nothing to be read.
    fn is_open(&self) -> bool {
        let read = self.stream.try_read(&mut [0]);
        matches!(read, Err(error) if error.kind() == ErrorKind::WouldBlock)
    }

    async fn send(&mut self, call: &Call) -> Result<()> {
        let Call { method, path, body } = call;
        let Self { host, outgoing, .. } = self;
        outgoing.clear();
        write!(outgoing, "{method} {path} HTTP/1.1\r\nhost: {host}\r\n")?;
        if !body.is_empty() {
            outgoing.extend_from_slice(b"content-type: application/json\r\n");
        }
        write!(outgoing, "content-length: {}\r\n\r\n", body.len())?;
        outgoing.extend_from_slice(body);
        self.stream.write_all(outgoing).await?;
        Ok(())
    }

    /// Also whether the server closes the connection after it.
    async fn receive(&mut self) -> Result<(Answer, bool)> {
        let head_end = loop {
            if let Some(at) = self.incoming.windows(4).position(|end| end == b"\r\n\r\n") {
                break at + 4;
            }
            ensure!(self.incoming.len() <= HEAD_BYTES_MAX, "the head of the answer has no end");
            self.read().await?;
        };
        let head = self.incoming.split_to(head_end).freeze();
        let Head { status, length, is_last } = Head::of(&head)?;
        while self.incoming.len() < length {
            self.read().await?;
        }
        let body = self.incoming.split_to(length).freeze();
        Ok((Answer { head, status, body }, is_last))
    }

    async fn read(&mut self) -> Result<()> {
        self.incoming.reserve(READ_BYTES);
        let count = self.stream.read_buf(&mut self.incoming).await?;
        ensure!(count > 0, "the server closed the connection");
        Ok(())
    }
}

/// What has to be known of an answer's head to read the rest.
struct Head {
    status: u16,
    length: usize,
    is_last: bool,
}

impl Head {
    fn of(head: &[u8]) -> Result<Self> {
        const STATUS: Range<usize> = 9..12; // After `HTTP/1.1 `.
        let head = str::from_utf8(head).context("a head that is not text")?;
        let status = head.get(STATUS).and_then(|text| text.parse().ok());
        let status = status.with_context(|| format!("no status in {head:?}"))?;
        let length = header(head, "content-length").map(str::parse).transpose()?;
        let length = length.or((status == NO_CONTENT).then_some(0));
        let length = length.with_context(|| format!("no length in {head:?}"))?;
        let connection = header(head, "connection").unwrap_or_default();
        Ok(Self { status, length, is_last: connection.eq_ignore_ascii_case("close") })
    }
}

fn header<'a>(head: &'a str, name: &str) -> Option<&'a str> {
    head.split("\r\n").skip(1).find_map(|line| {
        let (field, value) = line.split_once(':')?;
        field.eq_ignore_ascii_case(name).then_some(value.trim())
    })
}

fn excerpt(body: &[u8]) -> String {
    String::from_utf8_lossy(body).chars().take(EXCERPT_CHARS_MAX).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_head_says_how_much_follows() {
        let head = |text: &str| Head::of(text.as_bytes());
        let read = head("HTTP/1.1 200 OK\r\nContent-Length: 12\r\nconnection: Close\r\n\r\n");
        let Head { status, length, is_last } = read.unwrap();
        assert_eq!((status, length, is_last), (200, 12, true));
        let nothing = head("HTTP/1.1 204 No Content\r\ndate: now\r\n\r\n").unwrap();
        assert_eq!((nothing.status, nothing.length, nothing.is_last), (204, 0, false));
        for unreadable in
            ["", "HTTP/1.1 abc\r\n\r\n", "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n"]
        {
            assert!(head(unreadable).is_err(), "{unreadable:?}");
        }
    }

    #[test]
    fn headers_are_found_by_their_names() {
        let head = "HTTP/1.1 200 OK\r\nX-Outcome:  CREATED \r\nx-outcome-2: no\r\n\r\n";
        assert_eq!(header(head, "x-outcome"), Some("CREATED"));
        assert_eq!(header(head, "outcome"), None);
    }

    #[test]
    fn only_paths_are_called() {
        assert!(Call::get("/api/workflow?a=b").is_ok());
        assert!(Call::get("api").is_err());
        assert!(Call::get("/a b").is_err());
    }
}
