//! # Warnings: what was registered although it will not do what it says
//!
//! Every registration collects its warnings and sends them in the header `X-Semel-Warning`, each with
//! its place and the page about it. Whoever finds another kind of them adds it to the list before the
//! answer is made; the lint is given the same list.

use axum::response::Response;
use semel_model::Warning;

use crate::answer::with_header;

const NAME: &str = "x-semel-warning";

/// The whole value of the header: clients and proxies take headers of a few KiB at most.
const HEADER_CHARS_MAX: usize = 2_000;

/// The answer, with the warnings in its header if there are any, behind what is there already.
pub(crate) fn warned(answer: Response, warnings: &[Warning]) -> Response {
    if warnings.is_empty() {
        return answer;
    }
    let said = answer.headers().get(NAME).and_then(|said| said.to_str().ok());
    let text = match said {
        Some(said) => format!("{said}; {}", header(warnings)),
        None => header(warnings),
    };
    with_header(answer, NAME, &text)
}

/// The warnings of one of several things that came in one request say which one they are about.
pub(crate) fn numbered(at: usize, count: usize, warnings: Vec<Warning>) -> Vec<Warning> {
    match count {
        0 | 1 => warnings,
        _ => warnings.into_iter().map(|warning| warning.below(&format!("[{at}]."))).collect(),
    }
}

/// `PLACE: WORDS (PAGE); PLACE: WORDS (PAGE)`, as many as fit.
fn header(warnings: &[Warning]) -> String {
    let mut text = String::new();
    for (at, warning) in warnings.iter().enumerate() {
        let one = printable(&warning.to_string());
        if at > 0 && text.len() + one.len() > HEADER_CHARS_MAX {
            text.push_str(&format!("; and {} more", warnings.len() - at));
            break;
        }
        if at > 0 {
            text.push_str("; ");
        }
        text.push_str(&one);
    }
    text
}

/// A header takes ASCII only; names of steps may be anything.
fn printable(text: &str) -> String {
    text.chars().map(|c| if (' '..='~').contains(&c) { c } else { '?' }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_header_is_ascii_and_bounded() {
        let warning = |path: &str| Warning::no_effect(path, "is kept");
        let two = header(&[warning("tasks[caf\u{e9}\n].type"), warning("b")]);
        let page = "docs/errors/W-RUN-2.md";
        assert_eq!(two, format!("tasks[caf??].type: is kept ({page}); b: is kept ({page})"));
        let many = header(&vec![warning(&"p".repeat(100)); 500]);
        assert!(many.len() < HEADER_CHARS_MAX + 100 && many.ends_with(" more"), "{many}");
    }

    #[test]
    fn warnings_of_a_list_say_which_one_they_are_about() {
        let warnings = vec![Warning::no_effect("event", "never comes")];
        assert_eq!(numbered(0, 1, warnings.clone())[0].path, "event");
        assert_eq!(numbered(1, 2, warnings)[0].path, "[1].event");
    }
}
