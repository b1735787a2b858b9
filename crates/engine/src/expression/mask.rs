//! # Masking: what a worker was given in confidence does not come back into what is stored
//!
//! A [`Mask`] is made of the values a task was handed and is laid over what its worker reports: in
//! strings, in keys, in numbers, also as part of something longer, also as JSON inside a string the
//! way common libraries write it. What a worker changes beyond that (encodes, splits, hashes) cannot
//! be recognised.

use std::collections::BTreeSet;
use std::fmt;

use aho_corasick::{AhoCorasick, MatchKind};
use semel_model::Payload;

use super::json::{Json, Object};
use super::secrets::Secret;

/// Shorter values would blot out half of every text.
const VALUE_BYTES_MIN: usize = 4;

/// What stands in place of a value.
const MASKED: &str = "***";

/// JSON text inside JSON text inside JSON text: as deep as escapes are looked for.
const ESCAPES_MAX: usize = 2;

#[derive(Clone, Default)]
pub struct Mask {
    /// The longest at any place, so that no value is cut in two by one that it begins with.
    values: Option<AhoCorasick>,
}

impl fmt::Debug for Mask {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Mask({} values)", self.values.as_ref().map_or(0, AhoCorasick::patterns_len))
    }
}

impl Mask {
    /// Hides what each secret's value, and each older value of it, gave to whoever asked.
    pub fn of<'a>(given: impl IntoIterator<Item = (&'a Secret, &'a str)>) -> Self {
        let mut texts = BTreeSet::new();
        for (secret, value) in given {
            texts.insert(value.to_owned());
            leaves(&secret.of(value), &mut texts);
            if let Some(document) = Json::read_text(value).filter(|_| secret.is_whole()) {
                leaves(&document, &mut texts);
            }
        }
        texts.retain(|text| text.len() >= VALUE_BYTES_MIN);
        let mut forms = texts.clone();
        for _ in 0..ESCAPES_MAX {
            let next: Vec<String> = forms.iter().flat_map(|text| escapes(text)).collect();
            forms.extend(next);
        }
        let values = (!forms.is_empty()).then(|| {
            let longest =
                AhoCorasick::builder().match_kind(MatchKind::LeftmostLongest).build(&forms);
            longest.expect("the values of a task's secrets are far fewer than 2^31")
        });
        Self { values }
    }

    pub fn is_empty(&self) -> bool {
        self.values.is_none()
    }

    /// The text without the values; none if it held none.
    pub fn text(&self, text: &str) -> Option<String> {
        let values = self.values.as_ref()?;
        values.is_match(text).then(|| {
            let mut masked = String::with_capacity(text.len());
            values.replace_all_with(text, &mut masked, |_, _, masked| {
                masked.push_str(MASKED);
                true
            });
            masked
        })
    }

    /// The payload without the values; none if it held none.
    pub fn payload(&self, payload: &Payload) -> Option<Payload> {
        if self.is_empty() {
            return None;
        }
        let mut found = false;
        let masked = self.laid_over(Json::read_data(payload), &mut found);
        found.then(|| masked.to_data())
    }

    fn laid_over(&self, value: Json, found: &mut bool) -> Json {
        match value {
            Json::String(text) => Json::String(self.masked(text.into_shown(), found).into()),
            Json::Number(number) => {
                let value = Json::Number(number);
                let is_hidden = self.text(&value.to_text()).is_some();
                *found |= is_hidden;
                if is_hidden { Json::String(MASKED.to_owned().into()) } else { value }
            }
            Json::Array(items) => {
                Json::Array(items.into_iter().map(|item| self.laid_over(item, found)).collect())
            }
            Json::Object(object) => {
                let mut entries = Vec::with_capacity(object.len());
                for (key, value) in object.into_entries() {
                    entries.push((self.masked(key, found), self.laid_over(value, found)));
                }
                Json::Object(entries.into_iter().collect::<Object>())
            }
            Json::Null | Json::Bool(_) => value,
        }
    }

    fn masked(&self, text: String, found: &mut bool) -> String {
        match self.text(&text) {
            Some(masked) => {
                *found = true;
                masked
            }
            None => text,
        }
    }
}

/// All texts and numbers of a value: whoever has it can say each of them alone.
fn leaves(value: &Json, texts: &mut BTreeSet<String>) {
    match value {
        Json::String(text) => {
            texts.insert(text.to_string());
        }
        Json::Number(_) => {
            texts.insert(value.to_text());
        }
        Json::Array(items) => items.iter().for_each(|item| leaves(item, texts)),
        Json::Object(object) => object.iter().for_each(|(_, value)| leaves(value, texts)),
        Json::Null | Json::Bool(_) => {}
    }
}

