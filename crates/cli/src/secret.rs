//! # `semel secret`: who may use a secret
//!
//! **May not:** show a value.

use clap::{Parser, Subcommand};
use serde_json::Value;

use crate::connection::Connection;
use crate::record;
use crate::show::say;

pub(crate) const NAME: &str = "secret";

const EXAMPLES: &str = "\
Examples:
  semel secret uses BANK";

/// See which definitions may use a secret
#[derive(Debug, Parser)]
#[command(name = NAME, after_help = EXAMPLES)]
pub(crate) struct Secret {
    #[command(subcommand)]
    verb: Verb,
    #[command(flatten)]
    connection: Connection,
}

#[derive(Debug, Subcommand)]
enum Verb {
    /// Print the registered definitions whose runs may use a secret, and whether they list it
    Uses { name: String },
}

pub(crate) fn execute(asked: Secret) -> anyhow::Result<()> {
    let (client, show) = (asked.connection.client()?, asked.connection.show());
    let Verb::Uses { name } = asked.verb;
    let answer = client.secret_uses(&name)?;
    if show.json {
        return show.raw(answer.text());
    }
    let found = answer.read()?;
    if found.is_empty() {
        say(&format!("no registered definition may use the secret {name}"));
    }
    show.table(&["KIND", "NAME", "VERSION", "LISTED"], &found.iter().map(row).collect::<Vec<_>>())
}

fn row(found: &Value) -> Vec<String> {
    let kind = if found["task"].is_null() { "workflow" } else { "task" };
    let listed = if found["listed"] == true { "listed" } else { "named only" };
    let text = |name: &str| record::text(found, name);
    vec![kind.to_owned(), text(kind), text("version"), listed.to_owned()]
}
