//! # Citations: what a comment or a page refers to is there
//!
//! A comment cites a page below `docs/`, and perhaps a heading of it, `docs/http.md` or that with
//! `#keys`. A number, such as that of a section, says nothing to somebody who has no such document.
//! Pages link to each other in Markdown.

use std::collections::{BTreeMap, BTreeSet};

use crate::tree::File;

/// What is left out of a heading that leads to it.
const MARKUP: &[char] = &['`', '*', '[', ']'];
/// A number after one of these words is of a document that is not here.
const NUMBERED: &[&str] = &["contract", "contracts", "semantics", "law", "laws", "section"];
/// As above, with a letter or a number.
const APPENDIX: &str = "appendix";

/// Citations in comments that lead nowhere, or cite a number.
pub(crate) fn of_comments(files: &[File]) -> Vec<String> {
    let headings = headings(files);
    let mut objections = vec![];
    for file in files.iter().filter(|file| is_source(&file.path)) {
        for (at, line) in file.text.lines().enumerate() {
            let Some(comment) = comment(&file.path, line) else { continue };
            let mut object =
                |what: String| objections.push(format!("{}:{}: {what}", file.path, at + 1));
            for cited in pages(comment).filter_map(|cited| fault("", cited, &headings)) {
                object(cited);
            }
            if let Some(cited) = number(comment) {
                object(format!("cite a heading below docs/ instead of `{cited}`"));
            }
        }
    }
    objections
}

/// Links of pages that lead nowhere.
pub(crate) fn of_pages(files: &[File]) -> Vec<String> {
    let headings = headings(files);
    let mut objections = vec![];
    for file in files.iter().filter(|file| is_page(&file.path)) {
        for (at, line) in file.text.lines().enumerate() {
            let relative = links(line).filter(|link| !link.contains(':'));
            let faults = relative.filter_map(|link| fault(&file.path, link, &headings));
            objections.extend(faults.map(|fault| format!("{}:{}: {fault}", file.path, at + 1)));
        }
    }
    objections
}

fn is_source(path: &str) -> bool {
    let is_ours =
        ["crates/", "tests/", "bench/", "examples/"].iter().any(|it| path.starts_with(it));
    is_ours && [".rs", ".cases", ".story"].iter().any(|it| path.ends_with(it))
}

fn is_page(path: &str) -> bool {
    path.ends_with(".md") && (path.starts_with("docs/") || !path.contains('/'))
}

/// The text of a line that is a comment.
fn comment<'a>(path: &str, line: &'a str) -> Option<&'a str> {
    let mark = if path.ends_with(".rs") { "//" } else { "#" };
    line.trim_start().strip_prefix(mark)
}

/// Every page below `docs/` that the text names, with its heading.
fn pages(text: &str) -> impl Iterator<Item = &str> {
    let ends = |c: char| !(c.is_alphanumeric() || "/._-#".contains(c));
    text.match_indices("docs/")
        .filter(|(at, _)| !text[..*at].ends_with(|c: char| c.is_alphanumeric() || c == '/'))
        .map(move |(at, _)| text[at..].split(ends).next().unwrap_or_default())
        .map(|cited| cited.trim_end_matches(['.', '#']))
        .filter(|cited| cited.contains(".md"))
}

/// Where the links of a line of Markdown lead, those that lead to pages or into this one.
fn links(line: &str) -> impl Iterator<Item = &str> {
    line.match_indices("](").filter_map(|(at, _)| {
        let link = line[at + 2..].split(')').next()?;
        (link.contains(".md") || link.starts_with('#')).then_some(link)
    })
}

/// A number that is cited: the word law, and which one.
fn number(comment: &str) -> Option<String> {
    let words: Vec<&str> = comment.split_whitespace().collect();
    words.windows(2).find_map(|pair| {
        let word = pair[0].trim_matches(|c: char| !c.is_alphanumeric()).to_lowercase();
        let next = pair[1].trim_start_matches(|c: char| !c.is_alphanumeric());
        let is_number = next.starts_with(|c: char| c.is_ascii_digit());
        let is_cited = (NUMBERED.contains(&word.as_str()) && is_number) || word == APPENDIX;
        is_cited.then(|| pair.join(" "))
    })
}

/// What is wrong with this link from that page, or with this path from the root.
fn fault(from: &str, link: &str, headings: &BTreeMap<&str, BTreeSet<String>>) -> Option<String> {
    let (page, heading) = link.split_once('#').unwrap_or((link, ""));
    let page = if page.is_empty() { from.to_owned() } else { resolved(from, page) };
    match headings.get(page.as_str()) {
        None => Some(format!("{link}: there is no {page}")),
        Some(known) if !heading.is_empty() && !known.contains(heading) => {
            Some(format!("{link}: {page} has no heading for #{heading}"))
        }
        Some(_) => None,
    }
}

