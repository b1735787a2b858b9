//! # HTTP requests: what an HTTP task is told to send
//!
//! Conductor's `http_request`, and what Semel adds to it: keys that let the other side recognise a
//! repeat, and conditions. Read from a task's input, whose text is kept: the body that is sent is the
//! body that is stored, to the byte.

mod downstream;
mod fields;
mod key;
mod rules;

use crate::Payload;
use crate::names::names;

pub use downstream::{Downstream, KeyHosts};
use fields::Fields;
pub use key::{HttpKey, KeyPlaces};
pub(crate) use rules::{is_computed, objections};

/// How long a connection may take, and each wait for the other side, if the task does not say.
const TIMEOUT_MS: u64 = 3_000;
/// Longer waits are cut to this; 0 means this too.
const TIMEOUT_MS_MAX: u64 = 3_600_000;
const HEADERS_MAX: usize = 200;

names! {
    HttpMethod {
        Get = "GET",
        Head = "HEAD",
        Options = "OPTIONS",
        Put = "PUT",
        Delete = "DELETE",
        Post = "POST",
        Patch = "PATCH",
    }
}

names! {
    /// Whether a request may be sent once more when nobody knows what became of it.
    HttpClass {
        /// Reads only.
        Safe = "SAFE",
        /// Done twice is done once, by its method or by its author's word.
        IdempotentMethod = "IDEMPOTENT_METHOD",
        /// Carries a key, and the other side is known to honour keys.
        Keyed = "KEYED",
        /// It never left.
        NotSent = "NOT_SENT",
        /// Done twice is done twice.
        Unsafe = "UNSAFE",
    }
}

names! {
    /// What becomes of a task whose condition did not hold.
    OnConditionFailed {
        Fail = "FAIL",
        /// It is done if what is there is what it would have written.
        CompleteIfEqual = "COMPLETE_IF_EQUAL",
    }
}

/// One request, before key and fence are put into it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HttpRequest {
    pub method: HttpMethod,
    pub uri: String,
    pub headers: Vec<(String, String)>,
    /// As it is sent, but for a key inside it.
    pub body: Option<String>,
    pub accept: String,
    pub content_type: String,
    pub connect_ms: u64,
    pub read_ms: u64,
    /// For everything together, from the name of the host to the last byte of the answer; none: the
    /// task does not say.
    pub total_ms: Option<u64>,
    pub key: HttpKey,
    pub if_match: Option<String>,
    pub if_none_match: Option<String>,
    pub on_condition_failed: OnConditionFailed,
    pub follows_redirects: bool,
    /// Its author says that a repeat does no harm.
    pub is_assumed_idempotent: bool,
    /// The other side is known to do a request with the same key once.
    pub honours_keys: bool,
    /// Success leaves the task open, for somebody else to complete.
    pub is_completed_by_others: bool,
}

impl HttpMethod {
    pub fn is_safe(self) -> bool {
        matches!(self, Self::Get | Self::Head | Self::Options)
    }

    /// A repeat may do what it does once more.
    pub fn creates(self) -> bool {
        matches!(self, Self::Post | Self::Patch)
    }
}

