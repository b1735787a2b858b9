//! # Schemas, tested: what fits, what is told, and what it may cost

use serde_json::json;

use super::*;

fn compile(schema: &Value) -> Result<Schema, Violation> {
    Schema::compile(schema.as_object().unwrap())
}

fn told(schema: &Value, value: &Value) -> Vec<String> {
    let schema = compile(schema).unwrap();
    let found = schema.violations("input", &Payload::from_value(value));
    found.iter().map(|found| format!("{}: {}", found.path, found.message)).collect()
}

fn refused(schema: &Value) -> (String, String) {
    let found = compile(schema).unwrap_err();
    (found.path, found.message)
}

#[test]
fn every_wrong_place_is_told_and_no_value_is() {
    let schema = json!({"type": "object", "required": ["id"], "additionalProperties": false,
        "properties": {"id": {"type": "string"}, "amount": {"type": "number", "minimum": 1},
            "lines": {"items": {"properties": {"sku": {"pattern": "^\\w+$"}}}}}});
    assert_eq!(told(&schema, &json!({"id": "a", "amount": 1, "lines": [{"sku": "b"}]})), [""; 0]);
    let wrong = json!({"amount": -5, "lines": [{}, {"sku": "s e c r e t"}], "more": 1});
    assert_eq!(
        told(&schema, &wrong),
        [
            "input: \"id\" is a required property",
            "input: Additional properties are not allowed ('more' was unexpected)",
            "input.amount: value is less than the minimum of 1",
            "input.lines[1].sku: value does not match \"^\\w+$\"",
        ]
    );
}

#[test]
fn drafts_differ_as_they_say() {
    let old = json!({"$schema": "http://json-schema.org/draft-04/schema#",
        "properties": {"n": {"minimum": 3, "exclusiveMinimum": true}}});
    assert_eq!(told(&old, &json!({"n": 3})).len(), 1);
    assert_eq!(told(&old, &json!({"n": 4})).len(), 0);
    let new = json!({"properties": {"n": {"exclusiveMinimum": 3},
        "l": {"prefixItems": [{"type": "string"}], "items": false}}});
    assert_eq!(told(&new, &json!({"n": 3, "l": ["a", "b"]})).len(), 2);
    let pydantic = json!({"$defs": {"Node": {"type": "object", "properties": {
        "below": {"type": "array", "items": {"$ref": "#/$defs/Node"}}, "n": {"type": "integer"}}}},
        "$ref": "#/$defs/Node"});
    let deep = json!({"below": [{"below": [{"n": 1}, {"n": "x"}]}]});
    assert_eq!(
        told(&pydantic, &deep),
        ["input.below[0].below[1].n: value is not of type \"integer\""]
    );
}

#[test]
fn what_is_no_schema_is_refused_with_its_place() {
    let (path, message) = refused(&json!({"properties": {"a": {"type": "numbr"}}}));
    assert_eq!(path, "properties.a.type");
    assert!(message.contains("\"numbr\""), "{message}");
    let (path, _) = refused(&json!({"items": [{"type": "string"}]}));
    assert_eq!(path, "items");
    for pattern in ["(", "(?=a)b", "(a)\\1", "a{100000}"] {
        let (path, message) = refused(&json!({"properties": {"a": {"pattern": pattern}}}));
        assert_eq!(path, "properties.a.pattern");
        assert!(message.contains("is not a \"regex\", or one that is too large"), "{message}");
    }
    let (_, message) = refused(&json!({"const": "x".repeat(SCHEMA_BYTES_MAX)}));
    assert!(message.contains("more than the limit of 262144"), "{message}");
}

#[test]
fn nothing_outside_is_fetched() {
    for outside in
        ["http://localhost:1/schema.json", "file:///etc/hostname", "other.json", "#/$defs/nobody"]
    {
        let (_, message) = refused(&json!({"properties": {"a": {"$ref": outside}}}));
        assert!(message.ends_with("a $ref leads inside the schema"), "{message}");
    }
    let own = json!({"$schema": "http://localhost:1/own"});
    assert!(refused(&own).1.contains("Unknown meta-schema"), "{:?}", refused(&own));
    let inside = json!({"$id": "https://example.com/order", "properties": {
        "a": {"$ref": "https://example.com/order#/$defs/a"}}, "$defs": {"a": {"type": "string"}}});
    assert_eq!(told(&inside, &json!({"a": 1})).len(), 1);
}

