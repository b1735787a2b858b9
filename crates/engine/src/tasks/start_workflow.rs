//! # START_WORKFLOW: begin a run and go on
//!
//! The start is keyed by the step's effect key, which neither a retry nor a rerun changes: asked
//! again, it finds the run it began. A key of its own is obeyed instead. The run may bring its own
//! definition.

use std::ops::ControlFlow;

use semel_model::{
    Digest, ExecutionId, IdempotencyStrategy, Payload, StartWorkflowRequest, TaskId, TaskStatus,
    Timestamp, WorkflowDef,
};
use serde_json::json;

use crate::change::Change;
use crate::decide::Stop;
use crate::event::Start;
use crate::execution::Execution;
use crate::expression::{is_unfinished, shown};
use crate::facts::Claim;
use crate::failure::DEPTH_MAX;
use crate::record::RecordKey;
use crate::start_key::{Standing, judge};
use crate::step_start::{Asked, Payloads, Ruling, Turned, mismatch};
use crate::tasks::given_definition::{Rules, marked_dynamic};
use crate::turn::Turn;

/// A run this old has done something of its own.
const LIVED_MS: i64 = 1_000;

/// The run that stands for the step, and what else its output says.
struct Begun {
    run: ExecutionId,
    mark: Option<&'static str>,
}

/// Why no run stands for the step.
struct Failed {
    reason: String,
    for_good: bool,
}

impl Failed {
    fn mismatch(key: &str, existing: ExecutionId) -> Self {
        Self { reason: mismatch(key, existing), for_good: true }
    }
}

impl From<String> for Failed {
    fn from(reason: String) -> Self {
        Self { reason, for_good: false }
    }
}

impl Turn<'_> {
    pub(crate) fn begin_start(&mut self, id: TaskId) -> Result<(), Stop> {
        self.starts += 1;
        let (status, output, reason) = match self.start_run(id)? {
            Ok(Begun { run, mark }) => {
                let mut output = json!({"workflowId": run.to_string()});
                if let (Some(mark), Some(fields)) = (mark, output.as_object_mut()) {
                    fields.insert(mark.to_owned(), json!(true));
                }
                (TaskStatus::Completed, Payload::from_value(&output), None)
            }
            Err(Failed { reason, for_good: true }) => {
                (TaskStatus::FailedWithTerminalError, Payload::empty(), Some(reason))
            }
            Err(Failed { reason, for_good: false }) => {
                (TaskStatus::Failed, Payload::empty(), Some(reason))
            }
        };
        self.end_system(id, status, output, reason);
        Ok(())
    }

    /// The inner error is the task's.
    fn start_run(&mut self, id: TaskId) -> Result<Result<Begun, Failed>, Stop> {
        let task = self.execution().expect_task(id).clone();
        let (request, own) = match request(&task.input) {
            Ok(request) => request,
            Err(why) => return Ok(Err(why.into())),
        };
        let name = own.as_ref().map_or(&request.name, |own| &own.name).clone();
        let depth = self.execution().depth_of_successor(self.now());
        if depth > DEPTH_MAX {
            let why = format!("{DEPTH_MAX} runs began each other at once; no more is begun");
            return Ok(Err(why.into()));
        }
        let run = ExecutionId::of_start(id, self.seq());
        let is_own = own.is_some();
        let input = if is_own { marked_dynamic(&request.input) } else { request.input.clone() };
        let wanted = self.wanted(&request, depth);
        let asked = Asked {
            name: &name,
            version: request.version,
            own: own.as_ref(),
            start: &wanted,
            input: &input,
            is_keyed: true,
        };
        let ruling = self.ruling(run, &asked)?;
        let (key, strategy) = match key_of(&request, &ruling) {
            Ok(Some(key)) => key,
            Ok(None) => {
                let key = self.execution().effect_key(&task.reference);
                (key, IdempotencyStrategy::ReturnExisting)
            }
            Err(why) => return Ok(Err(why.into())),
        };
        let record = RecordKey::start(&name, &key);
        let replaces = match stands(self.claim(&record)?, strategy, &ruling, &key) {
            ControlFlow::Continue(replaces) => replaces,
            ControlFlow::Break(settled) => return Ok(settled),
        };
        let definition = match own {
            Some(own) => self.pin_given(own, run, &request.input, Rules::OfRegistration)?,
            None => self.named_definition(&name, request.version)?,
        };
        let definition = match definition {
            Ok(definition) => definition,
            Err(why) => return Ok(Err(why.into())),
        };
        if let Some(why) = self.refusal(run, definition, &input) {
            return Ok(Err(why.into()));
        }
        if let Some(reason) = self.no_room_for_descendant(&name)? {
            return Ok(Err(Failed { reason, for_good: true }));
        }
        match self.turned_away(run, &name, ruling.gate.clone(), replaces)? {
            None => {}
            Some(Turned::Skipped(run)) => return Ok(Ok(Begun { run, mark: Some("skipped") })),
            Some(Turned::Refused(why)) => return Ok(Err(why.into())),
        }
        self.take_key(record, Claim { fingerprint: ruling.fingerprint, ..Claim::live(run) });
        let input = self.store(input);
        let start = Start { definition, idempotency_key: Some(key), replaces, input, ..wanted };
        self.emit(Change::RunCreated { run, start: Box::new(start) });
        Ok(Ok(Begun { run, mark: None }))
    }

    /// What the run is to be begun with, but for its definition, its key and its input.
    fn wanted(&self, request: &StartWorkflowRequest, depth: u32) -> Start {
        let execution = self.execution();
        let correlation = request.correlation_id.clone().filter(|text| !text.is_empty());
        let domains = request.task_to_domain.clone().filter(|map| !map.is_empty());
        Start {
            correlation_id: correlation.or_else(|| execution.correlation_id().map(str::to_owned)),
            priority: request.priority,
            task_to_domain: domains.unwrap_or_else(|| execution.task_to_domain().clone()),
            created_by: request.created_by.clone(),
            born: true,
            depth,
            root: Some(execution.root()),
            traceparent: execution.traceparent(),
            ..Start::default()
        }
    }

    /// What is registered by that name, pinned. The inner error says that nothing is.
    pub(super) fn named_definition(
        &mut self,
        name: &str,
        version: Option<i32>,
    ) -> Result<Result<Digest, String>, Stop> {
        let found = self.registered(name, version)?;
        let version = version.map_or("null".to_owned(), |version| version.to_string());
        let missing = || format!("No such workflow defined. name={name}, version={version}");
        Ok(found.map(|found| found.definition).ok_or_else(missing))
    }
}

