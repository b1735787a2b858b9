//! # The journal of a run: what happened, and whether it is true

use semel_client::Client;
use serde_json::Value;

use crate::record;
use crate::show::{Show, say};

pub(super) fn log(client: &Client, show: Show, id: &str, from: u64) -> anyhow::Result<()> {
    let answer = client.journal(id, from)?;
    if show.json {
        return show.raw(answer.text());
    }
    let rows: Vec<Vec<String>> = answer.read()?.iter().map(row).collect();
    show.table(&["SEQ", "AT", "EVENT", "BY", "CHANGES", "DECIDED"], &rows)
}

/// One entry: its cause, and the names of what became so.
fn row(line: &Value) -> Vec<String> {
    let entry = &line["entry"];
    let changes = entry["changes"].as_array().map(Vec::as_slice).unwrap_or_default();
    let mut named: Vec<String> = changes.iter().map(name).collect();
    named.dedup();
    let decided = line["decisions"].as_array().map(Vec::as_slice).unwrap_or_default();
    let decided: Vec<&str> = decided.iter().filter_map(Value::as_str).collect();
    vec![
        record::text(line, "seq"),
        record::time(entry, "at"),
        name(&entry["cause"]),
        record::text(entry, "actor"),
        named.join(", "),
        decided.join("; "),
    ]
}

/// A variant is a text, or an object whose only member is named so.
fn name(variant: &Value) -> String {
    match variant {
        Value::String(name) => name.clone(),
        Value::Object(members) => members.keys().next().cloned().unwrap_or_default(),
        _ => String::new(),
    }
}

pub(super) fn verify(client: &Client, show: Show, id: &str) -> anyhow::Result<()> {
    let answer = client.verify(id)?;
    if show.json {
        return show.raw(answer.text());
    }
    let found = answer.read()?;
    let count = |name| record::text(&found, name);
    say(&format!(
        "verified: {} entries, {} decided again with the same result, {} rows as the journal says",
        count("entries"),
        count("decidedAgain"),
        count("rows")
    ));
    Ok(())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn an_entry_is_one_line_of_names() {
        let line = json!({"seq": 3, "digest": "d", "decisions": ["a", "b"], "entry": {
            "at": 0, "actor": "ann", "cause": {"Reported": {"task": "t"}},
            "changes": [{"TaskClosed": {}}, {"TaskScheduled": {}}, {"TaskScheduled": {}}, "Ended"]}});
        let expected = ["3", "", "Reported", "ann", "TaskClosed, TaskScheduled, Ended", "a; b"];
        assert_eq!(row(&line), expected);
    }
}
