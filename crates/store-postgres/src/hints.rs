//! # Hints: nodes tell each other of tasks to be taken
//!
//! A node on which nobody waits for what it has made ready says so after its commit, and others on
//! which somebody does look at once. On a connection of its own, several at a time, and never more
//! than a hint: who hears nothing looks by himself a moment later.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::time::Duration;

use futures_util::StreamExt as _;
use futures_util::stream::poll_fn;
use semel_engine::Queue;
use semel_store::Hear;
use tokio::sync::Notify;
use tokio::task::JoinSet;
use tokio::time::timeout;
use tokio_postgres::types::ToSql;
use tokio_postgres::{AsyncMessage, Client, Error, Notification};

use crate::link::{Link, Raw};

/// A hint waits for no disk.
const SETTINGS: &str = "SET application_name = 'semel hints'; SET synchronous_commit = off; \
     LISTEN semel_ready";
const OWN: &str = "SELECT pg_backend_pid()";
const SEND: &str = "SELECT pg_notify('semel_ready', $1)";
/// PostgreSQL takes no more than 8000 bytes.
const BYTES_MAX: usize = 7_900;
/// Hints gather for so long.
const SEND_EVERY: Duration = Duration::from_millis(20);
const SEND_WITHIN: Duration = Duration::from_secs(15);
const CONNECT_EVERY: Duration = Duration::from_secs(1);

#[derive(Default)]
pub(crate) struct Hints(Arc<Waiting>);

#[derive(Default)]
struct Waiting {
    queues: Mutex<BTreeSet<Queue>>,
    filled: Notify,
}

impl Hints {
    pub(crate) fn send(&self, queues: BTreeSet<Queue>) {
        self.0.queues.lock().unwrap_or_else(PoisonError::into_inner).extend(queues);
        self.0.filled.notify_one();
    }

    /// From now on, as long as the link is there.
    pub(crate) fn listen(&self, link: &Arc<Link>, hear: Hear) {
        link.spawn(run(Arc::downgrade(link), Arc::clone(&self.0), Arc::from(hear)));
    }
}

async fn run(
    link: Weak<Link>,
    waiting: Arc<Waiting>,
    hear: Arc<dyn Fn(BTreeSet<Queue>) + Send + Sync>,
) {
    loop {
        let Some(connected) = link.upgrade() else { return };
        let raw = connected.raw().await;
        drop(connected);
        if let Err(error) = match raw {
            Ok((client, raw)) => converse(&client, raw, &waiting, &hear).await,
            Err(error) => Err(error),
        } {
            tracing::debug!(%error, "nodes cannot tell each other of tasks; they look by themselves");
        }
        tokio::time::sleep(CONNECT_EVERY).await;
    }
}

/// Until the connection ends.
async fn converse(
    client: &Client,
    mut raw: Raw,
    waiting: &Waiting,
    hear: &Arc<dyn Fn(BTreeSet<Queue>) + Send + Sync>,
) -> Result<(), Error> {
    let messages = poll_fn(move |context| raw.poll_message(context));
    // An error is the end: a connection that is asked on spins, and keeps who waits for an answer.
    let messages = messages.take_while(|message| std::future::ready(message.is_ok()));
    let (told, mut heard) = tokio::sync::mpsc::unbounded_channel();
    let mut reading = JoinSet::new(); // Ends with this conversation.
    reading.spawn(messages.for_each(move |message| {
        if let Ok(AsyncMessage::Notification(notification)) = message {
            let _ = told.send(notification); // Nobody listens when this has ended.
        }
        std::future::ready(())
    }));
    client.batch_execute(SETTINGS).await?;
    let own: i32 = client.query_one(OWN, &[]).await?.get(0);
    hear(BTreeSet::new()); // What was said before was heard by nobody.
    loop {
        tokio::select! {
            () = waiting.filled.notified() => {
                let queues = std::mem::take(
                    &mut *waiting.queues.lock().unwrap_or_else(PoisonError::into_inner),
                );
                let payload = payload(&queues);
                let values: [&(dyn ToSql + Sync); 1] = [&payload];
                match timeout(SEND_WITHIN, client.execute(SEND, &values)).await {
                    Ok(sent) => drop(sent?),
                    Err(_) => return Ok(()),
                }
                tokio::time::sleep(SEND_EVERY).await;
            }
            notification = heard.recv() => match notification {
                Some(notification) if notification.process_id() == own => {}
                Some(notification) => hear(queues(&notification)),
                None => return Ok(()),
            },
        }
    }
}

/// Nothing in it means that any queue may be meant.
fn payload(queues: &BTreeSet<Queue>) -> String {
    let names: Vec<_> = queues.iter().map(|it| (&it.task_type, &it.domain)).collect();
    let text = serde_json::to_string(&names).unwrap_or_default();
    if text.len() > BYTES_MAX { String::new() } else { text }
}

fn queues(notification: &Notification) -> BTreeSet<Queue> {
    let names: Vec<(String, Option<String>)> =
        serde_json::from_str(notification.payload()).unwrap_or_default();
    names.into_iter().map(|(task_type, domain)| Queue { task_type, domain }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn more_names_than_fit_mean_any() {
        let queue = |n: usize| Queue { task_type: format!("type {n}"), domain: None };
        assert_eq!(payload(&[queue(1)].into()), r#"[["type 1",null]]"#);
        assert_eq!(payload(&(0..1000).map(queue).collect()), "");
    }
}
