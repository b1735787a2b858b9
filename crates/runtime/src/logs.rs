//! # Logs: what workers write about their tasks

use semel_store::{LogLine, Place};

use crate::failure::Failure;
use crate::round::{Outcome, Round};
use crate::work::Answer;
use crate::world::World;

/// Of a longer log the last lines are told.
const LOG_LINES_MAX: usize = 1_000;

impl Round {
    /// Nothing is kept of a run that is gone.
    pub(crate) fn log(&mut self, line: &LogLine) -> Outcome {
        match self.head(line.place.execution) {
            Ok(_) => self.writes.logs.push(line.clone()),
            Err(Outcome::Answer(_)) => {}
            Err(outcome) => return outcome,
        }
        Outcome::Answer(Ok(Answer::Noted))
    }
}

impl World {
    /// What was written about a task, oldest first.
    pub fn logs(&self, place: Place) -> Result<Vec<LogLine>, Failure> {
        Ok(self.store.logs(place, LOG_LINES_MAX)?)
    }
}
