//! # Claims in a round: a worker takes a task
//!
//! Touches deliveries and limits, never an execution. The fence is drawn while the row is held and
//! is durable before the worker sees the task
//! (docs/reference/principles.md#every-hand-out-is-a-lease-with-a-token).

use std::collections::BTreeSet;

use semel_engine::{Claimed, Delivery, Limits, Queue, Rejection, Token, judge_renewal};
use semel_model::Digest;
use semel_store::{Place, Rank, Row};

use crate::draft::Draft;
use crate::failure::Failure;
use crate::round::{Outcome, Round, Want};
use crate::work::{Answer, Claim, HandedOut, Renewal};
use crate::world::World;

impl Round {
    pub(crate) fn claim(&mut self, world: &World, claim: &Claim) -> Outcome {
        if !claim.waiting.take() {
            return Outcome::Answer(Ok(Answer::Claimed(Vec::new()))); // Nobody listens.
        }
        if claim.named && !self.held.by_token.contains_key(&claim.token) {
            claim.waiting.put_back();
            return Outcome::Defer; // Another lane holds what it may have been given.
        }
        let held = self.held_under(world, claim.token);
        if !held.is_empty() {
            return Outcome::Answer(Ok(Answer::Claimed(held)));
        }
        let worker = claim.worker.as_deref();
        let (queue, passed_over) = (&claim.queue, &claim.passed_over);
        match self.take(world, queue, worker, claim.token, claim.count, passed_over) {
            Ok(taken) if taken.is_empty() && self.has_left_some(queue, passed_over) => {
                claim.waiting.put_back();
                Outcome::Later
            }
            Ok(taken) if taken.is_empty() && claim.wait_until > self.held.now => {
                claim.waiting.put_back();
                Outcome::Park
            }
            Ok(taken) => Outcome::Answer(Ok(Answer::Claimed(taken))),
            Err(outcome) => {
                claim.waiting.put_back();
                outcome
            }
        }
    }

    /// What is ready in the queue did not fit into this round, and others have taken what did: there is
    /// more in the next one.
    fn has_left_some(&self, queue: &Queue, passed_over: &BTreeSet<Digest>) -> bool {
        let is_for_it = |rank: &Rank| !passed_over.contains(&rank.definition);
        let has_more = self.lines.get(queue).is_some_and(|line| line.iter().any(is_for_it));
        !has_more && self.held.cut.contains(queue) && self.served.contains(queue)
    }

    /// What this token still holds: a repeated poll re-receives it.
    pub(crate) fn held_under(&self, world: &World, token: Token) -> Vec<HandedOut> {
        let places = self.held.by_token.get(&token).into_iter().flatten();
        let rows = places.filter_map(|place| self.delivery(*place).flatten());
        let live = rows.filter(|row| {
            let lease = &row.hand_out;
            let lapsed = lease.lease_until.is_some_and(|until| until <= self.held.now);
            lease.leased && lease.token == Some(token) && !lapsed
        });
        let mut held: Vec<_> = live.filter_map(|row| handed_out(world, row.clone()).ok()).collect();
        held.sort_by_key(|out| out.delivery.hand_out.fence); // As they were handed out.
        held
    }

    pub(crate) fn take(
        &mut self,
        world: &World,
        queue: &Queue,
        worker: Option<&str>,
        token: Token,
        count: usize,
        passed_over: &BTreeSet<Digest>,
    ) -> Result<Vec<HandedOut>, Outcome> {
        let Some(first) = self.next_ready(queue, passed_over) else { return Ok(Vec::new()) };
        let (limits, room) = match self.room_for(world, &first) {
            Ok((limits, room)) if room > 0 => (limits, room),
            none => {
                self.offer(&first); // It stays for whoever has room.
                return none.map(|_| Vec::new());
            }
        };
        let (mut taken, mut bytes) = (Vec::new(), 0);
        let bytes_max = usize::try_from(world.budget().answer()).unwrap_or(usize::MAX);
        let mut next = Some(first);
        while let Some(row) = next {
            bytes += row.payload_bytes();
            if bytes > bytes_max && !taken.is_empty() {
                self.offer(&row); // For the next poll.
                break;
            }
            match self.give(world, row, worker, token) {
                Ok(out) => taken.push(out),
                Err(outcome) if taken.is_empty() => return Err(outcome),
                Err(_) => break, // What is taken is given; the rest is asked for again.
            }
            let goes_on = taken.len() < room.min(count);
            next = if goes_on { self.next_ready(queue, passed_over) } else { None };
        }
        self.spend(queue, &limits, taken.len());
        self.served.insert(queue.clone());
        Ok(taken)
    }

    fn room_for(&mut self, world: &World, row: &Delivery) -> Result<(Limits, usize), Outcome> {
        let limits = world.limits_of(row).map_err(|failure| Outcome::Answer(Err(failure)))?;
        let room = self.room(&row.queue, &limits)?;
        Ok((limits, room))
    }

    fn give(
        &mut self,
        world: &World,
        mut row: Delivery,
        worker: Option<&str>,
        token: Token,
    ) -> Result<HandedOut, Outcome> {
        let place = Place { execution: row.execution, task: row.task };
        let definition = world.definitions.pinned(row.definition);
        let definition = definition.map_err(|failure| Outcome::Answer(Err(failure)))?;
        let step = definition.step(&row.reference);
        let claimed = Claimed {
            now: self.held.now,
            fence: self.draw_fence(),
            worker: worker.map(str::to_owned),
            token,
        };
        let response_ms = step.response_timeout_seconds().saturating_mul(1000);
        let run_ms = step.run_timeout_seconds().saturating_mul(1000);
        row.hand_out(&claimed, response_ms, run_ms);
        self.taken.insert(place);
        self.tally.hand_out(&row, self.held.now);
        self.held.by_token.entry(token).or_default().push(place); // For its repeat in this round.
        self.writes.deliveries.insert(place, Some(row.clone()));
        Ok(HandedOut { delivery: row, definition })
    }

