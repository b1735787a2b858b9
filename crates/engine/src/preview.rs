//! # Previews: what is kept of an output that is too large
//!
//! Whoever looks for the cause sees how it began.

use semel_model::Payload;
use serde_json::json;

/// Of its text.
const PREVIEW_CHARS_MAX: usize = 1_000;

pub(crate) fn of(output: &Payload) -> Payload {
    let text: String = output.text().chars().take(PREVIEW_CHARS_MAX).collect();
    Payload::from_value(&json!({ "truncatedOutput": text }))
}
