//! # An attacker: draws hostile requests, sends them badly, and looks at every answer it gets

use std::collections::{BTreeMap, VecDeque};
use std::io::{Read as _, Write as _};
use std::net::{Shutdown, TcpStream};
use std::time::Duration;

use semel_tests::dice::Dice;
use semel_tests::process::{DEADLINE, until};

use crate::framing::{self, broken};
use crate::house::House;
use crate::odd_json::{below, pick, spoilt, value};
use crate::raw::Request;
use crate::routes::{ROUTES, Route, Shape, Subject};

/// A subject has its end sooner or later: it is ended, completed or removed.
const SUBJECT_LASTS: usize = 250;
const PARKED_MAX: usize = 40;
const IMPATIENCE: Duration = Duration::from_millis(30);
const ANSWER_WITHIN: Duration = Duration::from_secs(60);

/// By design: as many bodies, or as many connections, as may be. Each says when to come again.
const FULL: [&str; 2] = ["BODIES_FULL", "CONNECTIONS_FULL"];

/// What came back.
#[derive(Debug, Default)]
pub(crate) struct Seen {
    pub(crate) requests: usize,
    pub(crate) statuses: BTreeMap<u16, usize>,
    /// Connections on which nothing came, most of them because nobody waited.
    pub(crate) mute: usize,
    pub(crate) faults: Vec<String>,
}

impl Seen {
    pub(crate) fn add(&mut self, other: Self) {
        self.requests += other.requests;
        self.mute += other.mute;
        self.faults.extend(other.faults);
        for (status, count) in other.statuses {
            *self.statuses.entry(status).or_default() += count;
        }
    }

    fn judge(&mut self, sent: &[u8], came: &[u8], must_be_answered: bool) {
        let shown =
            |bytes: &[u8]| String::from_utf8_lossy(&bytes[..bytes.len().min(1_500)]).into_owned();
        let answers = answers(came);
        if answers.is_empty() {
            self.mute += 1;
            if must_be_answered {
                self.faults.push(format!("no answer to {}", shown(sent)));
            }
        }
        for (status, answer) in answers {
            *self.statuses.entry(status).or_default() += 1;
            if status >= 500 && !is_by_design(status, answer) {
                self.faults.push(format!("{}\nto {}", shown(answer), shown(sent)));
            }
        }
    }
}

/// How bytes are sent, and whether anybody waits for the answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Manner {
    /// All of them, and every answer is waited for.
    Listen,
    /// The same, a few bytes at a time.
    Drip,
    /// All of them, and a short wait.
    Impatient,
    /// The same, and nothing more will come: one half of the connection is closed.
    HalfClosed,
    /// All of them, and away.
    Gone,
    /// A part of them, and away.
    Cut,
    /// A part of them, and the connection stays.
    Parked,
}

/// Of requests that HTTP allows: those who wait get an answer.
const OF_FRAMED: [Manner; 12] = [
    Manner::Listen,
    Manner::Listen,
    Manner::Listen,
    Manner::Listen,
    Manner::Listen,
    Manner::Listen,
    Manner::Listen,
    Manner::Drip,
    Manner::HalfClosed,
    Manner::Gone,
    Manner::Cut,
    Manner::Parked,
];

const OF_BROKEN: [Manner; 8] = [
    Manner::Impatient,
    Manner::Impatient,
    Manner::Impatient,
    Manner::HalfClosed,
    Manner::HalfClosed,
    Manner::Gone,
    Manner::Cut,
    Manner::Parked,
];

const ODD_HEADERS: [(&str, &[u8]); 20] = [
    ("Origin", b"http://evil.example"),
    ("Origin", b"null"),
    ("Origin", b"\xff"),
    ("Sec-Fetch-Site", b"cross-site"),
    ("Sec-Fetch-Site", b"same-site"),
    ("Authorization", b"Basic YTpi"),
    ("Authorization", b"Bearer a.b.c"),
    ("X-Authorization", b"eyJhbGciOiJub25lIn0.e30."),
    ("Content-Type", b"text/plain"),
    ("Content-Type", b"application/json; charset=utf-7"),
    ("Content-Type", b"multipart/form-data; boundary="),
    ("Content-Encoding", b"gzip"),
    ("Accept", b"\xe9/*;q=nine"),
    ("Accept-Encoding", b"zip-bomb, *;q=-1"),
    ("Idempotency-Key", b""),
    ("Idempotency-Key", b"\xff\xfe"),
    ("X-Idempotency-key", b"siege"),
    ("X-Forwarded-For", b"127.0.0.1, ::1, unknown"),
    ("Range", b"bytes=0-18446744073709551616"),
    ("traceparent", b"00-zz-zz-ff"),
];