    /// The best ready row of the queue as this round has it. Those passed over stay for others.
    fn next_ready(&mut self, queue: &Queue, passed_over: &BTreeSet<Digest>) -> Option<Delivery> {
        loop {
            let line = self.lines.get_mut(queue)?;
            let wanted = |rank: &&Rank| !passed_over.contains(&rank.definition);
            let rank = *line.iter().find(wanted)?;
            line.remove(&rank);
            let row = self.delivery(rank.place).flatten();
            let now = self.held.now;
            let free = |row: &&Delivery| {
                // What has waited for too long is not given away before that is judged.
                let is_late = row.hand_out.due_at().is_some_and(|at| at <= now);
                !row.hand_out.leased && row.ready_at <= now && !is_late
            };
            if let Some(row) = row.filter(free) {
                return Some(row.clone());
            }
        }
    }

    fn room(&mut self, queue: &Queue, limits: &Limits) -> Result<usize, Outcome> {
        if limits.is_unlimited() {
            return Ok(usize::MAX);
        }
        let name = &queue.task_type;
        if self.held.skipped.contains(&Row::Limit(name.clone())) {
            return Err(Outcome::Defer);
        }
        let row = self.held.limits.get_mut(name).ok_or(Outcome::Again(Want::Limit))?;
        let concurrent = match limits.concurrent_max {
            0 => usize::MAX,
            max => max.saturating_sub(row.in_flight),
        };
        let room = concurrent.min(row.window.room(self.held.now, limits));
        if room == 0
            && let Some(opens_at) = row.window.opens_at(limits)
        {
            self.openings.insert(queue.clone(), opens_at);
        }
        Ok(room)
    }

    fn spend(&mut self, queue: &Queue, limits: &Limits, count: usize) {
        if limits.is_unlimited() || count == 0 {
            return;
        }
        if let Some(row) = self.held.limits.get_mut(&queue.task_type) {
            row.in_flight += count;
            row.window.take(self.held.now, limits, count);
            self.writes.limits.insert(queue.task_type.clone(), row.window.clone());
        }
    }

    /// Greater than any fence this lane has drawn, any that a row of this round has seen, and, as long as
    /// clocks advance, any drawn before a restored backup was made.
    fn draw_fence(&mut self) -> u64 {
        self.fence = self.next_fence(&Draft::default());
        self.fence
    }

    /// `extendLease`: a statement on the delivery alone.
    pub(crate) fn renew(&mut self, world: &World, renewal: &Renewal) -> Outcome {
        if self.held.skipped.contains(&Row::Delivery(renewal.place)) {
            return Outcome::Defer;
        }
        let row = match self.judge_renewal(world, renewal) {
            Ok(row) => row,
            Err(outcome) => return outcome,
        };
        let mut renewed = row.clone();
        match handed_out(world, row.clone()) {
            Ok(out) => {
                let seconds = out.definition.step(&row.reference).response_timeout_seconds();
                let now = self.held.now;
                renewed.hand_out.updated_at = now;
                renewed.hand_out.lease_until = (seconds > 0).then(|| now.plus_seconds(seconds));
            }
            Err(failure) => return Outcome::Answer(Err(failure)),
        }
        let lease_until = renewed.hand_out.lease_until;
        if renewed != row {
            self.writes.deliveries.insert(renewal.place, Some(renewed));
        }
        Outcome::Answer(Ok(Answer::Renewed { lease_until }))
    }

    /// The row, if the renewal is by its holder. The execution is asked only when the row does not
    /// tell: the names differ, or the renewal is refused and that is written down.
    fn judge_renewal(&mut self, world: &World, renewal: &Renewal) -> Result<Delivery, Outcome> {
        let Renewal { place, fence, worker, .. } = renewal;
        let row = self.delivery(*place).flatten().cloned();
        let worker = worker.as_deref();
        let judged =
            row.as_ref().and_then(|row| judge_renewal(&row.hand_out, None, *fence, worker));
        if let (Some(row), Some(Ok(()))) = (&row, &judged) {
            return Ok(row.clone());
        }
        let is_skipped = self.held.skipped.contains(&Row::Head(place.execution));
        if !is_skipped && !self.held.heads.contains_key(&place.execution) {
            return Err(Outcome::Again(Want::Head(place.execution)));
        }
        let (_, execution) = self.execution(world, place.execution)?;
        let Some(task) = execution.task(place.task) else {
            let unknown = Rejection::UnknownTask(place.task);
            return Err(Outcome::Answer(Err(Failure::Rejected(unknown))));
        };
        let judged = match &row {
            Some(row) => judge_renewal(&row.hand_out, Some(task), *fence, worker),
            None => None,
        };
        let nobodys = || Rejection::Stale("nobody holds the task any more".to_owned());
        match (row, judged.unwrap_or_else(|| Err(nobodys()))) {
            (Some(row), Ok(())) => Ok(row),
            (_, Err(rejection)) => Err(self.note_stale_renewal(renewal, task, rejection)),
            (None, Ok(())) => Err(self.note_stale_renewal(renewal, task, nobodys())),
        }
    }
}

fn handed_out(world: &World, delivery: Delivery) -> Result<HandedOut, Failure> {
    let definition = world.definitions.pinned(delivery.definition)?;
    Ok(HandedOut { delivery, definition })
}
