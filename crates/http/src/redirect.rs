//! # Redirects: which way is gone, and with what
//!
//! 307 and 308 repeat the request elsewhere, key and body included. 301, 302 and 303 would turn a POST
//! into a GET that does nothing of what was wanted: there the way ends. What identifies the caller
//! stays with the host it was meant for.

use reqwest::Method;
use reqwest::header::{CONTENT_TYPE, HeaderMap};

use crate::answer::Answer;
use crate::outgoing::{Outgoing, address};

pub(crate) const REDIRECTS_MAX: usize = 10;

/// Headers that are for one host only.
const CREDENTIALS: [&str; 8] = [
    "authorization",
    "proxy-authorization",
    "x-authorization",
    "cookie",
    "x-api-key",
    "api-key",
    "apikey",
    "x-auth-token",
];

/// The next request; none: the answer is one. An error says why the way ends here.
pub(crate) fn next(sent: &Outgoing, answer: &Answer) -> Result<Option<Outgoing>, String> {
    if !matches!(answer.status, 301 | 302 | 303 | 307 | 308) {
        return Ok(None);
    }
    let Some(location) = answer.header("location") else { return Ok(None) };
    let is_repeat = matches!(answer.status, 307 | 308);
    if sent.creates() && !is_repeat {
        return Err(format!(
            "{} was answered with {} to {location}: following that would send a GET instead; \
             give the step the final address",
            sent.method, answer.status
        ));
    }
    let url = sent.url.join(location).map_err(|why| format!("{location} is no address: {why}"))?;
    let url = address(url.as_str()).map_err(|why| format!("{location} {why}"))?;
    if !url.username().is_empty() || url.password().is_some() {
        return Err("the address it leads to has a login in it".to_owned());
    }
    let mut next = Outgoing { url, ..sent.clone() };
    if next.url.origin() != sent.url.origin() {
        forget(&mut next.headers);
    }
    if answer.status == 303 && sent.method != Method::HEAD {
        next.method = Method::GET;
        next.body = None;
        next.headers.remove(CONTENT_TYPE);
    }
    Ok(Some(next))
}

fn forget(headers: &mut HeaderMap) {
    for name in CREDENTIALS {
        headers.remove(name);
    }
}

#[cfg(test)]
mod tests {
    use bytes::Bytes;
    use reqwest::header::HeaderValue;

    use super::*;

    fn sent(method: Method) -> Outgoing {
        let mut headers = HeaderMap::new();
        for name in ["authorization", "cookie", "x-api-key", "idempotency-key", "content-type"] {
            headers.insert(name, HeaderValue::from_static("v"));
        }
        let body = Some(Bytes::from_static(b"body"));
        let url = address("https://a.example/one?x=1").unwrap();
        Outgoing { method, url, headers, body, connect_ms: 1, read_ms: 1 }
    }

    fn answer(status: u16, location: &str) -> Answer {
        let headers = vec![("Location".to_owned(), location.to_owned())];
        Answer { status, phrase: String::new(), headers, body: Vec::new() }
    }

    fn way(method: Method, status: u16, location: &str) -> Result<Option<Outgoing>, String> {
        next(&sent(method), &answer(status, location))
    }

    #[test]
    fn a_repeat_elsewhere_carries_method_body_and_key() {
        for status in [307, 308] {
            let next = way(Method::POST, status, "/two").unwrap().unwrap();
            assert_eq!((next.method, next.url.as_str()), (Method::POST, "https://a.example/two"));
            assert_eq!(next.body.as_deref(), Some(b"body".as_slice()));
            assert!(next.headers.contains_key("idempotency-key"));
            assert!(next.headers.contains_key("authorization"));
        }
    }

    #[test]
    fn what_would_turn_into_a_get_stops() {
        for (method, status) in [(Method::POST, 301), (Method::POST, 302), (Method::PATCH, 303)] {
            let why = way(method, status, "/two").unwrap_err();
            assert!(why.contains("final address"), "{why}");
        }
        let put = way(Method::PUT, 301, "/two").unwrap().unwrap();
        assert_eq!((put.method, put.body.is_some()), (Method::PUT, true));
        let seen = way(Method::PUT, 303, "/two").unwrap().unwrap();
        assert_eq!((seen.method, seen.body.is_some()), (Method::GET, false));
    }

    #[test]
    fn another_host_is_not_told_who_asks() {
        for elsewhere in ["https://b.example/", "http://a.example/", "https://a.example:444/"] {
            let next = way(Method::GET, 302, elsewhere).unwrap().unwrap();
            assert!(next.headers.contains_key("idempotency-key"));
            for name in ["authorization", "cookie", "x-api-key"] {
                assert!(!next.headers.contains_key(name), "{name} to {elsewhere}");
            }
        }
    }

    #[test]
    fn not_every_way_is_gone() {
        assert!(way(Method::GET, 302, "ftp://a/").is_err());
        assert!(way(Method::GET, 302, "https://ann:pass@b.example/").is_err());
        assert!(way(Method::GET, 304, "/two").unwrap().is_none());
        assert!(
            next(&sent(Method::GET), &Answer { headers: vec![], ..answer(302, "") })
                .unwrap()
                .is_none()
        );
    }
}
