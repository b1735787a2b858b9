//! # Executions: started, looked at, steered

use std::time::Duration;

use semel_model::{
    ExecutionId, Explanation, Payload, StartWorkflowRequest, Workflow, WorkflowState,
};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::answer::Answer;
use crate::call::Call;
use crate::client::Client;
use crate::error::ClientError;

/// On top of the time a call may wait at the server.
const MARGIN: Duration = Duration::from_secs(30);

/// How long a start may wait for its run.
#[derive(Debug, Clone, Default)]
pub struct Synchronous {
    pub request_id: String,
    pub wait_seconds: u32,
    /// Steps of which one must end, comma separated.
    pub until: Option<String>,
}

#[derive(Debug, Clone, Default)]
pub struct Search {
    pub query: Option<String>,
    pub text: Option<String>,
    pub sort: Option<String>,
    /// Only runs that were started under this key.
    pub key: Option<String>,
    pub start: u32,
    pub size: u32,
}

/// A page of what was found; rows have the fields the server gives them.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct SearchPage {
    #[serde(default)]
    pub total_hits: u64,
    #[serde(default)]
    pub results: Vec<Value>,
}

/// From where, and with what, a run is done again.
#[derive(Debug, Clone, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Rerun {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub re_run_from_task_id: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub workflow_input: Option<Payload>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub task_input: Option<Payload>,
    /// Do again what was done once.
    pub redo_effects: bool,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Skip<'a> {
    task_input: &'a Payload,
    task_output: &'a Payload,
}

impl Client {
    /// The id is the text; with a key, `X-Idempotency-Outcome` says whether the run is new.
    pub fn start(&self, request: &StartWorkflowRequest) -> Result<Answer<()>, ClientError> {
        self.send(Call::post("api/workflow").json(request)?)
    }

    /// Starts, and waits for the end, a WAIT or one of the named steps.
    pub fn execute(
        &self,
        request: &StartWorkflowRequest,
        waiting: &Synchronous,
    ) -> Result<Answer<Value>, ClientError> {
        let call = Call::post("api/workflow/execute").name(&request.name);
        let call = call.name(request.version.unwrap_or(0)).query("requestId", &waiting.request_id);
        let call = call.query("waitForSeconds", waiting.wait_seconds);
        let call = call.query_if("waitUntilTaskRef", waiting.until.as_ref());
        let within = Duration::from_secs(waiting.wait_seconds.into()) + MARGIN;
        self.send(call.json(request)?.within(within))
    }

    /// The header `X-Workflow-Parked` says why it was set aside, if it was.
    pub fn workflow(&self, id: &str) -> Result<Answer<Workflow>, ClientError> {
        self.send(Call::get("api/workflow").name(id))
    }

    pub fn workflow_status(&self, id: &str) -> Result<Answer<WorkflowState>, ClientError> {
        self.send(Call::get("api/workflow").name(id).name("status"))
    }

    /// Why a run waits, or how it ended.
    pub fn explain(&self, id: &str) -> Result<Answer<Explanation>, ClientError> {
        self.send(Call::get("api/workflow").name(id).name("explain"))
    }

    pub fn search(&self, search: &Search) -> Result<Answer<SearchPage>, ClientError> {
        let call = Call::get("api/workflow/search").query("start", search.start);
        let call = call.query("size", search.size).query_if("query", search.query.as_ref());
        let call = call.query_if("idempotencyKey", search.key.as_ref());
        let text = search.text.as_deref().unwrap_or("*");
        self.send(call.query("freeText", text).query_if("sort", search.sort.as_ref()))
    }

    pub fn terminate(&self, id: &str, reason: Option<&str>) -> Result<Answer<()>, ClientError> {
        self.send(Call::delete("api/workflow").name(id).query_if("reason", reason))
    }

    pub fn pause(&self, id: &str) -> Result<Answer<()>, ClientError> {
        self.send(Call::put("api/workflow").name(id).name("pause"))
    }

    pub fn resume(&self, id: &str) -> Result<Answer<()>, ClientError> {
        self.send(Call::put("api/workflow").name(id).name("resume"))
    }

    /// Tries again what failed; or, if wanted, the failed run below it alone.
    pub fn retry(
        &self,
        id: &str,
        resume_subworkflows: bool,
        redo_effects: bool,
    ) -> Result<Answer<()>, ClientError> {
        let call = Call::post("api/workflow").name(id).name("retry");
        let call = call.query("resumeSubworkflowTasks", resume_subworkflows);
        self.send(call.query("redoEffects", redo_effects))
    }

    pub fn restart(
        &self,
        id: &str,
        latest: bool,
        redo_effects: bool,
    ) -> Result<Answer<()>, ClientError> {
        let call = Call::post("api/workflow").name(id).name("restart");
        let call = call.query("useLatestDefinitions", latest);
        self.send(call.query("redoEffects", redo_effects))
    }

    pub fn rerun(&self, id: &str, rerun: &Rerun) -> Result<Answer<()>, ClientError> {
        self.send(Call::post("api/workflow").name(id).name("rerun").json(rerun)?)
    }

    pub fn skip_task(
        &self,
        id: &str,
        reference: &str,
        input: &Payload,
        output: &Payload,
    ) -> Result<Answer<()>, ClientError> {
        let call = Call::put("api/workflow").name(id).name("skiptask").name(reference);
        self.send(call.json(&Skip { task_input: input, task_output: output })?)
    }

    pub fn jump(
        &self,
        id: &str,
        reference: &str,
        input: &Payload,
    ) -> Result<Answer<()>, ClientError> {
        let call = Call::post("api/workflow").name(id).name("jump").name(reference);
        self.send(call.json_text(input.text()))
    }

    /// Nothing of it is left. A run that goes on ends first.
    pub fn remove(&self, id: &str) -> Result<Answer<()>, ClientError> {
        self.send(Call::delete("api/workflow").name(id).name("remove"))
    }

    /// Lets a run go on that was set aside after a fault.
    pub fn unpark(&self, id: &str) -> Result<Answer<()>, ClientError> {
        self.send(Call::delete("api/workflow").name(id).name("parked"))
    }

    /// A name for one request, drawn at random.
    pub fn request_id() -> String {
        ExecutionId::draw().to_string()
    }
}
