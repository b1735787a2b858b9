//! # Scope: what `workflow.` and `<reference>.` offer
//!
//! The root of every path. Only what is asked for is built: a path into an input never touches the
//! output, and no other task. **May use:** the execution and the facts of the turn. **May not:** the
//! server's environment; names from there come with the facts or not at all.

use std::sync::Arc;

use semel_model::{Payload, RUN_FIELDS, TASK_FIELDS, TaskId, WorkflowStatus};
use serde_json::json;

use super::json::{Json, Object};
use super::origin::Origin;
use super::path::Path;
use super::resolve::{Reading, Resolve};
use crate::task::Task;
use crate::turn::Turn;
use crate::view::callback_after_seconds;

/// A document that is read at most once per turn, however many expressions look inside.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Source {
    RunInput,
    RunOutput,
    Variables,
    TaskInput(TaskId),
    TaskOutput(TaskId),
}

impl Resolve for Turn<'_> {
    fn reading(&mut self) -> &mut Reading {
        &mut self.reading
    }

    /// The whole path as a name of its own, not a path: what does not belong to the run.
    fn named(&mut self, name: &str, task: Option<TaskId>) -> Option<Json> {
        if name.starts_with("NETFLIX_") {
            if !self.may_read(Origin::Environment, true, task) {
                return Some(Json::Null);
            }
            return self.environment_value(name).map(|value| Json::String(value.into()));
        }
        self.system_parameter(name, task).map(|value| Json::written(&value))
    }

    fn is_data(&self, task: Option<TaskId>) -> bool {
        self.fork_around(task).is_some()
    }

    /// A step that came as data reads its run and the tasks of its own fork. The environment is for
    /// expressions that a registered definition has written.
    fn may_read(&self, origin: Origin<'_>, is_written: bool, task: Option<TaskId>) -> bool {
        let execution = self.execution();
        let fork = self.fork_around(task);
        let may_read = match origin {
            Origin::Environment => {
                fork.is_none() && !execution.definition().definition().came_as_data
            }
            Origin::Run => true,
            Origin::Task(reference) => {
                let is_near = || execution.newest(reference).is_some_and(|task| task.fork == fork);
                fork.is_none() || is_near()
            }
        };
        is_written && may_read
    }

    /// The document a path starts in, and how many of its steps led there. A path has to begin with
    /// a name: one that would look at every task of the run finds nothing.
    fn root(&mut self, path: &Path) -> (Option<Arc<Json>>, usize) {
        let name = |at: usize| path.name(at);
        match (name(0), name(1)) {
            (Some("workflow"), Some("env")) => {
                let is_inside = path.steps.len() > 3;
                let value = name(2).map(|name| self.environment(name, is_inside));
                value.map_or((None, 2), |value| (value, 3))
            }
            (Some(head), Some("output")) if let Some(found) = self.of_loop(head, name(2)) => {
                (Some(found), 2)
            }
            (Some(head), Some(field)) => (self.field(head, field), 2),
            (Some(head), None) => (self.fields(head), 1),
            // `concat($.a, $.b)`: a function of its arguments alone.
            (None, _) if path.steps.is_empty() && path.call.is_some() => {
                (Some(Arc::new(Json::Null)), 0)
            }
            (None, _) => (None, 0),
        }
    }
}

