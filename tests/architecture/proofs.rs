//! # Proofs: every test that `docs/rules.md` names exists
//!
//! A proof is a name in backticks in the last cell of a row: a story by its file, a Rust test or a
//! rule of the stores' conformance suite by its function.

use std::collections::BTreeSet;

use crate::tree::File;

/// Every rule without a proof, and every proof that is not there.
pub(crate) fn objections(rules: &str, known: &BTreeSet<String>) -> Vec<String> {
    let mut objections = vec![];
    for (at, line) in rules.lines().enumerate().filter(|(_, line)| is_rule(line)) {
        let cell = line.trim_end().trim_end_matches('|').rsplit('|').next().unwrap_or_default();
        let proofs: Vec<&str> = cell.split('`').skip(1).step_by(2).collect();
        if proofs.is_empty() {
            objections.push(format!("docs/rules.md:{}: a rule without a proof", at + 1));
        }
        let missing = proofs.into_iter().filter(|proof| !known.contains(*proof));
        objections.extend(
            missing.map(|proof| {
                format!("docs/rules.md:{}: there is no test or story `{proof}`", at + 1)
            }),
        );
    }
    objections
}

/// A row of a table that begins with a number.
fn is_rule(line: &str) -> bool {
    line.strip_prefix("| ").is_some_and(|row| row.starts_with(|first: char| first.is_ascii_digit()))
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
        let rules = "| rule | proof |\n| --- | --- |\n| 1.1 A `field`. | `told`, `shown` (all) |\n";
        assert_eq!(objections(rules, &known).len(), 0);
        let rules = "| 1.1 A `told` rule. | nothing |\n| 1.2 Another. | `told`, `gone` |\n";
        assert_eq!(
            objections(rules, &known),
            [
                "docs/rules.md:1: a rule without a proof",
                "docs/rules.md:2: there is no test or story `gone`"
            ]
        );
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
