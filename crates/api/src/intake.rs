//! # Intake: request bodies while they come in
//!
//! All bodies together have a limit, because each alone may be large. A body has to go on coming. What
//! nobody has read when the answer is there is read up to a bound and thrown away; beyond it the
//! answer says that the connection closes. Otherwise the client's next request would be lost, or the
//! answer itself. **May not:** look into a body.

use std::error::Error;
use std::fmt;
use std::pin::Pin;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll};
use std::time::Duration;

use axum::body::{Body, HttpBody};
use axum::extract::Request;
use axum::http::header::{CONNECTION, EXPECT};
use axum::http::{HeaderMap, HeaderValue, StatusCode};
use axum::response::Response;
use bytes::Bytes;
use http_body::{Frame, SizeHint};
use http_body_util::BodyExt as _;
use metrics::counter;
use tokio::time::Sleep;

use crate::app::Limits;
use crate::error::ApiError;
use crate::refusal::Refusal;

/// How much of what nobody reads is thrown away before the answer, and for how long.
const DISCARDED_BYTES_MAX: usize = 1024 * 1024;
/// Of a body in pieces: each costs work, however small it is.
const DISCARDED_PIECES_MAX: usize = 10_000;
const DISCARD_FOR: Duration = Duration::from_secs(1);

/// As much has to come within the time that a body may stand still. A single byte now and then is
/// standing still too.
const PROGRESS_BYTES: usize = 64 * 1024;

/// Strangers may send these, and they are short: they come as fast as a head.
const LOGIN: &str = "/api/token";

/// What all bodies, and long heads, that are held at this moment take; memory is the process's.
static HELD: AtomicUsize = AtomicUsize::new(0);

/// In bytes.
pub(crate) fn held() -> usize {
    HELD.load(Ordering::Relaxed)
}

/// So many bytes of the head of a request have come that are kept until it is whole. They have the share of
/// the bodies; what both hold now.
pub fn hold_head(bytes: usize) -> usize {
    HELD.fetch_add(bytes, Ordering::Relaxed) + bytes
}

/// They are no longer kept.
pub fn free_head(bytes: usize) {
    HELD.fetch_sub(bytes, Ordering::Relaxed);
}

/// What bodies are held to.
pub(crate) struct Intake {
    bytes_max: usize,
    stall: Duration,
    stall_of_login: Duration,
}

/// Why a body is not read to its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Broken {
    /// All bodies together take too much.
    Full,
    /// It does not go on coming.
    Stalled,
}

impl fmt::Display for Broken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Full => "the request bodies under way take their share of memory_max",
            Self::Stalled => {
                "the body did not go on within body_timeout_ms (header_timeout_ms for a login)"
            }
        })
    }
}

impl Error for Broken {}

impl Broken {
    pub(crate) fn refusal(self) -> ApiError {
        let (status, code, reason) = match self {
            Self::Full => (StatusCode::SERVICE_UNAVAILABLE, "BODIES_FULL", "bodies"),
            Self::Stalled => (StatusCode::REQUEST_TIMEOUT, "BODY_TIMEOUT", "stalled"),
        };
        counter!("semel_door_refusals_total", "reason" => reason).increment(1);
        let message = format!("{self}; nothing was done (docs/errors/{code}.md)");
        ApiError::Refused(Box::new(Refusal::new(status, code, message).retry_after(1)))
    }

    /// Found among the causes of an error of a body.
    pub(crate) fn in_causes(error: &(dyn Error + 'static)) -> Option<Self> {
        let mut causes = std::iter::successors(Some(error), |error| (*error).source());
        causes.find_map(|cause| cause.downcast_ref().copied())
    }
}

impl Intake {
    pub(crate) fn new(limits: &Limits) -> Self {
        Self {
            // One that is allowed by itself fits in.
            bytes_max: limits.bodies_bytes_max.max(limits.body_bytes_max),
            stall: Duration::from_millis(limits.body_timeout_ms),
            stall_of_login: Duration::from_millis(
                limits.header_timeout_ms.min(limits.body_timeout_ms),
            ),
        }
    }

