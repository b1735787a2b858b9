//! # Handling: what event handlers make of what was published
//!
//! A [`Publication`] lies in the outbox until it was handled: every action of every handler that
//! listens becomes a letter of its own, its expressions resolved, addressed to the run it is about.
//! A start is addressed to the run that will begin: its id is derived, so made twice it is the same.

use semel_model::{
    Action, ActionKind, EventHandler, ExecutionId, Payload, StartAction, StartWorkflowRequest,
    TaskAction, TaskId, TaskResultStatus, Timestamp, Violation,
};
use serde::{Deserialize, Serialize};
use serde_json::Map;

use crate::event::Slot;
use crate::execution::Execution;
use crate::expression::{Heard, is_computed};
use crate::failure::DEPTH_MAX;
use crate::message::{Letter, Message};
use crate::script::Language;
use crate::script::plain::Program;
use crate::turn::PAYLOAD_BYTES_MAX;

/// A message for event handlers, as it lies in the outbox.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Publication {
    /// What the message is known by: the EVENT task, or an id of its own.
    pub task: TaskId,
    /// How many runs, begun one by the other at once, a run begun by this one ends.
    pub depth: u32,
    /// The handler and the action to go on with, when there were too many for one commit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next: Option<(String, u32)>,
    /// How many letters were written so far.
    #[serde(default)]
    pub letters: u64,
    pub body: Payload,
}

impl Publication {
    pub fn of(execution: &Execution, task: TaskId, at: Timestamp, body: Payload) -> Self {
        let depth = execution.depth_of_successor(at);
        Self { task, depth, next: None, letters: 0, body }
    }

    pub fn encode(&self) -> Vec<u8> {
        serde_json::to_vec(self).expect("a publication is plain data")
    }

    pub fn decode(bytes: &[u8]) -> Result<Self, serde_json::Error> {
        serde_json::from_slice(bytes)
    }
}

/// A longer condition is refused.
const CONDITION_CHARS_MAX: usize = 4_000;

const UNDERSTOOD: &str = "is not understood in this release: write a plain program over $.path, \
                          with comparisons, && || ! ?:, + - * / %, typeof, .length and \
                          parentheses, and without method calls and loops";

/// The condition of a handler; the error says why there is none.
fn condition(text: &str) -> Result<Program, String> {
    if text.chars().count() > CONDITION_CHARS_MAX {
        return Err(format!("a condition has at most {CONDITION_CHARS_MAX} characters"));
    }
    let program = Program::parse(Language::JavaScript, text);
    let program = program.filter(|program| program.is_closed() && !program.is_empty());
    program.ok_or_else(|| format!("{} {UNDERSTOOD}", text.trim().trim_end_matches(';')))
}

/// What an action does to the run it is about.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Deed {
    /// The run begins. Its input is the payload.
    Begin {
        request: Box<StartWorkflowRequest>,
        depth: u32,
    },
    /// A task ends, with the payload as its output.
    Answer {
        task: Option<TaskId>,
        reference: Option<String>,
        status: TaskResultStatus,
        reason: Option<String>,
    },
    Terminate {
        reason: Option<String>,
    },
    /// The payload is merged into the variables.
    SetVariables {
        append: bool,
    },
}

/// What a handler does to a run, and on what occasion.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Handled {
    pub handler: String,
    pub event: String,
    pub message: TaskId,
    pub deed: Deed,
    pub payload: Slot,
}

impl Handled {
    /// Who did it, for the journal.
    pub fn actor(&self) -> String {
        format!("event:{}", self.handler)
    }

    pub fn event_id(&self) -> String {
        format!("{}/{}", self.event, self.message)
    }
}

/// A registered handler whose condition is understood.
#[derive(Debug)]
pub struct Handler {
    definition: EventHandler,
    condition: Option<Program>,
}

