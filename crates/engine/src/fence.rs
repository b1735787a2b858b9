//! # Fencing: whose write counts
//!
//! Contract: docs/reference/idempotency.md#whose-report-counts.
//! Time never decides this: a lease says when another may try, the fence says whose
//! report is taken. A stale report is recognised and harmless.
//!
//! Without a fence, the hand-outs of the attempt decide. When there was only one, nobody else can
//! have the task, so the report counts whatever name it is signed with: many workers poll under one
//! name and report under another. When there were several, the name decides which of them speaks.

use semel_model::{TaskResultStatus, TaskStatus};

use crate::change::HandOutFacts;
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
    let worker = report.progress.worker.as_deref();
    if held.leased && !is_by_holder(task, held, worker) {
        return Err(not_the_holder(held, worker));
    }
    Ok(Standing::Current)
}

/// `extendLease`: the same judgement. None: only the task tells, because the names differ.
pub fn judge_renewal(
    held: &HandOut,
    task: Option<&Task>,
    fence: Option<u64>,
    worker: Option<&str>,
) -> Option<Result<(), Rejection>> {
    if !held.leased {
        return Some(Err(Rejection::Stale("nobody holds the task".to_owned())));
    }
    if let Some(fence) = fence {
        let is_current = fence == held.fence;
        return Some(if is_current { Ok(()) } else { Err(superseded(fence, held)) });
    }
    if is_same_name(held, worker) {
        return Some(Ok(()));
    }
    let by_holder = is_by_holder(task?, held, worker);
    Some(if by_holder { Ok(()) } else { Err(not_the_holder(held, worker)) })
}

/// A by-name update wins over another's lease only by force
/// (docs/reference/idempotency.md#by-name). The holder needs
/// none, and a holder without a name cannot be told from whoever speaks.
pub(crate) fn judge_named(
    task: &Task,
    held: &HandOut,
    force: bool,
    worker: Option<&str>,
) -> Result<(), Rejection> {
    let Some(holder) = held.worker.as_deref().filter(|_| held.leased && !force) else {
        return Ok(());
    };
    if worker.is_some_and(|worker| worker == holder || has_signed(task, holder, worker)) {
        return Ok(());
    }
    Err(Rejection::Held(format!(
        "task {} ({}) is held by {holder}; wait for its report, name it as workerid, or add \
         force=true to end its lease",
        task.id, task.reference
    )))
}

/// Without a fence: the report is, as far as anybody can tell, by the current holder.
pub(crate) fn is_by_holder(task: &Task, held: &HandOut, worker: Option<&str>) -> bool {
    is_same_name(held, worker) || is_only_hand_out(task, held) || {
        let names = held.worker.as_deref().zip(worker);
        names.is_some_and(|(holder, worker)| has_signed(task, holder, worker))
    }
}

/// A task that is over, and a late report without a fence: nobody but its sender ever had the task.
pub(crate) fn is_by_only_holder(task: &Task) -> bool {
    task.polls == 1 && !task.is_reset
}

/// What is kept of the hand-out that a report ends.
pub(crate) fn signed(task: &Task, held: &HandOut, report: &Report) -> HandOutFacts {
    let is_held = held.leased || task.is_in_doubt();
    let is_another = !is_same_name(held, report.progress.worker.as_deref());
    let signs = is_held && is_another && report.fence.is_none();
    HandOutFacts { holder: held.worker.clone().filter(|_| signs), ..held.facts() }
}

/// A missing name is nobody else's.
fn is_same_name(held: &HandOut, worker: Option<&str>) -> bool {
    match (held.worker.as_deref(), worker) {
        (Some(holder), Some(worker)) => holder == worker,
        (Some(_) | None, Some(_) | None) => true,
    }
}

/// The journal keeps the fence of the last hand-out that ended, also of one before a reset.
fn is_only_hand_out(task: &Task, held: &HandOut) -> bool {
    let has_ended_before = match task.fence {
        Some(fence) => task.is_reset || fence != held.fence,
        None => false,
    };
    held.polls <= 1 && !has_ended_before
}

/// The holder has reported on this task under that name before, and it counted.
fn has_signed(task: &Task, holder: &str, name: &str) -> bool {
    let signature = task.signature.as_ref();
    signature.is_some_and(|known| known.holder == holder && known.name == name)
}

fn closed(task: &Task) -> Rejection {
    let status: TaskStatus = task.status;
    Rejection::Stale(format!("the task is {status} already, by another report or without one"))
}

fn superseded(fence: u64, held: &HandOut) -> Rejection {
    Rejection::Stale(format!("fence {fence} is not the current {}", held.fence))
}

fn not_the_holder(held: &HandOut, worker: Option<&str>) -> Rejection {
    let holder = held.worker.as_deref().unwrap_or("a worker");
    let worker = worker.unwrap_or("a worker");
    Rejection::Stale(format!(
        "the task was handed out more than once and is held by worker {holder}, not {worker}: \
         report under the name of the poll, or with its fenceToken"
    ))
}
