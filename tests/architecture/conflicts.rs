//! # Conflicts: no file holds a merge that was not finished
//!
//! What git puts between the lines compiles in no language, but prose is not compiled.

/// Split, so that this file does not object to itself.
const MARKS: &[&str] = &[concat!("<<<<", "<<< "), concat!(">>>>", ">>> ")];

/// Every line that begins with such a mark.
pub(crate) fn objections(path: &str, text: &str) -> Vec<String> {
    let lines = text.lines().enumerate();
    let marked = lines.filter(|(_, line)| MARKS.iter().any(|mark| line.starts_with(mark)));
    marked.map(|(at, _)| format!("{path}:{}: a merge was not finished", at + 1)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mark_at_the_start_of_a_line_is_refused() {
        for mark in MARKS {
            let text = format!("a\n{mark}HEAD\nb");
            assert_eq!(objections("a.md", &text), ["a.md:2: a merge was not finished"]);
            for text in [format!("a {mark}"), mark.trim().to_owned(), mark[1..].to_owned()] {
                assert_eq!(objections("a.md", &text).len(), 0, "{text}");
            }
        }
    }
}
