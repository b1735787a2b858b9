//! # Stopping: SIGTERM finishes what was accepted

use std::io::{Read as _, Write as _};
use std::net::TcpStream;

use anyhow::{Result, ensure};
use semel_tests::dice::Dice;
use semel_tests::process::{DEADLINE, Server, signal, stopped_at, until};
use serde_json::json;

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

#[test]
fn a_hangup_stops_a_server_as_any_signal_does() -> Result<()> {
    let directory = tempfile::tempdir()?;
    let mut server = Server::start(directory.path(), &[])?;
    signal(server.pid(), "HUP")?;
    let ended = server.await_exit()?;
    ensure!(ended.success() && server.log().contains("stopping"), "{ended}: {}", server.log());
    Ok(())
}

#[test]
fn a_second_signal_stops_at_once_and_loses_nothing() -> Result<()> {
    let directory = tempfile::tempdir()?;
    // Longer than this test may take: only a hurried stop ends in time.
    let mut server = Server::start(directory.path(), &["--shutdown-ms", "3600000"])?;
    let caller = server.caller()?;
    let definition = json!({"name": "kept", "tasks": [{"name": "t", "taskReferenceName": "t", "type": "SIMPLE"}]});
    ensure!(caller.post("/api/metadata/workflow", &definition)?.status == 200);
    let id = caller.post("/api/workflow/kept", &json!({}))?.body;
    // A request whose body never comes keeps its connection open.
    let mut half = TcpStream::connect(server.address())?;
    half.set_read_timeout(Some(DEADLINE))?;
    write!(
        half,
        "POST /api/workflow/kept HTTP/1.1\r\nHost: localhost\r\nContent-Length: 9\r\n\r\n{{"
    )?;
    ensure!(caller.get("/health")?.status == 200);
    server.terminate()?;
    until("it stops", DEADLINE, || server.log().contains("a second signal").then_some(()))?;
    signal(server.pid(), "INT")?;
    let ended = server.await_exit()?;
    ensure!(ended.success() && server.log().contains("at once;"), "{ended}: {}", server.log());
    server.restart()?;
    let found = server.caller()?.get(&format!("/api/workflow/{id}"))?.json();
    ensure!(found["status"] == "RUNNING", "{found}");
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
