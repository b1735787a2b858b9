//! # The corpus: programs and how they end, in files anybody can read
//!
//! `DIRECTORY/LANGUAGE.cases`. A line `input: JSON` sets what the programs below it see. A program
//! goes on until the line that says how it ends: `=> JSON`, `failed: words`, `exhausted: words`;
//! or, in a child only, `killed` by a guard, or `starved`, told by the budget or by the end of the
//! child, since the engine does not survive every refusal of memory. Lines with `#` before a
//! program are for readers.

use std::path::Path;

use semel_engine::{Language, Script, Verdict};
use semel_model::{Payload, TaskId, Timestamp};

#[derive(Clone)]
pub(crate) struct Case {
    /// Where it stands.
    pub(crate) place: String,
    pub(crate) script: Script,
    pub(crate) end: End,
}

#[derive(Clone, Debug)]
pub(crate) enum End {
    Value(String),
    Failed(String),
    Exhausted(String),
    Killed,
    Starved,
}

impl Case {
    /// What is wrong with this verdict, if anything.
    pub(crate) fn objection(&self, verdict: &Verdict) -> Option<String> {
        const KILLED: &str = "script did not finish: ";
        let is_as_said = match (&self.end, verdict) {
            (End::Value(json), Verdict::Value(value)) => value.text() == json,
            (End::Failed(words), Verdict::Failed(reason)) => reason.contains(words),
            (End::Exhausted(words), Verdict::Exhausted(reason)) => {
                reason.contains(words) && !reason.starts_with(KILLED)
            }
            (End::Killed, Verdict::Exhausted(reason)) => reason.starts_with(KILLED),
            (End::Starved, Verdict::Exhausted(_)) => true,
            _ => false,
        };
        (!is_as_said).then(|| {
            let shown: String = format!("{verdict:?}").chars().take(300).collect();
            format!(
                "{}: {}\n  said:  {:?}\n  gave:  {shown}",
                self.place, self.script.source, self.end
            )
        })
    }

    pub(crate) fn is_killed(&self) -> bool {
        matches!(self.end, End::Killed)
    }

    /// Whether it may be run in a process that has something to lose.
    pub(crate) fn is_harmless(&self) -> bool {
        !matches!(self.end, End::Killed | End::Starved)
    }
}

/// All programs of one language in one directory.
pub(crate) fn read(directory: &str, language: Language) -> Vec<Case> {
    let name = match language {
        Language::JavaScript => "javascript",
        Language::Function => "function",
        Language::Jq => "jq",
    };
    let file = format!("scripts/{directory}/{name}.cases");
    let text = std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join(&file)).unwrap();
    let mut input = Payload::empty();
    let mut program = String::new();
    let mut cases = vec![];
    for (at, line) in text.lines().enumerate() {
        if program.is_empty() && (line.is_empty() || line.starts_with("# ")) {
            continue;
        }
        if let Some(json) = line.strip_prefix("input: ").filter(|_| program.is_empty()) {
            input = Payload::from_text(json.to_owned()).unwrap();
        } else if let Some(end) = end(line) {
            let source = std::mem::take(&mut program);
            let script = Script { input: input.clone(), ..script(language, &source) };
            cases.push(Case { place: format!("{file}:{}", at + 1), script, end });
        } else {
            let separator = if program.is_empty() { "" } else { "\n" };
            program = program + separator + line;
        }
    }
    assert!(program.is_empty(), "{file} ends in the middle of a program");
    cases
}

fn end(line: &str) -> Option<End> {
    let words = |words: &str| words.trim_start().to_owned();
    match line {
        "killed" => return Some(End::Killed),
        "starved" => return Some(End::Starved),
        _ => {}
    }
    let value = line.strip_prefix("=> ").map(|json| End::Value(json.to_owned()));
    let failed = || line.strip_prefix("failed:").map(|rest| End::Failed(words(rest)));
    let exhausted = || line.strip_prefix("exhausted:").map(|rest| End::Exhausted(words(rest)));
    value.or_else(failed).or_else(exhausted)
}

/// A script at a known time, with known dice and no input.
pub(crate) fn script(language: Language, source: &str) -> Script {
    Script {
        language,
        source: source.to_owned(),
        input: Payload::empty(),
        now: Timestamp::from_ms(1_700_000_000_123),
        seed: TaskId::from_bytes([7; 16]),
    }
}

pub(crate) fn value(json: &str) -> Verdict {
    Verdict::Value(Payload::from_text(json.to_owned()).unwrap())
}

pub(crate) fn expect_none(objections: &[String]) {
    assert!(objections.is_empty(), "\n{}\n", objections.join("\n"));
}
