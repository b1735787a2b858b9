//! # Bulk: one operation for many executions (docs/compatibility.md#executions)
//!
//! Always 200: what could not be done is in the answer, with the reason, beside what was.

use std::future::Future;

use axum::extract::State;
use semel_engine::Event;
use semel_model::BulkResponse;
use semel_runtime::Step;

use crate::answer::{Answered, json};
use crate::app::App;
use crate::caller::Caller;
use crate::endpoint::Value::{Flag, Text};
use crate::endpoint::{Endpoint, delete, post, put};
use crate::error::ApiError;
use crate::operations::{erase, latest, operate};
use crate::params::Params;
use crate::request::{Body, plain};
use crate::roles::OPERATE;

/// What is submitted for one id, at most.
const STEPS_EACH: u32 = 2;

/// Ids in one request.
const IDS_MAX: usize = 1_000;

pub(crate) fn endpoints() -> Vec<Endpoint> {
    let reason =
        |line: Endpoint| line.query("reason", Text).query("triggerFailureWorkflow", Flag(false));
    let lines = vec![
        put("/api/workflow/bulk/pause", OPERATE, pause).about("Pauses runs"),
        put("/api/workflow/bulk/resume", OPERATE, resume).about("Resumes runs"),
        post("/api/workflow/bulk/restart", OPERATE, restart)
            .about("Begins runs anew")
            .query("useLatestDefinitions", Flag(false)),
        post("/api/workflow/bulk/retry", OPERATE, retry).about("Tries again what failed in runs"),
        reason(post("/api/workflow/bulk/terminate", OPERATE, terminate).about("Terminates runs")),
        delete("/api/workflow/bulk/remove", OPERATE, remove)
            .about("Removes runs")
            .query("archiveWorkflow", Flag(true)),
        post("/api/workflow/bulk/delete", OPERATE, remove)
            .about("Removes runs")
            .query("archiveWorkflow", Flag(true)),
        reason(
            delete("/api/workflow/bulk/terminate-remove", OPERATE, terminate_remove)
                .about("Terminates runs and removes them"),
        ),
    ];
    lines.into_iter().map(|line| line.takes::<Vec<String>>().gives::<BulkResponse>()).collect()
}

fn ids(body: &Body) -> Result<Vec<String>, ApiError> {
    let ids: Vec<String> = body.texts()?;
    match ids.len() {
        0 => Err(ApiError::Malformed("the list of workflow ids is empty".to_owned())),
        1..=IDS_MAX => Ok(ids),
        count => {
            let message = format!("{count} workflow ids are more than the limit of {IDS_MAX}");
            Err(ApiError::Malformed(message))
        }
    }
}

/// One after the other; what fails does not keep the others from being done. Under a key, what cannot
/// be done just now does: the same request goes on there.
async fn each<F>(body: &Body, mut work: impl FnMut(String) -> F) -> Answered
where
    F: Future<Output = Result<(), ApiError>>,
{
    let mut answer = BulkResponse::default();
    for (at, id) in ids(body)?.into_iter().enumerate() {
        Step::turn_to(at, STEPS_EACH);
        match work(id.clone()).await {
            Ok(()) => answer.bulk_successful_results.push(id),
            Err(error) if error.is_retryable() && Step::is_numbered() => return Err(error),
            Err(error) => {
                answer.bulk_error_results.insert(id, error.message());
            }
        }
    }
    Ok(json(&answer))
}

/// `PUT /api/workflow/bulk/pause`.
async fn pause(State(app): State<App>, caller: Caller, body: Body) -> Answered {
    each(&body, async |id| operate(&app, &id, &caller, Event::Paused).await).await
}

/// `PUT /api/workflow/bulk/resume`.
async fn resume(State(app): State<App>, caller: Caller, body: Body) -> Answered {
    each(&body, async |id| operate(&app, &id, &caller, Event::Resumed).await).await
}

/// `POST /api/workflow/bulk/retry`: never into children.
async fn retry(State(app): State<App>, caller: Caller, body: Body) -> Answered {
    each(&body, async |id| operate(&app, &id, &caller, Event::Retried).await).await
}

/// `POST /api/workflow/bulk/restart`.
async fn restart(State(app): State<App>, caller: Caller, params: Params, body: Body) -> Answered {
    let use_latest = params.flag("useLatestDefinitions", false)?;
    each(&body, async |id| {
        let operation = latest(&app, &id, use_latest).await?;
        operate(&app, &id, &caller, operation).await
    })
    .await
}

/// `POST /api/workflow/bulk/terminate`.
async fn terminate(State(app): State<App>, caller: Caller, params: Params, body: Body) -> Answered {
    let event = terminated(&params)?;
    each(&body, async |id| operate(&app, &id, &caller, event.clone()).await).await
}

fn terminated(params: &Params) -> Result<Event, ApiError> {
    let reason = params.text("reason").map(str::to_owned);
    plain("reason", reason.as_deref())?;
    let compensate = params.flag("triggerFailureWorkflow", false)?;
    Ok(Event::Terminated { reason, compensate })
}

/// `DELETE /api/workflow/bulk/remove`, and Orkes' `POST /api/workflow/bulk/delete`.
async fn remove(State(app): State<App>, caller: Caller, params: Params, body: Body) -> Answered {
    params.flag("archiveWorkflow", true)?;
    each(&body, async |id| erase(&app, &id, &caller).await).await
}

/// `DELETE /api/workflow/bulk/terminate-remove`.
async fn terminate_remove(
    State(app): State<App>,
    caller: Caller,
    params: Params,
    body: Body,
) -> Answered {
    let event = terminated(&params)?;
    each(&body, async |id| {
        operate(&app, &id, &caller, event.clone()).await?;
        erase(&app, &id, &caller).await
    })
    .await
}
