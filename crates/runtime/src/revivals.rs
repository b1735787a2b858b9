//! # Revivals in a round: a child that lives again takes its ancestors with it
//!
//! The whole path is held and decided in one commit, or the request is refused: no child ever lives
//! under a parent that has given it up.

use semel_engine::{Child, Event, Parent};
use semel_model::ExecutionId;
use semel_store::Row;

use crate::draft::{Draft, Hearing};
use crate::failure::Failure;
use crate::round::{Outcome, Round, Want};
use crate::work::EventWork;
use crate::world::World;

/// An ancestor whose task waits for the run below it, and the epoch it will know it by.
#[derive(Clone, Copy)]
pub(crate) struct Ancestor {
    pub(crate) parent: Parent,
    pub(crate) epoch: u32,
}

impl Round {
    /// The head is held, is held by another lane, or is written by this round.
    pub(crate) fn knows_head(&self, id: ExecutionId) -> bool {
        self.held.heads.contains_key(&id)
            || self.held.skipped.contains(&Row::Head(id))
            || self.writes.heads.contains_key(&id)
    }

    /// The ancestors that would live again with this run, the parent first: up to the first that is
    /// gone, has another child there or only watches it, gave it up as optional, or is live already.
    pub(crate) fn path(&self, world: &World, id: ExecutionId) -> Result<Vec<Ancestor>, Outcome> {
        let mut path = Vec::new();
        let (_, mut child) = self.execution(world, id)?;
        while let Some(parent) = child.parent() {
            let above = parent.execution;
            if !self.knows_head(above) {
                return Err(Outcome::Again(Want::Head(above)));
            }
            let found = match self.execution(world, above) {
                Ok((head, _)) if head.parked.is_some() => {
                    let reason = head.parked.unwrap_or_default();
                    return Err(Outcome::Answer(Err(Failure::Parked(reason))));
                }
                Ok((_, found)) => found,
                Err(Outcome::Answer(Err(Failure::NoExecution(_)))) => break,
                Err(outcome) => return Err(outcome),
            };
            let Some(task) =
                found.task(parent.task).filter(|task| !task.replaced && !task.is_passed_over)
            else {
                break;
            };
            if !found.has_place(task) {
                break; // An upgrade has left that step out.
            }
            let given_up = task.status.is_terminal() && task.step.task().optional;
            let is_own = |edge: &Child| edge.run == child.id() && !edge.is_observed;
            let edge = task.child.filter(|edge| is_own(edge) && !given_up);
            let Some(edge) = edge else { break };
            path.push(Ancestor { parent, epoch: edge.epoch + 1 });
            if found.is_live() {
                break;
            }
            child = found;
        }
        Ok(path)
    }

    /// Tells each ancestor of the path that its child lives again.
    pub(crate) fn revive_path(
        &self,
        world: &World,
        draft: &mut Draft,
        work: &EventWork,
        path: &[Ancestor],
    ) -> Result<(), Outcome> {
        for (at, ancestor) in path.iter().enumerate() {
            let (head, execution) = self.execution(world, ancestor.parent.execution)?;
            let event = Event::ChildRevived { task: ancestor.parent.task, epoch: ancestor.epoch };
            let hearing = Hearing {
                event: &event,
                payloads: &[],
                definition: None,
                actor: &work.actor,
                event_id: &work.event_id,
                principal: &head.principal,
                epoch: path.get(at + 1).map(|above| above.epoch),
                wants: None,
            };
            self.hear(world, draft, &execution, &hearing)?;
        }
        Ok(())
    }
}
