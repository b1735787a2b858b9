//! # The meter: a check that costs too much is given up
//!
//! A schema of a few lines can ask for more work than anybody can wait for: parts that refer twice to
//! the next, thirty times over. So a check reads its value through [`Counted`], every look at which
//! is a step, and the step that is one too many unwinds the whole check. Steps are counted, not
//! timed, so a verdict is the same whenever it is made again.

use std::any::Any;
use std::borrow::Cow;
use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};

use jsonschema::JsonType;
use jsonschema::json::{Array, Json, Node, NodeIdentity, Object, SerdeJson};
use serde_json::{Map, Number, Value, map};

use super::patterns::Price;

/// Of a text, read for one step.
pub(super) const BYTES_PER_STEP: usize = 16;

/// A check goes as deep as value and schema together lead it; threads have four times as much.
const STACK_BYTES_MAX: usize = 512 * 1024;

thread_local! {
    /// What the check of this thread may still cost, and where its stack began. Nodes cannot carry
    /// it: the name of a property becomes one without any other at hand.
    static METER: Cell<(Budget, usize)> =
        const { Cell::new((Budget { steps: 0, names: Price::PLAIN }, 0)) };
}

/// What a check may cost.
#[derive(Clone, Copy)]
pub(super) struct Budget {
    pub(super) steps: usize,
    /// What the name of a member costs.
    pub(super) names: Price,
}

/// What unwinds a check; nobody else ever sees it.
struct Spent;

/// What the check says, unless it takes more steps than these.
pub(super) fn within<T>(budget: Budget, check: impl FnOnce() -> T) -> Option<T> {
    METER.set((budget, stack_address()));
    // A check changes nothing that outlives it.
    let thrown = match catch_unwind(AssertUnwindSafe(check)) {
        Ok(said) => return Some(said),
        Err(thrown) => thrown,
    };
    let thrown: Box<dyn Any + Send> = match thrown.downcast::<Spent>() {
        Ok(_) => return None,
        Err(other) => other,
    };
    resume_unwind(thrown)
}

pub(super) fn pay(steps: usize) {
    let (left, begin) = METER.get();
    if steps > left.steps || begin.abs_diff(stack_address()) > STACK_BYTES_MAX {
        resume_unwind(Box::new(Spent)); // Not a panic: no hook hears of it.
    }
    METER.set((Budget { steps: left.steps - steps, ..left }, begin));
}

#[inline(never)]
fn stack_address() -> usize {
    let here = 0_u8;
    std::ptr::from_ref(&here).addr()
}

fn price_of_text(text: &str) -> usize {
    1 + text.len() / BYTES_PER_STEP
}

/// What it costs to look at all of a value.
fn price(value: &Value) -> usize {
    match value {
        Value::Null | Value::Bool(_) | Value::Number(_) => 1,
        Value::String(text) => price_of_text(text),
        Value::Array(items) => items.iter().map(price).sum::<usize>() + 1,
        Value::Object(members) => {
            members.iter().map(|(name, value)| price_of_text(name) + price(value)).sum::<usize>()
                + 1
        }
    }
}

/// JSON that is paid for.
pub(super) struct Metered;

#[derive(Clone, Copy)]
pub(super) struct Counted<'a>(pub(super) &'a Value);

pub(super) struct CountedObject<'a>(&'a Map<String, Value>);

pub(super) struct CountedArray<'a>(&'a [Value]);

pub(super) struct Members<'a>(map::Iter<'a>);

pub(super) struct Elements<'a>(std::slice::Iter<'a, Value>);

impl Json for Metered {
    type Node<'a> = Counted<'a>;
    type PreparedKey = String;
    type StringBuffer = Value;

    fn prepare_key(key: &str) -> String {
        key.to_owned()
    }

    fn with_string_node<T>(
        buffer: &mut Value,
        string: &str,
        check: impl FnOnce(Counted<'_>) -> T,
    ) -> T {
        *buffer = Value::String(string.to_owned());
        check(Counted(buffer))
    }
}

impl<'a> Node<'a, Metered> for Counted<'a> {
    type Object = CountedObject<'a>;
    type Array = CountedArray<'a>;
    type Number = &'a Number;

    fn as_object(&self) -> Option<CountedObject<'a>> {
        pay(1);
        self.0.as_object().map(CountedObject)
    }

    fn as_array(&self) -> Option<CountedArray<'a>> {
        pay(1);
        self.0.as_array().map(|items| CountedArray(items))
    }

    fn as_string(&self) -> Option<Cow<'a, str>> {
        let text = self.0.as_str();
        pay(text.map_or(1, price_of_text));
        text.map(Cow::Borrowed)
    }

    fn as_number(&self) -> Option<&'a Number> {
        pay(1);
        self.0.as_number()
    }

    fn as_boolean(&self) -> Option<bool> {
        pay(1);
        self.0.as_bool()
    }

    fn is_null(&self) -> bool {
        pay(1);
        self.0.is_null()
    }

    fn json_type(&self) -> JsonType {
        pay(1);
        Node::<SerdeJson>::json_type(&self.0)
    }

    fn equals_value(&self, expected: &Value) -> bool {
        pay(price(self.0));
        Node::<SerdeJson>::equals_value(&self.0, expected)
    }

    fn to_value(&self) -> Cow<'a, Value> {
        Cow::Borrowed(self.0)
    }

    fn identity(&self) -> Option<NodeIdentity> {
        Node::<SerdeJson>::identity(&self.0)
    }
}

impl<'a> Object<'a, Metered> for CountedObject<'a> {
    type Node = Counted<'a>;
    type MemberName = &'a str;
    type MembersIter = Members<'a>;

    fn len(&self) -> usize {
        self.0.len()
    }

    fn get(&self, key: &String) -> Option<Counted<'a>> {
        pay(1);
        self.0.get(key).map(Counted)
    }

    fn members(&self) -> Members<'a> {
        Members(self.0.iter())
    }
}

impl<'a> Array<'a, Metered> for CountedArray<'a> {
    type Node = Counted<'a>;
    type ElementsIter = Elements<'a>;

    fn len(&self) -> usize {
        self.0.len()
    }

    fn elements(&self) -> Elements<'a> {
        Elements(self.0.iter())
    }

    fn is_unique(&self) -> bool {
        pay(self.0.iter().map(price).sum());
        Array::<SerdeJson>::is_unique(&self.0)
    }
}

impl<'a> Iterator for Members<'a> {
    type Item = (&'a str, Counted<'a>);

    fn next(&mut self) -> Option<Self::Item> {
        let (name, value) = self.0.next()?;
        let (budget, _) = METER.get();
        pay(budget.names.steps(name.len())); // Names are compared, and matched against patterns.
        Some((name, Counted(value)))
    }
}

impl<'a> Iterator for Elements<'a> {
    type Item = Counted<'a>;

    fn next(&mut self) -> Option<Self::Item> {
        pay(1);
        self.0.next().map(Counted)
    }
}
