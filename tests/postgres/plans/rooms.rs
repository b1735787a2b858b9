//! # Rooms: the statements there are, as the source has them
//!
//! A room's statements are the texts of its constants, whole or in parts. Whoever adds one finds out
//! here that nobody has looked at how it is done.

/// Rooms in which the day is spent.
const ROOMS: [&str; 10] = [
    "clock.rs",
    "due.rs",
    "hold.rs",
    "index.rs",
    "index/write.rs",
    "lane.rs",
    "missing.rs",
    "named.rs",
    "read.rs",
    "write.rs",
];
/// These read nothing.
const COMMANDS: [&str; 6] = ["BEGIN", "COMMIT", "ROLLBACK", "SAVEPOINT", "SET ", "TRUNCATE "];

/// Parts of statements, each with its room.
pub(super) fn statements() -> Vec<(&'static str, String)> {
    let source = concat!(env!("CARGO_MANIFEST_DIR"), "/../crates/store-postgres/src/");
    let mut found = Vec::new();
    for room in ROOMS {
        let text = std::fs::read_to_string(format!("{source}{room}")).unwrap();
        let parts: Vec<String> = items(&text).iter().flat_map(|item| texts(item)).collect();
        assert!(!parts.is_empty(), "{room} has no statement");
        let is_command = |part: &String| COMMANDS.iter().any(|it| part.starts_with(it));
        let parts = parts.into_iter().filter(|part| !is_command(part));
        found.extend(parts.map(|part| (room, part)));
    }
    found
}

/// Constants and what they are put together from: each begins at the margin.
fn items(text: &str) -> Vec<String> {
    let mut items: Vec<String> = Vec::new();
    for line in text.lines() {
        match line.starts_with(|first: char| first.is_alphabetic() || first == '/') {
            true => items.push(line.to_owned()),
            false => items.last_mut().into_iter().for_each(|item| *item += &format!("\n{line}")),
        }
    }
    items.retain(|item| {
        ["const ", "pub(crate) const ", "macro_rules! "].iter().any(|it| item.starts_with(it))
    });
    items
}

/// What stands between quotes; a line that ends with a backslash goes on at the next word.
fn texts(item: &str) -> Vec<String> {
    let mut texts = Vec::new();
    let parts = item.split('"').skip(1).step_by(2);
    for part in parts {
        let mut text = String::new();
        for (number, line) in part.lines().enumerate() {
            let line = if number == 0 { line } else { line.trim_start() };
            text.push_str(line.strip_suffix('\\').unwrap_or(line));
        }
        texts.push(text);
    }
    texts
}
