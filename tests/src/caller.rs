//! # A caller: asks over real HTTP, and again where that is safe

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use anyhow::Result;
use reqwest::Method;
use serde_json::Value;

use crate::process::{DEADLINE, until};

/// Longer than the longest poll.
const ANSWER_WITHIN: Duration = Duration::from_secs(15);

/// Asks one server, or one of several after the other; clones share connections.
#[derive(Clone)]
pub struct Caller {
    bases: Arc<[String]>,
    turn: Arc<AtomicUsize>,
    client: reqwest::blocking::Client,
}

/// What came back.
#[derive(Debug, Clone)]
pub struct Answer {
    pub status: u16,
    pub body: String,
    headers: reqwest::header::HeaderMap,
}

impl Answer {
    pub fn json(&self) -> Value {
        serde_json::from_str(&self.body).unwrap_or(Value::Null)
    }

    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name)?.to_str().ok()
    }
}

impl Caller {
    pub fn new(address: SocketAddr) -> Result<Self> {
        Self::of(&[address])
    }

    /// Waits that long for an answer; of somebody who is known to be slow.
    pub fn patient(address: SocketAddr, within: Duration) -> Result<Self> {
        Self::build(&[address], None, within)
    }

    /// Asks each of them in turn.
    pub fn of(addresses: &[SocketAddr]) -> Result<Self> {
        Self::build(addresses, None, ANSWER_WITHIN)
    }

    /// Sends the token with everything.
    pub fn with_token(address: SocketAddr, token: Option<&str>) -> Result<Self> {
        Self::build(&[address], token, ANSWER_WITHIN)
    }

    fn build(addresses: &[SocketAddr], token: Option<&str>, within: Duration) -> Result<Self> {
        let mut headers = reqwest::header::HeaderMap::new();
        if let Some(token) = token {
            headers.insert("X-Authorization", token.parse()?);
        }
        let client = reqwest::blocking::Client::builder().timeout(within);
        let client = client.default_headers(headers).build()?;
        let bases = addresses.iter().map(|address| format!("http://{address}")).collect();
        Ok(Self { bases, turn: Arc::default(), client })
    }

    fn url(&self, path: &str) -> String {
        let turn = self.turn.fetch_add(1, Ordering::Relaxed);
        format!("{}{path}", self.bases[turn % self.bases.len()])
    }

    /// Asks once. An error means that no answer came; what was asked may have happened.
    pub fn ask(&self, method: Method, path: &str, body: Option<&Value>) -> Result<Answer> {
        let mut request = self.client.request(method, self.url(path));
        if let Some(body) = body {
            request = request.json(body);
        }
        let response = request.send()?;
        let (status, headers) = (response.status().as_u16(), response.headers().clone());
        Ok(Answer { status, headers, body: response.text()? })
    }

    /// Asks with a body that is not JSON, or not only.
    pub fn put_text(&self, path: &str, body: &str) -> Result<Answer> {
        let request = self.client.put(self.url(path)).body(body.to_owned());
        let response = request.header("Content-Type", "text/plain").send()?;
        let (status, headers) = (response.status().as_u16(), response.headers().clone());
        Ok(Answer { status, headers, body: response.text()? })
    }

    /// Posts nothing but headers.
    pub fn ask_with(&self, headers: &[(&str, &str)], path: &str) -> Result<Answer> {
        let mut request = self.client.post(self.url(path));
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        let response = request.send()?;
        let (status, headers) = (response.status().as_u16(), response.headers().clone());
        Ok(Answer { status, headers, body: response.text()? })
    }

    pub fn get(&self, path: &str) -> Result<Answer> {
        self.ask(Method::GET, path, None)
    }

    pub fn post(&self, path: &str, body: &Value) -> Result<Answer> {
        self.ask(Method::POST, path, Some(body))
    }

    /// Asks until there is a verdict: no answer, 429 and 503 are promises that asking again is safe.
    pub fn insist(&self, method: Method, path: &str, body: Option<&Value>) -> Result<Answer> {
        until(&format!("a verdict on {method} {path}"), DEADLINE, || {
            let answer = self.ask(method.clone(), path, body).ok()?;
            (!matches!(answer.status, 429 | 503)).then_some(answer)
        })
    }
}
