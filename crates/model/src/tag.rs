//! # Tags: labels people put on things

use schemars::JsonSchema;
use serde::{Deserialize, Deserializer, Serialize};

use crate::lenient;

/// A label. Two are the same when key and value are.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Tag {
    #[serde(deserialize_with = "lenient::text")]
    pub key: String,
    #[serde(rename = "type", default, deserialize_with = "kind")]
    pub kind: TagKind,
    #[serde(default, deserialize_with = "lenient::text")]
    pub value: String,
}

impl Tag {
    pub fn is_same(&self, other: &Self) -> bool {
        self.key == other.key && self.value == other.value
    }
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum TagKind {
    #[default]
    Metadata,
    RateLimit,
}

fn kind<'de, D: Deserializer<'de>>(d: D) -> Result<TagKind, D::Error> {
    Ok(Option::deserialize(d)?.unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tag_needs_a_key_and_no_more() {
        let tag: Tag =
            serde_json::from_str(r#"{"key": "team", "type": null, "value": 7}"#).unwrap();
        let text = serde_json::to_string(&tag).unwrap();
        assert_eq!(text, r#"{"key":"team","type":"METADATA","value":"7"}"#);
        assert!(serde_json::from_str::<Tag>(r#"{"value": "a"}"#).is_err());
        assert!(serde_json::from_str::<Tag>(r#"{"key": "a", "type": "COLOUR"}"#).is_err());
    }
}