/// The text as common libraries write it inside a JSON string.
fn escapes(text: &str) -> [String; 4] {
    let quoted = Json::String(text.to_owned().into()).to_text();
    let plain = &quoted[1..quoted.len() - 1];
    let by_unit = |is_escaped: fn(char) -> bool, upper: bool| {
        let mut out = String::with_capacity(plain.len());
        for next in plain.chars() {
            if !is_escaped(next) {
                out.push(next);
                continue;
            }
            for unit in next.encode_utf16(&mut [0; 2]) {
                out.push_str(&if upper {
                    format!("\\u{unit:04X}")
                } else {
                    format!("\\u{unit:04x}")
                });
            }
        }
        out
    };
    let beyond_ascii = |next: char| !next.is_ascii();
    let of_markup = |next: char| matches!(next, '<' | '>' | '&' | '\u{2028}' | '\u{2029}');
    [
        plain.to_owned(),
        by_unit(beyond_ascii, false),
        by_unit(beyond_ascii, true),
        by_unit(of_markup, false),
    ]
}

#[cfg(test)]
mod tests {
    use super::super::secrets::secrets_in;
    use super::*;

    fn mask(values: &[&str]) -> Mask {
        let whole = Secret::named("S");
        Mask::of(values.iter().map(|value| (&whole, *value)))
    }

    fn masked(mask: &Mask, text: &str) -> String {
        let payload = Payload::from_text(text.to_owned()).unwrap();
        mask.payload(&payload).map_or("as it was".to_owned(), |masked| masked.text().to_owned())
    }

    #[test]
    fn a_value_is_hidden_wherever_it_stands() {
        let mask = mask(&["hunter22"]);
        assert_eq!(masked(&mask, r#"{"a":"hunter22"}"#), r#"{"a":"***"}"#);
        assert_eq!(masked(&mask, r#"{"a":["xhunter22y",1.10]}"#), r#"{"a":["x***y",1.10]}"#);
        assert_eq!(masked(&mask, r#"{"hunter22":1}"#), r#"{"***":1}"#);
        assert_eq!(masked(&mask, r#"{"a":"\u0068unter22"}"#), r#"{"a":"***"}"#);
        assert_eq!(masked(&mask, r#"{ "a" : "hunter" }"#), "as it was");
        assert_eq!(mask.text("no: hunter22, hunter22").as_deref(), Some("no: ***, ***"));
        assert_eq!(mask.text("no"), None);
    }

    #[test]
    fn json_inside_a_string_hides_nothing() {
        let value = "a\"b\\c\nü<d>";
        let mask = mask(&[value]);
        let once = serde_json::json!({ "k": value }).to_string();
        let python = once.replace('ü', "\\u00fc");
        let java = once.replace('ü', "\\u00FC");
        let go = once.replace('<', "\\u003c").replace('>', "\\u003e");
        let twice = serde_json::json!({ "k": once }).to_string();
        for text in [once, python, java, go] {
            assert_eq!(mask.text(&text).as_deref(), Some(r#"{"k":"***"}"#));
        }
        assert!(!mask.text(&twice).unwrap().contains('b'), "{twice}");
    }

    #[test]
    fn numbers_and_parts_of_a_json_secret_are_hidden_too() {
        let mask = mask(&["12345678", r#"{"user":"anna","pin":98765}"#]);
        assert_eq!(masked(&mask, r#"{"a":12345678,"b":1234}"#), r#"{"a":"***","b":1234}"#);
        assert_eq!(masked(&mask, r#"{"a":"anna","b":98765}"#), r#"{"a":"***","b":"***"}"#);
    }

    #[test]
    fn only_what_was_asked_for_is_hidden() {
        let input = r#"{"a":"${workflow.secrets.S.password}"}"#;
        let secrets = secrets_in(&Payload::from_text(input.to_owned()).unwrap());
        let value = r#"{"host":"localhost","password":"hunter22"}"#;
        let mask = Mask::of(secrets.iter().map(|secret| (secret, value)));
        assert_eq!(mask.text("hunter22@localhost").as_deref(), Some("***@localhost"));
        assert_eq!(mask.text(&format!("<{value}>")).as_deref(), Some("<***>"));
    }

    #[test]
    fn short_values_are_left_alone_and_long_ones_go_first() {
        assert!(mask(&["abc", ""]).is_empty());
        assert_eq!(mask(&["secret", "secret-key"]).text("secret-key").as_deref(), Some("***"));
        assert_eq!(format!("{:?}", mask(&["hunter22"])), "Mask(1 values)");
    }
}
