//! # Functions: what may stand at the end of a path
//!
//! A function sees the output of the path before it: a value, or the list of everything found. Those
//! that calculate give a double, as in Jayway, and look at numbers only. What has no answer is null.

use std::borrow::Cow;

use super::json::{Json, Number};
use super::position::position;

#[derive(Clone, Copy, Debug)]
pub(super) enum Function {
    Length,
    Min,
    Max,
    Average,
    Sum,
    Deviation,
    Keys,
    Concat,
    Append,
    First,
    Last,
    Index,
}

/// What the path before a function found.
pub(super) enum Input<'v> {
    List(Vec<Cow<'v, Json>>),
    Other(Cow<'v, Json>),
}

impl<'v> Input<'v> {
    pub(super) fn of(value: Cow<'v, Json>) -> Self {
        match value {
            Cow::Borrowed(Json::Array(items)) => {
                Self::List(items.iter().map(Cow::Borrowed).collect())
            }
            Cow::Owned(Json::Array(items)) => {
                Self::List(items.into_iter().map(Cow::Owned).collect())
            }
            Cow::Borrowed(_) | Cow::Owned(_) => Self::Other(value),
        }
    }

    /// What a copy of it takes.
    pub(super) fn nodes(&self) -> usize {
        match self {
            Self::List(items) => items.iter().map(|item| item.size().nodes).sum(),
            Self::Other(value) => value.size().nodes,
        }
    }

    fn list(self) -> Option<Vec<Cow<'v, Json>>> {
        match self {
            Self::List(items) => Some(items),
            Self::Other(_) => None,
        }
    }
}

impl Function {
    pub(super) fn named(name: &str) -> Option<Self> {
        Some(match name {
            "length" | "size" => Self::Length,
            "min" => Self::Min,
            "max" => Self::Max,
            "avg" => Self::Average,
            "sum" => Self::Sum,
            "stddev" => Self::Deviation,
            "keys" => Self::Keys,
            "concat" => Self::Concat,
            "append" => Self::Append,
            "first" => Self::First,
            "last" => Self::Last,
            "index" => Self::Index,
            _ => return None,
        })
    }

    /// What comes of it is made of what it was given.
    pub(super) fn copies(self) -> bool {
        matches!(self, Self::Concat | Self::Append | Self::Keys)
    }

    pub(super) fn apply<'v>(self, input: Input<'v>, arguments: &[&Json]) -> Option<Cow<'v, Json>> {
        let made = match self {
            Self::Length => length(&input, arguments)?,
            Self::Min | Self::Max | Self::Average | Self::Sum | Self::Deviation => {
                self.calculated(&numbers(&input, arguments))?
            }
            Self::Keys => keys(&input)?,
            Self::Concat => Json::String(concatenated(&input, arguments).into()),
            Self::Append => return Some(appended(input, arguments)),
            Self::First => return at(input.list()?, 0),
            Self::Last => return at(input.list()?, -1),
            Self::Index => return at(input.list()?, whole(arguments)?),
        };
        Some(Cow::Owned(made))
    }

    /// None without numbers, and for what is not a number itself.
    fn calculated(self, numbers: &[f64]) -> Option<Json> {
        if numbers.is_empty() {
            return None;
        }
        #[expect(clippy::cast_precision_loss, reason = "nobody lists 2^52 numbers")]
        let count = numbers.len() as f64;
        let sum: f64 = numbers.iter().sum();
        let mean = sum / count;
        let number = match self {
            Self::Min => numbers.iter().copied().fold(f64::INFINITY, f64::min),
            Self::Max => numbers.iter().copied().fold(f64::NEG_INFINITY, f64::max),
            Self::Average => mean,
            Self::Sum => sum,
            Self::Deviation => {
                let squares: f64 = numbers.iter().map(|number| (number - mean).powi(2)).sum();
                (squares / count).sqrt()
            }
            Self::Length
            | Self::Keys
            | Self::Concat
            | Self::Append
            | Self::First
            | Self::Last
            | Self::Index => return None,
        };
        Number::of(number).map(Json::Number)
    }
}

/// Of a list or an object; of the argument, if there is one.
fn length(input: &Input<'_>, arguments: &[&Json]) -> Option<Json> {
    let of =
        |value: &Json| value.as_list().map(<[Json]>::len).or(value.as_object().map(|o| o.len()));
    let length = match (arguments, input) {
        ([argument, ..], _) => of(argument)?,
        ([], Input::List(items)) => items.len(),
        ([], Input::Other(value)) => of(value)?,
    };
    i64::try_from(length).ok().map(|length| Json::Number(Number::Whole(length)))
}

fn numbers(input: &Input<'_>, arguments: &[&Json]) -> Vec<f64> {
    let mut numbers = Vec::new();
    let mut add = |value: &Json| {
        if let Json::Number(number) = value {
            numbers.push(number.as_f64());
        }
    };
    if let Input::List(items) = input {
        items.iter().for_each(|item| add(item));
    }
    for argument in arguments {
        add(argument);
        argument.as_list().into_iter().flatten().for_each(&mut add);
    }
    numbers
}

fn keys(input: &Input<'_>) -> Option<Json> {
    let Input::Other(value) = input else { return None };
    let keys = value.as_object()?.iter().map(|(key, _)| Json::String(key.to_owned().into()));
    Some(Json::Array(keys.collect()))
}

/// The strings of a list, or the string itself; then every argument that is not null.
fn concatenated(input: &Input<'_>, arguments: &[&Json]) -> String {
    let mut text = String::new();
    let mut add = |value: &Json| {
        if let Json::String(part) = value {
            text.push_str(part);
        }
    };
    match input {
        Input::List(items) => items.iter().for_each(|item| add(item)),
        Input::Other(value) => add(value),
    }
    for argument in arguments.iter().filter(|argument| !argument.is_null()) {
        match argument {
            Json::Array(items) => items.iter().for_each(|item| text.push_str(&plain(item))),
            Json::Null | Json::Bool(_) | Json::Number(_) | Json::String(_) | Json::Object(_) => {
                text.push_str(&plain(argument));
            }
        }
    }
    text
}

fn plain(value: &Json) -> Cow<'_, str> {
    match value {
        Json::String(text) => Cow::Borrowed(text),
        Json::Null | Json::Bool(_) | Json::Number(_) | Json::Array(_) | Json::Object(_) => {
            Cow::Owned(value.to_text())
        }
    }
}

/// A list with the arguments behind it; anything else stays what it is.
fn appended<'v>(input: Input<'v>, arguments: &[&Json]) -> Cow<'v, Json> {
    match input {
        Input::Other(value) => value,
        Input::List(items) => {
            let items = items.into_iter().map(Cow::into_owned);
            let more = arguments.iter().map(|argument| (*argument).clone());
            Cow::Owned(Json::Array(items.chain(more).collect()))
        }
    }
}

fn whole(arguments: &[&Json]) -> Option<i64> {
    match arguments.first()? {
        Json::Number(number) => number.as_i64(),
        Json::Null | Json::Bool(_) | Json::String(_) | Json::Array(_) | Json::Object(_) => None,
    }
}

fn at<'v>(mut items: Vec<Cow<'v, Json>>, index: i64) -> Option<Cow<'v, Json>> {
    let at = position(index, items.len())?;
    Some(items.swap_remove(at))
}