impl HttpRequest {
    /// From the input of a task, under `http_request` or not. The error is for people.
    pub fn read(input: &Payload) -> Result<Self, String> {
        let outer = Fields::read(input.text()).map_err(|why| format!("input {why}"))?;
        let inner = outer.object("http_request")?;
        let of = inner.as_ref().unwrap_or(&outer);
        let uri = of.text("uri")?.filter(|uri| !uri.trim().is_empty()).ok_or(
            "Missing HTTP URI.  See documentation for HttpTask for required input parameters",
        )?;
        let method = of.text("method")?.filter(|method| !method.trim().is_empty());
        let method = method_of(&method.ok_or("No HTTP method specified")?)?;
        let headers = of.headers("headers", HEADERS_MAX)?;
        let (key, honours_keys) = HttpKey::read(of, method, &headers)?;
        Ok(Self {
            method,
            uri: uri.trim().to_owned(),
            body: of.body("body")?,
            accept: of.texts("accept")?.unwrap_or_else(|| "application/json".to_owned()),
            content_type: of.text("contentType")?.unwrap_or_else(|| "application/json".to_owned()),
            connect_ms: timeout_ms(of.number("connectionTimeOut")?),
            read_ms: timeout_ms(of.number("readTimeOut")?),
            total_ms: of.number("totalTimeOut")?.map(|said| timeout_ms(Some(said))),
            key,
            honours_keys,
            if_match: of.text("ifMatch")?,
            if_none_match: of.text("ifNoneMatch")?,
            on_condition_failed: match of.text("onConditionFailed")? {
                Some(said) => said.parse().map_err(|why| format!("onConditionFailed: {why}"))?,
                None => OnConditionFailed::Fail,
            },
            follows_redirects: of.flag("followRedirects")?.unwrap_or(true),
            is_assumed_idempotent: of.flag("assumeIdempotent")?.unwrap_or(false),
            is_completed_by_others: outer.flag("asyncComplete")?.unwrap_or(false)
                || of.flag("asyncComplete")?.unwrap_or(false),
            headers,
        })
    }

    /// The other side is told by which key to know a repeat, whether it looks at keys or not.
    pub fn carries_key(&self) -> bool {
        self.method.creates() && self.key != HttpKey::None
    }

    /// What may be done when it was sent and not answered.
    pub fn class(&self) -> HttpClass {
        match self.method {
            HttpMethod::Get | HttpMethod::Head | HttpMethod::Options => HttpClass::Safe,
            HttpMethod::Put | HttpMethod::Delete => HttpClass::IdempotentMethod,
            HttpMethod::Post | HttpMethod::Patch if self.carries_key() && self.honours_keys => {
                HttpClass::Keyed
            }
            HttpMethod::Post | HttpMethod::Patch if self.is_assumed_idempotent => {
                HttpClass::IdempotentMethod
            }
            HttpMethod::Post | HttpMethod::Patch => HttpClass::Unsafe,
        }
    }
}

fn method_of(text: &str) -> Result<HttpMethod, String> {
    text.trim().to_ascii_uppercase().parse().map_err(|why| format!("method: {why}"))
}

