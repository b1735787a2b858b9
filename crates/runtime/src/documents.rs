//! # Documents in a round: definitions are registered, replaced, deleted
//!
//! All of one request or none of it.

use semel_store::Row;

use crate::failure::Failure;
use crate::round::{Outcome, Round};
use crate::work::{Answer, DocumentRule, DocumentWrite};

impl Round {
    pub(crate) fn documents(&mut self, writes: &[DocumentWrite]) -> Outcome {
        for write in writes {
            if self.held.skipped.contains(&Row::Document(write.key.clone())) {
                return Outcome::Defer;
            }
            let written = self.writes.documents.get(&write.key);
            let found = written.or_else(|| self.held.documents.get(&write.key));
            let exists = found.is_some_and(Option::is_some);
            let key = || write.key.clone();
            match &write.rule {
                DocumentRule::MustBeAbsent if exists => {
                    return Outcome::Answer(Err(Failure::Exists(key())));
                }
                DocumentRule::MustExist if !exists => {
                    return Outcome::Answer(Err(Failure::Missing(key())));
                }
                DocumentRule::Unchanged(read)
                    if found.and_then(Option::as_ref) != read.as_ref() =>
                {
                    return Outcome::Answer(Err(Failure::Changed(key())));
                }
                DocumentRule::Any
                | DocumentRule::MustBeAbsent
                | DocumentRule::MustExist
                | DocumentRule::Unchanged(_) => {}
            }
        }
        for write in writes {
            let found = self.writes.documents.get(&write.key);
            let found = found.or_else(|| self.held.documents.get(&write.key));
            // Said twice is said once, and costs no commit.
            if found != Some(&write.body) {
                self.writes.documents.insert(write.key.clone(), write.body.clone());
            }
        }
        Outcome::Answer(Ok(Answer::Noted))
    }
}
