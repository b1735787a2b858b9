//! # Events in a round: an execution that exists hears what happened

use std::collections::BTreeSet;
use std::sync::Arc;

use semel_engine::{Event, Execution, Head, Message, Question, Queue, Task};
use semel_model::{ExecutionId, TaskId};
use semel_store::{Place, Row};

use crate::alarms::{Alarm, What};
use crate::draft::{Draft, Hearing};
use crate::failure::Failure;
use crate::round::{Outcome, Round};
use crate::work::{Answer, EventWork, HandedOut, Next, Standing, Wants};
use crate::world::World;

/// More missing entries than this are folded off the lane.
const TAIL_ENTRIES_MAX: u64 = 64;

impl Round {
    pub(crate) fn event(&mut self, world: &World, work: &EventWork, wants: &Wants) -> Outcome {
        let id = work.execution;
        if matches!(work.event, Event::Woke) {
            self.answer_due(world, id);
        }
        let (head, execution) = match self.execution(world, id) {
            Ok(found) => found,
            Err(outcome) => return outcome,
        };
        if matches!(work.event, Event::Woke) && self.asks_again(&execution) {
            return Outcome::Answer(Ok(Answer::Noted));
        }
        if let Some(reason) = &head.parked {
            return Outcome::Answer(Err(Failure::Parked(reason.clone())));
        }
        let subject = subject(&work.event, &execution);
        let is_early = is_early(&work.event, &execution);
        let changed = match self.decide_event(world, work, wants, &head, &execution) {
            Ok(changed) => changed,
            Err(outcome) => return self.stopped(world, work, outcome),
        };
        if changed {
            self.writes.logs.extend(work.logs.iter().cloned());
        }
        if !changed && matches!(work.event, Event::Woke) {
            self.rearm(&execution, head);
        }
        let standing = match changed {
            false => Standing::Repeated,
            true if is_early => Standing::Kept,
            true => Standing::Applied,
        };
        let subject = match (&work.event, standing) {
            (Event::Named { .. }, Standing::Repeated) => {
                subject.map(|task| ended_before(&execution, task))
            }
            _ => subject,
        };
        self.answer(world, work, subject, standing)
    }

    /// The event, the runs it creates and the ancestors it revives: all of it or none.
    fn decide_event(
        &mut self,
        world: &World,
        work: &EventWork,
        wants: &Wants,
        head: &Head,
        execution: &Execution,
    ) -> Result<bool, Outcome> {
        let revives = work.event.may_revive() && execution.is_closed();
        let path = if revives { self.path(world, work.execution)? } else { Vec::new() };
        let hearing = Hearing {
            event: &work.event,
            payloads: &work.payloads,
            definition: work.definition.as_ref(),
            actor: &work.actor,
            event_id: &work.event_id,
            principal: &head.principal,
            epoch: path.first().map(|above| above.epoch),
            wants: Some(wants),
        };
        let mut draft = Draft::default();
        let changed = self.hear(world, &mut draft, execution, &hearing)?;
        if changed {
            self.revive_path(world, &mut draft, work, &path)?;
            self.deliver_births(world, &mut draft)?;
            self.merge_all(world, draft);
        }
        Ok(changed)
    }

    /// A question whose asker died is answered in the round that finds it: asking again first would
    /// take two commits in one life, and a server may not live that long.
    fn answer_due(&mut self, world: &World, id: ExecutionId) {
        let Ok((_, execution)) = self.execution(world, id) else { return };
        let now = self.held.now;
        for (task, asked) in execution.due_questions(now) {
            if let Question::ActiveDomains { task_type, domains } = &asked.question {
                let answer = world.active_domains(task_type, domains, now);
                let event = Event::Answered { task, question: asked.digest(task), answer };
                self.event(world, &EventWork::own(id, event), &Wants::default());
            }
        }
    }

    /// A script whose asker died is asked again before anything is written: a server may not live
    /// for two commits. True: nothing else is due.
    fn asks_again(&mut self, execution: &Execution) -> bool {
        let now = self.held.now;
        let scripts = execution.due_questions(now).into_iter();
        let scripts = scripts.filter(|(_, it)| matches!(it.question, Question::Script { .. }));
        let scripts: Vec<_> = scripts.map(|(task, _)| (execution.id(), task)).collect();
        let is_all = !scripts.is_empty() && scripts.len() == execution.due_count(now);
        if is_all {
            self.asked.extend(scripts);
        }
        is_all
    }

