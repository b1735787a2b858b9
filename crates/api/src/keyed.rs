//! # Requests with a key: the door's half of docs/reference/idempotency.md#request-keys
//!
//! Stands between the guard and the handler of whatever may change something. The same request again
//! gets the first answer; while the first is being served it is waited for. Served in a task of its
//! own: a caller who goes away must find the answer when it asks again.
//!
//! **May not:** keep what a client got wrong or the server could not do; nothing of that is decided.

use std::sync::Arc;
use std::time::Duration;

use axum::body::{Body as HttpBody, to_bytes};
use axum::extract::Request;
use axum::http::request::Parts;
use axum::http::{HeaderName, HeaderValue, Response as HttpResponse, StatusCode, header};
use axum::middleware::Next;
use axum::response::{IntoResponse as _, Response};
use bytes::Bytes;
use metrics::counter;
use semel_model::{ExecutionId, Timestamp};
use semel_runtime::{
    Failure, KeyedRequest, Looked, RequestKey, RequestTurn, Settled, StoredAnswer,
};
use tracing::Instrument as _;

use crate::answer::{empty, nothing, text, with_header};
use crate::app::App;
use crate::caller::{ANONYMOUS, Principal};
use crate::endpoint::{Content, Empty};
use crate::error::{ApiError, Undecided};
use crate::refusal::Refusal;
use crate::request::{Bound, Reading, handle, whole};
use crate::request_key::{fingerprint, key_in, patience, said};
use crate::watch::Asked;

/// Longer answers are not kept: the handler is asked again, and told what its steps were told.
const ANSWER_BYTES_MAX: usize = 256 * 1024;

/// How often a request begins again that somebody else has begun meanwhile.
const TRIES_MAX: usize = 3;

/// What the endpoint's own line says.
#[derive(Clone)]
pub(crate) struct Keyed {
    pub(crate) app: App,
    pub(crate) takes: Option<Content>,
    pub(crate) reading: Reading,
    pub(crate) empty: Empty,
    /// The answer may hold secrets, or what holds for a time only.
    pub(crate) confides: bool,
}

pub(crate) async fn keyed(line: &Keyed, request: Request, next: Next) -> Response {
    let key = match key_in(request.headers()) {
        Ok(Some(key)) => key,
        Ok(None) if line.app.keys.needed_for(request.uri().path()) => {
            let wanted = "this needs a header Idempotency-Key, the same for every try";
            return ApiError::KeyRequired(wanted.to_owned()).into_response();
        }
        Ok(None) => return handle(request, next, &line.reading).await,
        Err(error) => return error.into_response(),
    };
    let served = serve(line.clone(), key, request, next).await;
    served.unwrap_or_else(ApiError::into_response)
}

async fn serve(
    line: Keyed,
    key: String,
    request: Request,
    next: Next,
) -> Result<Response, ApiError> {
    let (parts, body) = request.into_parts();
    let body = whole(body, Bound::of(&line.app.limits)).await?;
    let compared = match line.takes {
        None => Vec::new(),
        Some(Content::Json(_)) => said(&body),
        Some(Content::Text | Content::Html) => body.to_vec(),
    };
    let principal = parts.extensions.get::<Principal>();
    let principal = principal.map_or(ANONYMOUS, |principal| &principal.0);
    let asked = parts.extensions.get::<Asked>().map_or("", |asked| &asked.id);
    let fingerprint = fingerprint(&parts.method, &parts.uri, &compared);
    let named = RequestKey::new(principal, &key, fingerprint, asked);
    let wait = patience(&parts.headers);
    let serving = Serving { line, named, parts, body, next };
    let serving = tokio::spawn(serving.once(wait).in_current_span());
    let gone = |_| ApiError::Internal("serving the request ended without an answer".to_owned());
    serving.await.map_err(gone)?
}

struct Serving {
    line: Keyed,
    named: RequestKey,
    parts: Parts,
    body: Bytes,
    next: Next,
}

impl Serving {
    async fn once(self, wait: Duration) -> Result<Response, ApiError> {
        let runtime = Arc::clone(&self.line.app.runtime);
        let Some(mut turn) = runtime.request_turn(&self.named, wait).await else {
            count("in_progress");
            return Err(in_progress());
        };
        for _ in 0..TRIES_MAX {
            let (begun, run) = match runtime.look_for_request(&self.named).await {
                Ok(Looked::New) => (None, None),
                Ok(Looked::Begun { run, expires_at }) => (Some(expires_at), run),
                Ok(Looked::Answered { answer, expires_at }) => {
                    return Ok(marked(replayed(&answer), true, Some(expires_at)));
                }
                Err(failure) => {
                    if matches!(failure, Failure::KeyReused { .. }) {
                        count("mismatched");
                    }
                    return Err(failure.into());
                }
            };
            let request = KeyedRequest::new(self.named.clone(), runtime.now(), begun);
            let request = Arc::new(request);
            let again = Request::from_parts(self.parts.clone(), HttpBody::from(self.body.clone()));
            let served = handle(again, self.next.clone(), &self.line.reading);
            let answer = request.serve(served).await;
            if request.is_overtaken() {
                continue;
            }
            let answer = match begun {
                Some(_) if is_refusal(&answer) && !request.has_steps() => {
                    request.answer_for();
                    self.remembered(run)
                }
                _ => answer,
            };
            match self.kept(&request, answer, turn).await? {
                Course::Over(answer) => return Ok(answer),
                Course::Again(back) => turn = back,
            }
        }
        Err(Failure::Unavailable.into())
    }

