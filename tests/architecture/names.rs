//! # Names: every file says what it is for, and is named after it
//!
//! A function without a home is a concept without a name, so the usual dumping grounds are refused.

use crate::source;

const DUMPING_GROUNDS: &[&str] =
    &["util", "utils", "common", "helper", "helpers", "misc", "miscellaneous"];

/// Set if the file does not open with a module doc.
pub(crate) fn undocumented(path: &str, text: &str) -> Option<String> {
    (!text.starts_with("//!")).then(|| format!("{path}: opens without a `//!` module doc"))
}

/// Each part of the path and each module in the file that is named after nothing.
pub(crate) fn nameless(path: &str, text: &str) -> Vec<String> {
    let code = source::code(text);
    let parts = path.split('/').map(|part| part.strip_suffix(".rs").unwrap_or(part));
    let modules = source::after_keyword(&code, "mod").map(|at| source::identifier(&code[at..]));
    parts
        .chain(modules)
        .filter(|name| DUMPING_GROUNDS.contains(name))
        .map(|name| format!("{path}: `{name}` names no concept"))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_opens_with_its_doc() {
        assert_eq!(undocumented("a.rs", "//! # A\n"), None);
        for text in ["", "\n//! # A", "// A", "use a;\n//! # A"] {
            assert!(undocumented("a.rs", text).is_some(), "{text:?}");
        }
    }

    #[test]
    fn dumping_grounds_are_refused_as_file_directory_and_module() {
        assert_eq!(nameless("crates/a/src/retry.rs", "mod join; // mod utils").len(), 0);
        assert_eq!(nameless("crates/a/src/utils.rs", "").len(), 1);
        assert_eq!(nameless("crates/a/src/common/mod.rs", "").len(), 1);
        assert_eq!(nameless("crates/a/src/a.rs", "pub(crate) mod helpers;\nmod misc {}").len(), 2);
    }
}
