//! # Publications in a round: event handlers hear what EVENT tasks said
//!
//! The commit that takes a publication out of the outbox writes a letter for every action of every
//! handler it concerns; each letter is done in a commit of its own, with its row. So every action
//! happens once, whatever crashes, and one that cannot be done is no other's problem.

use semel_engine::{
    Address, Deed, Handled, Letter, MessageKey, MessageRow, Occasion, Pinned, Publication,
    Rejection, Slot, Start, StartKey,
};
use semel_model::{ExecutionId, Payload, StartWorkflowRequest};

use crate::failure::Failure;
use crate::round::{Outcome, Round, Sending};
use crate::starts::StartWork;
use crate::work::Answer;
use crate::world::World;

/// Letters one commit writes: how many, and how large they may be together.
const LETTERS_AT_ONCE_MAX: usize = 64;
const LETTER_BYTES_AT_ONCE_MAX: usize = 16 * 1024 * 1024;

impl Round {
    /// Tells everybody who listens. Handlers are those of this moment.
    pub(crate) fn publish(&mut self, world: &World, row: &MessageRow, event: &str) -> Outcome {
        let publication = match Publication::decode(&row.body) {
            Ok(publication) => publication,
            Err(error) => {
                tracing::error!(%error, event, from = %row.key.from, "a publication does not parse");
                return self.done_with(row.key);
            }
        };
        let listeners = match world.handlers.listeners() {
            Ok(listeners) => listeners,
            Err(failure) => return Outcome::Answer(Err(failure)), // The row stays.
        };
        let (first, mut at) = publication.next.clone().unwrap_or_default();
        let mut occasion = Occasion::new(event, row.key.seq, &publication);
        let mut written: Vec<(ExecutionId, Vec<u8>)> = Vec::new();
        let mut bytes = 0;
        for handler in listeners.get(event).into_iter().flatten() {
            let definition = handler.definition();
            if definition.name < first {
                continue;
            }
            let from = if definition.name == first { std::mem::take(&mut at) } else { 0 };
            match occasion.concerns(handler) {
                Ok(true) => {}
                Ok(false) => continue,
                Err(why) => {
                    let handler = &definition.name;
                    tracing::warn!(handler, event, why, "a condition cannot be evaluated");
                    continue;
                }
            }
            let actions = u32::try_from(definition.actions.len()).unwrap_or(u32::MAX);
            for at in from..actions {
                if written.len() >= LETTERS_AT_ONCE_MAX || bytes >= LETTER_BYTES_AT_ONCE_MAX {
                    let next = Some((definition.name.clone(), at));
                    return self.go_on_with(row, &publication, written, next);
                }
                match occasion.letter(handler, at) {
                    Ok((to, letter)) => {
                        let body = letter.encode();
                        bytes += body.len();
                        written.push((to, body));
                    }
                    Err(why) => {
                        let (handler, message) = (&definition.name, publication.task);
                        tracing::warn!(handler, event, %message, action = at, why, NOT_DONE);
                    }
                }
            }
        }
        self.go_on_with(row, &publication, written, None)
    }

    /// Writes the letters down; the publication stays only if there are more to come.
    fn go_on_with(
        &mut self,
        row: &MessageRow,
        publication: &Publication,
        written: Vec<(ExecutionId, Vec<u8>)>,
        next: Option<(String, u32)>,
    ) -> Outcome {
        let from = ExecutionId::of_publication(publication.task, row.key.seq);
        let mut letters = publication.letters;
        for (to, body) in written {
            let key = MessageKey { from, seq: letters, at: 0 };
            self.send(MessageRow { key, to: Address::Execution(to), body, waits: None });
            letters += 1;
        }
        if next.is_none() {
            return self.done_with(row.key);
        }
        let rest = Publication { next, letters, ..publication.clone() };
        self.send(MessageRow { body: rest.encode(), ..row.clone() });
        Outcome::Answer(Ok(Answer::Noted))
    }

