//! # START_WORKFLOW: begin a run and go on
//!
//! The start is keyed by the step's effect key, which neither a retry nor a rerun changes: asked
//! again, it finds the run it began. A key of its own is obeyed instead. The run may bring its own
//! definition.

use semel_model::{
    Digest, ExecutionId, IdempotencyStrategy, Payload, StartWorkflowRequest, TaskId, TaskStatus,
    Timestamp, WorkflowDef,
};
use serde_json::json;

use crate::change::Change;
use crate::decide::Stop;
use crate::event::Start;
use crate::execution::Execution;
use crate::failure::DEPTH_MAX;
use crate::record::RecordKey;
use crate::start_key::{Standing, judge};
use crate::tasks::given_definition::marked_dynamic;
use crate::turn::Turn;

/// A run this old has done something of its own.
const LIVED_MS: i64 = 1_000;

impl Turn<'_> {
    pub(crate) fn begin_start(&mut self, id: TaskId) -> Result<(), Stop> {
        self.starts += 1;
        match self.start_run(id)? {
            Ok(run) => {
                let output = Payload::from_value(&json!({"workflowId": run.to_string()}));
                self.end_system(id, TaskStatus::Completed, output, None);
            }
            Err(reason) => {
                self.end_system(id, TaskStatus::Failed, Payload::empty(), Some(reason));
            }
        }
        Ok(())
    }

    /// The inner error is the task's: it fails with that reason.
    fn start_run(&mut self, id: TaskId) -> Result<Result<ExecutionId, String>, Stop> {
        let task = self.execution().expect_task(id).clone();
        let (request, own) = match request(&task.input) {
            Ok(request) => request,
            Err(why) => return Ok(Err(why)),
        };
        let name = own.as_ref().map_or(&request.name, |own| &own.name).clone();
        let depth = self.execution().depth_of_successor(self.now());
        if depth > DEPTH_MAX {
            return Ok(Err(format!("{DEPTH_MAX} runs began each other at once; no more is begun")));
        }
        let given = request.idempotency_key.clone().filter(|key| !key.trim().is_empty());
        let (key, strategy) = match given {
            Some(key) => (key, request.idempotency_strategy.unwrap_or(IdempotencyStrategy::Fail)),
            None => {
                let key = self.execution().effect_key(&task.reference);
                (key, IdempotencyStrategy::ReturnExisting)
            }
        };
        let record = RecordKey::start(&name, &key);
        let run = ExecutionId::of_start(id, self.seq());
        let mut replaces = None;
        match judge(self.claim(&record)?, strategy) {
            Standing::Create => {}
            Standing::Replace(found) => replaces = Some(found),
            // Whether it is still kept or not: it has been started.
            Standing::Existing(found) | Standing::Gone(found) => return Ok(Ok(found)),
            Standing::Conflict(found) => {
                return Ok(Err(format!("a run exists under idempotencyKey {key}: {found}")));
            }
        }
        let is_own = own.is_some();
        let definition = match own {
            Some(own) => self.pin_given(own, run, &request.input)?,
            None => self.named_definition(&name, request.version)?,
        };
        let definition = match definition {
            Ok(definition) => definition,
            Err(why) => return Ok(Err(why)),
        };
        let input = if is_own { marked_dynamic(&request.input) } else { request.input };
        if let Some(why) = self.refusal(run, definition, &input) {
            return Ok(Err(why));
        }
        self.take_key(record, run);
        let execution = self.execution();
        let correlation = request.correlation_id.filter(|text| !text.is_empty());
        let domains = request.task_to_domain.filter(|map| !map.is_empty());
        let start = Start {
            definition,
            correlation_id: correlation.or_else(|| execution.correlation_id().map(str::to_owned)),
            priority: request.priority,
            task_to_domain: domains.unwrap_or_else(|| execution.task_to_domain().clone()),
            idempotency_key: Some(key),
            created_by: request.created_by,
            replaces,
            parent: None,
            born: true,
            depth,
            traceparent: execution.traceparent(),
            event: None,
            under: Vec::new(),
            input: self.store(input),
        };
        self.emit(Change::RunCreated { run, start: Box::new(start) });
        Ok(Ok(run))
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
    let own = request.workflow_def.take();
    let violations = request.violations();
    if violations.is_empty() {
        return Ok((request, own));
    }
    let sentences: Vec<_> = violations.into_iter().map(|violation| violation.message).collect();
    Err(sentences.join(". "))
}
