//! # The language: a story as lines
//!
//! One line is one message or one look. A line that begins with a space continues the one before;
//! lines that begin with `>` are what `show` expects; `#` is for people. **May not:** know verbs;
//! the teller does.

use std::collections::BTreeMap;

use anyhow::{Context, Result, bail, ensure};

#[derive(Debug, Default)]
pub(crate) struct Line {
    /// Counted from 1, as editors do.
    pub(crate) number: usize,
    pub(crate) verb: String,
    /// What is neither an option nor JSON nor an expectation, in order.
    pub(crate) words: Vec<String>,
    /// `name=value`.
    pub(crate) options: BTreeMap<String, String>,
    pub(crate) json: Option<String>,
    /// What comes after `->`.
    pub(crate) expected: Vec<String>,
    /// The lines under `show`, without `>`.
    pub(crate) shown: Vec<String>,
}

/// All lines of a story.
pub(crate) fn read(text: &str) -> Result<Vec<Line>> {
    let mut lines: Vec<(usize, String, Vec<String>)> = Vec::new();
    for (at, raw) in text.lines().enumerate() {
        let number = at + 1;
        if raw.trim().is_empty() || raw.starts_with('#') {
            continue;
        }
        if let Some(shown) = raw.strip_prefix('>') {
            let last = lines.last_mut().with_context(|| format!("line {number}: > has no show"))?;
            last.2.push(shown.trim().to_owned());
        } else if raw.starts_with(' ') {
            let last =
                lines.last_mut().with_context(|| format!("line {number}: continues none"))?;
            last.1.push_str(raw);
        } else {
            lines.push((number, raw.to_owned(), Vec::new()));
        }
    }
    let line = |(number, text, shown): (usize, String, Vec<String>)| {
        Line::read(number, &text, shown).with_context(|| format!("line {number}: {text}"))
    };
    lines.into_iter().map(line).collect()
}

impl Line {
    fn read(number: usize, text: &str, shown: Vec<String>) -> Result<Self> {
        let mut words = split(text)?.into_iter();
        let verb = words.next().context("an empty line")?;
        ensure!(shown.is_empty() || verb == "show", "only show is followed by >");
        let mut line = Self { number, verb, shown, ..Self::default() };
        let mut is_expected = false;
        for word in words {
            // The arrow of `define` leads from step to step.
            if word == "->" && line.verb != "define" {
                is_expected = true;
            } else if is_expected {
                line.expected.push(word);
            } else if word.starts_with(['{', '[']) {
                ensure!(line.json.replace(word).is_none(), "more than one JSON value");
            } else if let Some((name, value)) = option(&word) {
                line.options.insert(name.to_owned(), value.to_owned());
            } else {
                line.words.push(word);
            }
        }
        Ok(line)
    }

    /// The word at this place, by its meaning.
    pub(crate) fn word(&self, at: usize, meaning: &str) -> Result<&str> {
        self.words.get(at).map(String::as_str).with_context(|| format!("{meaning} is missing"))
    }

    /// The word after this one, as in `by ann`.
    pub(crate) fn after(&self, word: &str) -> Option<&str> {
        let at = self.words.iter().position(|found| found == word)?;
        self.words.get(at + 1).map(String::as_str)
    }

    pub(crate) fn flag(&self, name: &str) -> bool {
        self.words.iter().any(|word| word == name)
    }

    pub(crate) fn option(&self, name: &str) -> Option<&str> {
        self.options.get(name).map(String::as_str)
    }

    /// Nothing is ignored: a misspelt option is an error.
    pub(crate) fn allow(&self, options: &[&str]) -> Result<()> {
        match self.options.keys().find(|name| !options.contains(&name.as_str())) {
            Some(name) => bail!("{} knows no option {name}, only {options:?}", self.verb),
            None => Ok(()),
        }
    }
}

/// `61s`, `500ms`, `2m`, `1h` in milliseconds.
pub(crate) fn duration_ms(text: &str) -> Result<i64> {
    let digits = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    let (number, unit) = text.split_at(digits);
    let unit_ms = match unit {
        "ms" => 1,
        "s" => 1_000,
        "m" => 60_000,
        "h" => 3_600_000,
        _ => bail!("{text} is no duration; write 500ms, 61s, 2m or 1h"),
    };
    Ok(number.parse::<i64>().with_context(|| format!("{text} is no duration"))? * unit_ms)
}

/// The same in whole seconds, as definitions want it.
pub(crate) fn duration_seconds(text: &str) -> Result<i64> {
    let ms = duration_ms(text)?;
    ensure!(ms % 1000 == 0, "{text} is not in whole seconds");
    Ok(ms / 1000)
}

fn option(word: &str) -> Option<(&str, &str)> {
    let (name, value) = word.split_once('=')?;
    let is_name = !name.is_empty() && name.chars().all(|c| c.is_ascii_lowercase() || c == '-');
    is_name.then_some((name, value))
}

/// Words end at spaces, but not inside quotes or JSON. Quotes outside JSON are not part of a word.
fn split(text: &str) -> Result<Vec<String>> {
    let mut words = Vec::new();
    let (mut word, mut depth, mut in_quotes, mut is_escaped) =
        (String::new(), 0_usize, false, false);
    for c in text.chars() {
        match c {
            _ if is_escaped => is_escaped = false,
            '\\' if in_quotes => is_escaped = true,
            '"' => {
                in_quotes = !in_quotes;
                if depth == 0 {
                    continue;
                }
            }
            '{' | '[' if !in_quotes => depth += 1,
            '}' | ']' if !in_quotes => depth = depth.checked_sub(1).context("a } too many")?,
            ' ' if !in_quotes && depth == 0 => {
                if !word.is_empty() {
                    words.push(std::mem::take(&mut word));
                }
                continue;
            }
            _ => {}
        }
        word.push(c);
    }
    ensure!(depth == 0 && !in_quotes, "JSON or quotes do not end on this line");
    if !word.is_empty() {
        words.push(word);
    }
    Ok(words)
}

#[test]
fn a_line_is_verb_words_options_json_and_what_is_expected() {
    let text = "report charge by ann FAILED {\"a\": \"b }\"} reason=\"no money\" -> NEXT two";
    let line = Line::read(1, text, vec![]).unwrap();
    assert_eq!(line.words, ["charge", "by", "ann", "FAILED"]);
    assert_eq!(line.option("reason"), Some("no money"));
    assert_eq!(line.json.as_deref(), Some("{\"a\": \"b }\"}"));
    assert_eq!(line.expected, ["NEXT", "two"]);
    assert_eq!((line.after("by"), line.flag("force")), (Some("ann"), false));
}

#[test]
fn lines_continue_and_show_keeps_what_it_expects() {
    let lines =
        read("# why\n\ndefine a: b ->\n  c\nshow run\n> RUNNING a\n>   SCHEDULED b\n").unwrap();
    assert_eq!(lines[0].words, ["a:", "b", "->", "c"]);
    assert_eq!((lines[1].number, lines[1].shown.len()), (5, 2));
    assert!(read("> RUNNING").is_err() && read("start a = b {").is_err());
}

#[test]
fn durations_have_a_unit() {
    assert_eq!(duration_ms("61s").unwrap(), 61_000);
    assert_eq!(duration_seconds("2m").unwrap(), 120);
    assert!(duration_ms("61").is_err() && duration_seconds("500ms").is_err());
}
