//! # The stream: a connection that notes what it is doing
//!
//! It is closed so that the last answer arrives: a system throws away what it has sent when it is
//! closed on bytes that nobody has read.

use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::task::{Context, Poll, ready};

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;

use super::register::{Entry, Phase, Place, Register};

const DISCARD_AT_ONCE: usize = 16 * 1024;

pub(super) struct Stream {
    inner: TcpStream,
    entry: Arc<Entry>,
    register: Arc<Register>,
    /// We have said that nothing more comes.
    is_over: bool,
}

impl Stream {
    pub(super) fn new(inner: TcpStream, place: &Place) -> Self {
        let (entry, register) = (Arc::clone(&place.entry), Arc::clone(&place.register));
        Self { inner, entry, register, is_over: false }
    }

    /// Whether the client may still be sending what nobody will read.
    fn has_more_to_say(&self) -> bool {
        self.entry.phase() == Phase::Head || self.entry.is_unread.load(Ordering::Relaxed)
    }

    fn noted(&self, written: Poll<io::Result<usize>>) -> Poll<io::Result<usize>> {
        match written {
            Poll::Pending => self.entry.stalls(),
            Poll::Ready(Ok(bytes)) => self.entry.takes(bytes),
            Poll::Ready(Err(_)) => {}
        }
        written
    }
}

impl AsyncRead for Stream {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let before = buffer.filled().len();
        ready!(Pin::new(&mut self.inner).poll_read(context, buffer))?;
        let come = buffer.filled().len() - before;
        if come > 0 && matches!(self.entry.phase(), Phase::New | Phase::Idle) {
            self.entry.enter(Phase::Head);
        }
        if self.entry.phase() == Phase::Head {
            self.register.note_head(&self.entry, come);
        }
        Poll::Ready(Ok(()))
    }
}

impl AsyncWrite for Stream {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.inner).poll_write(context, bytes);
        self.noted(written)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        pieces: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.inner).poll_write_vectored(context, pieces);
        self.noted(written)
    }

    fn is_write_vectored(&self) -> bool {
        self.inner.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        // Asked for when there is nothing left to write.
        self.entry.goes_on();
        Pin::new(&mut self.inner).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        if !self.is_over {
            ready!(Pin::new(&mut self.inner).poll_shutdown(context))?;
            self.is_over = true;
            if !self.has_more_to_say() {
                return Poll::Ready(Ok(()));
            }
            self.entry.enter(Phase::Leaving);
        }
        // Until the client ends, or whoever looks after the register ends it.
        loop {
            let mut bytes = [0; DISCARD_AT_ONCE];
            let mut buffer = ReadBuf::new(&mut bytes);
            let read = ready!(Pin::new(&mut self.inner).poll_read(context, &mut buffer));
            if read.is_err() || buffer.filled().is_empty() {
                return Poll::Ready(Ok(()));
            }
        }
    }
}
