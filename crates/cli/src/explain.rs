//! # `semel explain`: why is this run waiting?
//!
//! The server knows; here its sentences are printed. **May not:** find reasons of its own.

use clap::Parser;

use crate::connection::Connection;
use crate::own_words::own_words;
use crate::show::{line, plain};

pub(crate) const NAME: &str = "explain";

/// Say why a run waits, task by task, and what can be done
#[derive(Debug, Parser)]
#[command(name = NAME, after_help = "Example:\n  semel explain 01a1e167-fb71-746e-9a28-1c83b6f48a3a")]
pub(crate) struct Explain {
    id: String,
    #[command(flatten)]
    connection: Connection,
}

pub(crate) fn execute(asked: Explain) -> anyhow::Result<()> {
    let (client, show) = (asked.connection.client()?, asked.connection.show());
    let answer = client.explain(&asked.id)?;
    if show.json {
        return show.raw(answer.text());
    }
    let sentences = answer.read()?.sentences();
    sentences.iter().try_for_each(|sentence| line(&own_words(&plain(sentence))))
}
