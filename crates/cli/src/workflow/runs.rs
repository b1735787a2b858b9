//! # Runs: started, found, looked at

use semel_client::{Answer, Client, Synchronous};
use semel_model::StartWorkflowRequest;
use serde_json::Value;

use super::{Search, Start};
use crate::given;
use crate::record;
use crate::show::{Show, line, say};

pub(super) fn start(client: &Client, show: Show, asked: Start) -> anyhow::Result<()> {
    let request = StartWorkflowRequest {
        input: given::object("--input", asked.input.as_deref())?,
        name: asked.name,
        version: asked.version,
        correlation_id: asked.correlation_id,
        priority: asked.priority,
        idempotency_key: asked.key,
        idempotency_strategy: asked.strategy,
        ..StartWorkflowRequest::default()
    };
    if asked.sync {
        let waiting = Synchronous {
            request_id: Client::request_id(),
            wait_seconds: asked.wait,
            until: asked.until,
        };
        return execute(client, show, &request, &waiting);
    }
    let answer = client.start(&request)?;
    tell_outcome(&answer);
    if show.json { show.raw(answer.text()) } else { line(answer.text()) }
}

/// What became of a start that did not simply begin a run.
fn tell_outcome<T>(answer: &Answer<T>) {
    match answer.header("x-idempotency-outcome") {
        Some("RETURNED_EXISTING" | "ATTACHED") => {
            say("this key has a run already; nothing was started");
        }
        Some("SKIPPED") => say("as many runs are under way as may be; nothing was started"),
        Some("COALESCED") => {
            say("a run waits already, and has this input now; no other was started")
        }
        _ => {}
    }
    if answer.header("x-idempotency-payload-mismatch") == Some("true") {
        say("warning: that run was started with another payload than this one");
    }
}

fn execute(
    client: &Client,
    show: Show,
    request: &StartWorkflowRequest,
    waiting: &Synchronous,
) -> anyhow::Result<()> {
    let answer = client.execute(request, waiting)?;
    tell_outcome(&answer);
    if show.json {
        return show.raw(answer.text());
    }
    let run = answer.read()?;
    let text = |name: &str| run[name].as_str().unwrap_or_default().to_owned();
    say(&format!("{} {}", text("workflowId"), text("status")));
    if run["signalTimeout"] == true {
        say(&format!("it goes on; see it with: semel workflow show {}", text("workflowId")));
    }
    show.pretty(&run.get("output").unwrap_or(&Value::Null).to_string())
}

pub(super) fn search(client: &Client, show: Show, asked: Search) -> anyhow::Result<()> {
    let (start, size) = (asked.start, asked.size);
    let search = semel_client::Search {
        query: query(&asked),
        text: asked.text,
        sort: Some(asked.sort),
        key: asked.key,
        start,
        size,
    };
    let answer = client.search(&search)?;
    if show.json {
        return show.raw(answer.text());
    }
    let page = answer.read()?;
    let rows: Vec<Vec<String>> = page.results.iter().map(row).collect();
    let header = ["ID", "NAME", "VERSION", "STATUS", "STARTED", "ENDED", "CORRELATION", "KEY"];
    show.table(&header, &rows)?;
    let shown = u64::try_from(rows.len()).unwrap_or(u64::MAX);
    if page.total_hits > shown {
        let next = u64::from(start) + shown;
        say(&format!("{shown} of {}; go on with --start {next}", page.total_hits));
    }
    Ok(())
}

fn row(found: &Value) -> Vec<String> {
    let names = [
        "workflowId",
        "workflowType",
        "version",
        "status",
        "startTime",
        "endTime",
        "correlationId",
        "idempotencyKey",
    ];
    names.into_iter().map(|name| record::text(found, name)).collect()
}

/// What was asked for by flags, and by words, together.
fn query(asked: &Search) -> Option<String> {
    let list = |items: Vec<String>| items.join(",");
    let statuses = asked.status.iter().map(ToString::to_string).collect::<Vec<_>>();
    let mut clauses = Vec::new();
    if !asked.name.is_empty() {
        clauses.push(format!("workflowType IN ({})", list(asked.name.clone())));
    }
    if !statuses.is_empty() {
        clauses.push(format!("status IN ({})", list(statuses)));
    }
    clauses.extend(asked.query.clone().filter(|query| !query.trim().is_empty()));
    (!clauses.is_empty()).then(|| clauses.join(" AND "))
}

pub(super) fn status(client: &Client, show: Show, id: &str) -> anyhow::Result<()> {
    let answer = client.workflow_status(id)?;
    if show.json {
        return show.raw(answer.text());
    }
    line(&show.coloured(answer.read()?.status.as_str()))
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::super::{Verb, Workflow};
    use super::*;

    fn asked(arguments: &[&str]) -> Search {
        let all = ["workflow", "search"].iter().chain(arguments);
        match Workflow::try_parse_from(all).unwrap().verb {
            Verb::Search(search) => search,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn flags_and_words_of_a_search_are_one_query() {
        assert_eq!(query(&asked(&[])), None);
        let all = ["--name", "a", "--name", "b", "--status", "FAILED", "-q", "correlationId=c"];
        let expected = "workflowType IN (a,b) AND status IN (FAILED) AND correlationId=c";
        assert_eq!(query(&asked(&all)).as_deref(), Some(expected));
    }

    #[test]
    fn a_status_nobody_has_is_refused_with_the_known_ones() {
        let error = Workflow::try_parse_from(["workflow", "search", "--status", "DONE"]);
        let error = error.unwrap_err().to_string();
        assert!(error.contains("expected one of RUNNING, COMPLETED"), "{error}");
    }
}
