//! # Fields: what one can search and sort by

use semel_model::{TaskStatus, WorkflowStatus};

/// How a field's values compare.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Type {
    Text,
    /// Of an execution or a task; absent is the empty text.
    Id,
    Number,
    /// Milliseconds since 1970; 0: not yet.
    Time,
}

pub trait Field: Copy + PartialEq + std::fmt::Debug + 'static {
    /// Every name one can ask by. Two names may mean one field.
    const NAMES: &'static [(&'static str, Self)];
    /// What results are ordered by when nobody says.
    const START: Self;

    fn kind(self) -> Type;

    /// The only values there are; empty: there may be any.
    fn choices(self) -> Vec<&'static str> {
        Vec::new()
    }

    fn named(name: &str) -> Option<Self> {
        Self::NAMES.iter().find(|(known, _)| *known == name).map(|(_, field)| *field)
    }

    fn name(self) -> &'static str {
        let own = Self::NAMES.iter().find(|(_, field)| *field == self);
        own.map_or("", |(name, _)| *name)
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WorkflowField {
    WorkflowId,
    Parent,
    Correlation,
    IdempotencyKey,
    Name,
    Version,
    Status,
    Priority,
    Start,
    Update,
    End,
    /// Every run is a `workflow` so far.
    Classifier,
}

impl WorkflowField {
    pub const CLASSIFIER: &'static str = "workflow";
}

impl Field for WorkflowField {
    const NAMES: &'static [(&'static str, Self)] = &[
        ("workflowId", Self::WorkflowId),
        ("workflowType", Self::Name),
        ("version", Self::Version),
        ("status", Self::Status),
        ("correlationId", Self::Correlation),
        ("idempotencyKey", Self::IdempotencyKey),
        ("parentWorkflowId", Self::Parent),
        ("priority", Self::Priority),
        ("startTime", Self::Start),
        ("updateTime", Self::Update),
        ("modifiedTime", Self::Update),
        ("endTime", Self::End),
        ("classifier", Self::Classifier),
    ];
    const START: Self = Self::Start;

    fn kind(self) -> Type {
        match self {
            Self::WorkflowId | Self::Parent => Type::Id,
            Self::Correlation
            | Self::IdempotencyKey
            | Self::Name
            | Self::Status
            | Self::Classifier => Type::Text,
            Self::Version | Self::Priority => Type::Number,
            Self::Start | Self::Update | Self::End => Type::Time,
        }
    }

    fn choices(self) -> Vec<&'static str> {
        let is_closed = self == Self::Status;
        let all = WorkflowStatus::ALL.iter().filter(|_| is_closed);
        all.map(|status| status.as_str()).collect()
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TaskField {
    TaskId,
    WorkflowId,
    WorkflowName,
    TaskType,
    DefinitionName,
    Reference,
    Status,
    Scheduled,
    Start,
    Update,
    End,
}

impl Field for TaskField {
    const NAMES: &'static [(&'static str, Self)] = &[
        ("taskId", Self::TaskId),
        ("taskType", Self::TaskType),
        ("taskDefName", Self::DefinitionName),
        ("referenceTaskName", Self::Reference),
        ("taskReferenceName", Self::Reference),
        ("workflowId", Self::WorkflowId),
        ("workflowType", Self::WorkflowName),
        ("status", Self::Status),
        ("scheduledTime", Self::Scheduled),
        ("startTime", Self::Start),
        ("updateTime", Self::Update),
        ("modifiedTime", Self::Update),
        ("endTime", Self::End),
    ];
    const START: Self = Self::Start;

    fn kind(self) -> Type {
        match self {
            Self::TaskId | Self::WorkflowId => Type::Id,
            Self::WorkflowName
            | Self::TaskType
            | Self::DefinitionName
            | Self::Reference
            | Self::Status => Type::Text,
            Self::Scheduled | Self::Start | Self::Update | Self::End => Type::Time,
        }
    }

    fn choices(self) -> Vec<&'static str> {
        let is_closed = self == Self::Status;
        let all = TaskStatus::ALL.iter().filter(|_| is_closed);
        all.map(|status| status.as_str()).collect()
    }
}
