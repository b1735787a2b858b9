//! # Once: tasks whose effect happens at most once, whoever asks for it
//!
//! Contract: docs/reference/idempotency.md#claims.
//! A task under such a policy is judged on the record of its effect in the commit that
//! makes it: the effect is claimed, or has happened and is replayed, or somebody else is at it and
//! the task waits in line. An owner never waits for anything itself, so nobody waits in a circle.
//!
//! The owner is the step in its place, with all its attempts. **May not:** say what became of an
//! effect (`outcome.rs`), nor what to do when nobody knows (`doubt.rs`).

use std::borrow::Cow;

use semel_model::{
    Digest, EffectPolicy, EffectScope, OnInProgress, Payload, TaskId, Timestamp, canonical,
    effective_effect,
};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::change::{Change, HandOutFacts};
use crate::decide::{Rows, Stop};
use crate::event::Parent;
use crate::expression::Heard;
use crate::kinds::Kind;
use crate::pin::Step;
use crate::record::{Decided, Record, RecordKey, RecordState};
use crate::replay::{owner_of, told, told_of};
use crate::task::Task;
use crate::turn::Turn;

/// What the scopes of effects begin with.
pub(crate) const SCOPE: &str = "effect:";

/// A longer key is refused.
const KEY_BYTES_MAX: usize = 512;

/// What is told of a fingerprint when another one differs.
const ABOUT_CHARS_MAX: usize = 500;

/// The record of an effect.
pub fn effect_record(scope: &str, key: &str) -> RecordKey {
    RecordKey { scope: format!("{SCOPE}{scope}"), key: key.to_owned() }
}

pub(crate) fn is_effect(key: &RecordKey) -> bool {
    key.scope.starts_with(SCOPE)
}

/// How a task stands to its effect.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Once {
    pub scope: String,
    pub key: String,
    pub status: EffectStatus,
    /// Whose effect it is, if not the task's own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub owner: Option<Parent>,
    /// It asked for something else than the first one did.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub mismatch: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum EffectStatus {
    /// Its own to do.
    Claimed,
    /// Somebody else is at it.
    Waiting,
    /// It had happened before.
    Replayed,
    /// It may have happened, and somebody has to find out.
    Unknown,
}

impl EffectStatus {
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Claimed => "CLAIMED",
            Self::Waiting => "WAITING",
            Self::Replayed => "REPLAYED",
            Self::Unknown => "UNKNOWN",
        }
    }
}

impl Once {
    /// No worker is offered the task meanwhile, and the engine does not begin it.
    pub(crate) fn holds_back(&self) -> bool {
        matches!(self.status, EffectStatus::Waiting | EffectStatus::Unknown)
    }

    pub(crate) fn record(&self) -> RecordKey {
        RecordKey { scope: self.scope.clone(), key: self.key.clone() }
    }
}

/// The effect of a task by its names.
#[derive(Clone, Debug)]
pub(crate) struct Named {
    pub(crate) record: RecordKey,
    /// All attempts at the step in its place.
    pub(crate) owner: String,
    pub(crate) fingerprint: Option<Digest>,
    pub(crate) about: Option<String>,
}

impl Step {
    /// The policy tasks at this step are done once under.
    pub(crate) fn effect(&self) -> Option<Cow<'_, EffectPolicy>> {
        if !self.kind().may_have_effect() {
            return None;
        }
        effective_effect(self.policy(), self.task())
    }
}

