//! # Complaints: what is wrong with a jq program, in words
//!
//! jaq says where by handing back a piece of the source; the line follows from that.

use jaq_core::load::{self, lex, parse};
use jaq_core::{compile, load::Error};
use jaq_json::Val;
use semel_engine::Verdict;

use crate::reason;

/// Of several mistakes the first is told; the others often follow from it.
pub(super) fn of_loading(source: &str, errors: &load::Errors<&str, ()>) -> Verdict {
    let first = errors.first().and_then(|(_, error)| match error {
        Error::Io(errors) => {
            let (path, _) = errors.first()?;
            Some(format!("there are no modules to take {path:?} from"))
        }
        Error::Lex(errors) => errors.first().map(|error| unreadable(source, error)),
        Error::Parse(errors) => errors.first().map(|error| unexpected(source, error)),
    });
    reason::failed(first.unwrap_or_else(|| "the program cannot be read".to_owned()))
}

fn unreadable(source: &str, (expected, rest): &lex::Error<&str>) -> String {
    format!("expected {}, found {}", expected.as_str(), found(source, rest))
}

fn unexpected(source: &str, (expected, rest): &parse::Error<&str>) -> String {
    format!("expected {}, found {}", expected.as_str(), found(source, rest))
}

pub(super) fn of_compiling(source: &str, errors: &compile::Errors<&str, ()>) -> Verdict {
    let first = errors.first().and_then(|(_, errors)| errors.first());
    let told = first.map(|(name, kind)| {
        let kind = kind.as_str();
        format!("there is no {kind} {name}{}", place(source, name))
    });
    reason::failed(told.unwrap_or_else(|| "the program cannot be compiled".to_owned()))
}

/// `error("text")` is told as that text, anything else as JSON.
pub(super) fn of_running(error: jaq_json::Error) -> Verdict {
    match error.into_val() {
        Val::TStr(text) => reason::failed(String::from_utf8_lossy(&text)),
        other => reason::failed(other.to_string()),
    }
}

fn found(source: &str, rest: &str) -> String {
    const SHOWN_CHARS_MAX: usize = 40;
    let shown: String = rest.chars().take(SHOWN_CHARS_MAX).collect();
    let what = if shown.is_empty() { "the end".to_owned() } else { format!("{shown:?}") };
    what + &place(source, rest)
}

/// A name may come from our own definitions, which have no line a reader could find.
fn place(source: &str, part: &str) -> String {
    let is_inside = source.as_bytes().as_ptr_range().contains(&part.as_ptr())
        || part.as_ptr() == source.as_bytes().as_ptr_range().end;
    if !is_inside {
        return String::new();
    }
    let before = &source[..load::span(source, part).start];
    format!(" at line {}", 1 + before.matches('\n').count())
}
