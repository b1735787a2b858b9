//! # The server about itself: its version, a page for people, a clock for tests

use std::sync::LazyLock;

use axum::extract::State;
use axum::response::Response;
use schemars::JsonSchema;
use serde::Deserialize;

use crate::answer::{Answered, empty, text, with_header};
use crate::app::App;
use crate::endpoint::{Endpoint, get, post};
use crate::error::ApiError;
use crate::page::Page;
use crate::request::Body;
use crate::roles::{ADMINISTER, ANYONE};

pub(crate) fn endpoints(test_clock: bool) -> Vec<Endpoint> {
    let mut all = vec![
        get("/", ANYONE, page).about("A page for people").gives_page(),
        get("/api/version", ANYONE, version)
            .about("The version of Conductor that is spoken; ours is in X-Semel-Version")
            .gives_text(),
    ];
    if test_clock {
        let clock = post("/test/clock", ADMINISTER, advance).about("Moves the time of the store");
        all.push(clock.takes::<Advance>());
    }
    all
}

/// The version of Conductor whose clients are served. Suites of the SDKs compare it with 4.1 and
/// skip themselves below; from 5 on they expect schedules, prompts and integrations.
const CONDUCTOR_VERSION: &str = "4.1.73";

/// `GET /api/version`: what clients of Conductor compare with; ours is in the header.
async fn version() -> Response {
    with_our_version(text(CONDUCTOR_VERSION))
}

/// Which release of Semel answers.
pub(crate) fn with_our_version(answer: Response) -> Response {
    with_header(answer, "x-semel-version", OUR_VERSION)
}

pub(crate) const OUR_VERSION: &str = env!("CARGO_PKG_VERSION");

async fn page() -> Response {
    static PAGE: LazyLock<Page> = LazyLock::new(|| Page::of(include_str!("page.html")));
    PAGE.answer()
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
