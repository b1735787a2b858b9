//! # The server about itself: contract section 2.7, and a page for people

use axum::extract::State;
use axum::response::{Html, IntoResponse, Response};
use schemars::JsonSchema;
use semel_model::Payload;
use semel_runtime::World;
use serde::Deserialize;
use serde_json::json;

use crate::answer::{Answered, empty, json, text};
use crate::app::App;
use crate::endpoint::{Endpoint, get, post};
use crate::error::ApiError;
use crate::request::Body;
use crate::roles::{ADMINISTER, ANYONE};

pub(crate) fn endpoints(test_clock: bool) -> Vec<Endpoint> {
    let mut all = vec![
        get("/", ANYONE, page).about("A page for people").gives_page(),
        get("/health", ANYONE, health).about("Whether the server can serve").gives::<Payload>(),
        get("/api/health", ANYONE, health).about("Whether the server can serve").gives::<Payload>(),
        get("/api/version", ANYONE, version).about("The version of the server").gives_text(),
    ];
    if test_clock {
        let clock = post("/test/clock", ADMINISTER, advance).about("Moves the time of the store");
        all.push(clock.takes::<Advance>());
    }
    all
}

async fn version() -> Response {
    text(env!("CARGO_PKG_VERSION"))
}

async fn page() -> Html<&'static str> {
    Html(include_str!("page.html"))
}

/// 200 while the store answers.
async fn health(State(app): State<App>) -> Response {
    let store = app.runtime.blocking(|world: &World| world.ping()).await;
    let healthy = store.is_ok();
    let body = json(&json!({
        "healthResults": [{"name": "store", "healthy": healthy}],
        "suppressedHealthResults": [],
        "healthy": healthy,
    }));
    match store {
        Ok(()) => body,
        Err(_) => (axum::http::StatusCode::SERVICE_UNAVAILABLE, body).into_response(),
    }
}

#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct Advance {
    advance_ms: i64,
}

/// `POST /test/clock`: moves the store's time; served only with `--test-clock`.
async fn advance(State(app): State<App>, body: Body) -> Answered {
    let advance: Advance = body.object()?;
    if advance.advance_ms < 0 {
        return Err(ApiError::Malformed("advanceMs must not be negative".to_owned()));
    }
    app.runtime.advance_ms(advance.advance_ms).await?;
    Ok(empty())
}
