//! # SUB_WORKFLOW: a run inside a run
//!
//! The child is created in the commit that begins its task, under an id derived from task and edge.
//! It tells the task how it ended; a task that ends without it tells the child to end too. With a
//! key of its own it may find a run instead of beginning one: that run is watched, never cancelled.

use std::collections::BTreeMap;

use semel_model::{
    ExecutionId, IdempotencyStrategy, InlineDefinition, Payload, TaskId, TaskStatus,
};
use serde::{Deserialize, Deserializer};
use serde_json::{Map, Value, json};

use crate::change::Change;
use crate::decide::Stop;
use crate::event::{Parent, Start};
use crate::failure::DEPTH_MAX;
use crate::message::Message;
use crate::pin::Step;
use crate::record::RecordKey;
use crate::start_key::{Standing, judge};
use crate::tasks::given_definition::{marked_dynamic, read};
use crate::turn::Turn;

/// The task input, as this module has written it.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Wanted {
    #[serde(default)]
    sub_workflow_name: Value,
    #[serde(default)]
    sub_workflow_version: Value,
    /// Present, though perhaps null, when the step brings one.
    #[serde(default, deserialize_with = "present")]
    sub_workflow_definition: Option<Value>,
    #[serde(default)]
    priority: Value,
    #[serde(default)]
    sub_workflow_task_to_domain: Option<BTreeMap<String, String>>,
    #[serde(default)]
    idempotency_key: Option<String>,
    #[serde(default)]
    idempotency_strategy: Option<String>,
    #[serde(default)]
    workflow_input: Payload,
}

impl Turn<'_> {
    /// `given` is what the child itself is given.
    pub(crate) fn child_input(&mut self, step: &Step, task: TaskId, given: &Payload) -> Payload {
        let parameters = step.task().sub_workflow_param.clone().unwrap_or_default();
        let mut fields = Map::new();
        let name = parameters.name.clone().unwrap_or_else(|| step.task().name.clone());
        let strategy = parameters.idempotency_strategy.map(IdempotencyStrategy::as_str);
        let written = [
            ("subWorkflowName", json!(name)),
            ("subWorkflowVersion", json!(parameters.version)),
            ("priority", json!(parameters.priority)),
            ("subWorkflowTaskToDomain", json!(parameters.task_to_domain)),
            ("idempotencyKey", json!(parameters.idempotency_key)),
            ("idempotencyStrategy", json!(strategy)),
        ];
        let mut resolve = |template: &Value| self.resolve_value(template, Some(task));
        let written = written.map(|(key, template)| (key, resolve(&template)));
        // Expressions inside a definition are those of the run it begins.
        let definition = match &parameters.workflow_definition {
            Some(InlineDefinition::Definition(definition)) => json!(definition),
            Some(InlineDefinition::Expression(text)) => resolve(&json!(text)),
            None => Value::Null,
        };
        fields.extend(
            written
                .into_iter()
                .filter(|(_, value)| !value.is_null())
                .map(|(k, v)| (k.to_owned(), v)),
        );
        if parameters.workflow_definition.is_some() {
            fields.insert("subWorkflowDefinition".to_owned(), definition);
        }
        let head = serde_json::to_string(&fields).expect("plain data");
        let separator = if fields.is_empty() { "" } else { "," };
        let head = head.strip_suffix('}').unwrap_or(&head);
        let text = format!("{head}{separator}\"workflowInput\":{}}}", given.text());
        Payload::from_text(text).expect("objects one inside the other are JSON")
    }

    pub(crate) fn begin_child(&mut self, id: TaskId) -> Result<(), Stop> {
        self.children += 1;
        match self.child_start(id)? {
            Ok(()) => {}
            Err(reason) => {
                self.end_system(id, TaskStatus::Failed, Payload::empty(), Some(reason));
            }
        }
        Ok(())
    }

    /// The inner error is the task's: it fails with that reason.
    fn child_start(&mut self, id: TaskId) -> Result<Result<(), String>, Stop> {
        let task = self.execution().expect_task(id).clone();
        let wanted: Wanted = match serde_json::from_str(task.input.text()) {
            Ok(wanted) => wanted,
            Err(error) => return Ok(Err(format!("subWorkflowParam cannot be used: {error}"))),
        };
        let own = wanted.sub_workflow_definition.as_ref().map(read).transpose();
        let (own, name, version) = match (own, wanted.name(), wanted.version()) {
            (Ok(Some(own)), _, _) => (Some(own.clone()), own.name, None),
            (Ok(None), Ok(name), Ok(version)) => (None, name, version),
            (Err(why), _, _) | (_, Err(why), _) | (_, _, Err(why)) => return Ok(Err(why)),
        };
        if self.execution().run().depth >= DEPTH_MAX {
            return Ok(Err(format!("workflows are nested {DEPTH_MAX} deep; no child was started")));
        }
        let (mut taken, mut replaces) = (None, None);
        let inherited = self.execution().idempotency_key().map(str::to_owned);
        let key = wanted.key(inherited.as_deref());
        if let Some((key, strategy)) = key {
            let strategy = match strategy.parse::<IdempotencyStrategy>() {
                Ok(strategy) => strategy,
                Err(error) => return Ok(Err(format!("idempotencyStrategy: {error}"))),
            };
            let record = RecordKey::start(&name, key);
            match judge(self.claim(&record)?, strategy) {
                Standing::Create => taken = Some(record),
                Standing::Replace(found) => (taken, replaces) = (Some(record), Some(found)),
                Standing::Existing(found) if found == self.execution().id() => {
                    return Ok(Err(format!("idempotencyKey {key} is that of this very run")));
                }
                Standing::Existing(found) => {
                    self.watch_run(id, task.children, found);
                    return Ok(Ok(()));
                }
                Standing::Conflict(found) => {
                    return Ok(Err(format!("a run exists under idempotencyKey {key}: {found}")));
                }
                Standing::Gone(found) => {
                    return Ok(Err(format!(
                        "run {found} under idempotencyKey {key} is no longer kept"
                    )));
                }
            }
        }
        let child = ExecutionId::of_child(id, task.children);
        let definition = match own {
            Some(own) => self.pin_given(own, child, &wanted.workflow_input)?,
            None => self.named_definition(&name, version)?,
        };
        let definition = match definition {
            Ok(definition) => definition,
            Err(why) => return Ok(Err(why)),
        };
        if let Some(why) = self.refusal(child, definition, &wanted.workflow_input) {
            return Ok(Err(why));
        }
        if let Some(key) = taken {
            self.take_key(key, child);
        }
        let key = key.map(|(key, _)| key.to_owned());
        let keyed = Start { definition, idempotency_key: key, replaces, ..Start::default() };
        self.create_child(id, task.children, &wanted, keyed);
        Ok(Ok(()))
    }

    /// `keyed`: what it is, and the key it is started under.
    fn create_child(&mut self, id: TaskId, edge: u32, wanted: &Wanted, keyed: Start) {
        let child = ExecutionId::of_child(id, edge);
        let input = match wanted.sub_workflow_definition {
            Some(_) => marked_dynamic(&wanted.workflow_input),
            None => wanted.workflow_input.clone(),
        };
        let input = self.store(input);
        let execution = self.execution();
        let domains = wanted.sub_workflow_task_to_domain.clone().filter(|map| !map.is_empty());
        let start = Start {
            correlation_id: execution.correlation_id().map(str::to_owned),
            priority: wanted.priority(),
            task_to_domain: domains.unwrap_or_else(|| execution.task_to_domain().clone()),
            parent: Some(Parent { execution: execution.id(), task: id }),
            born: true,
            depth: execution.run().depth + 1,
            traceparent: execution.traceparent(),
            input,
            under: execution.gates(),
            ..keyed
        };
        self.emit(Change::RunCreated { run: child, start: Box::new(start) });
        self.emit(Change::ChildAttached { task: id, child, edge, observed: false });
    }

    /// A run somebody else began: told when it ends, and left alone.
    fn watch_run(&mut self, task: TaskId, edge: u32, child: ExecutionId) {
        let from = self.execution().id();
        self.emit(Change::ChildAttached { task, child, edge, observed: true });
        let message = Message::Watch { from, task, epoch: edge };
        self.emit(Change::Sent { to: child, message });
    }
}

