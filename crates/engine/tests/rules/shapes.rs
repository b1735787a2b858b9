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
