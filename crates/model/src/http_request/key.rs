//! # Keys of requests: how the other side is told that a repeat is one
//!
//! POST and PATCH carry one unless their author says otherwise. Where it goes is a header, a field of
//! the body or both; a preset knows where a well-known service looks.

use super::HttpMethod;
use super::fields::Fields;
use crate::names::UnknownName;

const HEADER: &str = "Idempotency-Key";

/// Headers by which services know repeats: an author who sets one has chosen a key.
const HEADERS: [&str; 4] =
    ["idempotency-key", "x-idempotency-key", "paypal-request-id", "cko-idempotency-key"];

/// The field of a body by which services know repeats.
const BODY_FIELD: &str = "idempotency_key";

/// A longer value fits no service we know.
const VALUE_BYTES_MAX: usize = 255;

/// Header and field of the body in which a service looks.
type Places = (Option<&'static str>, Option<&'static str>);

const USUAL: Places = (Some(HEADER), None);
const PRESETS: [&str; 5] = ["stripe", "adyen", "paypal", "square", "checkout"];

/// The key of a request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum HttpKey {
    None,
    /// Among the headers its author wrote.
    Written,
    /// Put there by whoever sends; without a value of its own, the task's effect key.
    Added {
        header: Option<String>,
        body_field: Option<String>,
        value: Option<String>,
    },
}

impl HttpKey {
    /// Services look for keys in headers of that name.
    pub fn is_known(header: &str) -> bool {
        HEADERS.contains(&header.to_ascii_lowercase().as_str())
    }

    /// Also whether a preset names a service that is known to honour keys.
    pub(super) fn read(
        request: &Fields<'_>,
        method: HttpMethod,
        headers: &[(String, String)],
    ) -> Result<(Self, bool), String> {
        let is_written =
            |(name, value): &(String, String)| Self::is_known(name) && !value.is_empty();
        let is_written = headers.iter().any(is_written);
        let told = request.object("idempotency")?;
        let of = |why: String| format!("idempotency.{why}");
        let enabled = match &told {
            Some(told) => told.flag("enabled").map_err(of)?,
            None => None,
        };
        let Some(told) = told.filter(|_| enabled != Some(false)) else {
            let key = match is_written {
                true => Self::Written,
                false if enabled.is_none() && method.creates() => Self::plain(),
                false => Self::None,
            };
            return Ok((key, false));
        };
        let preset = told.text("preset").map_err(of)?.map(|name| places(&name)).transpose()?;
        let header = told.text("header").map_err(of)?;
        let body_field = told.text("bodyField").map_err(of)?;
        let value = told.text("value").map_err(of)?.filter(|value| !value.trim().is_empty());
        if value.as_ref().is_some_and(|value| value.len() > VALUE_BYTES_MAX) {
            return Err(format!("idempotency.value is longer than {VALUE_BYTES_MAX} bytes"));
        }
        let is_placed = header.is_some() || body_field.is_some() || preset.is_some();
        let is_wanted = enabled == Some(true) || method.creates();
        let key = match is_wanted {
            false => Self::None,
            true if is_written && !is_placed => Self::Written,
            true => {
                let (usual_header, usual_field) = preset.unwrap_or(USUAL);
                let is_said = header.is_some() || body_field.is_some();
                Self::Added {
                    header: header.or_else(|| usual_header.filter(|_| !is_said).map(str::to_owned)),
                    body_field: body_field
                        .or_else(|| usual_field.filter(|_| !is_said).map(str::to_owned)),
                    value,
                }
            }
        };
        Ok((key, preset.is_some()))
    }

    fn plain() -> Self {
        Self::Added { header: Some(HEADER.to_owned()), body_field: None, value: None }
    }
}

/// Where the author of a request may write its key.
#[derive(Clone, Copy, Debug)]
pub struct KeyPlaces<'a> {
    header: Option<&'a str>,
    body_field: Option<&'a str>,
}

