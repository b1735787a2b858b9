//! What README says `semel config` prints

use super::super::KEYS;

#[test]
fn the_readme_shows_every_key() {
    let readme = include_str!("../../../../../README.md");
    for key in KEYS {
        let is_shown = readme.lines().any(|line| line.split(' ').next() == Some(key.name));
        assert!(is_shown, "{} is missing in what README says `semel config` prints", key.name);
    }
}
