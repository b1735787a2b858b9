//! # SUB_WORKFLOW: a run inside a run
//!
//! The child is created in the commit that begins its task, under an id derived from task and edge.
//! It tells the task how it ended; a task that ends without it tells the child to end too. With a
//! key of its own it may find a run instead of beginning one: that run is watched, never cancelled.

use std::collections::BTreeMap;

use semel_model::{
    ExecutionId, ID_CHARS_MAX, IdempotencyStrategy, InlineDefinition, NAME_CHARS_MAX, Payload,
    SubWorkflowParams, TaskId, TaskStatus, WorkflowDef, text_fault,
};
use serde::{Deserialize, Deserializer};
use serde_json::{Map, Value, json};

use crate::change::Change;
use crate::decide::Stop;
use crate::event::{Parent, Start};
use crate::expression::{disarmed, is_computed, is_unfinished, shown};
use crate::facts::Claim;
use crate::failure::DEPTH_MAX;
use crate::message::Message;
use crate::pin::Step;
use crate::record::RecordKey;
use crate::start_key::{Standing, judge};
use crate::step_start::{Asked, Payloads, Ruling, mismatch};
use crate::task::Task;
use crate::tasks::given_definition::{Rules, marked_dynamic, read};
use crate::turn::Turn;

/// A key, and what to do when it is taken.
type Key = (String, IdempotencyStrategy);

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

/// What is found under the key of a child.
enum Found {
    /// It may be created; that run ends in the same commit.
    Nobody { replaces: Option<ExecutionId> },
    /// The task waits for that run, or is over.
    Settled,
}

