//! # Properties of expressions, over templates and data nobody thought of

use proptest::prelude::*;
use semel_engine::{disarmed, reveal};
use serde_json::{Value, json};

use crate::bench::Bench;
use crate::shapes::{flow, payload, step, with};

/// Pieces that look like expressions when thrown together.
const PIECES: [&str; 56] = [
    "${",
    "${",
    "}",
    "}",
    "$",
    "$${",
    "{",
    ".",
    "..",
    "[",
    "]",
    "(",
    ")",
    "[?(",
    ")]",
    "@",
    "@.",
    "$.",
    "'",
    "\"",
    "\\",
    "\\u00",
    "workflow",
    "workflow.input",
    "workflow.secrets.",
    "input",
    "a",
    "b",
    "a.output",
    "*",
    "[*]",
    "0",
    "-1",
    "[0]",
    ":",
    ",",
    "==",
    "!=",
    "<",
    ">=",
    "=~",
    "/",
    "/i",
    "/a*/",
    " in ",
    " size ",
    " empty ",
    "&&",
    "||",
    "!",
    "length()",
    "sum(",
    "concat(",
    " ",
    "ü",
    "null",
];

fn thrown_together() -> impl Strategy<Value = String> {
    let pieces = prop::collection::vec(prop::sample::select(PIECES.as_slice()), 0..24);
    pieces.prop_map(|pieces| pieces.concat())
}

fn templates() -> impl Strategy<Value = String> {
    prop_oneof![
        any::<String>(),
        any::<String>().prop_map(|path| format!("${{{path}}}")),
        thrown_together(),
        thrown_together().prop_map(|path| format!("${{workflow.input{path}}}")),
        thrown_together().prop_map(|test| format!("${{workflow.input..[?(@{test})]}}")),
    ]
}

fn numbers() -> impl Strategy<Value = Value> {
    prop_oneof![any::<i64>().prop_map(Value::from), (-1e6..1e6).prop_map(Value::from)]
}

fn data(texts: BoxedStrategy<String>) -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        numbers(),
        texts.clone().prop_map(Value::from),
    ];
    leaf.prop_recursive(4, 32, 5, move |inside| {
        let keys = prop_oneof![
            prop::sample::select(vec!["a", "b"]).prop_map(str::to_owned),
            texts.clone()
        ];
        prop_oneof![
            prop::collection::vec(inside.clone(), 0..5).prop_map(Value::from),
            prop::collection::btree_map(keys, inside, 0..5)
                .prop_map(|map| Value::Object(map.into_iter().collect())),
        ]
    })
}

fn input_of(template: Value, data: Value) -> Value {
    let only = with(step("a", json!({})), json!({"inputParameters": {"x": template}}));
    // As it enters and as it leaves: whoever is outside knows no other form.
    let input = disarmed(&payload(&json!({"a": data, "b": [1, {"a": 2}]})));
    let run = Bench::start(flow(&[only]), input.value());
    run.replay();
    reveal(&run.attempt("a", 0).input, Some(7), &mut |_| Some("hunter22".to_owned())).value()["x"]
        .take()
}

/// A place in the data, chosen by numbers, and the path that leads there.
fn place<'v>(mut at: &'v Value, choices: &[(usize, usize)]) -> (String, &'v Value) {
    let mut path = "workflow.input.a".to_owned();
    for (which, way) in choices {
        match at {
            Value::Array(items) if !items.is_empty() => {
                let index = which % items.len();
                at = &items[index];
                if way % 2 == 0 {
                    path.push_str(&format!("[{index}]"));
                } else {
                    path.push_str(&format!("[-{}]", items.len() - index));
                }
            }
            Value::Object(map) if !map.is_empty() => {
                let (key, value) = map.iter().nth(which % map.len()).expect("within");
                at = value;
                let is_plain = !key.is_empty() && key.chars().all(char::is_alphanumeric);
                let escaped = key.replace('\\', "\\\\");
                path.push_str(&match way % 3 {
                    0 if is_plain => format!(".{key}"),
                    1 => format!("[\"{}\"]", escaped.replace('"', "\\\"")),
                    _ => format!("['{}']", escaped.replace('\'', "\\'")),
                });
            }
            _ => break,
        }
    }
    (path, at)
}

fn config() -> ProptestConfig {
    ProptestConfig { failure_persistence: None, ..ProptestConfig::default() }
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn no_template_and_no_data_stops_a_run(
        template in templates(),
        data in data(any::<String>().boxed()),
    ) {
        input_of(json!({"x": template}), data);
    }

    #[test]
    fn plain_data_stays_as_it_is(
        data in data(any::<String>().prop_filter("plain", |text| !text.contains("${")).boxed()),
    ) {
        prop_assert_eq!(input_of(data.clone(), Value::Null), data);
    }

    #[test]
    fn a_definite_path_finds_what_a_direct_look_finds(
        data in data("[^${}]{0,6}".boxed()),
        choices in prop::collection::vec((any::<usize>(), any::<usize>()), 0..6),
    ) {
        let (path, found) = place(&data, &choices);
        let given = input_of(json!(format!("${{{path}}}")), data.clone());
        prop_assert_eq!(&given, found, "{}", path);
    }

    #[test]
    fn data_is_never_read_as_a_template(text in templates()) {
        prop_assert_eq!(input_of(json!("${workflow.input.a}"), json!(&text)), json!(&text));
        let around = input_of(json!("<${workflow.input.a}>"), json!(&text));
        prop_assert_eq!(around, json!(format!("<{text}>")));
    }
}
