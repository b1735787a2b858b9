//! # Request bodies: bounded, and liberal in what they say of themselves
//!
//! Never rejected for their content type. Text that reaches a column may hold no NUL, and JSON may
//! not nest deeper than the rest of the house can walk.

use std::error::Error as _;
use std::fmt;
use std::marker::PhantomData;
use std::sync::{Arc, LazyLock};

use axum::body::{HttpBody as _, to_bytes};
use axum::extract::{FromRequest, Request};
use axum::middleware::Next;
use axum::response::{IntoResponse as _, Response};
use bytes::Bytes;
use http_body_util::LengthLimitError;
use semel_engine::PAYLOAD_BYTES_MAX;
use semel_model::{ID_CHARS_MAX, Misread, Payload, RequestMembers, Warning, lenient, text_fault};
use serde::de::value::MapAccessDeserializer;
use serde::de::{DeserializeOwned, MapAccess, Visitor};
use serde::{Deserialize, Deserializer};
use serde_json::Value;

use crate::app::{App, Limits};
use crate::error::ApiError;
use crate::intake::Broken;
use crate::warnings::{numbered, warned};

const JSON_DEPTH_MAX: usize = 100;
/// Of the mistyped names of one request, so many are told.
const SENTENCES_MAX: usize = 5;

/// The whole body.
pub(crate) struct Body(Bytes);

impl FromRequest<App> for Body {
    type Rejection = ApiError;

    async fn from_request(request: Request, app: &App) -> Result<Self, ApiError> {
        whole(request.into_body(), Bound::of(&app.limits)).await.map(Self)
    }
}

/// How large a body may be, and who says so.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Bound {
    pub(crate) bytes: usize,
    pub(crate) name: &'static str,
}

impl Bound {
    pub(crate) fn of(limits: &Limits) -> Self {
        Self { bytes: limits.body_bytes_max, name: "body_bytes_max" }
    }

    /// The same, if this path takes no less.
    pub(crate) fn of_path(limits: &Limits, bytes: Option<usize>) -> Self {
        match bytes {
            Some(bytes) if bytes < limits.body_bytes_max => {
                Self { bytes, name: "what this path takes" }
            }
            _ => Self::of(limits),
        }
    }
}

/// The whole body, if it is not too large and goes on coming.
pub(crate) async fn whole(body: axum::body::Body, bound: Bound) -> Result<Bytes, ApiError> {
    let announced = usize::try_from(body.size_hint().lower()).unwrap_or(usize::MAX);
    if announced > bound.bytes {
        return Err(ApiError::TooLarge(bound));
    }
    to_bytes(body, bound.bytes).await.map_err(|error| match Broken::in_causes(&error) {
        Some(broken) => broken.refusal(),
        None if error.source().is_some_and(|cause| cause.is::<LengthLimitError>()) => {
            ApiError::TooLarge(bound)
        }
        None => ApiError::Malformed(format!("the request body broke off: {error}")),
    })
}

/// What an endpoint does with the body of its requests.
#[derive(Clone)]
pub(crate) enum Reading {
    Nothing,
    /// Data, or a definition: its reader judges it.
    Anything,
    /// A request whose members are known.
    Known {
        members: Members,
        bound: Bound,
    },
}

/// Made when the first such request comes: a server has many endpoints, and few are called.
type Members = Arc<LazyLock<RequestMembers, fn() -> RequestMembers>>;

impl Reading {
    pub(crate) fn known(members: fn() -> RequestMembers, bound: Bound) -> Self {
        Self::Known { members: Arc::new(LazyLock::new(members)), bound }
    }
}

/// Calls the handler.
pub(crate) async fn handle(request: Request, next: Next, reading: &Reading) -> Response {
    match reading {
        // What is sent all the same is left to whoever settles it after the answer.
        Reading::Nothing => next.run(request.map(|_| axum::body::Body::empty())).await,
        Reading::Anything => next.run(request).await,
        Reading::Known { members, bound } => {
            let (head, body) = request.into_parts();
            let body = match whole(body, *bound).await {
                Ok(body) => body,
                Err(error) => return error.into_response(),
            };
            let warnings = match read_by(members, &body) {
                Ok(warnings) => warnings,
                Err(error) => return error.into_response(),
            };
            let request = Request::from_parts(head, axum::body::Body::from(body));
            warned(next.run(request).await, &warnings)
        }
    }
}

