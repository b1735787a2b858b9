//! # Parts of keys: what a key is made of has to be there
//!
//! A key with a part that is null, missing or empty is no key: the start is refused, the step fails,
//! the run is not counted. A part that the input schema requires cannot be missing.

use semel_model::{WorkflowDef, effective_concurrency, effective_effect};
use serde_json::{Map, Value};

use crate::expression::{expressions, head, names};
use crate::finding::{Code, Finding};
use crate::http;
use crate::keys::StartKey;
use crate::walk::{Place, Scene};

/// Words of a schema that may require more than can be read off its properties.
const COMBINING: [&str; 7] = ["$ref", "allOf", "anyOf", "oneOf", "if", "dependentRequired", "not"];

pub(crate) fn of_definition(scene: &Scene<'_>) -> Vec<Finding> {
    let definition = &*scene.definition;
    let policy = definition.idempotency.as_ref();
    let start_key = policy.and_then(|policy| policy.key_expression());
    let start_key = start_key.and_then(|key| {
        let what = "a start without it is refused with 400";
        Finder { definition, what }.find(
            &format!("{}idempotency.keyExpression", scene.prefix),
            key,
            &[key],
        )
    });
    let gate = effective_concurrency(definition);
    let gate = gate.as_ref().and_then(|gate| gate.key()).and_then(|key| {
        let field = match &definition.concurrency {
            Some(_) => "concurrency.key",
            None => "rateLimitConfig.rateLimitKey",
        };
        let what = "a run without it is not counted, and the limit does not hold for it";
        Finder { definition, what }.find(&format!("{}{field}", scene.prefix), key, &[key])
    });
    start_key.into_iter().chain(gate).collect()
}

pub(crate) fn of_step(scene: &Scene<'_>, place: &Place<'_>) -> Vec<Finding> {
    let definition = &*scene.definition;
    let finder = Finder { definition, what: "the step fails without it" };
    let start_key = StartKey::of(place).and_then(|start| start.key);
    let mut found: Vec<Finding> =
        start_key.and_then(|key| finder.find(&place.at, key, &[key])).into_iter().collect();
    if definition.input_schema.is_none() {
        return found; // Whoever writes no schema is told of what others would share, and no more.
    }
    let mut keys = http::own_keys(place).into_iter();
    found.extend(keys.find_map(|key| finder.find(&place.at, key, &[key])));
    if matches!(place.step.kind.as_str(), "ACQUIRE_LOCK" | "RELEASE_LOCK") {
        let name = place.input("name").and_then(Value::as_str);
        found.extend(name.and_then(|name| finder.find(&place.at, name, &[name])));
    }
    let effect = effective_effect(&place.policy, &place.step);
    found.extend(effect.as_ref().and_then(|policy| policy.key()).and_then(|key| {
        let inputs = expressions(key).into_iter().map(|path| place.input(head(path)));
        let inputs: Vec<&str> = inputs.flatten().filter_map(Value::as_str).collect();
        finder.find(&place.at, key, &inputs)
    }));
    found
}

struct Finder<'a> {
    definition: &'a WorkflowDef,
    /// What comes of a part that is missing.
    what: &'a str,
}

impl Finder<'_> {
    /// `texts` are what the key is made of, with expressions over the run.
    fn find(&self, at: &str, key: &str, texts: &[&str]) -> Option<Finding> {
        let mut paths = texts.iter().flat_map(|text| expressions(text));
        let missing = paths.find(|path| !self.is_required(path))?;
        let schema = match &self.definition.input_schema {
            None => "there is no inputSchema",
            Some(_) if !self.definition.enforce_schema => "enforceSchema is off",
            Some(_) => "inputSchema does not require it",
        };
        let message =
            format!("the key {key} is made of ${{{missing}}}, and {schema}: {}", self.what);
        let fix = "list it as required in an inputSchema, with a type that is not null and a \
                   minLength, or give it a value in inputTemplate";
        Some(Finding::new(Code::WKey5, at, message, fix))
    }

    /// Only what a start brings can be required; anything else is nothing to this rule.
    fn is_required(&self, path: &str) -> bool {
        let mut along = names(path);
        if (along.next(), along.next()) != (Some("workflow"), Some("input")) {
            return true;
        }
        let along: Vec<&str> = along.collect();
        let Some(first) = along.first() else { return true };
        if self.definition.input_template().get(*first).is_some_and(|value| !value.is_null()) {
            return true;
        }
        let Some(schema) = &self.definition.input_schema else { return false };
        match &schema.data {
            _ if !self.definition.enforce_schema => false,
            Some(data) => requires(data, &along),
            None => true, // It is registered elsewhere.
        }
    }
}

/// Whether what fits the schema has something at that path.
fn requires(schema: &Map<String, Value>, path: &[&str]) -> bool {
    let Some((name, rest)) = path.split_first() else { return true };
    if COMBINING.iter().any(|word| schema.contains_key(*word)) || name.parse::<usize>().is_ok() {
        return true;
    }
    let required = schema.get("required").and_then(Value::as_array);
    let is_listed = required.is_some_and(|list| list.iter().any(|it| it == name));
    let inner = schema.get("properties").and_then(|properties| properties.get(*name));
    let inner = inner.and_then(Value::as_object);
    let is_nullable = inner.and_then(|inner| inner.get("type")).is_some_and(|kind| match kind {
        Value::String(kind) => kind == "null",
        Value::Array(kinds) => kinds.iter().any(|kind| kind == "null"),
        _ => false,
    });
    is_listed && !is_nullable && (rest.is_empty() || inner.is_some_and(|it| requires(it, rest)))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_part_is_required_all_along_its_path() {
        let schema = json!({"type": "object", "required": ["id", "order", "loose", "maybe"], "properties": {
            "id": {"type": "string"}, "maybe": {"type": ["string", "null"]},
            "order": {"type": "object", "required": ["no"], "properties": {"no": {"type": "integer"}}},
            "elsewhere": {"$ref": "#/x"}}});
        let schema = schema.as_object().unwrap();
        for path in [vec!["id"], vec!["order", "no"], vec!["order"], vec!["loose"]] {
            assert!(requires(schema, &path), "{path:?}");
        }
        for path in [vec!["other"], vec!["order", "at"], vec!["loose", "x"], vec!["maybe"]] {
            assert!(!requires(schema, &path), "{path:?}");
        }
    }
}
