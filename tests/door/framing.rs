//! # Framing: requests whose heads, lengths and ends are not what HTTP says they are

use semel_tests::dice::Dice;

use crate::odd_json::{below, pick, value};

const LENGTHS: [&str; 16] = [
    "-1",
    "+1",
    "1e3",
    "0x10",
    "",
    "ten",
    "1,1",
    "1, 2",
    "5 5",
    "5\t",
    "3.0",
    "99999999999999999999",
    "18446744073709551615",
    "9223372036854775807",
    "4294967296",
    "1000000",
];

const CODINGS: [&str; 10] = [
    "identity",
    "gzip",
    "xchunked",
    "chunked, chunked",
    "chunked, identity",
    "gzip, chunked",
    "chunked\r\nTransfer-Encoding: identity",
    "\x0bchunked",
    "CHUNKED;q=1",
    "",
];

const CHUNKS: [&str; 14] = [
    "zz\r\nabc\r\n",
    "-1\r\nabc\r\n",
    "FFFFFFFFFFFFFFFFF\r\nabc\r\n",
    "FFFFFFFFFFFFFFFF\r\nabc\r\n",
    "7fffffff\r\nabc\r\n",
    "0x3\r\nabc\r\n",
    "\r\nabc\r\n",
    " 3\r\nabc\r\n",
    "3\nabc\n0\n\n",
    "3\r\nabcdef\r\n0\r\n\r\n",
    "3;a=\"\0\"\r\nabc\r\n0\r\n\r\n",
    "3\r\nabc\r\n0\r\nContent-Length: 9\r\n\r\n",
    "3\r\nabc\r\n0\r\nno trailer\r\n\r\n",
    "3\r\nab",
];

const VERSIONS: [&str; 12] = [
    "HTTP/2.0",
    "HTTP/1.2",
    "HTTP/1.0",
    "HTTP/3",
    "HTTP/0.9",
    "http/1.1",
    "HTTP/1.10",
    "HTTP/11",
    "HTTP/1.1 x",
    "ICY",
    "",
    "\0",
];

const METHODS: [&str; 14] = [
    "", " ", "get", "G\tET", "GET GET", "CONNECT", "PRI", "TRACE", "OPTIONS", "BREW", "G\0T", "\r",
    "{}", "PATCH",
];

const TARGETS: [&str; 22] = [
    "*",
    "",
    "//",
    "health",
    "/..",
    "/../../etc/passwd",
    "/api/..;/health",
    "/api/workflow/%zz",
    "/api/workflow/%",
    "/api/workflow/%C0%80",
    "/api/workflow/%00",
    "/api/workflow/a b",
    "/api/workflow/\u{e9}",
    "/health#part",
    "/health?%zz=%",
    "/health?a=1&a=2&&&===",
    "http://evil.example/health",
    "http://localhost:1/api/workflow",
    "https://user:word@localhost/",
    "http://[::1",
    "evil.example:80",
    "\\health",
];

const HEADERS: [&[u8]; 16] = [
    b"No colon here",
    b": no name",
    b"Space : before",
    b"X-A: 1\r\n folded",
    b"\tX-B: 1",
    b"X-Nul: a\0b",
    b"X-N\0l: a",
    b"X-High: \xff\xfe",
    b"X-High\xe9: a",
    b"X-Bare: a\rb",
    b"Expect: 100-continue\r\nContent-Length: 5",
    b"Upgrade: h2c\r\nConnection: Upgrade, HTTP2-Settings\r\nHTTP2-Settings: AAMAAABk",
    b"Upgrade: websocket\r\nConnection: Upgrade",
    b"Host: other.example",
    b"Connection: Host, Content-Length, close",
    b"Content-Length: 0\r\nContent-Length: 0",
];

/// What a broken request is about, and who says so.
pub(crate) struct Subject<'a> {
    pub(crate) method: &'a str,
    pub(crate) target: &'a str,
    /// Lines of the head, each with its end.
    pub(crate) common: &'a str,
}