/// Each part refers to the next one twice: 2^60 ways to the last.
fn doubling(applicator: &str, draft: &str) -> Value {
    let mut parts = Map::new();
    for at in 0..60 {
        let next = json!({"$ref": format!("#/definitions/d{}", at + 1)});
        parts.insert(format!("d{at}"), json!({applicator: [next, {"allOf": [next]}]}));
    }
    let last = if applicator == "allOf" { json!({}) } else { json!(false) };
    parts.insert("d60".to_owned(), last);
    let first = json!({"$ref": "#/definitions/d0"});
    let named = json!({"propertyNames": first, "properties": {"a": first}});
    json!({"$schema": draft, "definitions": parts, "allOf": [named]})
}

const OLD: &str = "http://json-schema.org/draft-07/schema#";
const NEW: &str = "https://json-schema.org/draft/2020-12/schema";

#[test]
fn a_check_that_would_never_end_is_given_up() {
    for (applicator, draft) in [("allOf", NEW), ("anyOf", OLD), ("oneOf", NEW)] {
        let found = told(&doubling(applicator, draft), &json!({"a": 1}));
        assert_eq!(found, ["input: takes too many steps to check"], "{applicator} {draft}");
    }
}

#[test]
fn a_pattern_pays_for_its_size_and_its_text() {
    let large = "[ab]*a[ab]{3000}c";
    let text = "ab".repeat(50_000);
    let too_many = ["input: takes too many steps to check"];
    assert_eq!(told(&json!({"items": {"pattern": large}}), &json!([text])), too_many);
    assert_eq!(told(&json!({"patternProperties": {large: false}}), &json!({&text: 1})), too_many);
    let names = json!({"propertyNames": {"pattern": large}});
    assert_eq!(told(&names, &json!({&text: 1})), too_many);
    let short: Vec<String> = (0..50).map(|n| format!("{n:010}")).collect();
    let found = told(&json!({"items": {"pattern": large}}), &json!(short));
    assert!(found[0].starts_with("input[0]: value does not match"), "{found:?}");
    // A pattern that is a value is compiled, and each pays for that.
    let patterns: Vec<String> = (0..1_000).map(|n| format!("a{{{n}}}")).collect();
    let old = json!({"$schema": OLD, "items": {"format": "regex"}});
    assert_eq!(told(&old, &json!(patterns)), too_many);
    assert_eq!(told(&old, &json!(["a+"])), [""; 0]);
    assert_eq!(told(&old, &json!(["("])).len(), 1);
}

#[test]
fn patterns_for_names_pay_for_the_own_names_of_the_schema() {
    let name = "ab".repeat(50_000);
    let (_, message) = refused(&json!({"properties": {name: true},
        "patternProperties": {"[ab]*a[ab]{3000}c": {}}}));
    assert!(message.contains("too many steps for its own properties"), "{message}");
    let usual = json!({"properties": {"a": true}, "patternProperties": {"^x-[a-z]+$": {"type":
        "string"}}, "additionalProperties": false});
    assert_eq!(told(&usual, &json!({"a": 1, "x-b": "c"})), [""; 0]);
    assert_eq!(told(&usual, &json!({"a": 1, "x-b": 2, "y": 3})).len(), 2);
    let (path, message) = refused(&json!({"patternProperties": {"(": {}}}));
    assert!(path.starts_with("patternProperties") && message.contains("regex"), "{path} {message}");
}

#[test]
fn many_texts_of_ordinary_patterns_are_checked() {
    let uuid = "^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$";
    let mail = "^[A-Za-z0-9._%+-]+@[A-Za-z0-9.-]+\\.[A-Za-z]{2,}$";
    let schema =
        json!({"items": {"properties": {"id": {"pattern": uuid}, "to": {"pattern": mail}}}});
    let line = json!({"id": "01234567-89ab-cdef-0123-456789abcdef", "to": "somebody@example.com"});
    assert_eq!(told(&schema, &json!(vec![line; 10_000])), [""; 0]);
}

#[test]
fn a_schema_that_refers_to_itself_ends() {
    for schema in [
        json!({"$ref": "#"}),
        json!({"allOf": [{"$ref": "#"}]}),
        json!({"$defs": {"a": {"$ref": "#/$defs/b"}, "b": {"anyOf": [{"$ref": "#/$defs/a"}]}},
            "$ref": "#/$defs/a"}),
    ] {
        assert_eq!(told(&schema, &json!({"a": 1})), [""; 0], "{schema}");
    }
}

