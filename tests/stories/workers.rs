//! # Workers: who was handed what, and what they say
//!
//! A worker answers for its own latest hand-out of a task, with the fence of that hand-out, however
//! late; `of RUN` picks another, `nofence` sends only the worker's id, as unmodified workers do, and
//! `signed=NAME` another id than the one it polled with.

use anyhow::{Context, Result};
use serde_json::{Map, Value, json};

use crate::house::Message;
use crate::language::{Line, duration_seconds};

#[derive(Default)]
pub(crate) struct Workers(Vec<HandOut>);

struct HandOut {
    run: String,
    /// The task as the worker received it.
    task: Value,
}

impl Workers {
    /// How many tasks are wanted, and the poll for them. A named poll can be repeated.
    pub(crate) fn poll(&self, line: &Line, is_named: bool) -> Result<(usize, Message)> {
        let task = line.word(0, "TASK")?;
        let worker = line.after("by").context("by whom?")?;
        let count: usize = line.option("count").unwrap_or("1").parse()?;
        let mut path =
            format!("/api/tasks/poll/batch/{task}?workerid={worker}&count={count}&timeout=0");
        if let Some(domain) = line.option("domain") {
            path += &format!("&domain={domain}");
        }
        if is_named {
            path += &format!("&pollId=line-{}", line.number);
        }
        Ok((count, Message::get(path)))
    }

    pub(crate) fn hand_out(&mut self, task: &Value, run: String) {
        self.0.push(HandOut { run, task: task.clone() });
    }

    pub(crate) fn report(&self, line: &Line) -> Result<Message> {
        let mut body = self.body(line)?;
        let output: Value = serde_json::from_str(line.json.as_deref().unwrap_or("{}"))?;
        body.insert("outputData".to_owned(), output);
        let after = line.words.iter().position(|word| word == "by").context("by whom?")? + 2;
        body.insert("status".to_owned(), json!(line.word(after, "a status")?));
        if let Some(reason) = line.option("reason") {
            body.insert("reasonForIncompletion".to_owned(), json!(reason));
        }
        if let Some(callback) = line.option("callback") {
            let seconds = duration_seconds(callback)?;
            body.insert("callbackAfterSeconds".to_owned(), json!(seconds));
        }
        let path = if line.verb == "report-v2" { "/api/tasks/update-v2" } else { "/api/tasks" };
        let strict = if line.flag("strict") { "?strict=true" } else { "" };
        Ok(Message::post(format!("{path}{strict}"), Value::Object(body).to_string()))
    }

    pub(crate) fn extend(&self, line: &Line) -> Result<Message> {
        let mut body = self.body(line)?;
        body.insert("status".to_owned(), json!("IN_PROGRESS"));
        body.insert("extendLease".to_owned(), json!(true));
        Ok(Message::post("/api/tasks", Value::Object(body).to_string()))
    }

    /// Which task, and who says so.
    fn body(&self, line: &Line) -> Result<Map<String, Value>> {
        let (task, worker) = (line.word(0, "TASK")?, line.after("by").context("by whom?")?);
        let run = line.after("of");
        let found = self.0.iter().rev().find(|out| {
            out.task["taskType"] == task
                && out.task["workerId"] == worker
                && run.is_none_or(|run| out.run == run)
        });
        let found = &found.with_context(|| format!("{worker} never held {task}"))?.task;
        let mut body = Map::new();
        for field in ["workflowInstanceId", "taskId", "workerId"] {
            body.insert(field.to_owned(), found[field].clone());
        }
        if let Some(name) = line.option("signed") {
            body.insert("workerId".to_owned(), json!(name));
        }
        if !line.flag("nofence") {
            body.insert("fenceToken".to_owned(), found["fenceToken"].clone());
        }
        Ok(body)
    }
}
