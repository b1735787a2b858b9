//! # Operators: comparisons and arithmetic, as JavaScript has them
//!
//! An object or a list is compared by identity; where it would be converted the program is not
//! plain.

use std::cmp::Ordering;
use std::rc::Rc;

use super::Obstacle;
use super::tree::{Binary, Unary};
use super::value::{CONVERSION, Value};

/// A longer text is not made here.
const TEXT_BYTES_MAX: usize = 64 * 1024;

pub(super) fn unary<'a>(operator: Unary, of: &Value<'a>) -> Result<Value<'a>, Obstacle> {
    Ok(match operator {
        Unary::Not => Value::Bool(!of.is_truthy()),
        Unary::Minus => Value::Number(-of.to_number()?),
        Unary::Plus => Value::Number(of.to_number()?),
        Unary::TypeOf => Value::Text(of.type_name().into()),
    })
}

pub(super) fn binary<'a>(
    operator: Binary,
    left: &Value<'a>,
    right: &Value<'a>,
) -> Result<Value<'a>, Obstacle> {
    let calculated = |of: fn(f64, f64) -> f64| -> Result<Value<'a>, Obstacle> {
        let left = left.to_number()?;
        Ok(Value::Number(of(left, right.to_number()?)))
    };
    Ok(match operator {
        Binary::StrictEqual => Value::Bool(is_same(left, right)),
        Binary::StrictUnequal => Value::Bool(!is_same(left, right)),
        Binary::Equal => Value::Bool(is_equal(left, right)?),
        Binary::Unequal => Value::Bool(!is_equal(left, right)?),
        Binary::Less => Value::Bool(order(left, right)?.is_some_and(Ordering::is_lt)),
        Binary::LessOrEqual => Value::Bool(order(left, right)?.is_some_and(Ordering::is_le)),
        Binary::Greater => Value::Bool(order(left, right)?.is_some_and(Ordering::is_gt)),
        Binary::GreaterOrEqual => Value::Bool(order(left, right)?.is_some_and(Ordering::is_ge)),
        Binary::Add => return sum(left, right),
        Binary::Subtract => return calculated(|left, right| left - right),
        Binary::Multiply => return calculated(|left, right| left * right),
        Binary::Divide => return calculated(|left, right| left / right),
        Binary::Remainder => return calculated(|left, right| left % right),
    })
}

/// `===`.
fn is_same(left: &Value<'_>, right: &Value<'_>) -> bool {
    match (left, right) {
        (Value::Undefined, Value::Undefined) | (Value::Null, Value::Null) => true,
        (Value::Bool(left), Value::Bool(right)) => left == right,
        #[expect(clippy::float_cmp, reason = "that is what the operator does")]
        (Value::Number(left), Value::Number(right)) => left == right,
        (Value::Text(left), Value::Text(right)) => left == right,
        (Value::Given(left), Value::Given(right)) => std::ptr::eq(*left, *right),
        (Value::List(left), Value::List(right)) => Rc::ptr_eq(left, right),
        (Value::Object(left), Value::Object(right)) => Rc::ptr_eq(left, right),
        _ => false,
    }
}

/// `==`: null and undefined are equal, and what is not of one type is compared as numbers.
#[expect(clippy::float_cmp, reason = "that is what the operator does")]
fn is_equal(left: &Value<'_>, right: &Value<'_>) -> Result<bool, Obstacle> {
    if left.is_nothing() || right.is_nothing() {
        return Ok(left.is_nothing() && right.is_nothing());
    }
    if left.type_name() == right.type_name() {
        return Ok(is_same(left, right));
    }
    let left = left.to_number()?;
    Ok(left == right.to_number()?)
}

/// None: one of them is not a number.
fn order(left: &Value<'_>, right: &Value<'_>) -> Result<Option<Ordering>, Obstacle> {
    if let (Value::Text(left), Value::Text(right)) = (left, right) {
        return Ok(Some(left.encode_utf16().cmp(right.encode_utf16())));
    }
    let left = left.to_number()?;
    Ok(left.partial_cmp(&right.to_number()?))
}

fn sum<'a>(left: &Value<'a>, right: &Value<'a>) -> Result<Value<'a>, Obstacle> {
    let is_object = |value: &Value<'_>| value.type_name() == "object" && !value.is_nothing();
    if is_object(left) || is_object(right) {
        return Err(CONVERSION);
    }
    if !matches!(left, Value::Text(_)) && !matches!(right, Value::Text(_)) {
        return Ok(Value::Number(left.to_number()? + right.to_number()?));
    }
    let text = left.to_text()?.into_owned() + &right.to_text()?;
    match text.len() > TEXT_BYTES_MAX {
        true => Err(Obstacle::NotPlain("a text this long")),
        false => Ok(Value::text(text)),
    }
}
