//! # Templates: where the expressions of a string are
//!
//! Braces balance, whatever is quoted between them. `$${` stands for a literal `${`, and a `${` that
//! is never closed is plain text. One pass over the text, however it nests.

#[derive(Debug, PartialEq)]
pub(super) enum Part<'t> {
    Text(&'t str),
    /// What stands between `${` and `}`.
    Expression(&'t str),
}

pub(super) fn split(text: &str) -> Vec<Part<'_>> {
    let closings = closings(text);
    let mut parts = Vec::new();
    let (mut plain_from, mut at) = (0, 0);
    while let Some(found) = text[at..].find("${") {
        let dollar = at + found;
        at = dollar + 2;
        if text[plain_from..dollar].ends_with('$') {
            push_text(&mut parts, &text[plain_from..dollar - 1]);
            plain_from = dollar;
            continue;
        }
        let Ok(pair) = closings.binary_search_by_key(&(dollar + 1), |(open, _)| *open) else {
            continue;
        };
        push_text(&mut parts, &text[plain_from..dollar]);
        let (_, close) = closings[pair];
        parts.push(Part::Expression(&text[at..close]));
        at = close + 1;
        plain_from = at;
    }
    push_text(&mut parts, &text[plain_from..]);
    parts
}

fn push_text<'t>(parts: &mut Vec<Part<'t>>, text: &'t str) {
    if !text.is_empty() {
        parts.push(Part::Text(text));
    }
}

/// Each `{` that is closed and its `}`, in the order of the former.
fn closings(text: &str) -> Vec<(usize, usize)> {
    let mut open = Vec::new();
    let mut pairs = Vec::new();
    for (at, byte) in text.bytes().enumerate() {
        if byte == b'{' {
            open.push(at);
        } else if byte == b'}' {
            pairs.extend(open.pop().map(|start| (start, at)));
        }
    }
    pairs.sort_unstable();
    pairs
}

#[cfg(test)]
mod tests {
    use super::Part::{Expression, Text};
    use super::*;

    #[test]
    fn templates_split_into_text_and_expressions() {
        assert_eq!(split("${a.b}"), [Expression("a.b")]);
        assert_eq!(split(" ${a}"), [Text(" "), Expression("a")]);
        assert_eq!(split("${a}${b}"), [Expression("a"), Expression("b")]);
        assert_eq!(split("${a[${b}].c}"), [Expression("a[${b}].c")]);
        assert_eq!(split(""), []);
    }

    #[test]
    fn an_escape_covers_its_own_dollar_and_nothing_else() {
        assert_eq!(split("$${keep}"), [Text("${keep}")]);
        assert_eq!(split("$$${keep}"), [Text("$"), Text("${keep}")]);
        assert_eq!(split("$${a ${b}}"), [Text("${a "), Expression("b"), Text("}")]);
        assert_eq!(split("${a}$${b}"), [Expression("a"), Text("${b}")]);
    }

    #[test]
    fn what_is_never_closed_is_text_and_hides_nothing_after_it() {
        assert_eq!(split("open ${a"), [Text("open ${a")]);
        assert_eq!(split("open ${a ${b}"), [Text("open ${a "), Expression("b")]);
        assert_eq!(split("{ ${a} }"), [Text("{ "), Expression("a"), Text(" }")]);
        assert_eq!(split("${m['x}y']}"), [Expression("m['x"), Text("y']}")]);
    }
}
