//! # The watch: every request has an id, a span, a line in the log and a place in the numbers
//!
//! Around everything else, so that what is refused, unknown or too large is seen too. Paths are
//! told by their pattern, and neither queries nor bodies are told at all: both may hold secrets.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock, PoisonError, RwLock};
use std::time::{Duration, Instant};

use axum::extract::{MatchedPath, Request, State};
use axum::http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode};
use axum::middleware::Next;
use axum::response::{IntoResponse as _, Response};
use metrics::{Histogram, counter, histogram};
use semel_model::{ExecutionId, Traceparent};
use tracing::Instrument as _;

use crate::app::App;
use crate::connection::check_room;
use crate::intake::Intake;
use crate::{page, problem};

pub(crate) static REQUEST_ID: HeaderName = HeaderName::from_static("x-request-id");
static TRACEPARENT: HeaderName = HeaderName::from_static("traceparent");

/// What an id of a request may hold of what the client sent.
const REQUEST_ID_CHARS_MAX: usize = 200;

/// What is said of a path nobody serves: it is the client's text.
const UNKNOWN: &str = "UNKNOWN";

/// What the server collects numbers and spans with.
#[derive(Clone, Default)]
pub struct Watch {
    /// The numbers so far, as Prometheus reads them.
    pub numbers: Option<Arc<dyn Fn() -> String + Send + Sync>>,
    pub spans: Option<Arc<dyn Spans>>,
}

/// Whoever sends spans away.
pub trait Spans: Send + Sync {
    /// Makes the span part of its caller's trace, and tells which span it is itself.
    fn adopt(&self, span: &tracing::Span, parent: Option<Traceparent>) -> Option<Traceparent>;
}

/// What is known of a request before anybody has looked at it.
#[derive(Clone, Debug)]
pub(crate) struct Asked {
    pub(crate) id: Arc<str>,
    /// The trace that what it starts belongs to.
    pub(crate) traceparent: Option<Traceparent>,
}

/// What the watch has with it.
pub(crate) struct Watching {
    app: App,
    intake: Intake,
    times: Times,
}

impl Watching {
    pub(crate) fn new(app: App) -> Self {
        let intake = Intake::new(&app.limits);
        Self { app, intake, times: Times::default() }
    }
}

/// Where the times of requests are collected. To look one up by its labels costs more than most
/// requests should.
#[derive(Default)]
struct Times(RwLock<HashMap<String, Vec<Line>>>);

/// One method and status of a path.
struct Line {
    method: &'static str,
    status: StatusCode,
    times: Histogram,
}

impl Times {
    fn note(&self, path: &str, method: &'static str, status: StatusCode, took: Duration) {
        let is_it = |line: &&Line| line.method == method && line.status == status;
        let known = self.0.read().unwrap_or_else(PoisonError::into_inner);
        if let Some(line) = known.get(path).and_then(|lines| lines.iter().find(is_it)) {
            return line.times.record(took);
        }
        drop(known);
        let times = times(path, method, status);
        times.record(took);
        let mut known = self.0.write().unwrap_or_else(PoisonError::into_inner);
        known.entry(path.to_owned()).or_default().push(Line { method, status, times });
    }
}

pub(crate) async fn watch(
    State(watching): State<Arc<Watching>>,
    mut request: Request,
    next: Next,
) -> Response {
    let began = Instant::now();
    let id = request_id(request.headers());
    let method = method(request.method());
    let matched = request.extensions().get::<MatchedPath>().cloned();
    let path = matched.as_ref().map_or(UNKNOWN, MatchedPath::as_str);
    let span = tracing::info_span!("request", %id, method, path);
    let parent = traceparent(request.headers());
    let traceparent = match &watching.app.watch.spans {
        Some(spans) => spans.adopt(&span, parent),
        None => parent,
    };
    request.extensions_mut().insert(Asked { id: Arc::clone(&id), traceparent });
    let (request, body) = watching.intake.watched(request);
    let wants_problem = problem::is_asked_for(request.headers());
    let answering = async {
        let let_in = watching.app.web.check_host(&request).and(check_room(&request));
        let mut response = match let_in {
            Ok(()) => next.run(request).await,
            Err(refused) => {
                drop(request);
                refused.into_response()
            }
        };
        if let Some(body) = body {
            response = body.settle(response).await;
        }
        if wants_problem {
            response = problem::told(response).await;
        }
        let (status, took) = (response.status(), began.elapsed());
        tell(path, status, took);
        watching.times.note(path, method, status, took);
        response
    };
    let mut response = answering.instrument(span).await;
    page::secure(response.headers_mut());
    if let Ok(id) = HeaderValue::from_str(&id) {
        response.headers_mut().insert(&REQUEST_ID, id);
    }
    response
}