impl Turn<'_> {
    /// `given` is what the child itself is given. The step of a branch came with the data: it is not
    /// looked at for expressions.
    pub(crate) fn child_input(
        &mut self,
        step: &Step,
        task: TaskId,
        given: &Payload,
        is_data: bool,
    ) -> Payload {
        let parameters = step.task().sub_workflow_param.clone().unwrap_or_default();
        let name = parameters.name.clone().unwrap_or_else(|| step.task().name.clone());
        let strategy = parameters.idempotency_strategy.map(IdempotencyStrategy::as_str);
        let (domains, key) = self.keys_of_child(&parameters, task, is_data);
        // The step of a branch is in the stored form: data stays data in it.
        let mut resolve = |template: &Value| match is_data {
            true => template.clone(),
            false => self.resolve_value(template, Some(task)),
        };
        // What was put together is not looked at again.
        let kept = |value: Value| if is_data { value } else { as_data(&value) };
        // Expressions inside a definition are those of the run it begins.
        let definition = match &parameters.workflow_definition {
            Some(InlineDefinition::Definition(definition)) => json!(definition),
            Some(InlineDefinition::Expression(text)) => resolve(&json!(text)),
            None => Value::Null,
        };
        let written = [
            ("subWorkflowName", resolve(&json!(name))),
            ("subWorkflowVersion", resolve(&json!(parameters.version))),
            ("priority", resolve(&json!(parameters.priority))),
            ("subWorkflowTaskToDomain", kept(json!(domains))),
            ("idempotencyStrategy", json!(strategy)),
            ("idempotencyKey", kept(json!(key))),
        ];
        let written = written.into_iter().filter(|(_, value)| !value.is_null());
        let mut fields: Map<_, _> = written.map(|(key, value)| (key.to_owned(), value)).collect();
        if parameters.workflow_definition.is_some() {
            fields.insert("subWorkflowDefinition".to_owned(), definition);
        }
        let head = serde_json::to_string(&fields).expect("plain data");
        let separator = if fields.is_empty() { "" } else { "," };
        let head = head.strip_suffix('}').unwrap_or(&head);
        let text = format!("{head}{separator}\"workflowInput\":{}}}", given.text());
        Payload::from_text(text).expect("objects one inside the other are JSON")
    }

    /// What lacks a part is null, and fails the step.
    fn keys_of_child(
        &mut self,
        parameters: &SubWorkflowParams,
        task: TaskId,
        is_data: bool,
    ) -> (Option<BTreeMap<String, Option<String>>>, Option<String>) {
        let mut text = |written: String| match !is_data && is_computed(&written) {
            true => self.key_text(&written, Some(task)).ok(),
            false => Some(written),
        };
        let domains = parameters
            .task_to_domain
            .clone()
            .map(|map| map.into_iter().map(|(name, written)| (name, text(written))).collect());
        (domains, parameters.idempotency_key.clone().and_then(text))
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

    /// The inner error is the task's: it fails with that reason, unless it is over already.
    fn child_start(&mut self, id: TaskId) -> Result<Result<(), String>, Stop> {
        let task = self.execution().expect_task(id).clone();
        let wanted = match Wanted::read(&task.input) {
            Ok(wanted) => wanted,
            Err(error) => return Ok(Err(format!("subWorkflowParam cannot be used: {error}"))),
        };
        let own = wanted.sub_workflow_definition.as_ref();
        let own = own.map(|given| self.own_definition(&task, given)).transpose();
        let (own, name, version) = match (own, wanted.name(), wanted.version()) {
            (Ok(Some(own)), _, _) => (Some(own.clone()), own.name, None),
            (Ok(None), Ok(name), Ok(version)) => (None, name, version),
            (Err(why), _, _) | (_, Err(why), _) | (_, _, Err(why)) => return Ok(Err(why)),
        };
        if let Some(why) = wanted.domain_fault() {
            return Ok(Err(why));
        }
        if self.execution().run().depth >= DEPTH_MAX {
            return Ok(Err(format!("workflows are nested {DEPTH_MAX} deep; no child was started")));
        }
        let child = ExecutionId::of_child(id, task.children);
        let input = wanted.input();
        let start = self.inherited(&task, &wanted);
        let inherited = self.execution().idempotency_key().map(str::to_owned);
        let asked = Asked {
            name: &name,
            version,
            own: own.as_ref(),
            start: &start,
            input: &input,
            is_keyed: wanted.given_key(inherited.as_deref()).is_some(),
        };
        let ruling = self.ruling(child, &asked)?;
        let key = match wanted.key(inherited.as_deref(), &ruling) {
            Ok(key) => key,
            Err(why) => return Ok(Err(why)),
        };
        let replaces = match self.child_under(id, &name, key.as_ref(), &ruling)? {
            Ok(Found::Nobody { replaces }) => replaces,
            Ok(Found::Settled) => return Ok(Ok(())),
            Err(why) => return Ok(Err(why)),
        };
        let definition = match own {
            Some(own) => self.pin_given(own, child, &wanted.workflow_input, Rules::OfSteps)?,
            None => self.named_definition(&name, version)?,
        };
        let definition = match definition {
            Ok(definition) => definition,
            Err(why) => return Ok(Err(why)),
        };
        if let Some(why) = self.refusal(child, definition, &wanted.workflow_input) {
            return Ok(Err(why));
        }
        if let Some(why) = self.no_room_for_descendant(&name)? {
            let status = TaskStatus::FailedWithTerminalError;
            self.end_system(id, status, Payload::empty(), Some(why));
            return Ok(Ok(()));
        }
        let idempotency_key = key.map(|(key, _)| key);
        if let Some(key) = &idempotency_key {
            let claim = Claim { fingerprint: ruling.fingerprint, ..Claim::live(child) };
            self.take_key(RecordKey::start(&name, key), claim);
        }
        let parent = Some(Parent { execution: self.execution().id(), task: id });
        let input = self.store(input);
        let start = Start { definition, idempotency_key, replaces, parent, input, ..start };
        self.emit(Change::RunCreated { run: child, start: Box::new(start) });
        let (edge, observed, mismatch) = (task.children, false, false);
        self.emit(Change::ChildAttached { task: id, child, edge, observed, mismatch });
        Ok(Ok(()))
    }

    fn own_definition(&self, task: &Task, given: &Value) -> Result<WorkflowDef, String> {
        let own = read(given)?;
        let came_as_data = own.came_as_data || self.brings_data(task);
        Ok(WorkflowDef { came_as_data, ..own })
    }

    /// The definition that a SUB_WORKFLOW step brings was not written in a registered one.
    fn brings_data(&self, task: &Task) -> bool {
        let given = task.step.task().sub_workflow_param.as_ref();
        let given = given.and_then(|given| given.workflow_definition.as_ref());
        let is_computed = matches!(given, Some(InlineDefinition::Expression(_)));
        let is_inside = self.execution().definition().definition().came_as_data;
        is_computed || is_inside || task.fork.is_some()
    }

    /// Whether a run exists under the key of the child, and what that means for the task.
    fn child_under(
        &mut self,
        id: TaskId,
        name: &str,
        key: Option<&Key>,
        ruling: &Ruling,
    ) -> Result<Result<Found, String>, Stop> {
        let Some((key, strategy)) = key else { return Ok(Ok(Found::Nobody { replaces: None })) };
        let found = self.claim(&RecordKey::start(name, key))?;
        let compared = ruling.compare(found);
        let (run, why) = match judge(found, *strategy) {
            Standing::Create => return Ok(Ok(Found::Nobody { replaces: None })),
            Standing::Replace(run) => return Ok(Ok(Found::Nobody { replaces: Some(run) })),
            Standing::Existing(run) if run == self.execution().id() => {
                (run, format!("idempotencyKey {key} is that of this very run"))
            }
            Standing::Existing(run) if compared != Payloads::Refused => {
                let edge = self.execution().expect_task(id).children;
                self.watch_run(id, edge, run, compared == Payloads::Flagged);
                return Ok(Ok(Found::Settled));
            }
            Standing::Existing(run) | Standing::Conflict(run) => {
                (run, format!("a run exists under idempotencyKey {key}: {run}"))
            }
            Standing::Gone(run) => {
                (run, format!("run {run} under idempotencyKey {key} is no longer kept"))
            }
        };
        if compared != Payloads::Refused {
            return Ok(Err(why));
        }
        let status = TaskStatus::FailedWithTerminalError;
        self.end_system(id, status, Payload::empty(), Some(mismatch(key, run)));
        Ok(Ok(Found::Settled))
    }

    /// What every child has from its parent.
    fn inherited(&self, task: &Task, wanted: &Wanted) -> Start {
        let execution = self.execution();
        let effect = task.once.as_ref().filter(|_| task.has_claim()).map(|once| once.record());
        let domains = wanted.sub_workflow_task_to_domain.clone().filter(|map| !map.is_empty());
        Start {
            correlation_id: execution.correlation_id().map(str::to_owned),
            priority: wanted.priority(),
            task_to_domain: domains.unwrap_or_else(|| execution.task_to_domain().clone()),
            born: true,
            depth: execution.run().depth + 1,
            root: Some(execution.root()),
            traceparent: execution.traceparent(),
            under: execution.gates().into_iter().chain(effect).collect(),
            ..Start::default()
        }
    }

    /// A run somebody else began: told when it ends, and left alone.
    fn watch_run(&mut self, task: TaskId, edge: u32, child: ExecutionId, mismatch: bool) {
        let from = self.execution().id();
        self.emit(Change::ChildAttached { task, child, edge, observed: true, mismatch });
        let message = Message::Watch { from, task, epoch: edge };
        self.emit(Change::Sent { to: child, message });
    }
}

