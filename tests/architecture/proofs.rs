//! # Proofs: every test that a page of `docs/reference/rules` names exists
//!
//! A proof is a name in backticks in the last cell of a row: a story by its file, a Rust test or a
//! rule of the stores' conformance suite by its function. A number belongs to one rule only.

use std::collections::BTreeSet;

use crate::tree::File;

const PAGES: &str = "docs/reference/rules/";

/// The pages that hold the rules.
pub(crate) fn pages(files: &[File]) -> impl Iterator<Item = &File> {
    files.iter().filter(|file| file.path.starts_with(PAGES) && file.path.ends_with(".md"))
}

/// Every rule without a proof, every proof that is not there, and every number that is used twice.
pub(crate) fn objections(files: &[File], known: &BTreeSet<String>) -> Vec<String> {
    let mut objections = vec![];
    let mut numbers = BTreeSet::new();
    for page in pages(files) {
        for (at, line) in page.text.lines().enumerate() {
            let Some(number) = number(line) else { continue };
            let mut object = |what: String| {
                objections.push(format!("{}:{}: {what}", page.path, at + 1));
            };
            if !numbers.insert(number) {
                object(format!("there is another rule {number}"));
            }
            let proofs = proofs(line);
            if proofs.is_empty() {
                object("a rule without a proof".to_owned());
            }
            for proof in proofs.into_iter().filter(|proof| !known.contains(*proof)) {
                object(format!("there is no test or story `{proof}`"));
            }
        }
    }
    objections
}

/// What stands in backticks in the last cell of this row.
fn proofs(row: &str) -> Vec<&str> {
    let cell = row.trim_end().trim_end_matches('|').rsplit('|').next().unwrap_or_default();
    cell.split('`').skip(1).step_by(2).collect()
}

/// The number that this row of a table begins with, `7.12` or `7.12a`.
fn number(line: &str) -> Option<&str> {
    let number = line.strip_prefix("| ")?.split(' ').next()?;
    let (chapter, rule) = number.split_once('.')?;
    let rule = rule.strip_suffix(|last: char| last.is_ascii_lowercase()).unwrap_or(rule);
    let is_number = |part: &str| !part.is_empty() && part.chars().all(|c| c.is_ascii_digit());
    (is_number(chapter) && is_number(rule)).then_some(number)
}

/// The names of all tests and stories.
pub(crate) fn known(files: &[File]) -> BTreeSet<String> {
    files.iter().flat_map(|file| named(&file.path, &file.text)).collect()
}

fn named(path: &str, text: &str) -> Vec<String> {
    if let Some(story) = path.strip_suffix(".story") {
        return story.rsplit('/').next().map(str::to_owned).into_iter().collect();
    }
    if !path.ends_with(".rs") {
        return vec![];
    }
    let is_conformance = path.contains("/conformance/");
    let mut is_test = false;
    let mut names = vec![];
    for line in text.lines().map(str::trim) {
        match function(line) {
            Some(name) if is_test || (is_conformance && line.starts_with("pub fn ")) => {
                names.push(name.to_owned());
                is_test = false;
            }
            Some(_) => is_test = false,
            None => is_test |= line.starts_with("#[") && line.contains("test]"),
        }
    }
    names
}

/// The name of the function that begins on this line.
fn function(line: &str) -> Option<&str> {
    let (before, rest) = line.split_once("fn ")?;
    let is_head = ["", "pub ", "async ", "pub async ", "pub(crate) "].contains(&before);
    let (name, _) = rest.split_once('(').filter(|_| is_head)?;
    Some(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rule_names_proofs_that_exist() {
        let known: BTreeSet<String> = ["told".to_owned(), "shown".to_owned()].into();
        let page = |text: &str| File {
            path: "docs/reference/rules/a.md".to_owned(),
            text: text.to_owned(),
        };
        let good =
            page("| rule | proof |\n| --- | --- |\n| 1.1 A `field`. | `told`, `shown` (all) |\n");
        assert_eq!(objections(&[good], &known).len(), 0);
        let bad = page(
            "| 1.1 A `told` rule. | nothing |\n| 1.2a Another. | `told`, `gone` |\n| 1.1 Again. | `told` |\n",
        );
        assert_eq!(
            objections(&[bad], &known),
            [
                "docs/reference/rules/a.md:1: a rule without a proof",
                "docs/reference/rules/a.md:2: there is no test or story `gone`",
                "docs/reference/rules/a.md:3: there is another rule 1.1"
            ]
        );
        let elsewhere = File { path: "docs/a.md".to_owned(), text: "| 1.1 A. | |\n".to_owned() };
        assert_eq!(objections(&[elsewhere], &known).len(), 0);
    }

    #[test]
    fn tests_stories_and_rules_of_stores_are_known_and_nothing_else() {
        let text = "#[test]\nfn one() {\n    fn inner() {}\n}\n#[cfg(test)]\nmod tests {\n}\nfn two() {}\n\
                    #[tokio::test]\nasync fn three() {}\npub fn four(x: u8) {}\n";
        assert_eq!(named("tests/a.rs", text), ["one", "three"]);
        assert_eq!(named("crates/store/src/conformance/a.rs", text), ["one", "three", "four"]);
        assert_eq!(named("tests/stories/a_tale.story", "fn x()"), ["a_tale"]);
        assert_eq!(named("docs/a.md", text), [""; 0]);
    }
}
