//! # `semel key`: what is known of a start key

use clap::{Parser, Subcommand};
use semel_client::Client;
use serde_json::Value;

use crate::connection::Connection;
use crate::record;
use crate::show::{Show, say};

pub(crate) const NAME: &str = "key";

const EXAMPLES: &str = "\
Examples:
  semel key show checkout order-9243
  semel key reset checkout order-9243";

/// Look at a start key: its runs and who asked again; or free it
#[derive(Debug, Parser)]
#[command(name = NAME, after_help = EXAMPLES)]
pub(crate) struct Key {
    #[command(subcommand)]
    verb: Verb,
    #[command(flatten)]
    connection: Connection,
}

#[derive(Debug, Subcommand)]
enum Verb {
    /// Print what is known of a key of this workflow
    Show { workflow: String, key: String },
    /// Free a key: the next start under it makes a new run, whatever the first one did
    Reset { workflow: String, key: String },
}

pub(crate) fn execute(asked: Key) -> anyhow::Result<()> {
    let (client, show) = (asked.connection.client()?, asked.connection.show());
    match asked.verb {
        Verb::Show { workflow, key } => print(&client, show, &workflow, &key),
        Verb::Reset { workflow, key } => {
            client.reset_start_key(&workflow, &key)?;
            say(&format!("freed: key {key} of {workflow}; the next start makes a new run"));
            Ok(())
        }
    }
}

/// The state of a record is that of the start, not of its run.
fn of_start(state: &str) -> String {
    match state {
        "COMPLETED" => "COMPLETED: the start was made".to_owned(),
        other => other.to_owned(),
    }
}

fn print(client: &Client, show: Show, workflow: &str, key: &str) -> anyhow::Result<()> {
    let answer = client.start_key(workflow, key)?;
    if show.json {
        return show.raw(answer.text());
    }
    let found = answer.read()?;
    let runs = found["runs"].as_array().map(Vec::as_slice).unwrap_or_default();
    let runs: Vec<&str> = runs.iter().filter_map(Value::as_str).collect();
    record::say_fields(
        &format!("{workflow} {key}"),
        &[
            ("run", record::text(&found, "workflowId")),
            ("run is", record::text(&found, "status")),
            ("record", of_start(&record::text(&found, "state"))),
            ("earlier", runs.get(1..).unwrap_or_default().join(" ")),
            ("created", record::time(&found, "createdAt")),
            ("by", record::text(&found, "createdBy")),
            ("kept until", record::time(&found, "expiresAt")),
            ("asked again", record::text(&found, "hits")),
            ("last", record::time(&found, "lastHitAt")),
        ],
    );
    record::decisions(show, &found["decisions"])
}
