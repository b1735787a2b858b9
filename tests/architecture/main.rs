//! # Architecture: the rules of the house that a compiler does not know
//!
//! Each rule is a function over text in a file of its own, with a proof that it can fail;
//! here they meet the real tree. **May not:** need anything but the checkout and cargo.

mod arrows;
mod budget;
mod cells;
mod citations;
mod codes;
mod conflicts;
mod leaks;
mod names;
mod proofs;
mod source;
mod tree;
mod troubles;

use std::process::Command;

use tree::{File, root};

#[test]
fn arrows_between_rooms_point_inwards() {
    let output = Command::new(env!("CARGO"))
        .args(["metadata", "--no-deps", "--format-version", "1", "--offline"])
        .current_dir(root())
        .output()
        .expect("cargo runs: it runs this test");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let metadata = serde_json::from_slice(&output.stdout).expect("cargo metadata prints JSON");
    let arrows = arrows::read(&metadata);
    assert!(!arrows.is_empty(), "cargo metadata names no dependency at all");
    expect_none(arrows.iter().filter_map(arrows::objection));
}

#[test]
fn files_and_functions_fit_their_budget() {
    expect_none(rust_files().iter().flat_map(|file| budget::objections(&file.path, &file.text)));
}

#[test]
fn every_file_opens_with_what_it_is_for() {
    expect_none(rust_files().iter().filter_map(|file| names::undocumented(&file.path, &file.text)));
}

#[test]
fn every_module_is_named_after_a_concept() {
    expect_none(rust_files().iter().flat_map(|file| names::nameless(&file.path, &file.text)));
}

#[test]
fn no_file_names_the_machine_it_was_written_on() {
    expect_none(tree::files("").iter().flat_map(|file| leaks::objections(&file.path, &file.text)));
}

#[test]
fn no_file_holds_a_merge_that_was_not_finished() {
    let files = tree::files("");
    expect_none(files.iter().flat_map(|file| conflicts::objections(&file.path, &file.text)));
}

#[test]
fn every_rule_has_proofs_that_exist() {
    let files = tree::files("");
    assert!(proofs::pages(&files).count() > 1, "found no rules");
    let known = proofs::known(&files);
    assert!(known.contains("every_rule_has_proofs_that_exist"), "found no tests");
    expect_none(proofs::objections(&files, &known).into_iter());
}

#[test]
fn every_refusal_has_a_row_in_the_page_of_troubles() {
    expect_none(troubles::objections(&tree::files("")).into_iter());
}

#[test]
fn every_citation_of_a_comment_leads_to_a_heading() {
    expect_none(citations::of_comments(&tree::files("")).into_iter());
}

#[test]
fn every_link_of_a_page_leads_to_a_heading() {
    expect_none(citations::of_pages(&tree::files("")).into_iter());
}

#[test]
fn cells_of_the_reference_are_short() {
    expect_none(cells::objections(&tree::files("")).into_iter());
}

#[test]
fn every_error_code_is_in_the_table_of_the_wire() {
    expect_none(codes::objections(&tree::files("")).into_iter());
}

fn rust_files() -> Vec<File> {
    let files: Vec<File> = ["crates", "tests", "bench"]
        .into_iter()
        .flat_map(tree::files)
        .filter(|file| file.path.ends_with(".rs"))
        .collect();
    assert!(files.iter().any(|file| file.path == "tests/architecture/main.rs"), "found no sources");
    files
}

fn expect_none(objections: impl Iterator<Item = String>) {
    let objections: Vec<String> = objections.collect();
    assert!(objections.is_empty(), "\n{}\n", objections.join("\n"));
}