/// The path of a page that a page links to.
fn resolved(from: &str, link: &str) -> String {
    let mut path: Vec<&str> = from.split('/').collect();
    path.pop();
    for part in link.split('/') {
        match part {
            "." => {}
            ".." => drop(path.pop()),
            _ => path.push(part),
        }
    }
    path.join("/")
}

/// The names that lead into each page.
fn headings(files: &[File]) -> BTreeMap<&str, BTreeSet<String>> {
    let pages = files.iter().filter(|file| file.path.ends_with(".md"));
    pages.map(|file| (file.path.as_str(), anchors(&file.text))).collect()
}

/// As GitHub makes them; a second heading of the same text gets a number.
fn anchors(text: &str) -> BTreeSet<String> {
    let mut anchors = BTreeSet::new();
    let mut is_code = false;
    for line in text.lines() {
        is_code ^= line.starts_with("```");
        for (at, start) in line.match_indices("<a id=\"") {
            let id = line[at + start.len()..].split('"').next().unwrap_or_default();
            anchors.insert(id.to_owned());
        }
        let heading = line.trim_start_matches('#');
        if is_code || heading.len() == line.len() || !heading.starts_with(' ') {
            continue;
        }
        let slug = slug(heading.trim());
        let numbered = (1..).map(|number| format!("{slug}-{number}"));
        let mut free = std::iter::once(slug.clone()).chain(numbered);
        anchors.extend(free.find(|anchor| !anchors.contains(anchor)));
    }
    anchors
}

fn slug(heading: &str) -> String {
    let without_links = heading.split("](").enumerate().map(|(at, part)| match at {
        0 => part,
        _ => part.split_once(')').map_or(part, |(_, rest)| rest),
    });
    let text: String = without_links.collect::<String>().to_lowercase();
    let kept = text.chars().filter(|c| !MARKUP.contains(c));
    kept.filter(|c| c.is_alphanumeric() || "_- ".contains(*c))
        .map(|c| if c == ' ' { '-' } else { c })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(path: &str, text: &str) -> File {
        File { path: path.to_owned(), text: text.to_owned() }
    }

    #[test]
    fn headings_are_named_as_github_names_them() {
        let page = "# `X`: *one*, two\n## Events\n```\n# code\n```\n## Events\n<a id=\"own\"></a>\n\
                    ### NOOP, SET_VARIABLE [here](a.md)\n";
        let expected = ["events", "events-1", "noop-set_variable-here", "own", "x-one-two"];
        assert_eq!(anchors(page).into_iter().collect::<Vec<_>>(), expected);
    }

    #[test]
    fn a_citation_that_leads_nowhere_and_a_number_are_found() {
        let page = file("docs/sub/page.md", "# Page\n## Two words\n");
        let good =
            ["//! See (docs/sub/page.md#two-words), docs/sub/page.md.", "/// A law without one."];
        assert_eq!(of_comments(&[page, file("crates/a.rs", &good.join("\n"))]), [""; 0]);
        let page = file("docs/sub/page.md", "# Page\n");
        let cases = file("tests/a.cases", "# As semantics 6.4 has it\nlaw 1\n");
        let bad = [
            "//! docs/none.md, docs/sub/page.md#gone",
            "let x = \"law 1\";",
            "/// A rule (law 3).",
            "/// Contract",
            "/// 3C. Appendix B",
        ];
        assert_eq!(
            of_comments(&[page, file("crates/a.rs", &bad.join("\n")), cases]),
            [
                "crates/a.rs:1: docs/none.md: there is no docs/none.md",
                "crates/a.rs:1: docs/sub/page.md#gone: docs/sub/page.md has no heading for #gone",
                "crates/a.rs:3: cite a heading below docs/ instead of `(law 3).`",
                "crates/a.rs:5: cite a heading below docs/ instead of `Appendix B`",
                "tests/a.cases:1: cite a heading below docs/ instead of `semantics 6.4`"
            ]
        );
    }

    #[test]
    fn a_link_of_a_page_that_leads_nowhere_is_found() {
        let from = "# Here\n[a](b.md#b), [c](../README.md), [d](#here), [e](https://x.y/z.md#q)\n\
                    [f](#gone) and [g](sub/../c.md) and [h](b.md#c)\n";
        let files =
            [file("README.md", "# R\n"), file("docs/a.md", from), file("docs/b.md", "# B\n")];
        assert_eq!(
            of_pages(&files),
            [
                "docs/a.md:3: #gone: docs/a.md has no heading for #gone",
                "docs/a.md:3: sub/../c.md: there is no docs/c.md",
                "docs/a.md:3: b.md#c: docs/b.md has no heading for #c"
            ]
        );
    }
}
