//! What `docs/configuration.md` says of each key

use super::super::{KEYS, Key};

const PAGE: &str = include_str!("../../../../../docs/configuration.md");

/// The row begins with these cells; what the key means follows.
fn row(key: &Key) -> String {
    let default = match key.default {
        "" => "none".to_owned(),
        value => format!("`{value}`"),
    };
    format!("| `--{}` | `{}` | `{}` | {default} | ", key.flag(), key.variable(), key.name)
}

#[test]
fn the_page_has_a_row_for_every_key_and_no_other() {
    let mut rows: Vec<&str> = PAGE.lines().filter(|line| line.starts_with("| `--")).collect();
    for key in KEYS {
        let row = row(key);
        let at = rows.iter().position(|line| line.starts_with(&row));
        let at = at.unwrap_or_else(|| panic!("docs/configuration.md has no row {row}"));
        rows.remove(at);
    }
    assert_eq!(rows, [""; 0], "rows of docs/configuration.md that are about no key");
}

#[test]
fn the_page_shows_every_key_of_semel_config() {
    for key in KEYS {
        let is_shown = PAGE.lines().any(|line| line.split(' ').next() == Some(key.name));
        assert!(is_shown, "{} is missing in what the page says `semel config` prints", key.name);
    }
}
