//! # Tasks by hand: taken, reported, signalled, written about

use semel_client::{Client, Said};
use semel_model::{Payload, TaskResult, TaskResultStatus};
use serde_json::{Value, json};

use super::{Poll, Update};
use crate::exit::{self, AskedWrongly, Verdict};
use crate::given;
use crate::show::{Show, line, say};
use crate::times::moment;

pub(super) fn poll(client: &Client, show: Show, asked: Poll) -> anyhow::Result<()> {
    let poll = semel_client::Poll {
        task_type: asked.task_type,
        count: asked.count,
        worker: Some(asked.worker),
        domain: asked.domain,
        wait_ms: asked.wait,
    };
    let answer = client.poll(&poll)?;
    if show.json {
        return show.raw(answer.text());
    }
    let tasks = answer.read()?;
    if tasks.is_empty() {
        say("nothing waits");
    }
    let row = |task: &semel_model::Task| {
        vec![
            task.task_id.to_string(),
            task.reference_task_name.clone(),
            task.workflow_instance_id.to_string(),
            task.fence_token.clone().unwrap_or_default(),
            task.lease_until.map(moment).unwrap_or_default(),
            task.input_data.text().to_owned(),
        ]
    };
    show.table(
        &["TASK", "REFERENCE", "WORKFLOW", "FENCE", "LEASE UNTIL", "INPUT"],
        &tasks.iter().map(row).collect::<Vec<_>>(),
    )
}

pub(super) fn report(client: &Client, show: Show, asked: Update) -> anyhow::Result<()> {
    let output = given::object("--output", asked.output.as_deref())?;
    let output = match asked.applied {
        Some(applied) => saying(&output, applied),
        None => output,
    };
    let (Some(workflow), Some(status)) = (asked.workflow, asked.status) else {
        return Err(AskedWrongly("give FILE, or --workflow and --status".to_owned()).into());
    };
    let worker = asked.worker;
    let answer = match (&asked.task, &asked.reference) {
        (Some(task), _) => client.report(&TaskResult {
            workflow_instance_id: Some(workflow.clone()),
            task_id: Some(task.clone()),
            status: Some(status),
            output_data: output,
            reason_for_incompletion: asked.reason,
            worker_id: worker,
            fence_token: asked.fence,
            ..TaskResult::default()
        })?,
        (None, Some(reference)) => {
            let said = Said { status, output: &output, worker: worker.as_deref() };
            client.report_by_reference(&workflow, reference, &said, asked.force)?
        }
        (None, None) => return Err(AskedWrongly("give --task or --ref".to_owned()).into()),
    };
    if answer.header("x-task-update") == Some("STALE") {
        let words = "the report was not taken: the task is over, or somebody else holds it";
        return Err(Verdict { words, code: exit::CONFLICT }.into());
    }
    let is_kept = match answer.header("x-signal") {
        Some("REPEATED") => answer.text().is_empty(),
        signal => signal == Some("KEPT"),
    };
    if is_kept {
        say("no task of that step is open yet: kept until one is");
        return Ok(());
    }
    if answer.text().is_empty() {
        let words = "no task of that step is open; see: semel workflow show";
        return Err(Verdict { words, code: exit::NOT_FOUND }.into());
    }
    if show.json { show.raw(answer.text()) } else { line(answer.text()) }
}

/// The output with a word about the effect in it.
fn saying(output: &Payload, applied: bool) -> Payload {
    let mut said = output.value();
    if let Value::Object(fields) = &mut said {
        fields.insert("_effect".to_owned(), json!({"applied": applied}));
    }
    Payload::from_value(&said)
}

pub(super) fn signal(
    client: &Client,
    id: &str,
    status: TaskResultStatus,
    output: Option<&str>,
) -> anyhow::Result<()> {
    let answer = client.signal(id, status, &given::object("--output", output)?)?;
    match answer.header("x-signal") {
        Some("KEPT") => say(&format!("nothing waits yet: kept for the next WAIT of {id}")),
        Some("NONE") => {
            let words = "nothing waited for it, and nothing will: see semel workflow show";
            return Err(Verdict { words, code: exit::CONFLICT }.into());
        }
        _ => say(&format!("signalled: {id}")),
    }
    Ok(())
}

pub(super) fn logs(client: &Client, show: Show, task: &str) -> anyhow::Result<()> {
    let answer = client.logs(task)?;
    if answer.text().trim().is_empty() {
        return if show.json { line("[]") } else { Ok(()) };
    }
    if show.json {
        return show.raw(answer.text());
    }
    let rows = answer.read()?.into_iter();
    let rows = rows.map(|log| vec![moment(log.created_time), log.log.unwrap_or_default()]);
    show.table(&["AT", "LINE"], &rows.collect::<Vec<_>>())
}

pub(super) fn log(client: &Client, task: &str, text: &str) -> anyhow::Result<()> {
    let answer = client.log(task, text)?;
    if answer.header("x-semel-warning").is_some() {
        let words = "the line was not kept: no task that this server knows has this id";
        return Err(Verdict { words, code: exit::NOT_FOUND }.into());
    }
    Ok(())
}

pub(super) fn queue(client: &Client, show: Show, types: &[String]) -> anyhow::Result<()> {
    let answer = if types.is_empty() { client.queues()? } else { client.queue_sizes(types)? };
    if show.json {
        return show.raw(answer.text());
    }
    let rows = answer.read()?.into_iter().map(|(name, size)| vec![name, size.to_string()]);
    show.table(&["QUEUE", "WAITING"], &rows.collect::<Vec<_>>())
}
