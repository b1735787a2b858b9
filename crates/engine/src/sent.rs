//! # Sent: what may have reached the other side under a key
//!
//! A key stands for one request, and the other side knows it only for a while. So a run remembers
//! what was first handed out under each key of its own, and when: in all its lives, whatever became
//! of the tasks. A request without a key that nobody knows the end of is remembered too.

use semel_model::{Digest, HttpClass, HttpKey, HttpRequest, OnUnknown, TaskId, Timestamp};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::execution::Execution;
use crate::kinds::Kind;
use crate::outcome::{Outcome, marker, said};
use crate::task::Task;
use crate::tasks::is_keyless;
use crate::turn::Turn;

/// What was first handed out under a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Sent {
    pub(crate) at: Timestamp,
    /// Of the body of a request.
    pub(crate) body: Option<Digest>,
}

impl Execution {
    /// A hand-out of the task has become known.
    pub(crate) fn remember_sent(&mut self, id: TaskId) {
        let task = self.expect_task(id);
        if task.polls == 0 || never_left(task) || (is_keyless(task) && !task.is_in_doubt()) {
            return;
        }
        let Some((name, body)) = self.name_of_sent(task) else { return };
        let sent = Sent { at: task.started_at, body };
        let unknown = self.name_of_unknown(task).filter(|_| task.is_in_doubt());
        self.sent.entry(name).or_insert(sent);
        if let Some(unknown) = unknown {
            self.sent.entry(unknown).or_insert(sent);
        }
    }

    /// What was first handed out under the key that the task has now.
    pub(crate) fn first_sent(&self, task: &Task) -> Option<Sent> {
        let (name, _) = self.name_of_sent(task)?;
        self.sent.get(&name).copied()
    }

    /// When the other side may forget the key of an attempt that nobody asked for by hand: from then
    /// on a repeat could be done once more. None: never, or its author wants it tried all the same.
    pub(crate) fn key_ends_at(&self, task: &Task) -> Option<Timestamp> {
        let is_retry = task.replaces.is_some() && task.first_scheduled_at != task.scheduled_at;
        if !is_retry {
            return None;
        }
        let policy = task.step.effect()?;
        let seconds = policy.downstream_retention_seconds.filter(|seconds| *seconds > 0)?;
        if policy.on_unknown == Some(OnUnknown::Retry) || is_keyless(task) {
            return None;
        }
        Some(self.first_sent(task)?.at.plus_seconds(seconds))
    }

    /// What the other side knows a repeat by, and the body that comes with it. None: nothing has to
    /// be remembered.
    fn name_of_sent(&self, task: &Task) -> Option<(Digest, Option<Digest>)> {
        let own = self.effect_key(&task.reference);
        if task.kind() == Kind::Http {
            let request = HttpRequest::read(&task.input).ok()?;
            let chosen = match request.class() {
                _ if request.carries_key() => chosen(&request),
                HttpClass::Unsafe => String::new(),
                HttpClass::Safe
                | HttpClass::IdempotentMethod
                | HttpClass::Keyed
                | HttpClass::NotSent => return None,
            };
            let body = request.body.unwrap_or_default();
            let name = Digest::of_parts([own.as_bytes(), chosen.as_bytes()]);
            return Some((name, Some(Digest::of(body.as_bytes()))));
        }
        let policy = task.step.effect()?;
        policy.downstream_retention_seconds?;
        Some((Digest::of(own.as_bytes()), None))
    }

    /// Under which it is remembered that nobody knows what became of a request with a key. One with
    /// an effect has a record that says so.
    fn name_of_unknown(&self, task: &Task) -> Option<Digest> {
        let is_keyed = |request: HttpRequest| request.carries_key();
        let has_key = || HttpRequest::read(&task.input).is_ok_and(is_keyed);
        let is_plain = task.kind() == Kind::Http && task.step.effect().is_none();
        (is_plain && has_key()).then(|| {
            let own = self.effect_key(&task.reference);
            Digest::of_parts([own.as_bytes(), b"", b"unknown"])
        })
    }
}

impl Turn<'_> {
    /// A request that must not be sent twice was sent, and nobody knew what became of it.
    pub(crate) fn was_sent_unsafely(&mut self, task: &Task) -> bool {
        if is_keyless(task) {
            return self.execution().first_sent(task).is_some() && self.is_unsafe(task);
        }
        let execution = self.execution();
        let unknown = execution.name_of_unknown(task);
        let is_unknown = unknown.is_some_and(|name| execution.sent.contains_key(&name));
        is_unknown && self.is_unsafe(task)
    }

    /// A request that is about to be offered fails if another one may have been sent under its key:
    /// the other side would refuse it, or answer for the first.
    pub(crate) fn expect_same_request(&mut self, id: TaskId) {
        let Some(task) = self.task(id).filter(|task| task.is_placed()) else { return };
        let Some((name, body)) = self.execution().name_of_sent(&task) else { return };
        let first = self.execution().sent.get(&name);
        if is_keyless(&task) || first.is_none_or(|first| first.body == body) {
            return;
        }
        let why = format!(
            "step {}: its body is not the one that was sent first under the same idempotency key. \
             Nothing was sent. Give it the first body, or send this one under a new key with \
             redoEffects=true",
            task.reference
        );
        self.known.insert(id, Outcome::Unknown); // The first may have been carried out.
        self.fail_at_once(id, why);
    }
}

/// The key as its author chose it; nothing where it is the effect's own name.
fn chosen(request: &HttpRequest) -> String {
    match &request.key {
        HttpKey::None => String::new(),
        HttpKey::Added { value, .. } => value.clone().unwrap_or_default(),
        HttpKey::Written => {
            let written = request.headers.iter().filter(|(name, _)| HttpKey::is_known(name));
            written.map(|(_, value)| value.as_str()).collect::<Vec<_>>().join("\n")
        }
    }
}

/// Whoever had it says that nothing of it came to the other side.
fn never_left(task: &Task) -> bool {
    if said(&task.output) != Some(Outcome::NotApplied) {
        return false;
    }
    let class = marker(&task.output).and_then(|it| it.get("class").cloned());
    let not_sent = Value::from(HttpClass::NotSent.as_str());
    task.kind() != Kind::Http || class == Some(not_sent)
}
