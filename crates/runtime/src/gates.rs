//! # Gates in a round: a start beyond the limit
//!
//! Who is refused, who makes room and who takes a later start in is decided on the held record of
//! the gate. A run that makes room ends in the commit that starts the other.

use std::sync::Arc;

use semel_engine::{Event, Execution, Head, Limited, Rejection, Slot};
use semel_model::{ConcurrencyPolicy, ExecutionId};
use semel_store::Row;

use crate::draft::{Draft, Hearing};
use crate::failure::Failure;
use crate::round::{Outcome, Round, Want};
use crate::starts::StartWork;
use crate::work::Answer;
use crate::world::World;

/// Runs that one start ends: there are more only if the limit was lowered.
const ENDED_MAX: usize = 16;

impl Round {
    pub(crate) fn beyond_limit(
        &mut self,
        world: &World,
        work: &StartWork,
        replaces: Option<ExecutionId>,
        limited: &Limited,
    ) -> Outcome {
        // A run that is to be replaced would go on, and its key would stay its own: a start that is
        // sent again would be judged anew. So it is told that nothing was done.
        let may_be_given = replaces.is_none();
        let done = match (limited.policy, limited.blocked_by, limited.successor) {
            (ConcurrencyPolicy::Skip, Some(id), _) if may_be_given => Ok(Answer::Skipped { id }),
            (
                ConcurrencyPolicy::CancelRunning | ConcurrencyPolicy::TerminateRunning,
                Some(id),
                _,
            ) => self.supersede(world, work, replaces, limited.policy, id),
            (ConcurrencyPolicy::Coalesce, _, Some(id)) if may_be_given => {
                self.coalesce(world, work, id)
            }
            (
                ConcurrencyPolicy::Queue
                | ConcurrencyPolicy::Skip
                | ConcurrencyPolicy::Fail
                | ConcurrencyPolicy::CancelRunning
                | ConcurrencyPolicy::TerminateRunning
                | ConcurrencyPolicy::Coalesce,
                ..,
            ) => Err(Outcome::Answer(Err(Rejection::Limited(Box::new(limited.clone())).into()))),
        };
        match done {
            Ok(answer) => {
                match &answer {
                    Answer::Skipped { id } => self.note_given(work, *id, "SKIPPED"),
                    Answer::Coalesced { id } => self.note_given(work, *id, "COALESCED"),
                    _ => {}
                }
                Outcome::Answer(Ok(answer))
            }
            Err(outcome) => outcome,
        }
    }

    /// Ends whoever is in the way, the oldest first, and starts the new run: all of it or none.
    fn supersede(
        &mut self,
        world: &World,
        work: &StartWork,
        replaces: Option<ExecutionId>,
        policy: ConcurrencyPolicy,
        oldest: ExecutionId,
    ) -> Result<Answer, Outcome> {
        let mut draft = Draft::default();
        let mut in_the_way = oldest;
        for _ in 0..ENDED_MAX {
            self.end_for(world, &mut draft, work, policy, in_the_way)?;
            match self.create_in(world, &mut draft, work, replaces) {
                Ok(()) => {
                    self.merge_all(world, draft);
                    return Ok(Answer::Started { id: work.id, created: true, found: None });
                }
                Err(Outcome::Answer(Err(Failure::Rejected(Rejection::Limited(limited))))) => {
                    match limited.blocked_by.filter(|next| *next != in_the_way) {
                        Some(next) => in_the_way = next,
                        None => {
                            return Err(Outcome::Answer(Err(Rejection::Limited(limited).into())));
                        }
                    }
                }
                Err(outcome) => return Err(outcome),
            }
        }
        Err(Outcome::Answer(Err(Failure::Unavailable)))
    }

    fn end_for(
        &self,
        world: &World,
        draft: &mut Draft,
        work: &StartWork,
        policy: ConcurrencyPolicy,
        id: ExecutionId,
    ) -> Result<(), Outcome> {
        let (head, execution) = self.other(world, id)?;
        let compensate = policy == ConcurrencyPolicy::CancelRunning;
        let reason = Some(format!("{policy}: run {} took its place", work.id));
        let hearing = Hearing {
            event: &Event::Terminated { reason, compensate },
            payloads: &[],
            definition: None,
            actor: &work.principal,
            event_id: &work.event_id,
            principal: &head.principal,
            epoch: None,
            wants: None,
        };
        self.hear(world, draft, &execution, &hearing)?;
        self.deliver_births(world, draft)
    }

    /// The run that waits has the later start's input.
    fn coalesce(
        &mut self,
        world: &World,
        work: &StartWork,
        id: ExecutionId,
    ) -> Result<Answer, Outcome> {
        let (head, execution) = self.other(world, id)?;
        let hearing = Hearing {
            event: &Event::Coalesced { input: Slot(0) },
            payloads: std::slice::from_ref(&work.input),
            definition: None,
            actor: &work.principal,
            event_id: &work.event_id,
            principal: &head.principal,
            epoch: None,
            wants: None,
        };
        let mut draft = Draft::default();
        self.hear(world, &mut draft, &execution, &hearing)?;
        self.merge_all(world, draft);
        Ok(Answer::Coalesced { id })
    }

    /// A run that the record names: held, in memory and not parked.
    fn other(&self, world: &World, id: ExecutionId) -> Result<(Head, Arc<Execution>), Outcome> {
        let is_known = self.held.heads.contains_key(&id)
            || self.held.skipped.contains(&Row::Head(id))
            || self.writes.heads.contains_key(&id);
        if !is_known {
            return Err(Outcome::Again(Want::Head(id)));
        }
        let (head, execution) = self.execution(world, id)?;
        match head.parked {
            Some(reason) => Err(Outcome::Answer(Err(Failure::Parked(reason)))),
            None => Ok((head, execution)),
        }
    }
}
