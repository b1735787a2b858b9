//! # A run for people: itself, its key, its tasks and their effects

use semel_client::Client;
use semel_model::{Task, Workflow};

use crate::record;
use crate::show::{Show, cut, say};
use crate::times::{moment, now, span};

const REASON_CHARS_MAX: usize = 80;

pub(super) fn show(client: &Client, show: Show, id: &str) -> anyhow::Result<()> {
    let answer = client.workflow(id)?;
    if show.json {
        return show.raw(answer.text());
    }
    let found = answer.read()?;
    say(&head(&found));
    if let Some(reason) = answer.header("x-workflow-parked") {
        say(&format!("  parked       {reason}; see: semel explain {id}"));
    }
    if let Some(words) = asked_again(client, &found) {
        say(&format!("  asked again  {words}"));
    }
    waits(client, &found).iter().for_each(|wait| say(&format!("  waits for    {wait}")));
    found.tasks.iter().for_each(tell_stale);
    show.table(
        &[
            "REFERENCE",
            "TYPE",
            "STATUS",
            "ATTEMPT",
            "SCHEDULED",
            "TOOK",
            "WORKER",
            "TASK",
            "EFFECT",
            "REASON",
        ],
        &found.tasks.iter().map(task_row).collect::<Vec<_>>(),
    )
}

/// About the run itself, for people; programs take `--json`.
fn head(found: &Workflow) -> String {
    let mut lines = vec![format!(
        "{} {} version {} {}",
        found.workflow_id, found.workflow_name, found.workflow_version, found.status
    )];
    let mut note = |name: &str, value: &str| {
        if !value.is_empty() {
            lines.push(format!("  {name:<12} {value}"));
        }
    };
    note("started", &moment(found.start_time));
    note("ended", &moment(found.end_time));
    note("correlation", found.correlation_id.as_deref().unwrap_or_default());
    note("key", found.idempotency_key.as_deref().unwrap_or_default());
    note("parent", &found.parent_workflow_id.map(|id| id.to_string()).unwrap_or_default());
    note("not counted", found.not_counted.as_deref().unwrap_or_default());
    note("reason", found.reason_for_incompletion.as_deref().unwrap_or_default());
    note("input", found.input.text());
    note("output", if found.status.is_terminal() { found.output.text() } else { "" });
    lines.join("\n")
}

/// Why a run that is not over goes no further, and who is in the way. Its tasks can be shown without.
fn waits(client: &Client, found: &Workflow) -> Vec<String> {
    if found.status.is_terminal() {
        return Vec::new();
    }
    let explained = client.explain(&found.workflow_id.to_string()).and_then(|told| told.read());
    let Ok(explained) = explained else { return Vec::new() };
    let waits = explained.waits.into_iter().map(|wait| {
        let (told, mut blockers) = (wait.sentence, wait.blocked_by);
        blockers.retain(|blocker| !told.contains(&blocker.name));
        let blockers: Vec<_> = blockers.into_iter().map(|blocker| blocker.name).collect();
        match blockers.is_empty() {
            true => told,
            false => format!("{told} (blocked by {})", blockers.join(", ")),
        }
    });
    waits.collect()
}

/// How often somebody asked for this run again, if it has a key and the key is known.
fn asked_again(client: &Client, found: &Workflow) -> Option<String> {
    let key = found.idempotency_key.as_deref()?;
    let known = client.start_key(&found.workflow_name, key).ok()?.read().ok()?;
    let hits = known["hits"].as_u64().filter(|hits| *hits > 0)?;
    let last = record::time(&known, "lastHitAt");
    Some(format!("{hits} times under its key, last {last}; see: semel key show"))
}

/// Reports on the task that did not count.
fn tell_stale(task: &Task) {
    for report in &task.stale_reports {
        let (at, by) = (moment(report.at), &report.by);
        let (name, why) = (&task.reference_task_name, &report.reason);
        say(&format!("  not taken    report on {name} by {by} at {at}: {why}"));
    }
}

/// The state of what the task does once, and whose it is if it is not its own.
fn effect(task: &Task) -> String {
    let Some(status) = &task.effect_status else { return String::new() };
    let by = task.effect_owner.as_ref().map(|owner| format!(" by run {}", owner.workflow_id));
    let other = if task.effect_payload_mismatch { ", another payload" } else { "" };
    format!("{status}{}{other}", by.unwrap_or_default())
}

fn task_row(task: &Task) -> Vec<String> {
    let until = if task.end_time.is_set() { task.end_time } else { now() };
    let took = if task.start_time.is_set() {
        span(until.since_ms(task.start_time))
    } else {
        String::new()
    };
    vec![
        task.reference_task_name.clone(),
        task.task_type.clone(),
        task.status.to_string(),
        (task.retry_count + 1).to_string(),
        moment(task.scheduled_time),
        took,
        task.worker_id.clone().unwrap_or_default(),
        task.task_id.to_string(),
        effect(task),
        cut(task.reason_for_incompletion.as_deref().unwrap_or_default(), REASON_CHARS_MAX),
    ]
}