fn tell(path: &str, status: StatusCode, took: Duration) {
    let ms = took.as_millis();
    if status.is_server_error() {
        tracing::info!(status = status.as_u16(), ms, "answered");
        counter!("workflow_server_error_total", "methodName" => path.to_owned()).increment(1);
    } else {
        tracing::debug!(status = status.as_u16(), ms, "answered");
    }
}

fn times(path: &str, method: &'static str, status: StatusCode) -> Histogram {
    let outcome = match status.as_u16() {
        100..200 => "INFORMATIONAL",
        200..300 => "SUCCESS",
        300..400 => "REDIRECTION",
        400..500 => "CLIENT_ERROR",
        _ => "SERVER_ERROR",
    };
    let labels = [
        ("uri", path.to_owned()),
        ("method", method.to_owned()),
        ("status", status.as_str().to_owned()),
        ("outcome", outcome.to_owned()),
    ];
    histogram!("http_server_requests_seconds", &labels)
}

/// As the client named it, if that can be printed; else one of ours.
fn request_id(headers: &HeaderMap) -> Arc<str> {
    let Some(given) = headers.get(&REQUEST_ID) else { return drawn() };
    let given = given.to_str().unwrap_or_default().trim();
    let given: String = given.chars().take(REQUEST_ID_CHARS_MAX).collect();
    let is_printable = given.chars().all(|c| c == ' ' || c.is_ascii_graphic());
    if given.is_empty() || !is_printable { drawn() } else { given.into() }
}

/// Short, because it is kept in every journal entry: the process, and a number.
fn drawn() -> Arc<str> {
    static PROCESS: OnceLock<String> = OnceLock::new();
    static NEXT: AtomicU64 = AtomicU64::new(1);
    let process = PROCESS.get_or_init(|| {
        let random = ExecutionId::draw();
        random.as_bytes()[10..].iter().map(|byte| format!("{byte:02x}")).collect()
    });
    format!("{process}-{:x}", NEXT.fetch_add(1, Ordering::Relaxed)).into()
}

/// One that breaks the rules counts as none, and so do several: the trace begins anew.
fn traceparent(headers: &HeaderMap) -> Option<Traceparent> {
    let mut given = headers.get_all(&TRACEPARENT).iter();
    let (first, more) = (given.next()?, given.next());
    first.to_str().ok().filter(|_| more.is_none())?.trim().parse().ok()
}

/// Clients can make up methods, and must not make up labels.
fn method(method: &Method) -> &'static str {
    const KNOWN: [&str; 7] = ["GET", "POST", "PUT", "DELETE", "HEAD", "OPTIONS", "PATCH"];
    KNOWN.into_iter().find(|known| *known == method.as_str()).unwrap_or("OTHER")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn headers(name: &'static str, values: &[&[u8]]) -> HeaderMap {
        let mut headers = HeaderMap::new();
        for value in values {
            headers.append(name, HeaderValue::from_bytes(value).unwrap());
        }
        headers
    }

    #[test]
    fn an_id_is_the_clients_if_it_can_be_printed() {
        let id = |value: &[u8]| request_id(&headers("x-request-id", &[value])).to_string();
        assert_eq!(id(b"order 7"), "order 7");
        assert_eq!(id(&[b'x'; 500]), "x".repeat(200));
        for unusable in [&b""[..], b"   ", b"\xff\xfe", b"a\tb"] {
            let drawn = id(unusable);
            assert!(drawn.contains('-') && drawn.len() > 12, "{drawn}");
        }
    }

    #[test]
    fn no_two_drawn_ids_are_the_same() {
        let ids: std::collections::BTreeSet<_> = (0..1000).map(|_| drawn()).collect();
        assert_eq!(ids.len(), 1000);
    }

    #[test]
    fn a_broken_or_doubled_traceparent_is_none() {
        let one = b"00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01".as_slice();
        let read = |values: &[&[u8]]| traceparent(&headers("traceparent", values));
        assert_eq!(read(&[one]).map(|found| found.to_string().into_bytes()), Some(one.to_vec()));
        assert_eq!(read(&[one, one]), None);
        assert_eq!(read(&[b"00-zz"]), None);
        assert_eq!(read(&[]), None);
    }

    #[test]
    fn methods_that_are_made_up_share_a_label() {
        assert_eq!(method(&Method::PUT), "PUT");
        assert_eq!(method(&Method::from_bytes(b"BREW").unwrap()), "OTHER");
    }
}
