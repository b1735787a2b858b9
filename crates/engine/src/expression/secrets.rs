//! # Secrets: `${workflow.secrets.NAME}` in what is handed out
//!
//! What is stored keeps the expression. Only the copy that leaves for a worker has the value:
//! [`reveal`] puts it there, in one pass, and never looks at what it has put. Data from outside is
//! [`disarmed`] before it is stored, so that only a definition asks for a secret; what is text
//! reaches the worker as it came ([`Text`] says how the two are told apart). The fence of the
//! hand-out, `${CPEWF_FENCE}`, is no secret and takes the same way: nobody knows it before.
//!
//! **May not:** know where values come from; they are looked up by whoever hands out.

use std::borrow::Cow;

use semel_model::Payload;

use super::PATH_NODES_MAX;
use super::json::{Json, Object};
use super::path::Query;
use super::select::{self, Answer, Budget, Root};
use super::text::Text;
use crate::effect::FENCE;

/// Kept as text in what is stored; put in place only in the copy that is handed out.
pub(super) const SECRETS: &str = "workflow.secrets.";

/// What an expression asks for: a secret by name and, perhaps, a path into its JSON.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Secret {
    pub name: String,
    inside: String,
}

impl Secret {
    /// The secret as a whole.
    pub fn named(name: &str) -> Self {
        Self { name: name.to_owned(), inside: String::new() }
    }

    /// `NAME`, `NAME.json.path` or `NAME['json'].path`.
    fn read(path: &str) -> Option<Self> {
        let is_of_name = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
        let end = path.find(|c| !is_of_name(c)).unwrap_or(path.len());
        let (name, inside) = path.split_at(end);
        let is_path = inside.is_empty() || inside.starts_with(['.', '[']);
        (!name.is_empty() && is_path)
            .then(|| Self { name: name.to_owned(), inside: inside.to_owned() })
    }

    pub(super) fn is_whole(&self) -> bool {
        self.inside.is_empty()
    }

    /// What of the value is asked for; null when its JSON does not have it.
    pub(super) fn of(&self, value: &str) -> Json {
        if self.inside.is_empty() {
            return Json::String(value.to_owned().into());
        }
        let query = Query::parse(&format!("secret{}", self.inside));
        let document = Json::read_text(value);
        let (Some(query), Some(document)) = (query, document) else { return Json::Null };
        if !query.documents.is_empty() {
            return Json::Null; // A path from `$` has nothing to start from.
        }
        let roots = [Root { document: Some(&document), taken: 1 }];
        match select::answer(&query, &roots, &mut Budget::new(PATH_NODES_MAX)) {
            Some(Answer::One(found)) => found.map_or(Json::Null, Cow::into_owned),
            Some(Answer::Many(found)) => {
                Json::Array(found.into_iter().map(Cow::into_owned).collect())
            }
            None => Json::Null,
        }
    }
}

/// What is put in place when the task is handed out.
pub(super) enum Late {
    Secret(Secret),
    Fence,
}

/// A cheap look: an input that does not has nothing to hide.
pub fn mentions_secrets(input: &Payload) -> bool {
    input.text().contains(SECRETS)
}

/// A cheap look: an input that is not goes out as it is stored.
pub fn is_unfinished(input: &Payload) -> bool {
    has_late(input.text())
}

pub(super) fn has_late(text: &str) -> bool {
    text.contains(SECRETS) || text.contains(FENCE)
}

/// The copy that leaves. A string that is one expression takes the value, null if there is none;
/// inside other text a value that is missing leaves nothing. What no worker takes has no fence.
pub fn reveal(
    input: &Payload,
    fence: Option<u64>,
    lookup: &mut dyn FnMut(&str) -> Option<String>,
) -> Payload {
    if !is_unfinished(input) {
        return input.clone();
    }
    let mut resolve = |late: &Late| match late {
        Late::Secret(secret) => lookup(&secret.name).map(|value| secret.of(&value)),
        Late::Fence => fence.map(|fence| Json::String(fence.to_string().into())),
    };
    revealed(Json::read(input), &mut resolve).to_data()
}

/// Every secret the input asks for, each once.
pub fn secrets_in(input: &Payload) -> Vec<Secret> {
    let mut found = Vec::new();
    if mentions_secrets(input) {
        revealed(Json::read(input), &mut |late| {
            if let Late::Secret(secret) = late {
                found.push(secret.clone());
            }
            None
        });
    }
    found.sort();
    found.dedup();
    found
}

/// Data from outside as it is stored: whatever would pass for a secret in it is text.
pub fn disarmed(data: &Payload) -> Payload {
    match may_hold_late(data.text()) || data.text().contains("\\u") {
        true => Json::read_data(data).to_payload(),
        false => data.clone(),
    }
}

