//! # Expressions: `${...}` over the run and its tasks
//!
//! A string that is one whole expression takes the value with its type; an expression inside text
//! becomes text. Only template strings are looked at, never the data they bring in. A path that
//! leads nowhere is null.

use std::sync::Arc;

use semel_model::{Payload, TaskId, WorkflowStatus};
use serde_json::{Map, Value, json};

use crate::decide::{Rejection, Stop};
use crate::event::Slot;
use crate::execution::Task;
use crate::pin::Step;
use crate::turn::Turn;

/// Expressions inside expressions; one nested deeper is null, before the stack ends.
const NESTING_MAX: usize = 32;

/// How deep a resolved payload may nest: it must stay readable (JSON is read to 128 levels). A value
/// that would reach deeper is null.
const DEPTH_MAX: usize = 120;

/// A payload an expression may look into.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Source {
    RunInput,
    RunOutput,
    Variables,
    TaskInput(TaskId),
    TaskOutput(TaskId),
}

impl Turn<'_> {
    /// The start input with the definition's `inputTemplate` under it.
    pub(crate) fn with_defaults(&mut self, slot: Slot) -> Result<Slot, Stop> {
        let definition = Arc::clone(self.execution().definition().definition());
        if !self.payload(slot).is_object() {
            let message = "input must be a JSON object".to_owned();
            return Err(Rejection::Invalid(message).into());
        }
        let Some(template) = definition.input_template.as_ref().filter(|map| !map.is_empty())
        else {
            return Ok(slot);
        };
        let Value::Object(mut input) = self.payload(slot).value() else { return Ok(slot) };
        for (key, value) in template {
            if input.get(key).is_none_or(Value::is_null) {
                input.insert(key.clone(), value.clone());
            }
        }
        Ok(self.store(Payload::from_value(&Value::Object(input))))
    }

    /// A task's input: the step's parameters resolved, over `before` when this is a retry.
    pub(crate) fn task_input(
        &mut self,
        step: &Step,
        task: TaskId,
        before: Option<&Payload>,
    ) -> Payload {
        let template = step.policy().input_template.as_ref().filter(|map| !map.is_empty());
        let parameters = step.task().input_parameters.as_ref().filter(|map| !map.is_empty());
        if template.is_none() && parameters.is_none() {
            return before.cloned().unwrap_or_default();
        }
        let mut wanted = parameters.cloned().unwrap_or_default();
        for (key, value) in template.into_iter().flatten() {
            if wanted.get(key).is_none_or(Value::is_null) {
                wanted.insert(key.clone(), value.clone());
            }
        }
        let mut resolved = match before.map(Payload::value) {
            Some(Value::Object(map)) => map,
            _ => Map::new(),
        };
        for (key, value) in &wanted {
            let mut found = self.resolve(value, Some(task), 1);
            if found.is_null() {
                let fallback = template.and_then(|map| map.get(key));
                found = fallback.cloned().unwrap_or(Value::Null);
            }
            resolved.insert(key.clone(), found);
        }
        Payload::from_value(&Value::Object(resolved))
    }

    pub(crate) fn resolve_output(&mut self, parameters: &Map<String, Value>) -> Payload {
        let resolved: Map<_, _> = parameters
            .iter()
            .map(|(key, value)| (key.clone(), self.resolve(value, None, 1)))
            .collect();
        Payload::from_value(&Value::Object(resolved))
    }

    /// `depth` is that of the place the value goes to.
    fn resolve(&mut self, template: &Value, task: Option<TaskId>, depth: usize) -> Value {
        match template {
            Value::String(text) => {
                let found = self.resolve_text(text, task, 0);
                if depth + levels(&found) > DEPTH_MAX { Value::Null } else { found }
            }
            Value::Array(items) => {
                items.iter().map(|item| self.resolve(item, task, depth + 1)).collect()
            }
            Value::Object(map) => {
                let resolved = |(key, value): (&String, &Value)| {
                    (key.clone(), self.resolve(value, task, depth + 1))
                };
                map.iter().map(resolved).collect()
            }
            Value::Null | Value::Bool(_) | Value::Number(_) => template.clone(),
        }
    }

    fn resolve_text(&mut self, text: &str, task: Option<TaskId>, nesting: usize) -> Value {
        let parts = split(text);
        if let [Part::Expression(path)] = parts.as_slice() {
            return self.evaluate(path, task, nesting);
        }
        let mut out = String::with_capacity(text.len());
        for part in parts {
            match part {
                Part::Text(text) => out.push_str(&text),
                Part::Expression(path) => {
                    out.push_str(&plain(self.evaluate(&path, task, nesting)));
                }
            }
        }
        Value::String(out)
    }

    fn evaluate(&mut self, path: &str, task: Option<TaskId>, nesting: usize) -> Value {
        if nesting >= NESTING_MAX {
            return Value::Null;
        }
        let path = plain(self.resolve_text(path, task, nesting + 1));
        let path = path.trim();
        if path.is_empty() {
            return Value::String(String::new());
        }
        if path == "CPEWF_TASK_ID" {
            return task.map_or(Value::Null, |id| Value::String(id.to_string()));
        }
        let Some(keys) = keys(path) else { return Value::Null };
        let mut keys = keys.iter().map(String::as_str);
        let (Some(head), Some(field)) = (keys.next(), keys.next()) else { return Value::Null };
        let root =
            if head == "workflow" { self.run_field(field) } else { self.task_field(head, field) };
        let Some(root) = root else { return Value::Null };
        keys.try_fold(&*root, |value, key| child(value, key)).cloned().unwrap_or(Value::Null)
    }

    fn run_field(&mut self, field: &str) -> Option<Arc<Value>> {
        let execution = self.execution();
        let definition = execution.definition().definition();
        Some(Arc::new(match field {
            "input" => return Some(self.parsed(Source::RunInput)),
            "output" => return Some(self.parsed(Source::RunOutput)),
            "workflowId" => json!(execution.id().to_string()),
            "status" => json!(self.ending.or(execution.status()).map(WorkflowStatus::as_str)),
            "workflowType" => json!(definition.name),
            "version" => json!(definition.version),
            "correlationId" => json!(execution.correlation_id()),
            "reasonForIncompletion" => json!(execution.reason()),
            "schemaVersion" => json!(definition.schema_version),
            "priority" => json!(execution.priority()),
            "createTime" => json!(execution.started_at()),
            "taskToDomain" => json!(execution.task_to_domain()),
            "idempotencyKey" => json!(execution.idempotency_key()),
            "variables" => return Some(self.parsed(Source::Variables)),
            _ => return None,
        }))
    }

    fn task_field(&mut self, reference: &str, field: &str) -> Option<Arc<Value>> {
        let task: Arc<Task> = self.execution().latest(reference)?.clone();
        let step = self.execution().definition().step(reference).clone();
        Some(Arc::new(match field {
            "input" => return Some(self.parsed(Source::TaskInput(task.id))),
            "output" => return Some(self.parsed(Source::TaskOutput(task.id))),
            "taskType" => json!(step.task_type()),
            "taskDefName" => json!(step.task().name),
            "status" => json!(task.status.as_str()),
            "referenceTaskName" => json!(reference),
            "retryCount" => json!(task.attempt),
            "correlationId" => json!(self.execution().correlation_id()),
            "pollCount" => json!(task.polls),
            "scheduledTime" => json!(task.scheduled_at),
            "startTime" => json!(task.started_at),
            "endTime" => json!(task.ended_at),
            "workflowInstanceId" => json!(self.execution().id().to_string()),
            "taskId" => json!(task.id.to_string()),
            "reasonForIncompletion" => json!(task.reason),
            "callbackAfterSeconds" => json!(task.callback_after_seconds),
            "workerId" => json!(task.worker),
            "iteration" => json!(0),
            _ => return None,
        }))
    }

    /// A payload is parsed at most once per turn, however many expressions look inside.
    fn parsed(&mut self, source: Source) -> Arc<Value> {
        if let Some(found) = self.parsed.get(&source) {
            return Arc::clone(found);
        }
        let run = self.execution().run();
        let payload = match source {
            Source::RunInput => run.input.clone(),
            Source::RunOutput => run.output.clone(),
            Source::Variables => run.variables.clone(),
            Source::TaskInput(task) => self.execution().expect_task(task).input.clone(),
            Source::TaskOutput(task) => self.execution().expect_task(task).output.clone(),
        };
        let value = Arc::new(payload.value());
        self.parsed.insert(source, Arc::clone(&value));
        value
    }
}

