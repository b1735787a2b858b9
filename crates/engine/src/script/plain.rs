//! # Plain programs: JavaScript that is computed in the engine
//!
//! Most conditions only read members, compare, calculate and choose. Such a program is plain: its
//! result is computed here, in the decision that needs it, and equals what the script pool would
//! give, byte by byte. Every other program is not plain and becomes a question. A program that
//! would throw is not plain either, so that its error has the words of the pool.
//!
//! **May not:** understand a program by half. What is not known to mean the same in every engine of
//! JavaScript is not plain: method calls, loops, bit operations, powers, regular expressions,
//! conversions of objects, half surrogate pairs.
//!
//! Cost is bounded by the lengths of source, input, texts and result, by the depth of the program
//! and by the number of its steps. There is no clock and no randomness, so every node computes the
//! same result.

mod evaluation;
mod functions;
mod lexer;
mod members;
mod names;
mod number;
mod operators;
mod output;
mod parser;
mod statements;
#[cfg(test)]
mod tests;
mod tree;
mod value;

use std::fmt;

use semel_model::Payload;

use super::Language;
use crate::expression::{Json, disarmed, is_unfinished};
use evaluation::Evaluation;
use parser::Parser;
use tree::{Statement, Tree};

/// A longer program is not plain.
const SOURCE_BYTES_MAX: usize = 16_000;

/// The program of a task with a longer input is not plain: reading it would hold up other runs.
const INPUT_BYTES_MAX: usize = 128 * 1024;

/// A deeper input is not plain. The limits of the pool and of the reader are beyond it.
const INPUT_LEVELS_MAX: usize = 90;

/// Eight bytes of input cost as much as one step.
const BYTES_PER_STEP: usize = 8;

/// A program that was understood as a whole.
#[derive(Debug)]
pub(crate) struct Program {
    tree: Tree,
}

/// Why an understood program has no result here.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Obstacle {
    /// JavaScript would throw: why.
    Throws(String),
    /// The program does what is not computed here.
    NotPlain(&'static str),
}

impl fmt::Display for Obstacle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Throws(why) => f.write_str(why),
            Self::NotPlain(what) => write!(f, "{what} is not understood in this release"),
        }
    }
}

/// A result and what it cost.
pub(crate) struct Computed {
    pub(crate) result: Payload,
    pub(crate) steps: usize,
}

impl Program {
    /// None: the program is not plain.
    pub(crate) fn parse(language: Language, source: &str) -> Option<Self> {
        if source.len() > SOURCE_BYTES_MAX {
            return None;
        }
        Parser::new(lexer::tokens(source)?).program(language).map(|tree| Self { tree })
    }

    /// Every name in it is declared in it.
    pub(crate) fn is_closed(&self) -> bool {
        self.tree.is_closed()
    }

    /// There is no statement that could have a result.
    pub(crate) fn is_empty(&self) -> bool {
        self.tree.statements.iter().all(|it| matches!(it, Statement::Empty))
    }

    /// Whether the result is true, or a number above 0.
    pub(crate) fn is_true(&self, input: &Json) -> Result<bool, Obstacle> {
        let result = Evaluation::new(&self.tree, input).run()?;
        Ok(result.is_yes())
    }

    fn result(&self, input: &Json) -> Result<(Payload, usize), Obstacle> {
        let mut evaluation = Evaluation::new(&self.tree, input);
        let result = evaluation.run()?;
        Ok((output::payload(&result)?, evaluation.steps()))
    }
}

/// What a program gives for this input; none: it is not plain.
pub(crate) fn compute(language: Language, source: &str, input: &Payload) -> Option<Computed> {
    let program = Program::parse(language, source)?;
    let json = readable(input)?;
    let (result, steps) = program.result(&json).ok()?;
    let steps = steps + (source.len() + input.len()) / BYTES_PER_STEP;
    Some(Computed { result: disarmed(&result), steps })
}

/// The input as a program sees it; none: only the pool can show it.
fn readable(input: &Payload) -> Option<Json> {
    let text = input.text();
    let may_have_half_characters = text.contains("\\ud") || text.contains("\\uD");
    if text.len() > INPUT_BYTES_MAX || is_unfinished(input) || may_have_half_characters {
        return None;
    }
    let json = Json::read_data(input);
    (json.size().levels <= INPUT_LEVELS_MAX).then_some(json)
}
