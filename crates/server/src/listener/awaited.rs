//! # The body of a request: a connection that lets us wait for it notes so
//!
//! While nothing comes nothing is done, so whoever keeps us waiting may have to make room.

use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use hyper::body::{Body, Bytes, Frame, Incoming, SizeHint};

use super::register::{Entry, PROGRESS_BYTES, Phase, now_ms};

pub(super) struct Awaited {
    body: Incoming,
    entry: Arc<Entry>,
    /// Since when it has not gone on. A byte now and then is not going on.
    since: Option<u64>,
    come: usize,
}

impl Awaited {
    pub(super) fn new(body: Incoming, entry: Arc<Entry>) -> Self {
        Self { body, entry, since: None, come: 0 }
    }

    fn waits(&mut self) {
        let since = *self.since.get_or_insert_with(now_ms);
        self.entry.enter_since(Phase::Body, since);
    }

    fn goes_on(&mut self, bytes: usize) {
        self.come += bytes;
        if self.come >= PROGRESS_BYTES {
            (self.come, self.since) = (0, None);
        }
        self.is_served();
    }

    fn is_served(&self) {
        if self.entry.phase() == Phase::Body {
            self.entry.enter(Phase::Serving);
        }
    }
}

impl Body for Awaited {
    type Data = Bytes;
    type Error = hyper::Error;

    fn poll_frame(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, hyper::Error>>> {
        let this = self.get_mut();
        let polled = Pin::new(&mut this.body).poll_frame(context);
        match &polled {
            Poll::Pending => this.waits(),
            Poll::Ready(Some(Ok(frame))) => this.goes_on(frame.data_ref().map_or(0, Bytes::len)),
            Poll::Ready(_) => this.is_served(),
        }
        polled
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

impl Drop for Awaited {
    fn drop(&mut self) {
        self.is_served();
    }
}
