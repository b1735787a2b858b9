//! # Probes: the far side is asked whether an effect has happened
//!
//! The probe of a step is a step of its own, inside of it: `charge__probe` asks about `charge`. It
//! only reads, and answers `{"applied": true, "output": {..}}`, `{"applied": false}` or
//! `{"applied": "unknown"}`. One that fails does not know either.

use std::sync::Arc;

use semel_model::{
    EffectPolicy, OnUnknown, Payload, TaskDef, TaskStatus, WorkflowTask, effective_effect,
};
use serde_json::{Value, json};

use crate::change::HandOutFacts;
use crate::decide::Stop;
use crate::execution::Execution;
use crate::expression::{disarmed, merged};
use crate::once::{EffectStatus, Named, Once};
use crate::pin::{Pinned, Registry, Step};
use crate::record::{Record, RecordKey, RecordState};
use crate::replay::scope_on_the_wire;
use crate::schedule::By;
use crate::task::Task;
use crate::turn::{Closing, Turn};

const SUFFIX: &str = "__probe";

/// What a probe answers.
enum Answer {
    Applied(Payload),
    NotApplied,
    Unknown,
}

/// Makes the probe of a step a step of its own, with its task definition embedded.
pub(crate) fn prepare(step: &mut WorkflowTask, registry: &mut impl Registry) {
    let Some(definition) = step.task_definition.clone() else { return };
    let Some(policy) = effective_effect(&definition, step) else { return };
    let (Some(probe), true) = (&policy.probe, policy.on_unknown() == OnUnknown::Probe) else {
        return;
    };
    let mut probe = (**probe).clone();
    probe.task_reference_name = format!("{}{SUFFIX}", step.task_reference_name);
    if probe.task_definition.is_none() {
        let found = registry.task(&probe.name);
        let ad_hoc = || Arc::new(TaskDef::ad_hoc(&probe.name, &probe.kind));
        probe.task_definition = Some(found.unwrap_or_else(ad_hoc));
    }
    step.effect = Some(EffectPolicy { probe: Some(Box::new(probe)), ..policy.into_owned() });
}

/// The probe of a step, if it was prepared.
pub(crate) fn prepared(step: &WorkflowTask) -> Option<&WorkflowTask> {
    let probe = step.effect.as_ref()?.probe.as_deref()?;
    let is_prepared = probe.task_reference_name == format!("{}{SUFFIX}", step.task_reference_name);
    (is_prepared && probe.task_definition.is_some()).then_some(probe)
}

impl Pinned {
    fn probe_of(&self, step: &Step) -> Option<&Step> {
        let probe = self.find(&format!("{}{SUFFIX}", step.reference()))?;
        (self.around(probe) == Some(step)).then_some(probe)
    }
}

impl Execution {
    /// The step that a task is the probe of: a step that may have an effect has no other inside of it.
    fn probed_step(&self, task: &Task) -> Option<&Step> {
        let home = self.home(task.fork);
        home.around(home.find(&task.reference)?).filter(|around| around.kind().may_have_effect())
    }

    /// The open task that asks the far side about the effect of this one.
    pub(crate) fn probe_under_way(&self, task: &Task) -> Option<&Arc<Task>> {
        let place = self.home(task.fork).find(&task.reference)?;
        let is_its = |probe: &&Arc<Task>| {
            let is_beside = probe.turns == task.turns && probe.fork == task.fork;
            is_beside && self.probed_step(probe) == Some(place)
        };
        self.open_tasks().find(is_its)
    }

    pub(crate) fn is_probe(&self, task: &Task) -> bool {
        self.probed_step(task).is_some()
    }
}