impl Turn<'_> {
    /// Judges a task that is about to be offered. Afterwards it is offered, held back, or over.
    pub(crate) fn enter_effect(&mut self, id: TaskId) -> Result<(), Stop> {
        let Some(task) = self.task(id) else { return Ok(()) };
        let step = task.step.clone();
        if self.probed(&task).is_some() {
            return Ok(());
        }
        if let Some(why) = self.unusable_effect(&task) {
            self.fail_at_once(id, why);
            return Ok(());
        }
        let policy = match step.effect() {
            Some(policy) => policy,
            None if self.was_sent_unsafely(&task) => Cow::Owned(EffectPolicy::default()),
            None => {
                self.expect_same_request(id);
                return Ok(());
            }
        };
        match self.named_effect(&task, &policy) {
            Ok(named) => match self.judge_effect(&task, &policy, &named, false) {
                Ok(()) => self.expect_same_request(id),
                // A fork may need many: they are named together, and all is decided again.
                Err(Stop::Miss(Rows::Guard(key))) => self.missing.push(key),
                Err(stop) => return Err(stop),
            },
            Err(why) => self.fail_at_once(id, why),
        }
        Ok(())
    }

    /// A step that came with data, and that registration could not look at, has an effect that would
    /// mean nothing.
    fn unusable_effect(&self, task: &Task) -> Option<String> {
        let step = &task.step;
        if step.kind().may_have_effect() || step.task().effect.is_none() {
            return None;
        }
        let place = self.execution().home(task.fork).find(&task.reference);
        let was_dynamic = place.is_some_and(|place| place.kind() == Kind::Dynamic);
        (was_dynamic || task.fork.is_some())
            .then(|| format!("effect: a {} cannot have one: take it away", step.task().kind))
    }

    /// What a task's effect is called; why it has no name.
    pub(crate) fn named_effect(&self, task: &Task, policy: &EffectPolicy) -> Result<Named, String> {
        let execution = self.execution();
        let scope = match policy.scope() {
            EffectScope::TaskName => task.step.task().name.clone(),
            EffectScope::WorkflowName => execution.definition().definition().name.clone(),
            EffectScope::Workflow => execution.id().to_string(),
            EffectScope::Named(name) => name.to_owned(),
        };
        let owner = execution.effect_key(&task.reference);
        let input = task.effect_input();
        let key = match policy.key() {
            Some(template) => Heard::new(&input).key(template).map_err(|missing| {
                format!(
                    "effect.key: {template} comes to nothing with the input of this task: {missing}"
                )
            })?,
            None => owner.clone(),
        };
        if key.len() > KEY_BYTES_MAX {
            let bytes = key.len();
            return Err(format!("effect.key: {bytes} bytes are more than {KEY_BYTES_MAX}"));
        }
        if key.contains('\0') {
            return Err("effect.key: it has a NUL character in it".to_owned());
        }
        let compared = compared(&input, policy.fingerprint());
        let fingerprint = compared.as_ref().map(|text| Digest::of(text.as_bytes()));
        let about = compared.map(|text| text.chars().take(ABOUT_CHARS_MAX).collect());
        Ok(Named { record: effect_record(&scope, &key), owner, fingerprint, about })
    }

    /// The table of docs/reference/idempotency.md#claims. A task that has waited gets what it
    /// waited for, expired or not.
    pub(crate) fn judge_effect(
        &mut self,
        task: &Task,
        policy: &EffectPolicy,
        named: &Named,
        has_waited: bool,
    ) -> Result<(), Stop> {
        let now = self.now();
        let is_over = |record: &Record| record.expires_at.is_some_and(|at| at <= now);
        let found = self.guard(&named.record)?.filter(|it| has_waited || !is_over(it));
        let Some(record) = found else {
            self.claim_effect(task, named, None, "CLAIMED");
            return Ok(());
        };
        let redoes = self.must_redo(&task.reference);
        match record.state {
            RecordState::Released => self.claim_effect(task, named, Some(&record), "CLAIMED"),
            RecordState::Claimed if self.owns(&record, named) => {
                let ends_at = self.execution().key_ends_at(task);
                if ends_at.is_some_and(|at| at <= now.max(task.ready_at)) {
                    return self.outlive_key(task, policy, named, HandOutFacts::default());
                }
                if has_waited {
                    let record = self.noting(record, task, "CLAIMED");
                    self.put_guard(&named.record, Some(record));
                }
                self.note_effect(task.id, named, EffectStatus::Claimed, None);
            }
            RecordState::Claimed if self.is_lost(&record) => {
                let record = self.lose(task, &named.record, &record)?;
                self.enter_doubt(task, policy, named, record)?;
            }
            RecordState::Claimed => self.wait_or_fail(task, policy, named, record)?,
            RecordState::Completed | RecordState::Failed | RecordState::Unknown if redoes => {
                self.claim_effect(task, named, Some(&record), "REDONE");
            }
            RecordState::Completed => self.replay(task, policy, named, record),
            RecordState::Failed => self.replay_failure(task, named, record),
            RecordState::Unknown => self.enter_doubt(task, policy, named, record)?,
        }
        Ok(())
    }

    /// This task, in whichever attempt, may finish it.
    pub(crate) fn owns(&self, record: &Record, named: &Named) -> bool {
        let is_same = record.detail.owner.as_deref() == Some(named.owner.as_str());
        record.run == Some(self.execution().id()) && is_same
    }

    pub(crate) fn claim_effect(
        &mut self,
        task: &Task,
        named: &Named,
        before: Option<&Record>,
        outcome: &str,
    ) {
        let mut claim = self.claim_for(task, named);
        if let Some(before) = before {
            claim = claim.remembering(&before.fact());
        }
        claim.detail.fence = self.fence();
        let claim = self.noting(claim, task, outcome);
        self.put_guard(&named.record, Some(claim));
        self.note_effect(task.id, named, EffectStatus::Claimed, None);
    }

    /// The record as it is when this task owns it.
    pub(crate) fn claim_for(&self, task: &Task, named: &Named) -> Record {
        let mut claim = Record::new(RecordState::Claimed, self.now());
        claim.run = Some(self.execution().id());
        claim.detail.task = Some(task.id);
        claim.detail.owner = Some(named.owner.clone());
        claim.detail.fingerprint = named.fingerprint;
        claim.detail.about.clone_from(&named.about);
        claim
    }

    pub(crate) fn note_effect(
        &mut self,
        task: TaskId,
        named: &Named,
        status: EffectStatus,
        owner: Option<Parent>,
    ) {
        let RecordKey { scope, key } = named.record.clone();
        let once = Box::new(Once { scope, key, status, owner, mismatch: false });
        self.note_once(task, once);
    }

    pub(crate) fn note_once(&mut self, task: TaskId, once: Box<Once>) {
        let (hand_out, reason, fingerprint) = (None, None, None);
        self.emit(Change::EffectNoted { task, once, hand_out, reason, fingerprint });
    }

    /// The record with one more decision in its ring.
    pub(crate) fn noting(&self, mut record: Record, task: &Task, outcome: &str) -> Record {
        record.note(self.decision(task, outcome));
        record
    }

    /// The record, having answered one more who asked again.
    pub(crate) fn hit(&self, mut record: Record, task: &Task, outcome: &str) -> Record {
        record.hit(self.decision(task, outcome));
        record
    }

    pub(crate) fn decision(&self, task: &Task, outcome: &str) -> Decided {
        let by = format!("{}/{}", self.execution().id(), task.reference);
        Decided { at: self.now(), by, outcome: outcome.to_owned(), mismatch: false }
    }

    fn wait_or_fail(
        &mut self,
        task: &Task,
        policy: &EffectPolicy,
        named: &Named,
        record: Record,
    ) -> Result<(), Stop> {
        let owner = owner_of(&record);
        if self.execution().is_under(&named.record) {
            let why = format!(
                "effect {} is being done by a SUB_WORKFLOW task that this run is part of, so it \
                 would wait for itself: give this step another key or scope, or no effect",
                told(&named.record)
            );
            self.refuse(task, named, record, why);
            return Ok(());
        }
        match policy.on_in_progress() {
            OnInProgress::Wait => {
                let record = self.hit(record, task, "WAITED");
                let lease = record.fact();
                self.put_guard(&named.record, Some(record));
                let claim = self.claim_for(task, named);
                self.await_guard(Some(task.id), &named.record, claim)?;
                self.note_effect(task.id, named, EffectStatus::Waiting, owner);
                self.look_when_it_lapses(task.id, &lease);
            }
            OnInProgress::Fail => {
                let who = told_of(&record);
                let why = format!("effect {} is in progress: {who} is at it", told(&named.record));
                self.refuse(task, named, record, why);
            }
        }
        Ok(())
    }
}

