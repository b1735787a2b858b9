//! # Tasks that the engine runs itself: people, times, branches, children, locks

use semel_model::{BlockerKind, TaskStatus, Wait, WaitKind};

use super::words::{future, list, past};
use super::{Scene, advice, begun, blocker, command, wanted_lock};
use crate::delivery::HandOut;
use crate::kinds::Kind;
use crate::question::Question;
use crate::record::Record;
use crate::task::{Asked, Task};

impl Scene<'_> {
    /// Why one open task is open.
    pub(super) fn task(&self, task: &Task) -> Wait {
        if let Some(wait) = self.effect(task) {
            return wait;
        }
        if let Some(asked) = &task.question {
            return self.asked(task, asked);
        }
        if !task.system {
            return self.offered(task);
        }
        if task.status == TaskStatus::Scheduled && task.ready_at > self.now() {
            return self.delayed(task, &HandOut::default(), task.ready_at);
        }
        match task.kind() {
            Kind::Wait if task.wait_until.is_some() => self.timed(task),
            Kind::Wait => self.signal(task, WaitKind::WaitSignal),
            Kind::Yield => self.signal(task, WaitKind::Yield),
            Kind::Human => self.by_hand(task, WaitKind::Human, "waits for a person"),
            Kind::Join | Kind::ExclusiveJoin => self.join(task),
            Kind::DoWhile => self.iteration(task),
            Kind::SubWorkflow => self.child(task),
            Kind::StartWorkflow => {
                self.plain(task, WaitKind::StartWorkflow, "is about to start its run")
            }
            Kind::Event if task.status == TaskStatus::InProgress => {
                let waits = "was published, and waits until somebody completes it (asyncComplete)";
                self.by_hand(task, WaitKind::Event, waits)
            }
            Kind::Event => self.plain(task, WaitKind::Event, "is about to be published"),
            Kind::PullMessages => self.messages(task),
            Kind::AcquireLock => self.lock(task),
            Kind::Absent => {
                let what = "has a type that is not in this release";
                self.plain(task, WaitKind::Unsupported, what)
            }
            Kind::Worker
            | Kind::Http
            | Kind::Noop
            | Kind::SetVariable
            | Kind::Terminate
            | Kind::Switch
            | Kind::Decision
            | Kind::Fork
            | Kind::DynamicFork
            | Kind::Dynamic
            | Kind::Inline
            | Kind::Lambda
            | Kind::Jq
            | Kind::ReleaseLock => {
                self.plain(task, WaitKind::Engine, "is the server's to go on with")
            }
        }
    }

    fn plain(&self, task: &Task, kind: WaitKind, what: &str) -> Wait {
        let since = past(self.now(), begun(task));
        let sentence =
            format!("{} ({}) {what}, since {since}.", task.reference, task.step.task_type());
        self.of_task(task, kind, sentence)
    }

    fn by_hand(&self, task: &Task, kind: WaitKind, what: &str) -> Wait {
        let sentence =
            format!("{} {what}, since {}.", task.reference, past(self.now(), begun(task)));
        Wait { what_to_do: self.completing(task), ..self.of_task(task, kind, sentence) }
    }

    fn completing(&self, task: &Task) -> Option<semel_model::WhatToDo> {
        let update = format!(
            "semel task update --workflow {} --ref {} --status COMPLETED --output '{{}}'",
            self.id(),
            task.reference
        );
        command("Complete it", update)
    }

    fn asked(&self, task: &Task, asked: &Asked) -> Wait {
        let since = past(self.now(), asked.asked_at);
        let (kind, sentence) = match &asked.question {
            Question::Script { .. } => {
                let sentence = format!(
                    "{} ({}) waits for its script, which runs or waits for a free place, since \
                     {since}.",
                    task.reference,
                    task.step.task_type()
                );
                (WaitKind::Script, sentence)
            }
            Question::ActiveDomains { domains, .. } => {
                let sentence = format!(
                    "{} waits until it is known in which of the domains {} workers poll, since \
                     {since}.",
                    task.reference,
                    list(domains)
                );
                (WaitKind::ChoosesDomain, sentence)
            }
        };
        Wait { since: Some(asked.asked_at), ..self.of_task(task, kind, sentence) }
    }

    fn timed(&self, task: &Task) -> Wait {
        let until = task.wait_until;
        let ends = until.map(|at| future(self.now(), at)).unwrap_or_default();
        let sentence = format!(
            "{} waits until its time has come, {ends}, since {}.",
            task.reference,
            past(self.now(), begun(task))
        );
        let what_to_do = self.completing(task);
        Wait { until, what_to_do, ..self.of_task(task, WaitKind::WaitUntil, sentence) }
    }

    fn signal(&self, task: &Task, kind: WaitKind) -> Wait {
        let since = past(self.now(), begun(task));
        let sentence = format!("{} waits for a signal, since {since}.", task.reference);
        let is_first = self.execution.first_wait().is_some_and(|first| first.id == task.id);
        let signal = format!("semel task signal {} --output '{{}}'", self.id());
        let what_to_do = match is_first {
            true => command("Complete it", signal),
            false => self.completing(task), // A signal would answer another.
        };
        Wait { what_to_do, ..self.of_task(task, kind, sentence) }
    }

    fn join(&self, task: &Task) -> Wait {
        let names = task.as_join().into_iter().flat_map(|join| join.on.iter());
        let (mut missing, mut blocked_by, mut all) = (Vec::new(), Vec::new(), 0);
        for name in names {
            all += 1;
            let found = self.execution.latest(name);
            if found.is_some_and(|it| it.status.is_terminal()) {
                continue;
            }
            missing.push(match found {
                Some(found) => format!("{name} ({})", found.status),
                None => format!("{name} (not begun)"),
            });
            let mut by = blocker(BlockerKind::Task, &**name);
            by.task_id = found.map(|found| found.id);
            blocked_by.push(by);
        }
        let since = past(self.now(), begun(task));
        let sentence = format!(
            "{} waits for {} of {all} branches: {}, since {since}.",
            task.reference,
            missing.len(),
            list(&missing)
        );
        let sentence = match missing.is_empty() {
            true => format!("{} has all its branches, since {since}.", task.reference),
            false => sentence,
        };
        Wait { blocked_by, ..self.of_task(task, WaitKind::Join, sentence) }
    }

    fn iteration(&self, task: &Task) -> Wait {
        let inner = self.execution.open_tasks().filter(|it| it.within == Some(task.id));
        let (mut names, mut blocked_by) = (Vec::new(), Vec::new());
        for inner in inner {
            names.push(inner.reference.to_string());
            let mut by = blocker(BlockerKind::Task, &*inner.reference);
            by.task_id = Some(inner.id);
            blocked_by.push(by);
        }
        let waits = match names.is_empty() {
            true => "is between two steps of its iteration".to_owned(),
            false => format!("waits for {}", list(&names)),
        };
        let sentence = format!(
            "{} is in iteration {} and {waits}, since {}.",
            task.reference,
            task.iteration(),
            past(self.now(), begun(task))
        );
        Wait { blocked_by, ..self.of_task(task, WaitKind::Loop, sentence) }
    }

    fn child(&self, task: &Task) -> Wait {
        let Some(child) = task.child.map(|child| child.run) else {
            let what = "will begin a run and wait for it; it has not begun yet";
            return self.plain(task, WaitKind::SubWorkflow, what);
        };
        let (is, why) = match self.around.children.get(&child) {
            Some(Some(found)) => {
                let why = found.waits.first().map(|wait| wait.sentence.clone());
                let why = why.map(|why| format!(" There: {why}")).unwrap_or_default();
                (format!("which is {}", found.status), why)
            }
            Some(None) => ("which is gone".to_owned(), String::new()),
            None => ("which was not looked at".to_owned(), String::new()),
        };
        let sentence = format!("{} waits for the run {child}, {is}.{why}", task.reference);
        let mut by = blocker(BlockerKind::Workflow, child.to_string());
        by.workflow_id = Some(child);
        let what_to_do = command("Look at it", format!("semel explain {child}"));
        let wait = self.of_task(task, WaitKind::SubWorkflow, sentence);
        Wait { blocked_by: vec![by], what_to_do, ..wait }
    }

    fn messages(&self, task: &Task) -> Wait {
        let wait = self.plain(task, WaitKind::Messages, "waits for a message to this run");
        let post = format!("Send one: POST /api/workflow/{}/messages", self.id());
        Wait { what_to_do: advice(post), ..wait }
    }

    fn lock(&self, task: &Task) -> Wait {
        let key = wanted_lock(task);
        let record = key.as_ref().and_then(|key| self.around.records.get(key));
        let position = key.as_ref().and_then(|key| self.position(key, Some(task.id)));
        let name = key.map(|key| key.key).unwrap_or_default();
        let holder = record.map(holder).unwrap_or_else(|| "somebody else".to_owned());
        let until = record.and_then(|record| record.detail.lease_until);
        let ends = match until {
            Some(at) => format!("whose lease ends {}", future(self.now(), at)),
            None => "until that one gives it back".to_owned(),
        };
        let place = position.map(|at| format!(" It is at place {at} of the line."));
        let sentence = format!(
            "{} waits for the lock {name}, which {holder} has, {ends}, since {}.{}",
            task.reference,
            past(self.now(), begun(task)),
            place.unwrap_or_default()
        );
        let mut lock = blocker(BlockerKind::Lock, name);
        lock.position = position;
        let run = record.and_then(|record| record.run);
        let whose = record.map(|record| {
            let kind = if run.is_some() { BlockerKind::Workflow } else { BlockerKind::Owner };
            let mut whose = blocker(kind, run.map_or(holder, |run| run.to_string()));
            (whose.workflow_id, whose.task_id) = (run, record.detail.task);
            whose
        });
        let what_to_do = match run {
            Some(run) => command("Look at who has it", format!("semel explain {run}")),
            None => advice("Wait until the holder gives it back or its lease ends."),
        };
        let blocked_by = std::iter::once(lock).chain(whose).collect();
        let wait = self.of_task(task, WaitKind::Lock, sentence);
        Wait { until, blocked_by, what_to_do, ..wait }
    }
}

/// Who has a lock.
fn holder(record: &Record) -> String {
    match (record.run, &record.detail.owner) {
        (Some(run), _) => format!("the run {run}"),
        (None, Some(owner)) => owner.clone(),
        (None, None) => "somebody else".to_owned(),
    }
}
