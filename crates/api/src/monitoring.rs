//! # Monitoring: how the server is, and its numbers
//!
//! Health is Conductor's route (docs/compatibility.md#server-environment-secrets); numbers are what
//! Prometheus reads.

use axum::extract::State;
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse as _, Response};
use metrics::gauge;
use semel_model::Payload;
use semel_runtime::{Health, State as Condition};
use serde_json::{Value, json};

use crate::answer::{Answered, json};
use crate::app::App;
use crate::endpoint::{Endpoint, get};
use crate::error::ApiError;
use crate::roles::{ANYONE, READ};
use crate::service::{OUR_VERSION, with_our_version};
use crate::unserved::NotServed;
use crate::{intake, process};

/// What Prometheus expects to be told.
const PROMETHEUS: &str = "text/plain; version=0.0.4; charset=utf-8";

pub(crate) fn endpoints() -> Vec<Endpoint> {
    let health = |path| {
        get(path, ANYONE, health)
            .about("Whether the server can serve; 503 when it cannot")
            .gives::<Payload>()
    };
    let numbers =
        |path| get(path, READ, numbers).about("Numbers, as Prometheus reads them").gives_text();
    vec![
        health("/health"),
        health("/api/health"),
        numbers("/metrics"),
        numbers("/actuator/prometheus"),
    ]
}

/// `GET /health`: 200 while every part is up.
async fn health(State(app): State<App>) -> Response {
    let parts = app.runtime.health().await;
    let healthy = parts.iter().all(Health::is_up);
    let body = json(&json!({
        "healthResults": parts.iter().map(part).collect::<Vec<_>>(),
        "suppressedHealthResults": [],
        "healthy": healthy,
        "version": OUR_VERSION,
    }));
    let body = with_our_version(body);
    if healthy { body } else { (StatusCode::SERVICE_UNAVAILABLE, body).into_response() }
}

fn part(part: &Health) -> Value {
    let mut shown = json!({"name": part.name, "healthy": part.is_up(), "details": part.details});
    if let Condition::Down(why) = &part.state {
        shown["message"] = json!(why);
    }
    shown
}

/// `GET /metrics`. What cannot be counted now is left as it was.
async fn numbers(State(app): State<App>) -> Answered {
    let Some(numbers) = app.watch.numbers.clone() else {
        return Err(ApiError::NotServed(NotServed::off("this server collects no metrics")));
    };
    if let Err(failure) = app.runtime.observe().await {
        tracing::warn!(%failure, "the gauges could not be brought up to date");
    }
    gauge!("semel_request_bodies_bytes").set(intake::held() as f64);
    gauge!("semel_build_info", "version" => OUR_VERSION).set(1.0);
    let told = app.runtime.blocking(move |_| {
        process::observe();
        Ok(numbers())
    });
    let text = told.await?;
    Ok(([(header::CONTENT_TYPE, PROMETHEUS)], text).into_response())
}
