//! # The wire vocabulary
//!
//! Definitions, executions, tasks, results and requests as Conductor's clients spell them, plus the
//! ids, times and payloads everybody shares. **May use:** serde. **May not:** decide anything.

mod canonical;
mod concurrency;
mod effect;
mod enforced;
mod event_handler;
mod explanation;
mod http_request;
mod ids;
pub mod lenient;
mod names;
mod ordered;
mod payload;
mod requests;
mod schema;
mod start_policy;
mod status;
mod summary;
mod tag;
mod task;
mod task_def;
mod task_result;
mod task_types;
mod timestamp;
mod traceparent;
mod unknown_members;
mod validate;
mod warning;
mod workflow;
mod workflow_def;
mod workflow_task;

pub use canonical::canonical;
pub use concurrency::{Concurrency, ConcurrencyPolicy, effective_concurrency};
pub use effect::{
    EFFECT_RETENTION_SECONDS, EffectMode, EffectPolicy, EffectScope, OnInProgress,
    OnPayloadMismatch, OnUnknown, effective_effect,
};
pub use event_handler::{
    Action, ActionKind, EventHandler, StartAction, TaskAction, TerminateAction, VariablesAction,
};
pub use explanation::{
    Blocker, BlockerKind, Explanation, Note, NoteKind, Wait, WaitKind, WhatToDo,
};
pub use http_request::{
    Downstream, HttpClass, HttpKey, HttpMethod, HttpRequest, KeyHosts, OnConditionFailed,
};
pub use ids::{Digest, ExecutionId, TaskId, effect_key};
pub use names::UnknownName;
pub use ordered::Ordered;
pub use payload::Payload;
pub use requests::{
    BulkResponse, ErrorBody, SearchResult, SignalResponse, StartWorkflowRequest, Violation,
    WorkflowStateUpdate,
};
pub use start_policy::StartPolicy;
pub use status::{IdempotencyStrategy, TaskResultStatus, TaskStatus, WorkflowStatus};
pub use summary::{TaskSummary, WorkflowSummary};
pub use tag::Tag;
pub use task::{EffectOwner, ExecutionMetadata, StaleReport, Task};
pub use task_def::{RetryLogic, TaskDef, TaskTimeoutPolicy};
pub use task_result::{PollData, TaskExecLog, TaskResult};
pub use task_types::{is_absent_type, is_system_type, may_have_effect, served_types};
pub use timestamp::Timestamp;
pub use traceparent::{NoTraceparent, Traceparent};
pub use unknown_members::{unknown_in_task, unknown_in_workflow};
pub use validate::{ACTIONS_MAX, IDEMPOTENCY_KEY_BYTES_MAX, VIOLATIONS_MAX};
pub use warning::{Warning, WarningKind};
pub use workflow::{KeptAnswer, Workflow, WorkflowState};
pub use workflow_def::{
    CacheConfig, RateLimitConfig, RateLimitPolicy, SchemaDef, SchemaType, WorkflowDef,
    WorkflowDefSummary, WorkflowTimeoutPolicy,
};
pub use workflow_task::{
    InlineDefinition, JoinMode, STATE_KEYS, STEP_NESTING_MAX, StateChangeEvent, SubWorkflowParams,
    WorkflowTask,
};
