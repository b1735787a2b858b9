//! # Addresses: where a server is, as people write it
//!
//! `http://host:8080`, `http://host:8080/api/`, `host:8080`: all the same place.

use std::fmt;
use std::str::FromStr;

use reqwest::Url;

use crate::error::ClientError;

/// The root of a server, without `/api`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Address(Url);

impl FromStr for Address {
    type Err = ClientError;

    fn from_str(text: &str) -> Result<Self, ClientError> {
        let wrong = |what: &str| ClientError::Address(format!("{text:?} {what}"));
        let text = text.trim();
        let text = if text.contains("://") { text.to_owned() } else { format!("http://{text}") };
        let mut url = Url::parse(&text)
            .map_err(|error| wrong(&format!("is no address of a server: {error}")))?;
        match url.scheme() {
            "http" => {}
            "https" => {
                return Err(wrong(
                    "is https, which is not supported yet; reach the server by http, \
                     through a tunnel if it is not on this network",
                ));
            }
            other => return Err(wrong(&format!("must begin with http://, not {other}://"))),
        }
        if url.query().is_some() || url.fragment().is_some() {
            return Err(wrong("has a query; give the address of the server alone"));
        }
        if !url.username().is_empty() || url.password().is_some() {
            return Err(wrong("has a name or password in it; give a key and secret instead"));
        }
        let path = url.path().trim_end_matches('/');
        let path = path.strip_suffix("/api").unwrap_or(path).trim_end_matches('/').to_owned();
        url.set_path(&path);
        Ok(Self(url))
    }
}

impl Address {
    /// The address of a path below the server. Each segment is one name, whatever it contains.
    pub(crate) fn join(
        &self,
        segments: &[String],
        query: &[(&'static str, String)],
    ) -> Result<Url, ClientError> {
        let mut url = self.0.clone();
        if let Some(name) = segments.iter().find(|name| matches!(name.as_str(), "" | "." | "..")) {
            return Err(ClientError::Name(name.clone()));
        }
        if let Ok(mut path) = url.path_segments_mut() {
            path.pop_if_empty().extend(segments);
        }
        if !query.is_empty() {
            url.query_pairs_mut().extend_pairs(query);
        }
        Ok(url)
    }
}

impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0.as_str().trim_end_matches('/'))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn address(text: &str) -> Address {
        text.parse().unwrap()
    }

    #[test]
    fn a_server_may_be_written_in_many_ways() {
        for text in [
            "http://127.0.0.1:8080",
            "http://127.0.0.1:8080/",
            "http://127.0.0.1:8080/api",
            "http://127.0.0.1:8080/api/",
            " 127.0.0.1:8080 ",
            "127.0.0.1:8080/api",
        ] {
            assert_eq!(address(text).to_string(), "http://127.0.0.1:8080", "{text}");
        }
        assert_eq!(address("http://h/semel/api").to_string(), "http://h/semel");
    }

    #[test]
    fn what_cannot_be_reached_is_refused_with_the_reason() {
        for (text, words) in [
            ("https://h", "https, which is not supported yet"),
            ("ftp://h", "must begin with http://"),
            ("http://", "is no address"),
            ("http://h?x=1", "has a query"),
            ("http://me:secret@h", "key and secret instead"),
        ] {
            let error = text.parse::<Address>().unwrap_err().to_string();
            assert!(error.contains(words), "{text}: {error}");
        }
    }

    #[test]
    fn a_name_is_one_segment_whatever_it_contains() {
        let join = |name: &str| {
            let segments = ["api".to_owned(), name.to_owned()];
            address("http://h/x/api").join(&segments, &[("q", "a b&c".to_owned())])
        };
        assert_eq!(join("a/b ?#").unwrap().as_str(), "http://h/x/api/a%2Fb%20%3F%23?q=a+b%26c");
        for name in ["", ".", ".."] {
            assert!(matches!(join(name), Err(ClientError::Name(_))), "{name:?}");
        }
    }
}
