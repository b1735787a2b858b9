//! # Records for people: the fields that effects, locks and start keys have in common

use semel_model::Timestamp;
use serde_json::Value;

use crate::show::{Show, say};
use crate::times::moment;

/// A field as it stands; empty if there is none.
pub(crate) fn text(found: &Value, name: &str) -> String {
    match &found[name] {
        Value::Null => String::new(),
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}

/// A field that is a moment.
pub(crate) fn time(found: &Value, name: &str) -> String {
    found[name].as_i64().map(|ms| moment(Timestamp::from_ms(ms))).unwrap_or_default()
}

/// The run it belongs to, or whoever a caller says it is.
pub(crate) fn owner(found: &Value) -> String {
    match &found["workflowId"] {
        Value::String(run) => format!("run {run}"),
        _ => text(found, "owner"),
    }
}

/// About one record.
pub(crate) fn show(show: Show, json: &str, found: &Value) -> anyhow::Result<()> {
    if show.json {
        return show.raw(json);
    }
    let named = [text(found, "scope"), text(found, "key"), text(found, "state")];
    let title: Vec<&str> =
        named.iter().map(String::as_str).filter(|part| !part.is_empty()).collect();
    say_fields(
        &title.join(" "),
        &[
            ("owner", owner(found)),
            ("task", text(found, "taskId")),
            ("fence", text(found, "fence")),
            ("lease until", time(found, "leaseUntil")),
            ("created", time(found, "createdAt")),
            ("decided", time(found, "decidedAt")),
            ("kept until", time(found, "expiresAt")),
            ("waiting", text(found, "waiting")),
            ("asked again", text(found, "hits")),
            ("result", text(found, "result")),
            ("error", text(found, "error")),
        ],
    );
    decisions(show, &found["ring"])
}

/// A title, and below it the fields that say something.
pub(crate) fn say_fields(title: &str, fields: &[(&str, String)]) {
    let mut lines = vec![title.to_owned()];
    let said = fields.iter().filter(|(_, value)| !value.is_empty());
    lines.extend(said.map(|(name, value)| format!("  {name:<12} {value}")));
    say(&lines.join("\n"));
}

/// What was decided under it, in the order the server tells.
pub(crate) fn decisions(show: Show, ring: &Value) -> anyhow::Result<()> {
    let row = |decided: &Value| {
        let other = if decided["mismatch"] == true { "another payload" } else { "" };
        let mut row = vec![time(decided, "at")];
        row.extend(["outcome", "by"].map(|name| text(decided, name)));
        row.push(other.to_owned());
        row
    };
    let rows: Vec<_> = ring.as_array().into_iter().flatten().map(row).collect();
    show.table(&["AT", "OUTCOME", "BY", "PAYLOAD"], &rows)
}

pub(crate) fn say_more(after: Option<&str>) {
    if let Some(after) = after {
        say(&format!("there are more; go on with --after '{after}'"));
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn fields_are_read_whatever_they_are() {
        let found = json!({"a": "x", "n": 7, "t": 1_794_769_871_000_i64, "owner": "ann"});
        assert_eq!((text(&found, "a"), text(&found, "n")), ("x".to_owned(), "7".to_owned()));
        assert_eq!((text(&found, "gone"), time(&found, "gone")), (String::new(), String::new()));
        assert!(time(&found, "t").ends_with('Z'));
        assert_eq!(owner(&found), "ann");
        assert_eq!(owner(&json!({"workflowId": "r", "owner": "ann"})), "run r");
    }
}