fn timeout_ms(said: Option<i64>) -> u64 {
    match said.map(u64::try_from) {
        None => TIMEOUT_MS,
        Some(Ok(0) | Err(_)) => TIMEOUT_MS_MAX,
        Some(Ok(ms)) => ms.min(TIMEOUT_MS_MAX),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};

    fn read(request: Value) -> HttpRequest {
        HttpRequest::read(&Payload::from_value(&json!({"http_request": request}))).unwrap()
    }

    fn refused(request: Value) -> String {
        HttpRequest::read(&Payload::from_value(&request)).unwrap_err()
    }

    #[test]
    fn defaults_are_those_of_conductor() {
        let request = read(json!({"uri": " http://a/b ", "method": "get"}));
        assert_eq!((request.uri.as_str(), request.method), ("http://a/b", HttpMethod::Get));
        assert_eq!((request.connect_ms, request.read_ms), (3_000, 3_000));
        assert_eq!(request.total_ms, None);
        assert_eq!((request.accept.as_str(), request.body), ("application/json", None));
        assert!(request.follows_redirects && request.headers.is_empty());
        let flat = json!({"uri": "http://a", "method": "POST", "asyncComplete": true,
            "accept": ["text/plain", "text/html"], "readTimeOut": "50", "connectionTimeOut": 0,
            "totalTimeOut": 90_000,
            "headers": {"a": 1, "b": null, "c": ["x", "y"]}});
        let request = HttpRequest::read(&Payload::from_value(&flat)).unwrap();
        assert_eq!((request.accept.as_str(), request.read_ms), ("text/plain, text/html", 50));
        assert_eq!((request.connect_ms, request.total_ms), (TIMEOUT_MS_MAX, Some(90_000)));
        let headers = [("a", "1"), ("c", "x"), ("c", "y")];
        assert_eq!(request.headers, headers.map(|(name, value)| (name.into(), value.into())));
        assert!(request.is_completed_by_others);
    }

    #[test]
    fn a_body_keeps_its_text() {
        let text = r#"{"http_request":{"uri":"http://a","method":"PUT","body":{"b": 1.10,"a":9007199254740993}}}"#;
        let request = HttpRequest::read(&Payload::from_text(text.to_owned()).unwrap()).unwrap();
        assert_eq!(request.body.as_deref(), Some(r#"{"b": 1.10,"a":9007199254740993}"#));
        let body = |body: Value| read(json!({"uri": "u", "method": "PUT", "body": body})).body;
        assert_eq!(body(json!("as \"is\"")).as_deref(), Some("as \"is\""));
        assert_eq!(body(json!([1])).as_deref(), Some("[1]"));
        assert_eq!(body(json!(null)), None);
    }

    #[test]
    fn the_class_follows_from_method_key_and_word() {
        let class = |more: Value| {
            let mut request = json!({"uri": "http://a"});
            request.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
            read(request).class()
        };
        for safe in ["GET", "HEAD", "OPTIONS"] {
            assert_eq!(class(json!({"method": safe})), HttpClass::Safe);
        }
        for method in ["PUT", "DELETE"] {
            assert_eq!(class(json!({"method": method})), HttpClass::IdempotentMethod);
        }
        for method in ["POST", "PATCH"] {
            assert_eq!(
                class(json!({"method": method})),
                HttpClass::Unsafe,
                "who looks at the key?"
            );
            let known = json!({"method": method, "idempotency": {"preset": "stripe"}});
            assert_eq!(class(known), HttpClass::Keyed);
            let assumed = json!({"method": method, "assumeIdempotent": true});
            assert_eq!(class(assumed), HttpClass::IdempotentMethod);
            let without = json!({"method": method, "idempotency": {"enabled": false}});
            assert_eq!(class(without), HttpClass::Unsafe);
            let assumed = json!({"method": method, "idempotency": {"enabled": false},
                "assumeIdempotent": true});
            assert_eq!(class(assumed), HttpClass::IdempotentMethod);
            let own = json!({"method": method, "idempotency": {"enabled": false},
                "headers": {"idempotency-KEY": "k"}});
            assert_eq!(class(own), HttpClass::Unsafe);
        }
    }

    #[test]
    fn what_cannot_be_sent_is_named() {
        assert!(refused(json!({})).starts_with("Missing HTTP URI.  See"));
        assert_eq!(refused(json!({"uri": "u"})), "No HTTP method specified");
        let with = |more: Value| {
            let mut request = json!({"uri": "u", "method": "POST"});
            request.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
            refused(request)
        };
        assert!(with(json!({"method": "BREW"})).starts_with("method: unknown value \"BREW\""));
        assert_eq!(with(json!({"headers": [1]})), "headers must be an object");
        assert_eq!(with(json!({"readTimeOut": "soon"})), "readTimeOut must be a whole number");
        assert_eq!(with(json!({"totalTimeOut": "soon"})), "totalTimeOut must be a whole number");
        assert_eq!(with(json!({"headers": {"Content-Length": 1}})), {
            "headers.Content-Length is not yours to set"
        });
        assert!(
            with(json!({"idempotency": {"preset": "bank"}})).starts_with("idempotency.preset:")
        );
        assert!(with(json!({"onConditionFailed": "X"})).starts_with("onConditionFailed:"));
        assert_eq!(refused(json!({"http_request": "x"})), "http_request must be an object");
    }
}
