//! # The wire vocabulary
//!
//! Definitions, executions, tasks, results and requests as Conductor's clients spell them, plus the
//! ids, times and payloads everybody shares. **May use:** serde. **May not:** decide anything.

mod canonical;
mod concurrency;
mod effect;
mod enforced;
mod event_handler;
mod exact;
mod explanation;
mod expression_fields;
mod http_request;
mod ids;
pub mod lenient;
mod lock_parameters;
mod names;
mod ordered;
mod payload;
mod requests;
mod schema;
mod secret_names;
mod spelling;
mod start_policy;
mod status;
mod summary;
mod tag;
mod task;
mod task_def;
mod task_result;
mod task_types;
mod text_limit;
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
pub use exact::exact;
pub use explanation::{
    Blocker, BlockerKind, Explanation, Note, NoteKind, Wait, WaitKind, WhatToDo,
};
pub use expression_fields::{NAMED_RUN_FIELDS, NAMED_TASK_FIELDS, RUN_FIELDS, TASK_FIELDS};
pub use http_request::{
    Downstream, HttpClass, HttpKey, HttpMethod, HttpRequest, KeyHosts, KeyPlaces, OnConditionFailed,
};
pub use ids::{Digest, ExecutionId, TaskId, effect_key};
pub use lock_parameters::{LEASE_SECONDS_MAX, LOCK_NAME_BYTES_MAX, lock_lease_seconds, lock_name};
pub use names::UnknownName;
pub use ordered::Ordered;
pub use payload::Payload;
pub use requests::{
    BulkResponse, ErrorBody, SearchResult, SignalResponse, StartWorkflowRequest, Violation,
    WorkflowStateUpdate,
};
pub use secret_names::{SECRET_NAME_CHARS_MAX, is_secret_name};
pub use spelling::almost;
pub use start_policy::StartPolicy;
pub use status::{IdempotencyStrategy, TaskResultStatus, TaskStatus, WorkflowStatus};
pub use summary::{TaskSummary, WorkflowSummary};
pub use tag::Tag;
pub use task::{EffectOwner, ExecutionMetadata, StaleReport, Task};
pub use task_def::{RetryLogic, TaskDef, TaskTimeoutPolicy};
pub use task_result::{PollData, TaskExecLog, TaskResult};
pub use task_types::{
    heeds_start_delay, is_absent_type, is_served_type, is_system_type, is_templated,
    may_have_effect, meant_type, served_types,
};
pub use text_limit::{ID_CHARS_MAX, NAME_CHARS_MAX, text_fault};
pub use timestamp::Timestamp;
pub use traceparent::{NoTraceparent, Traceparent};
pub use unknown_members::{
    Misread, RequestMembers, unknown_in_handler, unknown_in_schema, unknown_in_task,
    unknown_in_workflow,
};
pub use validate::{
    ACTIONS_MAX, DefinitionLimits, IDEMPOTENCY_KEY_BYTES_MAX, NamedWorkflow, VIOLATIONS_MAX,
    started_definition,
};
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
