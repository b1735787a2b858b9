//! # `semel lint`: what is likely to go wrong with definitions, before they are registered
//!
//! Needs no server: task definitions come with the file or from a file of their own. With `--server`
//! that server is asked, which goes by what is registered there.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use clap::Parser;
use semel_lint::{
    Finding, Linted, Settings, Severity, findings_of_task, linted, schemas_in_place,
    schemas_of_task,
};
use semel_model::{SchemaDef, TaskDef, Violation, WorkflowDef, unknown_in_workflow};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::Value;
use serde_json::value::RawValue;

use crate::connection::Connection;
use crate::exit::{self, AskedWrongly, Verdict};
use crate::given;
use crate::show::{Show, line};

pub(crate) const NAME: &str = "lint";
const EXAMPLES: &str = "\
Examples:
  semel lint checkout.json --task-defs tasks.json
  semel lint checkout.json --server http://127.0.0.1:8080";
const DAY_SECONDS: i64 = 24 * 60 * 60;

/// Say what is likely to go wrong with workflow definitions
#[derive(Debug, Parser)]
#[command(name = NAME, after_help = EXAMPLES)]
pub(crate) struct Lint {
    /// One definition, a list, or an object of workflowDefs and taskDefs; - is stdin
    file: PathBuf,
    /// One task definition, or a list, that the workflows run under
    #[arg(long, value_name = "FILE", conflicts_with = "server")]
    task_defs: Option<PathBuf>,
    /// How long the server will keep runs that are over; 0 keeps them for ever
    #[arg(long, value_name = "DAYS", default_value_t = 30, conflicts_with = "server")]
    retention_days: u32,
    /// Fail on warnings too
    #[arg(long)]
    strict: bool,
    #[command(flatten)]
    connection: Connection,
}

/// What a file may hold.
#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Bundle<'a> {
    #[serde(borrow)]
    workflow_defs: Option<&'a RawValue>,
    #[serde(borrow)]
    task_defs: Option<&'a RawValue>,
}

pub(crate) fn execute(asked: Lint) -> anyhow::Result<()> {
    let text = given::file(&asked.file)?;
    let bundle =
        if given::is_list(&text) { None } else { serde_json::from_str::<Bundle<'_>>(&text).ok() };
    let bundle = bundle.unwrap_or_default();
    let workflows = bundle.workflow_defs.map_or(text.as_str(), RawValue::get);
    let show = asked.connection.show();
    let (json, found) = match asked.connection.is_asked_for() {
        true => {
            let with_tasks = bundle.task_defs.is_some() && bundle.workflow_defs.is_some();
            let sent = if with_tasks { text.as_str() } else { workflows };
            let answer = asked.connection.client()?.lint(sent)?;
            (answer.text().to_owned(), serde_json::from_str(answer.text())?)
        }
        false => {
            let mut tasks: Vec<Value> =
                list(&asked.file, bundle.task_defs.map_or("[]", RawValue::get))?;
            if let Some(file) = &asked.task_defs {
                tasks.extend(list::<Value>(file, &given::file(file)?)?);
            }
            let definitions = read_tasks(&asked, &tasks)?;
            let of_tasks: Vec<_> = tasks
                .iter()
                .zip(&definitions)
                .filter_map(|(said, read)| of_task(said, read))
                .collect();
            let mut found =
                offline(&list(&asked.file, workflows)?, definitions, asked.retention_days);
            for (linted, definition) in found.iter_mut().zip(list::<Value>(&asked.file, workflows)?)
            {
                let unknown = unknown_in_workflow(&definition);
                linted.findings.splice(0..0, unknown.iter().map(Finding::of_warning));
            }
            found.extend(of_tasks);
            (serde_json::to_string(&found)?, found)
        }
    };
    if show.json {
        line(&json)?
    } else {
        print(show, &found)?
    }
    verdict(&found, asked.strict)
}

fn read_tasks(asked: &Lint, tasks: &[Value]) -> anyhow::Result<Vec<TaskDef>> {
    let file = asked.task_defs.as_ref().unwrap_or(&asked.file);
    list(file, &serde_json::to_string(tasks)?)
}

/// What the registration of a task definition would say. None: nothing.
fn of_task(said: &Value, task: &TaskDef) -> Option<Linted> {
    let mut findings = unusable(schemas_of_task(task));
    findings.extend(findings_of_task(task, said));
    (!findings.is_empty()).then(|| Linted { name: task.name.clone(), version: 1, findings })
}

fn list<T: DeserializeOwned>(file: &Path, text: &str) -> anyhow::Result<Vec<T>> {
    let read = serde_json::from_str(&given::as_list(text));
    Ok(read.map_err(|error| AskedWrongly(format!("{}: {error}", file.display())))?)
}

fn offline(workflows: &[WorkflowDef], tasks: Vec<TaskDef>, retention_days: u32) -> Vec<Linted> {
    let tasks: Vec<Arc<TaskDef>> = tasks.into_iter().map(Arc::new).collect();
    let registered = |name: &str| tasks.iter().rev().find(|task| task.name == name).cloned();
    let days = Some(i64::from(retention_days)).filter(|days| *days > 0);
    let execution_retention_seconds = days.map(|days| days * DAY_SECONDS);
    let settings = Settings { execution_retention_seconds, ..Settings::default() };
    let judged = |definition: &WorkflowDef| {
        let mut linted = linted(definition, &registered, &settings);
        linted.findings.splice(0..0, unusable(schemas_in_place(definition)));
        linted
    };
    workflows.iter().map(judged).collect()
}

/// Schemas given in place that registration would refuse. Those of the registry only a server knows.
fn unusable(in_place: Vec<(String, &SchemaDef)>) -> Vec<Finding> {
    let unusable = |(path, schema): (String, &SchemaDef)| {
        let found = semel_server::unenforceable(schema)?;
        let path = format!("{path}.{}", found.path);
        Some(Finding::of_violation(&Violation { path, ..found }))
    };
    in_place.into_iter().filter_map(unusable).collect()
}

fn print(show: Show, found: &[Linted]) -> anyhow::Result<()> {
    let row = |linted: &Linted, finding: &Finding| {
        let severity = match finding.severity {
            Severity::Error => "fail",
            Severity::Warning => "warn",
        };
        let place = format!("{}/{} {}", linted.name, linted.version, finding.at);
        let Finding { code, message, fix, .. } = finding;
        vec![severity.to_owned(), code.to_string(), place, message.clone(), fix.clone()]
    };
    let all = found.iter().flat_map(|linted| linted.findings.iter().map(move |it| row(linted, it)));
    show.table(&["LEVEL", "CODE", "WHERE", "FOUND", "REMEDY"], &all.collect::<Vec<_>>())
}

fn verdict(found: &[Linted], strict: bool) -> anyhow::Result<()> {
    let has = |severity| {
        let mut all = found.iter().flat_map(|linted| &linted.findings);
        all.any(|finding| finding.severity == severity)
    };
    if has(Severity::Error) {
        return Err(Verdict { words: "there are errors", code: exit::FAILED }.into());
    }
    if strict && has(Severity::Warning) {
        return Err(Verdict { words: "there are warnings", code: exit::FAILED }.into());
    }
    Ok(())
}
