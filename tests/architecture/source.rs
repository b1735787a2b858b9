//! # Source: Rust text with everything blanked that is not code
//!
//! Comments, strings and character literals become spaces, line breaks stay, so that the rules can
//! count lines and match braces. A scanner, not a parser: good for code that compiles.

/// The same lines, code only.
pub(crate) fn code(text: &str) -> String {
    let mut scanner = Scanner { rest: text, code: String::with_capacity(text.len()), last: ' ' };
    while let Some(next) = scanner.rest.chars().next() {
        let blanked = scanner.blankable();
        if blanked > 0 {
            scanner.blank(blanked);
        } else {
            scanner.keep(next);
        }
    }
    scanner.code
}

/// The position just after the brace that closes the one at `open`.
pub(crate) fn closing(code: &str, open: usize) -> Option<usize> {
    let mut depth = 0usize;
    for (at, byte) in code.bytes().enumerate().skip(open) {
        match byte {
            b'{' => depth += 1,
            b'}' => depth = depth.checked_sub(1)?,
            _ => continue,
        }
        if depth == 0 {
            return Some(at + 1);
        }
    }
    None
}

/// The identifier at the start of the text, raw or not.
pub(crate) fn identifier(text: &str) -> &str {
    let text = text.strip_prefix("r#").unwrap_or(text);
    let end = text.find(|c: char| !is_word(c)).unwrap_or(text.len());
    &text[..end]
}

/// Every position right after this keyword and the space that follows it.
pub(crate) fn after_keyword<'a>(
    code: &'a str,
    keyword: &'a str,
) -> impl Iterator<Item = usize> + 'a {
    code.match_indices(keyword).filter_map(move |(at, _)| {
        let rest = &code[at + keyword.len()..];
        let is_keyword = !code[..at].ends_with(is_word) && rest.starts_with(char::is_whitespace);
        is_keyword.then(|| code.len() - rest.trim_start().len())
    })
}

/// The line, counted from 1, on which this position lies.
pub(crate) fn line_of(code: &str, at: usize) -> usize {
    1 + code[..at].matches('\n').count()
}

fn is_word(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

struct Scanner<'a> {
    rest: &'a str,
    code: String,
    last: char,
}

impl Scanner<'_> {
    fn keep(&mut self, next: char) {
        self.code.push(next);
        self.last = next;
        self.rest = &self.rest[next.len_utf8()..];
    }

    fn blank(&mut self, length: usize) {
        let (blanked, rest) = self.rest.split_at(length);
        self.code.extend(blanked.chars().map(|c| if c == '\n' { '\n' } else { ' ' }));
        self.last = ' ';
        self.rest = rest;
    }

    /// How many bytes from here are a comment or a literal; 0 if here is code.
    fn blankable(&self) -> usize {
        let rest = self.rest;
        if rest.starts_with("//") {
            return rest.find('\n').unwrap_or(rest.len());
        }
        if rest.starts_with("/*") {
            return block_comment(rest);
        }
        if let Some(string) = rest.strip_prefix('"') {
            return 1 + until_quote(string, '"');
        }
        if rest.starts_with('\'') {
            return character(rest);
        }
        if is_word(self.last) { 0 } else { raw_string(rest) }
    }
}

/// Block comments nest.
fn block_comment(text: &str) -> usize {
    let (mut at, mut depth) = (0, 0);
    while at < text.len() {
        let rest = &text.as_bytes()[at..];
        if rest.starts_with(b"/*") {
            (at, depth) = (at + 2, depth + 1);
        } else if rest.starts_with(b"*/") {
            (at, depth) = (at + 2, depth - 1);
        } else {
            at += 1;
        }
        if depth == 0 {
            return at;
        }
    }
    text.len()
}

/// The length up to and including the quote that is not escaped.
fn until_quote(text: &str, quote: char) -> usize {
    let mut is_escaped = false;
    for (at, c) in text.char_indices() {
        if c == quote && !is_escaped {
            return at + 1;
        }
        is_escaped = c == '\\' && !is_escaped;
    }
    text.len()
}

/// `'x'` and `'\n'` are literals, `'a` in `&'a str` is not.
fn character(text: &str) -> usize {
    let mut chars = text.char_indices().skip(1);
    let first = chars.next().map(|(_, c)| c);
    match (first, chars.next()) {
        (Some('\\'), _) => 1 + until_quote(&text[1..], '\''),
        (Some(_), Some((at, '\''))) => at + 1,
        _ => 0,
    }
}

/// `r"..."`, `r#"..."#`, also for bytes and C strings; 0 if this is none.
fn raw_string(text: &str) -> usize {
    let Some(rest) = ["r", "br", "cr"].into_iter().find_map(|prefix| text.strip_prefix(prefix))
    else {
        return 0;
    };
    let body = rest.trim_start_matches('#');
    let Some(body) = body.strip_prefix('"') else { return 0 };
    let hashes = &rest[..rest.len() - body.len() - 1];
    let end = format!("\"{hashes}");
    let start = text.len() - body.len();
    body.find(&end).map_or(text.len(), |at| start + at + end.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn comments_and_literals_are_blanked_and_lines_stay() {
        for (text, expected) in [
            ("a // {\nb", "a     \nb"),
            ("a /* { /* { */ \n } */ b", "a              \n      b"),
            ("f(\"{\\\"\", '{', '\\'', b'}')", "f(     ,    ,     , b   )"),
            ("r#\"{\"}\"# x", "         x"),
            ("var\"{\" x", "var    x"),
            ("fn f<'a>(x: &'a str) {}", "fn f<'a>(x: &'a str) {}"),
            ("r#type {", "r#type {"),
        ] {
            assert_eq!(code(text), expected);
        }
    }

    #[test]
    fn braces_are_matched() {
        assert_eq!(closing("a { b { } } c", 2), Some(11));
        assert_eq!(closing("a { b { }", 2), None);
    }

    #[test]
    fn keywords_are_words() {
        let code = "fn one() {} often two; pub fn  three()";
        let names: Vec<&str> =
            after_keyword(code, "fn").map(|at| identifier(&code[at..])).collect();
        assert_eq!(names, ["one", "three"]);
    }
}
