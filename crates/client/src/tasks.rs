//! # Tasks and their queues

use std::collections::BTreeMap;

use semel_model::{Payload, PollData, Task, TaskExecLog, TaskResult, TaskResultStatus};

use crate::answer::Answer;
use crate::call::Call;
use crate::client::Client;
use crate::error::ClientError;
use crate::workflows::SearchPage;

/// What a worker asks for.
#[derive(Debug, Clone, Default)]
pub struct Poll {
    pub task_type: String,
    pub count: u32,
    pub worker: Option<String>,
    pub domain: Option<String>,
    pub wait_ms: Option<u32>,
}

/// What somebody says of a task.
#[derive(Clone, Copy, Debug)]
pub struct Said<'a> {
    pub status: TaskResultStatus,
    pub output: &'a Payload,
    pub worker: Option<&'a str>,
}

impl Client {
    /// Takes tasks that wait, as a worker does.
    pub fn poll(&self, poll: &Poll) -> Result<Answer<Vec<Task>>, ClientError> {
        let call = Call::get("api/tasks/poll/batch").name(&poll.task_type);
        let call = call.query("count", poll.count).query_if("workerid", poll.worker.as_ref());
        self.send(call.query_if("domain", poll.domain.as_ref()).query_if("timeout", poll.wait_ms))
    }

    /// The task's id is the text; whether it counted is in the header `X-Task-Update`.
    pub fn report(&self, result: &TaskResult) -> Result<Answer<()>, ClientError> {
        self.send(Call::post("api/tasks").json(result)?)
    }

    /// Reports on the open task of a step; the text is empty if there is none.
    pub fn report_by_reference(
        &self,
        workflow: &str,
        reference: &str,
        said: &Said<'_>,
        force: bool,
    ) -> Result<Answer<()>, ClientError> {
        let call = Call::post("api/tasks").name(workflow).name(reference).name(said.status);
        let call = call.query_if("workerid", said.worker).query_if("force", force.then_some(true));
        self.send(call.json_text(said.output.text()))
    }

    /// Ends the first WAIT that a workflow, or a run below it, stands at.
    pub fn signal(
        &self,
        workflow: &str,
        status: TaskResultStatus,
        output: &Payload,
    ) -> Result<Answer<()>, ClientError> {
        let call = Call::post("api/tasks").name(workflow).name(status).name("signal");
        self.send(call.json_text(output.text()))
    }

    /// Oldest first; the text is empty if nobody wrote any.
    pub fn logs(&self, task: &str) -> Result<Answer<Vec<TaskExecLog>>, ClientError> {
        self.send(Call::get("api/tasks").name(task).name("log"))
    }

    pub fn log(&self, task: &str, line: &str) -> Result<Answer<()>, ClientError> {
        self.send(Call::post("api/tasks").name(task).name("log").text(line))
    }

    /// How much waits in every queue.
    pub fn queues(&self) -> Result<Answer<BTreeMap<String, u64>>, ClientError> {
        self.send(Call::get("api/tasks/queue/all"))
    }

    /// How much waits for workers of these types.
    pub fn queue_sizes(
        &self,
        task_types: &[String],
    ) -> Result<Answer<BTreeMap<String, u64>>, ClientError> {
        let call = Call::get("api/tasks/queue/sizes");
        self.send(task_types.iter().fold(call, |call, name| call.query("taskType", name)))
    }

    /// Who polled for this type last, one line per domain.
    pub fn poll_data(&self, task_type: &str) -> Result<Answer<Vec<PollData>>, ClientError> {
        self.send(Call::get("api/tasks/queue/polldata").query("taskType", task_type))
    }

    /// Tasks of all workflows, by the query grammar.
    pub fn search_tasks(&self, query: &str, size: u32) -> Result<Answer<SearchPage>, ClientError> {
        let call = Call::get("api/tasks/search").query("query", query);
        self.send(call.query("start", 0).query("size", size))
    }
}