impl Wanted {
    fn name(&self) -> Result<String, String> {
        let name = self.sub_workflow_name.as_str().filter(|name| !name.is_empty());
        name.map(str::to_owned).ok_or_else(|| {
            format!("subWorkflowParam.name must be a name, not {}", self.sub_workflow_name)
        })
    }

    /// None and 0 mean the latest.
    fn version(&self) -> Result<Option<i32>, String> {
        if self.sub_workflow_version.is_null() {
            return Ok(None);
        }
        let number = number(&self.sub_workflow_version).ok_or_else(|| {
            format!("subWorkflowParam.version must be a number, not {}", self.sub_workflow_version)
        })?;
        Ok(Some(number).filter(|number| *number != 0))
    }

    fn priority(&self) -> i32 {
        number(&self.priority).unwrap_or(0).clamp(0, 99)
    }

    /// A strategy without a key is about the key of the parent.
    fn key<'a>(&'a self, parents: Option<&'a str>) -> Option<(&'a str, &'a str)> {
        let own = self.idempotency_key.as_deref().filter(|key| !key.trim().is_empty());
        let strategy = self.idempotency_strategy.as_deref();
        let key = own.or(parents.filter(|_| strategy.is_some()))?;
        Some((key, strategy.unwrap_or(IdempotencyStrategy::Fail.as_str())))
    }
}

/// A null that was written down is a value too.
fn present<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Value>, D::Error> {
    Value::deserialize(deserializer).map(Some)
}

/// A number, or text that is one: expressions give either.
fn number(value: &Value) -> Option<i32> {
    let text = value.as_str().and_then(|text| text.trim().parse().ok());
    text.or_else(|| value.as_i64().and_then(|number| i32::try_from(number).ok()))
}
