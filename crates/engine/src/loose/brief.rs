//! # Brief: the text of a step without what it does not say
//!
//! A step has some forty members and most steps say five. What is left out is found by comparing texts: a fork brings
//! thousands of steps at once, and a tree of values of each would be most of what it costs.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::LazyLock;

use semel_model::WorkflowTask;
use serde::de::{MapAccess, Visitor};
use serde::{Deserialize, Deserializer};
use serde_json::value::RawValue;

/// What the members of a step say that says nothing.
static UNSAID: LazyLock<BTreeMap<String, String>> = LazyLock::new(|| {
    let text = written(&WorkflowTask::default());
    let unsaid = members(&text).into_iter();
    unsaid.map(|(name, value)| (name.to_owned(), value.get().to_owned())).collect()
});

/// The object of all members that say something.
pub(crate) fn text(step: &WorkflowTask) -> Box<RawValue> {
    let text = written(step);
    let unsaid = &*UNSAID;
    let mut brief = String::from("{");
    for (name, value) in members(&text) {
        if unsaid.get(name).is_some_and(|unsaid| unsaid == value.get()) {
            continue;
        }
        if brief.len() > 1 {
            brief.push(',');
        }
        brief.push('"');
        brief.push_str(name);
        brief.push_str("\":");
        brief.push_str(value.get());
    }
    brief.push('}');
    RawValue::from_string(brief).expect("members with their texts are an object")
}

fn written(step: &WorkflowTask) -> String {
    serde_json::to_string(step).expect("a step is plain data")
}

/// The members of a step with their texts, in order. No name of one has an escape in it.
fn members(text: &str) -> Vec<(&str, &RawValue)> {
    let Members(members) = serde_json::from_str(text).expect("what was just written is an object");
    members
}

struct Members<'a>(Vec<(&'a str, &'a RawValue)>);

impl<'de> Deserialize<'de> for Members<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct All;
        impl<'de> Visitor<'de> for All {
            type Value = Members<'de>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
                let mut members = Vec::new();
                while let Some(member) = map.next_entry()? {
                    members.push(member);
                }
                Ok(Members(members))
            }
        }
        deserializer.deserialize_map(All)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn read(step: Value) -> WorkflowTask {
        serde_json::from_value(step).unwrap()
    }

    #[test]
    fn what_a_step_does_not_say_is_left_out_and_the_rest_keeps_its_order_and_its_text() {
        let step = read(json!({
            "inputParameters": {"b": 1.0, "a": "\u{e9}\"\n"}, "name": "charge", "type": "HTTP",
            "taskReferenceName": "c", "optional": false, "retryCount": 0, "startDelay": 3,
        }));
        let wanted = r#"{"name":"charge","taskReferenceName":"c","inputParameters":{"b":1.0,"a":"é\"\n"},"type":"HTTP","startDelay":3,"retryCount":0}"#;
        assert_eq!(text(&step).get(), wanted);
        assert_eq!(text(&WorkflowTask::default()).get(), "{}");
    }

    #[test]
    fn read_again_it_is_the_same_step() {
        let inner = json!({"name": "x", "taskReferenceName": "x", "type": "NOOP"});
        let step = read(json!({
            "name": "s", "taskReferenceName": "s", "type": "SWITCH", "evaluatorType": "value-param",
            "expression": "case", "decisionCases": {"b": [inner], "a": []}, "optional": true,
        }));
        assert_eq!(serde_json::from_str::<WorkflowTask>(text(&step).get()).unwrap(), step);
    }
}