impl Execution {
    /// A run that has lived for a while may begin its successor, and that one its own, for ever.
    /// Runs that do so at once are a definition that calls itself.
    pub(crate) fn depth_of_successor(&self, now: Timestamp) -> u32 {
        let age_ms = now.since_ms(self.started_at());
        if age_ms >= LIVED_MS { 0 } else { self.run().depth + 1 }
    }
}

/// What a run that exists under the key means for the step; else it begins one, perhaps in the place
/// of another.
fn stands(
    found: Option<Claim>,
    strategy: IdempotencyStrategy,
    ruling: &Ruling,
    key: &str,
) -> ControlFlow<Result<Begun, Failed>, Option<ExecutionId>> {
    let compared = ruling.compare(found);
    ControlFlow::Break(match judge(found, strategy) {
        Standing::Create => return ControlFlow::Continue(None),
        Standing::Replace(run) => return ControlFlow::Continue(Some(run)),
        Standing::Existing(run) | Standing::Gone(run) | Standing::Conflict(run)
            if compared == Payloads::Refused =>
        {
            Err(Failed::mismatch(key, run))
        }
        // Whether it is still kept or not: it has been started.
        Standing::Existing(run) | Standing::Gone(run) => {
            let is_flagged = compared == Payloads::Flagged;
            Ok(Begun { run, mark: is_flagged.then_some("payloadMismatch") })
        }
        Standing::Conflict(run) => {
            Err(format!("a run exists under idempotencyKey {key}: {run}").into())
        }
    })
}

/// The key that the step brings or its definition computes, and what to do when it is taken.
fn key_of(
    request: &StartWorkflowRequest,
    ruling: &Ruling,
) -> Result<Option<(String, IdempotencyStrategy)>, String> {
    let given = request.idempotency_key.clone().filter(|key| !key.trim().is_empty());
    let said = request.idempotency_strategy;
    if let Some(key) = given {
        let strategy = said.or(ruling.strategy).unwrap_or(IdempotencyStrategy::Fail);
        return Ok(Some((key, strategy)));
    }
    if let Some(why) = &ruling.fault {
        return Err(why.clone());
    }
    let strategy = ruling.strategy.or(said).unwrap_or(IdempotencyStrategy::ReturnExisting);
    Ok(ruling.key.clone().map(|key| (key, strategy)))
}

/// The request, and the definition it brings. That one is looked at when what is registered is known.
fn request(input: &Payload) -> Result<(StartWorkflowRequest, Option<WorkflowDef>), String> {
    #[derive(serde::Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct Wanted {
        #[serde(default)]
        start_workflow: Option<StartWorkflowRequest>,
    }
    let wanted: Wanted = serde_json::from_str(input.text())
        .map_err(|error| format!("'startWorkflow' is no start request: {error}"))?;
    let mut request = wanted.start_workflow.ok_or("Missing 'startWorkflow' in input data.")?;
    if is_unfinished(input) {
        // Texts that mean something here are read as they are; the run reads its input itself.
        let shown = serde_json::from_str::<Wanted>(shown(input).text()).ok();
        if let Some(shown) = shown.and_then(|wanted| wanted.start_workflow) {
            let StartWorkflowRequest { input, workflow_def, .. } = request;
            request = StartWorkflowRequest { input, workflow_def, ..shown };
        }
    }
    // Expressions in it were those of the step; whatever looks like one now came as data.
    let own = request.workflow_def.take();
    let own = own.map(|own| WorkflowDef { came_as_data: true, ..own });
    let violations = request.violations();
    if violations.is_empty() {
        return Ok((request, own));
    }
    let sentences: Vec<_> = violations.into_iter().map(|violation| violation.message).collect();
    Err(sentences.join(". "))
}
