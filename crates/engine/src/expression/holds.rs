//! # Holding: whether a filter is true of an element
//!
//! Jayway's rules: a number and a string that reads as that number are equal, objects and lists are
//! compared as a whole, and what cannot be compared is not so.

use std::borrow::Cow;
use std::cmp::Ordering;

use super::filter::{Filter, Operand, Operator};
use super::json::{Json, Number};
use super::pattern::Pattern;
use super::select::{Budget, Search};

impl Search<'_, '_> {
    /// None is over budget.
    pub(super) fn holds(&mut self, filter: &Filter, here: &Json) -> Option<bool> {
        self.budget.spend(1)?;
        match filter {
            Filter::Any(parts) => self.decide(parts, here, true),
            Filter::Every(parts) => self.decide(parts, here, false),
            Filter::Not(part) => Some(!self.holds(part, here)?),
            Filter::Exists(Operand::Here(path)) => {
                let mut search = Search { known: self.known, budget: self.budget };
                let answer = search.answer(&path.steps, path.call.as_deref(), Some(here))?;
                Some(answer.exists())
            }
            Filter::Exists(Operand::Document(at)) => Some(self.known[*at].exists),
            Filter::Exists(Operand::Literal(_) | Operand::Pattern(_)) => Some(false),
            Filter::Compare(left, operator, right) => self.compare(left, *operator, right, here),
        }
    }

    /// The first part that is `wanted` decides.
    fn decide(&mut self, parts: &[Filter], here: &Json, wanted: bool) -> Option<bool> {
        for part in parts {
            if self.holds(part, here)? == wanted {
                return Some(wanted);
            }
        }
        Some(!wanted)
    }

    fn compare(
        &mut self,
        left: &Operand,
        operator: Operator,
        right: &Operand,
        here: &Json,
    ) -> Option<bool> {
        match (left, right) {
            (Operand::Pattern(_), Operand::Pattern(_)) => Some(false),
            (Operand::Pattern(pattern), other) | (other, Operand::Pattern(pattern)) => {
                let text = self.value(other, here)?;
                let is_asked = matches!(operator, Operator::Matches);
                Some(is_asked && matches(pattern, text.as_deref(), self.budget)?)
            }
            (
                Operand::Here(_) | Operand::Document(_) | Operand::Literal(_),
                Operand::Here(_) | Operand::Document(_) | Operand::Literal(_),
            ) => {
                let left = self.value(left, here)?;
                let right = self.value(right, here)?;
                operator.holds(left.as_deref(), right.as_deref(), self.budget)
            }
        }
    }

    /// None inside is undefined.
    #[expect(clippy::option_option, reason = "undefined is not the same as over budget")]
    fn value<'a>(&mut self, operand: &'a Operand, here: &'a Json) -> Option<Option<Cow<'a, Json>>>
    where
        Self: 'a,
    {
        match operand {
            Operand::Here(path) => {
                let mut search = Search { known: self.known, budget: self.budget };
                let answer = search.answer(&path.steps, path.call.as_deref(), Some(here))?;
                search.gather(answer)
            }
            Operand::Document(at) => Some(self.known[*at].value.as_deref().map(Cow::Borrowed)),
            Operand::Literal(value) => Some(Some(Cow::Borrowed(value))),
            Operand::Pattern(_) => Some(None),
        }
    }
}

impl Operator {
    fn holds(self, left: Option<&Json>, right: Option<&Json>, budget: &mut Budget) -> Option<bool> {
        let is_not = match self {
            Self::Unequal => Some(Self::Equal),
            Self::NotSame => Some(Self::Same),
            Self::NotIn => Some(Self::In),
            Self::Equal
            | Self::Same
            | Self::Less
            | Self::LessOrEqual
            | Self::Greater
            | Self::GreaterOrEqual
            | Self::Matches
            | Self::In
            | Self::SubsetOf
            | Self::AnyOf
            | Self::NoneOf
            | Self::All
            | Self::Contains
            | Self::Size
            | Self::Empty => None,
        };
        if let Some(operator) = is_not {
            return Some(!operator.holds(left, right, budget)?);
        }
        match (left, right) {
            (Some(left), Some(right)) => self.of_both(left, right, budget),
            (None, _) | (_, None) => Some(false),
        }
    }

    fn of_both(self, left: &Json, right: &Json, budget: &mut Budget) -> Option<bool> {
        budget.spend(compared_nodes(left, right))?;
        let ordering = || order(left, right);
        Some(match self {
            Self::Equal => return equal(left, right, Coerce::Yes, budget),
            Self::Same => return equal(left, right, Coerce::No, budget),
            Self::Less => ordering() == Some(Ordering::Less),
            Self::LessOrEqual => ordering().is_some_and(Ordering::is_le),
            Self::Greater => ordering() == Some(Ordering::Greater),
            Self::GreaterOrEqual => ordering().is_some_and(Ordering::is_ge),
            Self::In => return contains(right.as_list(), left, budget),
            Self::Contains => match (left, right) {
                (Json::String(text), Json::String(part)) => {
                    budget.spend(1 + text.len() / 64)?;
                    text.contains(&**part)
                }
                _ => return contains(left.as_list(), right, budget),
            },
            Self::SubsetOf => return within(left, right, budget),
            Self::All => return within(right, left, budget),
            Self::AnyOf => return meets(left, right, budget).map(|meets| meets == Some(true)),
            Self::NoneOf => return meets(left, right, budget).map(|meets| meets == Some(false)),
            Self::Size => is_size(left, right),
            Self::Empty => {
                is_empty(left).is_some_and(|empty| matches!(right, Json::Bool(b) if *b == empty))
            }
            Self::Matches | Self::Unequal | Self::NotSame | Self::NotIn => false,
        })
    }
}

