//! # Shapes: definitions and reports in as few words as a rule needs

use semel_engine::{Event, Progress, Report, Slot};
use semel_model::{Digest, Payload, TaskId, TaskResultStatus};
use serde_json::{Value, json};

/// A definition of these steps.
pub(crate) fn flow(steps: &[Value]) -> Value {
    json!({"name": "flow", "version": 1, "tasks": steps})
}

/// A SIMPLE step `reference` of type `<reference>_def` under this task definition.
pub(crate) fn step(reference: &str, policy: Value) -> Value {
    let name = format!("{reference}_def");
    let policy = with(json!({"name": name}), policy);
    json!({"name": name, "taskReferenceName": reference, "type": "SIMPLE", "taskDefinition": policy})
}

/// `base` with the fields of `over` set.
pub(crate) fn with(mut base: Value, over: Value) -> Value {
    let (Value::Object(fields), Value::Object(news)) = (&mut base, over) else {
        panic!("both are objects")
    };
    fields.extend(news);
    base
}

pub(crate) fn payload(value: &Value) -> Payload {
    Payload::from_value(value)
}

/// What a worker says about a task, before it becomes an event.
#[derive(Clone, Debug)]
pub(crate) struct Said {
    pub(crate) task: TaskId,
    pub(crate) fence: Option<u64>,
    pub(crate) worker: Option<String>,
    pub(crate) status: TaskResultStatus,
    pub(crate) output: Value,
    pub(crate) reason: Option<String>,
    pub(crate) callback_after_seconds: i64,
}

impl Said {
    pub(crate) fn new(task: TaskId, status: TaskResultStatus) -> Self {
        Self {
            task,
            fence: None,
            worker: None,
            status,
            output: json!({}),
            reason: None,
            callback_after_seconds: 0,
        }
    }

    pub(crate) fn output(mut self, output: Value) -> Self {
        self.output = output;
        self
    }

    pub(crate) fn reason(mut self, reason: &str) -> Self {
        self.reason = Some(reason.to_owned());
        self
    }

    pub(crate) fn callback(mut self, seconds: i64) -> Self {
        self.callback_after_seconds = seconds;
        self
    }

    pub(crate) fn fence(mut self, fence: Option<u64>) -> Self {
        self.fence = fence;
        self
    }

    pub(crate) fn worker(mut self, worker: Option<&str>) -> Self {
        self.worker = worker.map(str::to_owned);
        self
    }

    pub(crate) fn progress(&self) -> Progress {
        Progress {
            status: self.status,
            output: Slot(0),
            reason: self.reason.clone(),
            worker: self.worker.clone(),
            callback_after_seconds: self.callback_after_seconds,
        }
    }

    /// The event and its payloads. Equal words have equal fingerprints.
    pub(crate) fn told(&self) -> (Event, Vec<Payload>) {
        let (task, fence, progress) = (self.task, self.fence, self.progress());
        let rest = format!("{task} {fence:?} {progress:?}");
        let output = payload(&self.output);
        let fingerprint = Digest::of_parts([rest.as_bytes(), output.text().as_bytes()]);
        (Event::Reported(Report { task, fence, fingerprint, progress }), vec![output])
    }
}

/// A SIMPLE step that is tried once.
pub(crate) fn once(reference: &str) -> Value {
    step(reference, json!({"retryCount": 0}))
}

/// A step of a type the engine runs itself.
pub(crate) fn system(reference: &str, kind: &str, fields: Value) -> Value {
    with(json!({"name": reference, "taskReferenceName": reference, "type": kind}), fields)
}

pub(crate) fn noop(reference: &str) -> Value {
    system(reference, "NOOP", json!({}))
}

pub(crate) fn terminate(reference: &str, status: &str) -> Value {
    let input = json!({"terminationStatus": status, "workflowOutput": {"k": 1}});
    system(reference, "TERMINATE", json!({"inputParameters": input}))
}

/// A FORK_JOIN of these branches.
pub(crate) fn fork(reference: &str, branches: &[&[Value]]) -> Value {
    system(reference, "FORK_JOIN", json!({"forkTasks": branches}))
}

pub(crate) fn join(reference: &str, on: &[&str]) -> Value {
    system(reference, "JOIN", json!({"joinOn": on}))
}

/// A FORK_JOIN_DYNAMIC whose input is this.
pub(crate) fn dynamic_fork(reference: &str, input: Value) -> Value {
    system(reference, "FORK_JOIN_DYNAMIC", json!({"inputParameters": input}))
}

/// A SWITCH by the run's input `case`.
pub(crate) fn switch(reference: &str, cases: Value, otherwise: &[Value]) -> Value {
    let fields = json!({"evaluatorType": "value-param", "expression": "case",
        "inputParameters": {"case": "${workflow.input.case}"},
        "decisionCases": cases, "defaultCase": otherwise});
    system(reference, "SWITCH", fields)
}

/// A DO_WHILE whose condition is answered by hand: a call of a method is not plain.
pub(crate) fn repeat(reference: &str, body: &[Value]) -> Value {
    let condition = format!("$.{reference}.iteration.valueOf() < 9");
    system(reference, "DO_WHILE", json!({"loopCondition": condition, "loopOver": body}))
}

/// A DO_WHILE over the list `items` of the run's input.
pub(crate) fn for_each(reference: &str, body: &[Value]) -> Value {
    let fields = json!({"items": "${workflow.input.items}", "loopOver": body});
    system(reference, "DO_WHILE", fields)
}
