//! # The client: one request, one connection, one answer
//!
//! Every hop has a connection of its own, to an address the guard has seen. Nothing is repeated,
//! cached, decompressed or sent through a proxy: what the task says is what happens.

use std::collections::BTreeMap;
use std::net::IpAddr;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use ipnet::IpNet;
use reqwest::{Response, Url};
use semel_model::HttpRequest;
use tokio::time::{Instant, sleep_until, timeout, timeout_at};

use crate::answer::Answer;
use crate::connected::{Noticed, Signal};
use crate::fault::{Fault, told};
use crate::guard::Guard;
use crate::outcome::Outcome;
use crate::outgoing::{Identity, Outgoing};
use crate::redirect::{REDIRECTS_MAX, next};
use crate::resolver::Resolver;
use crate::{condition, verdict};

/// Below what a task's output may be, also when it has to be written as escaped text.
const BODY_BYTES_MAX: usize = 4 * 1024 * 1024;

/// How long a request may take altogether, unless somebody says otherwise.
pub const TOTAL_MS: u64 = 60_000;

/// The longest that somebody may say.
pub const TOTAL_MS_MAX: u64 = 3_600_000;

/// Connect timeouts differ between steps; each has a client of its own, up to so many.
const CLIENTS_MAX: usize = 32;

#[derive(Clone, Debug)]
pub struct Settings {
    /// Ranges that are open besides the public ones.
    pub allow: Vec<IpNet>,
    /// Whatever fails may be tried again, as Conductor has it.
    pub compat_retry: bool,
    /// How long a request may take altogether that does not say it itself.
    pub total_ms: u64,
}

impl Default for Settings {
    fn default() -> Self {
        Self { allow: Vec::new(), compat_retry: false, total_ms: TOTAL_MS }
    }
}

pub struct Client {
    guard: Arc<Guard>,
    compat_retry: bool,
    total_ms: u64,
    /// By connect timeout.
    clients: Mutex<BTreeMap<u64, reqwest::Client>>,
}

impl Client {
    pub fn new(settings: Settings) -> Self {
        let guard = Arc::new(Guard::new(settings.allow));
        let Settings { compat_retry, total_ms, .. } = settings;
        Self { guard, compat_retry, total_ms, clients: Mutex::default() }
    }

    pub async fn send(&self, request: &HttpRequest, who: &Identity) -> Outcome {
        let outgoing = match Outgoing::of(request, who) {
            Ok(outgoing) => outgoing,
            Err(why) => return verdict::malformed(&why),
        };
        let deadline = Deadline::of(request, self.total_ms);
        let came = self.follow(outgoing.clone(), request.follows_redirects, deadline).await;
        let outcome = match came {
            Ok(answer) if condition::has_failed(request, &answer) => {
                let there = match condition::asks_again(request) {
                    true => Some(self.follow(condition::look(&outgoing), true, deadline).await),
                    false => None,
                };
                condition::judge(request, &answer, there)
            }
            Ok(answer) => verdict::answered(request, &answer),
            Err(fault) => verdict::unanswered(request, fault),
        };
        if self.compat_retry { verdict::retried_like_conductor(outcome) } else { outcome }
    }

    async fn follow(
        &self,
        first: Outgoing,
        follows: bool,
        deadline: Deadline,
    ) -> Result<Answer, Fault> {
        let mut outgoing = first;
        for _ in 0..=REDIRECTS_MAX {
            let answer = self.exchange(&outgoing, deadline).await?;
            match next(&outgoing, &answer) {
                Ok(Some(further)) if follows => outgoing = further,
                Ok(_) => return Ok(answer),
                Err(_) if !follows => return Ok(answer),
                Err(why) => return Err(Fault::Astray(why)),
            }
        }
        Err(Fault::Astray(format!("it was sent on more than {REDIRECTS_MAX} times")))
    }

    async fn exchange(&self, outgoing: &Outgoing, deadline: Deadline) -> Result<Answer, Fault> {
        if let Some(address) = literal(&outgoing.url) {
            self.guard.check(address).map_err(|why| Fault::Impossible(why.to_string()))?;
        }
        let client = self.client(outgoing.connect_ms)?;
        let mut request = reqwest::Request::new(outgoing.method.clone(), outgoing.url.clone());
        request.headers_mut().clone_from(&outgoing.headers);
        *request.body_mut() = outgoing.body.clone().map(Into::into);
        let read = Duration::from_millis(outgoing.read_ms);
        let connected = Signal::default();
        let sending = connected.during(client.execute(request));
        tokio::pin!(sending);
        // Connecting has a limit of its own, in the client.
        let done = tokio::select! {
            biased;
            done = &mut sending => Ok(done),
            () = connected.given() => {
                timeout_at(deadline.at.min(Instant::now() + read), sending).await
            }
            // Before the connection stands nothing is sent, and nothing will be: it is dropped here.
            () = sleep_until(deadline.at) => {
                return Err(Fault::NotSent(deadline.missed("the connection did not stand")));
            }
        };
        match done {
            Err(_) if deadline.has_passed() => {
                Err(Fault::NoAnswer(deadline.missed("there was no answer")))
            }
            Err(_) => Err(Fault::NoAnswer(format!(
                "no answer within readTimeOut, {} ms",
                outgoing.read_ms
            ))),
            Ok(Err(error)) => Err(Fault::of(&error, connected.is_given())),
            Ok(Ok(response)) => answer(response, read, deadline).await,
        }
    }