/// What of a request is dropped, unless a name in it is almost that of a member: what is meant would
/// not be done, and the answer would be a success.
pub(crate) fn read_by(members: &RequestMembers, body: &[u8]) -> Result<Vec<Warning>, ApiError> {
    let Misread { refused, warned } = members.misread(body);
    if refused.is_empty() {
        return Ok(warned);
    }
    let sentences = refused.iter().take(SENTENCES_MAX);
    let sentences: Vec<_> = sentences.map(|it| format!("{} {}", it.path, it.message)).collect();
    let told = format!("{} Nothing was done (docs/errors/W-RUN-3.md)", sentences.join(" "));
    Err(ApiError::Malformed(told))
}

impl Body {
    pub(crate) fn of_text(text: String) -> Self {
        Self(text.into())
    }

    pub(crate) fn bytes(&self) -> &[u8] {
        &self.0
    }

    pub(crate) fn object<T: DeserializeOwned>(&self) -> Result<T, ApiError> {
        self.json::<Structure<T>>().map(|object| object.0)
    }

    pub(crate) fn list<T: DeserializeOwned>(&self) -> Result<Vec<T>, ApiError> {
        let list = self.json::<Vec<Structure<T>>>()?;
        Ok(list.into_iter().map(|object| object.0).collect())
    }

    /// A list of objects, or one object alone: clients differ.
    pub(crate) fn one_or_more<T: DeserializeOwned>(&self) -> Result<Vec<T>, ApiError> {
        match self.0.iter().find(|byte| !byte.is_ascii_whitespace()) {
            Some(b'{') => Ok(vec![self.object()?]),
            _ => self.list(),
        }
    }

    /// What is dropped of the definition in this body, or of each of a list.
    pub(crate) fn unknown_members(&self, of_one: fn(&Value) -> Vec<Warning>) -> Vec<Warning> {
        match serde_json::from_slice(&self.0) {
            Ok(Value::Array(list)) => {
                let all = list.iter().enumerate();
                all.flat_map(|(at, one)| numbered(at, list.len(), of_one(one))).collect()
            }
            Ok(one) => of_one(&one),
            Err(_) => Vec::new(),
        }
    }

    /// A list of plain texts.
    pub(crate) fn texts(&self) -> Result<Vec<String>, ApiError> {
        self.json()
    }

    fn json<T: DeserializeOwned>(&self) -> Result<T, ApiError> {
        check_depth(&self.0)?;
        serde_json::from_slice(&self.0)
            .map_err(|error| ApiError::Malformed(format!("the request body is not valid: {error}")))
    }

    pub(crate) fn is_blank(&self) -> bool {
        self.0.iter().all(u8::is_ascii_whitespace)
    }

    /// Text as it came. Clients differ: one JSON string is taken for what it says, anything else
    /// word for word.
    pub(crate) fn text(&self) -> Result<String, ApiError> {
        let text = std::str::from_utf8(&self.0);
        let text = text.map_err(|_| ApiError::Malformed("the body is not UTF-8".to_owned()))?;
        Ok(serde_json::from_str(text).unwrap_or_else(|_| text.to_owned()))
    }

    /// An object of payload; an absent body means `{}`.
    pub(crate) fn payload(&self) -> Result<Payload, ApiError> {
        #[derive(Deserialize)]
        #[serde(transparent)]
        struct Object(#[serde(deserialize_with = "lenient::object")] Payload);
        if self.is_blank() {
            return Ok(Payload::empty());
        }
        self.json::<Object>().map(|object| object.0)
    }
}

/// Read from an object only: serde alone would take `["a", 1]` for a structure's first two fields.
struct Structure<T>(T);

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Structure<T> {
    fn deserialize<D: Deserializer<'de>>(d: D) -> Result<Self, D::Error> {
        struct Object<T>(PhantomData<T>);
        impl<'de, T: Deserialize<'de>> Visitor<'de> for Object<T> {
            type Value = T;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<T, A::Error> {
                T::deserialize(MapAccessDeserializer::new(map))
            }
        }
        d.deserialize_map(Object(PhantomData)).map(Self)
    }
}