    /// It was done, and what it needs to say so again is gone: a definition was deleted since.
    fn remembered(&self, run: Option<ExecutionId>) -> Response {
        match run {
            Some(run) => with_header(text(run.to_string()), "x-workflow-id", &run.to_string()),
            None if self.line.empty == Empty::Always => nothing(),
            None => empty(),
        }
    }

    async fn kept(
        &self,
        request: &Arc<KeyedRequest>,
        answer: Response,
        turn: RequestTurn,
    ) -> Result<Course, ApiError> {
        let runtime = &self.line.app.runtime;
        let is_decided = is_decided(&answer);
        let (answer, stored) = self.stored(answer).await?;
        let stored = stored.filter(|_| is_decided);
        let (steps, again) = (request.has_steps(), request.is_recalled());
        // What is not there may come to exist, so nothing of such a request is kept.
        let is_there = answer.status() != StatusCode::NOT_FOUND;
        let until = (stored.is_some() || (steps && is_there)).then(|| request.expires_at());
        let told = |answer| Course::Over(marked(answer, again, until));
        let Some(stored) = stored else { return Ok(told(answer)) };
        if steps {
            runtime.settle_request_soon(request, stored, turn);
            return Ok(told(answer));
        }
        Ok(match runtime.settle_request(request, stored).await? {
            Settled::Kept => told(answer),
            Settled::Before(before) => Course::Over(marked(replayed(&before), true, until)),
            Settled::Begun => Course::Again(turn),
        })
    }

    /// The answer, and what can be kept of it.
    async fn stored(&self, answer: Response) -> Result<(Response, Option<StoredAnswer>), ApiError> {
        let (head, body) = answer.into_parts();
        let body = to_bytes(body, usize::MAX).await;
        let body = body.map_err(|error| ApiError::Internal(error.to_string()))?;
        let is_kept = !self.line.confides && body.len() <= ANSWER_BYTES_MAX;
        let words = String::from_utf8(body.to_vec()).ok().filter(|_| is_kept);
        let headers = head.headers.iter().filter(|(name, _)| is_content(name));
        let headers = headers.filter_map(|(name, value)| {
            Some((name.as_str().to_owned(), value.to_str().ok()?.to_owned()))
        });
        let stored = words.map(|body| StoredAnswer {
            status: head.status.as_u16(),
            headers: headers.collect(),
            body,
        });
        Ok((HttpResponse::from_parts(head, HttpBody::from(body)), stored))
    }
}

enum Course {
    Over(Response),
    Again(RequestTurn),
}

/// The request was not even understood; that the server could not do it just now is something else.
fn is_refusal(answer: &Response) -> bool {
    let status = answer.status();
    status.is_client_error() && status != StatusCode::TOO_MANY_REQUESTS
}

/// Whether the state of things decided it. What is wrong with a request, who may not ask, what is
/// not there yet, and what the server cannot do just now is not.
fn is_decided(answer: &Response) -> bool {
    let status = answer.status();
    let is_final = matches!(status.as_u16(), 409 | 410 | 422 | 423);
    let did_nothing = answer.extensions().get::<Undecided>().is_some();
    let may_change = answer.headers().contains_key(header::RETRY_AFTER)
        || answer.headers().contains_key("x-lease-until");
    !did_nothing && (status.is_success() || (is_final && !may_change))
}

/// What the answer is and says; not when, by which request and by whom it was given.
fn is_content(name: &HeaderName) -> bool {
    *name == header::CONTENT_TYPE || name.as_str().starts_with("x-")
}

fn replayed(answer: &StoredAnswer) -> Response {
    let mut response = answer.body.clone().into_response();
    *response.status_mut() = StatusCode::from_u16(answer.status).unwrap_or(StatusCode::OK);
    let headers = response.headers_mut();
    headers.remove(header::CONTENT_TYPE);
    for (name, value) in &answer.headers {
        if let (Ok(name), Ok(value)) = (name.parse::<HeaderName>(), value.parse::<HeaderValue>()) {
            headers.insert(name, value);
        }
    }
    response
}

fn marked(answer: Response, again: bool, until: Option<Timestamp>) -> Response {
    count(if again { "replayed" } else { "created" });
    let mut answer =
        with_header(answer, "idempotent-replayed", if again { "true" } else { "false" });
    if again {
        answer = with_header(answer, "x-idempotency-outcome", "REPLAYED");
    }
    let until = until.and_then(|until| jiff::Timestamp::from_millisecond(until.ms()).ok());
    match until {
        Some(until) => with_header(answer, "idempotency-expires", &until.to_string()),
        None => answer,
    }
}

fn in_progress() -> ApiError {
    let message = "the same request is being carried out; ask again with the same key".to_owned();
    let refusal = Refusal::new(StatusCode::CONFLICT, "IDEMPOTENCY_IN_PROGRESS", message);
    ApiError::Refused(Box::new(refusal.retry_after(1)))
}

fn count(outcome: &'static str) {
    counter!("semel_request_keys_total", "outcome" => outcome).increment(1);
}