    /// The held head and the execution it names, as this round has them.
    pub(crate) fn execution(
        &self,
        world: &World,
        id: ExecutionId,
    ) -> Result<(Head, Arc<Execution>), Outcome> {
        if self.held.skipped.contains(&Row::Head(id)) || self.skips_delivery_of(id) {
            return Err(Outcome::Defer);
        }
        let head = self.head(id)?;
        if let Some(decided) = self.executions.get(&id) {
            return Ok((head, Arc::clone(decided)));
        }
        let cached = world.cached(id).ok_or(Outcome::Prefetch(id))?;
        if cached.link() == head.link {
            return Ok((head, cached));
        }
        let behind = head.link.seq.saturating_sub(cached.link().seq);
        if cached.link().seq > head.link.seq || behind > TAIL_ENTRIES_MAX {
            world.forget(id);
            return Err(Outcome::Prefetch(id));
        }
        let tail = world.store.journal(id, cached.link().seq);
        let mut execution = (*cached).clone();
        match tail {
            Ok(Some(loaded)) if world.fold_after(&mut execution, &loaded.entries).is_ok() => {}
            _ => return Err(Outcome::Prefetch(id)),
        }
        if execution.link() != head.link {
            return Err(Outcome::Prefetch(id));
        }
        let execution = Arc::new(execution);
        world.remember(Arc::clone(&execution)); // It is committed; who looks next need not fold it.
        Ok((head, execution))
    }

    fn skips_delivery_of(&self, id: ExecutionId) -> bool {
        let first = Row::Delivery(Place { execution: id, task: TaskId::from_bytes([0; 16]) });
        let skipped = self.held.skipped.range(first..).next();
        matches!(skipped, Some(Row::Delivery(place)) if place.execution == id)
    }

    /// The head as this round has it.
    pub(crate) fn head(&self, id: ExecutionId) -> Result<Head, Outcome> {
        if self.held.skipped.contains(&Row::Head(id)) {
            return Err(Outcome::Defer);
        }
        let head = self.writes.heads.get(&id).or_else(|| self.held.heads.get(&id)?.as_ref());
        let head = head.filter(|_| !self.writes.removed.contains(&id));
        let missing = || Outcome::Answer(Err(Failure::NoExecution(id.to_string())));
        head.cloned().ok_or_else(missing)
    }

    /// A wake that found nothing stores the next deadline: whatever fires is disarmed by a commit.
    /// One that nothing has fired, because a person asked, has nothing to disarm.
    fn rearm(&mut self, execution: &Execution, mut head: Head) {
        let next = execution.wake_at();
        if head.wake_at != next {
            head.wake_at = next;
            self.writes.heads.insert(head.id, head);
        }
    }

    /// A fault parks its execution: visible, and left alone until somebody lifts it.
    fn stopped(&mut self, world: &World, work: &EventWork, outcome: Outcome) -> Outcome {
        if let Outcome::Answer(Err(Failure::Fault(fault))) = &outcome {
            self.park(work.execution, &format!("{fault}; at {:?}", work.event));
        }
        self.note_stale(world, work, outcome)
    }

    pub(crate) fn park(&mut self, id: ExecutionId, reason: &str) -> Outcome {
        let Ok(mut head) = self.head(id) else { return Outcome::Answer(Ok(Answer::Noted)) };
        if head.parked.is_none() {
            self.tally.parked += 1;
            let what = What::Parked { run: id, reason: reason.to_owned() };
            self.tally.alarms.push(Alarm { at: self.held.now, what });
        }
        head.parked = Some(reason.to_owned());
        head.wake_at = None;
        self.writes.heads.insert(id, head);
        self.arm_deliveries(id, false);
        Outcome::Answer(Ok(Answer::Noted))
    }

    fn arm_deliveries(&mut self, id: ExecutionId, armed: bool) {
        for (task, row) in self.deliveries_of(id) {
            let row = row.map(|mut row| {
                row.hand_out.armed = armed;
                row
            });
            self.writes.deliveries.insert(Place { execution: id, task }, row);
        }
    }

    /// Lets a parked execution go on: its deadlines are armed again.
    pub(crate) fn lift(&mut self, world: &World, id: ExecutionId) -> Outcome {
        let (mut head, execution) = match self.execution(world, id) {
            Ok(found) => found,
            Err(outcome) => return outcome,
        };
        if head.parked.take().is_some() {
            head.wake_at = execution.wake_at();
            self.writes.heads.insert(id, head);
            self.arm_deliveries(id, !execution.is_paused());
        }
        Outcome::Answer(Ok(Answer::Noted))
    }

