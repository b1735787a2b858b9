//! # Readers: a few connections, taken in turn
//!
//! They see what is committed and never wait for a round, only for each other. A connection that
//! was cut off is replaced, and what was read on it is read again.

use std::sync::{Arc, Condvar, Mutex, PoisonError};

use semel_store::StoreError;
use tokio_postgres::Error;

use crate::asks::Session;
use crate::fault::Fault;
use crate::link::Link;

pub(crate) struct Readers {
    link: Arc<Link>,
    max: usize,
    idle: Mutex<Idle>,
    returned: Condvar,
}

struct Idle {
    sessions: Vec<Session>,
    /// Lent to somebody.
    out: usize,
}

impl Readers {
    pub(crate) fn new(link: Arc<Link>, max: usize, first: Session) -> Self {
        let idle = Idle { sessions: vec![first], out: 0 };
        Self { link, max: max.max(1), idle: Mutex::new(idle), returned: Condvar::new() }
    }

    pub(crate) fn link(&self) -> &Arc<Link> {
        &self.link
    }

    /// Tried once more on a new connection when the old one turns out to be gone.
    pub(crate) fn read<T>(
        &self,
        read: impl AsyncFn(&Session) -> Result<T, Error>,
    ) -> Result<T, StoreError> {
        match self.with(&read) {
            Err(fault) if fault.is_cut_off() => self.with(&read).map_err(StoreError::from),
            other => other.map_err(StoreError::from),
        }
    }

    /// What must not be done twice.
    pub(crate) fn write<T>(
        &self,
        write: impl AsyncFn(&Session) -> Result<T, Error>,
    ) -> Result<T, StoreError> {
        self.with(&write).map_err(StoreError::from)
    }

    fn with<T>(&self, act: &impl AsyncFn(&Session) -> Result<T, Error>) -> Result<T, Fault> {
        let mut lent = Lent { readers: self, session: self.take() };
        self.link.wait(async {
            let session = match lent.session.take().filter(|it| !it.client.is_closed()) {
                Some(session) => session,
                None => self.link.reader().await?,
            };
            let done = act(&session).await;
            // What failed may be in the middle of something.
            lent.session = done.is_ok().then_some(session);
            Ok(done?)
        })
    }

    /// None: there is room for one more.
    fn take(&self) -> Option<Session> {
        let mut idle = self.idle.lock().unwrap_or_else(PoisonError::into_inner);
        while idle.out >= self.max {
            idle = self.returned.wait(idle).unwrap_or_else(PoisonError::into_inner);
        }
        idle.out += 1;
        idle.sessions.pop()
    }
}

/// Comes back whatever happens.
struct Lent<'a> {
    readers: &'a Readers,
    session: Option<Session>,
}

impl Drop for Lent<'_> {
    fn drop(&mut self) {
        let mut idle = self.readers.idle.lock().unwrap_or_else(PoisonError::into_inner);
        idle.out -= 1;
        idle.sessions.extend(self.session.take());
        self.readers.returned.notify_one();
    }
}