#[derive(Debug, PartialEq)]
enum Part {
    Text(String),
    Expression(String),
}

/// Splits a template string. `$${` is an escaped `${`; an unterminated `${` is plain text.
fn split(text: &str) -> Vec<Part> {
    let mut parts = Vec::new();
    let mut plain = String::new();
    let mut rest = text;
    while let Some(at) = rest.find("${") {
        if rest[..at].ends_with('$') {
            plain.push_str(&rest[..at - 1]);
            let end = closing(&rest[at..]).map_or(rest.len(), |end| at + end + 1);
            plain.push_str(&rest[at..end]);
            rest = &rest[end..];
            continue;
        }
        let Some(end) = closing(&rest[at..]) else { break };
        plain.push_str(&rest[..at]);
        if !plain.is_empty() {
            parts.push(Part::Text(std::mem::take(&mut plain)));
        }
        parts.push(Part::Expression(rest[at + 2..at + end].to_owned()));
        rest = &rest[at + end + 1..];
    }
    plain.push_str(rest);
    if !plain.is_empty() || parts.is_empty() {
        parts.push(Part::Text(plain));
    }
    parts
}

/// Offset of the `}` that balances the `${` at the beginning.
fn closing(text: &str) -> Option<usize> {
    let mut depth = 0_usize;
    for (at, byte) in text.bytes().enumerate().skip(1) {
        match byte {
            b'{' => depth += 1,
            b'}' if depth == 1 => return Some(at),
            b'}' => depth -= 1,
            _ => {}
        }
    }
    None
}

