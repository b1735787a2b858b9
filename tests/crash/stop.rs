//! # Stopping: SIGTERM finishes what was accepted

use std::io::{Read as _, Write as _};
use std::net::TcpStream;

use anyhow::{Result, ensure};
use semel_tests::dice::Dice;
use semel_tests::process::{DEADLINE, Server, stopped_at};

use crate::check;
use crate::load::Load;

const PARKED: usize = 8;

#[test]
fn a_graceful_stop_finishes_what_was_accepted() -> Result<()> {
    let directory = tempfile::tempdir()?;
    let mut server = Server::start(directory.path(), &[])?;
    let load = Load::new(server.caller()?)?;
    let mut dice = Dice::thrown();
    std::thread::scope(|scope| {
        let mut running = load.run(scope, &mut dice);
        running.progress(200)?;
        let parked = park(&server)?;
        server.stop()?;
        for stream in parked {
            is_answered_with_nothing(stream)?;
        }
        let log = server.log();
        ensure!(!log.contains("still open"), "the stop had to be forced:\n{log}");
        server.restart()?;
        running.stop_starting()?;
        check::await_completion(&load.caller, &load.ledger)?;
        running.stop()
    })?;
    check::promises(&load.caller, &load.ledger)?;
    server.stop()
}

#[test]
fn a_stop_is_graceful_from_the_moment_the_door_is_said_to_be_open() -> Result<()> {
    for _ in 0..20 {
        let directory = tempfile::tempdir()?;
        let ended = stopped_at(directory.path(), "listening on")?;
        ensure!(ended.success(), "the server ended with {ended}");
    }
    Ok(())
}

/// Long polls of a queue that stays empty. Their requests are in the server's hands: it has read
/// and answered many that were sent after them.
fn park(server: &Server) -> Result<Vec<TcpStream>> {
    let mut parked = vec![];
    for n in 0..PARKED {
        let mut stream = TcpStream::connect(server.address())?;
        stream.set_read_timeout(Some(DEADLINE))?;
        let path = format!("/api/tasks/poll/batch/idle?workerid=p{n}&count=1&timeout=5000");
        write!(stream, "GET {path} HTTP/1.1\r\nHost: localhost\r\n\r\n")?;
        parked.push(stream);
    }
    let caller = server.caller()?;
    for _ in 0..50 {
        ensure!(caller.get("/health")?.status == 200);
    }
    Ok(parked)
}

fn is_answered_with_nothing(mut stream: TcpStream) -> Result<()> {
    let mut answer = String::new();
    stream.read_to_string(&mut answer)?; // To its end: the server closes what it has answered.
    ensure!(answer.starts_with("HTTP/1.1 200 ") && answer.ends_with("\r\n\r\n[]"), "{answer:?}");
    Ok(())
}