impl Turn<'_> {
    /// The dynamic fork that brought the step of that task.
    fn fork_around(&self, task: Option<TaskId>) -> Option<TaskId> {
        let id = task?;
        let upcoming = self.upcoming.as_ref().filter(|it| it.id == id);
        match upcoming {
            Some(upcoming) => upcoming.fork,
            None => self.execution().task(id)?.fork,
        }
    }

    fn field(&mut self, head: &str, field: &str) -> Option<Arc<Json>> {
        if head == "workflow" {
            return self.run_field(field);
        }
        let task = Arc::clone(self.execution().newest(head)?);
        self.task_field(&task, field)
    }

    /// Of a loop that is still going on, no more is put together than a path asks for: its item and
    /// its number, or one of its turns.
    fn of_loop(&mut self, head: &str, wanted: Option<&str>) -> Option<Arc<Json>> {
        let task = Arc::clone(self.execution().newest(head)?);
        let wanted = wanted.filter(|_| task.as_loop().is_some() && !task.status.is_terminal())?;
        let execution = self.execution();
        let found = match wanted.parse() {
            Ok(turn) if execution.turns.contains_key(&(task.id, turn)) => {
                (wanted, execution.turn_output(&task, turn).text().to_owned())
            }
            Ok(_) => return None,
            Err(_) => execution.loop_head(&task).into_iter().find(|(key, _)| *key == wanted)?,
        };
        let value = Json::read(&Payload::from_text(found.1).ok()?);
        self.spending(|budget| budget.spend(value.size().nodes))?;
        Some(Arc::new(Json::Object([(wanted.to_owned(), value)].into_iter().collect())))
    }

    /// All fields in one object: `${workflow}`, `${ref.*}`.
    fn fields(&mut self, head: &str) -> Option<Arc<Json>> {
        let names: &[&str] = if head == "workflow" { &RUN_FIELDS } else { &TASK_FIELDS };
        let mut fields = Vec::with_capacity(names.len());
        for name in names {
            let value = self.field(head, name)?;
            self.spending(|budget| budget.spend(value.size().nodes))?;
            fields.push(((*name).to_owned(), Arc::unwrap_or_clone(value)));
        }
        Some(Arc::new(Json::Object(fields.into_iter().collect::<Object>())))
    }

    fn run_field(&mut self, field: &str) -> Option<Arc<Json>> {
        let execution = self.execution();
        let definition = execution.definition().definition();
        let value = match field {
            "input" => return Some(self.document(Source::RunInput)),
            "output" => return Some(self.document(Source::RunOutput)),
            "variables" => return Some(self.document(Source::Variables)),
            "workflowId" => json!(execution.id().to_string()),
            "status" => json!(self.ending.or(execution.status()).map(WorkflowStatus::as_str)),
            "workflowType" => json!(definition.name),
            "version" => json!(definition.version),
            "correlationId" => json!(execution.correlation_id()),
            "reasonForIncompletion" => json!(execution.reason()),
            "schemaVersion" => json!(definition.schema_version),
            "priority" => json!(execution.priority()),
            "createTime" => json!(execution.started_at()),
            "taskToDomain" => json!(execution.task_to_domain()),
            "idempotencyKey" => json!(execution.idempotency_key()),
            "parentWorkflowId" => json!(execution.parent().map(|it| it.execution.to_string())),
            "parentWorkflowTaskId" => json!(execution.parent().map(|it| it.task.to_string())),
            _ => return None,
        };
        Some(Arc::new(Json::data(&value)))
    }

    fn task_field(&mut self, task: &Task, field: &str) -> Option<Arc<Json>> {
        let step = &task.step;
        let value = match field {
            "input" => return Some(self.document(Source::TaskInput(task.id))),
            "output" => return Some(self.document(Source::TaskOutput(task.id))),
            "taskType" => json!(step.task_type()),
            "taskDefName" => json!(step.task().name),
            "status" => json!(task.status.as_str()),
            "referenceTaskName" => json!(&*task.reference),
            "retryCount" => json!(task.attempt),
            "attempt" => json!(task.attempt + 1),
            "correlationId" => json!(self.execution().correlation_id()),
            "pollCount" => json!(task.polls),
            "scheduledTime" => json!(task.scheduled_at),
            "startTime" => json!(task.started_at),
            "endTime" => json!(task.ended_at),
            "workflowInstanceId" => json!(self.execution().id().to_string()),
            "taskId" => json!(task.id.to_string()),
            "reasonForIncompletion" => json!(task.reason),
            "callbackAfterSeconds" => json!(callback_after_seconds(task)),
            "workerId" => json!(task.worker),
            "iteration" => json!(task.iteration()),
            _ => return None,
        };
        Some(Arc::new(Json::data(&value)))
    }

    /// One value of `workflow.env`: text, or what its JSON says if the path goes on inside. All
    /// values together are nobody's: a decision notes each value it has read.
    fn environment(&mut self, name: &str, is_inside: bool) -> Option<Arc<Json>> {
        let value = self.environment_value(name)?;
        let value = if is_inside { Json::read_text(&value)? } else { Json::String(value.into()) };
        self.spending(|budget| budget.spend(value.size().nodes))?;
        Some(Arc::new(value))
    }

    /// A payload that changed within the turn is read again.
    fn document(&mut self, source: Source) -> Arc<Json> {
        let run = self.execution().run();
        let payload = match source {
            Source::RunInput => run.input.clone(),
            Source::RunOutput => run.output.clone(),
            Source::Variables => run.variables.clone(),
            Source::TaskInput(task) => self.execution().expect_task(task).input.clone(),
            Source::TaskOutput(task) => {
                let execution = self.execution();
                execution.output_of(execution.expect_task(task))
            }
        };
        if let Some((read, document)) = self.reading.documents.get(&source)
            && *read == payload
        {
            return Arc::clone(document);
        }
        let document = Arc::new(Json::read(&payload));
        self.reading.documents.insert(source, (payload, Arc::clone(&document)));
        document
    }
}
