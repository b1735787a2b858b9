//! # HTTP: a request that a worker of the server's own sends
//!
//! To the engine it is a worker's task in the queue `HTTP`, outside of all domains: handed out under
//! a lease and a fence, reported on like any other. What is different follows from what it does.
//! What was sent is never sent otherwise under the same key, and what nobody can repeat without harm
//! is not repeated because its worker fell silent.

use semel_model::{HttpClass, HttpRequest, Payload};

use crate::kinds::Kind;
use crate::task::Task;
use crate::turn::Turn;

/// How long the worker may be silent at most, whatever the definition says: it renews its leases
/// while it waits for an answer, so its silence is its death.
pub(crate) const LEASE_SECONDS: i64 = 60;

/// A worker that asks to be called back after so long never wants to be: it has done its part, and
/// others complete the task.
pub const LEFT_TO_OTHERS_SECONDS: i64 = i32::MAX as i64;

/// Sent and answered, and not to be sent again by whoever resets callbacks.
pub(crate) fn is_left_to_others(task: &Task, callback_after_seconds: i64) -> bool {
    task.kind() == Kind::Http && callback_after_seconds >= LEFT_TO_OTHERS_SECONDS
}

/// What the next attempt sends: what the last one may have sent, to the byte.
pub(crate) fn frozen(before: Option<&Task>) -> Option<Payload> {
    let was_handed_out = |task: &&Task| task.kind() == Kind::Http && task.fence.is_some();
    before.filter(was_handed_out).map(|task| task.input.clone())
}

/// A request without a key that must not be sent twice: no other side could tell a repeat.
pub(crate) fn is_keyless(task: &Task) -> bool {
    let is_keyless = |it: HttpRequest| it.class() == HttpClass::Unsafe && !it.carries_key();
    task.kind() == Kind::Http && HttpRequest::read(&task.input).is_ok_and(is_keyless)
}

impl Turn<'_> {
    /// A request that must not be sent twice: it has no key, or nobody knows that the other side
    /// looks at keys.
    pub(crate) fn is_unsafe(&mut self, task: &Task) -> bool {
        if task.kind() != Kind::Http {
            return false;
        }
        let step = task.step.task();
        let Ok(request) = HttpRequest::of_step(&task.input, step) else { return false };
        let is_said = step.downstream.as_ref().is_some_and(|said| said.honours_keys.is_some());
        let asks_host = request.carries_key() && !is_said;
        match request.class() {
            HttpClass::Unsafe if asks_host => !self.is_key_host(&request.uri),
            HttpClass::Unsafe => true,
            HttpClass::Safe
            | HttpClass::IdempotentMethod
            | HttpClass::Keyed
            | HttpClass::NotSent => false,
        }
    }
}
