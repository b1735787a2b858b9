//! # Budget: how long a file and a function may be
//!
//! A file is at most 400 lines without its tests, a function body at most 70. Wire models are exempt
//! from the first, fixtures and snapshots from both, by path and nothing else.

use crate::source;

const FILE_LINES_MAX: usize = 400;
const FUNCTION_LINES_MAX: usize = 70;

/// What is too long in this file.
pub(crate) fn objections(path: &str, text: &str) -> Vec<String> {
    if path.split('/').any(|part| part == "fixtures" || part == "snapshots") {
        return vec![];
    }
    let code = source::code(text);
    let mut objections = vec![];
    let lines = text.lines().count() - test_lines(&code);
    if lines > FILE_LINES_MAX && !path.starts_with("crates/model/") {
        objections.push(format!("{path}: {lines} lines without tests, max {FILE_LINES_MAX}"));
    }
    for function in functions(&code) {
        if function.lines > FUNCTION_LINES_MAX {
            let Function { name, line, lines } = function;
            objections
                .push(format!("{path}:{line}: {name}: {lines} lines, {FUNCTION_LINES_MAX} max"));
        }
    }
    objections
}

struct Function<'a> {
    name: &'a str,
    line: usize,
    lines: usize,
}

/// Every function that has a body; its lines are those from brace to brace.
fn functions(code: &str) -> impl Iterator<Item = Function<'_>> {
    source::after_keyword(code, "fn").filter_map(|at| {
        let name = source::identifier(&code[at..]);
        let open = at + body(&code[at..])?;
        let close = source::closing(code, open)?;
        let lines = 1 + code[open..close].matches('\n').count();
        (!name.is_empty()).then(|| Function { name, line: source::line_of(code, at), lines })
    })
}

/// Where the body opens; none if the signature ends with a semicolon, as in a trait.
fn body(signature: &str) -> Option<usize> {
    let mut depth = 0i32;
    for (at, byte) in signature.bytes().enumerate() {
        match byte {
            b'(' | b'[' => depth += 1,
            b')' | b']' => depth -= 1,
            b';' if depth == 0 => return None,
            b'{' if depth == 0 => return Some(at),
            _ => {}
        }
    }
    None
}

/// The lines of `#[cfg(test)] mod tests { ... }`, attribute included.
fn test_lines(code: &str) -> usize {
    const ATTRIBUTE: &str = "#[cfg(test)]";
    let blocks = code.match_indices(ATTRIBUTE).filter_map(|(start, _)| {
        let module = code[start + ATTRIBUTE.len()..].trim_start().strip_prefix("mod ")?;
        let block = module.trim_start().strip_prefix("tests")?.trim_start();
        let open = code.len() - block.len();
        let end = block.starts_with('{').then(|| source::closing(code, open))??;
        Some(1 + code[start..end].matches('\n').count())
    });
    blocks.sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn function(lines: usize) -> String {
        format!("fn long() {{\n{}}}\n", "let a = \"}\"; // }\n".repeat(lines - 2))
    }

    #[test]
    fn a_file_of_400_lines_passes_and_of_401_does_not() {
        assert_eq!(objections("crates/a/src/b.rs", &"a\n".repeat(400)), [""; 0]);
        let objections = objections("crates/a/src/b.rs", &"a\n".repeat(401));
        assert_eq!(objections, ["crates/a/src/b.rs: 401 lines without tests, max 400"]);
    }

    #[test]
    fn tests_do_not_count_and_what_follows_them_does() {
        let tests = format!("#[cfg(test)]\nmod tests {{\n{}}}\n", "a(\"{\");\n".repeat(300));
        let file =
            |before, after| format!("{}{tests}{}", "a\n".repeat(before), "a\n".repeat(after));
        assert_eq!(objections("crates/a/src/b.rs", &file(200, 200)).len(), 0);
        assert_eq!(objections("crates/a/src/b.rs", &file(200, 201)).len(), 1);
    }

    #[test]
    fn a_function_of_70_lines_passes_and_of_71_does_not() {
        assert_eq!(objections("crates/a/src/b.rs", &function(70)), [""; 0]);
        let objections = objections("crates/a/src/b.rs", &format!("//! A\n\n{}", function(71)));
        assert_eq!(objections, ["crates/a/src/b.rs:3: long: 71 lines, 70 max"]);
    }

    #[test]
    fn signatures_and_function_types_have_no_body() {
        let code = "trait T { fn f(a: [u8; 4]) -> u8; }\ntype F = fn (u8) -> u8;\n\
                    fn g(a: [u8; 4]) -> [u8; 4]\n{\na\n}\n";
        let found: Vec<(&str, usize)> = functions(code).map(|f| (f.name, f.lines)).collect();
        assert_eq!(found, [("g", 3)]);
    }

    #[test]
    fn exemptions_go_by_path() {
        let (long_file, long_function) = ("a\n".repeat(401), function(71));
        assert_eq!(objections("crates/model/src/workflow.rs", &long_file).len(), 0);
        assert_eq!(objections("crates/model/src/workflow.rs", &long_function).len(), 1);
        assert_eq!(objections("crates/a/tests/fixtures/b.rs", &long_file).len(), 0);
        assert_eq!(objections("crates/a/tests/fixtures/b.rs", &long_function).len(), 0);
    }
}
