//! # Runs: what the story calls them, and the ids they have
//!
//! A run is named by the line that starts it, or by one that finds it: the child of a task, the run
//! a task has started, the failure workflow of a run, the one an event handler began.

use std::collections::BTreeMap;

use anyhow::{Context, Result, bail, ensure};
use serde_json::Value;

use crate::language::Line;

#[derive(Default)]
pub(crate) struct Runs(BTreeMap<String, String>);

impl Runs {
    pub(crate) fn insert(&mut self, name: &str, id: String) {
        self.0.insert(name.to_owned(), id);
    }

    pub(crate) fn id(&self, name: &str) -> Result<&str> {
        self.0.get(name).map(String::as_str).with_context(|| format!("no run is called {name}"))
    }

    pub(crate) fn contains(&self, name: &str) -> bool {
        self.0.contains_key(name)
    }

    /// What the story calls the run of this id, if it has a name yet.
    pub(crate) fn name(&self, id: &str) -> Option<&str> {
        self.0.iter().find(|(_, known)| *known == id).map(|(name, _)| name.as_str())
    }

    /// The same, or the id itself.
    pub(crate) fn name_or_id(&self, id: &str) -> String {
        self.name(id).unwrap_or(id).to_owned()
    }

    /// `@order` in an input is the id of that run.
    pub(crate) fn put_ids(&self, input: &mut Value) {
        match input {
            Value::String(text) => {
                let named = text.strip_prefix('@').and_then(|name| self.0.get(name));
                *text = named.unwrap_or(text).clone();
            }
            Value::Array(list) => list.iter_mut().for_each(|value| self.put_ids(value)),
            Value::Object(map) => map.values_mut().for_each(|value| self.put_ids(value)),
            Value::Null | Value::Bool(_) | Value::Number(_) => {}
        }
    }

    pub(crate) fn ids(&self) -> impl Iterator<Item = (&String, &String)> {
        self.0.iter()
    }

    /// `child NAME = RUN STEP`: gives a name to the run found there. It must be one that has no name
    /// yet, or with `-> RUN` the one of that name.
    pub(crate) fn find(&mut self, line: &Line, id: String) -> Result<()> {
        let name = line.word(0, "NAME")?;
        match (line.expected.first(), self.name(&id)) {
            (Some(expected), known) => ensure!(
                known == Some(expected.as_str()),
                "expected {expected}, found {}",
                known.unwrap_or(&id)
            ),
            (None, Some(known)) => bail!("expected a new run, found {known}"),
            (None, None) => self.insert(name, id),
        }
        Ok(())
    }
}

/// The id of the run this line speaks of, as the run that led to it tells.
pub(crate) fn found(line: &Line, seen_from: &Value) -> Result<String> {
    let id = match line.verb.as_str() {
        "failure" => &seen_from["output"]["conductor.failure_workflow"],
        verb => {
            let task = task(seen_from, line.word(3, "a step")?, line.option("attempt"))?;
            match verb {
                "child" => &task["subWorkflowId"],
                _ => &task["outputData"]["workflowId"],
            }
        }
    };
    let id = id.as_str().with_context(|| format!("there is no run: {id}"))?;
    ensure!(crate::showing::is_id(id), "there is no run: {id}");
    Ok(id.to_owned())
}

/// The newest attempt at a step, or the one that is asked for.
pub(crate) fn task<'a>(
    workflow: &'a Value,
    step: &str,
    attempt: Option<&str>,
) -> Result<&'a Value> {
    let attempt = attempt.map(str::parse::<u64>).transpose()?;
    let tasks = workflow["tasks"].as_array().context("a run without a list of tasks")?;
    let found = tasks.iter().rev().find(|task| {
        let asked = attempt.is_none_or(|attempt| task["retryCount"] == attempt);
        task["referenceTaskName"] == step && asked
    });
    found.with_context(|| format!("the run has no such task {step}"))
}
