//! # Replays in a round: what was done under a request's key is not done again
//!
//! Decided on the held record of the step, and written in the commit that does the step, so a crash
//! leaves both or neither. What is compared is sealed: a fingerprint of a request that brings a short
//! secret would give it away.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use secrecy::ExposeSecret as _;
use semel_engine::{Record, RecordState, Ruled};
use semel_model::{ExecutionId, Payload, TaskId, Timestamp};
use semel_store::StoreError;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::edits::Edited;
use crate::failure::Failure;
use crate::requests::{RequestKey, Settled, Settlement, Step, StoredAnswer};
use crate::round::{Outcome, Round};
use crate::starts::Found;
use crate::work::{Answer, Item, Standing, Work};
use crate::world::World;

/// What the record of a request, or of one of its steps, says.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Kept {
    /// The fingerprint of the request.
    sealed: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    done: Option<Done>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) answer: Option<StoredAnswer>,
    #[serde(skip)]
    pub(crate) expires_at: Timestamp,
}

/// What a step was answered.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", rename_all_fields = "camelCase", tag = "kind")]
enum Done {
    Started {
        id: ExecutionId,
        created: bool,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        found: Option<Box<Found>>,
    },
    Skipped {
        id: ExecutionId,
    },
    Coalesced {
        id: ExecutionId,
    },
    Ruled {
        #[serde(with = "as_text")]
        verdict: Box<Ruled>,
    },
    Heard {
        repeated: bool,
        task: Option<TaskId>,
        /// A task was handed out with the answer.
        next: bool,
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        kept: bool,
        /// The run that heard it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        run: Option<ExecutionId>,
    },
    Renewed {
        lease_until: Option<Timestamp>,
    },
    NotHeld,
    Noted,
    Edited {
        before: Option<String>,
        after: Option<String>,
        aside: Option<String>,
    },
}

/// A verdict is kept as JSON text: inside a value that is told by its `kind`, serde would lose how
/// the numbers of its result were written.
mod as_text {
    use super::{Ruled, Value};
    use serde::de::Error as _;
    use serde::ser::Error as _;
    use serde::{Deserialize as _, Deserializer, Serializer};

    pub(super) fn serialize<S: Serializer>(verdict: &Ruled, to: S) -> Result<S::Ok, S::Error> {
        to.serialize_str(&serde_json::to_string(verdict).map_err(S::Error::custom)?)
    }

    /// Earlier releases wrote the verdict itself.
    pub(super) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Box<Ruled>, D::Error> {
        let verdict = match Value::deserialize(from)? {
            Value::String(text) => serde_json::from_str(&text),
            value => serde_json::from_value(value),
        };
        verdict.map_err(D::Error::custom)
    }
}

impl Done {
    /// None: it is nothing that a request with a key asks for.
    fn of(answer: &Answer, edited: Option<&Edited>) -> Option<Self> {
        if let Some(Edited { before, after, aside }) = edited {
            let text = |body: &Option<Vec<u8>>| body.as_ref().map(|body| STANDARD.encode(body));
            let (before, after) = (text(before), text(after));
            return Some(Self::Edited { before, after, aside: aside.clone() });
        }
        match answer {
            Answer::Started { id, created, found } => {
                Some(Self::Started { id: *id, created: *created, found: found.clone() })
            }
            Answer::Skipped { id } => Some(Self::Skipped { id: *id }),
            Answer::Coalesced { id } => Some(Self::Coalesced { id: *id }),
            Answer::Ruled(verdict)
                if matches!(**verdict, Ruled::Started { .. } | Ruled::Noted(_)) =>
            {
                Some(Self::Ruled { verdict: verdict.clone() })
            }
            // Nothing was changed, and what was found may change: it is looked at again.
            Answer::Ruled(_) => None,
            Answer::Done { standing, run, task, next } => {
                let repeated = *standing == Standing::Repeated;
                let kept = *standing == Standing::Kept;
                let (run, task, next) = (*run, *task, next.is_some());
                Some(Self::Heard { repeated, run, task, next, kept })
            }
            // A lease is renewed again, if it still can be.
            Answer::Renewed { .. } => None,
            Answer::NotHeld => None, // There was nothing; it may come to exist.
            Answer::Noted => Some(Self::Noted),
            Answer::Claimed(_) | Answer::Edited(_) | Answer::Settled(_) => None,
        }
    }

