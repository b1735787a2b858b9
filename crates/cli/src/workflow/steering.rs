//! # Steering: what people do to runs

use semel_client::{Answer, Client, ClientError};
use semel_model::TaskId;

use super::Rerun;
use crate::exit::{self, AskedWrongly, Verdict};
use crate::given;
use crate::show::{Show, line, say};

/// Done, or why not.
pub(super) fn said(
    what: &str,
    id: &str,
    answer: Result<Answer<()>, ClientError>,
) -> anyhow::Result<()> {
    answer?;
    say(&format!("{what}: {id}"));
    Ok(())
}

/// The server ends a run that goes on; here that has to be meant.
pub(super) fn remove(client: &Client, id: &str, force: bool) -> anyhow::Result<()> {
    if !force && !client.workflow_status(id)?.read()?.status.is_terminal() {
        let words = "the run goes on; say --force to end and remove it";
        return Err(Verdict { words, code: exit::CONFLICT }.into());
    }
    said("removed", id, client.remove(id))
}

pub(super) fn skip(
    client: &Client,
    id: &str,
    reference: &str,
    input: Option<&str>,
    output: Option<&str>,
) -> anyhow::Result<()> {
    let input = given::object("--input", input)?;
    let output = given::object("--output", output)?;
    said(&format!("skipped {reference}"), id, client.skip_task(id, reference, &input, &output))
}

pub(super) fn jump(
    client: &Client,
    id: &str,
    reference: &str,
    input: Option<&str>,
) -> anyhow::Result<()> {
    let input = given::object("--input", input)?;
    said(&format!("jumped to {reference}"), id, client.jump(id, reference, &input))
}

pub(super) fn rerun(client: &Client, show: Show, asked: Rerun) -> anyhow::Result<()> {
    let id = &asked.id;
    let from = asked.from_task.as_deref().map(|from| task_id(client, id, from)).transpose()?;
    let optional = |flag, given: Option<&String>| {
        given.map(|text| given::object(flag, Some(text))).transpose()
    };
    let rerun = semel_client::Rerun {
        re_run_from_task_id: from,
        workflow_input: optional("--input", asked.input.as_ref())?,
        task_input: optional("--task-input", asked.task_input.as_ref())?,
        redo_effects: asked.redo_effects,
    };
    let answer = client.rerun(id, &rerun)?;
    if show.json { show.raw(answer.text()) } else { line(answer.text()) }
}

/// The id, or that of the latest task of the step so named.
fn task_id(client: &Client, workflow: &str, named: &str) -> anyhow::Result<String> {
    if named.parse::<TaskId>().is_ok() {
        return Ok(named.to_owned());
    }
    let run = client.workflow(workflow)?.read()?;
    let mut of_step = run.tasks.iter().rev().filter(|task| task.reference_task_name == named);
    match of_step.next() {
        Some(task) => Ok(task.task_id.to_string()),
        None => {
            let words = format!("--from-task: workflow {workflow} has no task of a step {named}");
            Err(AskedWrongly(words).into())
        }
    }
}
