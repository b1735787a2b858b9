//! # Parameters of query and path, read the way Conductor's clients write them
//!
//! `None` and the empty text are what some clients send for "absent"; booleans come in many
//! spellings. A path that cannot be decoded is refused in our own words, as JSON.

use std::convert::Infallible;
use std::fmt::Display;
use std::str::FromStr;

use axum::extract::{FromRequestParts, Query};
use axum::http::Uri;
use axum::http::request::Parts;
use semel_model::almost;
use serde::de::DeserializeOwned;

use crate::error::ApiError;

/// The variable segments of a path, decoded.
pub(crate) struct Path<T>(pub(crate) T);

impl<T: DeserializeOwned + Send, S: Send + Sync> FromRequestParts<S> for Path<T> {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, ApiError> {
        let found = axum::extract::Path::<T>::from_request_parts(parts, state).await;
        found
            .map(|segments| Self(segments.0))
            .map_err(|error| ApiError::Malformed(error.body_text()))
    }
}

pub(crate) struct Params(Vec<(String, String)>);

impl<S: Send + Sync> FromRequestParts<S> for Params {
    type Rejection = Infallible;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Infallible> {
        let found = Query::<Vec<(String, String)>>::from_request_parts(parts, state).await;
        Ok(Self(found.map(|Query(pairs)| pairs).unwrap_or_default()))
    }
}

/// A parameter that is almost a known one: without it the request would do something else, and the
/// answer would be a success. Others may be anybody's, and mean nothing.
pub(crate) fn misspelt(uri: &Uri, known: &[&'static str]) -> Option<ApiError> {
    let Query(pairs) = Query::<Vec<(String, String)>>::try_from_uri(uri).ok()?;
    let unknown = pairs.iter().map(|(name, _)| name.as_str());
    let mut unknown = unknown.filter(|name| !known.contains(name));
    let is_absent = |known: &&'static str| pairs.iter().all(|(name, _)| name != known);
    let meant = |name| Some((name, almost(name, known.iter().copied().filter(is_absent))?));
    let (name, meant) = unknown.find_map(meant)?;
    Some(ApiError::Malformed(format!(
        "the parameter {name} is not known here; is {meant} meant? Nothing was done"
    )))
}

impl Params {
    #[cfg(test)]
    pub(crate) fn of(pairs: &[(&str, &str)]) -> Self {
        let owned = |(name, value): &(&str, &str)| ((*name).to_owned(), (*value).to_owned());
        Self(pairs.iter().map(owned).collect())
    }

    pub(crate) fn text(&self, name: &str) -> Option<&str> {
        let found = self.0.iter().find(|(key, _)| key == name)?;
        Some(found.1.as_str()).filter(|value| !value.is_empty() && *value != "None")
    }

    pub(crate) fn pairs(&self) -> impl Iterator<Item = (&str, &str)> {
        self.0.iter().map(|(name, value)| (name.as_str(), value.as_str()))
    }

    /// Every value of a parameter that may be said several times.
    pub(crate) fn texts(&self, name: &str) -> impl Iterator<Item = &str> {
        let said = self.0.iter().filter(move |(key, _)| key == name);
        said.map(|(_, value)| value.as_str()).filter(|value| !value.is_empty())
    }

    pub(crate) fn flag(&self, name: &str, default: bool) -> Result<bool, ApiError> {
        let Some(value) = self.text(name) else { return Ok(default) };
        match value.to_ascii_lowercase().as_str() {
            "true" | "on" | "yes" | "1" => Ok(true),
            "false" | "off" | "no" | "0" => Ok(false),
            _ => Err(ApiError::Malformed(format!("{name} must be true or false, not {value}"))),
        }
    }

    pub(crate) fn number<T: FromStr>(&self, name: &str) -> Result<Option<T>, ApiError>
    where
        T::Err: Display,
    {
        let Some(value) = self.text(name) else { return Ok(None) };
        let number = value.trim().parse();
        number.map(Some).map_err(|error| ApiError::Malformed(format!("{name}={value}: {error}")))
    }
}
