//! # Faults: no answer, and what that says about the effect
//!
//! A connection is made for every request and used for that one alone, so whether a request was sent
//! is judged for it alone: an error before its connection stood came before its first byte.

use std::error::Error;

use crate::guard::Refused;

#[derive(Debug)]
pub(crate) enum Fault {
    /// No first byte was sent; another time it may be.
    NotSent(String),
    /// Nor will it ever be.
    Impossible(String),
    /// It may have arrived, and been done.
    NoAnswer(String),
    /// It was answered, and the answer cannot be taken; the status is known.
    Unreadable { status: u16, why: String },
    /// It was answered with more than can be taken, which will be so again.
    TooLong { status: u16, why: String },
    /// It was answered with a way that is not gone.
    Astray(String),
}

impl Fault {
    pub(crate) fn of(error: &reqwest::Error, is_sent: bool) -> Self {
        if let Some(refused) = refused(error) {
            return Self::Impossible(refused.to_string());
        }
        let why = told(error);
        match is_sent {
            true => Self::NoAnswer(why),
            false if error.is_builder() => Self::Impossible(why),
            false => Self::NotSent(why),
        }
    }
}

fn refused(error: &reqwest::Error) -> Option<&Refused> {
    causes(error).find_map(|cause| cause.downcast_ref())
}

/// The whole chain in one line, each part once, without the address: it may hold a secret.
pub(crate) fn told(error: &reqwest::Error) -> String {
    let mut parts: Vec<String> = Vec::new();
    for cause in causes(error) {
        let text = cause.to_string();
        if !parts.iter().any(|known| known.contains(&text)) {
            parts.push(text);
        }
    }
    if parts.is_empty() { "the request failed".to_owned() } else { parts.join(": ") }
}

fn causes<'a>(error: &'a reqwest::Error) -> impl Iterator<Item = &'a (dyn Error + 'static)> {
    std::iter::successors(error.source(), |&cause| cause.source())
}
