//! # What describes the API: the document, a page to read it with, schemas for editors

use std::sync::{LazyLock, OnceLock};

use axum::extract::State;
use axum::http::header;
use axum::response::{IntoResponse as _, Response};
use schemars::schema_for;
use semel_model::{Payload, TaskDef, WorkflowDef};
use serde_json::Value;

use crate::answer::{Answered, json};
use crate::app::App;
use crate::endpoint::{Endpoint, get};
use crate::error::ApiError;
use crate::openapi;
use crate::page::Page;
use crate::params::Path;
use crate::roles::ANYONE;
use crate::routes;

pub(crate) fn endpoints() -> Vec<Endpoint> {
    vec![
        get("/api-docs", ANYONE, document).about("This document").gives::<Payload>(),
        get("/swagger-ui/index.html", ANYONE, page)
            .about("A page to read this document and to try it")
            .gives_page(),
        get("/schemas/{file}", ANYONE, schema)
            .about("The JSON Schema of a definition: workflow.json or task.json")
            .gives::<Payload>(),
    ]
}

/// `GET /api-docs`: OpenAPI 3.1.
async fn document(State(app): State<App>) -> Response {
    static DOCUMENT: OnceLock<String> = OnceLock::new();
    let text =
        DOCUMENT.get_or_init(|| openapi::document(routes::endpoints(app.test_clock)).to_string());
    ([(header::CONTENT_TYPE, "application/json")], text.as_str()).into_response()
}

/// `GET /swagger-ui/index.html`.
async fn page() -> Response {
    static PAGE: LazyLock<Page> = LazyLock::new(|| Page::of(include_str!("docs.html")));
    PAGE.answer()
}

/// `GET /schemas/{file}`.
async fn schema(Path(file): Path<String>) -> Answered {
    let schema: Value = match file.as_str() {
        "workflow.json" => schema_for!(WorkflowDef).to_value(),
        "task.json" => schema_for!(TaskDef).to_value(),
        _ => {
            let message = format!("no schema {file}: there are workflow.json and task.json");
            return Err(ApiError::NotFound(message));
        }
    };
    Ok(json(&schema))
}
