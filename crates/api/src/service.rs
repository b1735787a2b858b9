//! # The server about itself: its version, a page for people, a clock for tests

use axum::extract::State;
use axum::response::{Html, Response};
use schemars::JsonSchema;
use serde::Deserialize;

use crate::answer::{Answered, empty, text};
use crate::app::App;
use crate::endpoint::{Endpoint, get, post};
use crate::error::ApiError;
use crate::request::Body;
use crate::roles::{ADMINISTER, ANYONE};

pub(crate) fn endpoints(test_clock: bool) -> Vec<Endpoint> {
    let mut all = vec![
        get("/", ANYONE, page).about("A page for people").gives_page(),
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
