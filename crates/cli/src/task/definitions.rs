//! # Definitions of tasks

use std::path::Path;

use semel_client::Client;

use crate::exit::AskedWrongly;
use crate::given;
use crate::show::{Show, say};

pub(super) fn list(client: &Client, show: Show) -> anyhow::Result<()> {
    let answer = client.task_definitions()?;
    if show.json {
        return show.raw(answer.text());
    }
    let rows: Vec<Vec<String>> = answer
        .read()?
        .into_iter()
        .map(|found| {
            let numbers =
                [found.retry_count.to_string(), found.response_timeout_seconds.to_string()];
            let limit = found.concurrent_exec_limit.filter(|limit| *limit > 0);
            let limit = limit.map(|limit| limit.to_string()).unwrap_or_default();
            std::iter::once(found.name).chain(numbers).chain([limit]).collect()
        })
        .collect();
    show.table(&["NAME", "RETRIES", "RESPONSE TIMEOUT", "LIMIT"], &rows)
}

pub(super) fn get(client: &Client, show: Show, name: &str) -> anyhow::Result<()> {
    let answer = client.task_definition(name)?;
    if show.json { show.raw(answer.text()) } else { show.pretty(answer.text()) }
}

pub(super) fn create(client: &Client, file: &Path) -> anyhow::Result<()> {
    client.create_task_definitions(&given::as_list(&given::file(file)?))?;
    say("registered");
    Ok(())
}

pub(super) fn update(client: &Client, file: &Path) -> anyhow::Result<()> {
    let text = given::file(file)?;
    if given::is_list(&text) {
        let words = "holds a list; an update takes one definition, `semel task create` a list";
        return Err(AskedWrongly(format!("{}: {words}", file.display())).into());
    }
    client.update_task_definition(&text)?;
    say("updated");
    Ok(())
}

pub(super) fn delete(client: &Client, name: &str) -> anyhow::Result<()> {
    client.delete_task_definition(name)?;
    say(&format!("deleted: {name}"));
    Ok(())
}