    fn client(&self, connect_ms: u64) -> Result<reqwest::Client, Fault> {
        let mut clients = self.clients.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = clients.get(&connect_ms) {
            return Ok(known.clone());
        }
        let fresh = self.build(connect_ms).map_err(|error| Fault::NotSent(told(&error)))?;
        if clients.len() >= CLIENTS_MAX {
            clients.clear();
        }
        clients.insert(connect_ms, fresh.clone());
        Ok(fresh)
    }

    fn build(&self, connect_ms: u64) -> reqwest::Result<reqwest::Client> {
        let builder = || {
            reqwest::Client::builder()
                .no_proxy()
                .no_gzip()
                .no_brotli()
                .no_deflate()
                .no_zstd()
                .redirect(reqwest::redirect::Policy::none())
                .retry(reqwest::retry::never())
                .referer(false)
                .pool_max_idle_per_host(0)
                .connect_timeout(Duration::from_millis(connect_ms))
                .dns_resolver(Resolver(Arc::clone(&self.guard)))
                .connector_layer(Noticed)
        };
        // A machine without certificates can still speak plain HTTP; TLS then fails as it should.
        builder().build().or_else(|_| builder().tls_certs_only([]).build())
    }
}

/// When a request has taken long enough, redirects and the look after a condition included. A service
/// that sends a byte now and then would otherwise hold its place for ever.
#[derive(Clone, Copy)]
struct Deadline {
    at: Instant,
    ms: u64,
}

impl Deadline {
    /// What the request says; else what the server says, or more if a connection and one silence that
    /// the request allows may take longer.
    fn of(request: &HttpRequest, server_ms: u64) -> Self {
        let patience_ms = request.connect_ms.saturating_add(request.read_ms);
        let ms = request.total_ms.unwrap_or(server_ms.max(patience_ms)).min(TOTAL_MS_MAX);
        Self { at: Instant::now() + Duration::from_millis(ms), ms }
    }

    fn has_passed(self) -> bool {
        Instant::now() >= self.at
    }

    fn missed(self, what: &str) -> String {
        let ms = self.ms;
        format!(
            "{what} within {ms} ms in all; totalTimeOut of the request, or http_total_ms of the \
             server, allows more"
        )
    }
}

/// The address an address names without asking anybody.
fn literal(url: &Url) -> Option<IpAddr> {
    let host = url.host_str()?;
    host.trim_start_matches('[').trim_end_matches(']').parse().ok()
}

async fn answer(
    mut response: Response,
    read: Duration,
    deadline: Deadline,
) -> Result<Answer, Fault> {
    let status = response.status().as_u16();
    let unreadable = |why: String| Fault::Unreadable { status, why };
    let over = || {
        let why = format!("the answer is over the limit of {BODY_BYTES_MAX} bytes");
        Fault::TooLong { status, why }
    };
    let phrase = response.status().canonical_reason().unwrap_or_default().to_owned();
    let mut headers = Vec::with_capacity(response.headers().len());
    for (name, value) in response.headers() {
        let value = String::from_utf8_lossy(value.as_bytes()).into_owned();
        headers.push((usual(name.as_str()), value));
    }
    if response.content_length().is_some_and(|bytes| bytes > BODY_BYTES_MAX as u64) {
        return Err(over());
    }
    let whole = async {
        let mut body = Vec::new();
        loop {
            match timeout(read, response.chunk()).await {
                Err(_) => return Err(unreadable("the answer stopped half-way".to_owned())),
                Ok(Err(error)) => return Err(unreadable(told(&error))),
                Ok(Ok(None)) => return Ok(body),
                Ok(Ok(Some(chunk))) if body.len() + chunk.len() > BODY_BYTES_MAX => {
                    return Err(over());
                }
                Ok(Ok(Some(chunk))) => body.extend_from_slice(&chunk),
            }
        }
    };
    let body = timeout_at(deadline.at, whole).await;
    let endless = || unreadable(deadline.missed("the answer did not end"));
    let body = body.unwrap_or_else(|_| Err(endless()))?;
    Ok(Answer { status, phrase, headers, body })
}

/// A name as it is usually written: definitions ask for `Content-Type`.
fn usual(name: &str) -> String {
    if name == "etag" {
        return "ETag".to_owned();
    }
    let mut is_first = true;
    let spell = |c: char| {
        let spelled = if is_first { c.to_ascii_uppercase() } else { c };
        is_first = c == '-';
        spelled
    };
    name.chars().map(spell).collect()
}

#[cfg(test)]
mod tests;
