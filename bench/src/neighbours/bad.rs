//! # Bad neighbours: each does one thing without measure

use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use anyhow::Result;
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpListener;
use tokio::task::JoinHandle;

use crate::http::{Call, Client};
use crate::tally::Tally;

/// Requests to a service that drips; many more than a server has places.
const DRIPS: usize = 500;
/// Text that a pattern is asked to look at: about as much as an expression may cost.
const TEXT_BYTES: usize = 90_000;
/// Tasks of a definition.
const TASKS: usize = 100_000;
/// Loops without end.
const LOOPS: usize = 8;
/// After a refusal that came at once.
const PAUSE: Duration = Duration::from_millis(1);

#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(super) enum Neighbour {
    /// HTTP tasks to a service that sends a byte a second.
    Drip,
    /// Patterns over much text, one run after the other.
    Pattern,
    /// A definition of a hundred thousand tasks, again and again.
    Definition,
    /// Loops over nothing whose condition is true.
    Loop,
    /// A workflow that starts itself twice.
    Bomb,
}

/// One at work.
pub(super) struct Bad {
    asked: Arc<AtomicU64>,
    working: Vec<JoinHandle<()>>,
}

impl Bad {
    /// How often it has asked for something.
    pub(super) fn end(self) -> u64 {
        self.working.iter().for_each(JoinHandle::abort);
        self.asked.load(Ordering::Relaxed)
    }

    /// Sends the same so many times, or for ever.
    fn asks(&mut self, address: SocketAddr, call: Call, times: Option<usize>) {
        let asked = Arc::clone(&self.asked);
        // A tally of its own: what it is refused is no failure of the run.
        let mut client = Client::new(address, Arc::new(Tally::default()));
        self.working.push(tokio::spawn(async move {
            let mut left = times;
            while left != Some(0) {
                let refused = client.send(&call).await.is_err();
                asked.fetch_add(1, Ordering::Relaxed);
                left = left.map(|times| times - 1);
                if refused {
                    tokio::time::sleep(PAUSE).await;
                }
            }
        }));
    }
}

impl Neighbour {
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Drip => "drip",
            Self::Pattern => "pattern",
            Self::Definition => "definition",
            Self::Loop => "loop",
            Self::Bomb => "bomb",
        }
    }

    pub(super) async fn begin(self, address: SocketAddr) -> Result<Bad> {
        let mut bad = Bad { asked: Arc::default(), working: Vec::new() };
        let (tasks, input, times) = match self {
            Self::Drip => {
                let (service, serving) = dripping().await?;
                bad.working.push(serving);
                let request = json!({"uri": format!("http://{service}/"), "method": "GET"});
                let inputs = json!({ "http_request": request });
                (
                    json!([step("HTTP", json!({ "inputParameters": inputs }))]),
                    json!({}),
                    Some(DRIPS),
                )
            }
            Self::Pattern => {
                let found = "${workflow.input.l[?(@ =~ /(.*a){12}b/)]}";
                let inputs = json!({"inputParameters": {"found": found}});
                let input = json!({"l": ["a".repeat(TEXT_BYTES)]});
                (json!([step("SIMPLE", inputs)]), input, None)
            }
            Self::Definition => {
                let call = Call::post("/api/metadata/workflow", body(&definition(&noops(TASKS)))?)?;
                bad.asks(address, call, None);
                return Ok(bad);
            }
            Self::Loop => {
                let endless = json!({"loopCondition": "true", "loopOver": noops(1)});
                (json!([step("DO_WHILE", endless)]), json!({}), Some(LOOPS))
            }
            Self::Bomb => {
                let inputs = json!({"inputParameters": {"startWorkflow": {"name": "bad"}}});
                let mut second = step("START_WORKFLOW", inputs.clone());
                second["taskReferenceName"] = json!("again");
                (json!([step("START_WORKFLOW", inputs), second]), json!({}), Some(1))
            }
        };
        let mut client = Client::new(address, Arc::new(Tally::default()));
        client.send(&Call::post("/api/metadata/workflow", body(&definition(&tasks))?)?).await?;
        bad.asks(address, Call::post("/api/workflow/bad", body(&input)?)?, times);
        Ok(bad)
    }
}

fn body(value: &Value) -> Result<Vec<u8>> {
    Ok(serde_json::to_vec(value)?)
}

fn definition(tasks: &Value) -> Value {
    json!({"name": "bad", "version": 1, "schemaVersion": 2, "ownerEmail": "b@example.com",
        "tasks": tasks})
}

fn step(kind: &str, fields: Value) -> Value {
    let mut step = json!({"name": "bad_task", "taskReferenceName": "it", "type": kind});
    if let (Value::Object(step), Value::Object(fields)) = (&mut step, fields) {
        step.extend(fields);
    }
    step
}

fn noops(count: usize) -> Value {
    let noop =
        |at: usize| json!({"name": "n", "taskReferenceName": format!("n{at}"), "type": "NOOP"});
    (0..count).map(noop).collect()
}

/// A service that answers at once and then sends a byte a second.
async fn dripping() -> Result<(SocketAddr, JoinHandle<()>)> {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await?;
    let address = listener.local_addr()?;
    let serving = tokio::spawn(async move {
        while let Ok((mut stream, _)) = listener.accept().await {
            tokio::spawn(async move {
                let _ = stream.read(&mut [0; 4096]).await;
                let head = "HTTP/1.1 200 OK\r\ncontent-length: 1000000\r\n\r\n";
                let mut sent = stream.write_all(head.as_bytes()).await;
                while sent.is_ok() {
                    tokio::time::sleep(Duration::from_secs(1)).await;
                    sent = stream.write_all(b"x").await;
                }
            });
        }
    });
    Ok((address, serving))
}
