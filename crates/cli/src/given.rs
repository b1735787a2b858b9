//! # Given: JSON that people hand over, on the command line or in a file
//!
//! What does not parse is refused here, with its place, before anything is sent.

use std::io::Read as _;
use std::path::Path;

use semel_model::Payload;
use serde_json::value::RawValue;

use crate::exit::AskedWrongly;

/// More than a server takes.
const FILE_BYTES_MAX: u64 = 64 << 20;

/// A file's text, which is JSON; `-` is stdin.
pub(crate) fn file(path: &Path) -> anyhow::Result<String> {
    let shown =
        if path == Path::new("-") { "stdin".to_owned() } else { path.display().to_string() };
    let wrong = |what: String| AskedWrongly(format!("{shown}: {what}"));
    let text = read(path).map_err(|error| wrong(error.to_string()))?;
    let checked = serde_json::from_str::<&RawValue>(&text).map(|_| ());
    checked.map_err(|error| wrong(format!("is not JSON: {error}")))?;
    Ok(text)
}

fn read(path: &Path) -> std::io::Result<String> {
    let mut text = String::new();
    let source: Box<dyn std::io::Read> = match path == Path::new("-") {
        true => Box::new(std::io::stdin()),
        false => Box::new(std::fs::File::open(path)?),
    };
    source.take(FILE_BYTES_MAX + 1).read_to_string(&mut text)?;
    if u64::try_from(text.len()).unwrap_or(u64::MAX) > FILE_BYTES_MAX {
        return Err(std::io::Error::other(format!("is larger than {FILE_BYTES_MAX} bytes")));
    }
    Ok(text)
}

/// An object: written out, or in the file after an `@`. Nothing given is `{}`.
pub(crate) fn object(flag: &str, given: Option<&str>) -> anyhow::Result<Payload> {
    let Some(given) = given else { return Ok(Payload::empty()) };
    let text = match given.strip_prefix('@') {
        Some(path) => file(Path::new(path))?,
        None => given.to_owned(),
    };
    let wrong = |what: &str| AskedWrongly(format!("{flag} {what}"));
    let parsed = serde_json::from_str::<serde_json::Value>(&text);
    let value = parsed.map_err(|error| wrong(&format!("is not JSON: {error}")))?;
    if !value.is_object() {
        return Err(wrong("must be a JSON object, such as '{\"amount\": 10}', or @FILE").into());
    }
    Ok(Payload::from_text(text).map_err(|error| wrong(&format!("is not JSON: {error}")))?)
}

/// A list, of which a file may hold just the one item.
pub(crate) fn as_list(text: &str) -> String {
    if is_list(text) { text.to_owned() } else { format!("[{text}]") }
}

pub(crate) fn is_list(text: &str) -> bool {
    text.trim_start().starts_with('[')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_object_is_passed_on_as_it_was_written() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("a.json");
        std::fs::write(&path, r#"{"b": 1.10}"#).unwrap();
        let at = format!("@{}", path.display());
        assert_eq!(object("--input", Some(&at)).unwrap().text(), r#"{"b": 1.10}"#);
        assert_eq!(object("--input", Some(r#"{"a":1}"#)).unwrap().text(), r#"{"a":1}"#);
        assert_eq!(object("--input", None).unwrap().text(), "{}");
    }

    #[test]
    fn what_is_no_object_is_refused_by_its_flag() {
        for (given, words) in [
            ("[1]", "--input must be a JSON object"),
            ("{a}", "--input is not JSON"),
            ("@gone", "gone: "),
        ] {
            let error = object("--input", Some(given)).unwrap_err();
            assert!(error.is::<AskedWrongly>() && error.to_string().contains(words), "{error}");
        }
    }

    #[test]
    fn one_item_is_a_list_of_one() {
        assert_eq!(as_list(" [1]"), " [1]");
        assert_eq!(as_list("{}"), "[{}]");
    }
}
