//! # `semel workflow`: definitions, and their runs
//!
//! The verbs are those of Conductor's own command line. Each is one call.

mod definitions;
mod journal;
mod runs;
mod shown;
mod steering;

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand};
use semel_model::{IdempotencyStrategy, WorkflowStatus};

use crate::connection::Connection;

pub(crate) const NAME: &str = "workflow";

const EXAMPLES: &str = "\
Examples:
  semel workflow create checkout.json
  semel workflow start checkout --input '{\"amount\": 10}' --key order-1 --strategy RETURN_EXISTING
  semel workflow search --name checkout --status FAILED
  semel workflow search --key order-1
  semel workflow show 01a1e167-fb71-746e-9a28-1c83b6f48a3a
  semel workflow retry 01a1e167-fb71-746e-9a28-1c83b6f48a3a";

const START_EXAMPLES: &str = "\
Examples:
  semel workflow start checkout --input @order.json
  semel workflow start checkout --key order-1 --strategy RETURN_EXISTING
  semel workflow start checkout --sync --wait 30

Strategies, if the key has a run already:
  FAIL                           refuse (the default)
  RETURN_EXISTING                give the run that is there, whatever became of it
  FAIL_ON_RUNNING                refuse while it goes on, else start another
  RETURN_EXISTING_UNLESS_FAILED  give it, unless it has failed: then start another
  RETURN_RUNNING                 give it while it goes on, else start another
  TERMINATE_EXISTING             end it while it goes on, and start another";

const SEARCH_EXAMPLES: &str = "\
Examples:
  semel workflow search --name checkout --status FAILED --status TIMED_OUT
  semel workflow search --key order-1
  semel workflow search --query \"startTime >= 1794769871768 AND NOT status = COMPLETED\"
  semel workflow search --text Bern --json";

/// Register workflows, start them, look at their runs and steer them
#[derive(Debug, Parser)]
#[command(name = NAME, after_help = EXAMPLES)]
pub(crate) struct Workflow {
    #[command(subcommand)]
    verb: Verb,
    #[command(flatten)]
    connection: Connection,
}

#[derive(Debug, Subcommand)]
enum Verb {
    /// List the registered definitions
    List,
    /// Print a definition: the latest version, or the one named
    Get {
        name: String,
        #[arg(long)]
        version: Option<i32>,
    },
    /// Register the definition in FILE (- is stdin)
    Create {
        file: PathBuf,
        /// Write over a version that is there; only so may FILE hold a list
        #[arg(long)]
        force: bool,
    },
    /// Write the definition, or list of definitions, in FILE over what is there
    Update { file: PathBuf },
    /// Delete one version of a definition; its runs go on
    Delete { name: String, version: i32 },
    /// Start a run and print its id
    Start(Start),
    /// Find runs
    Search(Search),
    /// Print the status of a run
    Status { id: String },
    /// Print a run and its tasks: key, effects, stale reports, and what it waits for
    #[command(visible_alias = "get-execution")]
    Show { id: String },
    /// Print the journal of a run: what happened, when, and by whom
    Log {
        id: String,
        /// The first entry wanted
        #[arg(long, default_value_t = 1)]
        from: u64,
    },
    /// Check the journal of a run against everything stored
    Verify { id: String },
    /// End a run now
    Terminate {
        id: String,
        #[arg(long)]
        reason: Option<String>,
    },
    /// Schedule nothing more of a run until it is resumed
    Pause { id: String },
    /// Let a paused run go on
    Resume { id: String },
    /// Try again what failed in a run
    Retry {
        id: String,
        /// Try again the failed run below it alone
        #[arg(long)]
        resume_subworkflows: bool,
        /// Do again what is done once, such as a payment
        #[arg(long)]
        redo_effects: bool,
    },
    /// Do an ended run again from its beginning
    Restart {
        id: String,
        /// By the latest definition instead of its own
        #[arg(long)]
        latest: bool,
        /// Do again what is done once, such as a payment
        #[arg(long)]
        redo_effects: bool,
    },
    /// Do an ended run again from a task on, or as a whole
    Rerun(Rerun),
    /// Pass over a step that has not begun
    SkipTask {
        id: String,
        reference: String,
        /// What the step would have got: JSON or @FILE
        #[arg(long)]
        input: Option<String>,
        /// What the step would have given: JSON or @FILE
        #[arg(long)]
        output: Option<String>,
    },
    /// Go on from another step of the run
    Jump {
        id: String,
        reference: String,
        /// Input of that step: JSON or @FILE
        #[arg(long)]
        input: Option<String>,
    },
    /// Remove an ended run for good; its key is free then
    #[command(visible_alias = "delete-execution")]
    Remove {
        id: String,
        /// Also a run that goes on: it ends first
        #[arg(long)]
        force: bool,
    },
    /// Let a run go on that was set aside after a fault
    Unpark { id: String },
}

