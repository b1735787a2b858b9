//! # Failure workflows: what runs when a run has failed
//!
//! Created in the commit that ends the run, under an id derived from that entry: once per
//! unsuccessful end, neither twice nor never.

use std::sync::Arc;

use semel_model::{ExecutionId, Payload, TaskId, Workflow, WorkflowStatus};
use serde::Serialize;
use serde_json::Value;

use crate::change::Change;
use crate::decide::Stop;
use crate::event::Start;
use crate::expression::{disarmed, merged};
use crate::facts::Registered;
use crate::turn::{PAYLOAD_BYTES_MAX, Turn};
use crate::view;

/// Runs inside runs, and runs after failed runs: a chain this long is a definition that calls itself.
pub(crate) const DEPTH_MAX: u32 = 100;

/// What a failure workflow counts in such a chain: its input holds all that led to it.
const FAILURE_DEPTH: u32 = 10;

pub(crate) enum FailureRun {
    Found {
        run: ExecutionId,
        registered: Registered,
    },
    /// Why there is none.
    Missing(String),
}

impl FailureRun {
    /// What the output of the failed run says.
    pub(crate) fn note(&self) -> String {
        match self {
            Self::Found { run, .. } => run.to_string(),
            Self::Missing(why) => why.clone(),
        }
    }
}

impl Turn<'_> {
    /// The run that is to follow this one's failure, if its definition names one.
    pub(crate) fn failure_run(&mut self) -> Result<Option<FailureRun>, Stop> {
        let definition = Arc::clone(self.execution().definition().definition());
        let Some(written) = definition.failure_workflow.as_deref().filter(|it| !it.is_empty())
        else {
            return Ok(None);
        };
        let missing = |why: String| {
            let note = format!("The failure workflow {written} was not started: {why}");
            Ok(Some(FailureRun::Missing(note)))
        };
        let Some(name) = self.failure_name(written) else {
            return missing("the input names no workflow there".to_owned());
        };
        if self.execution().run().depth >= DEPTH_MAX {
            return missing(format!("{DEPTH_MAX} runs have led to this one"));
        }
        let version = definition.failure_workflow_version;
        let Some(registered) = self.registered(&name, version)? else {
            let version = version.map_or("null".to_owned(), |version| version.to_string());
            return missing(format!("No such workflow defined. name={name}, version={version}"));
        };
        let run = ExecutionId::of_failure(self.execution().id(), self.seq());
        Ok(Some(FailureRun::Found { run, registered }))
    }

    /// A name, `${workflow.input.x}`, or Conductor's older `$workflow.input.x`.
    fn failure_name(&mut self, written: &str) -> Option<String> {
        let Some(path) = written.strip_prefix('$') else { return Some(written.to_owned()) };
        let template = match path.starts_with('{') {
            true => written.to_owned(),
            false => format!("${{{path}}}"),
        };
        let found = self.resolve_value(&Value::String(template), None);
        found.as_str().filter(|name| !name.is_empty()).map(str::to_owned)
    }

    pub(crate) fn start_failure_run(&mut self, found: FailureRun) {
        let FailureRun::Found { run, registered } = found else { return };
        let input = self.failure_input();
        let input = self.store(input);
        let execution = self.execution();
        let start = Start {
            definition: registered.definition,
            input,
            correlation_id: execution.correlation_id().map(str::to_owned),
            task_to_domain: execution.task_to_domain().clone(),
            born: true,
            depth: execution.run().depth + FAILURE_DEPTH,
            traceparent: execution.traceparent(),
            ..Start::default()
        };
        self.emit(Change::RunCreated { run, start: Box::new(start) });
    }

    /// The failed run's input, and over it what became of that run.
    fn failure_input(&self) -> Payload {
        let execution = self.execution();
        let with = |tasks| {
            let failed = Failed {
                workflow_id: execution.id(),
                reason: execution.reason(),
                failure_status: execution.status(),
                failure_task_id: execution.failed_task(),
                failed_workflow: view::workflow(execution, tasks),
            };
            let text = serde_json::to_string(&failed).expect("a view is plain data");
            let failed = Payload::from_text(text).expect("what was just written is JSON");
            // A view shows data as it came; what is stored tells it from expressions.
            merged(execution.input(), &disarmed(&failed))
        };
        // What would be too large leaves out the tasks of the failed run.
        let whole = Some(with(true)).filter(|input| input.len() <= PAYLOAD_BYTES_MAX);
        whole.unwrap_or_else(|| with(false))
    }
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Failed<'a> {
    workflow_id: ExecutionId,
    reason: Option<&'a str>,
    failure_status: Option<WorkflowStatus>,
    #[serde(skip_serializing_if = "Option::is_none")]
    failure_task_id: Option<TaskId>,
    failed_workflow: Workflow,
}
