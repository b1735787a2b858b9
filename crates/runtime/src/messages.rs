//! # Messages in a round: carried from the table to whom they are for
//!
//! The commit in which the receiver hears a message deletes its row, whether or not it changed
//! anything. A receiver that is gone, or may not do what it is told, is answered for: nobody waits
//! for ever.

use semel_engine::{Address, Event, Letter, Message, MessageKey, MessageRow, RecordKey};
use semel_model::ExecutionId;
use semel_store::Row;

use crate::alarms::{Alarm, What};
use crate::draft::{Draft, Hearing};
use crate::failure::Failure;
use crate::round::{Outcome, Round, Sending};
use crate::work::Answer;
use crate::world::World;

/// Marks the key of an answer given in somebody's stead.
const IN_STEAD: u32 = 1 << 31;

impl Round {
    pub(crate) fn message(&mut self, world: &World, key: MessageKey) -> Outcome {
        if self.held.skipped.contains(&Row::Message(key)) {
            return Outcome::Defer;
        }
        let written = self.writes.messages.get(&key);
        let Some(row) = written.or_else(|| self.held.messages.get(&key)).cloned().flatten() else {
            return Outcome::Answer(Ok(Answer::Noted)); // Carried already.
        };
        match row.to {
            Address::Sink(ref event) => self.publish(world, &row, event),
            Address::Execution(to) => self.tell(world, &row, to),
        }
    }

    fn tell(&mut self, world: &World, row: &MessageRow, to: ExecutionId) -> Outcome {
        let letter = match Letter::decode(&row.body) {
            Ok(letter) => letter,
            Err(error) => {
                tracing::error!(%error, from = %row.key.from, "a message does not parse");
                return self.done_with(row.key);
            }
        };
        let (head, execution) = match self.execution(world, to) {
            Ok(found) => found,
            Err(Outcome::Answer(Err(Failure::NoExecution(_)))) => {
                if let Message::Handled(handled) = &letter.message {
                    return self.begin(world, row, to, &letter, handled);
                }
                if let Message::YourTurn { scope, key, .. } = &letter.message {
                    let record = RecordKey { scope: scope.clone(), key: key.clone() };
                    return match self.pass_turn(to, &record) {
                        Ok(()) => self.done_with(row.key),
                        Err(outcome) => outcome,
                    };
                }
                if let Message::SignalRefused { .. } = &letter.message {
                    let what = What::SignalGone { run: to };
                    self.tally.alarms.push(Alarm { at: self.held.now, what });
                }
                return self.answer_for(row.key, to, &letter, "it does not exist any more");
            }
            Err(outcome) => return outcome,
        };
        if head.parked.is_some() {
            return Outcome::Answer(Ok(Answer::Noted)); // It stays until the execution is lifted.
        }
        let event = Event::Told(letter.message.clone());
        let (actor, event_id) = match &letter.message {
            Message::Handled(handled) => (handled.actor(), handled.event_id()),
            _ => {
                let MessageKey { from, seq, at } = row.key;
                ("semel".to_owned(), format!("{from}/{seq}/{at}"))
            }
        };
        let hearing = Hearing {
            event: &event,
            payloads: &letter.payloads,
            definition: None,
            actor: &actor,
            event_id: &event_id,
            principal: &head.principal,
            epoch: None,
            wants: None,
        };
        let mut draft = Draft::default();
        let heard = self.hear(world, &mut draft, &execution, &hearing);
        match heard.and_then(|_| self.deliver_births(world, &mut draft)) {
            Ok(()) => {
                self.merge_all(world, draft);
                self.done_with(row.key)
            }
            Err(Outcome::Answer(Err(Failure::Fault(fault)))) => {
                self.park(to, &format!("{fault}; at {event:?}"))
            }
            Err(Outcome::Answer(Err(
                failure @ (Failure::Rejected(_) | Failure::Conflict { .. } | Failure::Refused(_)),
            ))) => match &letter.message {
                Message::Handled(handled) => self.not_done(row.key, handled, &failure),
                _ => self.answer_for(row.key, to, &letter, &failure.to_string()),
            },
            // Something could not be read: the row stays, and will be offered again.
            Err(outcome) => outcome,
        }
    }

    pub(crate) fn done_with(&mut self, key: MessageKey) -> Outcome {
        self.writes.messages.insert(key, None);
        Outcome::Answer(Ok(Answer::Noted))
    }

    fn answer_for(
        &mut self,
        key: MessageKey,
        to: ExecutionId,
        letter: &Letter,
        reason: &str,
    ) -> Outcome {
        if let Some(answer) = letter.message.refused(to, reason) {
            let sender = Address::Execution(key.from);
            let key = MessageKey { at: key.at | IN_STEAD, ..key };
            let body = Letter::of(&answer, &letter.payloads).encode();
            self.sent.push(Sending::new(key, sender.clone()));
            self.writes
                .messages
                .insert(key, Some(MessageRow { key, to: sender, body, waits: None }));
        }
        self.done_with(key)
    }
}
