//! # Schemas: the shape that inputs and outputs must have
//!
//! JSON Schema, drafts 4 to 2020-12, by `$schema`; without it the latest. Nothing is ever fetched: a
//! `$ref` leads inside the schema or nowhere. Patterns run in linear time, so they have neither
//! look-around nor back-references. What a check may cost is counted by the [`meter`].

mod enforced;
mod meter;
mod patterns;
mod prepared;

use std::fmt;

use jsonschema::error::ValidationErrorKind;
use jsonschema::paths::{Location, LocationSegment};
use jsonschema::{PatternOptions, ValidationError, Validator};
use semel_model::{Payload, SchemaDef, SchemaType, Violation};
use serde_json::{Map, Value};

pub use enforced::embed_in_task;
pub(crate) use enforced::{Enforced, embed, lacking_in, named_by, named_schemas};
use meter::{Budget, Counted, Metered, within};
use patterns::{OR_WHAT, PATTERN_BYTES_MAX, Patterns, Price, is_pattern};
use prepared::{Ready, prepared};

/// The text of a schema.
const SCHEMA_BYTES_MAX: usize = 256 * 1024;
/// To say whether a value fits. Half a second at most, of what is large and intricate.
const STEPS_MAX: usize = 10_000_000;
/// To say all that is wrong with it. Each wrong place takes memory until the last one is found.
const STEPS_FOR_ALL_MAX: usize = 100_000;
/// To say at least the first.
const STEPS_FOR_FIRST_MAX: usize = 4_000_000;
/// Wrong places that are told.
const TOLD_MAX: usize = 10;
const MESSAGE_CHARS_MAX: usize = 300;
/// Conductor cuts reasons there.
const REASON_CHARS_MAX: usize = 500;

/// A schema that is ready to check.
pub struct Schema {
    validator: Validator<Metered>,
    /// Of the name of a member.
    names: Price,
}

impl fmt::Debug for Schema {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Schema")
    }
}

impl Schema {
    /// The inner error says what is wrong with the schema, and where in it.
    pub fn compile(schema: &Map<String, Value>) -> Result<Self, Violation> {
        let whole = |message: String| Violation::new("", message);
        let bytes = serde_json::to_string(schema).map_or(0, |text| text.len());
        if bytes > SCHEMA_BYTES_MAX {
            let limit = format!("takes {bytes} bytes, more than the limit of {SCHEMA_BYTES_MAX}");
            return Err(whole(limit));
        }
        let Ready { schema, name_patterns, own_name_bytes } = prepared(schema).map_err(whole)?;
        let patterns = Patterns::default();
        // One that is none is found out below, with its place.
        let ready = name_patterns.iter().filter_map(|pattern| patterns.get(pattern));
        let for_names =
            ready.map(|pattern| pattern.price).reduce(Price::plus).unwrap_or(Price::PLAIN);
        let names = Price::PLAIN.plus(for_names);
        if !name_patterns.is_empty() && for_names.steps(own_name_bytes) > STEPS_MAX {
            return Err(whole(
                "has patternProperties that take too many steps for its own properties".to_owned(),
            ));
        }
        let engine = PatternOptions::regex().size_limit(PATTERN_BYTES_MAX);
        let options = jsonschema::options_for::<Metered>().offline().with_pattern_options(engine);
        let options = options
            .with_format("regex", is_pattern)
            .with_keyword("pattern", move |whole, given, place| {
                patterns.keyword(whole, given, place)
            });
        let built = within(Budget { steps: STEPS_MAX, names }, || options.build(&schema));
        let built = built.ok_or_else(|| whole("takes too many steps to make ready".to_owned()))?;
        built.map(|validator| Self { validator, names }).map_err(|error| {
            let is_of_pattern = matches!(error.kind(), ValidationErrorKind::Custom { .. });
            let at = if is_of_pattern { error.schema_path() } else { error.instance_path() };
            Violation::new(place("", at), shortened(wrong(&error)))
        })
    }

