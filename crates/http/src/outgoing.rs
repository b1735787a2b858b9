//! # Outgoing: a request as it goes over the wire
//!
//! The author's headers and body, the key by which a repeat is known, the fence by which a late one
//! is. The same request and the same identity make the same bytes, always.

use std::collections::BTreeMap;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use bytes::Bytes;
use reqwest::header::{
    ACCEPT, AUTHORIZATION, CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue, IF_MATCH,
    IF_NONE_MATCH, USER_AGENT,
};
use reqwest::{Method, Url};
use semel_model::{HttpKey, HttpRequest};
use serde_json::value::RawValue;

use crate::answer::quoted;

pub(crate) const FENCE: HeaderName = HeaderName::from_static("x-fence-token");

const AGENT: &str = concat!("semel/", env!("CARGO_PKG_VERSION"));

/// In whose name a request is sent: what it does, and which hand-out of the task does it.
#[derive(Clone, Debug)]
pub struct Identity {
    pub effect_key: String,
    pub fence: Option<u64>,
}

#[derive(Clone, Debug)]
pub(crate) struct Outgoing {
    pub(crate) method: Method,
    pub(crate) url: Url,
    pub(crate) headers: HeaderMap,
    pub(crate) body: Option<Bytes>,
    pub(crate) connect_ms: u64,
    pub(crate) read_ms: u64,
}

impl Outgoing {
    /// The error says what about the request cannot be sent.
    pub(crate) fn of(request: &HttpRequest, who: &Identity) -> Result<Self, String> {
        let mut url = address(&request.uri).map_err(|why| format!("uri {why}"))?;
        let mut headers = HeaderMap::new();
        for (name, value) in &request.headers {
            headers.append(header_name(name)?, header_value(name, value)?);
        }
        if let Some(login) = take_login(&mut url) {
            headers.entry(AUTHORIZATION).or_insert(login);
        }
        let mut body = request.body.clone();
        let mut set = |name: HeaderName, value: &str| -> Result<(), String> {
            let value = header_value(name.as_str(), value)?;
            headers.entry(name).or_insert(value);
            Ok(())
        };
        set(ACCEPT, &request.accept)?;
        set(USER_AGENT, AGENT)?;
        if let Some(tag) = &request.if_match {
            set(IF_MATCH, tag)?;
        }
        if let Some(tag) = &request.if_none_match {
            set(IF_NONE_MATCH, tag)?;
        }
        if let HttpKey::Added { header, body_field, value } = &request.key {
            let value = value.as_deref().unwrap_or(&who.effect_key);
            if let Some(header) = header {
                set(header_name(header)?, value)?;
            }
            if let Some(field) = body_field {
                body = Some(with_field(body.as_deref(), field, value)?);
            }
        }
        if let Some(fence) = who.fence.filter(|_| !request.method.is_safe()) {
            set(FENCE, &fence.to_string())?;
        }
        if body.is_some() {
            set(CONTENT_TYPE, &request.content_type)?;
        }
        let method = Method::from_bytes(request.method.as_str().as_bytes())
            .map_err(|_| "method is none".to_owned())?;
        let body = body.map(Bytes::from);
        let (connect_ms, read_ms) = (request.connect_ms, request.read_ms);
        Ok(Self { method, url, headers, body, connect_ms, read_ms })
    }

    pub(crate) fn creates(&self) -> bool {
        self.method == Method::POST || self.method == Method::PATCH
    }
}

/// An address of the web.
pub(crate) fn address(text: &str) -> Result<Url, String> {
    let url = Url::parse(text).map_err(|why| format!("is no address: {why}"))?;
    if !matches!(url.scheme(), "http" | "https") {
        return Err(format!("must begin with http:// or https://, not {}:", url.scheme()));
    }
    if url.host().is_none() { Err("has no host".to_owned()) } else { Ok(url) }
}

/// Whom an address speaks to: its host and port.
pub fn host(uri: &str) -> Option<String> {
    let url = address(uri).ok()?;
    Some(format!("{}:{}", url.host_str()?, url.port_or_known_default()?))
}

/// Name and password in an address become a header, so that no other host ever sees them.
fn take_login(url: &mut Url) -> Option<HeaderValue> {
    if url.username().is_empty() && url.password().is_none() {
        return None;
    }
    let login = format!("{}:{}", plain(url.username()), plain(url.password().unwrap_or_default()));
    let _ = url.set_username(""); // It has a host, so both can be taken away.
    let _ = url.set_password(None);
    HeaderValue::try_from(format!("Basic {}", STANDARD.encode(login))).ok()
}

