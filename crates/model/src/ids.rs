//! # Ids: what is derived, what is drawn
//!
//! Only this module sees inside an id. Task ids are derived: made twice, inserted once
//! (docs/reference/principles.md#identity-is-derived).

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Deserializer, Serialize, Serializer, de};
use sha2::{Digest as _, Sha256};
use uuid::Uuid;

/// One run of a definition. Drawn once (UUIDv7, so that neighbours in time are neighbours on disk).
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct ExecutionId(Uuid);

/// One attempt at a step. Derived from where it stands, so a second making gives the same id.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct TaskId(Uuid);

impl ExecutionId {
    /// Draws a fresh id for a run that begins now.
    pub fn draw() -> Self {
        Self(Uuid::now_v7())
    }

    /// The child a task begins. `edge` counts the fresh children of one task.
    pub fn of_child(task: TaskId, edge: u32) -> Self {
        let edge = edge.to_be_bytes();
        Self(derived([b"child/v1".as_slice(), task.as_bytes(), &edge]))
    }

    /// The run a START_WORKFLOW task begins in this journal entry; rerun, it may begin another.
    pub fn of_start(task: TaskId, seq: u64) -> Self {
        let seq = seq.to_be_bytes();
        Self(derived([b"start/v1".as_slice(), task.as_bytes(), &seq]))
    }

    /// The run an event handler's action begins when it hears what that entry published.
    pub fn of_event(task: TaskId, seq: u64, handler: &str, action: u32) -> Self {
        let (seq, action) = (seq.to_be_bytes(), action.to_be_bytes());
        let parts = [b"event/v1".as_slice(), task.as_bytes(), &seq, handler.as_bytes(), &action];
        Self(derived(parts))
    }

    /// In whose name the actions that follow from a publication are written down.
    pub fn of_publication(task: TaskId, seq: u64) -> Self {
        let seq = seq.to_be_bytes();
        Self(derived([b"publication/v1".as_slice(), task.as_bytes(), &seq]))
    }

    /// The failure workflow of a run that ended with this journal entry.
    pub fn of_failure(run: Self, seq: u64) -> Self {
        let seq = seq.to_be_bytes();
        Self(derived([b"failure/v1".as_slice(), run.as_bytes(), &seq]))
    }
}

/// Names the effect of a task for ever: no retry, rerun or restart changes it. The name of a task
/// tells the turns of all loops around it, `pay__2__1`. `epoch` counts how often somebody asked for
/// the effect to be done once more.
pub fn effect_key(execution: ExecutionId, task: &str, epoch: u32) -> String {
    let epoch = epoch.to_be_bytes();
    let parts = [b"effect/v1".as_slice(), execution.as_bytes(), task.as_bytes(), &epoch];
    derived(parts).hyphenated().to_string()
}

fn derived<'a>(parts: impl IntoIterator<Item = &'a [u8]>) -> Uuid {
    let mut first = [0; 16];
    first.copy_from_slice(&Digest::of_parts(parts).0[..16]);
    Uuid::new_v8(first)
}

impl TaskId {
    /// What is published of a task or a run without an EVENT task: which of its news, by which entry
    /// of its journal, and which among those.
    pub fn of_news(about: &[u8], news: &str, seq: u64, at: usize) -> Self {
        let (seq, at) = (seq.to_be_bytes(), at.to_string());
        let parts = [b"news/v1".as_slice(), about, news.as_bytes(), &seq, at.as_bytes()];
        Self(derived(parts))
    }

    /// `generation` counts restarts; `attempt` is the retry count.
    pub fn derive(
        execution: ExecutionId,
        generation: u32,
        reference: &str,
        iteration: u32,
        attempt: u32,
    ) -> Self {
        let mut hash = Sha256::new();
        hash.update(b"task/v1");
        hash.update(execution.0.as_bytes());
        hash.update(generation.to_be_bytes());
        hash.update(iteration.to_be_bytes());
        hash.update(attempt.to_be_bytes());
        hash.update(reference.as_bytes());
        let digest: [u8; 32] = hash.finalize().into();
        let mut first = [0; 16];
        first.copy_from_slice(&digest[..16]);
        Self(Uuid::new_v8(first))
    }
}