/// Whether a number and a string may be equal.
#[derive(Clone, Copy)]
enum Coerce {
    Yes,
    No,
}

/// What comparing two values costs beyond the first look: texts are read as far as they are alike,
/// digits are read as numbers, and so is a text beside a number.
fn compared_nodes(left: &Json, right: &Json) -> usize {
    match (left, right) {
        (Json::String(left), Json::String(right)) => left.len().min(right.len()) / 64,
        (Json::Number(left), Json::Number(right)) => (left.digits() + right.digits()) / 16,
        (Json::Number(number), Json::String(text)) | (Json::String(text), Json::Number(number)) => {
            (text.len() + number.digits()) / 16
        }
        (_, _) => 0,
    }
}

fn equal(left: &Json, right: &Json, coerce: Coerce, budget: &mut Budget) -> Option<bool> {
    budget.spend(1 + compared_nodes(left, right))?;
    Some(match (left, right, coerce) {
        (Json::Null, Json::Null, _) => true,
        (Json::Bool(left), Json::Bool(right), _) => left == right,
        (Json::String(left), Json::String(right), _) => left == right,
        (Json::Number(left), Json::Number(right), _) => is_equal(left, right),
        (Json::Number(number), Json::String(text), Coerce::Yes)
        | (Json::String(text), Json::Number(number), Coerce::Yes) => {
            Number::read(text).is_some_and(|text| is_equal(number, &text))
        }
        (Json::Array(left), Json::Array(right), _) => {
            if left.len() != right.len() {
                return Some(false);
            }
            for (left, right) in left.iter().zip(right) {
                if !equal(left, right, Coerce::No, budget)? {
                    return Some(false);
                }
            }
            true
        }
        (Json::Object(left), Json::Object(right), _) => {
            if left.len() != right.len() {
                return Some(false);
            }
            for (key, left) in left.iter() {
                let Some(right) = right.get(key) else { return Some(false) };
                if !equal(left, right, Coerce::No, budget)? {
                    return Some(false);
                }
            }
            true
        }
        (_, _, Coerce::Yes | Coerce::No) => false,
    })
}

fn is_equal(left: &Number, right: &Number) -> bool {
    left.order(right) == Some(Ordering::Equal)
}

fn order(left: &Json, right: &Json) -> Option<Ordering> {
    match (left, right) {
        (Json::Number(left), Json::Number(right)) => left.order(right),
        (Json::String(left), Json::String(right)) => Some(left.cmp(right)),
        _ => None,
    }
}

fn contains(list: Option<&[Json]>, value: &Json, budget: &mut Budget) -> Option<bool> {
    for item in list.unwrap_or_default() {
        if equal(value, item, Coerce::Yes, budget)? {
            return Some(true);
        }
    }
    Some(false)
}

/// Whether all of the first list is in the second.
fn within(left: &Json, right: &Json, budget: &mut Budget) -> Option<bool> {
    let (Some(left), Some(right)) = (left.as_list(), right.as_list()) else { return Some(false) };
    for item in left {
        if !contains(Some(right), item, budget)? {
            return Some(false);
        }
    }
    Some(true)
}

/// Whether the two lists share anything; none inside if one is not a list.
#[expect(clippy::option_option, reason = "no lists is not the same as over budget")]
fn meets(left: &Json, right: &Json, budget: &mut Budget) -> Option<Option<bool>> {
    let (Some(left), Some(right)) = (left.as_list(), right.as_list()) else { return Some(None) };
    for item in left {
        if contains(Some(right), item, budget)? {
            return Some(Some(true));
        }
    }
    Some(Some(false))
}

fn is_size(value: &Json, size: &Json) -> bool {
    let length = match value {
        Json::String(text) => text.chars().count(),
        Json::Array(items) => items.len(),
        Json::Null | Json::Bool(_) | Json::Number(_) | Json::Object(_) => return false,
    };
    let Json::Number(size) = size else { return false };
    i64::try_from(length).is_ok_and(|length| is_equal(&Number::Whole(length), size))
}

fn is_empty(value: &Json) -> Option<bool> {
    match value {
        Json::String(text) => Some(text.is_empty()),
        Json::Array(items) => Some(items.is_empty()),
        Json::Object(object) => Some(object.len() == 0),
        Json::Null | Json::Bool(_) | Json::Number(_) => None,
    }
}

/// The text of a value, or of any element of a list.
fn matches(pattern: &Pattern, value: Option<&Json>, budget: &mut Budget) -> Option<bool> {
    let mut test = |value: &Json| {
        let text = match value {
            Json::String(text) => Cow::Borrowed(&**text),
            Json::Number(_) | Json::Bool(_) => Cow::Owned(value.to_text()),
            Json::Null | Json::Array(_) | Json::Object(_) => return Some(false),
        };
        budget.spend(pattern.nodes(&text))?;
        Some(pattern.is_match(&text))
    };
    match value {
        Some(Json::Array(items)) => {
            for item in items {
                if test(item)? {
                    return Some(true);
                }
            }
            Some(false)
        }
        Some(value) => test(value),
        None => Some(false),
    }
}