impl Subject<'_> {
    fn head(&self, more: &[u8], rest: &[u8]) -> Vec<u8> {
        let Self { method, target, common } = self;
        let head = format!("{method} {target} HTTP/1.1\r\n{common}");
        [head.as_bytes(), more, b"\r\n\r\n", rest].concat()
    }

    fn line(&self, method: &str, target: &str, version: &str) -> Vec<u8> {
        format!("{method} {target} {version}\r\n{}\r\n", self.common).into_bytes()
    }

    fn whole(&self) -> Vec<u8> {
        self.head(b"Content-Length: 2", b"{}")
    }
}

/// Bytes that break one rule, and how many requests they are meant to be.
pub(crate) fn broken(about: &Subject<'_>, dice: &mut Dice) -> (Vec<u8>, usize) {
    let body = value(dice);
    let chunked = b"Transfer-Encoding: chunked";
    let bytes = match below(dice, 18) {
        0 => about.head(format!("Content-Length: {}", pick(dice, &LENGTHS)).as_bytes(), &body),
        1 => about.head(b"Content-Length: 2\r\nContent-Length: 3", b"{} "),
        2 => about.head(b"Content-Length: 5\r\nTransfer-Encoding: chunked", b"0\r\n\r\n"),
        3 => about.head(chunked, pick(dice, &CHUNKS).as_bytes()),
        4 => about.head(format!("Transfer-Encoding: {}", pick(dice, &CODINGS)).as_bytes(), &body),
        5 => about.head(chunked, endless_chunk(dice).as_bytes()),
        6 => String::from_utf8_lossy(&about.whole()).replace("\r\n", "\n").into_bytes(),
        7 => about.line(&pick(dice, &METHODS).repeat(1 + below(dice, 3)), about.target, "HTTP/1.1"),
        8 => about.line(about.method, pick(dice, &TARGETS), "HTTP/1.1"),
        9 => about.line(about.method, about.target, pick(dice, &VERSIONS)),
        10 => format!("GET {}\r\n\r\n", about.target).into_bytes(),
        11 => about.head(pick(dice, &HEADERS), &body),
        12 => endless_head(about, dice),
        13 => noise(dice),
        14 => [b"\r\n".repeat(1 + below(dice, 5_000)), about.whole()].concat(),
        15 => {
            let whole = about.whole();
            let end = below(dice, whole.len());
            whole[..end].to_vec()
        }
        16 => about.line(about.method, &format!("/{}", "a".repeat(70_000)), "HTTP/1.1"),
        _ => return pipeline(about, dice),
    };
    (bytes, 1)
}

fn endless_chunk(dice: &mut Dice) -> String {
    let many = pick(dice, &[100, 20_000]);
    match below(dice, 3) {
        0 => format!("3;{}\r\nabc\r\n0\r\n\r\n", "x".repeat(many)),
        1 => format!("{}0\r\n\r\n", "1\r\n \r\n".repeat(many)),
        _ => format!("0\r\n{}\r\n", "X-T: a\r\n".repeat(many)),
    }
}

fn endless_head(about: &Subject<'_>, dice: &mut Dice) -> Vec<u8> {
    let lines = match below(dice, 3) {
        0 => "X-Many: a\r\n".repeat(pick(dice, &[90, 101, 5_000])),
        1 => format!("X-Long: {}\r\n", "a".repeat(pick(dice, &[16_000, 300_000]))),
        _ => format!("Cookie: {}\r\n", "a=b; ".repeat(20_000)),
    };
    let end = if dice.once_in(2) { "\r\n" } else { "" };
    let Subject { method, target, common } = about;
    format!("{method} {target} HTTP/1.1\r\n{common}{lines}{end}").into_bytes()
}

/// Something that speaks another language.
fn noise(dice: &mut Dice) -> Vec<u8> {
    match below(dice, 4) {
        0 => b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03".to_vec(),
        1 => b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\x04\0\0\0\0\0".to_vec(),
        2 => b"SSH-2.0-OpenSSH_9.2\r\n".to_vec(),
        _ => (0..below(dice, 3_000)).map(|_| u8::try_from(below(dice, 256)).unwrap_or(0)).collect(),
    }
}

/// Several at once, without a wait for the first answer, and with an end that is none.
fn pipeline(about: &Subject<'_>, dice: &mut Dice) -> (Vec<u8>, usize) {
    let count = 2 + below(dice, 15);
    let mut bytes = about.whole().repeat(count - 1);
    bytes.extend(about.head(b"Content-Length: 9", b"{}"));
    (bytes, count)
}
