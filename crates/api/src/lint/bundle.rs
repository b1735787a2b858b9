//! # Bundles: workflow definitions, and task definitions that count as registered
//!
//! One definition, a list, or an object of `workflowDefs` and `taskDefs`. Each is kept as it was
//! written too, for the members that nobody knows.

use std::sync::Arc;

use semel_model::{TaskDef, Violation, WorkflowDef};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::value::RawValue;
use serde_json::{Map, Value};

use crate::error::ApiError;
use crate::request::Body;

pub(super) struct Bundle {
    pub(super) workflows: Vec<(WorkflowDef, Value)>,
    pub(super) tasks: Vec<(Arc<TaskDef>, Value)>,
}

impl Bundle {
    pub(super) fn task_list(&self) -> Vec<Arc<TaskDef>> {
        self.tasks.iter().map(|(task, _)| Arc::clone(task)).collect()
    }
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Members<'a> {
    #[serde(borrow)]
    workflow_defs: &'a RawValue,
    #[serde(borrow, default)]
    task_defs: Option<&'a RawValue>,
}

pub(super) fn read(body: Body) -> Result<Bundle, ApiError> {
    let is_object = body.bytes().iter().find(|byte| !byte.is_ascii_whitespace()) == Some(&b'{');
    let members = is_object.then(|| serde_json::from_slice::<Members<'_>>(body.bytes()).ok());
    let parts = members.flatten().map(|members| {
        let part = |raw: &RawValue| Body::of_text(raw.get().to_owned());
        (part(members.workflow_defs), members.task_defs.map(part))
    });
    let (workflows, tasks) = parts.unwrap_or((body, None));
    let workflows: Vec<(WorkflowDef, Value)> = with_text(&workflows)?;
    if workflows.is_empty() {
        return Err(ApiError::Malformed("the list of definitions is empty".to_owned()));
    }
    if workflows.iter().any(|(definition, _)| definition.name.is_empty()) {
        let message = "WorkflowDef name cannot be null or empty";
        return Err(ApiError::Invalid(vec![Violation::new("name", message)]));
    }
    let tasks = tasks.map(|tasks| with_text(&tasks)).transpose()?.unwrap_or_default();
    Ok(Bundle { workflows, tasks })
}

fn with_text<T: DeserializeOwned>(body: &Body) -> Result<Vec<(T, Value)>, ApiError> {
    let read: Vec<T> = body.one_or_more()?;
    let written = body.one_or_more::<Map<String, Value>>()?;
    Ok(read.into_iter().zip(written.into_iter().map(Value::Object)).collect())
}
