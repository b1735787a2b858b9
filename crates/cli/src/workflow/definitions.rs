//! # Definitions of workflows

use std::path::Path;

use semel_client::Client;

use crate::exit::AskedWrongly;
use crate::given;
use crate::show::{Show, say};
use crate::times::moment;

pub(super) fn list(client: &Client, show: Show) -> anyhow::Result<()> {
    let answer = client.workflow_definitions()?;
    if show.json {
        return show.raw(answer.text());
    }
    let rows: Vec<Vec<String>> = answer
        .read()?
        .into_iter()
        .map(|found| {
            let steps = found.steps().len().to_string();
            let changed = found.update_time.max(found.create_time);
            vec![found.name, found.version.to_string(), steps, moment(changed)]
        })
        .collect();
    show.table(&["NAME", "VERSION", "STEPS", "CHANGED"], &rows)
}

pub(super) fn get(
    client: &Client,
    show: Show,
    name: &str,
    version: Option<i32>,
) -> anyhow::Result<()> {
    let answer = client.workflow_definition(name, version)?;
    if show.json { show.raw(answer.text()) } else { show.pretty(answer.text()) }
}

pub(super) fn create(client: &Client, file: &Path, force: bool) -> anyhow::Result<()> {
    let text = given::file(file)?;
    match (given::is_list(&text), force) {
        (false, _) => _ = client.create_workflow_definition(&text, force)?,
        (true, true) => _ = client.update_workflow_definitions(&text)?,
        (true, false) => {
            let words = "holds a list, which is written over what is there; \
                         say so with --force, or give one definition";
            return Err(AskedWrongly(format!("{}: {words}", file.display())).into());
        }
    }
    say("registered");
    Ok(())
}

pub(super) fn update(client: &Client, show: Show, file: &Path) -> anyhow::Result<()> {
    let answer = client.update_workflow_definitions(&given::as_list(&given::file(file)?))?;
    if show.json {
        return show.raw(answer.text());
    }
    say(&format!("updated: {}", answer.read()?.bulk_successful_results.join(", ")));
    Ok(())
}

pub(super) fn delete(client: &Client, name: &str, version: i32) -> anyhow::Result<()> {
    client.delete_workflow_definition(name, version)?;
    say(&format!("deleted: {name} version {version}"));
    Ok(())
}
