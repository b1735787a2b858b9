//! # Raw HTTP: requests as bytes, answers as they came

use std::io::{Read as _, Write as _};
use std::net::{SocketAddr, TcpStream};
use std::time::Duration;

use anyhow::{Context as _, Result, ensure};
use serde_json::Value;

const ANSWER_WITHIN: Duration = Duration::from_secs(30);

#[derive(Clone, Debug)]
pub(crate) struct Request {
    pub(crate) method: String,
    pub(crate) target: String,
    headers: Vec<(String, Vec<u8>)>,
    pub(crate) body: Option<Vec<u8>>,
    is_chunked: bool,
    host: String,
}

impl Request {
    pub(crate) fn new(method: &str, target: impl Into<String>) -> Self {
        let (method, target) = (method.to_owned(), target.into());
        Self {
            method,
            target,
            headers: vec![],
            body: None,
            is_chunked: false,
            host: "localhost".to_owned(),
        }
    }

    pub(crate) fn get(target: impl Into<String>) -> Self {
        Self::new("GET", target)
    }

    pub(crate) fn post(target: impl Into<String>, body: &Value) -> Self {
        Self::new("POST", target).json(body)
    }

    pub(crate) fn json(self, body: &Value) -> Self {
        self.header("Content-Type", "application/json").body(body.to_string())
    }

    pub(crate) fn body(mut self, body: impl Into<Vec<u8>>) -> Self {
        self.body = Some(body.into());
        self
    }

    pub(crate) fn header(mut self, name: &str, value: impl Into<Vec<u8>>) -> Self {
        self.headers.push((name.to_owned(), value.into()));
        self
    }

    /// The same, to another name of the server.
    pub(crate) fn host(self, host: &str) -> Self {
        Self { host: host.to_owned(), ..self }
    }

    /// The same, without saying how long the body is.
    pub(crate) fn chunked(mut self) -> Self {
        self.is_chunked = true;
        self
    }

    pub(crate) fn bytes(&self) -> Vec<u8> {
        let Self { method, target, host, .. } = self;
        let mut bytes =
            format!("{method} {target} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n")
                .into_bytes();
        for (name, value) in &self.headers {
            bytes.extend([name.as_bytes(), b": ", value, b"\r\n"].concat());
        }
        match &self.body {
            Some(body) if self.is_chunked => {
                bytes.extend(b"Transfer-Encoding: chunked\r\n\r\n");
                for chunk in body.chunks(7) {
                    bytes.extend(format!("{:x}\r\n", chunk.len()).as_bytes());
                    bytes.extend([chunk, b"\r\n"].concat());
                }
                bytes.extend(b"0\r\n\r\n");
            }
            Some(body) => {
                bytes.extend(format!("Content-Length: {}\r\n\r\n", body.len()).as_bytes());
                bytes.extend(body);
            }
            None => bytes.extend(b"\r\n"),
        }
        bytes
    }
}

#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    headers: Vec<(String, String)>,
    pub(crate) body: Vec<u8>,
}

impl Answer {
    fn parse(bytes: &[u8], to_head: bool) -> Result<Self> {
        let end = bytes.windows(4).position(|four| four == b"\r\n\r\n");
        let end = end.context("the connection was dropped without an answer")?;
        let head = std::str::from_utf8(&bytes[..end])?;
        let mut lines = head.split("\r\n");
        let status = lines.next().and_then(|line| line.split(' ').nth(1)).context("no status")?;
        let header = |line: &str| {
            let (name, value) = line.split_once(": ")?;
            Some((name.to_ascii_lowercase(), value.to_owned()))
        };
        let headers = lines.map(|line| header(line).context("a header without a value"));
        let (status, headers) = (status.parse()?, headers.collect::<Result<_>>()?);
        let answer = Self { status, headers, body: bytes[end + 4..].to_vec() };
        if let Some(length) = answer.header("content-length").filter(|_| !to_head) {
            ensure!(length == answer.body.len().to_string(), "the body is cut: {answer:?}");
        }
        Ok(answer)
    }

    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }

    pub(crate) fn text(&self) -> String {
        String::from_utf8_lossy(&self.body).into_owned()
    }

    pub(crate) fn json(&self) -> Value {
        assert_eq!(self.header("content-type"), Some("application/json"), "{self:?}");
        serde_json::from_slice(&self.body).unwrap_or_else(|error| panic!("{error}: {self:?}"))
    }
}

/// Sends bytes on a connection of their own. A server may answer before it has read all of them.
pub(crate) fn exchange(address: SocketAddr, request: &[u8]) -> Result<Answer> {
    let mut stream = TcpStream::connect(address)?;
    stream.set_read_timeout(Some(ANSWER_WITHIN))?;
    stream.set_write_timeout(Some(ANSWER_WITHIN))?;
    let written = stream.write_all(request);
    let mut bytes = vec![];
    let read = stream.read_to_end(&mut bytes);
    let to_head = request.starts_with(b"HEAD ");
    Answer::parse(&bytes, to_head).with_context(|| format!("wrote: {written:?}, read: {read:?}"))
}
