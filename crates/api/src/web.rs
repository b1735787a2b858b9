//! # Web pages: what a browser may be made to ask
//!
//! A page of any origin can make a browser send requests to this server, and a name that an attacker
//! points at this machine makes his page one of ours. So a request that may change something has to
//! come from a page of our own or of `cors_origins`, and every request has to name a host that is
//! ours. Programs say nothing of pages and notice nothing. **May not:** trust a header that a page can
//! set.

use std::net::{Ipv4Addr, Ipv6Addr};

use axum::extract::Request;
use axum::http::header::{ACCEPT_LANGUAGE, HOST, ORIGIN, REFERER, USER_AGENT};
use axum::http::{HeaderMap, HeaderName, Method, StatusCode, Version};
use metrics::counter;
use serde_json::json;

use crate::connection::HEALTH;
use crate::endpoint::Does;
use crate::error::ApiError;
use crate::refusal::Refusal;
use crate::seldom::Seldom;

/// What a browser says of the page a request comes from. A page cannot set it. Browsers send it to
/// `https` and to loopback addresses only.
static SITE: HeaderName = HeaderName::from_static("sec-fetch-site");

/// What is shown of a name that somebody else made up.
const SHOWN_CHARS_MAX: usize = 100;

/// Whether this can be an entry of `hosts`.
pub fn is_host(text: &str) -> bool {
    Authority::read(text).is_some()
}

/// Which hosts are ours, and which pages may call besides our own.
#[derive(Debug, Default)]
pub struct WebRules {
    hosts: Vec<OwnHost>,
    origins: Vec<String>,
}

/// `semel.example.com`, `semel.example.com:8443` or `*.example.com`.
#[derive(Debug)]
struct OwnHost {
    name: String,
    port: Option<u16>,
}

/// A host and its port as a request names them, in small letters.
#[derive(Debug, PartialEq, Eq)]
struct Authority {
    host: String,
    port: Option<u16>,
}

impl Authority {
    fn read(text: &str) -> Option<Self> {
        let end = match text.starts_with('[') {
            true => text.find(']')? + 1,
            false => text.find(':').unwrap_or(text.len()),
        };
        let (host, port) = text.split_at(end);
        let port = match port.strip_prefix(':') {
            None | Some("") => None,
            Some(digits) if digits.bytes().all(|byte| byte.is_ascii_digit()) => {
                Some(digits.parse().ok()?)
            }
            Some(_) => return None,
        };
        if port.is_none() && !matches!(&text[end..], "" | ":") {
            return None;
        }
        let host = host.strip_suffix('.').unwrap_or(host).to_ascii_lowercase();
        (!host.is_empty()).then_some(Self { host, port })
    }

    /// Nobody can point these somewhere else: an address is where it is, and browsers do not look
    /// `localhost` up.
    fn is_fixed(&self) -> bool {
        let bare = self.host.strip_prefix('[').and_then(|rest| rest.strip_suffix(']'));
        match bare {
            Some(bare) => bare.parse::<Ipv6Addr>().is_ok(),
            None => {
                self.host == "localhost"
                    || self.host.ends_with(".localhost")
                    || self.host.parse::<Ipv4Addr>().is_ok()
            }
        }
    }
}

impl OwnHost {
    fn has_name(&self, name: &str) -> bool {
        match self.name.strip_prefix("*.") {
            Some(parent) => {
                name.strip_suffix(parent).is_some_and(|rest| rest.len() > 1 && rest.ends_with('.'))
            }
            None => self.name == name,
        }
    }

    fn is(&self, asked: &Authority) -> bool {
        self.has_name(&asked.host) && (self.port.is_none() || self.port == asked.port)
    }
}

impl WebRules {
    /// `hosts` are names beside addresses and localhost, `origins` those of pages that may call.
    pub fn new(hosts: &[String], origins: &[String]) -> Self {
        let host = |text: &String| {
            let Authority { host, port } = Authority::read(text)?;
            Some(OwnHost { name: host, port })
        };
        let hosts = hosts.iter().filter_map(host).collect();
        let origins = origins.iter().map(|origin| origin.to_ascii_lowercase()).collect();
        Self { hosts, origins }
    }

    pub(crate) fn origins(&self) -> &[String] {
        &self.origins
    }

