//! # Codes: the table of error codes and the pages about them name the same
//!
//! `docs/errors/README.md` lists the pages, `docs/reference/wire.md` says what a client may rely on.

use std::collections::BTreeSet;

use crate::tree::File;

const INDEX: &str = "docs/errors/README.md";
const WIRE: &str = "docs/reference/wire.md";
const PAGES: &str = "docs/errors/";

/// Codes that one of the two tables lacks, or gives another status, and codes without a page.
pub(crate) fn objections(files: &[File]) -> Vec<String> {
    let text = |path: &str| files.iter().find(|file| file.path == path).map(|file| &file.text);
    let (Some(index), Some(wire)) = (text(INDEX), text(WIRE)) else {
        return vec![format!("{INDEX} or {WIRE} is missing")];
    };
    let (index, wire) = (codes(index), codes(wire));
    let lacks = |path: &str, (code, status): &(String, String)| {
        format!("{path}: there is no row for `{code}`, {status}")
    };
    let mut objections: Vec<String> = index.difference(&wire).map(|row| lacks(WIRE, row)).collect();
    objections.extend(wire.difference(&index).map(|row| lacks(INDEX, row)));
    let pageless = wire.iter().map(|(code, _)| format!("{PAGES}{code}.md"));
    let pageless = pageless.filter(|page| text(page).is_none());
    objections.extend(pageless.map(|page| format!("{WIRE}: there is no {page}")));
    objections
}

/// Code and status of each row that begins with a code: | `CODE` | 409 |.
fn codes(page: &str) -> BTreeSet<(String, String)> {
    let row = |line: &str| {
        let (code, rest) = line.strip_prefix("| `")?.split_once("` | ")?;
        let (status, _) = rest.split_once(" |")?;
        let is_code = code.chars().all(|c| c.is_ascii_uppercase() || c == '_');
        let is_status = status.starts_with(|first: char| first.is_ascii_digit());
        (is_code && is_status).then(|| (code.to_owned(), status.to_owned()))
    };
    page.lines().filter_map(row).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_code_that_one_table_lacks_and_one_without_a_page_are_found() {
        let file = |path: &str, text: &str| File { path: path.to_owned(), text: text.to_owned() };
        let index = "| `ONE` | 409 | x |\n| `TWO_B` | 422 | x |\n| `unknown key` | 2 | x |\n";
        let files = [
            file(INDEX, index),
            file(WIRE, "| `ONE` | 409 | no |\n| `TWO_B` | 400 | no |\n"),
            file("docs/errors/ONE.md", ""),
        ];
        assert_eq!(
            objections(&files),
            [
                "docs/reference/wire.md: there is no row for `TWO_B`, 422",
                "docs/errors/README.md: there is no row for `TWO_B`, 400",
                "docs/reference/wire.md: there is no docs/errors/TWO_B.md"
            ]
        );
    }
}
