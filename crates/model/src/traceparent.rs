//! # Trace context: which trace a run belongs to, as W3C's `traceparent` says it
//!
//! `00-<trace>-<span>-<flags>` in lower-case hex. What a later version of that header adds is not
//! kept; what breaks its rules is no trace at all.

use std::borrow::Cow;
use std::fmt;
use std::str::FromStr;

use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::{Deserialize, Serialize};

/// A trace and the span in it that led here.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Traceparent {
    trace: u128,
    span: u64,
    flags: u8,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NoTraceparent;

impl fmt::Display for NoTraceparent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("expected 00-<32 hex digits>-<16 hex digits>-<2 hex digits>, in lower case")
    }
}

impl std::error::Error for NoTraceparent {}

impl Traceparent {
    /// None when either id is zero, which names nothing.
    pub fn new(trace: u128, span: u64, flags: u8) -> Option<Self> {
        (trace != 0 && span != 0).then_some(Self { trace, span, flags })
    }

    pub fn trace(self) -> u128 {
        self.trace
    }

    pub fn span(self) -> u64 {
        self.span
    }

    pub fn flags(self) -> u8 {
        self.flags
    }
}

impl fmt::Display for Traceparent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "00-{:032x}-{:016x}-{:02x}", self.trace, self.span, self.flags)
    }
}

impl FromStr for Traceparent {
    type Err = NoTraceparent;

    fn from_str(text: &str) -> Result<Self, NoTraceparent> {
        let mut parts = text.split('-');
        let mut part = |digits: usize| {
            let lower = |byte: u8| matches!(byte, b'0'..=b'9' | b'a'..=b'f');
            parts.next().filter(|part| part.len() == digits && part.bytes().all(lower))
        };
        let (version, trace, span, flags) = (part(2), part(32), part(16), part(2));
        let more = parts.next().is_some();
        let readable = |version: &str| version != "ff" && (version != "00" || !more);
        if !version.is_some_and(readable) {
            return Err(NoTraceparent);
        }
        let trace = trace.and_then(|hex| u128::from_str_radix(hex, 16).ok());
        let span = span.and_then(|hex| u64::from_str_radix(hex, 16).ok());
        let flags = flags.and_then(|hex| u8::from_str_radix(hex, 16).ok());
        let (Some(trace), Some(span), Some(flags)) = (trace, span, flags) else {
            return Err(NoTraceparent);
        };
        Self::new(trace, span, flags).ok_or(NoTraceparent)
    }
}

impl TryFrom<String> for Traceparent {
    type Error = NoTraceparent;

    fn try_from(text: String) -> Result<Self, NoTraceparent> {
        text.parse()
    }
}

impl From<Traceparent> for String {
    fn from(parent: Traceparent) -> Self {
        parent.to_string()
    }
}

impl JsonSchema for Traceparent {
    fn schema_name() -> Cow<'static, str> {
        "Traceparent".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        String::json_schema(generator)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const WHOLE: &str = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";

    fn read(text: &str) -> Option<String> {
        text.parse::<Traceparent>().ok().map(|parent| parent.to_string())
    }

    #[test]
    fn what_is_read_is_written_again() {
        assert_eq!(read(WHOLE).as_deref(), Some(WHOLE));
        let json = serde_json::to_string(&WHOLE.parse::<Traceparent>().unwrap()).unwrap();
        assert_eq!(json, format!("\"{WHOLE}\""));
        assert_eq!(serde_json::from_str::<Traceparent>(&json).unwrap().to_string(), WHOLE);
    }

    #[test]
    fn a_later_version_is_read_as_far_as_it_is_known() {
        let later = WHOLE.replacen("00-", "cc-", 1);
        assert_eq!(read(&later).as_deref(), Some(WHOLE));
        assert_eq!(read(&format!("{later}-what-will-be")).as_deref(), Some(WHOLE));
    }

    #[test]
    fn what_breaks_the_rules_is_no_trace() {
        let zero_trace = format!("00-{}-b7ad6b7169203331-01", "0".repeat(32));
        let zero_span = format!("00-0af7651916cd43dd8448eb211c80319c-{}-01", "0".repeat(16));
        for wrong in [
            "",
            "00",
            &WHOLE.to_uppercase(),
            &WHOLE.replacen("00-", "ff-", 1),
            &format!("{WHOLE}-more"),
            &WHOLE[..54],
            &format!(" {WHOLE}"),
            &WHOLE.replace("b7ad", "b7+d"),
            &WHOLE.replace("b7ad", "b7äd"),
            &zero_trace,
            &zero_span,
        ] {
            assert_eq!(read(wrong), None, "{wrong}");
        }
    }
}