    /// Refuses a name that is not ours: a page under it would be taken for one of ours.
    pub(crate) fn check_host(&self, request: &Request) -> Result<(), ApiError> {
        let mut named = request.headers().get_all(HOST).iter();
        let (host, more) = (named.next(), named.next().is_some());
        let in_target = request.uri().authority().map(|authority| authority.as_str());
        let Some(host) = host else {
            let is_old = request.version() < Version::HTTP_11;
            // Load balancers may ask so; browsers always name a host.
            return match is_old && HEALTH.contains(&request.uri().path()) {
                true => Ok(()),
                false => Err(refused("host", Refused::NoHost)),
            };
        };
        let host = host.to_str().unwrap_or_default();
        if more {
            return Err(refused("host", Refused::NoHost));
        }
        match [Some(host), in_target].into_iter().flatten().find(|text| !self.is_ours(text)) {
            Some(unknown) => Err(refused("host", Refused::Host(unknown))),
            None => Ok(()),
        }
    }

    fn is_ours(&self, host: &str) -> bool {
        let asked = Authority::read(host);
        asked.is_some_and(|asked| asked.is_fixed() || self.hosts.iter().any(|host| host.is(&asked)))
    }

    /// Refuses what may change something and comes from a page of somebody else.
    pub(crate) fn check_page(&self, request: &Request, does: Does) -> Result<(), ApiError> {
        let is_reading = matches!(*request.method(), Method::GET | Method::HEAD);
        if is_reading && does == Does::Looks {
            return Ok(());
        }
        let headers = request.headers();
        let site = headers.get(&SITE).map(|site| site.to_str().unwrap_or_default());
        let origins: Vec<_> = headers.get_all(ORIGIN).iter().collect();
        let is_from_near = matches!(site, None | Some("same-origin" | "none"));
        if origins.is_empty() {
            return match (site, is_from_near) {
                (None, _) => self.check_silent_browser(headers),
                (Some(_), true) => Ok(()),
                (Some(site), false) => Err(refused("origin", Refused::Site(site))),
            };
        }
        for origin in origins {
            let origin = origin.to_str().unwrap_or_default();
            if !(self.is_let_in(origin) || is_from_near && is_own(origin, headers)) {
                return Err(refused("origin", Refused::Origin(origin)));
            }
        }
        Ok(())
    }

    /// A browser that says neither site nor origin was sent here by an image, a link or a frame of
    /// some page, which it may name as its referrer.
    fn check_silent_browser(&self, headers: &HeaderMap) -> Result<(), ApiError> {
        let agent = headers.get(USER_AGENT).and_then(|agent| agent.to_str().ok());
        let is_browser = agent.is_some_and(|agent| agent.starts_with("Mozilla/"));
        if !is_browser || !headers.contains_key(ACCEPT_LANGUAGE) {
            return Ok(());
        }
        let page = headers.get(REFERER).and_then(|page| origin_of(page.to_str().ok()?));
        match page {
            Some(page) if self.is_let_in(page) || is_own(page, headers) => Ok(()),
            page => Err(refused("origin", Refused::Origin(page.unwrap_or("(not told)")))),
        }
    }

    fn is_let_in(&self, origin: &str) -> bool {
        self.origins.iter().any(|known| known == origin)
    }
}

/// Whether a page is one of this server: it comes from where the request itself goes to. Another name
/// of ours may be somebody else's on another port, so `hosts` says nothing of pages. The scheme may be
/// another one, because a proxy may have taken TLS away.
fn is_own(origin: &str, headers: &HeaderMap) -> bool {
    let (usual, page) = match origin.split_once("://") {
        Some(("http", rest)) => (80, rest),
        Some(("https", rest)) => (443, rest),
        _ => return false,
    };
    let without_usual = |authority: Authority| Authority {
        port: authority.port.filter(|port| *port != usual),
        ..authority
    };
    let Some(page) = Authority::read(page).map(without_usual) else { return false };
    let host = headers.get(HOST).and_then(|host| Authority::read(host.to_str().ok()?));
    host.map(without_usual).as_ref() == Some(&page)
}

/// `https://a.example:8443` of `https://a.example:8443/page?x`.
fn origin_of(page: &str) -> Option<&str> {
    let start = page.find("://")? + 3;
    let end = page[start..].find(['/', '?', '#']).map_or(page.len(), |at| start + at);
    Some(&page[..end])
}

