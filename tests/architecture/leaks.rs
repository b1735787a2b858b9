//! # Leaks: no file names the machine it was written on
//!
//! An absolute path of somebody's workplace means nothing elsewhere, and tells more than it should.

/// Split, so that this file does not object to itself.
const PLACES: &[&str] = &[concat!("/wo", "rk/"), concat!("/ro", "ot/")];

/// Every line that names such a place.
pub(crate) fn objections(path: &str, text: &str) -> Vec<String> {
    let lines = text.lines().enumerate().filter(|(_, line)| leaks(line));
    lines.map(|(at, _)| format!("{path}:{}: names a place on one machine", at + 1)).collect()
}

/// `src/x/` is a path of ours whatever x is; only one that starts at `/` is of a machine.
fn leaks(line: &str) -> bool {
    PLACES.iter().any(|place| {
        line.match_indices(place).any(|(at, _)| {
            let before = line[..at].chars().next_back();
            !before.is_some_and(|c| c.is_alphanumeric() || "_-.}".contains(c))
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_of_one_machine_is_refused() {
        for place in PLACES {
            for text in
                [format!("{place}a"), format!("a\n see ({place})"), format!("file://{place}")]
            {
                assert_eq!(objections("a.md", &text).len(), 1, "{text}");
            }
            for text in [format!("src{place}a.rs"), format!("..{place}a"), place.replace('/', " ")]
            {
                assert_eq!(objections("a.md", &text).len(), 0, "{text}");
            }
        }
        assert_eq!(
            objections("a.md", &format!("\n\n{}", PLACES[0])),
            ["a.md:3: names a place on one machine"]
        );
    }
}