impl Json {
    /// The same value, in which nothing asks for a secret any more.
    pub(super) fn disarmed(self) -> Self {
        match self {
            Self::String(text) => Self::String(text.into_shown().into()),
            Self::Array(items) => Self::Array(items.into_iter().map(Self::disarmed).collect()),
            Self::Object(object) => {
                let entries = object.into_entries().into_iter();
                Self::Object(entries.map(|(key, value)| (key, value.disarmed())).collect())
            }
            Self::Null | Self::Bool(_) | Self::Number(_) => self,
        }
    }
}

/// What is stored as people are shown it: without the `$` that makes it text.
pub fn shown(stored: &Payload) -> Payload {
    if is_unfinished(stored) { Json::read(stored).to_data() } else { stored.clone() }
}

/// A cheap look: text that does not holds no late expression, and nothing that looks like one.
pub(super) fn may_hold_late(text: &str) -> bool {
    text.contains("${") && has_late(text)
}

pub(super) fn is_late(expression: &str) -> bool {
    let inside = expression[2..].trim_start();
    let after_fence = inside.strip_prefix(FENCE);
    let is_fence = after_fence.is_some_and(|after| after.trim_start().starts_with('}'));
    is_fence || inside.starts_with(SECRETS)
}

fn revealed(value: Json, resolve: &mut dyn FnMut(&Late) -> Option<Json>) -> Json {
    match value {
        Json::String(text) if text.has_late() => revealed_text(&text, resolve),
        Json::Array(items) => {
            Json::Array(items.into_iter().map(|item| revealed(item, resolve)).collect())
        }
        Json::Object(object) => {
            let entries = object.into_entries().into_iter();
            let entries = entries.map(|(key, value)| (key, revealed(value, resolve)));
            Json::Object(entries.collect::<Object>())
        }
        Json::Null | Json::Bool(_) | Json::Number(_) | Json::String(_) => value,
    }
}

fn revealed_text(text: &Text, resolve: &mut dyn FnMut(&Late) -> Option<Json>) -> Json {
    let mut value_of = |part: &str| {
        let (late, _) = late_expression(part).expect("what is late was read as an expression");
        resolve(&late).unwrap_or(Json::Null)
    };
    let mut out = Text::default();
    for (part, is_late) in text.parts() {
        if is_late && part.len() == text.len() {
            return value_of(part);
        }
        match is_late.then(|| value_of(part)) {
            None => out.push_str(part),
            Some(Json::Null) => {}
            Some(value) => out.push_str(&value.into_plain()),
        }
    }
    Json::String(out)
}