    /// None: a task went out with it, or something was granted. The report is heard again, which
    /// changes nothing and finds that task; of a grant is told what became of it.
    fn answer(self) -> Option<Answer> {
        let bytes = |text: Option<String>| text.and_then(|text| STANDARD.decode(text).ok());
        match self {
            Self::Started { id, created, found } => Some(Answer::Started { id, created, found }),
            Self::Skipped { id } => Some(Answer::Skipped { id }),
            Self::Coalesced { id } => Some(Answer::Coalesced { id }),
            Self::Ruled { verdict } if matches!(*verdict, Ruled::Started { .. }) => None,
            Self::Ruled { verdict } => Some(Answer::Ruled(verdict)),
            Self::Heard { next: true, .. } => None,
            Self::Heard { repeated, run, task, next: false, kept } => {
                let standing = match (repeated, kept) {
                    (true, _) => Standing::Repeated,
                    (false, true) => Standing::Kept,
                    (false, false) => Standing::Applied,
                };
                Some(Answer::Done { standing, run, task, next: None })
            }
            Self::Renewed { lease_until } => Some(Answer::Renewed { lease_until }),
            Self::NotHeld => Some(Answer::NotHeld),
            Self::Noted => Some(Answer::Noted),
            Self::Edited { before, after, aside } => {
                let (before, after) = (bytes(before), bytes(after));
                Some(Answer::Edited(Edited { before, after, aside }))
            }
        }
    }
}

impl Kept {
    fn of(world: &World, named: &RequestKey, expires_at: Timestamp) -> Self {
        let sealed = world.secrets.seal_aside(&named.key.key, &named.fingerprint.to_string());
        Self { sealed, done: None, answer: None, expires_at }
    }

    /// None: there is no record, or its time is over.
    pub(crate) fn live(record: Option<&Record>, now: Timestamp) -> Result<Option<Self>, Failure> {
        let Some(record) = record else { return Ok(None) };
        let expires_at = record.expires_at.unwrap_or(Timestamp::from_ms(i64::MAX));
        if expires_at <= now {
            return Ok(None);
        }
        let result = record.detail.result.as_ref().map_or("", Payload::text);
        let kept: Self = serde_json::from_str(result)
            .map_err(|error| StoreError::Corrupt(format!("a request's record: {error}")))?;
        Ok(Some(Self { expires_at, ..kept }))
    }

    /// Refuses another request under this key. What was sealed with a key that is not here any more
    /// cannot be compared: the answer that is kept is safer than doing something twice.
    pub(crate) fn check(&self, world: &World, named: &RequestKey) -> Result<(), Failure> {
        let opened = world.secrets.open_aside(&named.key.key, &self.sealed);
        let wanted = named.fingerprint.to_string();
        match opened {
            Some(known) if known.expose_secret() != wanted => {
                let (key, expires_at) = (named.key.clone(), self.expires_at);
                Err(Failure::KeyReused { key, expires_at })
            }
            _ => Ok(()),
        }
    }

    /// What the step was answered.
    pub(crate) fn answered(self) -> Option<Answer> {
        self.done.and_then(Done::answer)
    }

    pub(crate) fn run(&self) -> Option<ExecutionId> {
        match &self.done {
            Some(Done::Started { id, .. } | Done::Skipped { id } | Done::Coalesced { id }) => {
                Some(*id)
            }
            _ => None,
        }
    }

    fn record(&self, named: &RequestKey, now: Timestamp) -> Record {
        let is_over = self.answer.is_some();
        let state = if is_over { RecordState::Completed } else { RecordState::Claimed };
        let mut record = Record::new(state, now);
        record.expires_at = Some(self.expires_at);
        record.detail.owner = Some(named.by.clone());
        record.detail.request = Some(named.request.clone());
        record.detail.decided_at = is_over.then_some(now);
        let text = serde_json::to_string(self).expect("what is kept is plain data");
        record.detail.result = Payload::from_text(text).ok();
        record
    }
}

impl Round {
    /// The answer of a step that was done before. None: it has to be done.
    pub(crate) fn replayed(&self, world: &World, item: &Item) -> Option<Outcome> {
        let step = item.step.as_deref()?;
        match self.is_answered(step) {
            Ok(false) => {}
            // What its steps were told is forgotten by now.
            Ok(true) => {
                step.request.overtake();
                return Some(Outcome::Answer(Err(Failure::Unavailable)));
            }
            Err(outcome) => return Some(outcome),
        }
        match self.known(world, step) {
            Ok(kept) => {
                let kept = kept?;
                if kept.done.is_some() {
                    step.request.recall();
                }
                if let (Some(Done::Ruled { verdict }), Work::Call(call)) = (&kept.done, &item.work)
                    && let Some(told) = self.granted_before(call, verdict).transpose()
                {
                    return Some(told.map_or_else(
                        |outcome| outcome,
                        |verdict| Outcome::Answer(Ok(Answer::Ruled(Box::new(verdict)))),
                    ));
                }
                kept.answered().map(|answer| Outcome::Answer(Ok(answer)))
            }
            Err(outcome) => Some(outcome),
        }
    }

    /// Whether the whole request was answered, by another node, while this one served it.
    fn is_answered(&self, step: &Step) -> Result<bool, Outcome> {
        let held = self.held_record(&step.request.named.key)?;
        let kept = Kept::live(held, self.held.now);
        let kept = kept.map_err(|failure| Outcome::Answer(Err(failure)))?;
        Ok(kept.is_some_and(|kept| kept.answer.is_some()))
    }

