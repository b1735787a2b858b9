//! # Effects that are done once: in doubt, probed, or somebody else's

use semel_model::{Blocker, BlockerKind, Wait, WaitKind};

use super::words::{future, past};
use super::{Scene, begun, blocker, command};
use crate::once::{EffectStatus, Once, SCOPE};
use crate::record::{Record, RecordKey};
use crate::replay::told;
use crate::task::Task;

impl Scene<'_> {
    /// None: the task does not wait because of its effect.
    pub(super) fn effect(&self, task: &Task) -> Option<Wait> {
        let once = task.once.as_deref()?;
        match once.status {
            EffectStatus::Unknown => Some(self.in_doubt(task, once)),
            EffectStatus::Waiting => Some(self.waited_for(task, once)),
            EffectStatus::Claimed | EffectStatus::Replayed => None,
        }
    }

    fn in_doubt(&self, task: &Task, once: &Once) -> Wait {
        let key = once.record();
        let record = self.around.records.get(&key);
        let since = record.and_then(Record::doubted_at).unwrap_or_else(|| begun(task));
        let (name, effect) = (&task.reference, told(&key));
        if let Some(probe) = self.execution.probe_under_way(task) {
            let sentence = format!(
                "{name} is held: nobody knows whether the effect {effect} has happened, since {}. \
                 The probe {} asks the far side.",
                past(self.now(), since),
                probe.reference
            );
            let mut by = blocker(BlockerKind::Task, &*probe.reference);
            by.task_id = Some(probe.id);
            let wait = self.of_task(task, WaitKind::Probe, sentence);
            return Wait { since: Some(since), blocked_by: vec![by], ..wait };
        }
        let why = task.reason.as_deref().map(|why| format!(" ({why})")).unwrap_or_default();
        let whose =
            once.owner.map(|owner| format!(" It is the effect of the run {}.", owner.execution));
        let sentence = format!(
            "{name} is held: nobody knows whether the effect {effect} has happened, since {}{why}. \
             No worker is offered the task until somebody says.{}",
            past(self.now(), since),
            whose.unwrap_or_default()
        );
        let find_out = format!(
            "Find out at the far side whether it happened, then say so with true or false (POST \
             {}/resolve)",
            path(&key)
        );
        let scope = key.scope.strip_prefix(SCOPE).unwrap_or(&key.scope);
        let (scope, name) = (quoted(scope), quoted(&key.key));
        let resolve = format!("semel effect resolve {scope} {name} --applied TRUE_OR_FALSE");
        let blocked_by = self.owner(once, record, &key);
        let wait = self.of_task(task, WaitKind::EffectInDoubt, sentence);
        Wait { since: Some(since), blocked_by, what_to_do: command(&find_out, resolve), ..wait }
    }

    fn waited_for(&self, task: &Task, once: &Once) -> Wait {
        let key = once.record();
        let record = self.around.records.get(&key);
        let until = record.and_then(|record| record.detail.lease_until);
        let blocked_by = self.owner(once, record, &key);
        let whose = blocked_by.iter().find(|one| one.kind != BlockerKind::Effect);
        let whose = match whose {
            Some(Blocker { workflow_id: Some(run), .. }) => format!("the run {run}"),
            Some(one) => one.name.clone(),
            None => "somebody else".to_owned(),
        };
        let ends = until.map(|at| format!(" Its lease ends {}.", future(self.now(), at)));
        let sentence = format!(
            "{} waits for the effect {}, which {whose} is doing; it takes over the result, since {}.{}",
            task.reference,
            told(&key),
            past(self.now(), task.scheduled_at),
            ends.unwrap_or_default()
        );
        let runs = blocked_by.iter().find_map(|one| one.workflow_id);
        let look = runs.and_then(|run| command("Look at it", format!("semel explain {run}")));
        let wait = self.of_task(task, WaitKind::EffectWaitedFor, sentence);
        Wait { since: Some(task.scheduled_at), until, blocked_by, what_to_do: look, ..wait }
    }

    /// The effect, and whoever has it if that is not the task itself.
    fn owner(&self, once: &Once, record: Option<&Record>, key: &RecordKey) -> Vec<Blocker> {
        let effect = blocker(BlockerKind::Effect, told(key));
        let run = record.and_then(|record| record.run).or(once.owner.map(|owner| owner.execution));
        let task = record.and_then(|record| record.detail.task).or(once.owner.map(|it| it.task));
        let outside = record.and_then(|record| record.detail.owner.clone());
        let whose = match (run, task, outside) {
            (Some(run), task, _) if run != self.id() => {
                let mut whose = blocker(BlockerKind::Workflow, run.to_string());
                (whose.workflow_id, whose.task_id) = (Some(run), task);
                Some(whose)
            }
            (Some(_), Some(task), _) if once.owner.is_some() => {
                let found = self.execution.task(task);
                let name = found.map_or_else(|| task.to_string(), |it| it.reference.to_string());
                let mut whose = blocker(BlockerKind::Task, name);
                whose.task_id = Some(task);
                Some(whose)
            }
            (None, _, Some(owner)) => Some(blocker(BlockerKind::Owner, owner)),
            (Some(_), _, _) | (None, _, None) => None,
        };
        std::iter::once(effect).chain(whose).collect()
    }
}

/// `/api/effects/{scope}/{key}`, encoded.
fn path(key: &RecordKey) -> String {
    let scope = key.scope.strip_prefix(SCOPE).unwrap_or(&key.scope);
    format!("/api/effects/{}/{}", encoded(scope), encoded(&key.key))
}

fn encoded(text: &str) -> String {
    let mut path = String::new();
    for byte in text.bytes() {
        match byte {
            b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'-' | b'_' | b'.' | b'~' => {
                path.push(char::from(byte));
            }
            other => path.push_str(&format!("%{other:02X}")),
        }
    }
    path
}

/// A word for a shell.
fn quoted(word: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "-_./:@%+=,".contains(c);
    match !word.is_empty() && word.chars().all(is_plain) {
        true => word.to_owned(),
        false => format!("'{}'", word.replace('\'', "'\\''")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_to_be_typed_is_one_word() {
        assert_eq!(quoted("order-7/a"), "order-7/a");
        assert_eq!(quoted(""), "''");
        assert_eq!(quoted("it's $5"), "'it'\\''s $5'");
        assert_eq!(encoded("7/a b"), "7%2Fa%20b");
    }
}
