//! # Definitions: one line of a story as what the server is told to register
//!
//! `define checkout: charge -> ship? retries=3` makes a workflow of worker tasks, each step named
//! after its task; `?` makes a step optional, `!` permissive. `(parcel)` is a step that runs the
//! workflow `parcel`, `(parcel.2)` its version 2. The options are the policy of all its tasks, those
//! that begin with `workflow-` are its own. What this cannot say, `define-json` and `task-json` can;
//! `undefine` takes a definition away. `schema-json` and `unschema` do the same for schemas.

use anyhow::{Context, Result, bail};
use serde_json::{Map, Value, json};

use crate::house::Message;
use crate::language::{Line, duration_seconds};

/// The messages that register it, in order.
pub(crate) fn messages(line: &Line) -> Result<Vec<Message>> {
    let raw = || line.json.clone().context("JSON is missing");
    match line.verb.as_str() {
        "task-json" => Ok(vec![Message::post("/api/metadata/taskdefs", format!("[{}]", raw()?))]),
        "schema-json" => Ok(vec![Message::post("/api/schema", raw()?)]),
        "unschema" => Ok(vec![Message::delete(format!("/api/schema/{}", line.word(0, "NAME")?))]),
        "undefine" => {
            let (name, version) = (line.word(0, "NAME")?, line.option("version").unwrap_or("1"));
            Ok(vec![Message::delete(format!("/api/metadata/workflow/{name}/{version}"))])
        }
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
            Some("version") => insert(&mut workflow, "version", whole(value)?),
            Some("failure") => insert(&mut workflow, "failureWorkflow", value.as_str()),
            Some("restartable") => insert(&mut workflow, "restartable", value == "true"),
            _ => put(&mut policy, option, value)?,
        }
    }
    let words = line.words[1..].iter().filter(|word| *word != "->");
    let (mut tasks, mut steps) = (Vec::new(), Vec::new());
    for word in words {
        let name = word.trim_end_matches(['?', '!']);
        let child = name.strip_prefix('(').and_then(|name| name.strip_suffix(')'));
        let step = child.map_or(name, |name| name.split('.').next().unwrap_or(name));
        steps.push(placed(word, step, child)?);
        // A child is tried once and waited for as long as it takes, unless the line says otherwise.
        if child.is_none() || !policy.is_empty() {
            let mut task = policy.clone();
            insert(&mut task, "name", step);
            tasks.push(Value::Object(task));
        }
    }
    insert(&mut workflow, "name", name);
    insert(&mut workflow, "tasks", steps);
    if let Some(output) = &line.json {
        let output: Value = serde_json::from_str(output)?;
        insert(&mut workflow, "outputParameters", output);
    }
    let tasks = (!tasks.is_empty()).then(|| Value::Array(tasks).to_string());
    let tasks = tasks.map(|tasks| Message::post("/api/metadata/taskdefs", tasks));
    let workflow = Message::post("/api/metadata/workflow", Value::Object(workflow).to_string());
    Ok(tasks.into_iter().chain([workflow]).collect())
}

fn placed(word: &str, step: &str, child: Option<&str>) -> Result<Value> {
    let mut placed = json!({
        "name": step,
        "taskReferenceName": step,
        "type": if child.is_some() { "SUB_WORKFLOW" } else { "SIMPLE" },
        "optional": word.ends_with('?'),
        "permissive": word.ends_with('!'),
    });
    if let Some(child) = child {
        let version = child.split_once('.').map(|(_, version)| whole(version)).transpose()?;
        placed["subWorkflowParam"] = json!({"name": step, "version": version});
    }
    Ok(placed)
}

fn put(policy: &mut Map<String, Value>, option: &str, value: &str) -> Result<()> {
    let (field, value) = match option {
        "response-timeout" => ("responseTimeoutSeconds", duration_seconds(value)?.into()),
        "timeout" => ("timeoutSeconds", duration_seconds(value)?.into()),
        "poll-timeout" => ("pollTimeoutSeconds", duration_seconds(value)?.into()),
        "total-timeout" => ("totalTimeoutSeconds", duration_seconds(value)?.into()),
        "timeout-policy" => ("timeoutPolicy", value.into()),
        "retries" => ("retryCount", whole(value)?),
        "retry-delay" => ("retryDelaySeconds", duration_seconds(value)?.into()),
        "retry-delay-max" => ("maxRetryDelaySeconds", duration_seconds(value)?.into()),
        "retry-logic" => ("retryLogic", value.into()),
        "backoff" => ("backoffScaleFactor", whole(value)?),
        "limit" => ("concurrentExecLimit", whole(value)?),
        "rate" => {
            let (count, window) = value.split_once('/').context("write rate=3/1s")?;
            insert(policy, "rateLimitPerFrequency", whole(count)?);
            ("rateLimitFrequencyInSeconds", duration_seconds(window)?.into())
        }
        "strict" => ("strictFencing", (value == "true").into()),
        _ => bail!("define knows no option {option}"),
    };
    insert(policy, field, value);
    Ok(())
}

fn whole(value: &str) -> Result<Value> {
    Ok(value.parse::<i32>().with_context(|| format!("{value} is no number"))?.into())
}

fn insert(map: &mut Map<String, Value>, field: &str, value: impl Into<Value>) {
    map.insert(field.to_owned(), value.into());
}