    fn known(&self, world: &World, step: &Step) -> Result<Option<Kept>, Outcome> {
        let failed = |failure| Outcome::Answer(Err(failure));
        let held = self.held_record(&step.key())?;
        let kept = Kept::live(held, self.held.now).map_err(failed)?;
        if let Some(kept) = &kept {
            kept.check(world, &step.request.named).map_err(failed)?;
        }
        Ok(kept)
    }

    /// Keeps what a step was answered, in the commit that does it.
    pub(crate) fn keep(&mut self, world: &World, item: &Item, outcome: &Outcome) {
        let (Some(step), Outcome::Answer(Ok(answer))) = (item.step.as_deref(), outcome) else {
            return;
        };
        let request = &step.request;
        let fresh = || Kept::of(world, &request.named, request.expires_at);
        let Ok(known) = self.known(world, step) else { return };
        let mut kept = known.unwrap_or_else(fresh);
        let (main, key, now) = (&request.named.key, step.key(), self.held.now);
        let is_renewal = matches!(&item.work, Work::Call(call) if call.asks.renews());
        if kept.done.is_none() && !is_renewal {
            let Some(done) = Done::of(answer, step.edited.as_ref()) else { return };
            kept.done = Some(done);
            self.writes.records.insert(key, Some(kept.record(&request.named, now)));
        }
        // Whoever looks for the request finds that it was begun, whichever step came first.
        if let Ok(None) = Kept::live(self.record(main).flatten(), now) {
            self.writes.records.insert(main.clone(), Some(fresh().record(&request.named, now)));
        }
    }

    /// Keeps the answer to a request. The first one stays.
    pub(crate) fn settle(&mut self, world: &World, settlement: &Settlement) -> Outcome {
        let Settlement { request, answer } = settlement;
        let (named, now) = (&request.named, self.held.now);
        let held = match self.held_record(&named.key) {
            Ok(held) => held,
            Err(outcome) => return outcome,
        };
        let known = Kept::live(held, now);
        let known = known.and_then(|known| match known {
            Some(known) => known.check(world, named).map(|()| Some(known)),
            None => Ok(None),
        });
        let mut kept = match known {
            Ok(Some(Kept { answer: Some(before), .. })) => {
                return Outcome::Answer(Ok(Answer::Settled(Settled::Before(before))));
            }
            Ok(Some(_)) if !request.has_steps() => {
                return Outcome::Answer(Ok(Answer::Settled(Settled::Begun)));
            }
            Ok(known) => known.unwrap_or_else(|| Kept::of(world, named, request.expires_at)),
            Err(failure) => return Outcome::Answer(Err(failure)),
        };
        let steps = request.further_steps();
        if let Some(outcome) = steps.iter().find_map(|step| self.held_record(step).err()) {
            return outcome;
        }
        kept.done = None;
        kept.answer = Some(answer.clone());
        let record = kept.record(named, now);
        self.writes.records.insert(named.key.clone(), Some(record));
        self.writes.records.extend(steps.into_iter().map(|step| (step, None)));
        Outcome::Answer(Ok(Answer::Settled(Settled::Kept)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use semel_model::WorkflowStatus;

    #[test]
    fn what_a_step_was_answered_is_read_as_it_was_written() {
        let (id, task) = (ExecutionId::draw(), TaskId::from_bytes([7; 16]));
        let edited = Edited { before: None, after: Some(vec![0, 255]), aside: Some("a".into()) };
        let now = Timestamp::from_ms(5);
        let mut record = Box::new(Record::new(RecordState::Claimed, now));
        record.detail.result = Payload::from_text(r#"{"amount":1.10}"#.to_owned()).ok();
        let found = Found {
            run: id,
            live: false,
            ended: Some(WorkflowStatus::Failed),
            version: 2,
            created_at: now,
            expires_at: None,
            mismatch: true,
        };
        for (answer, edited) in [
            (Answer::Started { id, created: true, found: None }, None),
            (Answer::Started { id, created: false, found: Some(Box::new(found)) }, None),
            (Answer::Skipped { id }, None),
            (Answer::Coalesced { id }, None),
            (Answer::Ruled(Box::new(Ruled::Noted(record))), None),
            (
                Answer::Done {
                    standing: Standing::Repeated,
                    run: Some(id),
                    task: Some(task),
                    next: None,
                },
                None,
            ),
            (Answer::Done { standing: Standing::Kept, run: None, task: None, next: None }, None),
            (Answer::Noted, None),
            (Answer::Edited(edited.clone()), Some(&edited)),
        ] {
            let done = Done::of(&answer, edited).unwrap();
            let text = serde_json::to_string(&done).unwrap();
            let read: Done = serde_json::from_str(&text).unwrap();
            assert_eq!(read, done);
            assert_eq!(format!("{:?}", read.answer().unwrap()), format!("{answer:?}"));
        }
    }
}
