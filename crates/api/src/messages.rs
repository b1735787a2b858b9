//! # Messages to a run (docs/compatibility.md#messages-to-a-run)
//!
//! They wait in the run's mailbox for its PULL_WORKFLOW_MESSAGES tasks.

use axum::extract::State;
use semel_engine::{Event, Slot};
use semel_model::{IDEMPOTENCY_KEY_BYTES_MAX, Warning, WorkflowTask};
use semel_runtime::request_id;

use crate::answer::{Answered, text};
use crate::app::App;
use crate::caller::Caller;
use crate::endpoint::Value::Text;
use crate::endpoint::{Endpoint, post};
use crate::error::ApiError;
use crate::operations::{Operation, operate};
use crate::params::{Params, Path};
use crate::request::Body;
use crate::roles::OPERATE;
use crate::warnings::warned;
use crate::workflow::snapshot;

pub(crate) fn endpoints() -> Vec<Endpoint> {
    vec![
        post("/api/workflow/{id}/messages", OPERATE, post_message)
            .about("Posts a message to a run; an id given with it is known again")
            .query("messageId", Text)
            .takes_data()
            .gives_text()
            .also(409)
            .also(429),
    ]
}

/// `POST /api/workflow/{id}/messages`: answers the id of the message, the sender's or one of ours.
async fn post_message(
    State(app): State<App>,
    Path(id): Path<String>,
    caller: Caller,
    params: Params,
    body: Body,
) -> Answered {
    let given = params.text("messageId").filter(|given| !given.trim().is_empty());
    if given.is_some_and(|given| given.len() > IDEMPOTENCY_KEY_BYTES_MAX || given.contains('\0')) {
        return Err(ApiError::KeyInvalid(format!(
            "messageId must be 1 to {IDEMPOTENCY_KEY_BYTES_MAX} bytes without NUL"
        )));
    }
    let message = given.map_or_else(|| request_id().to_string(), str::to_owned);
    let event = Event::Posted { id: message.clone(), named: given.is_some(), payload: Slot(0) };
    let operation = Operation { event, payloads: vec![body.payload()?], definition: None };
    operate(&app, &id, &caller, operation).await?;
    let warnings: Vec<_> = unpulled(&app, &id).await?.into_iter().collect();
    Ok(warned(text(message), &warnings))
}

/// No step of the run pulls messages, and none can come that does.
async fn unpulled(app: &App, id: &str) -> Result<Option<Warning>, ApiError> {
    let run = snapshot(app, id).await?;
    let pulls = |step: &WorkflowTask| {
        matches!(step.kind.as_str(), "PULL_WORKFLOW_MESSAGES" | "DYNAMIC" | "FORK_JOIN_DYNAMIC")
    };
    let is_pulled = run.execution.definition().definition().all_steps().any(pulls);
    let message = "the run has no PULL_WORKFLOW_MESSAGES step: nobody will read it";
    Ok((!is_pulled).then(|| Warning::no_effect("message", message)))
}
