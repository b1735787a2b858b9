//! # Origins: where a path begins, and whether the definition has written that place
//!
//! An expression inside another one brings data into a path. Data may choose among what the outer
//! expression names, never what it begins in: the beginning has to stand in the text of the definition.

use super::path::{Path, Pick, Query, Step};
use super::template::{Part, split};

/// What a path begins in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Origin<'p> {
    Environment,
    Run,
    Task(&'p str),
}

impl Path {
    /// The name at that place of the path.
    pub(super) fn name(&self, at: usize) -> Option<&str> {
        match self.steps.get(at) {
            Some(Step { is_deep: false, pick: Pick::Name(name) }) => Some(name.as_str()),
            Some(_) | None => None,
        }
    }

    fn origin(&self) -> Option<Origin<'_>> {
        Some(match (self.name(0)?, self.name(1)) {
            ("workflow", Some("env")) => Origin::Environment,
            ("workflow", _) => Origin::Run,
            (reference, _) => Origin::Task(reference),
        })
    }
}

impl Query {
    /// Of the path and of those that its filters and arguments mention. A path without one finds nothing.
    pub(super) fn origins(&self) -> impl Iterator<Item = Origin<'_>> {
        self.documents.iter().chain([&self.path]).filter_map(Path::origin)
    }
}

/// Whether the expression names that origin itself, at its beginning or behind a `$.`.
pub(super) fn is_written(origin: Origin<'_>, expression: &str) -> bool {
    let name = match origin {
        Origin::Environment => "workflow.env",
        Origin::Run => "workflow",
        Origin::Task(reference) => reference,
    };
    let is_named =
        |text: &str| text.strip_prefix(name).is_some_and(|rest| rest.starts_with(['.', '[']));
    split(expression).into_iter().enumerate().any(|(at, part)| match part {
        Part::Text(text) => {
            let begins = at == 0 && is_named(text.trim_start());
            begins || text.match_indices("$.").any(|(at, _)| is_named(&text[at + 2..]))
        }
        Part::Expression(_) => false,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_text_of_the_definition_names_an_origin() {
        for (expression, origin, expected) in [
            ("done.output.${x}", Origin::Task("done"), true),
            (" done.${x}", Origin::Task("done"), true),
            ("$.done['${x}']", Origin::Task("done"), true),
            ("done.output[?(@.a == $.other.output.${x})]", Origin::Task("other"), true),
            ("workflow.env.${x}", Origin::Environment, true),
            ("workflow.env.${x}", Origin::Run, true),
            ("workflow.${x}", Origin::Environment, false),
            ("workflow.input.environment.${x}", Origin::Environment, false),
            ("done${x}.output", Origin::Task("done"), false),
            ("do${x}", Origin::Task("done"), false),
            ("${x}", Origin::Task("done"), false),
            ("${x}.output.done.a", Origin::Task("done"), false),
            ("done.output.${x}", Origin::Task("other"), false),
        ] {
            assert_eq!(is_written(origin, expression), expected, "{expression} {origin:?}");
        }
    }
}
