//! # Pages: each code has one, and its examples are true
//!
//! The first block of JSON on a page has the finding, the second is the same put right.

use std::path::Path;

use semel_lint::{Code, Finding, Settings};

use crate::bundle::Bundle;

fn page(name: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/errors").join(name);
    std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

fn blocks(page: &str) -> Vec<&str> {
    let starts = page.split("```json\n").skip(1);
    starts.map(|rest| rest.split("```").next().unwrap_or_default()).collect()
}

fn found(code: Code, block: &str) -> Vec<Finding> {
    let bundle: Bundle =
        serde_json::from_str(block).unwrap_or_else(|error| panic!("{code}: {error}\n{block}"));
    if code != Code::EReg1 {
        bundle.may_be_registered(code.as_str());
    }
    bundle.lint(&Settings::default())
}

#[test]
fn the_examples_of_each_page_show_its_finding_and_its_absence() {
    for code in Code::ALL {
        let page = page(&format!("{code}.md"));
        assert!(page.starts_with(&format!("# {code}\n")), "{code}");
        let blocks = blocks(&page);
        assert_eq!(blocks.len(), 2, "{code}: one block before, one after");
        let before = found(*code, blocks[0]);
        let codes: Vec<_> = before.iter().map(|it| it.code).collect();
        assert_eq!(codes, [*code], "{code}: {before:#?}");
        let message = &before[0].message;
        let lines = page.lines().map(|line| line.strip_prefix("> ").unwrap_or(line));
        let told = lines.collect::<Vec<_>>().join(" ");
        assert!(told.contains(message), "{code}: the page does not quote\n{message}");
        assert_eq!(found(*code, blocks[1]), [], "{code}");
    }
}

#[test]
fn the_list_of_errors_names_every_code() {
    let list = page("README.md");
    for code in Code::ALL {
        assert!(list.contains(&format!("[{code}]({code}.md)")), "{code}");
    }
}
