//! # Showing: a run as lines a person compares, and as the whole truth two tellings must share
//!
//! A line says status, name, attempt and output. Who had it (`by`), what went in (`from`) and why it
//! ended (`because`), and how it stands to its `effect`, are told only where the story asks; so are the `version` of a run's
//! definition, the variables it goes `with` and the answers it `keeps`. Runs are told by their names, `@order`; other ids are `#`.

use anyhow::{Context, Result};
use serde_json::Value;

use crate::runs::Runs;

/// The lines of a run, in the shape of the expected ones: `COMPLETED charge attempt 0 {"a":1}`.
pub(crate) fn lines(workflow: &Value, expected: &[String], runs: &Runs) -> Result<Vec<String>> {
    let mut workflow = workflow.clone();
    forget_keys(&mut workflow);
    let workflow = &workflow;
    let mut rows = vec![(workflow, "workflowName", "output", "input")];
    let tasks = workflow["tasks"].as_array().context("a run without a list of tasks")?;
    rows.extend(tasks.iter().map(|task| (task, "referenceTaskName", "outputData", "inputData")));
    let line = |(at, (row, name, output, input)): (usize, (&Value, &str, &str, &str))| {
        let asked = expected.get(at).map(String::as_str).unwrap_or_default();
        let (asked, because) =
            asked.split_once(" because ").map_or((asked, false), |it| (it.0, true));
        let mut line = format!("{} {}", text(&row["status"]), text(&row[name]));
        if at > 0 {
            line += &format!(" attempt {}", row["retryCount"]);
        }
        if asked.contains(" version ") {
            line += &format!(" version {}", row["workflowVersion"]);
        }
        if asked.contains(" with {") {
            line += &format!(" with {}", row["variables"]);
        }
        if asked.contains(" keeps ") {
            let kept = row["keptAnswers"].as_array().cloned().unwrap_or_default();
            let kept: Vec<String> = kept.iter().map(|it| it["output"].to_string()).collect();
            let nothing = if kept.is_empty() { "nothing" } else { "" };
            line += &format!(" keeps {nothing}{}", kept.join(" "));
        }
        if asked.contains(" effect ") {
            line += &format!(" effect {}", text(&row["effectStatus"]));
        }
        if asked.contains(" by ") {
            line += &format!(" by {}", text(&row["workerId"]));
        }
        if asked.contains(" from ") {
            line += &format!(" from {}", row[input]);
        }
        if row[output].as_object().is_some_and(|output| !output.is_empty()) {
            line += &format!(" {}", row[output]);
        }
        if because {
            let reason = row["reasonForIncompletion"].as_str().unwrap_or("nothing");
            let words: Vec<&str> = reason.split_whitespace().collect(); // As stories are read.
            line += &format!(" because {}", words.join(" "));
        }
        with_ids(&line, |id| runs.name(id).map_or("#".to_owned(), |name| format!("@{name}")))
    };
    Ok(rows.into_iter().enumerate().map(line).collect())
}

/// An expected line as [`lines`] writes it: single spaces, compact JSON.
pub(crate) fn normal(line: &str) -> String {
    let mut rest = line.split_whitespace().collect::<Vec<_>>().join(" ");
    let mut normal = String::new();
    while let Some(at) = rest.find('{') {
        let mut values = serde_json::Deserializer::from_str(&rest[at..]).into_iter::<Value>();
        let Some(Ok(value)) = values.next() else { break };
        let end = at + values.byte_offset();
        normal += &format!("{}{value}", &rest[..at]);
        rest = rest[end..].to_owned();
    }
    normal + &rest
}

/// Everything a run has become, without what two tellings may differ in: ids and fences that are
/// drawn, and the keys that tellings give to messages without one.
pub(crate) fn ending(workflow: &Value) -> String {
    let mut workflow = workflow.clone();
    forget_keys(&mut workflow);
    numbered(&format!("{workflow:#}"))
}

/// The keys of runs, also of those that are told of in the data of others.
fn forget_keys(value: &mut Value) {
    match value {
        Value::Object(fields) => {
            for drawn in ["fence", "leaseUntil"] {
                if let Some(value) = fields.get_mut(drawn) {
                    *value = "#".into(); // The next number there is, whatever was done before.
                }
            }
            if fields.contains_key("workflowId") {
                fields.shift_remove("idempotencyKey");
            }
            fields.values_mut().for_each(forget_keys);
        }
        Value::Array(list) => list.iter_mut().for_each(forget_keys),
        Value::String(text) if text.starts_with("fence ") => *text = without_numbers(text),
        _ => {}
    }
}

/// Which fences are named depends on who has drawn them.
fn without_numbers(text: &str) -> String {
    let is_number = |word: &&str| word.bytes().all(|byte| byte.is_ascii_digit());
    let words = text.split(' ').map(|word| if is_number(&word) { "#" } else { word });
    words.collect::<Vec<_>>().join(" ")
}

/// The first line in which two endings differ.
pub(crate) fn difference(expected: &str, actual: &str) -> Option<String> {
    let pairs = expected.lines().zip(actual.lines());
    let mut differing = pairs.filter(|(expected, actual)| expected != actual);
    let lengths = (expected.lines().count(), actual.lines().count());
    match differing.next() {
        Some((expected, actual)) => {
            Some(format!("{} instead of {}", actual.trim(), expected.trim()))
        }
        None if lengths.0 != lengths.1 => Some(format!("{} lines, not {}", lengths.1, lengths.0)),
        None => None,
    }
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}

/// With `#` for every id.
pub(crate) fn nameless(text: &str) -> String {
    with_ids(text, |_| "#".to_owned())
}

/// With `#1`, `#2`, ... for ids, in the order in which they appear.
fn numbered(text: &str) -> String {
    let mut known: Vec<String> = Vec::new();
    with_ids(text, |id| {
        let at = known.iter().position(|known| known == id).unwrap_or_else(|| {
            known.push(id.to_owned());
            known.len() - 1
        });
        format!("#{}", at + 1)
    })
}

fn with_ids(text: &str, mut name: impl FnMut(&str) -> String) -> String {
    let mut named = String::new();
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        match rest.get(..36).filter(|part| is_id(part)) {
            Some(id) => {
                named += &name(id);
                rest = &rest[36..];
            }
            None => {
                named.push(first);
                rest = &rest[first.len_utf8()..];
            }
        }
    }
    named
}

pub(crate) fn is_id(text: &str) -> bool {
    text.bytes().enumerate().all(|(at, byte)| match at {
        8 | 13 | 18 | 23 => byte == b'-',
        _ => byte.is_ascii_hexdigit(),
    })
}

#[test]
fn ids_are_told_by_their_order() {
    let (a, b) = ("01890a5d-ac96-774b-bcce-b302099a8057", "11890a5d-ac96-774b-bcce-b302099a8057");
    assert_eq!(numbered(&format!("{b} {a} {b}!")), "#1 #2 #1!");
    assert_eq!(nameless(&format!("task {a} (§)")), "task # (§)");
}

#[test]
fn an_expected_line_may_be_spaced_out() {
    let line = normal("COMPLETED   a  attempt 0 from {\"x\": {\"y\" : 1}} {} because  of  {");
    assert_eq!(line, "COMPLETED a attempt 0 from {\"x\":{\"y\":1}} {} because of {");
}
