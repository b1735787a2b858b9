//! # Steering: what people change in a run that is under way (docs/compatibility.md#operations)

use std::collections::BTreeMap;

use axum::extract::State;
use schemars::JsonSchema;
use semel_engine::{Event, Slot};
use semel_model::{Payload, RequestMembers, Workflow, lenient};
use serde::Deserialize;
use serde_json::Map;

use crate::answer::{Answered, empty, nothing};
use crate::app::App;
use crate::caller::Caller;
use crate::endpoint::Value::Text;
use crate::endpoint::{Endpoint, post, put};
use crate::error::ApiError;
use crate::operations::{Operation, operate, registered, slot};
use crate::params::{Params, Path};
use crate::request::{Body, read_by};
use crate::roles::OPERATE;
use crate::warnings::warned;
use crate::workflow::{changed, snapshot};

pub(crate) fn endpoints() -> Vec<Endpoint> {
    vec![
        put("/api/workflow/{id}/skiptask/{reference}", OPERATE, skip)
            .about("Skips a task that has not begun")
            .query("skipTaskRequest", Text)
            .takes::<SkipRequest>()
            .may_be_blank()
            .also(409),
        post("/api/workflow/{id}/jump/{reference}", OPERATE, jump)
            .about("Goes on from another task")
            .query("taskReferenceName", Text)
            .takes_data()
            .also(409),
        post("/api/workflow/{id}/jump", OPERATE, jump_by_query)
            .about("Goes on from another task, named in the query")
            .query("taskReferenceName", Text)
            .takes_data()
            .also(409),
        post("/api/workflow/{id}/upgrade", OPERATE, upgrade)
            .about("Goes on by another version of the definition")
            .takes::<UpgradeRequest>()
            .also(409),
        post("/api/workflow/{id}/variables", OPERATE, variables)
            .about("Changes variables of a run")
            .takes_data()
            .gives::<Workflow>()
            .also(409),
        post("/api/workflow/{id}/resetcallbacks", OPERATE, reset_callbacks)
            .about("Offers tasks that wait for a callback at once")
            .gives_nothing()
            .also(409),
    ]
}

#[derive(Default, Deserialize, JsonSchema)]
#[serde(default, rename_all = "camelCase")]
struct SkipRequest {
    task_input: Option<Payload>,
    task_output: Option<Payload>,
}

/// `PUT /api/workflow/{id}/skiptask/{reference}`. The request comes in the body, or as JSON in a
/// parameter; what some SDKs write there is no JSON and means nothing.
async fn skip(
    State(app): State<App>,
    Path((id, reference)): Path<(String, String)>,
    caller: Caller,
    params: Params,
    body: Body,
) -> Answered {
    let mut warnings = Vec::new();
    let request: SkipRequest = if body.is_blank() {
        let written = params.text("skipTaskRequest").unwrap_or("{}");
        warnings = read_by(&RequestMembers::of::<SkipRequest>(), written.as_bytes())?;
        serde_json::from_str(written).unwrap_or_default()
    } else {
        body.object()?
    };
    let or_empty = |payload: Option<Payload>| {
        payload.filter(|payload| payload.text() != "null").unwrap_or_default()
    };
    let payloads = vec![or_empty(request.task_input), or_empty(request.task_output)];
    let event = Event::Skipped { reference, input: Slot(0), output: Slot(1) };
    operate(&app, &id, &caller, Operation { event, payloads, definition: None }).await?;
    Ok(warned(empty(), &warnings))
}

/// `POST /api/workflow/{id}/jump/{reference}`. One SDK leaves the placeholder in the path and names
/// the task in a parameter.
async fn jump(
    State(app): State<App>,
    Path((id, reference)): Path<(String, String)>,
    caller: Caller,
    params: Params,
    body: Body,
) -> Answered {
    let named = params.text("taskReferenceName").filter(|named| !named.is_empty());
    let reference = match named {
        Some(named) if reference == "{taskReferenceName}" => named.to_owned(),
        Some(named) if named != reference => {
            let message = format!(
                "the path says {reference} and taskReferenceName says {named}: where to go? Leave one \
                 of them out"
            );
            return Err(ApiError::Malformed(message));
        }
        Some(_) | None => reference,
    };
    jump_to(&app, &id, &caller, reference, &body).await
}

/// `POST /api/workflow/{id}/jump`: the task is named in a parameter only.
async fn jump_by_query(
    State(app): State<App>,
    Path(id): Path<String>,
    caller: Caller,
    params: Params,
    body: Body,
) -> Answered {
    let named = params.text("taskReferenceName").filter(|named| !named.is_empty());
    let missing = || ApiError::Malformed("taskReferenceName is missing: where to go".to_owned());
    let reference = named.ok_or_else(missing)?.to_owned();
    jump_to(&app, &id, &caller, reference, &body).await
}

async fn jump_to(app: &App, id: &str, caller: &Caller, reference: String, body: &Body) -> Answered {
    let mut payloads = Vec::new();
    // Some clients send an empty object when they mean nothing.
    let given = body.payload()?;
    let is_empty = given.value().as_object().is_some_and(Map::is_empty);
    let input = slot(&mut payloads, (!is_empty).then_some(given));
    let event = Event::Jumped { reference, input };
    operate(app, id, caller, Operation { event, payloads, definition: None }).await?;
    Ok(empty())
}

#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct UpgradeRequest {
    #[serde(default, deserialize_with = "lenient::text")]
    name: String,
    #[serde(default, deserialize_with = "lenient::boxed_int")]
    version: Option<i32>,
    #[serde(default)]
    workflow_input: Option<Payload>,
    #[serde(default)]
    task_output: Option<BTreeMap<String, Payload>>,
}

/// `POST /api/workflow/{id}/upgrade`: goes on by another version of its definition.
async fn upgrade(
    State(app): State<App>,
    Path(id): Path<String>,
    caller: Caller,
    body: Body,
) -> Answered {
    let request: UpgradeRequest = body.object()?;
    let name = snapshot(&app, &id).await?.head.name;
    if request.name != name {
        let message = format!("name: workflow {id} is a {name} and cannot become {}", request.name);
        return Err(ApiError::Malformed(message));
    }
    let definition = registered(&app, &name, request.version)?;
    let mut payloads = Vec::new();
    let input = slot(&mut payloads, request.workflow_input);
    let outputs = request.task_output.unwrap_or_default();
    let outputs = outputs
        .into_iter()
        .filter_map(|(reference, output)| Some((reference, slot(&mut payloads, Some(output))?)))
        .collect();
    let event = Event::Upgraded { definition: definition.digest(), input, outputs };
    let definition = Some(definition);
    operate(&app, &id, &caller, Operation { event, payloads, definition }).await?;
    Ok(empty())
}

/// `POST /api/workflow/{id}/variables`: merged over what is there; answers with the workflow.
async fn variables(
    State(app): State<App>,
    Path(id): Path<String>,
    caller: Caller,
    body: Body,
) -> Answered {
    let event = Event::VariablesUpdated { variables: Slot(0) };
    let payloads = vec![body.payload()?];
    operate(&app, &id, &caller, Operation { event, payloads, definition: None }).await?;
    changed(&app, &id).await
}

/// `POST /api/workflow/{id}/resetcallbacks`.
async fn reset_callbacks(
    State(app): State<App>,
    Path(id): Path<String>,
    caller: Caller,
) -> Answered {
    operate(&app, &id, &caller, Event::CallbacksReset).await?;
    Ok(nothing())
}