    fn answer(
        &mut self,
        world: &World,
        work: &EventWork,
        task: Option<TaskId>,
        standing: Standing,
    ) -> Outcome {
        let next = match (&work.next, task) {
            (Some(next), Some(task)) => self.next_task(world, work.execution, task, next, standing),
            _ => Ok(None),
        };
        match next {
            Ok(next) => Outcome::Answer(Ok(Answer::Done {
                standing,
                run: Some(work.execution),
                task,
                next,
            })),
            Err(outcome) => outcome,
        }
    }

    /// `update-v2`: once the reported task is closed, one more of its queue. A repeat gets again
    /// what the first answer held, and never anything new: its first asker may be working already.
    fn next_task(
        &mut self,
        world: &World,
        execution: ExecutionId,
        task: TaskId,
        next: &Next,
        standing: Standing,
    ) -> Result<Option<Box<HandedOut>>, Outcome> {
        let Some(queue) = self.closed_queue(world, execution, task) else { return Ok(None) };
        let held = self.held_under(world, next.token);
        if let Some(found) = held.into_iter().next() {
            return Ok(Some(Box::new(found)));
        }
        if standing == Standing::Repeated {
            // Another lane may hold what the first answer held.
            let is_known = self.held.by_token.contains_key(&next.token);
            return if is_known { Ok(None) } else { Err(Outcome::Defer) };
        }
        // The report counts by now, so it is answered, with or without another task.
        let (worker, nobody) = (next.worker.as_deref(), BTreeSet::new());
        let taken = self.take(world, &queue, worker, next.token, 1, &nobody);
        Ok(taken.ok().and_then(|taken| taken.into_iter().next()).map(Box::new))
    }

    fn closed_queue(&self, world: &World, id: ExecutionId, task: TaskId) -> Option<Queue> {
        let (_, execution) = self.execution(world, id).ok()?;
        let task = execution.task(task).filter(|task| task.status.is_terminal())?;
        Some(queue_of(task))
    }
}

/// The queue workers take this task from.
pub(crate) fn queue_of(task: &Task) -> Queue {
    let task_type = task.step.task_type().to_owned();
    Queue { task_type, domain: task.domain.clone() }
}

/// A repeat by name that leaves an open attempt alone is about the attempt before it.
fn ended_before(execution: &Execution, task: TaskId) -> TaskId {
    let open = execution.task(task).filter(|task| !task.status.is_terminal());
    open.and_then(|task| task.replaces).unwrap_or(task)
}

/// It answers for a task that is not open.
fn is_early(event: &Event, before: &Execution) -> bool {
    match event {
        Event::Named { reference, .. } => before.named(reference).is_none(),
        Event::Signalled { .. } => before.first_wait().is_none(),
        _ => false,
    }
}

/// The task an event is about, if it is about one.
pub(crate) fn subject(event: &Event, before: &Execution) -> Option<TaskId> {
    match event {
        Event::Reported(report) => Some(report.task),
        Event::Expired { task } | Event::Answered { task, .. } => Some(*task),
        Event::Named { reference, .. } => {
            let last = || before.last_named(reference);
            let last = || last().filter(|_| !before.keeps_answer_for(reference));
            before.named(reference).or_else(last).map(|task| task.id)
        }
        Event::StateUpdated { task: Some(task), .. } => Some(*task),
        Event::StateUpdated { task: None, reference, .. } => {
            before.named(reference.as_deref()?).map(|task| task.id)
        }
        Event::Signalled { .. } => before.first_wait().map(|task| task.id),
        Event::Told(Message::ChildEnded { task, .. }) => Some(*task),
        Event::Started(_)
        | Event::Woke
        | Event::Paused
        | Event::Resumed
        | Event::Terminated { .. }
        | Event::Retried
        | Event::Restarted { .. }
        | Event::Reran(_)
        | Event::Skipped { .. }
        | Event::Jumped { .. }
        | Event::Upgraded { .. }
        | Event::CallbacksReset
        | Event::VariablesUpdated { .. }
        | Event::Removed
        | Event::Told(_)
        | Event::ChildRevived { .. }
        | Event::Redone(_)
        | Event::EffectResolved(_)
        | Event::Coalesced { .. }
        | Event::Posted { .. } => None,
    }
}