/// Parts that each refer to the next, and the last to the first, for what is inside a list.
fn chain(length: usize, draft: &str, link: fn(Value) -> Value) -> Value {
    let to = |at: usize| json!({"$ref": format!("#/definitions/d{at}")});
    let mut parts = Map::new();
    for at in 0..length {
        parts.insert(format!("d{at}"), link(to(at + 1)));
    }
    parts.insert(format!("d{length}"), json!({"items": to(0), "not": {"const": 1}}));
    json!({"$schema": draft, "definitions": parts, "properties": {"a": to(0)}})
}

#[test]
fn a_deep_schema_on_a_deep_value_does_not_end_the_process() {
    let mut value = json!(1);
    for _ in 0..100 {
        value = json!([value]);
    }
    for schema in [chain(990, OLD, |next| next), chain(990, NEW, |next| json!({"allOf": [next]}))] {
        // How much stack a part takes, and so where it ends, is the compiler's choice.
        let found = told(&schema, &json!({"a": value}));
        assert!(found.len() == 1 && found[0].contains("too many steps"), "{found:?}");
        assert_eq!(told(&schema, &json!({"a": 1})).len(), 1);
    }
    let short = chain(200, OLD, |next| next);
    assert!(told(&short, &json!({"a": [1]}))[0].starts_with("input.a[0]: "));
}

#[test]
fn of_many_wrong_places_a_few_are_told_and_of_too_many_the_first() {
    let schema = json!({"properties": {"l": {"items": {"type": "string"}}}});
    let few: Vec<u32> = (0..1000).collect();
    assert_eq!(told(&schema, &json!({"l": few})).len(), TOLD_MAX);
    let many: Vec<u32> = (0..200_000).collect();
    assert_eq!(told(&schema, &json!({"l": many})), ["input.l[0]: value is not of type \"string\""]);
}

#[test]
fn ten_mebibytes_of_ordinary_data_are_checked() {
    let schema = json!({"type": "object", "properties": {"lines": {"type": "array",
        "items": {"type": "object", "required": ["sku", "n"], "additionalProperties": false,
            "properties": {"sku": {"type": "string", "maxLength": 40, "pattern": "^[a-z0-9-]+$"},
                "n": {"type": "integer", "minimum": 0},
                "kind": {"enum": ["book", "disc", null]}}}}}});
    let line = json!({"sku": "a-book-of-some-length-12345", "n": 5, "kind": "book"});
    let mut lines = vec![line; 150_000];
    assert_eq!(told(&schema, &json!({"lines": lines})), [""; 0]);
    lines.push(json!({"sku": "A", "n": 5}));
    assert_eq!(
        told(&schema, &json!({"lines": lines})),
        ["input.lines[150000].sku: value does not match \"^[a-z0-9-]+$\""]
    );
}

#[test]
fn sentences_name_the_places_and_are_cut() {
    let found = [Violation::new("input.a", "is wrong"), Violation::new("", "is bad")];
    assert_eq!(sentence("wrong: ", &found), "wrong: input.a: is wrong; is bad");
    let long = [Violation::new("input", "x".repeat(2000))];
    assert_eq!(sentence("", &long).chars().count(), REASON_CHARS_MAX);
}

#[test]
fn what_cannot_be_enforced_is_said_of_its_field() {
    let said = |schema: Value| {
        let schema: SchemaDef = serde_json::from_value(schema).unwrap();
        unenforceable(&schema).map(|found| found.path)
    };
    assert_eq!(said(json!({"data": {}})), None);
    assert_eq!(said(json!({"type": "JSON", "data": {}, "externalRef": "x"})), None);
    assert_eq!(said(json!({"type": "AVRO", "data": {}})).unwrap(), "type");
    assert_eq!(said(json!({"type": "PROTOBUF"})).unwrap(), "type");
    assert_eq!(said(json!({"externalRef": "x"})).unwrap(), "externalRef");
    assert_eq!(said(json!({"name": "s"})).unwrap(), "data");
    assert_eq!(said(json!({"data": {"not": 5}})).unwrap(), "data.not");
}
