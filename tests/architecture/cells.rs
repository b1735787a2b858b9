//! # Cells: a table is read at a glance
//!
//! Long text in a cell is a paragraph or a list that stands at the wrong place.

use crate::tree::File;

const CELL_CHARS_MAX: usize = 300;
/// Pages that keep to it. The rules name all their proofs in a cell.
const PAGES: &[&str] =
    &["docs/glossary.md", "docs/measurements.md", "docs/proof.md", "docs/reference/"];
const EXEMPT: &str = "docs/reference/rules/";

pub(crate) fn objections(files: &[File]) -> Vec<String> {
    let is_kept =
        |path: &str| PAGES.iter().any(|page| path.starts_with(page)) && !path.starts_with(EXEMPT);
    let mut objections = vec![];
    for file in files.iter().filter(|file| is_kept(&file.path)) {
        for (at, line) in file.text.lines().enumerate().filter(|(_, line)| line.starts_with('|')) {
            let longest = line.split(" | ").map(|cell| cell.chars().count()).max().unwrap_or(0);
            if longest > CELL_CHARS_MAX {
                let what = format!("a cell of {longest} characters");
                objections.push(format!("{}:{}: {what}", file.path, at + 1));
            }
        }
    }
    objections
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_cell_is_found_where_cells_are_short() {
        let long = format!("| a | b |\n| {} | b |\n", "x".repeat(400));
        let file = |path: &str| File { path: path.to_owned(), text: long.clone() };
        let files =
            [file("docs/proof.md"), file("docs/other.md"), file("docs/reference/rules/a.md")];
        assert_eq!(objections(&files), ["docs/proof.md:2: a cell of 402 characters"]);
    }
}