const QUERY: [&str; 16] = [
    "version=99999999999",
    "priority=-1",
    "count=1000000000",
    "count=-1",
    "timeout=99999999999",
    "timeout=1",
    "size=999999999&start=999999999",
    "includeTasks=maybe",
    "query=workflowType%3D%27",
    "query=((((((((%22",
    "sort=%00:DESC",
    "freeText=%FF*%25_",
    "domain=%0A",
    "workerid=%zz",
    "correlationId=%C0%80",
    "overwrite=true&overwrite=false",
];

pub(crate) struct Attacker<'a> {
    house: &'a House,
    at: usize,
    dice: Dice,
    parked: VecDeque<TcpStream>,
    seen: Seen,
}

impl<'a> Attacker<'a> {
    pub(crate) fn new(house: &'a House, at: usize, dice: Dice) -> Self {
        Self { house, at, dice, parked: VecDeque::new(), seen: Seen::default() }
    }

    /// Sends so many, or a few more; stops at the first answers that may not be.
    pub(crate) fn attack(mut self, requests: usize) -> Seen {
        let mut nth = 0;
        while self.seen.requests < requests && self.seen.faults.len() < 3 {
            let subject = Subject::made(self.house, &format!("siege_{}_{nth}", self.at));
            for _ in 0..SUBJECT_LASTS.min(requests - self.seen.requests) {
                self.strike(&subject);
            }
            nth += 1;
        }
        self.seen
    }

    fn strike(&mut self, subject: &Subject) {
        let route = &ROUTES[below(&mut self.dice, ROUTES.len())];
        if below(&mut self.dice, 8) < 3 {
            let (method, target) = (route.method, subject.target(route));
            let common = self.common();
            let about = framing::Subject { method, target: &target, common: &common };
            let (bytes, requests) = broken(&about, &mut self.dice);
            let manner = pick(&mut self.dice, &OF_BROKEN);
            self.send(&bytes, requests, manner);
        } else {
            let bytes = self.fuzzed(subject, route).bytes();
            let manner = pick(&mut self.dice, &OF_FRAMED);
            self.send(&bytes, 1, manner);
        }
    }

    fn common(&mut self) -> String {
        let host = pick(&mut self.dice, &["localhost", "localhost", "localhost", "evil.example"]);
        let close = pick(&mut self.dice, &["", "Connection: close\r\n"]);
        let token = self.token().map(|token| format!("X-Authorization: {token}\r\n"));
        format!("Host: {host}\r\n{close}{}", token.unwrap_or_default())
    }

    /// Mostly a right one: behind it is most of what can be hurt.
    fn token(&mut self) -> Option<String> {
        let right = self.house.token().unwrap_or_default();
        match below(&mut self.dice, 10) {
            0 => None,
            1 => Some(right.chars().rev().collect()),
            2 => Some(right[..below(&mut self.dice, right.len())].to_owned()),
            _ => Some(right.to_owned()),
        }
    }

    /// A request that HTTP allows, whatever it says.
    fn fuzzed(&mut self, subject: &Subject, route: &Route) -> Request {
        let mut request = Request::new(route.method, subject.target(route));
        if route.shape != Shape::Nothing {
            let sample = subject.sample(route.shape);
            request = request.body(spoilt(&sample, &mut self.dice));
        } else if self.dice.once_in(4) {
            request = request.body(value(&mut self.dice));
        }
        if self.dice.once_in(4) {
            request.target = self.odd_target(&request.target);
        }
        if self.dice.once_in(10) {
            let methods = ["GET", "POST", "PUT", "DELETE", "PATCH", "HEAD", "OPTIONS"];
            request.method = pick(&mut self.dice, &methods).to_owned();
        }
        if self.dice.once_in(15) {
            let hosts =
                ["evil.example", "localhost:1", "127.0.0.1", "[::1]", "localhost.evil.example"];
            request = request.host(pick(&mut self.dice, &hosts));
        }
        while self.dice.once_in(3) {
            let (name, text) = pick(&mut self.dice, &ODD_HEADERS);
            request = request.header(name, text);
        }
        if let Some(token) = self.token() {
            request = request.header("X-Authorization", token);
        }
        if self.dice.once_in(5) { request.chunked() } else { request }
    }

