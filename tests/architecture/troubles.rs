//! # Troubles: every refusal that has a page has a row in `docs/trouble.md`

use crate::tree::File;

const PAGE: &str = "docs/trouble.md";
const PAGES: &str = "docs/errors/";
/// A cell is read at a glance.
const CELL_CHARS_MAX: usize = 300;

/// Pages without a row, and cells that are too long.
pub(crate) fn objections(files: &[File]) -> Vec<String> {
    let Some(page) = files.iter().find(|file| file.path == PAGE) else {
        return vec![format!("{PAGE} is missing")];
    };
    let pages = files.iter().filter_map(|file| file.path.strip_prefix(PAGES));
    let pages = pages.filter(|name| name.ends_with(".md") && *name != "README.md");
    let untold = pages.filter(|name| !page.text.contains(&format!("](errors/{name})")));
    let mut objections: Vec<String> =
        untold.map(|name| format!("{PAGE}: no row leads to {PAGES}{name}")).collect();
    for (at, line) in page.text.lines().enumerate() {
        let longest = line.split(" | ").map(|cell| cell.chars().count()).max().unwrap_or(0);
        if line.starts_with('|') && longest > CELL_CHARS_MAX {
            objections.push(format!("{PAGE}:{}: a cell of {longest} characters", at + 1));
        }
    }
    objections
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_without_a_row_and_a_long_cell_are_found() {
        let file = |path: &str, text: &str| File { path: path.to_owned(), text: text.to_owned() };
        let long = "x".repeat(400);
        let page = format!("| a | b | [A](errors/A.md) |\n| {long} | b | c |\n");
        let files = [
            file("docs/errors/A.md", ""),
            file("docs/errors/B.md", ""),
            file("docs/errors/README.md", ""),
            file(PAGE, &page),
        ];
        assert_eq!(
            objections(&files),
            [
                "docs/trouble.md: no row leads to docs/errors/B.md",
                "docs/trouble.md:2: a cell of 402 characters"
            ]
        );
    }
}