macro_rules! uuid_id {
    ($name:ident) => {
        impl $name {
            pub fn as_bytes(&self) -> &[u8; 16] {
                self.0.as_bytes()
            }

            pub fn from_bytes(bytes: [u8; 16]) -> Self {
                Self(Uuid::from_bytes(bytes))
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                self.0.hyphenated().fmt(f)
            }
        }

        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                self.0.hyphenated().fmt(f)
            }
        }

        impl FromStr for $name {
            type Err = uuid::Error;

            fn from_str(text: &str) -> Result<Self, Self::Err> {
                Uuid::parse_str(text).map(Self)
            }
        }
    };
}

uuid_id!(ExecutionId);
uuid_id!(TaskId);

/// A SHA-256: the chain of journal entries, the name of a pinned definition, a fingerprint.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Digest([u8; 32]);

impl Digest {
    pub fn of(bytes: &[u8]) -> Self {
        Self(Sha256::digest(bytes).into())
    }

    /// Digest of several parts, each length-prefixed so that no two lists collide.
    pub fn of_parts<'a>(parts: impl IntoIterator<Item = &'a [u8]>) -> Self {
        let mut hash = Sha256::new();
        for part in parts {
            hash.update((part.len() as u64).to_be_bytes());
            hash.update(part);
        }
        Self(hash.finalize().into())
    }

    pub fn as_bytes(&self) -> &[u8; 32] {
        &self.0
    }

    pub fn from_bytes(bytes: [u8; 32]) -> Self {
        Self(bytes)
    }

    /// The first eight bytes as a number, for choices that must be stable but look random.
    pub fn number(&self) -> u64 {
        let mut first = [0; 8];
        first.copy_from_slice(&self.0[..8]);
        u64::from_be_bytes(first)
    }
}

impl fmt::Display for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

impl fmt::Debug for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl FromStr for Digest {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        const WANTED: &str = "a digest is 64 hexadecimal digits";
        if text.len() != 64 || !text.is_ascii() {
            return Err(WANTED);
        }
        let mut bytes = [0; 32];
        for (byte, at) in bytes.iter_mut().zip((0..64).step_by(2)) {
            *byte = u8::from_str_radix(&text[at..at + 2], 16).map_err(|_| WANTED)?;
        }
        Ok(Self(bytes))
    }
}

impl Serialize for Digest {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Digest {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        std::borrow::Cow::<'de, str>::deserialize(deserializer)?.parse().map_err(de::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_task_id_depends_on_every_part_and_on_nothing_else() {
        let execution = ExecutionId::draw();
        let id = TaskId::derive(execution, 0, "pay", 0, 0);
        assert_eq!(id, TaskId::derive(execution, 0, "pay", 0, 0));
        for other in [
            TaskId::derive(ExecutionId::draw(), 0, "pay", 0, 0),
            TaskId::derive(execution, 1, "pay", 0, 0),
            TaskId::derive(execution, 0, "ship", 0, 0),
            TaskId::derive(execution, 0, "pay", 1, 0),
            TaskId::derive(execution, 0, "pay", 0, 1),
        ] {
            assert_ne!(id, other);
        }
        assert_eq!(id.to_string().len(), 36);
    }

    #[test]
    fn an_effect_key_depends_on_run_task_and_epoch_and_keeps_its_bytes() {
        let execution = ExecutionId::from_bytes([7; 16]);
        let key = effect_key(execution, "pay__2", 0);
        assert_eq!(key, "b9838013-73d5-80f6-90e8-f5d4f85ca862");
        for other in [
            effect_key(ExecutionId::from_bytes([8; 16]), "pay__2", 0),
            effect_key(execution, "pay", 0),
            effect_key(execution, "pay__2__1", 0),
            effect_key(execution, "pay__2", 1),
        ] {
            assert_ne!(key, other);
        }
    }

    #[test]
    fn a_digest_survives_its_text() {
        let digest = Digest::of(b"semel");
        assert_eq!(digest.to_string().parse(), Ok(digest));
        assert!("zz".parse::<Digest>().is_err());
    }

    #[test]
    fn parts_do_not_run_into_each_other() {
        assert_ne!(
            Digest::of_parts([b"ab".as_slice(), b"c"]),
            Digest::of_parts([b"a".as_slice(), b"bc"])
        );
    }
}
