//! # A schema made ready: no part of it is free
//!
//! [`Counted`](super::meter::Counted) values are paid for when they are looked at, so every part of a
//! schema has to look. A part without a `type` gets one that says "any": it changes no verdict, and
//! types are always looked at first.

use serde_json::{Map, Value, json};

/// Keywords that hold data, which has to stay as it is.
const DATA: [&str; 4] = ["const", "default", "enum", "examples"];

/// Keywords whose members are names of anything, each with a part of the schema.
const NAMED_PARTS: [&str; 6] =
    ["$defs", "definitions", "dependencies", "dependentSchemas", "patternProperties", "properties"];

const REFERENCES: [&str; 3] = ["$dynamicRef", "$recursiveRef", "$ref"];

/// Patterns are compiled, each into as much as one may take.
const PATTERNS_MAX: usize = 200;

/// In older drafts a part with a reference has no type; a chain of them goes deep before one pays.
const REFERENCES_MAX: usize = 1000;

/// A schema as it is compiled.
#[derive(Debug, Default)]
pub(super) struct Ready {
    pub(super) schema: Value,
    /// Those that names of members are matched against.
    pub(super) name_patterns: Vec<String>,
    /// Of the names that are matched against them once, beforehand.
    pub(super) own_name_bytes: usize,
}

/// The schema as it is compiled, or what is wrong with it.
pub(super) fn prepared(schema: &Map<String, Value>) -> Result<Ready, String> {
    let mut ready = Value::Object(schema.clone());
    let (mut name_patterns, mut own_name_bytes) = (Vec::new(), 0);
    let (mut patterns, mut references) = (0, 0);
    let mut open = vec![&mut ready];
    while let Some(part) = open.pop() {
        match part {
            Value::Object(part) => {
                if !part.contains_key("type") {
                    part.insert("type".to_owned(), any_type());
                }
                patterns += patterns_in(part);
                let named = part.get("patternProperties").and_then(Value::as_object);
                name_patterns.extend(named.into_iter().flat_map(Map::keys).cloned());
                let own = part.get("properties").and_then(Value::as_object);
                let own = own.filter(|_| named.is_some()).into_iter().flat_map(Map::keys);
                own_name_bytes += own.map(|name| 1 + name.len()).sum::<usize>();
                for (keyword, value) in part.iter_mut() {
                    references += usize::from(is_reference(keyword, value)?);
                    if DATA.contains(&keyword.as_str()) {
                        continue;
                    }
                    if NAMED_PARTS.contains(&keyword.as_str()) && value.is_object() {
                        open.extend(value.as_object_mut().into_iter().flat_map(Map::values_mut));
                    } else {
                        open.push(value);
                    }
                }
            }
            Value::Array(parts) => open.extend(parts),
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
        }
    }
    for (what, count, limit) in
        [("patterns", patterns, PATTERNS_MAX), ("references", references, REFERENCES_MAX)]
    {
        if count > limit {
            return Err(format!("has {count} {what}, more than the limit of {limit}"));
        }
    }
    Ok(Ready { schema: ready, name_patterns, own_name_bytes })
}

fn any_type() -> Value {
    json!(["array", "boolean", "null", "number", "object", "string"])
}

fn patterns_in(part: &Map<String, Value>) -> usize {
    let named = part.get("patternProperties").and_then(Value::as_object).map_or(0, Map::len);
    named + usize::from(part.get("pattern").is_some_and(Value::is_string))
}

/// Data is not made ready, so nothing may refer to it as if it were a schema.
fn is_reference(keyword: &str, value: &Value) -> Result<bool, String> {
    let Some(reference) = value.as_str().filter(|_| REFERENCES.contains(&keyword)) else {
        return Ok(false);
    };
    let pointer = reference.split_once('#').map_or("", |(_, pointer)| pointer);
    let mut is_name = false;
    for segment in pointer.split('/').skip(1) {
        let is_plain = !segment.contains(['%', '~']);
        if !is_name && is_plain && DATA.contains(&segment) {
            return Err(format!("{keyword} {reference} leads into {segment}, which is no schema"));
        }
        if !is_name && !is_plain {
            return Err(format!("{keyword} {reference} leads through an escaped keyword"));
        }
        is_name = !is_name && NAMED_PARTS.contains(&segment);
    }
    Ok(true)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ready(schema: &Value) -> Result<Value, String> {
        prepared(schema.as_object().unwrap()).map(|ready| ready.schema)
    }

    #[test]
    fn every_part_gets_a_type_and_no_data_does() {
        let schema = json!({"const": {"a": {}}, "properties": {"type": {}, "const": {"not": {}}},
            "anyOf": [true, {"type": "string"}], "shelf": {"b": [{"enum": [{}]}]}});
        let any = any_type();
        assert_eq!(
            ready(&schema).unwrap(),
            json!({"type": any, "const": {"a": {}},
                "properties": {"type": {"type": any},
                    "const": {"type": any, "not": {"type": any}}},
                "anyOf": [true, {"type": "string"}],
                "shelf": {"type": any, "b": [{"type": any, "enum": [{}]}]}})
        );
    }

    #[test]
    fn no_reference_leads_into_data() {
        let refused = |reference: &str| {
            let part = json!({"items": [{"$ref": reference}]});
            ready(&part).err()
        };
        for reference in ["#", "#/$defs/const", "other#/properties/enum/not", "#/$defs/a~1b/items"]
        {
            assert_eq!(refused(reference), None, "{reference}");
        }
        for reference in ["#/const", "#/enum/0", "#/$defs/a/default", "#/%63onst", "o#/examples/0"]
        {
            assert!(refused(reference).is_some(), "{reference}");
        }
        assert_eq!(
            ready(&json!({"properties": {"$ref": {"const": {"$ref": "#/const"}}}})).err(),
            None
        );
    }

    #[test]
    fn patterns_and_references_are_counted() {
        let many = |part: Value, count: usize| ready(&json!({"allOf": vec![part; count]})).err();
        let pattern = json!({"patternProperties": {"a": {"pattern": "b"}}});
        assert_eq!(many(pattern.clone(), PATTERNS_MAX / 2), None);
        let found = many(pattern, PATTERNS_MAX / 2 + 1).unwrap();
        assert_eq!(found, "has 202 patterns, more than the limit of 200");
        assert_eq!(many(json!({"$ref": "#"}), REFERENCES_MAX), None);
        let found = many(json!({"$ref": "#"}), REFERENCES_MAX + 1).unwrap();
        assert_eq!(found, "has 1001 references, more than the limit of 1000");
    }
}
