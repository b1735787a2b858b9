//! # The lint at the door: asked for, and at registration
//!
//! A definition is looked at under the task definitions that are registered and the retention this
//! server has. `lint` of a registration says what a finding is worth; unless it says otherwise,
//! nothing is refused.

use std::collections::BTreeSet;

use axum::extract::State;
use axum::response::Response;
use semel_lint::{FINDINGS_MAX, Finding, Linted, Settings, Severity, linted};
use semel_model::{SearchResult, Violation, Warning, WorkflowDef, unknown_in_workflow};
use semel_runtime::World;
use serde_json::{Map, Value};

use crate::answer::{Answered, json, with_header};
use crate::app::App;
use crate::endpoint::Value::{Choice, Number};
use crate::endpoint::{Does, Endpoint, get, post};
use crate::enforceable;
use crate::error::ApiError;
use crate::params::Params;
use crate::request::Body;
use crate::roles::READ;

const SIZE: usize = 100;
const SIZE_MAX: usize = 1_000;

pub(crate) fn endpoints() -> Vec<Endpoint> {
    vec![
        post("/api/lint", READ, ask)
            .about(
                "What is likely to go wrong with one workflow definition, or with each of a list",
            )
            .does(Does::Looks)
            .takes_definition::<Vec<WorkflowDef>>()
            .gives::<Vec<Linted>>(),
        get("/api/metadata/lint", READ, look)
            .about("What is likely to go wrong with the registered workflow definitions")
            .query("start", Number(0))
            .query("size", Number(SIZE as i64))
            .gives::<SearchResult<Linted>>(),
    ]
}

/// Of the world as it is: its task definitions, its schemas, its retention.
fn of(world: &World, definition: &WorkflowDef) -> Linted {
    let registered = |name: &str| world.definitions.task(name).ok().flatten();
    let execution_retention_seconds = world.retention_ms().map(|ms| ms / 1_000);
    let key_hosts = world.key_hosts().clone();
    let settings = Settings { execution_retention_seconds, key_hosts, ..Settings::default() };
    let mut linted = linted(definition, &registered, &settings);
    if let Ok(found) = enforceable::in_workflow_definition(&world.schemas, definition, "") {
        let refused = found.refused.iter().map(Finding::of_violation);
        let warned = found.warned.iter().map(Finding::of_warning);
        linted.findings.splice(0..0, refused.chain(warned));
        linted.findings.truncate(FINDINGS_MAX);
    }
    linted
}

/// `POST /api/lint`.
async fn ask(State(app): State<App>, body: Body) -> Answered {
    let definitions: Vec<WorkflowDef> = body.one_or_more()?;
    if definitions.is_empty() {
        return Err(ApiError::Malformed("the list of definitions is empty".to_owned()));
    }
    if definitions.iter().any(|definition| definition.name.is_empty()) {
        let message = "WorkflowDef name cannot be null or empty";
        return Err(ApiError::Invalid(vec![Violation::new("name", message)]));
    }
    let unknown: Vec<Vec<Warning>> =
        body.one_or_more::<Map<String, Value>>()?.into_iter().map(unknown_in).collect();
    let look = move |world: &World| Ok(definitions.iter().map(|it| of(world, it)).collect());
    let mut found: Vec<Linted> = app.runtime.blocking(look).await?;
    for (linted, unknown) in found.iter_mut().zip(&unknown) {
        linted.findings.splice(0..0, unknown.iter().map(Finding::of_warning));
        linted.findings.truncate(FINDINGS_MAX);
    }
    Ok(json(&found))
}

fn unknown_in(definition: Map<String, Value>) -> Vec<Warning> {
    unknown_in_workflow(&Value::Object(definition))
}

/// `GET /api/metadata/lint`: by name and version.
async fn look(State(app): State<App>, params: Params) -> Answered {
    let start = params.number("start")?.unwrap_or(0);
    let size = params.number("size")?.unwrap_or(SIZE);
    if size > SIZE_MAX {
        let message = format!("size={size}: at most {SIZE_MAX} definitions fit on a page");
        return Err(ApiError::Malformed(message));
    }
    let read = move |world: &World| {
        let all = world.definitions.workflows(None)?;
        let results = all.iter().skip(start).take(size).map(|it| of(world, it)).collect();
        Ok(SearchResult { total_hits: all.len(), results })
    };
    let page: SearchResult<Linted> = app.runtime.blocking(read).await?;
    Ok(json(&page))
}

/// What a registration asks of the lint.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Mode {
    Off,
    /// Findings are counted and logged.
    Warn,
    /// Errors refuse the definition.
    Error,
    /// Warnings too.
    Strict,
}

impl Mode {
    pub(crate) const CHOICE: crate::endpoint::Value = Choice(&["warn", "error", "strict", "off"]);

    pub(crate) fn of(params: &Params) -> Result<Self, ApiError> {
        match params.text("lint").unwrap_or("warn").to_ascii_lowercase().as_str() {
            "off" => Ok(Self::Off),
            "warn" => Ok(Self::Warn),
            "error" => Ok(Self::Error),
            "strict" => Ok(Self::Strict),
            other => {
                let message = format!("lint must be warn, error, strict or off, not {other}");
                Err(ApiError::Malformed(message))
            }
        }
    }

    fn refuses(self, finding: &Finding) -> bool {
        match self {
            Self::Off | Self::Warn => false,
            Self::Error => finding.severity == Severity::Error,
            Self::Strict => true,
        }
    }
}

/// How many findings there are, those of the unknown members included, unless one of them is in the
/// way. None: nobody has looked.
pub(crate) fn at_registration(
    app: &App,
    definitions: &[WorkflowDef],
    unknown: &[Warning],
    mode: Mode,
) -> Result<Option<usize>, ApiError> {
    if mode == Mode::Off {
        return Ok(None);
    }
    let world = app.runtime.world();
    let found: Vec<_> = definitions.iter().map(|definition| of(world, definition)).collect();
    let unknown: Vec<_> = unknown.iter().map(Finding::of_warning).collect();
    let all = || unknown.iter().chain(found.iter().flat_map(|linted| &linted.findings));
    let refused: Vec<_> = all().filter(|it| mode.refuses(it)).map(violation).collect();
    if !refused.is_empty() {
        return Err(ApiError::Invalid(refused));
    }
    found.iter().filter(|linted| !linted.findings.is_empty()).for_each(log);
    Ok(Some(all().count()))
}

fn violation(finding: &Finding) -> Violation {
    let Finding { code, at, message, fix, .. } = finding;
    Violation::new(at, format!("{code}: {message}. To put it right: {fix}"))
}

fn log(Linted { name, version, findings }: &Linted) {
    let codes: BTreeSet<&str> = findings.iter().map(|it| it.code.as_str()).collect();
    let codes = codes.into_iter().collect::<Vec<_>>().join(" ");
    let count = findings.len();
    tracing::info!(workflow = name, version, count, codes, "lint found something");
}

pub(crate) fn counted(answer: Response, findings: Option<usize>) -> Response {
    match findings {
        Some(count) => with_header(answer, "x-semel-lint", &count.to_string()),
        None => answer,
    }
}
