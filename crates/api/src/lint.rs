//! # The lint at the door: asked for, and at registration
//!
//! A definition is looked at under the task definitions that are registered and the retention this
//! server has. `lint` of a registration says what a finding is worth; unless it says otherwise,
//! nothing is refused.

mod bundle;

use std::collections::BTreeSet;
use std::sync::Arc;

use axum::extract::State;
use axum::response::Response;
use semel_lint::{FINDINGS_MAX, Finding, Linted, Settings, Severity, findings_of_task, linted};
use semel_model::{
    DefinitionLimits, SearchResult, TaskDef, Violation, Warning, WorkflowDef, unknown_in_workflow,
};
use semel_runtime::World;
use serde_json::Value;

use crate::answer::{Answered, json, with_header};
use crate::app::App;
use crate::endpoint::Value::{Choice, Number};
use crate::endpoint::{Does, Endpoint, get, post};
use crate::enforceable;
use crate::error::ApiError;
use crate::params::Params;
use crate::registries;
use crate::request::Body;
use crate::roles::READ;

const SIZE: usize = 100;
const SIZE_MAX: usize = 1_000;

pub(crate) fn endpoints() -> Vec<Endpoint> {
    vec![
        post("/api/lint", READ, ask)
            .about(
                "What is likely to go wrong with one workflow definition, or with each of a list; an \
                 object of workflowDefs and taskDefs is judged together",
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

/// What a definition is judged under.
struct Judge<'a> {
    world: &'a World,
    limits: DefinitionLimits,
    /// Definitions that come in the same request, and count as registered.
    workflows: Vec<&'a str>,
    tasks: &'a [Arc<TaskDef>],
}

impl<'a> Judge<'a> {
    fn of(world: &'a World, limits: DefinitionLimits) -> Self {
        Self { world, limits, workflows: vec![], tasks: &[] }
    }

    /// Of the world as it is: its task definitions, its schemas, its retention.
    fn workflow(&self, definition: &WorkflowDef) -> Linted {
        let world = self.world;
        let registered = |name: &str| {
            let beside = self.tasks.iter().rev().find(|task| task.name == name).cloned();
            beside.or_else(|| world.definitions.task(name).ok().flatten())
        };
        let execution_retention_seconds = world.retention_ms().map(|ms| ms / 1_000);
        let settings = Settings {
            execution_retention_seconds,
            key_hosts: world.key_hosts().clone(),
            definition_limits: self.limits,
            ..Settings::default()
        };
        let mut linted = linted(definition, &registered, &settings);
        if let Ok(found) = registries::judge(world, definition, &self.workflows) {
            prepend(&mut linted, &found.refused, &found.warned);
        }
        linted
    }

    fn task(&self, task: &TaskDef, written: &Value) -> Linted {
        let findings = findings_of_task(task, written);
        let mut linted = Linted { name: task.name.clone(), version: 1, findings };
        let schemas = &self.world.schemas;
        if let Ok(found) = enforceable::in_task_definitions(schemas, std::slice::from_ref(task)) {
            prepend(&mut linted, &found.refused, &found.warned);
        }
        linted
    }
}

fn prepend(linted: &mut Linted, refused: &[Violation], warned: &[Warning]) {
    let refused = refused.iter().map(Finding::of_violation);
    linted.findings.splice(0..0, refused.chain(warned.iter().map(Finding::of_warning)));
    linted.findings.truncate(FINDINGS_MAX);
}

/// `POST /api/lint`.
async fn ask(State(app): State<App>, body: Body) -> Answered {
    let bundle = bundle::read(body)?;
    let limits = app.limits.definitions;
    let look = move |world: &World| {
        let workflows = bundle.workflows.iter().map(|(definition, _)| definition.name.as_str());
        let tasks = bundle.task_list();
        let judge =
            Judge { workflows: workflows.collect(), tasks: &tasks, ..Judge::of(world, limits) };
        let of_workflow = |(definition, written): &(WorkflowDef, Value)| {
            let mut linted = judge.workflow(definition);
            prepend(&mut linted, &[], &unknown_in_workflow(written));
            linted
        };
        let of_tasks = bundle.tasks.iter().map(|(task, written)| judge.task(task, written));
        let of_tasks = of_tasks.filter(|linted| !linted.findings.is_empty());
        Ok(bundle.workflows.iter().map(of_workflow).chain(of_tasks).collect())
    };
    let found: Vec<Linted> = app.runtime.blocking(look).await?;
    Ok(json(&found))
}

/// `GET /api/metadata/lint`: by name and version.
async fn look(State(app): State<App>, params: Params) -> Answered {
    let start = params.number("start")?.unwrap_or(0);
    let size = params.number("size")?.unwrap_or(SIZE);
    if size > SIZE_MAX {
        let message = format!("size={size}: at most {SIZE_MAX} definitions fit on a page");
        return Err(ApiError::Malformed(message));
    }
    let limits = app.limits.definitions;
    let read = move |world: &World| {
        let judge = Judge::of(world, limits);
        let all = world.definitions.workflows(None)?;
        let results = all.iter().skip(start).take(size).map(|it| judge.workflow(it)).collect();
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
    let workflows = definitions.iter().map(|definition| definition.name.as_str()).collect();
    let judge = Judge { workflows, ..Judge::of(app.runtime.world(), app.limits.definitions) };
    let found: Vec<_> = definitions.iter().map(|definition| judge.workflow(definition)).collect();
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
