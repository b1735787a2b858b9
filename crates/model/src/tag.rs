//! # Tags: labels people put on things

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::{Warning, lenient};

/// A label. Two are the same when key and value are.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Tag {
    #[serde(deserialize_with = "lenient::text")]
    pub key: String,
    /// A word of the client's, given back as it came.
    #[serde(
        rename = "type",
        default,
        deserialize_with = "lenient::boxed_text",
        skip_serializing_if = "Option::is_none"
    )]
    pub kind: Option<String>,
    #[serde(default, deserialize_with = "lenient::text")]
    pub value: String,
}

impl Tag {
    pub fn is_same(&self, other: &Self) -> bool {
        self.key == other.key && self.value == other.value
    }

    /// Those that a definition has inside it. The error says what is wrong with them.
    pub fn inside(tags: Option<&Value>) -> Result<Option<Vec<Self>>, String> {
        match tags {
            None | Some(Value::Null) => Ok(None),
            Some(tags) => {
                let read = serde_json::from_value(tags.clone()).map(Some);
                read.map_err(|error| format!("is no list of tags: {error}"))
            }
        }
    }

    /// Tags inside a definition that cannot be read are kept, and tag nothing.
    pub fn unreadable(tags: Option<&Value>) -> Option<Warning> {
        Self::inside(tags).err().map(|why| Warning::no_effect("tags", why))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_tag_needs_a_key_and_no_more() {
        let tag: Tag =
            serde_json::from_str(r#"{"key": "team", "type": null, "value": 7}"#).unwrap();
        let text = serde_json::to_string(&tag).unwrap();
        assert_eq!(text, r#"{"key":"team","value":"7"}"#);
        assert!(serde_json::from_str::<Tag>(r#"{"value": "a"}"#).is_err());
    }

    #[test]
    fn its_type_is_given_back_as_it_came() {
        for text in [
            r#"{"key":"a","type":"metadata","value":""}"#,
            r#"{"key":"a","type":"METADATA","value":""}"#,
            r#"{"key":"a","type":"my own","value":""}"#,
            r#"{"key":"a","value":""}"#,
        ] {
            let tag: Tag = serde_json::from_str(text).unwrap();
            assert_eq!(serde_json::to_string(&tag).unwrap(), text);
        }
    }

    #[test]
    fn tags_inside_a_definition_are_a_list_or_nothing() {
        assert_eq!(Tag::inside(None), Ok(None));
        assert_eq!(Tag::inside(Some(&Value::Null)), Ok(None));
        let one = json!([{"key": "team", "value": "a"}]);
        assert_eq!(Tag::inside(Some(&one)).unwrap().unwrap().len(), 1);
        assert!(Tag::inside(Some(&json!("team:a"))).is_err());
    }
}
