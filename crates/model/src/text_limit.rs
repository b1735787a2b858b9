//! # Text limits: how long a name or an id may be, and what may stand in it
//!
//! Names and ids are columns, keys of an index, labels of numbers and parts of log lines. A line break in one would
//! forge a line of a log; a long one would not fit into an index.

/// Names of definitions and tasks, references, types and domains. Two of them fit into one index of PostgreSQL.
pub const NAME_CHARS_MAX: usize = 255;
/// Ids that callers choose, such as those of workers and correlations, and names that may be templates.
pub const ID_CHARS_MAX: usize = 512;

/// What is wrong with it.
pub fn text_fault(text: &str, chars_max: usize) -> Option<String> {
    if text.contains('\0') {
        return Some("must not contain the NUL character".to_owned());
    }
    if let Some((at, found)) = text.chars().enumerate().find(|(_, found)| found.is_control()) {
        let (at, code) = (at + 1, u32::from(found));
        return Some(format!(
            "must not contain control characters; character {at} is U+{code:04X}"
        ));
    }
    // More bytes than characters, so most texts need not be counted.
    let chars = if text.len() > chars_max { text.chars().count() } else { 0 };
    (chars > chars_max).then(|| format!("must have at most {chars_max} characters, not {chars}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn length_is_counted_in_characters_and_controls_are_named() {
        for fine in ["", "a", "ü".repeat(255).as_str(), "a b/c-${x}", "\u{200b}😀"] {
            assert_eq!(text_fault(fine, 255), None, "{fine}");
        }
        let fault = |text: &str| text_fault(text, 255).unwrap_or_default();
        assert_eq!(fault(&"ü".repeat(256)), "must have at most 255 characters, not 256");
        assert_eq!(fault("a\0"), "must not contain the NUL character");
        for (text, code) in
            [("ab\n", "3 is U+000A"), ("\u{7f}", "1 is U+007F"), ("\u{85}", "U+0085")]
        {
            assert!(fault(text).ends_with(code), "{}", fault(text));
        }
    }
}