    /// What is wrong with a value, each with its place below `root`; nothing when it fits.
    pub fn violations(&self, root: &str, payload: &Payload) -> Vec<Violation> {
        let value = payload.value();
        let whole = |message: &str| vec![Violation::new(root, message)];
        let budget = |steps| Budget { steps, names: self.names };
        match within(budget(STEPS_MAX), || self.validator.is_valid(Counted(&value))) {
            Some(true) => return Vec::new(),
            Some(false) => {}
            None => return whole("takes too many steps to check"),
        }
        let told = |error: ValidationError<'_>| {
            let message = shortened(error.masked().to_string());
            Violation::new(place(root, error.instance_path()), message)
        };
        let all = || self.validator.iter_errors(Counted(&value)).map(told).collect();
        let first =
            || self.validator.validate(Counted(&value)).map_err(told).err().into_iter().collect();
        let found: Option<Vec<_>> = within(budget(STEPS_FOR_ALL_MAX), all);
        match found.or_else(|| within(budget(STEPS_FOR_FIRST_MAX), first)) {
            Some(mut found) if !found.is_empty() => {
                found.sort_by(|a, b| (&a.path, &a.message).cmp(&(&b.path, &b.message)));
                found.truncate(TOLD_MAX);
                found
            }
            Some(_) | None => whole("does not fit, in a place that takes too many steps to find"),
        }
    }
}

/// What is wrong with a schema. Values of it are told: it is no secret what somebody defines.
fn wrong(error: &ValidationError<'_>) -> String {
    let kind = error.kind();
    let is_pattern = matches!(kind, ValidationErrorKind::Format { format } if format == "regex");
    let more = if is_pattern {
        OR_WHAT
    } else if matches!(kind, ValidationErrorKind::Referencing(_)) {
        "; a $ref leads inside the schema"
    } else {
        ""
    };
    format!("{error}{more}")
}

/// `input.lines[2].price`.
fn place(root: &str, path: &Location) -> String {
    let mut place = root.to_owned();
    for segment in path {
        match segment {
            LocationSegment::Index(at) => place.push_str(&format!("[{at}]")),
            LocationSegment::Property(name) if place.is_empty() => place.push_str(&name),
            LocationSegment::Property(name) => {
                place.push('.');
                place.push_str(&name);
            }
        }
    }
    shortened(place)
}

fn shortened(text: String) -> String {
    match text.char_indices().nth(MESSAGE_CHARS_MAX) {
        Some((at, _)) => format!("{}...", &text[..at]),
        None => text,
    }
}

/// All that is wrong in one sentence, for those who only have a reason.
pub(crate) fn sentence(begin: &str, violations: &[Violation]) -> String {
    let said = violations.iter().map(|found| match found.path.as_str() {
        "" => found.message.clone(),
        path => format!("{path}: {}", found.message),
    });
    let said = said.collect::<Vec<_>>().join("; ");
    begin.chars().chain(said.chars()).take(REASON_CHARS_MAX).collect()
}

/// Why a schema that a definition wants enforced cannot be; the path is that of the field.
pub fn unenforceable(schema: &SchemaDef) -> Option<Violation> {
    match schema.kind {
        None | Some(SchemaType::Json) => {}
        Some(kind @ (SchemaType::Avro | SchemaType::Protobuf)) => {
            let message = "is kept and cannot be enforced: use JSON, or set enforceSchema to false";
            return Some(Violation::new("type", message).with_value(kind.as_str()));
        }
    }
    match (&schema.data, &schema.external_ref) {
        (Some(data), _) => Schema::compile(data).err().map(|found| below("data", found)),
        (None, Some(outside)) => {
            let message = "is never fetched: give the schema as data, or name one of the registry";
            Some(Violation::new("externalRef", message).with_value(outside))
        }
        (None, None) => Some(Violation::new("data", "is missing")),
    }
}

fn below(field: &str, found: Violation) -> Violation {
    let path = match found.path.as_str() {
        "" => field.to_owned(),
        path => format!("{field}.{path}"),
    };
    Violation { path, ..found }
}

#[cfg(test)]
mod tests;
