//! # The oracle: a stranger's service that counts what it did
//!
//! A little HTTP server that charges for orders, knows repeats by their key, and does what the test
//! says first: hang up before or after the effect, answer 409, 500 or a way elsewhere, be slow,
//! forget. **May not:** know what a workflow is.

use std::collections::{BTreeMap, VecDeque};
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

use serde_json::{Value, json};

/// What goes wrong with one request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Fault {
    /// Hangs up without having done anything.
    DropBefore,
    /// Does it, and hangs up.
    DropAfter,
    /// Does nothing: an earlier request with this key is under way, it says.
    InUse,
    /// Does it, and says 500.
    ErrorAfter,
    /// Does it, and does not answer until the other side has gone.
    Slow,
    /// Does it, and answers when it is told to.
    Held,
    /// Does nothing, and answers with this status and these headers.
    Refuse(u16, Vec<(String, String)>),
    /// Forgets all keys, and then does it.
    Forget,
}

/// A request as it came.
#[derive(Clone, Debug, Default)]
pub struct Heard {
    pub method: String,
    pub path: String,
    /// Names in lower case.
    pub headers: BTreeMap<String, String>,
    pub body: String,
}

#[derive(Default)]
struct State {
    heard: Vec<Heard>,
    /// By order: what still goes wrong, and what was done.
    faults: BTreeMap<String, VecDeque<Fault>>,
    effects: BTreeMap<String, usize>,
    /// By key: the body it came with, and the answer.
    known: BTreeMap<String, (String, String)>,
    charges: usize,
    open: usize,
    open_max: usize,
    released: bool,
}

/// Serves as long as the process lives.
pub struct Oracle {
    address: SocketAddr,
    shared: Arc<(Mutex<State>, Condvar)>,
}

impl Default for Oracle {
    fn default() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port is free");
        let address = listener.local_addr().expect("it is bound");
        let shared = Arc::new((Mutex::new(State::default()), Condvar::new()));
        let serving = Arc::clone(&shared);
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let shared = Arc::clone(&serving);
                std::thread::spawn(move || serve(stream, &shared));
            }
        });
        Self { address, shared }
    }
}

impl Oracle {
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Where an order is charged.
    pub fn uri(&self) -> String {
        format!("http://{}/charges", self.address)
    }

    /// What goes wrong with the next requests for this order, one after the other.
    pub fn plan(&self, order: &str, faults: &[Fault]) {
        let faults = faults.iter().cloned().collect();
        lock(&self.shared.0).faults.insert(order.to_owned(), faults);
    }

    /// How often this order was charged.
    pub fn effects(&self, order: &str) -> usize {
        lock(&self.shared.0).effects.get(order).copied().unwrap_or(0)
    }

    /// All requests for this order, as they came.
    pub fn heard(&self, order: &str) -> Vec<Heard> {
        let state = lock(&self.shared.0);
        state.heard.iter().filter(|heard| order_of(heard) == order).cloned().collect()
    }

    /// Lets everything that is held be answered, now and later.
    pub fn release(&self) {
        lock(&self.shared.0).released = true;
        self.shared.1.notify_all();
    }

    /// How many requests were open at one time, at most.
    pub fn open_max(&self) -> usize {
        lock(&self.shared.0).open_max
    }
}

fn lock(state: &Mutex<State>) -> MutexGuard<'_, State> {
    state.lock().unwrap_or_else(PoisonError::into_inner)
}

/// `/charges?order=7`, or the field of the body.
fn order_of(heard: &Heard) -> String {
    let query = heard.path.split_once("order=").map(|(_, order)| order.to_owned());
    let body: Value = serde_json::from_str(&heard.body).unwrap_or(Value::Null);
    query.or_else(|| body["order"].as_str().map(str::to_owned)).unwrap_or_default()
}

fn serve(mut stream: TcpStream, shared: &(Mutex<State>, Condvar)) {
    let Some(heard) = read(&stream) else { return };
    let order = order_of(&heard);
    let fault = {
        let mut state = lock(&shared.0);
        state.heard.push(heard.clone());
        state.open += 1;
        state.open_max = state.open_max.max(state.open);
        state.faults.get_mut(&order).and_then(VecDeque::pop_front)
    };
    if let Some(answer) = answer(&heard, &order, fault, shared, &mut stream) {
        let _ = stream.write_all(answer.as_bytes()); // Who asked may be gone.
    }
    lock(&shared.0).open -= 1;
}