impl Task {
    /// What key and fingerprint are made of: what the step was given. A SUB_WORKFLOW hands that on.
    fn effect_input(&self) -> Payload {
        if self.kind() != Kind::SubWorkflow {
            return self.input.clone();
        }
        #[derive(serde::Deserialize)]
        struct Given {
            #[serde(default, rename = "workflowInput")]
            input: Option<Payload>,
        }
        let given = serde_json::from_str::<Given>(self.input.text()).ok();
        given.and_then(|given| given.input).map_or_else(Payload::empty, |input| input.respelled())
    }
}

/// The listed fields of an input in one canonical text; none is compared when none is listed.
fn compared(input: &Payload, fields: &[String]) -> Option<String> {
    if fields.is_empty() {
        return None;
    }
    let input = input.compared();
    let mut document = Heard::new(&Payload::from_value(&input));
    let fields = fields.iter().map(|path| {
        let found = field(&input, path).cloned();
        let found = found.unwrap_or_else(|| document.value(&format!("${{{}}}", path.trim())));
        (path.clone(), found)
    });
    Some(canonical(&Value::Object(fields.collect())))
}

/// A field by its name, or by a path of names. A name may have dots in it.
fn field<'v>(value: &'v Value, path: &str) -> Option<&'v Value> {
    value.get(path).or_else(|| {
        let (name, rest) = path.split_once('.')?;
        field(value.get(name)?, rest)
    })
}

/// When a record of an effect that is decided may be forgotten.
pub(crate) fn kept_until(policy: &EffectPolicy, now: Timestamp) -> Timestamp {
    let seconds = policy.retention_seconds.filter(|seconds| *seconds > 0);
    now.plus_seconds(seconds.unwrap_or(semel_model::EFFECT_RETENTION_SECONDS))
}