/// Why a request is not let in.
enum Refused<'a> {
    NoHost,
    Host(&'a str),
    Site(&'a str),
    Origin(&'a str),
}

/// Counted, and told to the operator once in a while: a page can send as many as it likes.
fn refused(reason: &'static str, why: Refused<'_>) -> ApiError {
    static TOLD: [Seldom; 2] = [Seldom::new(), Seldom::new()];
    counter!("semel_door_refusals_total", "reason" => reason).increment(1);
    let refusal = refusal(why);
    if TOLD[usize::from(reason == "host")].is_due() {
        tracing::warn!(reason, "refused: {}", refusal.message);
    }
    ApiError::Refused(Box::new(refusal))
}

fn refusal(why: Refused<'_>) -> Refusal {
    let shown = |text: &str| -> String {
        let printable = text.chars().filter(char::is_ascii_graphic);
        printable.take(SHOWN_CHARS_MAX).collect()
    };
    match why {
        Refused::NoHost => {
            let message = "a request names the host it goes to, once, in the header Host";
            Refusal::new(StatusCode::BAD_REQUEST, "HOST_UNKNOWN", message.to_owned())
        }
        Refused::Host(host) => {
            let host = shown(host);
            let name = Authority::read(&host).map_or_else(String::new, |asked| asked.host);
            let message = format!(
                "this server is not known as {host}: if that is its name, start it with --hosts \
                 {name} (SEMEL_HOSTS={name}, hosts = [\"{name}\"]); addresses and localhost are \
                 always right (docs/errors/HOST_UNKNOWN.md)"
            );
            Refusal::new(StatusCode::MISDIRECTED_REQUEST, "HOST_UNKNOWN", message)
                .with("host", json!(host))
        }
        Refused::Site(site) => cross_origin(&format!("Sec-Fetch-Site: {}", shown(site))),
        Refused::Origin(origin) => cross_origin(&format!("the origin {}", shown(origin))),
    }
}

fn cross_origin(from: &str) -> Refusal {
    let message = format!(
        "a web page that is not of this server may not change anything here ({from}); if it may, \
         name its origin in cors_origins (docs/errors/CROSS_ORIGIN.md)"
    );
    Refusal::new(StatusCode::FORBIDDEN, "CROSS_ORIGIN", message)
}

#[cfg(test)]
mod tests {
    use axum::body::Body;

    use super::*;

    fn rules() -> WebRules {
        let hosts = ["semel", "semel.example.com", "*.internal", "odd.example:8443"];
        let origins = ["https://ui.example.com"];
        WebRules::new(&hosts.map(str::to_owned), &origins.map(str::to_owned))
    }

    fn request(method: &str, headers: &[(&str, &str)]) -> Request {
        let builder = Request::builder().method(method).uri("/api/x");
        let with = |builder: axum::http::request::Builder, (name, value): &(&str, &str)| {
            builder.header(*name, *value)
        };
        headers.iter().fold(builder, with).body(Body::empty()).unwrap()
    }

    #[test]
    fn addresses_loopback_names_and_configured_names_are_ours() {
        for host in [
            "127.0.0.1",
            "127.0.0.1:8080",
            "127.8.9.1:1",
            "10.1.2.3:8080",
            "[::1]:8080",
            "[fd00::7]",
            "localhost",
            "LOCALHOST:8080",
            "localhost.",
            "a.b.localhost:3",
            "semel:8080",
            "Semel",
            "semel.example.com:443",
            "a.internal",
            "a.b.internal:80",
            "odd.example:8443",
        ] {
            assert!(rules().check_host(&request("GET", &[("host", host)])).is_ok(), "{host}");
        }
        for host in [
            "",
            "evil.example",
            "evil.example:8080",
            "127.0.0.1.evil.example",
            "localhost.evil.example",
            "notlocalhost",
            ".internal",
            "internal",
            "xinternal",
            "odd.example",
            "odd.example:80",
            "semel.example.com.evil",
            "[::1].evil",
            "[::1",
            "[evil]",
            "127.0.0.1:x",
            "127.0.0.1:8080:1",
            "127.0.0.1@evil",
            "127.1",
            "2130706433",
        ] {
            let refused = rules().check_host(&request("GET", &[("host", host)]));
            assert!(refused.is_err(), "{host}");
        }
        let two = request("GET", &[("host", "localhost"), ("host", "localhost")]);
        assert!(
            rules().check_host(&two).is_err() && rules().check_host(&request("GET", &[])).is_err()
        );
    }

    #[test]
    fn a_target_with_a_host_of_its_own_is_looked_at_too() {
        let to = |uri: &str| {
            Request::builder().uri(uri).header("host", "localhost").body(Body::empty()).unwrap()
        };
        assert!(rules().check_host(&to("http://localhost:8080/health")).is_ok());
        assert!(rules().check_host(&to("http://evil.example/health")).is_err());
    }

    #[test]
    fn no_host_is_let_through_to_the_health_of_old_clients_only() {
        let old = |path: &str| {
            let request = Request::builder().uri(path).version(Version::HTTP_10);
            request.body(Body::empty()).unwrap()
        };
        assert!(rules().check_host(&old("/health")).is_ok());
        assert!(rules().check_host(&old("/api/secrets/A")).is_err());
    }

    #[test]
    fn a_change_comes_from_a_program_or_a_page_that_may() {
        let own = ("host", "semel.example.com:8080");
        let fine: &[&[(&str, &str)]] = &[
            &[],
            &[("sec-fetch-site", "none")],
            &[("sec-fetch-site", "same-origin"), ("origin", "http://semel.example.com:8080")],
            &[("origin", "http://semel.example.com:8080")],
            &[("origin", "https://ui.example.com"), ("sec-fetch-site", "cross-site")],
            &[("user-agent", "python-requests/2.32")],
            &[("user-agent", "Mozilla/5.0 (Windows NT; en-US) PowerShell/7.4")],
            &[
                ("user-agent", "Mozilla/5.0"),
                ("accept-language", "en"),
                ("referer", "http://semel.example.com:8080/swagger-ui/index.html"),
            ],
        ];
        let refused: &[&[(&str, &str)]] = &[
            &[("sec-fetch-site", "cross-site")],
            &[("sec-fetch-site", "same-site")],
            &[("sec-fetch-site", "nonsense")],
            &[("origin", "null")],
            &[("origin", "")],
            &[("origin", "http://evil.example")],
            &[("origin", "http://semel.example.com:3000")],
            &[("origin", "http://semel.example.com")],
            &[("origin", "https://semel.example.com")],
            &[("origin", "http://wiki.internal")],
            &[("origin", "https://semel")],
            &[("origin", "https://ui.example.com.evil")],
            &[("origin", "https://ui.example.com"), ("origin", "http://evil.example")],
            &[("origin", "http://evil.example"), ("sec-fetch-site", "same-origin")],
            &[("origin", "http://semel.example.com:8080"), ("sec-fetch-site", "same-site")],
            &[("user-agent", "Mozilla/5.0"), ("accept-language", "en")],
            &[
                ("user-agent", "Mozilla/5.0"),
                ("accept-language", ""),
                ("referer", "http://evil.example/?http://semel.example.com:8080/"),
            ],
        ];
        for (method, does) in [
            ("POST", Does::Changes),
            ("POST", Does::Looks),
            ("GET", Does::Changes),
            ("GET", Does::Takes),
        ] {
            let judged = |headers: &[(&str, &str)]| {
                let headers = [&[own][..], headers].concat();
                rules().check_page(&request(method, &headers), does)
            };
            for headers in fine {
                assert!(judged(headers).is_ok(), "{method} {headers:?}");
            }
            for headers in refused {
                assert!(judged(headers).is_err(), "{method} {headers:?}");
            }
        }
        for headers in refused {
            assert!(rules().check_page(&request("GET", headers), Does::Looks).is_ok());
        }
    }

    #[test]
    fn a_page_under_another_name_of_ours_is_not_ours() {
        let judged = |host: &str, origin: &str| {
            let request = request("POST", &[("host", host), ("origin", origin)]);
            rules().check_page(&request, Does::Changes).is_ok()
        };
        for (host, origin) in [
            ("semel.internal:8080", "http://semel.internal:8080"),
            ("semel.internal", "https://semel.internal"),
            ("semel.internal:443", "https://semel.internal"),
            ("semel.internal:8443", "https://semel.internal:8443"),
        ] {
            assert!(judged(host, origin), "{host} {origin}");
        }
        for (host, origin) in [
            ("semel.internal:8080", "http://wiki.internal"),
            ("semel.internal:8080", "http://semel.internal"),
            ("semel.internal:8080", "https://semel.internal"),
            ("10.0.0.7:8080", "https://semel.example.com"),
        ] {
            assert!(!judged(host, origin), "{host} {origin}");
        }
    }
}
