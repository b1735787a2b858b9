//! # Pages: what a browser is told about every answer
//!
//! No answer is guessed to be something else, shown in a frame, or loaded into a page of another
//! origin. An HTML page runs only the script and the style it was made with.

use axum::http::header::{
    CONTENT_SECURITY_POLICY, CONTENT_TYPE, REFERRER_POLICY, X_CONTENT_TYPE_OPTIONS, X_FRAME_OPTIONS,
};
use axum::http::{HeaderMap, HeaderName, HeaderValue};
use axum::response::{Html, IntoResponse as _, Response};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use sha2::{Digest as _, Sha256};

static RESOURCE_POLICY: HeaderName = HeaderName::from_static("cross-origin-resource-policy");
static OPENER_POLICY: HeaderName = HeaderName::from_static("cross-origin-opener-policy");

/// An HTML page with its policy.
pub(crate) struct Page {
    html: &'static str,
    policy: String,
}

impl Page {
    pub(crate) fn of(html: &'static str) -> Self {
        let policy = format!(
            "default-src 'none'; connect-src 'self'; script-src {}; style-src {}; base-uri 'none'; \
             form-action 'none'; frame-ancestors 'none'",
            allowed(html, "script"),
            allowed(html, "style")
        );
        Self { html, policy }
    }

    pub(crate) fn answer(&self) -> Response {
        let mut answer = Html(self.html).into_response();
        if let Ok(policy) = HeaderValue::from_str(&self.policy) {
            answer.headers_mut().insert(CONTENT_SECURITY_POLICY, policy);
        }
        answer
    }
}

/// The digest of what stands between the tags, which is all that a browser may use of its kind.
fn allowed(html: &str, tag: &str) -> String {
    let inside = || {
        let (_, after) = html.split_once(&format!("<{tag}"))?;
        let (_, inside) = after.split_once('>')?;
        Some(inside.split_once(&format!("</{tag}>"))?.0)
    };
    match inside() {
        Some(text) => format!("'sha256-{}'", STANDARD.encode(Sha256::digest(text))),
        None => "'none'".to_owned(),
    }
}

/// Put on every answer, whatever it is.
pub(crate) fn secure(headers: &mut HeaderMap) {
    headers.insert(X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    headers.insert(X_FRAME_OPTIONS, HeaderValue::from_static("DENY"));
    headers.insert(&RESOURCE_POLICY, HeaderValue::from_static("same-origin"));
    let is_html =
        headers.get(CONTENT_TYPE).is_some_and(|kind| kind.as_bytes().starts_with(b"text/html"));
    if is_html {
        headers.insert(REFERRER_POLICY, HeaderValue::from_static("same-origin"));
        headers.insert(&OPENER_POLICY, HeaderValue::from_static("same-origin"));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_allows_its_own_script_and_style_and_no_other() {
        let page = Page::of("<style>b{}</style><script type=\"module\">alert(1)</script>");
        let style = STANDARD.encode(Sha256::digest("b{}"));
        let script = STANDARD.encode(Sha256::digest("alert(1)"));
        assert!(page.policy.contains(&format!("script-src 'sha256-{script}'")), "{}", page.policy);
        assert!(page.policy.contains(&format!("style-src 'sha256-{style}'")), "{}", page.policy);
        let plain = Page::of("<p>hello");
        assert!(plain.policy.contains("script-src 'none'; style-src 'none'"), "{}", plain.policy);
    }
}
