//! # Fencing: whose write counts
//!
//! Contract 4. Time never decides this: a lease says when another may try, the fence says whose
//! report is taken. A stale report is recognised and harmless.

use semel_model::{TaskResultStatus, TaskStatus};

use crate::decide::Rejection;
use crate::delivery::HandOut;
use crate::event::Report;
use crate::task::Task;

#[derive(Debug, PartialEq)]
pub(crate) enum Standing {
    Current,
    /// Byte-equal to the report that was accepted: nothing changes, the first answer is given.
    Repeated,
}

pub(crate) fn judge(task: &Task, held: &HandOut, report: &Report) -> Result<Standing, Rejection> {
    let same = task.accepted == Some(report.fingerprint);
    if task.status.is_terminal() {
        return if same { Ok(Standing::Repeated) } else { Err(closed(task)) };
    }
    if same && report.progress.status == TaskResultStatus::InProgress && !held.leased {
        return Ok(Standing::Repeated);
    }
    if task.is_reset && !task.system && held.polls == 0 {
        return Err(Rejection::Stale(
            "the task was reset and nobody has taken it since".to_owned(),
        ));
    }
    if let Some(fence) = report.fence {
        return if fence == held.fence && fence > 0 {
            Ok(Standing::Current)
        } else {
            Err(superseded(fence, held))
        };
    }
    if task.is_reset && !task.system && !held.leased {
        // Under this id the task was done before: it may be that worker who still speaks.
        return Err(Rejection::Stale("the task was reset and is not held by anybody".to_owned()));
    }
    match (&report.progress.worker, &held.worker) {
        (Some(worker), Some(holder)) if held.leased && worker != holder => {
            Err(Rejection::Stale(format!("the task is held by worker {holder}, not {worker}")))
        }
        _ => Ok(Standing::Current),
    }
}

/// Contract 4, rule 3: a by-name update wins over a lease only by force.
pub(crate) fn judge_named(task: &Task, held: &HandOut, force: bool) -> Result<(), Rejection> {
    if !held.leased || force {
        return Ok(());
    }
    let holder = held.worker.as_deref().unwrap_or("a worker");
    Err(Rejection::WrongState(format!(
        "task {} ({}) is held by {holder}; wait for its report, or add force=true to end its lease",
        task.id, task.reference
    )))
}

fn closed(task: &Task) -> Rejection {
    let status: TaskStatus = task.status;
    Rejection::Stale(format!("the task is {status} already, by another report or without one"))
}

fn superseded(fence: u64, held: &HandOut) -> Rejection {
    Rejection::Stale(format!("fence {fence} is not the current {}", held.fence))
}