impl HttpKey {
    /// The places that `idempotency` of a request names, besides those that are known.
    pub fn places_named(idempotency: Option<&serde_json::Value>) -> KeyPlaces<'_> {
        let text = |name: &str| idempotency?.get(name)?.as_str();
        KeyPlaces { header: text("header"), body_field: text("bodyField") }
    }
}

impl<'a> KeyPlaces<'a> {
    pub fn has_header(&self, name: &str) -> bool {
        let is_named = |header: &str| header.trim().eq_ignore_ascii_case(name);
        HttpKey::is_known(name) || self.header.is_some_and(is_named)
    }

    /// Fields of the body.
    pub fn fields(&self) -> impl Iterator<Item = &'a str> + use<'a> {
        let named = self.body_field.filter(|name| *name != BODY_FIELD);
        std::iter::once(BODY_FIELD).chain(named)
    }
}

/// Where a well-known service looks.
fn places(preset: &str) -> Result<Places, String> {
    match preset.trim().to_ascii_lowercase().as_str() {
        "stripe" | "adyen" => Ok(USUAL),
        "paypal" => Ok((Some("PayPal-Request-Id"), None)),
        "square" => Ok((None, Some(BODY_FIELD))),
        "checkout" => Ok((Some("Cko-Idempotency-Key"), None)),
        _ => Err(format!("idempotency.preset: {}", UnknownName::new(preset, &PRESETS))),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn key(method: HttpMethod, idempotency: Value, headers: &[(&str, &str)]) -> HttpKey {
        let text = json!({ "idempotency": idempotency }).to_string();
        let headers: Vec<(String, String)> =
            headers.iter().map(|(name, value)| ((*name).into(), (*value).into())).collect();
        HttpKey::read(&Fields::read(&text).unwrap(), method, &headers).unwrap().0
    }

    fn added(header: Option<&str>, field: Option<&str>, value: Option<&str>) -> HttpKey {
        let own = |text: Option<&str>| text.map(str::to_owned);
        HttpKey::Added { header: own(header), body_field: own(field), value: own(value) }
    }

    #[test]
    fn post_and_patch_have_a_key_and_others_on_request() {
        for method in [HttpMethod::Post, HttpMethod::Patch] {
            assert_eq!(key(method, json!(null), &[]), HttpKey::plain());
            assert_eq!(key(method, json!({"enabled": false}), &[]), HttpKey::None);
        }
        assert_eq!(key(HttpMethod::Put, json!(null), &[]), HttpKey::None);
        assert_eq!(key(HttpMethod::Get, json!({"header": "X"}), &[]), HttpKey::None);
        assert_eq!(key(HttpMethod::Put, json!({"enabled": true}), &[]), HttpKey::plain());
    }

    #[test]
    fn a_key_that_is_written_is_left_alone() {
        let written = [("X-IDEMPOTENCY-key", "k")];
        assert_eq!(key(HttpMethod::Post, json!(null), &written), HttpKey::Written);
        assert_eq!(key(HttpMethod::Post, json!({"enabled": true}), &written), HttpKey::Written);
        assert_eq!(
            key(HttpMethod::Post, json!(null), &[("Idempotency-Key", "")]),
            HttpKey::plain()
        );
    }

    #[test]
    fn presets_know_where_and_the_author_knows_better() {
        let post = |told: Value| key(HttpMethod::Post, told, &[]);
        assert_eq!(post(json!({"preset": "stripe"})), added(Some(HEADER), None, None));
        assert_eq!(post(json!({"preset": "adyen"})), added(Some(HEADER), None, None));
        assert_eq!(post(json!({"preset": "PayPal"})), added(Some("PayPal-Request-Id"), None, None));
        assert_eq!(post(json!({"preset": "checkout"})), {
            added(Some("Cko-Idempotency-Key"), None, None)
        });
        assert_eq!(post(json!({"preset": "square", "value": "v"})), {
            added(None, Some("idempotency_key"), Some("v"))
        });
        assert_eq!(post(json!({"header": "X-Key", "bodyField": "key", "value": " "})), {
            added(Some("X-Key"), Some("key"), None)
        });
    }
}
