//! # Connected: the moment from which a request counts as sent
//!
//! A connection is made for one request and by the task that sends it, so that task can be told when
//! it stands: name looked up, TCP and TLS done. Before that no byte of the request has left.

use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll};

use tokio::sync::Notify;
use tower::{Layer, Service};

tokio::task_local! {
    static SIGNAL: Signal;
}

#[derive(Clone, Default)]
pub(crate) struct Signal(Arc<(AtomicBool, Notify)>);

impl Signal {
    /// Runs what will connect; this is given when it has.
    pub(crate) async fn during<T>(&self, sending: impl Future<Output = T>) -> T {
        SIGNAL.scope(self.clone(), sending).await
    }

    pub(crate) fn is_given(&self) -> bool {
        self.0.0.load(Ordering::Acquire)
    }

    /// For one who waits.
    pub(crate) async fn given(&self) {
        self.0.1.notified().await;
    }

    fn give(&self) {
        self.0.0.store(true, Ordering::Release);
        self.0.1.notify_one();
    }
}

/// Put around whatever connects.
#[derive(Clone)]
pub(crate) struct Noticed;

#[derive(Clone)]
pub(crate) struct Noticing<S>(S);

impl<S> Layer<S> for Noticed {
    type Service = Noticing<S>;

    fn layer(&self, inner: S) -> Noticing<S> {
        Noticing(inner)
    }
}

impl<S, R> Service<R> for Noticing<S>
where
    S: Service<R>,
    S::Future: Send + 'static,
{
    type Response = S::Response;
    type Error = S::Error;
    type Future = Pin<Box<dyn Future<Output = Result<S::Response, S::Error>> + Send>>;

    fn poll_ready(&mut self, context: &mut Context<'_>) -> Poll<Result<(), S::Error>> {
        self.0.poll_ready(context)
    }

    fn call(&mut self, to: R) -> Self::Future {
        let connecting = self.0.call(to);
        Box::pin(async move {
            let connection = connecting.await?;
            let _ = SIGNAL.try_with(Signal::give); // Outside of a request nobody listens.
            Ok(connection)
        })
    }
}
