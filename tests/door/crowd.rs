//! # A crowd: connections that only take room

use std::process::{Child, Command, Stdio};
use std::time::Duration;

use semel_tests::process::{binary, until};

use crate::bodies::Wire;
use crate::house::House;
use crate::raw::Request;

const WITHIN: Duration = Duration::from_secs(30);

fn number(house: &House, line: &str) -> f64 {
    let text = house.send(&Request::get("/metrics")).text();
    let value = text.lines().find_map(|found| found.strip_prefix(line)?.trim().parse().ok());
    value.unwrap_or(0.0)
}

#[test]
fn silent_connections_lock_nobody_out() {
    let house = House::own(&["--connections-max", "20"]);
    let silent: Vec<_> = (0..150).map(|_| Wire::to(house.address())).collect();
    until("somebody else is served", WITHIN, || {
        let answer = house.send(&Request::get("/api/version"));
        (answer.status == 200).then_some(())
    })
    .expect("room is made");
    assert!(number(&house, "semel_connections_open ") <= 36.0);
    assert!(number(&house, "semel_connections_ended_total{reason=\"room\"} ") > 0.0);
    assert_eq!(house.log().matches("(connections_max)").count(), 1, "{}", house.log());
    drop(silent);
    house.is_healthy();
}

#[test]
fn silent_bodies_lock_nobody_out() {
    let long = ["--header-timeout-ms", "120000", "--body-timeout-ms", "120000"];
    let house = House::own(&[&["--connections-max", "20"][..], &long].concat());
    let head = "POST /api/token HTTP/1.1\r\nHost: localhost\r\nContent-Length: 10\r\n\r\n";
    let silent: Vec<_> = (0..60)
        .map(|_| {
            let mut wire = Wire::to(house.address());
            wire.send(head.as_bytes());
            wire
        })
        .collect();
    until("somebody else is served", WITHIN, || {
        (house.send(&Request::get("/api/version")).status == 200).then_some(())
    })
    .expect("room is made");
    assert!(number(&house, "semel_connections_ended_total{reason=\"room\"} ") > 0.0);
    drop(silent);
    house.is_healthy();
}

#[test]
fn answers_that_nobody_takes_lock_nobody_out() {
    let house = House::own(&["--connections-max", "4", "--body-timeout-ms", "120000"]);
    let asked = "GET /api-docs HTTP/1.1\r\nHost: localhost\r\n\r\n".repeat(300);
    let deaf: Vec<_> = (0..4)
        .map(|_| {
            let mut wire = Wire::to(house.address());
            wire.send(asked.as_bytes());
            wire
        })
        .collect();
    until("all have been served", WITHIN, || {
        (number(&house, "semel_connections_ended_total{reason=\"room\"} ") > 0.0).then_some(())
    })
    .expect("room is made");
    until("somebody else is served", WITHIN, || {
        (house.send(&Request::get("/api/version")).status == 200).then_some(())
    })
    .expect("there is room");
    drop(deaf);
    house.is_healthy();
}

#[test]
fn who_sends_no_request_is_let_go() {
    let house = House::own(&["--header-timeout-ms", "300", "--idle-timeout-ms", "600000"]);
    for begun in ["", "GET /health HT", "GET /health HTTP/1.1\r\nHost: localhost\r\nX: "] {
        let mut wire = Wire::to(house.address());
        wire.send(begun.as_bytes());
        assert!(wire.reply().is_none(), "{begun:?}");
    }
    let mut wire = Wire::to(house.address());
    wire.send(b"GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n");
    assert_eq!(wire.reply().map(|reply| reply.status), Some(200));
    // It may rest between two requests, but not within one.
    wire.send(b"GET /health HTTP/1.1\r\n");
    assert!(wire.reply().is_none());
    assert!(number(&house, "semel_connections_ended_total{reason=\"header\"} ") >= 4.0);
}

#[test]
fn who_rests_too_long_is_let_go() {
    let house = House::own(&["--idle-timeout-ms", "300"]);
    let mut wire = Wire::to(house.address());
    wire.send(b"GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n");
    assert_eq!(wire.reply().map(|reply| reply.status), Some(200));
    assert!(wire.has_ended());
    assert!(number(&house, "semel_connections_ended_total{reason=\"idle\"} ") >= 1.0);
}

#[test]
fn who_takes_no_answer_is_let_go() {
    let house = House::own(&["--body-timeout-ms", "300"]);
    let mut wire = Wire::to(house.address());
    let asked = "GET /api-docs HTTP/1.1\r\nHost: localhost\r\n\r\n".repeat(300);
    wire.send(asked.as_bytes());
    until("the connection is ended", WITHIN, || {
        let ended = number(&house, "semel_connections_ended_total{reason=\"answer\"} ");
        (ended >= 1.0).then_some(())
    })
    .expect("it is ended");
    house.is_healthy();
}

