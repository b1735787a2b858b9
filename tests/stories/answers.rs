//! # Answers: what a story may expect of them

use anyhow::{Context, Result, ensure};

use crate::house::Reply;
use crate::language::Line;
use crate::showing;

pub(crate) fn expect(expected: &str, actual: &str) -> Result<()> {
    ensure!(expected == actual, "\n  expected:\n  {expected}\n  actual:\n  {actual}");
    Ok(())
}

/// `-> 404 "still running"`: that status, and a body that says so.
pub(crate) fn expect_status(line: &Line, reply: &Reply, success: u16) -> Result<()> {
    let mut expected = line.expected.iter();
    let status = expected.next().cloned().unwrap_or_else(|| success.to_string());
    let actual = reply.status.to_string();
    ensure!(status == actual, "expected {status}, got {actual}: {}", reply.body);
    for words in expected {
        let said = showing::nameless(&reply.body);
        ensure!(said.contains(words.as_str()), "expected {words:?} to be said, got {said}");
    }
    Ok(())
}

/// What became of a report: the word of its header, or its status when that is no success.
pub(crate) fn standing(reply: &Reply) -> String {
    match reply.status {
        200 | 204 => reply.header("x-task-update").unwrap_or("APPLIED").to_owned(),
        status => status.to_string(),
    }
}

/// The answer to a start: the run it made, or the one in its way.
pub(crate) struct Started {
    pub(crate) status: u16,
    pub(crate) id: Option<String>,
}

impl Started {
    pub(crate) fn of(reply: &Reply) -> Result<Self> {
        let id = match reply.status {
            200 => Some(reply.body.clone()),
            409 => {
                let found = &reply.json()?["metadata"]["existingWorkflowId"];
                Some(found.as_str().context("a conflict names the run in the way")?.to_owned())
            }
            _ => None,
        };
        Ok(Self { status: reply.status, id })
    }

    pub(crate) fn told(&self, known: Option<String>) -> String {
        let name = known.or_else(|| self.id.clone());
        name.map_or(self.status.to_string(), |name| format!("{} {name}", self.status))
    }
}