/// Without percent signs.
fn plain(encoded: &str) -> String {
    let mut bytes = Vec::with_capacity(encoded.len());
    let mut rest = encoded.as_bytes();
    while let Some((first, after)) = rest.split_first() {
        let hex = (*first == b'%').then(|| after.get(..2)).flatten();
        let hex = hex.and_then(|hex| u8::from_str_radix(std::str::from_utf8(hex).ok()?, 16).ok());
        bytes.push(hex.unwrap_or(*first));
        rest = if hex.is_some() { &after[2..] } else { after };
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

fn header_name(name: &str) -> Result<HeaderName, String> {
    name.parse().map_err(|_| format!("headers: {name:?} is no name of a header"))
}

fn header_value(name: &str, value: &str) -> Result<HeaderValue, String> {
    HeaderValue::from_bytes(value.as_bytes())
        .map_err(|_| format!("headers.{name} has characters that no header can have"))
}

/// The body with a key inside it, every other byte as it was. A key that is there stays.
fn with_field(body: Option<&str>, field: &str, key: &str) -> Result<String, String> {
    let body = body.unwrap_or("{}").trim();
    let wrong = || format!("idempotency.bodyField {field} needs a body that is a JSON object");
    let known: BTreeMap<String, &RawValue> = serde_json::from_str(body).map_err(|_| wrong())?;
    let rest = body.strip_prefix('{').ok_or_else(wrong)?;
    if known.contains_key(field) {
        return Ok(body.to_owned());
    }
    let comma = if known.is_empty() { "" } else { "," };
    Ok(format!("{{{}:{}{comma}{rest}", quoted(field), quoted(key)))
}

#[cfg(test)]
mod tests {
    use semel_model::Payload;
    use serde_json::{Value, json};

    use super::*;

    fn outgoing(request: Value) -> Result<Outgoing, String> {
        let request = HttpRequest::read(&Payload::from_value(&request)).unwrap();
        let who = Identity { effect_key: "the-key".to_owned(), fence: Some(7) };
        Outgoing::of(&request, &who)
    }

    fn header<'a>(sent: &'a Outgoing, name: &str) -> Option<&'a str> {
        sent.headers.get(name).and_then(|value| value.to_str().ok())
    }

    #[test]
    fn what_creates_carries_key_and_fence_and_what_reads_does_not() {
        for method in ["POST", "PATCH"] {
            let sent = outgoing(json!({"uri": "http://a", "method": method, "body": {}})).unwrap();
            assert_eq!(header(&sent, "idempotency-key"), Some("the-key"));
            assert_eq!(header(&sent, "x-fence-token"), Some("7"));
            assert_eq!(header(&sent, "content-type"), Some("application/json"));
        }
        let sent = outgoing(json!({"uri": "http://a", "method": "PUT"})).unwrap();
        assert_eq!(header(&sent, "idempotency-key"), None);
        assert_eq!((header(&sent, "x-fence-token"), header(&sent, "content-type")), {
            (Some("7"), None)
        });
        let sent = outgoing(json!({"uri": "http://a", "method": "GET"})).unwrap();
        assert_eq!(header(&sent, "x-fence-token"), None);
        assert_eq!(header(&sent, "accept"), Some("application/json"));
    }

    #[test]
    fn what_the_author_wrote_stands() {
        let headers = json!({"Idempotency-Key": "mine", "X-Fence-Token": "1", "Accept": "a/b",
            "Content-Type": "text/plain", "User-Agent": "me"});
        let request = json!({"uri": "http://a", "method": "POST", "body": "x", "headers": headers});
        let sent = outgoing(request).unwrap();
        for (name, value) in headers.as_object().unwrap() {
            assert_eq!(header(&sent, name), value.as_str());
            assert_eq!(sent.headers.get_all(name.as_str()).iter().count(), 1);
        }
    }

    #[test]
    fn a_key_in_the_body_changes_no_other_byte() {
        let told = |body: Value| {
            json!({"uri": "http://a", "method": "POST", "body": body,
                "idempotency": {"preset": "square"}})
        };
        let body = |body: Value| {
            let sent = outgoing(told(body)).unwrap();
            assert_eq!(header(&sent, "idempotency-key"), None);
            String::from_utf8(sent.body.unwrap().to_vec()).unwrap()
        };
        assert_eq!(body(json!({"a": 1.5})), r#"{"idempotency_key":"the-key","a":1.5}"#);
        assert_eq!(body(json!({})), r#"{"idempotency_key":"the-key"}"#);
        assert_eq!(body(json!(null)), r#"{"idempotency_key":"the-key"}"#);
        assert_eq!(body(json!({"idempotency_key": "mine"})), r#"{"idempotency_key":"mine"}"#);
        assert!(outgoing(told(json!([1]))).unwrap_err().contains("bodyField idempotency_key"));
    }

    #[test]
    fn a_host_is_known_by_its_name_and_port() {
        for uri in ["http://ann:p@A.example/b", "http://a.example:80?x", "http://a.example"] {
            assert_eq!(host(uri).as_deref(), Some("a.example:80"), "{uri}");
        }
        assert_eq!(host("https://[::1]/").as_deref(), Some("[::1]:443"));
        assert_eq!(host("ftp://a"), None);
    }

    #[test]
    fn a_login_in_the_address_leaves_it() {
        let sent = outgoing(json!({"uri": "http://ann:p%40ss@a/b", "method": "GET"})).unwrap();
        assert_eq!(sent.url.as_str(), "http://a/b");
        assert_eq!(header(&sent, "authorization"), Some("Basic YW5uOnBAc3M="));
    }

    #[test]
    fn what_cannot_be_sent_is_named() {
        let refused = |request: Value| outgoing(request).unwrap_err();
        assert!(refused(json!({"uri": "x", "method": "GET"})).starts_with("uri is no address"));
        assert!(refused(json!({"uri": "file:///a", "method": "GET"})).contains("not file:"));
        let split = json!({"uri": "http://a", "method": "GET", "headers": {"a": "b\r\nc: d"}});
        assert_eq!(refused(split), "headers.a has characters that no header can have");
        let named = json!({"uri": "http://a", "method": "GET", "headers": {"a b": "c"}});
        assert!(refused(named).contains("is no name of a header"));
    }
}