/// Texts of an input that stay what they are.
fn as_data(value: &Value) -> Value {
    disarmed(&Payload::from_value(value)).value()
}

impl Wanted {
    /// Texts that mean something here are read as they are; the child reads what it is given itself.
    fn read(input: &Payload) -> Result<Self, String> {
        let read = |input: &Payload| {
            serde_json::from_str::<Self>(input.text()).map_err(|error| error.to_string())
        };
        let stored = read(input)?;
        if !is_unfinished(input) {
            return Ok(stored);
        }
        let Self { workflow_input, sub_workflow_definition, .. } = stored;
        Ok(Self { workflow_input, sub_workflow_definition, ..read(&shown(input))? })
    }

    fn name(&self) -> Result<String, String> {
        let name = self.sub_workflow_name.as_str().filter(|name| !name.is_empty());
        let name = name.ok_or_else(|| {
            format!("subWorkflowParam.name must be a name, not {}", self.sub_workflow_name)
        })?;
        let fault = text_fault(name, NAME_CHARS_MAX);
        fault.map_or(Ok(name.to_owned()), |fault| Err(format!("subWorkflowParam.name {fault}")))
    }

    /// Why a child cannot have these domains.
    fn domain_fault(&self) -> Option<String> {
        self.sub_workflow_task_to_domain.iter().flatten().find_map(|(task, domain)| {
            let fault = text_fault(task, NAME_CHARS_MAX);
            let fault = fault.or_else(|| text_fault(domain, ID_CHARS_MAX))?;
            Some(format!("subWorkflowParam.taskToDomain {fault}"))
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

    /// What the child itself is given.
    fn input(&self) -> Payload {
        match self.sub_workflow_definition {
            Some(_) => marked_dynamic(&self.workflow_input),
            None => self.workflow_input.clone(),
        }
    }

    /// A strategy without a key is about the key of the parent.
    fn given_key<'a>(&'a self, parents: Option<&'a str>) -> Option<&'a str> {
        let own = self.idempotency_key.as_deref().filter(|key| !key.trim().is_empty());
        own.or(parents.filter(|_| self.idempotency_strategy.is_some()))
    }

    /// A key that is given goes before one that the child's definition computes.
    fn key(&self, parents: Option<&str>, ruling: &Ruling) -> Result<Option<Key>, String> {
        let said = self.idempotency_strategy.as_deref().map(str::parse::<IdempotencyStrategy>);
        let own = self.given_key(parents);
        if own.is_none() && ruling.key.is_none() {
            return ruling.fault.clone().map_or(Ok(None), Err);
        }
        let said = said.transpose().map_err(|error| format!("idempotencyStrategy: {error}"))?;
        let default = IdempotencyStrategy::Fail;
        Ok(match own {
            Some(key) => Some((key.to_owned(), said.or(ruling.strategy).unwrap_or(default))),
            None => {
                let strategy = ruling.strategy.or(said).unwrap_or(default);
                ruling.key.clone().map(|key| (key, strategy))
            }
        })
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
