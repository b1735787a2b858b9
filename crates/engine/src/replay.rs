//! # Replays: what a task is given when its effect has happened before
//!
//! The output of whoever did it, or the same failure; or a refusal that says why not.

use semel_model::{EffectPolicy, OnPayloadMismatch, Payload, TaskStatus};
use serde_json::{Map, Value};

use crate::change::HandOutFacts;
use crate::event::Parent;
use crate::once::{EffectStatus, Named, Once, SCOPE};
use crate::record::{Record, RecordKey, RecordState};
use crate::task::Task;
use crate::turn::{Closing, Turn};

impl Turn<'_> {
    /// The task ends as the one that did it.
    pub(crate) fn replay(
        &mut self,
        task: &Task,
        policy: &EffectPolicy,
        named: &Named,
        record: Record,
    ) {
        let (first, own) = (record.detail.fingerprint, named.fingerprint);
        let differs = first.is_some() && own.is_some() && first != own;
        let fails = policy.on_payload_mismatch() == OnPayloadMismatch::Fail;
        if differs && fails {
            let unknown = || "something else".to_owned();
            let why = format!(
                "effect {} has happened with {}, done by {}; this task asks for {} under the same \
                 key",
                told(&named.record),
                record.detail.about.clone().unwrap_or_else(unknown),
                told_of(&record),
                named.about.clone().unwrap_or_else(unknown),
            );
            return self.refuse(task, named, record, why);
        }
        let mismatch = differs && policy.on_payload_mismatch() == OnPayloadMismatch::Flag;
        let output = as_output(record.detail.result.as_ref());
        let mut decided = self.decision(task, "REPLAYED");
        decided.mismatch = mismatch;
        let owner = owner_of(&record);
        let mut record = record;
        record.hit(decided);
        self.put_guard(&named.record, Some(record));
        let RecordKey { scope, key } = named.record.clone();
        let status = EffectStatus::Replayed;
        self.note_once(task.id, Box::new(Once { scope, key, status, owner, mismatch }));
        let output = Some(self.store(output));
        let closing = Closing::new(TaskStatus::Completed, None, HandOutFacts::default());
        self.emit_closed(task.id, Closing { output, ..closing });
        self.after_close(task.id);
    }

    pub(crate) fn replay_failure(&mut self, task: &Task, named: &Named, record: Record) {
        let output = as_output(record.detail.result.as_ref());
        let why = record.detail.failure.clone();
        let why = why.unwrap_or_else(|| format!("effect {} has failed", told(&named.record)));
        let owner = owner_of(&record);
        let record = self.hit(record, task, "REPLAYED");
        self.put_guard(&named.record, Some(record));
        self.note_effect(task.id, named, EffectStatus::Replayed, owner);
        let output = Some(self.store(output));
        let status = TaskStatus::FailedWithTerminalError;
        let closing = Closing::new(status, Some(why), HandOutFacts::default());
        self.emit_closed(task.id, Closing { output, ..closing });
        self.after_close(task.id);
    }

    /// Not under this key.
    pub(crate) fn refuse(&mut self, task: &Task, named: &Named, record: Record, why: String) {
        let mut decided = self.decision(task, "REJECTED");
        decided.mismatch = record.state == RecordState::Completed;
        let mut record = record;
        record.hit(decided);
        self.put_guard(&named.record, Some(record));
        self.fail_at_once(task.id, why);
    }
}

/// Who did it, or is at it.
pub(crate) fn owner_of(record: &Record) -> Option<Parent> {
    Some(Parent { execution: record.run?, task: record.detail.task? })
}

pub(crate) fn told_of(record: &Record) -> String {
    match (record.run, record.detail.task, &record.detail.owner) {
        (Some(run), Some(task), _) => format!("task {task} of workflow {run}"),
        (_, _, Some(owner)) => owner.clone(),
        _ => "somebody".to_owned(),
    }
}

/// The scope of an effect as the API knows it.
pub(crate) fn scope_on_the_wire(record: &RecordKey) -> &str {
    record.scope.strip_prefix(SCOPE).unwrap_or(&record.scope)
}

/// An effect as people know it.
pub(crate) fn told(record: &RecordKey) -> String {
    format!("{}/{}", scope_on_the_wire(record), record.key)
}

fn as_output(result: Option<&Payload>) -> Payload {
    match result {
        Some(result) if result.is_object() => result.clone(),
        Some(result) => {
            Payload::from_value(&Value::Object(Map::from_iter([("result".into(), result.value())])))
        }
        None => Payload::empty(),
    }
}