/// None: hangs up.
fn answer(
    heard: &Heard,
    order: &str,
    fault: Option<Fault>,
    shared: &(Mutex<State>, Condvar),
    stream: &mut TcpStream,
) -> Option<String> {
    match &fault {
        Some(Fault::DropBefore) => return None,
        Some(Fault::InUse) => {
            return Some(response(409, &[], &json!({"code": "idempotency_key_in_use"})));
        }
        Some(Fault::Refuse(status, headers)) => {
            return Some(response(*status, headers, &json!({"refused": order})));
        }
        Some(Fault::Forget) => lock(&shared.0).known.clear(),
        Some(Fault::DropAfter | Fault::ErrorAfter | Fault::Slow | Fault::Held) | None => {}
    }
    let done = lock(&shared.0).charge(heard, order);
    match fault {
        Some(Fault::DropAfter) => None,
        Some(Fault::ErrorAfter) => Some(response(500, &[], &json!({"error": "after the effect"}))),
        Some(Fault::Slow) => {
            let _ = stream.read(&mut [0; 1]); // Returns when the other side hangs up.
            None
        }
        Some(Fault::Held) => {
            let waiting = shared.1.wait_while(lock(&shared.0), |state| !state.released);
            drop(waiting);
            Some(done)
        }
        Some(_) | None => Some(done),
    }
}

impl State {
    /// Once per key; what has none is done every time.
    fn charge(&mut self, heard: &Heard, order: &str) -> String {
        if heard.method == "GET" {
            let secret = heard.headers.get("authorization");
            return response(200, &[], &json!({"order": order, "seen": secret}));
        }
        let body: Value = serde_json::from_str(&heard.body).unwrap_or(Value::Null);
        let inside = body["idempotency_key"].as_str().map(str::to_owned);
        let key = heard.headers.get("idempotency-key").cloned().or(inside);
        if let Some((first, answer)) = key.as_ref().and_then(|key| self.known.get(key)) {
            if *first != heard.body {
                let error = "idempotency key was used with different parameters";
                return response(422, &[], &json!({ "error": error }));
            }
            return answer.replacen("\r\n", "\r\nIdempotent-Replayed: true\r\n", 1);
        }
        *self.effects.entry(order.to_owned()).or_default() += 1;
        self.charges += 1;
        let answer = response(201, &[], &json!({"charge": format!("ch_{}", self.charges)}));
        if let Some(key) = key {
            self.known.insert(key, (heard.body.clone(), answer.clone()));
        }
        answer
    }
}

fn response(status: u16, headers: &[(String, String)], body: &Value) -> String {
    let body = body.to_string();
    let headers: String =
        headers.iter().map(|(name, value)| format!("{name}: {value}\r\n")).collect();
    format!(
        "HTTP/1.1 {status} Said\r\n{headers}Content-Type: application/json\r\nContent-Length: \
         {}\r\nConnection: close\r\n\r\n{body}",
        body.len()
    )
}

fn read(stream: &TcpStream) -> Option<Heard> {
    let mut reader = BufReader::new(stream);
    let mut line = String::new();
    reader.read_line(&mut line).ok()?;
    let mut words = line.split_whitespace().map(str::to_owned);
    let (method, path) = (words.next()?, words.next()?);
    let mut headers = BTreeMap::new();
    loop {
        let mut line = String::new();
        reader.read_line(&mut line).ok()?;
        let Some((name, value)) = line.trim_end().split_once(':') else { break };
        headers.insert(name.to_ascii_lowercase(), value.trim().to_owned());
    }
    let length = headers.get("content-length").and_then(|length| length.parse().ok());
    let mut body = vec![0; length.unwrap_or(0)];
    reader.read_exact(&mut body).ok()?;
    Some(Heard { method, path, headers, body: String::from_utf8_lossy(&body).into_owned() })
}
