//! # Doubt: nobody knows whether an effect has happened
//!
//! Its worker fell silent, or says so itself. The policy of the task decides: try again, give up,
//! ask the far side (`probe.rs`), or wait until a person says (`resolve.rs`). Meanwhile the task is
//! in progress, and no worker is offered it; a late report of whoever had it last still counts.

use std::borrow::Cow;
use std::sync::Arc;

use semel_model::{Digest, EffectPolicy, OnUnknown, TaskResultStatus, TaskStatus};

use crate::change::{Change, HandOutFacts};
use crate::decide::{Rejection, Stop};
use crate::delivery::HandOut;
use crate::event::Report;
use crate::fence::{is_by_holder, is_by_only_holder};
use crate::kinds::Kind;
use crate::once::{EffectStatus, Named, Once};
use crate::outcome::{Outcome, said};
use crate::record::{Record, RecordKey, RecordState};
use crate::replay::{owner_of, told};
use crate::task::Task;
use crate::turn::{Closing, Turn};

impl Turn<'_> {
    /// An attempt ends, and perhaps nobody knows what became of its effect; its worker may have
    /// said so, by the report of that fingerprint. True: that was all.
    pub(crate) fn ends_in_doubt(
        &mut self,
        task: &Arc<Task>,
        hand_out: &HandOutFacts,
        says_so: Option<(Digest, TaskResultStatus)>,
        reason: Option<&str>,
    ) -> Result<bool, Stop> {
        if task.system {
            return Ok(false); // Its failure stands: the record alone is in doubt.
        }
        let may_be_repeated = says_so.is_some_and(|(_, it)| it == TaskResultStatus::Failed);
        let is_request = !may_be_repeated && self.is_unsafe(task);
        let policy = match task.step.effect() {
            Some(policy) => policy.into_owned(),
            None if is_request && self.probed(task).is_none() => EffectPolicy::default(),
            None => return Ok(false),
        };
        let holds = task.has_claim() || task.once.is_none();
        let is_untouched = hand_out.polls == 0;
        let is_proved = is_untouched && !self.gives_up_in_doubt(task);
        if is_proved || !holds || task.is_in_doubt() {
            return Ok(false);
        }
        let policy_says = rule(task, &policy, is_request);
        if policy_says == OnUnknown::Retry || (is_untouched && policy_says == OnUnknown::Fail) {
            return Ok(false);
        }
        let Ok(named) = self.named_effect(task, &policy) else { return Ok(false) };
        let why = reason.unwrap_or("its worker does not know").to_owned();
        if policy_says == OnUnknown::Fail {
            let why = format!("effect {} may have happened: {why}", told(&named.record));
            self.known.insert(task.id, Outcome::Unknown);
            let status = TaskStatus::FailedWithTerminalError;
            let closing = Closing::new(status, Some(why), hand_out.clone());
            self.emit_closed(task.id, closing);
            self.after_close(task.id);
            return Ok(true);
        }
        let record = self.guard(&named.record)?;
        let record = record.unwrap_or_else(|| self.claim_for(task, &named));
        self.doubt_effect(task, &named.record, record)?;
        let RecordKey { scope, key } = named.record.clone();
        let status = EffectStatus::Unknown;
        let once = Box::new(Once { scope, key, status, owner: None, mismatch: false });
        let (hand_out, reason) = (Some(hand_out.clone()), Some(why));
        let fingerprint = says_so.map(|(fingerprint, _)| fingerprint);
        self.emit(Change::EffectNoted { task: task.id, once, hand_out, reason, fingerprint });
        let task = Arc::clone(self.execution().expect_task(task.id));
        self.find_out(&task, policy_says == OnUnknown::Probe, &named)?;
        Ok(true)
    }

    /// Nobody took the last attempt, and an earlier one may have done it.
    fn gives_up_in_doubt(&self, task: &Task) -> bool {
        !self.has_attempts_left(task) && self.may_have_applied_before(task)
    }

    /// A failure of which nobody says whether it did something is in doubt when no attempt is left,
    /// and its policy waits then until somebody says.
    pub(crate) fn holds_after_last(&mut self, task: &Task) -> bool {
        let Some(policy) = task.step.effect().map(Cow::into_owned) else { return false };
        if task.system || self.has_attempts_left(task) || !task.has_claim() {
            return false;
        }
        if policy.caches_failures() {
            return false; // The failure is what is kept and replayed.
        }
        let is_request = self.is_unsafe(task);
        matches!(rule(task, &policy, is_request), OnUnknown::Hold | OnUnknown::Probe)
    }

    /// The task of a request that must not be repeated ends while the request is on its way: a record
    /// says that nobody knows what became of it, and nobody sends it again by itself.
    pub(crate) fn doubt_request(&mut self, task: &Task, held: &HandOut) -> Result<(), Stop> {
        let is_plain = task.once.is_none() && task.step.effect().is_none();
        if !held.leased || !is_plain || !self.is_unsafe(task) || self.probed(task).is_some() {
            return Ok(());
        }
        let Ok(named) = self.named_effect(task, &EffectPolicy::default()) else { return Ok(()) };
        let record = self.guard(&named.record)?.unwrap_or_else(|| self.claim_for(task, &named));
        let is_open = !matches!(record.state, RecordState::Completed | RecordState::Failed);
        if !is_open {
            return Ok(());
        }
        self.doubt_effect(task, &named.record, record)?;
        let RecordKey { scope, key } = named.record;
        let status = EffectStatus::Unknown;
        let once = Box::new(Once { scope, key, status, owner: None, mismatch: false });
        let (hand_out, reason, fingerprint) = (Some(held.facts()), None, None);
        self.emit(Change::EffectNoted { task: task.id, once, hand_out, reason, fingerprint });
        Ok(())
    }

    /// A person ends a task that a worker has had, and does not say whether its effect has happened:
    /// nobody knows.
    pub(crate) fn doubt_forced(&mut self, task: &Task, held: &HandOut) -> Result<(), Stop> {
        self.cancel_probe(task)?;
        self.known.insert(task.id, Outcome::Unknown);
        let Some(once) = task.once.as_ref().filter(|_| task.has_claim()) else {
            return self.doubt_request(task, held);
        };
        let key = once.record();
        match self.guard(&key)? {
            Some(record) if record.state == RecordState::Claimed => {
                self.doubt_effect(task, &key, record)
            }
            Some(_) | None => Ok(()),
        }
    }

    /// The other side may not know the key of an earlier attempt any more: nothing is sent again by
    /// itself.
    pub(crate) fn outlive_key(
        &mut self,
        task: &Task,
        policy: &EffectPolicy,
        named: &Named,
        hand_out: HandOutFacts,
    ) -> Result<(), Stop> {
        let record = self.guard(&named.record)?.unwrap_or_else(|| self.claim_for(task, named));
        self.doubt_effect(task, &named.record, record.clone())?;
        let seconds = policy.downstream_retention_seconds.unwrap_or_default();
        let why = format!(
            "effect {} may have happened, and its key was first sent more than \
             downstreamRetentionSeconds={seconds} ago: the other side may not know a repeat",
            told(&named.record)
        );
        let says = policy.on_unknown();
        if says == OnUnknown::Fail {
            self.known.insert(task.id, Outcome::Unknown);
            let status = TaskStatus::FailedWithTerminalError;
            self.emit_closed(task.id, Closing::new(status, Some(why), hand_out));
            self.after_close(task.id);
            return Ok(());
        }
        let RecordKey { scope, key } = named.record.clone();
        let status = EffectStatus::Unknown;
        let once = Box::new(Once { scope, key, status, owner: None, mismatch: false });
        let (hand_out, reason, fingerprint) = (Some(hand_out), Some(why), None);
        self.emit(Change::EffectNoted { task: task.id, once, hand_out, reason, fingerprint });
        let task = Arc::clone(self.execution().expect_task(task.id));
        self.find_out(&task, says == OnUnknown::Probe, named)
    }

    /// An attempt that nobody has taken yet has waited for so long that its key may be forgotten.
    /// True: that was all.
    pub(crate) fn has_outlived_key(&mut self, task: &Task, held: &HandOut) -> Result<bool, Stop> {
        let ends_at = self.execution().key_ends_at(task);
        if held.leased || !task.is_placed() || ends_at.is_none_or(|at| at > self.now()) {
            return Ok(false);
        }
        let step = task.step.clone();
        let policy = step.effect().unwrap_or_default();
        let Ok(named) = self.named_effect(task, &policy) else { return Ok(false) };
        self.outlive_key(task, &policy, &named, held.facts())?;
        Ok(true)
    }

    /// A task comes to an effect that may have happened.
    pub(crate) fn enter_doubt(
        &mut self,
        task: &Task,
        policy: &EffectPolicy,
        named: &Named,
        record: Record,
    ) -> Result<(), Stop> {
        let is_request = task.step.effect().is_none() || self.is_unsafe(task);
        let policy_says = rule(task, policy, is_request);
        match policy_says {
            OnUnknown::Retry => self.claim_effect(task, named, Some(&record), "CLAIMED"),
            OnUnknown::Fail => {
                let why = format!("effect {} may have happened", told(&named.record));
                self.refuse(task, named, record, why);
            }
            OnUnknown::Hold | OnUnknown::Probe => {
                let owner = owner_of(&record).filter(|_| !self.owns(&record, named));
                let record = self.hit(record, task, "WAITED");
                self.put_guard(&named.record, Some(record));
                self.note_effect(task.id, named, EffectStatus::Unknown, owner);
                let task = Arc::clone(self.execution().expect_task(task.id));
                self.find_out(&task, policy_says == OnUnknown::Probe, named)?;
            }
        }
        Ok(())
    }

    /// Asks the far side, or waits in line until somebody says.
    fn find_out(&mut self, task: &Task, probes: bool, named: &Named) -> Result<(), Stop> {
        if probes && self.schedule_probe(task, named)? {
            return Ok(());
        }
        self.hold_effect(task, named)
    }

    /// Waits until somebody says whether it has happened.
    pub(crate) fn hold_effect(&mut self, task: &Task, named: &Named) -> Result<(), Stop> {
        let claim = self.claim_for(task, named);
        self.await_guard(Some(task.id), &named.record, claim)
    }

    /// Whoever had a task in doubt last may still say how it went, and nobody else.
    pub(crate) fn judge_in_doubt(
        &self,
        task: &Task,
        held: &HandOut,
        report: &Report,
    ) -> Result<(), Rejection> {
        let stale = |why: &str| Err(Rejection::Stale(why.to_owned()));
        if report.progress.status == TaskResultStatus::InProgress {
            return stale("nobody knows what became of the task: only its end counts");
        }
        let says = said(self.payload(report.progress.output));
        let is_bare = report.progress.status == TaskResultStatus::Failed && says.is_none();
        let is_over = is_bare && !self.has_attempts_left(task);
        if says == Some(Outcome::Unknown) || is_over {
            return stale("nobody knows what became of the task, and that is no news");
        }
        if task.polls == 0 {
            return stale("nobody has taken the task");
        }
        if report.fence.is_some_and(|fence| Some(fence) != task.fence) {
            return stale("somebody else has taken the task since");
        }
        let worker = report.progress.worker.as_deref();
        if report.fence.is_none() && !is_by_holder(task, held, worker) {
            return stale("the task was handed out more than once, to another worker last");
        }
        Ok(())
    }

    /// A task in doubt hears how it went: the effect is its own again.
    pub(crate) fn leave_doubt(&mut self, task: &Task) -> Result<(), Stop> {
        self.cancel_probe(task)?;
        let Some(once) = task.once.as_ref().filter(|once| once.owner.is_none()) else {
            return Ok(());
        };
        let key = once.record();
        let owner = self.execution().effect_key(&task.reference);
        let id = self.execution().id();
        let is_own = |record: &Record| {
            let is_same = record.run == Some(id) && record.detail.owner.as_ref() == Some(&owner);
            record.state == RecordState::Unknown && is_same
        };
        if let Some(record) = self.guard(&key)?.filter(is_own) {
            let record = Record { state: RecordState::Claimed, ..record };
            self.put_guard(&key, Some(record));
        }
        Ok(())
    }

    /// A task is over, and whoever had it last says so late how it went: its record hears it, if
    /// nobody knew. True: it did.
    pub(crate) fn settles_late(&mut self, task: &Task, report: &Report) -> Result<bool, Stop> {
        let is_silent = task.accepted.is_none(); // The first word of a holder stands.
        let is_holders = match report.fence {
            Some(fence) => task.fence == Some(fence),
            None => is_by_only_holder(task),
        };
        let is_last = is_silent && is_holders;
        let Some(once) = task.once.clone().filter(|_| is_last && task.has_claim()) else {
            return Ok(false);
        };
        let output = self.payload(report.progress.output).clone();
        let outcome = match (report.progress.status, said(&output)) {
            (TaskResultStatus::Completed, _) => Outcome::Applied,
            (_, Some(Outcome::NotApplied)) => Outcome::NotApplied,
            (TaskResultStatus::FailedWithTerminalError, None) => Outcome::NotApplied,
            _ => return Ok(false),
        };
        let step = task.step.clone();
        let policy = step.effect().unwrap_or_default();
        let key = once.record();
        let Ok(named) = self.named_effect(task, &policy) else { return Ok(false) };
        let is_same = |record: &Record| {
            record.state == RecordState::Unknown && record.detail.task == Some(task.id)
        };
        let record = self.guard(&key)?.filter(is_same);
        let Some(record) = record.filter(|record| self.owns(record, &named)) else {
            return Ok(false);
        };
        match outcome {
            Outcome::Applied => {
                self.complete_effect(task, &policy, &key, record, output, "COMPLETED")?;
            }
            Outcome::NotApplied | Outcome::Perhaps | Outcome::Unknown => {
                self.settle_effect(task, &policy, &key, record, Outcome::NotApplied)?;
            }
        }
        self.note_late(task, once, report.fingerprint);
        Ok(true)
    }

    /// The repeat of that report will be known.
    fn note_late(&mut self, task: &Task, once: Box<Once>, fingerprint: Digest) {
        let (hand_out, reason, fingerprint) = (None, None, Some(fingerprint));
        self.emit(Change::EffectNoted { task: task.id, once, hand_out, reason, fingerprint });
    }
}

/// What to do in doubt. A request that the other side knows again, or that its sender says may be
/// repeated, is sent again unless its author wrote otherwise or gave a probe.
fn rule(task: &Task, policy: &EffectPolicy, must_not_repeat: bool) -> OnUnknown {
    let is_harmless = task.kind() == Kind::Http && !must_not_repeat;
    match (policy.on_unknown, &policy.probe) {
        (None, None) if is_harmless => OnUnknown::Retry,
        (Some(_) | None, _) => policy.on_unknown(),
    }
}