/// `a.b[0]['c d']` as its keys; none when it does not parse.
fn keys(path: &str) -> Option<Vec<String>> {
    let mut keys = Vec::new();
    let mut rest = path;
    while !rest.is_empty() {
        if let Some(inside) = rest.strip_prefix('[') {
            let (key, after) = bracketed(inside)?;
            keys.push(key);
            rest = after;
        } else {
            let end = rest.find(['.', '[']).unwrap_or(rest.len());
            if end == 0 {
                return None;
            }
            keys.push(rest[..end].to_owned());
            rest = &rest[end..];
        }
        if let Some(after) = rest.strip_prefix('.') {
            if after.is_empty() {
                return None;
            }
            rest = after;
        }
    }
    Some(keys)
}

fn bracketed(inside: &str) -> Option<(String, &str)> {
    if let Some(quote) = inside.chars().next().filter(|first| matches!(first, '\'' | '"')) {
        let end = inside[1..].find(quote)? + 1;
        return Some((inside[1..end].to_owned(), inside[end + 1..].strip_prefix(']')?));
    }
    let end = inside.find(']')?;
    Some((inside[..end].trim().to_owned(), &inside[end + 1..]))
}

/// A value inside text: a string as it is, anything else as JSON.
fn plain(value: Value) -> String {
    match value {
        Value::String(text) => text,
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::Array(_) | Value::Object(_) => {
            value.to_string()
        }
    }
}

/// How many maps and lists lie inside each other, at most.
fn levels(value: &Value) -> usize {
    match value {
        Value::Array(items) => 1 + items.iter().map(levels).max().unwrap_or(0),
        Value::Object(map) => 1 + map.values().map(levels).max().unwrap_or(0),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => 0,
    }
}

fn child<'v>(value: &'v Value, key: &str) -> Option<&'v Value> {
    match value {
        Value::Object(map) => map.get(key),
        Value::Array(items) => {
            let at: i64 = key.parse().ok()?;
            let at = if at < 0 { at + i64::try_from(items.len()).ok()? } else { at };
            items.get(usize::try_from(at).ok()?)
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(text: &str) -> Part {
        Part::Text(text.to_owned())
    }

    fn expression(path: &str) -> Part {
        Part::Expression(path.to_owned())
    }

    #[test]
    fn templates_split_into_text_and_expressions() {
        assert_eq!(split("${a.b}"), [expression("a.b")]);
        assert_eq!(split(" ${a}"), [text(" "), expression("a")]);
        assert_eq!(split("${a}${b}"), [expression("a"), expression("b")]);
        assert_eq!(split("$${keep}"), [text("${keep}")]);
        assert_eq!(split("$$${keep}"), [text("$${keep}")]);
        assert_eq!(split("open ${a"), [text("open ${a")]);
        assert_eq!(split("${a[${b}].c}"), [expression("a[${b}].c")]);
        assert_eq!(split(""), [text("")]);
    }

    #[test]
    fn paths_split_into_keys() {
        let keys = |path| keys(path).map(|keys| keys.join("|"));
        assert_eq!(keys("workflow.input.a[0].b").as_deref(), Some("workflow|input|a|0|b"));
        assert_eq!(keys("t.output['x y'][\"z\"]").as_deref(), Some("t|output|x y|z"));
        assert_eq!(keys("a..b"), None);
        assert_eq!(keys("a."), None);
        assert_eq!(keys("a[1"), None);
    }
}
