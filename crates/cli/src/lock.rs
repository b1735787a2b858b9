//! # `semel lock`: who has which lock, and a way to take it from whoever is gone

use clap::{Parser, Subcommand};
use semel_client::{Client, RecordQuery};
use serde_json::Value;

use crate::connection::Connection;
use crate::exit::{self, Verdict};
use crate::record;
use crate::show::{Show, say};

pub(crate) const NAME: &str = "lock";

const EXAMPLES: &str = "\
Examples:
  semel lock list
  semel lock show account-7
  semel lock free account-7
  semel lock free account-7 --fence 42";

/// List locks, look at one, and free one whose holder is gone
#[derive(Debug, Parser)]
#[command(name = NAME, after_help = EXAMPLES)]
pub(crate) struct Lock {
    #[command(subcommand)]
    verb: Verb,
    #[command(flatten)]
    connection: Connection,
}

#[derive(Debug, Subcommand)]
enum Verb {
    /// List the locks that somebody has, or waits for
    List {
        /// How many to print
        #[arg(long, default_value_t = 20)]
        size: u32,
        /// Where the page before ended
        #[arg(long, value_name = "CURSOR")]
        after: Option<String>,
    },
    /// Print a lock: who has it, until when, and how many wait
    Show { name: String },
    /// Take a lock from whoever has it; the next in line gets it
    Free {
        name: String,
        /// Only if it is still held under this fence [default: the fence it has now]
        #[arg(long)]
        fence: Option<String>,
    },
}

pub(crate) fn execute(asked: Lock) -> anyhow::Result<()> {
    let (client, show) = (asked.connection.client()?, asked.connection.show());
    match asked.verb {
        Verb::List { size, after } => {
            list(&client, show, &RecordQuery { size, after, ..RecordQuery::default() })
        }
        Verb::Show { name } => {
            let answer = client.lock(&name)?;
            record::show(show, answer.text(), &answer.read()?)
        }
        Verb::Free { name, fence } => free(&client, show, &name, fence),
    }
}

fn list(client: &Client, show: Show, query: &RecordQuery) -> anyhow::Result<()> {
    let answer = client.locks(query)?;
    if show.json {
        return show.raw(answer.text());
    }
    let page = answer.read()?;
    let row = |found: &Value| {
        vec![
            record::text(found, "key"),
            record::text(found, "state"),
            record::owner(found),
            record::text(found, "fence"),
            record::time(found, "leaseUntil"),
            record::time(found, "createdAt"),
            record::text(found, "waiting"),
        ]
    };
    let rows: Vec<_> = page.results.iter().map(row).collect();
    show.table(&["NAME", "STATE", "HOLDER", "FENCE", "LEASE UNTIL", "SINCE", "WAITING"], &rows)?;
    record::say_more(page.after.as_deref());
    Ok(())
}

/// What is freed is what was seen: a holder that took the lock meanwhile keeps it.
fn free(client: &Client, show: Show, name: &str, fence: Option<String>) -> anyhow::Result<()> {
    let fence = match fence {
        Some(fence) => fence,
        None => {
            let seen = client.lock(name)?.read()?;
            if record::text(&seen, "state") == "FREE" {
                return Err(Verdict { words: "nobody has this lock", code: exit::CONFLICT }.into());
            }
            record::text(&seen, "fence")
        }
    };
    let answer = client.free_lock(name, &fence)?;
    if show.json {
        return show.raw(answer.text());
    }
    say(&format!("freed: {name}; whoever had it under fence {fence} has it no more"));
    Ok(())
}
