//! # Kinds of tasks: what this engine can run
//!
//! SIMPLE and any type nobody has reserved are worker tasks. System tasks have rules of their own,
//! one file each in `tasks/`, also where a worker does them; what this release cannot run is in `release.rs`.

use semel_model::is_absent_type;

/// What a step's `type` means.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Worker,
    Noop,
    SetVariable,
    Terminate,
    Wait,
    Human,
    SubWorkflow,
    StartWorkflow,
    Event,
    Switch,
    Decision,
    Fork,
    DynamicFork,
    Join,
    ExclusiveJoin,
    /// Becomes a task of another kind when it is reached.
    Dynamic,
    DoWhile,
    Inline,
    Lambda,
    Jq,
    /// Open until somebody signals it.
    Yield,
    /// Known, and not in this release.
    Absent,
    PullMessages,
    /// Done by a worker of the server's own, or by any other that asks for it.
    Http,
    AcquireLock,
    ReleaseLock,
}

impl Kind {
    pub(crate) fn of(kind: &str) -> Self {
        match kind {
            "SIMPLE" => Self::Worker,
            "NOOP" => Self::Noop,
            "SET_VARIABLE" => Self::SetVariable,
            "TERMINATE" => Self::Terminate,
            "WAIT" => Self::Wait,
            "HUMAN" => Self::Human,
            "SUB_WORKFLOW" => Self::SubWorkflow,
            "START_WORKFLOW" => Self::StartWorkflow,
            "EVENT" => Self::Event,
            "SWITCH" => Self::Switch,
            "DECISION" => Self::Decision,
            "FORK_JOIN" => Self::Fork,
            "FORK_JOIN_DYNAMIC" => Self::DynamicFork,
            "JOIN" => Self::Join,
            "EXCLUSIVE_JOIN" => Self::ExclusiveJoin,
            "DYNAMIC" => Self::Dynamic,
            "DO_WHILE" => Self::DoWhile,
            "INLINE" => Self::Inline,
            "LAMBDA" => Self::Lambda,
            "JSON_JQ_TRANSFORM" => Self::Jq,
            "YIELD" => Self::Yield,
            "PULL_WORKFLOW_MESSAGES" => Self::PullMessages,
            "HTTP" => Self::Http,
            "ACQUIRE_LOCK" => Self::AcquireLock,
            "RELEASE_LOCK" => Self::ReleaseLock,
            other if is_absent_type(other) => Self::Absent,
            _ => Self::Worker,
        }
    }

    /// Trying again would give the same, at once; a person may still ask for it.
    pub(crate) fn is_never_retried(self) -> bool {
        match self {
            Self::Noop
            | Self::SetVariable
            | Self::Terminate
            | Self::Switch
            | Self::Decision
            | Self::Fork
            | Self::DynamicFork
            | Self::Join
            | Self::ExclusiveJoin
            | Self::DoWhile
            | Self::Absent => true,
            Self::Worker
            | Self::Wait
            | Self::Human
            | Self::SubWorkflow
            | Self::StartWorkflow
            | Self::Event
            | Self::Dynamic
            | Self::Inline
            | Self::Lambda
            | Self::Jq
            | Self::Yield
            | Self::PullMessages
            | Self::Http
            | Self::AcquireLock
            | Self::ReleaseLock => false,
        }
    }

    /// Waits for its start delay like a worker's task; the others run when they are reached. The model
    /// knows which (`heeds_start_delay` there).
    pub(crate) fn heeds_delay(self) -> bool {
        match self {
            Self::Worker
            | Self::Dynamic
            | Self::Wait
            | Self::SubWorkflow
            | Self::StartWorkflow
            | Self::Event
            | Self::Yield
            | Self::PullMessages
            | Self::Http
            | Self::AcquireLock
            | Self::ReleaseLock => true,
            Self::Noop
            | Self::SetVariable
            | Self::Terminate
            | Self::Human
            | Self::Switch
            | Self::Decision
            | Self::Fork
            | Self::DynamicFork
            | Self::Join
            | Self::ExclusiveJoin
            | Self::DoWhile
            | Self::Inline
            | Self::Lambda
            | Self::Jq
            | Self::Absent => false,
        }
    }

    /// Such a step may have an `effect`: it acts on something outside of its run, or computes a result
    /// that can be kept. The model refuses an `effect` at any other (`may_have_effect` there).
    pub(crate) fn may_have_effect(self) -> bool {
        match self {
            Self::Worker
            | Self::Http
            | Self::SubWorkflow
            | Self::StartWorkflow
            | Self::Event
            | Self::Inline
            | Self::Lambda
            | Self::Jq => true,
            Self::Noop
            | Self::SetVariable
            | Self::Terminate
            | Self::Wait
            | Self::Human
            | Self::Switch
            | Self::Decision
            | Self::Fork
            | Self::DynamicFork
            | Self::Join
            | Self::ExclusiveJoin
            | Self::Dynamic
            | Self::DoWhile
            | Self::Yield
            | Self::Absent
            | Self::PullMessages
            | Self::AcquireLock
            | Self::ReleaseLock => false,
        }
    }

    /// Run by the engine itself: no worker is ever offered it.
    pub(crate) fn is_system(self) -> bool {
        !matches!(self, Self::Worker | Self::Http)
    }

    /// Its type is a name of ours, and says what a task of it does.
    pub(crate) fn is_reserved(self) -> bool {
        self != Self::Worker
    }

    /// Ends when other tasks of the run have: it does nothing itself, and goes on where it was when
    /// it is tried again.
    pub(crate) fn is_passive(self) -> bool {
        matches!(self, Self::Join | Self::ExclusiveJoin | Self::DoWhile)
    }

    /// What signals answer.
    pub(crate) fn is_wait(self) -> bool {
        matches!(self, Self::Wait | Self::Yield)
    }

    /// People and programs answer for it, so that an answer may come before it does.
    pub(crate) fn is_kept_for(self) -> bool {
        matches!(self, Self::Wait | Self::Yield | Self::Human | Self::Dynamic)
    }

    /// Somebody else than the engine ends it, by an answer.
    pub(crate) fn is_answered(self) -> bool {
        matches!(self, Self::Wait | Self::Yield | Self::Human | Self::Worker | Self::Http)
    }

    pub(crate) fn is_fork(self) -> bool {
        matches!(self, Self::Fork | Self::DynamicFork)
    }

    pub(crate) fn is_choice(self) -> bool {
        matches!(self, Self::Switch | Self::Decision)
    }
}

/// What such a task is called on the wire, where that is not its type.
pub(crate) fn task_type(kind: &str) -> &str {
    if Kind::of(kind).is_fork() { "FORK" } else { kind }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_model_refuses_an_effect_exactly_where_the_engine_has_no_use_for_it() {
        let served = semel_model::served_types().iter().copied().chain(["SIMPLE", "charge_card"]);
        for kind in served.filter(|kind| *kind != "DYNAMIC") {
            let expected = Kind::of(kind).may_have_effect();
            assert_eq!(semel_model::may_have_effect(kind), expected, "{kind}");
        }
    }

    #[test]
    fn the_model_warns_of_a_delay_exactly_where_the_engine_does_not_heed_it() {
        let all = semel_model::served_types().iter().copied().chain(["SIMPLE", "JDBC", "charge"]);
        for kind in all {
            assert_eq!(
                semel_model::heeds_start_delay(kind),
                Kind::of(kind).heeds_delay(),
                "{kind}"
            );
        }
    }
}
