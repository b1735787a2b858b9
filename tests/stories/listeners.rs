//! # Listeners: event handlers, and the runs they begin
//!
//! ```text
//! listen {..}               registers a handler
//! relisten {..}             replaces it
//! unlisten NAME             deletes it
//! handled NAME = RUN STEP by=HANDLER [action=1]
//! handled NAME = RUN event=EVENT by=HANDLER [action=1]
//!                           names the run its action began when it heard that step, or the last
//!                           such event; `-> nothing`: there is none
//! ```
//!
//! Nothing in a run names those its events began: their ids follow from what was published.

use anyhow::{Context, Result};
use semel_model::ExecutionId;
use serde_json::{Value, json};

use crate::house::Message;
use crate::language::Line;
use crate::runs;

pub(crate) fn message(line: &Line) -> Result<Message> {
    let raw = || line.json.clone().context("JSON is missing");
    Ok(match line.verb.as_str() {
        "listen" => Message::post("/api/event", raw()?),
        "relisten" => Message::put("/api/event", raw()?),
        _ => Message::delete(format!("/api/event/{}", line.word(0, "NAME")?)),
    })
}

/// The id of the run that the action of a handler begins when it hears this step.
pub(crate) fn begun(line: &Line, workflow: &Value, log: &Value) -> Result<String> {
    let (field, value) = match line.option("event") {
        Some(event) => ("sink", json!(event)),
        None => {
            let task = runs::task(workflow, line.word(3, "a step")?, line.option("attempt"))?;
            ("task", task["taskId"].clone())
        }
    };
    let entries = log.as_array().into_iter().flatten().rev();
    let mut published = entries.flat_map(|entry| {
        let changes = entry["entry"]["changes"].as_array().into_iter().flatten().rev();
        changes.map(|change| (entry["seq"].as_u64(), &change["Published"]))
    });
    let found = published.find(|(_, it)| it[field] == value).context("it published nothing")?;
    let seq = found.0.context("an entry has a number")?;
    let task = found.1["task"].as_str().context("a message has an id")?.parse()?;
    let handler = line.option("by").context("by which handler?")?;
    let action = line.option("action").unwrap_or("0").parse()?;
    Ok(ExecutionId::of_event(task, seq, handler, action).to_string())
}

#[test]
fn more_actions_than_one_commit_takes_are_all_done_once() {
    use crate::house::{House, On};
    use crate::telling::Telling;

    let action = r#"{"action": "start_workflow", "start_workflow": {"name": "parcel"}}"#;
    let actions = vec![action; 100].join(", ");
    let listen = |name: &str| {
        format!(
            r#"listen {{"name": "{name}", "event": "conductor:shop:sell", "active": true, "actions": [{actions}]}}"#
        )
    };
    let story = [
        "define parcel: pack",
        r#"define-json {"name": "shop", "tasks": [{"name": "sell", "taskReferenceName": "sell", "type": "EVENT", "sink": "conductor"}]}"#,
        &listen("one"),
        &listen("two"),
        "start sale = shop",
        "handled first = sale sell by=one",
        "handled last = sale sell by=two action=99",
        "claim pack by ann count=100",
        "claim pack by bob count=100",
        "claim pack by cid -> nothing",
    ];
    for telling in [Telling::Plain, Telling::Broken] {
        let house = House::build(On::Memory, telling.sabotage()).unwrap();
        let mut teller = crate::teller::Teller::new(telling, house);
        for line in crate::language::read(&story.join("\n")).unwrap() {
            teller.tell(&line).unwrap_or_else(|error| panic!("{telling:?} {line:?}: {error:#}"));
        }
        teller.end().unwrap();
    }
}
