//! # Expressions: what a key is made of
//!
//! Only names are looked at; whether a path leads anywhere is not known here.

/// The inside of every `${...}` of a text, inner ones too. An escaped or unterminated one is plain
/// text.
pub(crate) fn expressions(text: &str) -> Vec<&str> {
    let bytes = text.as_bytes();
    let mut open: Vec<Option<usize>> = vec![];
    let mut found = vec![];
    for (at, byte) in bytes.iter().enumerate() {
        match byte {
            b'{' => {
                let is_escaped = at >= 2 && bytes[at - 2] == b'$';
                let is_expression = at >= 1 && bytes[at - 1] == b'$' && !is_escaped;
                open.push(is_expression.then_some(at + 1));
            }
            b'}' => {
                if let Some(start) = open.pop().flatten() {
                    found.push(text[start..at].trim());
                }
            }
            _ => {}
        }
    }
    found
}

/// The names along a path: `workflow`, `input`, `id` of `workflow.input['id']`.
pub(crate) fn names(path: &str) -> impl Iterator<Item = &str> {
    path.split(['.', '[', ']', '\'', '"', '(', ')', ' ', ',', '$', '{', '}'])
        .filter(|name| !name.is_empty())
}

/// Which input of a task an expression over it begins with.
pub(crate) fn head(path: &str) -> &str {
    names(path).next().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn expressions_are_found_and_text_is_not() {
        assert_eq!(expressions("a-${b.c}-${ d }"), ["b.c", "d"]);
        assert_eq!(expressions("${a.${b}}"), ["b", "a.${b}"]);
        for plain in ["", "a", "$${a}", "${a", "{a}", "}"] {
            assert_eq!(expressions(plain), [""; 0], "{plain}");
        }
    }

    #[test]
    fn a_path_is_read_by_its_names() {
        let read = |path| names(path).collect::<Vec<_>>();
        assert_eq!(
            read("workflow.input['order id'][0].x"),
            ["workflow", "input", "order", "id", "0", "x"]
        );
        assert_eq!(head("order.id"), "order");
        assert_eq!(head(""), "");
    }
}
