//! # `semel explain`: why is this run waiting?
//!
//! Reads the run, and about each open task what its workers, its limits and its child say. Only the
//! run itself must be readable; what else is missing is left out of the sentences.

mod words;

use clap::Parser;
use semel_client::{Client, ClientError};
use semel_model::{Task, TaskStatus, Workflow};
use serde_json::json;

use crate::connection::Connection;
use crate::show::{line, plain};
use crate::times::now;
use words::{Around, Child, Scene};

pub(crate) const NAME: &str = "explain";
/// Open tasks that are explained one by one.
const TASKS_MAX: usize = 20;

/// Say why a run waits, task by task, and what can be done
#[derive(Debug, Parser)]
#[command(name = NAME)]
pub(crate) struct Explain {
    #[command(flatten)]
    connection: Connection,
    id: String,
}

pub(crate) fn execute(asked: Explain) -> anyhow::Result<()> {
    let (client, show) = (asked.connection.client()?, asked.connection.show());
    let answer = client.workflow(&asked.id)?;
    let run = answer.read()?;
    let scene = Scene {
        now: now(),
        parked: answer.header("x-workflow-parked").map(str::to_owned),
        around: open(&run)
            .take(TASKS_MAX)
            .map(|task| (task.task_id, look(&client, task)))
            .collect(),
        run: &run,
    };
    let sentences = scene.sentences();
    if show.json {
        let (id, status) = (run.workflow_id, run.status);
        let told = json!({"workflowId": id, "status": status, "sentences": sentences});
        return line(&told.to_string());
    }
    sentences.iter().try_for_each(|sentence| line(&plain(sentence)))
}

fn open(run: &Workflow) -> impl Iterator<Item = &Task> {
    run.tasks.iter().filter(|task| !task.status.is_terminal())
}

fn look(client: &Client, task: &Task) -> Around {
    let mut around = Around::default();
    if let Some(child) = task.sub_workflow_id {
        around.child = Some(match client.workflow_status(&child.to_string()) {
            Ok(answer) => answer.read().map_or(Child::Unknown, |state| Child::Is(state.status)),
            Err(ClientError::NotFound(_)) => Child::Gone,
            Err(_) => Child::Unknown,
        });
    }
    if words::is_of_the_house(task) || task.status != TaskStatus::Scheduled {
        return around;
    }
    let kind = &task.task_type;
    around.polls = client.poll_data(kind).and_then(|answer| answer.read()).ok();
    let sizes = client.queue_sizes(std::slice::from_ref(kind)).and_then(|answer| answer.read());
    around.waiting = sizes.ok().and_then(|sizes| sizes.get(kind).copied());
    // The registered definition counts, else the one the run was pinned to.
    let registered = client.task_definition(kind).and_then(|answer| answer.read()).ok();
    around.definition = registered.or_else(|| task.task_definition.as_deref().cloned());
    if around.limit().is_some() {
        let query = format!("taskType='{kind}' AND status=IN_PROGRESS");
        let found = client.search_tasks(&query, 1).and_then(|answer| answer.read());
        around.in_flight = found.ok().map(|page| page.total_hits);
    }
    around
}