fn check_depth(bytes: &[u8]) -> Result<(), ApiError> {
    let (mut depth, mut in_text, mut escaped) = (0_usize, false, false);
    for byte in bytes {
        match byte {
            _ if escaped => escaped = false,
            b'\\' if in_text => escaped = true,
            b'"' => in_text = !in_text,
            b'{' | b'[' if !in_text => {
                depth += 1;
                if depth > JSON_DEPTH_MAX {
                    let limit = format!("the JSON nests deeper than {JSON_DEPTH_MAX} levels");
                    return Err(ApiError::Malformed(limit));
                }
            }
            b'}' | b']' if !in_text => depth = depth.saturating_sub(1),
            _ => {}
        }
    }
    Ok(())
}

/// An object that can be read in full: no number beyond all limits, no half of a character.
pub(crate) fn readable(name: &str, payload: &Payload) -> Result<(), ApiError> {
    if !payload.is_object() || payload.value().is_object() {
        return Ok(());
    }
    Err(ApiError::Malformed(format!("{name} has a number or text that cannot be held")))
}

/// Data a run or a task will carry.
pub(crate) fn bounded(name: &str, payload: &Payload) -> Result<(), ApiError> {
    let bytes = payload.len();
    if bytes <= PAYLOAD_BYTES_MAX {
        return Ok(());
    }
    let message = format!("{name} takes {bytes} bytes, more than the limit of {PAYLOAD_BYTES_MAX}");
    Err(ApiError::Malformed(message))
}

/// Text that will be a column or a header.
pub(crate) fn plain(name: &str, text: Option<&str>) -> Result<(), ApiError> {
    match text {
        Some(text) if text.contains('\0') => {
            Err(ApiError::Malformed(format!("{name} must not contain a NUL character")))
        }
        _ => Ok(()),
    }
}

/// Text of one line that names somebody or something.
pub(crate) fn one_line(name: &str, text: Option<&str>) -> Result<(), ApiError> {
    match text.and_then(|text| text_fault(text, ID_CHARS_MAX)) {
        Some(fault) => Err(ApiError::Malformed(format!("{name} {fault}"))),
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_list_is_not_taken_for_an_object() {
        #[derive(Debug, Deserialize)]
        struct Named {
            name: String,
        }
        let body = |text: &'static str| Body(Bytes::from_static(text.as_bytes()));
        assert_eq!(body(r#"{"name":"a"}"#).object::<Named>().unwrap().name, "a");
        assert_eq!(body(r#"[{"name":"a"}]"#).list::<Named>().unwrap()[0].name, "a");
        assert!(body(r#"["a"]"#).object::<Named>().is_err());
        assert!(body(r#"[["a"]]"#).list::<Named>().is_err());
        assert!(body(r#"{"name":"a"}"#).list::<Named>().is_err());
    }

    #[test]
    fn text_is_unquoted_only_if_all_of_it_is_one_json_string() {
        let text = |body: &'static str| Body(Bytes::from_static(body.as_bytes())).text().unwrap();
        assert_eq!(text(r#""say \"hi\"\nbye""#), "say \"hi\"\nbye");
        for verbatim in ["plain", r#"say \"hi\"\nbye"#, r#""a" "b""#, r#""open"#, " x\n", "", "12"]
        {
            assert_eq!(text(verbatim), verbatim);
        }
        assert_eq!(text(r#"{"user":"ann"}"#), r#"{"user":"ann"}"#);
        assert!(Body(Bytes::from_static(b"\xff")).text().is_err());
    }

    #[test]
    fn depth_is_counted_outside_of_text_only() {
        let nested = |depth: usize| [vec![b'['; depth], vec![b']'; depth]].concat();
        assert!(check_depth(&nested(100)).is_ok());
        assert!(check_depth(&nested(101)).is_err());
        let text = format!("{{\"a\":\"{}\\\"{}\"}}", "[".repeat(200), "{".repeat(200));
        assert!(check_depth(text.as_bytes()).is_ok());
    }
}
