//! # The tree: every text file of the checkout
//!
//! **May not:** ask git; a source archive has to pass the same tests.

use std::fs;
use std::path::{Path, PathBuf};

/// What builds, runs and tools leave behind; never tracked.
const SKIPPED: &[&str] = &["target", ".git", "node_modules", "semel-data"];

/// A text file, its path relative to the root with `/` between the parts.
pub(crate) struct File {
    pub(crate) path: String,
    pub(crate) text: String,
}

/// The root of the workspace.
pub(crate) fn root() -> PathBuf {
    let parent = Path::new(env!("CARGO_MANIFEST_DIR")).parent();
    parent.expect("the package `tests` lies in the workspace").to_owned()
}

/// All text files below this directory of the root, in stable order.
pub(crate) fn files(below: &str) -> Vec<File> {
    let mut found = vec![];
    collect(&root().join(below), &mut found);
    found.sort_by(|a, b| a.path.cmp(&b.path));
    found
}

fn collect(directory: &Path, found: &mut Vec<File>) {
    let Ok(entries) = fs::read_dir(directory) else { return };
    for entry in entries.flatten() {
        let path = entry.path();
        let Ok(kind) = entry.file_type() else { continue };
        if entry.file_name().to_str().is_some_and(|name| SKIPPED.contains(&name)) {
            continue; // A file too: in a second worktree `.git` is one.
        }
        if kind.is_dir() {
            collect(&path, found);
        } else if kind.is_file()
            && let Ok(text) = fs::read_to_string(&path)
        {
            let relative = path.strip_prefix(root()).expect("the walk started at the root");
            let path = relative.to_string_lossy().replace('\\', "/");
            found.push(File { path, text });
        }
    }
}