#[derive(Debug, Args)]
#[command(after_help = START_EXAMPLES)]
struct Start {
    name: String,
    /// Else the latest
    #[arg(long)]
    version: Option<i32>,
    /// Input of the run: a JSON object, or @FILE
    #[arg(long, short)]
    input: Option<String>,
    /// Your own id of the matter; several runs may have the same
    #[arg(long)]
    correlation_id: Option<String>,
    /// 0 to 99; more urgent runs go first
    #[arg(long, default_value_t = 0)]
    priority: i32,
    /// Idempotency key: asked again with it, no second run begins
    #[arg(long)]
    key: Option<String>,
    /// What happens if the key has a run already; see below
    #[arg(long, requires = "key")]
    strategy: Option<IdempotencyStrategy>,
    /// Wait for the run, and print its output
    #[arg(long)]
    sync: bool,
    /// Longest time to wait, in seconds
    #[arg(long, value_name = "SECONDS", requires = "sync", default_value_t = 10)]
    wait: u32,
    /// Wait for the end of this step only; several are separated by commas
    #[arg(long, value_name = "REF", requires = "sync")]
    until: Option<String>,
}

#[derive(Debug, Args)]
#[command(after_help = SEARCH_EXAMPLES)]
struct Search {
    /// Clauses such as: workflowType IN (a,b) AND startTime > 1794769871768
    #[arg(long, short)]
    query: Option<String>,
    /// Words to look for in ids, names, input, output and reasons
    #[arg(long)]
    text: Option<String>,
    /// Only runs of this status; may be given several times
    #[arg(long)]
    status: Vec<WorkflowStatus>,
    /// Only runs of this workflow; may be given several times
    #[arg(long)]
    name: Vec<String>,
    /// Only runs that were started under this idempotency key
    #[arg(long)]
    key: Option<String>,
    /// How many to pass over
    #[arg(long, default_value_t = 0)]
    start: u32,
    /// How many to print
    #[arg(long, default_value_t = 20)]
    size: u32,
    /// A field and ASC or DESC
    #[arg(long, default_value = "startTime:DESC")]
    sort: String,
}

#[derive(Debug, Args)]
struct Rerun {
    id: String,
    /// Id of the task, or reference of the step, to begin with
    #[arg(long, value_name = "TASK")]
    from_task: Option<String>,
    /// Another input of the run: JSON or @FILE
    #[arg(long)]
    input: Option<String>,
    /// Another input of that task: JSON or @FILE
    #[arg(long, requires = "from_task")]
    task_input: Option<String>,
    /// Do again what is done once, such as a payment
    #[arg(long)]
    redo_effects: bool,
}

pub(crate) fn execute(asked: Workflow) -> anyhow::Result<()> {
    let (client, show) = (asked.connection.client()?, asked.connection.show());
    match asked.verb {
        Verb::List => definitions::list(&client, show),
        Verb::Get { name, version } => definitions::get(&client, show, &name, version),
        Verb::Create { file, force } => definitions::create(&client, &file, force),
        Verb::Update { file } => definitions::update(&client, show, &file),
        Verb::Delete { name, version } => definitions::delete(&client, &name, version),
        Verb::Start(start) => runs::start(&client, show, start),
        Verb::Search(search) => runs::search(&client, show, search),
        Verb::Status { id } => runs::status(&client, show, &id),
        Verb::Show { id } => shown::show(&client, show, &id),
        Verb::Log { id, from } => journal::log(&client, show, &id, from),
        Verb::Verify { id } => journal::verify(&client, show, &id),
        Verb::Rerun(rerun) => steering::rerun(&client, show, rerun),
        Verb::SkipTask { id, reference, input, output } => {
            steering::skip(&client, &id, &reference, input.as_deref(), output.as_deref())
        }
        Verb::Jump { id, reference, input } => {
            steering::jump(&client, &id, &reference, input.as_deref())
        }
        Verb::Terminate { id, reason } => {
            steering::said("terminated", &id, client.terminate(&id, reason.as_deref()))
        }
        Verb::Pause { id } => steering::said("paused", &id, client.pause(&id)),
        Verb::Resume { id } => steering::said("resumed", &id, client.resume(&id)),
        Verb::Retry { id, resume_subworkflows, redo_effects } => {
            steering::said("retried", &id, client.retry(&id, resume_subworkflows, redo_effects))
        }
        Verb::Restart { id, latest, redo_effects } => {
            steering::said("restarted", &id, client.restart(&id, latest, redo_effects))
        }
        Verb::Remove { id, force } => steering::remove(&client, &id, force),
        Verb::Unpark { id } => steering::said("goes on", &id, client.unpark(&id)),
    }
}
