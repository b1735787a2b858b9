//! # Definitions: one line of a story as what the server is told to register
//!
//! `define checkout: charge -> ship? retries=3` makes a workflow of worker tasks, each step named
//! after its task; `?` makes a step optional, `!` permissive. The options are the policy of all its
//! tasks. What this cannot say, `define-json` and `task-json` can.

use anyhow::{Context, Result, bail};
use serde_json::{Map, Value, json};

use crate::house::Message;
use crate::language::{Line, duration_seconds};

/// The messages that register it, in order.
pub(crate) fn messages(line: &Line) -> Result<Vec<Message>> {
    let raw = || line.json.clone().context("JSON is missing");
    match line.verb.as_str() {
        "task-json" => Ok(vec![Message::post("/api/metadata/taskdefs", format!("[{}]", raw()?))]),
        "define-json" => Ok(vec![Message::post("/api/metadata/workflow", raw()?)]),
        _ => defined(line),
    }
}

fn defined(line: &Line) -> Result<Vec<Message>> {
    let name = line.word(0, "NAME:")?.strip_suffix(':').context("write define NAME: step")?;
    let mut policy = Map::new();
    let mut workflow = Map::new();
    for (option, value) in &line.options {
        match option.strip_prefix("workflow-") {
            Some("timeout") => insert(&mut workflow, "timeoutSeconds", duration_seconds(value)?),
            Some("policy") => insert(&mut workflow, "timeoutPolicy", value.as_str()),
            _ => put(&mut policy, option, value)?,
        }
    }
    let words = line.words[1..].iter().filter(|word| *word != "->");
    let (mut tasks, mut steps) = (Vec::new(), Vec::new());
    for word in words {
        let step = word.trim_end_matches(['?', '!']);
        steps.push(json!({
            "name": step,
            "taskReferenceName": step,
            "type": "SIMPLE",
            "optional": word.ends_with('?'),
            "permissive": word.ends_with('!'),
        }));
        let mut task = policy.clone();
        insert(&mut task, "name", step);
        tasks.push(Value::Object(task));
    }
    insert(&mut workflow, "name", name);
    insert(&mut workflow, "tasks", steps);
    if let Some(output) = &line.json {
        let output: Value = serde_json::from_str(output)?;
        insert(&mut workflow, "outputParameters", output);
    }
    Ok(vec![
        Message::post("/api/metadata/taskdefs", Value::Array(tasks).to_string()),
        Message::post("/api/metadata/workflow", Value::Object(workflow).to_string()),
    ])
}

fn put(policy: &mut Map<String, Value>, option: &str, value: &str) -> Result<()> {
    let field = match option {
        "response-timeout" => "responseTimeoutSeconds",
        "timeout" => "timeoutSeconds",
        "poll-timeout" => "pollTimeoutSeconds",
        "total-timeout" => "totalTimeoutSeconds",
        "retry-delay" => "retryDelaySeconds",
        "retry-delay-max" => "maxRetryDelaySeconds",
        "retries" => return whole(policy, "retryCount", value),
        "backoff" => return whole(policy, "backoffScaleFactor", value),
        "limit" => return whole(policy, "concurrentExecLimit", value),
        "retry-logic" => return Ok(insert(policy, "retryLogic", value)),
        "timeout-policy" => return Ok(insert(policy, "timeoutPolicy", value)),
        "strict" => return Ok(insert(policy, "strictFencing", value == "true")),
        "rate" => {
            let (count, window) = value.split_once('/').context("write rate=3/1s")?;
            whole(policy, "rateLimitPerFrequency", count)?;
            let window = duration_seconds(window)?;
            return Ok(insert(policy, "rateLimitFrequencyInSeconds", window));
        }
        _ => bail!("define knows no option {option}"),
    };
    insert(policy, field, duration_seconds(value)?);
    Ok(())
}

fn whole(policy: &mut Map<String, Value>, field: &str, value: &str) -> Result<()> {
    let number: i32 = value.parse().with_context(|| format!("{field}: {value} is no number"))?;
    insert(policy, field, number);
    Ok(())
}

fn insert(map: &mut Map<String, Value>, field: &str, value: impl Into<Value>) {
    map.insert(field.to_owned(), value.into());
}
