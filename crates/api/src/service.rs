//! # The server about itself: contract section 2.7, and a page for people

use axum::Router;
use axum::extract::State;
use axum::response::{Html, IntoResponse, Response};
use axum::routing::{get, post};
use semel_runtime::World;
use serde::Deserialize;
use serde_json::json;

use crate::answer::{Answered, empty, json, text};
use crate::app::App;
use crate::error::ApiError;
use crate::request::Body;

pub(crate) fn routes(test_clock: bool) -> Router<App> {
    let routes = Router::new()
        .route("/", get(page))
        .route("/health", get(health))
        .route("/api/health", get(health))
        .route("/api/version", get(|| async { text(env!("CARGO_PKG_VERSION")) }));
    if test_clock { routes.route("/test/clock", post(advance)) } else { routes }
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

#[derive(Deserialize)]
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
