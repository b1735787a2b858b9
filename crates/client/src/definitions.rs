//! # Definitions of workflows and tasks
//!
//! They are sent as the text they were written in: what a client does not know is not lost.

use semel_model::{BulkResponse, TaskDef, WorkflowDef};
use serde_json::Value;

use crate::answer::Answer;
use crate::call::Call;
use crate::client::Client;
use crate::error::ClientError;

impl Client {
    pub fn workflow_definitions(&self) -> Result<Answer<Vec<WorkflowDef>>, ClientError> {
        self.send(Call::get("api/metadata/workflow"))
    }

    /// That version, else the latest.
    pub fn workflow_definition(
        &self,
        name: &str,
        version: Option<i32>,
    ) -> Result<Answer<WorkflowDef>, ClientError> {
        self.send(Call::get("api/metadata/workflow").name(name).query_if("version", version))
    }

    /// Registers one definition; a conflict if it exists, unless it may be overwritten.
    pub fn create_workflow_definition(
        &self,
        definition: &str,
        overwrite: bool,
    ) -> Result<Answer<()>, ClientError> {
        let call = Call::post("api/metadata/workflow").query("overwrite", overwrite);
        self.send(call.json_text(definition))
    }

    /// Writes a list of definitions over what is there; all or none.
    pub fn update_workflow_definitions(
        &self,
        definitions: &str,
    ) -> Result<Answer<BulkResponse>, ClientError> {
        self.send(Call::put("api/metadata/workflow").json_text(definitions))
    }

    pub fn delete_workflow_definition(
        &self,
        name: &str,
        version: i32,
    ) -> Result<Answer<()>, ClientError> {
        self.send(Call::delete("api/metadata/workflow").name(name).name(version))
    }

    /// What is likely to go wrong with them, by the server's own task definitions.
    pub fn lint(&self, definitions: &str) -> Result<Answer<Value>, ClientError> {
        self.send(Call::post("api/lint").json_text(definitions))
    }

    pub fn task_definitions(&self) -> Result<Answer<Vec<TaskDef>>, ClientError> {
        self.send(Call::get("api/metadata/taskdefs"))
    }

    pub fn task_definition(&self, name: &str) -> Result<Answer<TaskDef>, ClientError> {
        self.send(Call::get("api/metadata/taskdefs").name(name))
    }

    /// Writes a list of definitions over what is there; all or none.
    pub fn create_task_definitions(&self, definitions: &str) -> Result<Answer<()>, ClientError> {
        self.send(Call::post("api/metadata/taskdefs").json_text(definitions))
    }

    /// Replaces one that exists.
    pub fn update_task_definition(&self, definition: &str) -> Result<Answer<()>, ClientError> {
        self.send(Call::put("api/metadata/taskdefs").json_text(definition))
    }

    pub fn delete_task_definition(&self, name: &str) -> Result<Answer<()>, ClientError> {
        self.send(Call::delete("api/metadata/taskdefs").name(name))
    }
}
