//! # `POST /workflow/test`: a run played through with given answers

use std::collections::{BTreeMap, VecDeque};

use axum::extract::State;
use axum::http::HeaderMap;
use schemars::{JsonSchema, Schema, schema_for};
use semel_model::{Payload, StartWorkflowRequest, TaskResultStatus, Workflow, lenient};
use semel_runtime::{Mock, Script, StartWork};
use serde::Deserialize;
use serde_json::Value;

use crate::answer::Answered;
use crate::app::App;
use crate::caller::Caller;
use crate::endpoint::{Does, Endpoint, post};
use crate::error::ApiError;
use crate::idempotency::Given;
use crate::params::Params;
use crate::request::Body;
use crate::roles::OPERATE;
use crate::room::{room, whole};
use crate::starts::{self, start_work};
use crate::view;
use crate::warnings::warned;

/// Requests for children inside each other.
const NESTING_MAX: usize = 50;

/// A task takes ten years at most.
const TAKES_MS_MAX: i64 = 10 * 365 * 24 * 3_600 * 1_000;

pub(crate) fn endpoints() -> Vec<Endpoint> {
    vec![
        post("/api/workflow/test", OPERATE, rehearse)
            .about("Plays a run through with given answers; nothing of it is kept")
            .does(Does::Looks)
            .takes::<WorkflowTestRequest>()
            .gives::<Workflow>(),
    ]
}

/// A start request with answers. What it has in common with any start is read as such.
#[derive(Default, Deserialize, JsonSchema)]
#[serde(default, rename_all = "camelCase")]
#[schemars(transform = with_start)]
struct WorkflowTestRequest {
    task_ref_to_mock_output: BTreeMap<String, Vec<TaskMock>>,
    sub_workflow_test_request: BTreeMap<String, WorkflowTestRequest>,
}

/// Its schema has the members of a start too.
fn with_start(schema: &mut Schema) {
    let start = schema_for!(StartWorkflowRequest).to_value();
    let names = start.get("properties").and_then(Value::as_object).into_iter().flatten();
    if let Some(Value::Object(own)) = schema.get_mut("properties") {
        own.extend(names.map(|(name, _)| (name.clone(), Value::Bool(true))));
    }
}

#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct TaskMock {
    #[serde(default = "completed")]
    status: TaskResultStatus,
    #[serde(default, deserialize_with = "lenient::object")]
    output: Payload,
    #[serde(default, deserialize_with = "lenient::int")]
    execution_time: i64,
    #[serde(default, deserialize_with = "lenient::int")]
    queue_wait_time: i64,
}

fn completed() -> TaskResultStatus {
    TaskResultStatus::Completed
}

fn script(request: WorkflowTestRequest, nesting: usize) -> Result<Script, ApiError> {
    if nesting > NESTING_MAX {
        let message = format!("subWorkflowTestRequest nests deeper than {NESTING_MAX} levels");
        return Err(ApiError::Malformed(message));
    }
    let mock = |mock: TaskMock| {
        let takes_ms = mock.execution_time.max(0).saturating_add(mock.queue_wait_time.max(0));
        Mock { status: mock.status, output: mock.output, takes_ms: takes_ms.min(TAKES_MS_MAX) }
    };
    let mocks = request.task_ref_to_mock_output.into_iter();
    let mocks = mocks.map(|(reference, mocks)| {
        (reference, mocks.into_iter().map(mock).collect::<VecDeque<_>>())
    });
    let children = request.sub_workflow_test_request.into_iter();
    let children = children.map(|(reference, child)| Ok((reference, script(child, nesting + 1)?)));
    Ok(Script { mocks: mocks.collect(), children: children.collect::<Result<_, ApiError>>()? })
}

/// `POST /api/workflow/test`.
async fn rehearse(
    State(app): State<App>,
    caller: Caller,
    headers: HeaderMap,
    params: Params,
    body: Body,
) -> Answered {
    let request: Box<StartWorkflowRequest> = body.object()?;
    let script = script(body.object()?, 0)?;
    let warnings = starts::warnings(&app, &request, &body);
    let key = request.idempotency_key.as_deref();
    let given = Given::of(&headers, &params, key, request.idempotency_strategy)?;
    app.runtime.look_for_definitions().await?;
    let start = *start_work(&app, &caller, &request, given)?;
    let start = StartWork { found_in: None, ..start }; // It is played on a store of its own.
    let run = app.runtime.rehearse(start, script).await?;
    let room = room(&app).await?;
    let answer =
        whole(&app, &view::workflow(&run, true), room, "give it smaller data, or fewer steps")?;
    Ok(warned(answer, &warnings))
}
