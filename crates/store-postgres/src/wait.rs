//! # Waiting: an answer of the database, for callers who block
//!
//! The store's verbs block, and are called from threads of lanes as from those of an asynchronous
//! runtime. Connections are driven elsewhere ([`crate::link`]); here a thread only sleeps until the
//! answer is there.

use std::pin::pin;
use std::sync::Arc;
use std::task::{Context, Poll, Wake, Waker};
use std::thread::Thread;

struct Sleeper(Thread);

impl Wake for Sleeper {
    fn wake(self: Arc<Self>) {
        self.0.unpark();
    }
}

pub(crate) fn wait<T>(future: impl Future<Output = T>) -> T {
    // Whoever calls may be a task with a budget, which nothing here gives back.
    let mut future = pin!(tokio::task::unconstrained(future));
    let waker = Waker::from(Arc::new(Sleeper(std::thread::current())));
    let mut context = Context::from_waker(&waker);
    loop {
        match future.as_mut().poll(&mut context) {
            Poll::Ready(answer) => return answer,
            Poll::Pending => std::thread::park(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_from_another_thread_is_waited_for() {
        let (tell, told) = tokio::sync::oneshot::channel();
        let other = std::thread::spawn(move || tell.send(7));
        assert_eq!(wait(told), Ok(7));
        assert_eq!(other.join().expect("it only sends"), Ok(()));
    }
}