    fn odd_target(&mut self, target: &str) -> String {
        let oddity = match below(&mut self.dice, 6) {
            0 => "%zz".to_owned(),
            1 => format!("%{:02X}", below(&mut self.dice, 256)),
            2 => "a".repeat(below(&mut self.dice, 3_000)),
            3 => pick(&mut self.dice, &["/", "//", "..%2F", ";a=b", "%", "${", "*"]).to_owned(),
            _ => return format!("{target}?{}", pick(&mut self.dice, &QUERY)),
        };
        let at = 1 + below(&mut self.dice, target.len());
        format!("{}{oddity}{}", &target[..at], &target[at..])
    }

    fn send(&mut self, bytes: &[u8], requests: usize, manner: Manner) {
        self.seen.requests += requests;
        // The system may need a moment to have a port again.
        let stream =
            until("the server listens", DEADLINE, || TcpStream::connect(self.house.address()).ok());
        let mut stream = stream.unwrap_or_else(|error| panic!("{error:#}"));
        let waits = matches!(manner, Manner::Listen | Manner::Drip);
        let patience = if waits { ANSWER_WITHIN } else { IMPATIENCE };
        stream.set_read_timeout(Some(patience)).expect("a time can be set");
        stream.set_write_timeout(Some(ANSWER_WITHIN)).expect("a time can be set");
        stream.set_nodelay(true).expect("bytes can go at once");
        let whole = !matches!(manner, Manner::Cut | Manner::Parked);
        let end = if whole { bytes.len() } else { below(&mut self.dice, bytes.len()) };
        let piece = if manner == Manner::Drip { 1 + bytes.len() / 40 } else { bytes.len().max(1) };
        // Who is refused early cannot send the rest.
        let _ = bytes[..end].chunks(piece).try_for_each(|piece| stream.write_all(piece));
        match manner {
            Manner::Gone | Manner::Cut => return,
            Manner::Parked => {
                self.parked.push_back(stream);
                if self.parked.len() > PARKED_MAX {
                    self.parked.pop_front();
                }
                return;
            }
            Manner::HalfClosed => drop(stream.shutdown(Shutdown::Write)),
            Manner::Listen | Manner::Drip | Manner::Impatient => {}
        }
        let mut came = vec![];
        let _ = stream.read_to_end(&mut came); // What came until then counts.
        self.seen.judge(bytes, &came, waits);
    }
}

/// Every answer, from its first byte to the end of what came: nobody sends such a line to be repeated.
fn answers(bytes: &[u8]) -> Vec<(u16, &[u8])> {
    let starts = bytes.windows(12).enumerate().filter_map(|(at, line)| {
        let status = line.strip_prefix(b"HTTP/1.1 ").or_else(|| line.strip_prefix(b"HTTP/1.0 "))?;
        let status = std::str::from_utf8(status).ok()?.parse().ok()?;
        Some((status, &bytes[at..]))
    });
    starts.collect()
}

fn is_by_design(status: u16, answer: &[u8]) -> bool {
    let text = String::from_utf8_lossy(answer).to_lowercase();
    let says = |code: &&str| text.contains(&format!("\"code\":\"{}\"", code.to_lowercase()));
    status == 503 && text.contains("\r\nretry-after: ") && FULL.iter().any(says)
}

#[test]
fn an_answer_that_may_not_be_is_noticed() {
    let faults = |came: &str, must_be_answered| {
        let mut seen = Seen::default();
        seen.judge(b"GET / HTTP/1.1", came.as_bytes(), must_be_answered);
        seen.faults.len()
    };
    let full =
        "HTTP/1.1 503 Service Unavailable\r\nRetry-After: 1\r\n\r\n{\"code\":\"BODIES_FULL\"}";
    let fine = "HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\n{}";
    assert_eq!((faults(fine, true), faults(full, true), faults("", false)), (0, 0, 0));
    assert_eq!(faults("", true), 1);
    assert_eq!(faults(&format!("{fine}HTTP/1.1 500 Oh\r\n\r\n"), true), 1);
    assert_eq!(faults(&full.replace("Retry-After", "Retry"), true), 1);
    assert_eq!(faults(&full.replace("BODIES_FULL", "UNAVAILABLE"), true), 1);
    assert_eq!(faults("HTTP/1.0 501 Not Implemented\r\n\r\n", false), 1);
}