    /// The same request, whose body is watched; none if it has no body.
    pub(crate) fn watched(&self, request: Request) -> (Request, Option<Arc<Progress>>) {
        if request.body().is_end_stream() {
            return (request, None);
        }
        let progress = Arc::new(Progress {
            is_announced: is_announced(request.headers()),
            bytes: AtomicUsize::new(0),
            end: Mutex::new(End::Read),
        });
        let is_login = request.uri().path() == LOGIN;
        let stall = if is_login { self.stall_of_login } else { self.stall };
        let bytes_max = self.bytes_max;
        let request = request.map(|body| {
            let progress = Arc::clone(&progress);
            let body = Some(body);
            Body::new(Incoming { body, progress, bytes_max, stall, sleep: None, come: 0 })
        });
        (request, Some(progress))
    }
}

/// Of one body: what of it is held in memory, and how reading it ended.
pub(crate) struct Progress {
    /// The client waits to be told to send it.
    is_announced: bool,
    bytes: AtomicUsize,
    end: Mutex<End>,
}

enum End {
    /// To the end, or the client broke it off.
    Read,
    /// There is more, and nobody wants it.
    Left(Body),
    /// There may be more, and nobody waits for it.
    GivenUp,
}

impl Progress {
    fn ended(&self, end: End) {
        *self.end.lock().unwrap_or_else(PoisonError::into_inner) = end;
    }

    /// Makes sure that this answer can be read, and that it says so if it is the last one.
    pub(crate) async fn settle(&self, mut answer: Response) -> Response {
        let end = std::mem::replace(
            &mut *self.end.lock().unwrap_or_else(PoisonError::into_inner),
            End::Read,
        );
        let is_over = match end {
            End::Read => true,
            End::GivenUp => false,
            // Asking for it would have it sent in vain.
            End::Left(_) if self.is_announced && self.bytes.load(Ordering::Relaxed) == 0 => false,
            End::Left(body) => {
                tokio::time::timeout(DISCARD_FOR, discarded(body)).await.unwrap_or(false)
            }
        };
        if !is_over {
            answer.headers_mut().insert(CONNECTION, HeaderValue::from_static("close"));
        }
        answer
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        HELD.fetch_sub(*self.bytes.get_mut(), Ordering::Relaxed);
    }
}

async fn discarded(mut body: Body) -> bool {
    let mut bytes = 0;
    for _ in 0..DISCARDED_PIECES_MAX {
        let Some(Ok(frame)) = body.frame().await else { return true };
        bytes += frame.data_ref().map_or(0, Bytes::len);
        if bytes > DISCARDED_BYTES_MAX {
            return false;
        }
    }
    false
}

fn is_announced(headers: &HeaderMap) -> bool {
    headers.get(EXPECT).is_some_and(|text| text.as_bytes().eq_ignore_ascii_case(b"100-continue"))
}

struct Incoming {
    /// None once it is over.
    body: Option<Body>,
    progress: Arc<Progress>,
    bytes_max: usize,
    stall: Duration,
    /// Made when there is something to wait for: most bodies come with their head.
    sleep: Option<Pin<Box<Sleep>>>,
    /// Bytes since it was made.
    come: usize,
}

impl Incoming {
    fn note(&mut self, bytes: usize) -> Result<(), Broken> {
        self.come += bytes;
        if self.come >= PROGRESS_BYTES {
            (self.come, self.sleep) = (0, None);
        }
        self.progress.bytes.fetch_add(bytes, Ordering::Relaxed);
        let before = HELD.fetch_add(bytes, Ordering::Relaxed);
        if before + bytes > self.bytes_max { Err(Broken::Full) } else { Ok(()) }
    }

    fn give_up(&mut self, why: Broken) -> axum::Error {
        self.body = None;
        self.progress.ended(End::GivenUp);
        axum::Error::new(why)
    }
}

impl HttpBody for Incoming {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        let this = self.get_mut();
        let Some(body) = &mut this.body else { return Poll::Ready(None) };
        match Pin::new(body).poll_frame(context) {
            Poll::Ready(Some(Ok(frame))) => {
                let bytes = frame.data_ref().map_or(0, Bytes::len);
                let noted = this.note(bytes).map_err(|why| this.give_up(why));
                Poll::Ready(Some(noted.map(|()| frame)))
            }
            Poll::Ready(over) => {
                this.body = None;
                Poll::Ready(over)
            }
            Poll::Pending => {
                let stall = this.stall;
                let sleep = this.sleep.get_or_insert_with(|| Box::pin(tokio::time::sleep(stall)));
                match sleep.as_mut().poll(context) {
                    Poll::Ready(()) => Poll::Ready(Some(Err(this.give_up(Broken::Stalled)))),
                    Poll::Pending => Poll::Pending,
                }
            }
        }
    }

    fn is_end_stream(&self) -> bool {
        self.body.as_ref().is_none_or(HttpBody::is_end_stream)
    }

    fn size_hint(&self) -> SizeHint {
        self.body.as_ref().map_or_else(|| SizeHint::with_exact(0), HttpBody::size_hint)
    }
}

impl Drop for Incoming {
    fn drop(&mut self) {
        if let Some(body) = self.body.take().filter(|body| !body.is_end_stream()) {
            self.progress.ended(End::Left(body));
        }
    }
}
