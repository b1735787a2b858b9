//! # Fields of expressions: what `${workflow...}` and `${reference...}` can read
//!
//! The engine builds each of them when it is asked for; whatever else is asked for is null.

/// What a run has.
pub const RUN_FIELDS: [&str; 16] = [
    "input",
    "output",
    "status",
    "workflowId",
    "parentWorkflowId",
    "parentWorkflowTaskId",
    "workflowType",
    "version",
    "correlationId",
    "reasonForIncompletion",
    "schemaVersion",
    "variables",
    "createTime",
    "taskToDomain",
    "priority",
    "idempotencyKey",
];

/// Read by name, and never all at once.
pub const NAMED_RUN_FIELDS: [&str; 2] = ["env", "secrets"];

/// What a task has.
pub const TASK_FIELDS: [&str; 18] = [
    "input",
    "output",
    "taskType",
    "status",
    "referenceTaskName",
    "retryCount",
    "correlationId",
    "pollCount",
    "taskDefName",
    "scheduledTime",
    "startTime",
    "endTime",
    "workflowInstanceId",
    "taskId",
    "reasonForIncompletion",
    "callbackAfterSeconds",
    "workerId",
    "iteration",
];

/// The same of a task.
pub const NAMED_TASK_FIELDS: [&str; 1] = ["attempt"];
