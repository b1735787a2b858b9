//! # Complaints: what a script threw, in words
//!
//! The engine's own words and the line. Whoever reaches for what a script does not have here is
//! told what there is instead.

use rquickjs::{Ctx, Object, Type, Value};
use semel_engine::Verdict;

use super::FILE_NAME;
use crate::budget::Budget;
use crate::reason;

const PLAIN: &str =
    "scripts are plain JavaScript; use its own Date, Math, JSON, Map and Set instead";
const ALONE: &str = "a script is complete in itself; put what it needs into its text or its input";
const SILENT: &str = "a script says nothing but its result; console.log is accepted and discarded";
const OUTSIDE: &str = "a script reaches nothing outside; use an HTTP task and read its output";
const TIMELESS: &str = "a script does not wait; use a WAIT task";

/// What other hosts of JavaScript have.
const ELSEWHERE: &[(&str, &str)] = &[
    ("Java", PLAIN),
    ("java", PLAIN),
    ("javax", PLAIN),
    ("Packages", PLAIN),
    ("JavaImporter", PLAIN),
    ("BigInt", PLAIN),
    ("load", ALONE),
    ("loadWithNewGlobal", ALONE),
    ("require", ALONE),
    ("module", ALONE),
    ("process", ALONE),
    ("print", SILENT),
    ("fetch", OUTSIDE),
    ("XMLHttpRequest", OUTSIDE),
    ("setTimeout", TIMELESS),
    ("setInterval", TIMELESS),
];

/// The verdict on a script that ended with this error.
pub(super) fn verdict(ctx: &Ctx<'_>, error: rquickjs::Error, budget: &Budget) -> Verdict {
    match error {
        rquickjs::Error::Exception => of_thrown(&ctx.catch(), budget),
        rquickjs::Error::Allocation | rquickjs::Error::Unknown => reason::out_of_memory(budget),
        rquickjs::Error::InvalidString(_) => reason::failed("the script contains a NUL character"),
        other => reason::failed(other.to_string()),
    }
}

fn of_thrown(thrown: &Value<'_>, budget: &Budget) -> Verdict {
    let Some(error) = thrown.as_object().filter(|_| thrown.is_error()) else {
        return of_value(thrown, budget);
    };
    let (name, message) = (property(error, "name"), property(error, "message"));
    match (name.as_str(), message.as_str()) {
        ("InternalError", text) if text.starts_with("out of memory") => {
            return reason::out_of_memory(budget);
        }
        ("RangeError", "Maximum call stack size exceeded") => {
            return reason::too_deep_a_stack(budget);
        }
        _ => {}
    }
    let line = line(&property(error, "stack"));
    let place = line.map(|line| format!(" at line {line}")).unwrap_or_default();
    let missing = message.strip_suffix(" is not defined").unwrap_or_default();
    match ELSEWHERE.iter().find(|(name, _)| *name == missing) {
        Some((name, advice)) => reason::failed(format!("{name} is not available{place}: {advice}")),
        None if message.is_empty() => reason::failed(format!("{name}{place}")),
        None => reason::failed(format!("{name}: {message}{place}")),
    }
}

/// Anything can be thrown. When there is no room left to make an error, the engine throws null, or
/// nothing at all.
fn of_value(thrown: &Value<'_>, budget: &Budget) -> Verdict {
    if thrown.is_null() {
        return reason::null_or_out_of_memory(budget);
    }
    if thrown.type_of() == Type::Uninitialized {
        return reason::out_of_memory(budget);
    }
    let text = match thrown.as_string() {
        Some(text) => text.to_string().ok(),
        None => json(thrown),
    };
    reason::failed(text.unwrap_or_else(|| "it threw what has no text".to_owned()))
}

fn json(thrown: &Value<'_>) -> Option<String> {
    thrown.ctx().json_stringify(thrown.clone()).ok()??.to_string().ok()
}

/// A property of an error, if it is a text; a getter that throws has none.
fn property(error: &Object<'_>, name: &str) -> String {
    let value = error.get::<_, Value>(name).ok();
    value.and_then(|value| value.as_string()?.to_string().ok()).unwrap_or_default()
}

/// The first line of the script in this stack: `    at name (script:3:7)`.
fn line(stack: &str) -> Option<u32> {
    stack.split(&format!("{FILE_NAME}:")).nth(1)?.split(':').next()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_line_is_that_of_the_script() {
        assert_eq!(
            line("    at native\n    at f (script:3:7)\n    at <eval> (script:9:1)"),
            Some(3)
        );
        assert_eq!(line("    at script:12\n"), None);
        assert_eq!(line(""), None);
    }
}
