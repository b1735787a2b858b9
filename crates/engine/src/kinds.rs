//! # Kinds of tasks: what this engine can run
//!
//! SIMPLE and any type nobody has reserved are worker tasks. System tasks have rules of their own,
//! one file each in `tasks/`; a reserved type without rules yet is refused at registration.

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
}

impl Kind {
    pub(crate) fn of(kind: &str) -> Self {
        match kind {
            "NOOP" => Self::Noop,
            "SET_VARIABLE" => Self::SetVariable,
            "TERMINATE" => Self::Terminate,
            "WAIT" => Self::Wait,
            "HUMAN" => Self::Human,
            "SUB_WORKFLOW" => Self::SubWorkflow,
            "START_WORKFLOW" => Self::StartWorkflow,
            "EVENT" => Self::Event,
            _ => Self::Worker,
        }
    }

    /// Over in the decision that begins it; trying again would give the same, at once.
    pub(crate) fn ends_at_once(self) -> bool {
        match self {
            Self::Noop | Self::SetVariable | Self::Terminate => true,
            Self::Worker
            | Self::Wait
            | Self::Human
            | Self::SubWorkflow
            | Self::StartWorkflow
            | Self::Event => false,
        }
    }

    /// Waits for its start delay like a worker's task; the others run when they are reached.
    pub(crate) fn heeds_delay(self) -> bool {
        match self {
            Self::Worker | Self::Wait | Self::SubWorkflow | Self::StartWorkflow | Self::Event => {
                true
            }
            Self::Noop | Self::SetVariable | Self::Terminate | Self::Human => false,
        }
    }

    /// Run by the engine itself: no worker is ever offered it.
    pub(crate) fn is_system(self) -> bool {
        self != Self::Worker
    }
}

const NOT_YET: [&str; 13] = [
    "DYNAMIC",
    "FORK_JOIN",
    "FORK_JOIN_DYNAMIC",
    "DECISION",
    "SWITCH",
    "JOIN",
    "DO_WHILE",
    "HTTP",
    "LAMBDA",
    "INLINE",
    "EXCLUSIVE_JOIN",
    "KAFKA_PUBLISH",
    "JSON_JQ_TRANSFORM",
];

pub fn is_supported(kind: &str) -> bool {
    !NOT_YET.contains(&kind)
}
