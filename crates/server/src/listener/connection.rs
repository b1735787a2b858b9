//! # One connection: requests in, answers out, until it ends

use std::convert::Infallible;
use std::net::IpAddr;
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use axum::body::Body;
use axum::extract::Request;
use axum::http::HeaderValue;
use axum::http::header::CONNECTION;
use axum::response::Response;
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use semel_api::{Connection, Door};
use tokio::net::TcpStream;
use tokio::sync::watch;
use tower::ServiceExt as _;

use super::awaited::Awaited;
use super::register::{Entry, Phase, Place};
use super::stream::Stream;

/// Of the head of a request. Its target and its headers may be long, but not as long as a body.
const HEAD_BYTES_MAX: usize = 64 * 1024;

pub(super) async fn serve(
    stream: TcpStream,
    peer: IpAddr,
    place: Place,
    door: Door,
    mut closed: watch::Receiver<bool>,
) {
    let entry = &place.entry;
    let io = TokioIo::new(Stream::new(stream, &place));
    let from = Connection { peer, is_spare: entry.is_spare };
    let service = service_fn(|request| answer(request, from, door.clone(), entry));
    let served = http1::Builder::new().max_buf_size(HEAD_BYTES_MAX).serve_connection(io, service);
    let mut served = pin!(served);
    let mut is_closing = false;
    loop {
        tokio::select! {
            done = &mut served => {
                if let Err(error) = done {
                    tracing::debug!(%error, "a connection broke off");
                }
                return;
            }
            () = entry.ended.notified() => return,
            _ = closed.wait_for(|is_closed| *is_closed), if !is_closing => {
                served.as_mut().graceful_shutdown();
                is_closing = true;
            }
        }
    }
}

async fn answer(
    request: Request<Incoming>,
    from: Connection,
    door: Door,
    entry: &Arc<Entry>,
) -> Result<Response, Infallible> {
    entry.enter(Phase::Serving);
    let mut request = request.map(|body| Body::new(Awaited::new(body, Arc::clone(entry))));
    request.extensions_mut().insert(from);
    let mut answer = door.oneshot(request).await?;
    if from.is_spare {
        answer.headers_mut().insert(CONNECTION, HeaderValue::from_static("close"));
    }
    if answer.headers().contains_key(CONNECTION) {
        entry.is_unread.store(true, Ordering::Relaxed);
    }
    entry.enter(Phase::Idle);
    Ok(answer)
}