#[test]
fn when_all_are_at_work_the_health_is_still_told() {
    let house = House::own(&["--connections-max", "4", "--poll-wait-ms-max", "20000"]);
    let poll = "GET /api/tasks/poll/batch/none?workerid=w&timeout=20000 HTTP/1.1\r\n";
    let parked: Vec<_> = (0..4)
        .map(|_| {
            let mut wire = Wire::to(house.address());
            wire.send(format!("{poll}Host: localhost\r\n\r\n").as_bytes());
            wire
        })
        .collect();
    let refused = until("nobody else has room", WITHIN, || {
        Some(house.send(&Request::get("/api/version"))).filter(|answer| answer.status != 200)
    });
    let refused = refused.expect("it is refused");
    assert_eq!((refused.status, refused.header("retry-after")), (503, Some("1")), "{refused:?}");
    assert_eq!(refused.json()["code"], "CONNECTIONS_FULL");
    for path in ["/health", "/api/health"] {
        let answer = house.send(&Request::get(path));
        assert_eq!((answer.status, answer.header("connection")), (200, Some("close")), "{path}");
    }
    drop(parked);
    until("they have left", WITHIN, || {
        (house.send(&Request::get("/api/version")).status == 200).then_some(())
    })
    .expect("there is room again");
}

/// A process with a low limit of its own making.
struct Limited(Child);

impl Drop for Limited {
    fn drop(&mut self) {
        let _ = self.0.kill(); // It may have ended already.
        let _ = self.0.wait();
    }
}

#[test]
fn the_limit_of_open_files_is_raised() {
    let directory = tempfile::tempdir().expect("a directory can be made");
    let script = "ulimit -Sn 256 && exec \"$0\" server --store memory --listen 127.0.0.1:0";
    let mut shell = Command::new("sh");
    shell.args(["-c", script]).arg(binary().expect("it is built")).current_dir(directory.path());
    shell.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    let server = Limited(shell.spawn().expect("it starts"));
    let told = |what: &str| {
        std::fs::read_to_string(format!("/proc/{}/{what}", server.0.id())).unwrap_or_default()
    };
    until("the soft limit is the hard one", WITHIN, || {
        // The shell is this process too, until it has lowered its limit.
        let limits = Some(told("limits")).filter(|_| told("comm").trim() == "semel")?;
        let line = limits.lines().find(|line| line.starts_with("Max open files"))?;
        let mut words = line["Max open files".len()..].split_whitespace();
        let (soft, hard) = (words.next()?, words.next()?);
        (soft != "256" && (soft == hard || soft == "1048576")).then_some(())
    })
    .expect("it is raised");
}

#[test]
fn long_heads_of_strangers_stay_within_the_memory_of_requests() {
    let house = House::own(&["--memory-max", "67108864"]);
    assert!(
        house.log().contains("memory_max leaves room for fewer connections"),
        "{}",
        house.log()
    );
    let half = format!("GET /{} HTTP/1.1\r\nHost: localhost\r\nX-Long: ", "a".repeat(50_000));
    let mut slow: Vec<_> = (0..600)
        .map(|_| {
            let mut wire = Wire::to(house.address());
            wire.try_send(half.as_bytes());
            wire
        })
        .collect();
    let ended = || number(&house, "semel_connections_ended_total{reason=\"heads\"} ");
    until("heads make room", WITHIN, || (ended() > 0.0).then_some(())).expect("they do");
    let held = number(&house, "semel_request_bodies_bytes ");
    let share = number(&house, "semel_memory_budget_bytes{kind=\"bodies\"} ");
    assert!(held <= share, "{held} of {share}");
    let long = Request::get("/api/version").header("X-Long", "b".repeat(30_000));
    assert_eq!(house.send(&long).status, 200, "an honest head needs no time");
    slow.clear();
    until("they are given back", WITHIN, || {
        (number(&house, "semel_request_bodies_bytes ") < 100_000.0).then_some(())
    })
    .expect("nothing is held");
    house.is_healthy();
}

#[test]
#[cfg(target_os = "linux")]
fn a_system_without_files_is_told_of_and_survived() {
    let house = House::own(&[]);
    let mut before = Wire::to(house.address());
    let ask = |wire: &mut Wire| {
        wire.send(b"GET /metrics HTTP/1.1\r\nHost: localhost\r\n\r\n");
        let text = String::from_utf8(wire.reply().expect("it is answered").body).expect("text");
        let line = text.lines().find_map(|line| line.strip_prefix("semel_accept_errors_total "));
        line.and_then(|line| line.trim().parse::<f64>().ok()).unwrap_or(0.0)
    };
    assert_eq!(ask(&mut before), 0.0);
    let open = std::fs::read_dir(format!("/proc/{}/fd", house.pid())).expect("it runs").count();
    let limit = |files: usize| {
        let files = format!("--nofile={files}:{files}");
        let done =
            Command::new("prlimit").args(["--pid", &house.pid().to_string(), &files]).status();
        assert!(done.expect("prlimit is part of util-linux").success());
    };
    limit(open + 2);
    let waiting: Vec<_> = (0..10).map(|_| Wire::to(house.address())).collect();
    until("it is counted", WITHIN, || (ask(&mut before) > 0.0).then_some(())).expect("it is");
    let told = house.log().matches("connections cannot be accepted").count();
    assert_eq!(told, 1, "one line however often it is tried: {}", house.log());
    drop(waiting);
    until("others are served again", WITHIN, || {
        before.send(b"GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n");
        before.reply().filter(|reply| reply.status == 200).map(drop)
    })
    .expect("the connection that was there goes on");
    until("new ones come in", WITHIN, || {
        let mut wire = Wire::to(house.address());
        wire.try_send(b"GET /api/version HTTP/1.1\r\nHost: localhost\r\n\r\n");
        wire.reply().filter(|reply| reply.status == 200).map(drop)
    })
    .expect("files that were given back are used");
}
