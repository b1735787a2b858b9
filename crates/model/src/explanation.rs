//! # Explanations: why a run waits
//!
//! Made by the server in one place; the command line and the user interface only show it. The kinds
//! are stable names for programs, the sentences are for people.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{ExecutionId, StaleReport, TaskId, Timestamp, WorkflowStatus};

/// Why a run waits, or how it ended.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Explanation {
    pub workflow_id: ExecutionId,
    pub workflow_name: String,
    pub workflow_version: i32,
    pub status: WorkflowStatus,
    /// The run as a whole, in one sentence.
    pub summary: String,
    /// The run's own first, then one or more per open task, in the order of scheduling.
    pub waits: Vec<Wait>,
    /// Open tasks that are not in `waits`, because there are so many.
    pub more_tasks: usize,
    /// What is worth knowing and is no wait.
    pub notes: Vec<Note>,
}

/// One reason why a run waits.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Wait {
    pub kind: WaitKind,
    /// Absent: it concerns the run as a whole.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub task_reference_name: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub task_id: Option<TaskId>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub task_type: Option<String>,
    pub sentence: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub since: Option<Timestamp>,
    /// When it ends by itself, if that is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub until: Option<Timestamp>,
    pub blocked_by: Vec<Blocker>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub what_to_do: Option<WhatToDo>,
    /// The row of the page of troubles.
    pub docs: String,
}

/// What or who is in the way.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Blocker {
    pub kind: BlockerKind,
    /// The id of a workflow or task, a reference, the name of a worker, queue, lock, gate or effect.
    pub name: String,
    /// The run that the task or the hold belongs to, if it is another one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub workflow_id: Option<ExecutionId>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub task_id: Option<TaskId>,
    /// How many are before this one in the line, itself counted: 1 is next.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub position: Option<u64>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum BlockerKind {
    Workflow,
    Task,
    Worker,
    Queue,
    Lock,
    Gate,
    Effect,
    /// A caller of the API.
    Owner,
}

/// What can be done about it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct WhatToDo {
    pub sentence: String,
    /// To be typed as it is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub command: Option<String>,
}

/// Something about a task, or a step that has none yet, that is no wait.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Note {
    pub kind: NoteKind,
    /// Absent: whichever WAIT or YIELD comes first.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub task_reference_name: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub task_id: Option<TaskId>,
    pub sentence: String,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub stale_reports: Vec<StaleReport>,
    pub docs: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum NoteKind {
    /// Reports that were not applied.
    StaleReports,
    /// Answers for a task that is not there yet.
    KeptAnswers,
    /// The run counts at no gate, though its definition has one.
    NotCounted,
}

impl Explanation {
    /// All of it as people read it, line by line.
    pub fn sentences(&self) -> Vec<String> {
        let mut lines = vec![self.summary.clone()];
        for wait in &self.waits {
            lines.push(wait.sentence.clone());
            lines.extend(wait.what_to_do.as_ref().map(|what| match &what.command {
                Some(command) => format!("{}: {command}", what.sentence),
                None => what.sentence.clone(),
            }));
        }
        if self.more_tasks > 0 {
            lines.push(format!("{} more tasks are open.", self.more_tasks));
        }
        lines.extend(self.notes.iter().map(|note| note.sentence.clone()));
        lines
    }
}

macro_rules! wait_kinds {
    ($($name:ident $text:tt)+) => {
        /// What kind of waiting it is. The names are stable.
        #[derive(
            Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
        )]
        pub enum WaitKind {
            $(#[serde(rename = $text)] $name,)+
        }

        impl WaitKind {
            pub const ALL: &[Self] = &[$(Self::$name,)+];

            pub const fn as_str(self) -> &'static str {
                match self {
                    $(Self::$name => $text,)+
                }
            }
        }
    };
}

wait_kinds! {
    Ended "ENDED"
    FailedTask "FAILED_TASK"
    Unsupported "UNSUPPORTED"
    Parked "PARKED"
    Paused "PAUSED"
    Queued "QUEUED"
    BetweenSteps "BETWEEN_STEPS"
    NoWorker "NO_WORKER"
    NoWorkerInDomain "NO_WORKER_IN_DOMAIN"
    WorkerSilent "WORKER_SILENT"
    InQueue "IN_QUEUE"
    Held "HELD"
    RetryDelay "RETRY_DELAY"
    CallbackDelay "CALLBACK_DELAY"
    StartDelay "START_DELAY"
    ConcurrentLimit "CONCURRENT_LIMIT"
    RateLimit "RATE_LIMIT"
    ChoosesDomain "CHOOSES_DOMAIN"
    WaitUntil "WAIT_UNTIL"
    WaitSignal "WAIT_SIGNAL"
    Yield "YIELD"
    Human "HUMAN"
    Messages "MESSAGES"
    Http "HTTP"
    HttpShare "HTTP_SHARE"
    Event "EVENT"
    Script "SCRIPT"
    Join "JOIN"
    Loop "LOOP"
    SubWorkflow "SUB_WORKFLOW"
    StartWorkflow "START_WORKFLOW"
    Lock "LOCK"
    EffectInDoubt "EFFECT_IN_DOUBT"
    EffectWaitedFor "EFFECT_WAITED_FOR"
    Probe "PROBE"
    Engine "ENGINE"
}

impl WaitKind {
    /// Where the page of troubles tells of it.
    pub fn docs(self) -> String {
        trouble(self.as_str())
    }
}

impl NoteKind {
    pub fn docs(self) -> String {
        match self {
            Self::StaleReports => trouble("STALE_REPORTS"),
            Self::KeptAnswers => trouble("KEPT_ANSWERS"),
            Self::NotCounted => trouble("NOT_COUNTED"),
        }
    }
}

fn trouble(kind: &str) -> String {
    format!("docs/trouble.md#{}", kind.to_ascii_lowercase().replace('_', "-"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kind_is_written_as_it_is_called_and_has_its_row() {
        let page = include_str!("../../../docs/trouble.md");
        for kind in WaitKind::ALL {
            assert_eq!(serde_json::to_value(kind).unwrap(), kind.as_str());
            let docs = kind.docs();
            let anchor = docs.strip_prefix("docs/trouble.md#").unwrap();
            assert!(page.contains(&format!("<a id=\"{anchor}\"></a>")), "{anchor} has no row");
        }
        assert!(page.contains("<a id=\"stale-reports\"></a>"));
        assert!(page.contains("<a id=\"kept-answers\"></a>"));
        assert!(page.contains("<a id=\"not-counted\"></a>"));
    }
}