/// What the expression that the text begins with asks for, and the text after it.
pub(super) fn late_expression(text: &str) -> Option<(Late, &str)> {
    let (path, after) = text[2..].split_once('}')?;
    if path.trim() == FENCE {
        return Some((Late::Fence, after));
    }
    let path = path.trim().strip_prefix(SECRETS)?;
    let secret = if path.contains(['$', '{']) { None } else { Secret::read(path) };
    Some((Late::Secret(secret?), after))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lookup(name: &str) -> Option<String> {
        let value = match name {
            "KEY" => "s3cr\"et",
            "DB" => r#"{"user": "ann", "ports": [5432, 1.10], "deep": {"on": true}, "none": null}"#,
            "TRICKY" => "${workflow.secrets.KEY}",
            _ => return None,
        };
        Some(value.to_owned())
    }

    fn revealed(input: &str) -> String {
        let input = Payload::from_text(input.to_owned()).unwrap();
        reveal(&input, Some(7), &mut lookup).text().to_owned()
    }

    fn text(template: &str) -> String {
        let given = revealed(&serde_json::json!({ "a": template }).to_string());
        let given: serde_json::Map<String, serde_json::Value> =
            serde_json::from_str(&given).unwrap();
        given["a"].to_string()
    }

    #[test]
    fn disarmed_data_asks_for_nothing_and_is_handed_out_as_it_came() {
        let data = r#"{"a":["x ${workflow.secrets.KEY}","${a.b}"],"b":{"c":"$${workflow.secrets.DB}"},"n":1.10}"#;
        let payload = Payload::from_text(data.to_owned()).unwrap();
        let harmless = disarmed(&payload);
        assert_eq!(secrets_in(&harmless), []);
        assert_eq!(reveal(&harmless, Some(7), &mut lookup).text(), data);
        let plain = Payload::from_text(r#"{"a":"b"}"#.to_owned()).unwrap();
        assert_eq!(disarmed(&plain), plain);
    }

    #[test]
    fn a_whole_expression_takes_the_value_and_its_type() {
        assert_eq!(text("${workflow.secrets.KEY}"), r#""s3cr\"et""#);
        assert_eq!(text("${ workflow.secrets.KEY }"), r#""s3cr\"et""#);
        assert_eq!(text("${workflow.secrets.DB.ports}"), "[5432,1.1]");
        assert_eq!(text("${workflow.secrets.DB['deep'].on}"), "true");
        assert_eq!(text("${workflow.secrets.DB.ports[*]}"), "[5432,1.1]");
        assert_eq!(text("${workflow.secrets.DB.ports.length()}"), "2");
        assert_eq!(text("${workflow.secrets.NONE}"), "null");
        assert_eq!(text("${workflow.secrets.DB.nowhere}"), "null");
        assert_eq!(text("${workflow.secrets.KEY.inside}"), "null");
        let whole = revealed(r#"{"l":["${workflow.secrets.DB.ports}",{"k":1.10}]}"#);
        assert_eq!(whole, r#"{"l":[[5432,1.10],{"k":1.10}]}"#);
    }

    #[test]
    fn inside_text_it_becomes_text_and_nothing_when_it_is_missing() {
        assert_eq!(text("Bearer ${workflow.secrets.KEY}!"), r#""Bearer s3cr\"et!""#);
        assert_eq!(text("[${workflow.secrets.NONE}]"), r#""[]""#);
        assert_eq!(text("[${workflow.secrets.DB.none}]"), r#""[]""#);
        assert_eq!(text("${workflow.secrets.DB.user}:${workflow.secrets.DB.deep}"), {
            r#""ann:{\"on\":true}""#
        });
        assert_eq!(text("${workflow.secrets.NONE}${workflow.secrets.NONE}"), r#""""#);
    }

    #[test]
    fn an_escape_is_undone_and_nothing_else_is_touched() {
        assert_eq!(text("$${workflow.secrets.KEY}"), r#""${workflow.secrets.KEY}""#);
        assert_eq!(text("$$${workflow.secrets.KEY}"), r#""$${workflow.secrets.KEY}""#);
        assert_eq!(text("$${workflow.secrets.KEY}${workflow.secrets.DB.user}"), {
            r#""${workflow.secrets.KEY}ann""#
        });
        for kept in [
            "$${x} ${x} workflow.secrets.KEY",
            "${workflow.secrets.KEY",
            "${workflow.secrets.}",
            "${workflow.secrets.K$Y}",
            "${workflow.secrets.K/Y}",
            "${workflow.secretsX.KEY} workflow.secrets.",
        ] {
            assert_eq!(text(kept), serde_json::json!(kept).to_string());
        }
        let other = r#"{"${workflow.secrets.KEY}": "$${x}", "b":1}"#;
        assert_eq!(revealed(other), r#"{"${workflow.secrets.KEY}":"$${x}","b":1}"#);
    }

    #[test]
    fn what_was_put_in_place_is_not_looked_at_again() {
        assert_eq!(text("${workflow.secrets.TRICKY}"), r#""${workflow.secrets.KEY}""#);
        assert_eq!(text("a ${workflow.secrets.TRICKY}"), r#""a ${workflow.secrets.KEY}""#);
    }

    #[test]
    fn an_input_without_secrets_stays_as_it_is() {
        let input = Payload::from_text(r#"{ "a" : "${x}" }"#.to_owned()).unwrap();
        assert_eq!(reveal(&input, Some(7), &mut |_| panic!("nobody asked")).text(), input.text());
        assert_eq!(secrets_in(&input), []);
    }

    #[test]
    fn the_fence_is_text_and_can_be_escaped() {
        assert_eq!(text("${CPEWF_FENCE}"), r#""7""#);
        assert_eq!(text("${ CPEWF_FENCE }/${workflow.secrets.DB.user}"), r#""7/ann""#);
        assert_eq!(text("$${CPEWF_FENCE}"), r#""${CPEWF_FENCE}""#);
        for kept in ["${CPEWF_FENCES}", "CPEWF_FENCE", "${CPEWF_FENCE", "${CPEWF_FENCE.x}"] {
            assert_eq!(text(kept), serde_json::json!(kept).to_string());
        }
        let input = Payload::from_text(r#"{"a":"${CPEWF_FENCE}"}"#.to_owned()).unwrap();
        assert_eq!(secrets_in(&input), []);
        assert!(!mentions_secrets(&input) && is_unfinished(&input));
    }

    #[test]
    fn all_secrets_of_an_input_are_found_once() {
        let input = r#"{"a":"${workflow.secrets.B} ${workflow.secrets.A.x}",
            "b":["${workflow.secrets.B}","$${workflow.secrets.C}"]}"#;
        let found = secrets_in(&Payload::from_text(input.to_owned()).unwrap());
        let names: Vec<&str> = found.iter().map(|secret| secret.name.as_str()).collect();
        assert_eq!(names, ["A", "B"]);
    }
}