impl Turn<'_> {
    /// The name of the task that this one is the probe of.
    pub(crate) fn probed(&self, task: &Task) -> Option<String> {
        self.execution().probed_step(task).map(|around| self.name_beside(task, around))
    }

    /// False: there is no probe.
    pub(crate) fn schedule_probe(&mut self, task: &Task, named: &Named) -> Result<bool, Stop> {
        let home = Arc::clone(self.execution().home(task.fork));
        let place = home.find(&task.reference).and_then(|place| home.probe_of(place));
        let Some(place) = place else { return Ok(false) };
        let site = self.site(task, place);
        let before = self.execution().latest(&site.reference).cloned();
        let attempt = before.as_ref().map_or(0, |before| before.attempt + 1);
        let id = self.task_id(&site.reference, attempt);
        let input = self.input_of(&site, id, None);
        let scope = scope_on_the_wire(&named.record);
        let about = json!({"_effect": {"scope": scope, "key": named.record.key,
            "effectKey": named.owner}});
        let input = self.store(merged(&input, &disarmed(&Payload::from_value(&about))));
        match before {
            Some(before) => {
                let by = By::Hand(Some(input));
                self.schedule_again(site, &before, self.now(), by)?;
            }
            None => self.schedule_with(site, input)?,
        }
        Ok(true)
    }

    /// Nobody needs to ask any more.
    pub(crate) fn cancel_probe(&mut self, task: &Task) -> Result<(), Stop> {
        let home = Arc::clone(self.execution().home(task.fork));
        let place = home.find(&task.reference).and_then(|place| home.probe_of(place));
        let Some(place) = place else { return Ok(()) };
        let name = self.name_beside(task, place);
        let open = self.execution().latest(&name).filter(|it| !it.status.is_terminal()).cloned();
        match open {
            Some(open) => self.cancel(&open, "nobody needs to know any more"),
            None => Ok(()),
        }
    }

    /// A probe is over.
    pub(crate) fn follow_probe(&mut self, probe: &Task, probed: &str) -> Result<(), Stop> {
        let answer = match probe.status {
            TaskStatus::Completed => answer(&probe.output),
            TaskStatus::Failed
            | TaskStatus::FailedWithTerminalError
            | TaskStatus::CompletedWithErrors
            | TaskStatus::TimedOut
            | TaskStatus::Skipped
            | TaskStatus::Canceled
            | TaskStatus::Scheduled
            | TaskStatus::InProgress => Answer::Unknown,
        };
        let task = self.execution().latest(probed).cloned();
        let Some(task) = task.filter(|task| task.is_in_doubt()) else { return Ok(()) };
        let step = task.step.clone();
        let policy = step.effect().unwrap_or_default();
        let Ok(named) = self.named_effect(&task, &policy) else { return Ok(()) };
        match self.guard(&named.record)? {
            Some(record) if record.state == RecordState::Unknown => {
                self.heed(&task, &policy, &named, record, answer)
            }
            Some(_) | None => self.judge_effect(&task, &policy, &named, true),
        }
    }

    fn heed(
        &mut self,
        task: &Arc<Task>,
        policy: &EffectPolicy,
        named: &Named,
        record: Record,
        answer: Answer,
    ) -> Result<(), Stop> {
        let is_own = task.once.as_ref().is_some_and(|once| once.owner.is_none());
        match answer {
            Answer::Unknown => self.hold_effect(task, named),
            Answer::Applied(output) => {
                let result = output.clone();
                self.complete_effect(task, policy, &named.record, record, result, "RESOLVED")?;
                self.end_applied(task, named, is_own, output);
                Ok(())
            }
            Answer::NotApplied if is_own && task.polls > 0 => {
                let record = Record { state: RecordState::Claimed, ..record };
                let record = self.noting(record, task, "RESOLVED");
                self.put_guard(&named.record, Some(record));
                self.end_not_applied(task);
                Ok(())
            }
            Answer::NotApplied => {
                self.claim_effect(task, named, Some(&record), "CLAIMED");
                Ok(())
            }
        }
    }

    /// The attempt ends as if its worker had said so.
    pub(crate) fn end_applied(
        &mut self,
        task: &Task,
        named: &Named,
        is_own: bool,
        output: Payload,
    ) {
        if !is_own {
            let owner = task.once.as_ref().and_then(|once| once.owner);
            let RecordKey { scope, key } = named.record.clone();
            let status = EffectStatus::Replayed;
            self.note_once(task.id, Box::new(Once { scope, key, status, owner, mismatch: false }));
        }
        let output = Some(self.store(output));
        let closing = Closing::new(TaskStatus::Completed, None, facts_of(task));
        self.emit_closed(task.id, Closing { output, ..closing });
        self.after_close(task.id);
    }

    fn end_not_applied(&mut self, task: &Task) {
        let marker = Payload::from_value(&json!({"_effect": {"applied": false}}));
        let output = Some(self.store(merged(&task.output, &marker)));
        let closing = Closing::new(TaskStatus::Failed, task.reason.clone(), facts_of(task));
        self.emit_closed(task.id, Closing { output, ..closing });
        self.after_close(task.id);
    }
}

/// What is known of the hand-out that nobody knows the end of.
fn facts_of(task: &Task) -> HandOutFacts {
    HandOutFacts {
        worker: task.worker.clone(),
        started_at: task.started_at,
        polls: task.polls,
        fence: task.fence,
        holder: None,
        child_heard: false,
    }
}

/// What a probe says: in its output, or in the body of the answer to its request.
fn answer(output: &Payload) -> Answer {
    let value = output.value();
    let said = match value.get("applied") {
        Some(_) => Some(&value),
        None => value.pointer("/response/body"),
    };
    let Some(said) = said else { return Answer::Unknown };
    match said.get("applied") {
        Some(Value::Bool(true)) => {
            let output = said.get("output").filter(|output| output.is_object());
            Answer::Applied(output.map_or_else(Payload::empty, Payload::from_value))
        }
        Some(Value::Bool(false)) => Answer::NotApplied,
        Some(_) | None => Answer::Unknown,
    }
}