impl Handler {
    /// The error says what of it is not understood.
    pub fn new(definition: EventHandler) -> Result<Self, Violation> {
        let condition = definition.condition().map(condition).transpose();
        let condition = condition.map_err(|why| Violation::new("condition", why))?;
        let evaluator = definition.evaluator_type.as_deref().unwrap_or_default();
        let is_script = ["", "javascript", "graaljs"].contains(&evaluator);
        if condition.is_some() && !is_script {
            let message = "is not in this release: write javascript, or leave it out";
            return Err(Violation::new("evaluatorType", message).with_value(evaluator));
        }
        Ok(Self { definition, condition })
    }

    pub fn definition(&self) -> &EventHandler {
        &self.definition
    }
}

/// One publication, being handled.
pub struct Occasion<'a> {
    event: &'a str,
    seq: u64,
    publication: &'a Publication,
    plain: Heard,
    expanded: Option<Heard>,
}

impl<'a> Occasion<'a> {
    /// `seq` is that of the entry that published it.
    pub fn new(event: &'a str, seq: u64, publication: &'a Publication) -> Self {
        let plain = Heard::new(&publication.body);
        Self { event, seq, publication, plain, expanded: None }
    }

    /// Whether the handler acts. The error is one of its condition.
    pub fn concerns(&mut self, handler: &Handler) -> Result<bool, String> {
        match &handler.condition {
            Some(condition) => self.heard(true).holds(condition),
            None => Ok(true),
        }
    }

    /// What the action of that number has to tell, and to which run. The error says why it can be
    /// told to none.
    pub fn letter(&mut self, handler: &Handler, at: u32) -> Result<(ExecutionId, Letter), String> {
        let definition = &handler.definition;
        let action = definition.actions.get(at as usize).ok_or("there is no such action")?;
        let missing = || format!("action {} is unknown or has no block", action.action);
        let (to, deed, payload) = match action.kind().ok_or_else(missing)? {
            ActionKind::StartWorkflow => {
                let start = action.start_workflow.as_ref().ok_or_else(missing)?;
                let (deed, input) = self.begin(action, start)?;
                let run =
                    ExecutionId::of_event(self.publication.task, self.seq, &definition.name, at);
                (run, deed, input)
            }
            ActionKind::CompleteTask => {
                let task = action.complete_task.as_ref().ok_or_else(missing)?;
                self.answer(action, task, TaskResultStatus::Completed)?
            }
            ActionKind::FailTask => {
                let task = action.fail_task.as_ref().ok_or_else(missing)?;
                self.answer(action, task, TaskResultStatus::Failed)?
            }
            ActionKind::TerminateWorkflow => {
                let end = action.terminate_workflow.as_ref().ok_or_else(missing)?;
                let heard = self.heard(action.expand_inline_json);
                let reason = end.termination_reason.as_deref().and_then(|text| heard.text(text));
                (target(heard, &end.workflow_id)?, Deed::Terminate { reason }, Payload::empty())
            }
            ActionKind::UpdateWorkflowVariables => {
                let update = action.update_workflow_variables.as_ref().ok_or_else(missing)?;
                let heard = self.heard(action.expand_inline_json);
                let variables = heard.object(&update.variables, &[]);
                let deed = Deed::SetVariables { append: update.append_array };
                (target(heard, &update.workflow_id)?, deed, variables)
            }
        };
        if payload.len() > PAYLOAD_BYTES_MAX {
            let bytes = payload.len();
            return Err(format!("its data would take {bytes} bytes, over {PAYLOAD_BYTES_MAX}"));
        }
        let message = Message::Handled(Box::new(Handled {
            handler: definition.name.clone(),
            event: self.event.to_owned(),
            message: self.publication.task,
            deed,
            payload: Slot(0),
        }));
        Ok((to, Letter { message, payloads: vec![payload] }))
    }

    fn heard(&mut self, is_expanded: bool) -> &mut Heard {
        match is_expanded {
            true => self.expanded.get_or_insert_with(|| self.plain.expanded()),
            false => &mut self.plain,
        }
    }

