//! # `semel task`: definitions of tasks, and tasks by hand
//!
//! The verbs are those of Conductor's own command line. Each is one call.

mod definitions;
mod work;

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand};
use semel_model::TaskResultStatus;

use crate::connection::Connection;

pub(crate) const NAME: &str = "task";

const EXAMPLES: &str = "\
Examples:
  semel task create charge.json
  semel task poll charge --wait 1000
  semel task update --workflow ID --ref charge --status COMPLETED --output '{\"receipt\": 7}'
  semel task signal ID --output '{\"approved\": true}'
  semel task queue charge ship";

/// Register task definitions, take and report tasks by hand, read logs and queues
#[derive(Debug, Parser)]
#[command(name = NAME, after_help = EXAMPLES)]
pub(crate) struct Task {
    #[command(subcommand)]
    verb: Verb,
    #[command(flatten)]
    connection: Connection,
}

#[derive(Debug, Subcommand)]
enum Verb {
    /// List the registered task definitions
    List,
    /// Print a task definition
    Get { name: String },
    /// Register the task definition, or list of them, in FILE (- is stdin)
    Create { file: PathBuf },
    /// Replace the task definition in FILE; or report on a task, with --workflow
    #[command(visible_alias = "update-execution")]
    Update(Update),
    /// Delete a task definition
    Delete { name: String },
    /// Take tasks that wait, as a worker does; they are held until reported
    Poll(Poll),
    /// End the WAIT that a run, or one below it, stands at
    Signal {
        id: String,
        #[arg(long, default_value = "COMPLETED")]
        status: TaskResultStatus,
        /// Output of the task: a JSON object, or @FILE
        #[arg(long)]
        output: Option<String>,
    },
    /// Print what workers wrote about a task
    Logs { task: String },
    /// Write a line about a task
    Log { task: String, text: String },
    /// Print how many tasks wait, of these types or of all
    Queue { types: Vec<String> },
}

#[derive(Debug, Args)]
struct Update {
    /// A task definition (- is stdin)
    #[arg(required_unless_present = "workflow", conflicts_with = "workflow")]
    file: Option<PathBuf>,
    /// Run whose task is reported
    #[arg(long, value_name = "ID", requires = "status")]
    workflow: Option<String>,
    /// The task, by its id
    #[arg(
        long,
        value_name = "ID",
        requires = "workflow",
        conflicts_with = "reference",
        required_unless_present_any = ["reference", "file"]
    )]
    task: Option<String>,
    /// The task, by the reference of its step
    #[arg(long = "ref", value_name = "REF", requires = "workflow")]
    reference: Option<String>,
    /// COMPLETED, FAILED, FAILED_WITH_TERMINAL_ERROR, IN_PROGRESS or CANCELED
    #[arg(long, requires = "workflow")]
    status: Option<TaskResultStatus>,
    /// Output of the task: a JSON object, or @FILE
    #[arg(long, requires = "workflow")]
    output: Option<String>,
    /// Why it failed
    #[arg(long, requires = "task")]
    reason: Option<String>,
    /// Who reports
    #[arg(long, requires = "workflow")]
    worker: Option<String>,
    /// Token of the hand-out that is answered: a report on an older one is not taken
    #[arg(long, requires = "task")]
    fence: Option<u64>,
    /// Also if a worker holds the task: its lease ends
    #[arg(long, requires = "reference")]
    force: bool,
    /// Whether the effect of the task has happened; without it a forced failure leaves that unknown
    #[arg(long, value_name = "true|false", requires = "workflow")]
    applied: Option<bool>,
}

#[derive(Debug, Args)]
struct Poll {
    task_type: String,
    #[arg(long, default_value_t = 1)]
    count: u32,
    /// Who takes them [default: semel-cli]
    #[arg(long, default_value = "semel-cli", hide_default_value = true)]
    worker: String,
    #[arg(long)]
    domain: Option<String>,
    /// Longest time to wait for one, in milliseconds, up to 5000
    #[arg(long, value_name = "MS")]
    wait: Option<u32>,
}

pub(crate) fn execute(asked: Task) -> anyhow::Result<()> {
    let (client, show) = (asked.connection.client()?, asked.connection.show());
    match asked.verb {
        Verb::List => definitions::list(&client, show),
        Verb::Get { name } => definitions::get(&client, show, &name),
        Verb::Create { file } => definitions::create(&client, &file),
        Verb::Update(Update { file: Some(file), .. }) => definitions::update(&client, &file),
        Verb::Update(update) => work::report(&client, show, update),
        Verb::Delete { name } => definitions::delete(&client, &name),
        Verb::Poll(poll) => work::poll(&client, show, poll),
        Verb::Signal { id, status, output } => {
            work::signal(&client, &id, status, output.as_deref())
        }
        Verb::Logs { task } => work::logs(&client, show, &task),
        Verb::Log { task, text } => work::log(&client, &task, &text),
        Verb::Queue { types } => work::queue(&client, show, &types),
    }
}
