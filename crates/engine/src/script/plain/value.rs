//! # Values: what a plain program computes with
//!
//! What came with the input stays where it is and is borrowed. An object or a list is equal to
//! itself alone, as in JavaScript.

use std::borrow::Cow;
use std::rc::Rc;

use super::{Obstacle, number};
use crate::expression::Json;

#[derive(Clone, Debug)]
pub(super) enum Value<'a> {
    Undefined,
    Null,
    Bool(bool),
    Number(f64),
    Text(Cow<'a, str>),
    /// A list or an object of the input.
    Given(&'a Json),
    List(Rc<Vec<Self>>),
    /// Each key is there once.
    Object(Rc<Vec<(&'a str, Self)>>),
}

pub(super) const CONVERSION: Obstacle = Obstacle::NotPlain("a conversion of an object or a list");

const NUMBER: Obstacle = Obstacle::NotPlain("a number written like this");

impl<'a> Value<'a> {
    pub(super) fn of(json: &'a Json) -> Self {
        match json {
            Json::Null => Self::Null,
            Json::Bool(truth) => Self::Bool(*truth),
            Json::Number(number) => Self::Number(number.as_f64()),
            Json::String(text) => Self::Text(Cow::Borrowed(text)),
            Json::Array(_) | Json::Object(_) => Self::Given(json),
        }
    }

    pub(super) fn text(text: String) -> Self {
        Self::Text(Cow::Owned(text))
    }

    pub(super) fn is_nothing(&self) -> bool {
        matches!(self, Self::Undefined | Self::Null)
    }

    pub(super) fn is_truthy(&self) -> bool {
        match self {
            Self::Undefined | Self::Null => false,
            Self::Bool(truth) => *truth,
            Self::Number(number) => *number != 0.0 && !number.is_nan(),
            Self::Text(text) => !text.is_empty(),
            Self::Given(_) | Self::List(_) | Self::Object(_) => true,
        }
    }

    /// As Conductor converts what a condition gives: only true, and numbers above 0, are yes.
    pub(super) fn is_yes(&self) -> bool {
        match self {
            Self::Bool(truth) => *truth,
            Self::Number(number) => *number > 0.0,
            Self::Undefined
            | Self::Null
            | Self::Text(_)
            | Self::Given(_)
            | Self::List(_)
            | Self::Object(_) => false,
        }
    }

    pub(super) fn type_name(&self) -> &'static str {
        match self {
            Self::Undefined => "undefined",
            Self::Bool(_) => "boolean",
            Self::Number(_) => "number",
            Self::Text(_) => "string",
            Self::Null | Self::Given(_) | Self::List(_) | Self::Object(_) => "object",
        }
    }

    pub(super) fn to_number(&self) -> Result<f64, Obstacle> {
        match self {
            Self::Undefined => Ok(f64::NAN),
            Self::Null => Ok(0.0),
            Self::Bool(truth) => Ok(f64::from(u8::from(*truth))),
            Self::Number(number) => Ok(*number),
            Self::Text(text) => number::of_text(text).ok_or(NUMBER),
            Self::Given(_) | Self::List(_) | Self::Object(_) => Err(CONVERSION),
        }
    }

    pub(super) fn to_text(&self) -> Result<Cow<'a, str>, Obstacle> {
        match self {
            Self::Undefined => Ok(Cow::Borrowed("undefined")),
            Self::Null => Ok(Cow::Borrowed("null")),
            Self::Bool(truth) => Ok(Cow::Borrowed(if *truth { "true" } else { "false" })),
            Self::Number(number) => Ok(Cow::Owned(number::text(*number))),
            Self::Text(text) => Ok(text.clone()),
            Self::Given(_) | Self::List(_) | Self::Object(_) => Err(CONVERSION),
        }
    }

    /// How many steps it takes to look at all of it.
    pub(super) fn weight(&self) -> usize {
        match self {
            Self::Text(text) => text.len() / super::BYTES_PER_STEP,
            Self::Object(entries) => entries.len(),
            Self::Undefined
            | Self::Null
            | Self::Bool(_)
            | Self::Number(_)
            | Self::Given(_)
            | Self::List(_) => 0,
        }
    }
}