    /// A letter to a run that is not there: it begins now, or the letter comes to nothing.
    pub(crate) fn begin(
        &mut self,
        world: &World,
        row: &MessageRow,
        to: ExecutionId,
        letter: &Letter,
        handled: &Handled,
    ) -> Outcome {
        let Deed::Begin { request, depth } = &handled.deed else {
            return self.not_done(row.key, handled, &Failure::NoExecution(to.to_string()));
        };
        let outcome = match start_of(world, to, letter, handled, request, *depth) {
            Ok(work) => self.start(world, &work),
            Err(failure) => Outcome::Answer(Err(failure)),
        };
        match outcome {
            Outcome::Answer(Ok(_)) => self.done_with(row.key),
            Outcome::Answer(Err(failure)) if is_lasting(&failure) => {
                self.not_done(row.key, handled, &failure)
            }
            // Something could not be read: the row stays, and will be offered again.
            outcome => outcome,
        }
    }

    /// Told to whoever reads the log, and to nobody again.
    pub(crate) fn not_done(
        &mut self,
        key: MessageKey,
        handled: &Handled,
        why: &Failure,
    ) -> Outcome {
        let Handled { handler, event, message, .. } = handled;
        tracing::warn!(handler, event, %message, %why, NOT_DONE);
        self.done_with(key)
    }

    fn send(&mut self, row: MessageRow) {
        self.sent.push(Sending::new(row.key, row.to.clone()));
        self.writes.messages.insert(row.key, Some(row));
    }
}

const NOT_DONE: &str = "an action of an event handler was not done";

fn start_of(
    world: &World,
    id: ExecutionId,
    letter: &Letter,
    handled: &Handled,
    request: &StartWorkflowRequest,
    depth: u32,
) -> Result<StartWork, Failure> {
    let found = world.definitions.for_start(&request.name, request.version)?;
    let definition = found.ok_or_else(|| {
        let version = request.version.map_or("null".to_owned(), |version| version.to_string());
        let name = &request.name;
        let message = format!("No such workflow defined. name={name}, version={version}");
        Failure::from(Rejection::NotFound(message))
    })?;
    let mut start = Start {
        definition: definition.digest(),
        input: Slot(0),
        correlation_id: request.correlation_id.clone(),
        priority: request.priority,
        task_to_domain: request.task_to_domain.clone().unwrap_or_default(),
        depth,
        event: Some(handled.event.clone()),
        ..Start::default()
    };
    let input = letter.payloads.first().cloned().unwrap_or_default();
    let key = key_of(request, &definition, &start, &input)?;
    start.idempotency_key = key.as_ref().map(|key| key.key.clone());
    let (principal, event_id) = (handled.actor(), handled.event_id());
    Ok(StartWork { id, definition, found_in: None, start, input, key, principal, event_id })
}

/// The key it brings, else the one its definition computes.
fn key_of(
    request: &StartWorkflowRequest,
    definition: &Pinned,
    start: &Start,
    input: &Payload,
) -> Result<Option<StartKey>, Failure> {
    let (key, strategy) = (request.idempotency_key.clone(), request.idempotency_strategy);
    let key = StartKey::chosen(definition.definition(), start, input, key, strategy);
    let key = key.map_err(|fault| Rejection::Invalid(fault.to_string()))?;
    Ok(key.map(|key| key.comparing(definition.definition(), input, false)))
}

/// Trying again would come to the same.
fn is_lasting(failure: &Failure) -> bool {
    match failure {
        Failure::NoExecution(_)
        | Failure::NoDefinition(_)
        | Failure::Rejected(_)
        | Failure::Conflict { .. }
        | Failure::Refused(_)
        | Failure::KeyReused { .. }
        | Failure::Fault(_) => true,
        Failure::Missing(_)
        | Failure::Exists(_)
        | Failure::Changed(_)
        | Failure::Parked(_)
        | Failure::Sealed(_)
        | Failure::Outdated
        | Failure::Busy
        | Failure::Unavailable
        | Failure::Store(_) => false,
    }
}