    fn begin(&mut self, action: &Action, start: &StartAction) -> Result<(Deed, Payload), String> {
        let (event, message) = (self.event, self.publication.task.to_string());
        let depth = self.publication.depth;
        if depth > DEPTH_MAX {
            return Err(format!("{DEPTH_MAX} runs began each other at once; no more is begun"));
        }
        let heard = self.heard(action.expand_inline_json);
        let input = heard.object(&start.input, &about(event, &message));
        let correlation_id = start.correlation_id.as_deref();
        let correlation_id = correlation_id.and_then(|text| heard.key(text).ok());
        let key = start.idempotency_key.as_deref().filter(|key| !key.trim().is_empty());
        let key = key.map(|template| name_of(heard, "idempotencyKey", template));
        let idempotency_key = key.transpose()?.flatten();
        let name = heard.text(&start.name).unwrap_or_default();
        let domains = match &start.task_to_domain {
            Some(given) if !given.is_empty() => {
                let place = |task: &str| format!("taskToDomain.{task}");
                let domain = |(task, domain): (&String, &String)| {
                    let found = name_of(heard, &place(task), domain).transpose()?;
                    Some(found.map(|domain| (task.clone(), domain)))
                };
                given.iter().filter_map(domain).collect::<Result<_, _>>()?
            }
            Some(_) | None => {
                let brought = heard.field("taskToDomain").map(serde_json::from_value);
                brought.and_then(Result::ok).unwrap_or_default()
            }
        };
        let request = StartWorkflowRequest {
            name,
            version: start.version,
            correlation_id,
            task_to_domain: Some(domains),
            priority: start.priority.unwrap_or(0),
            idempotency_key,
            idempotency_strategy: start.idempotency_strategy,
            ..StartWorkflowRequest::default()
        };
        let violations = request.violations();
        if !violations.is_empty() {
            let sentences: Vec<_> = violations.into_iter().map(|it| it.message).collect();
            return Err(sentences.join(". "));
        }
        Ok((Deed::Begin { request: Box::new(request), depth }, input))
    }

    fn answer(
        &mut self,
        action: &Action,
        answer: &TaskAction,
        status: TaskResultStatus,
    ) -> Result<(ExecutionId, Deed, Payload), String> {
        let (event, message) = (self.event, self.publication.task.to_string());
        let heard = self.heard(action.expand_inline_json);
        let mut template = Map::new();
        for (field, text) in [
            ("workflowId", &answer.workflow_id),
            ("taskId", &answer.task_id),
            ("taskRefName", &answer.task_ref_name),
            ("reasonForIncompletion", &answer.reason_for_incompletion),
        ] {
            let text = text.iter().map(|text| (field.to_owned(), text.clone().into()));
            template.extend(text);
        }
        template.extend(answer.output.clone());
        let output = heard.object(&template, &about(event, &message));
        let to = target(heard, answer.workflow_id.as_deref().unwrap_or_default())?;
        let mut text = |text: &Option<String>| text.as_deref().and_then(|text| heard.text(text));
        let reason = text(&answer.reason_for_incompletion);
        let task = match text(&answer.task_id) {
            Some(id) => Some(id.parse().map_err(|_| format!("taskId {id} is no id"))?),
            None => None,
        };
        let written = answer.task_ref_name.as_deref().filter(|_| task.is_none());
        let reference = written.map(|written| name_of(heard, "taskRefName", written));
        let reference = reference.transpose()?.flatten();
        Ok((to, Deed::Answer { task, reference, status, reason }, output))
    }
}

/// What every start and every output says of its occasion.
fn about<'a>(event: &'a str, message: &'a str) -> [(&'static str, &'a str); 2] {
    [("conductor.event.messageId", message), ("conductor.event.name", event)]
}

/// A name that an action says; none: it says nothing. One that lacks a part names nothing.
fn name_of(heard: &mut Heard, place: &str, template: &str) -> Result<Option<String>, String> {
    if !is_computed(template) {
        return Ok(heard.text(template));
    }
    let told = |missing| format!("{place} is {template}, and {missing}");
    heard.key(template).map(Some).map_err(told)
}

fn target(heard: &mut Heard, template: &str) -> Result<ExecutionId, String> {
    let found = heard.text(template).ok_or_else(|| format!("workflowId {template} is empty"))?;
    found.parse().map_err(|_| format!("workflowId {found} is no id"))
}
