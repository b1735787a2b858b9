//! # A collector of spans: takes what is posted to `/v1/traces` and keeps it

use std::io::{Read as _, Write as _};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

/// Listens until it is dropped.
pub(crate) struct Collector {
    address: SocketAddr,
    bodies: Arc<Mutex<Vec<Vec<u8>>>>,
    is_over: Arc<AtomicBool>,
    thread: Option<std::thread::JoinHandle<()>>,
}

impl Collector {
    pub(crate) fn open() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port is free");
        let address = listener.local_addr().expect("it is bound");
        let (bodies, is_over) = (Arc::new(Mutex::new(vec![])), Arc::new(AtomicBool::new(false)));
        let (kept, over) = (Arc::clone(&bodies), Arc::clone(&is_over));
        let thread = std::thread::spawn(move || {
            while let Ok((stream, _)) = listener.accept() {
                if over.load(Ordering::Acquire) {
                    break;
                }
                if let Some(body) = take(stream) {
                    kept.lock().unwrap_or_else(PoisonError::into_inner).push(body);
                }
            }
        });
        Self { address, bodies, is_over, thread: Some(thread) }
    }

    pub(crate) fn endpoint(&self) -> String {
        format!("http://{}", self.address)
    }

    /// Whether anything received holds these bytes: names and ids are in the clear.
    pub(crate) fn has(&self, wanted: &[u8]) -> bool {
        let bodies = self.bodies.lock().unwrap_or_else(PoisonError::into_inner);
        bodies.iter().any(|body| body.windows(wanted.len()).any(|part| part == wanted))
    }
}

impl Drop for Collector {
    fn drop(&mut self) {
        self.is_over.store(true, Ordering::Release);
        let _ = TcpStream::connect(self.address); // Wakes it, so that it can end.
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

/// One request, answered with 200; none if it is not a post of spans.
fn take(mut stream: TcpStream) -> Option<Vec<u8>> {
    let mut bytes = vec![];
    let mut buffer = [0; 4096];
    let end = loop {
        let read = stream.read(&mut buffer).ok().filter(|read| *read > 0)?;
        bytes.extend_from_slice(&buffer[..read]);
        if let Some(end) = bytes.windows(4).position(|four| four == b"\r\n\r\n") {
            break end + 4;
        }
    };
    let head = String::from_utf8_lossy(&bytes[..end]).to_ascii_lowercase();
    let length = head.lines().find_map(|line| line.strip_prefix("content-length: "))?;
    let length: usize = length.trim().parse().ok()?;
    while bytes.len() < end + length {
        let read = stream.read(&mut buffer).ok().filter(|read| *read > 0)?;
        bytes.extend_from_slice(&buffer[..read]);
    }
    let answer = "HTTP/1.1 200 OK\r\nContent-Type: application/x-protobuf\r\nContent-Length: 0\r\n\
                  Connection: close\r\n\r\n";
    stream.write_all(answer.as_bytes()).ok()?;
    head.starts_with("post /v1/traces ").then(|| bytes.split_off(end))
}
