//! # A draft: everything one item changes, before it is part of the round
//!
//! One event may concern several executions: the runs it creates, the ancestors that live again
//! with it. All of it becomes so, or none.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use semel_engine::{
    Address, Brought, Change, Claim, Decision, Delivery, Event, Execution, Facts, Letter, Message,
    MessageKey, MessageRow, Pinned, Publication, Record, RecordKey, Rows, Start, Stop, decide,
};
use semel_model::{Digest, ExecutionId, Payload, TaskId};
use semel_store::{Place, Row};

use crate::events::subject;
use crate::failure::Failure;
use crate::lives::Origin;
use crate::round::{Layer, Outcome, Round, Sending, Want};
use crate::tally::Tally;
use crate::work::Wants;
use crate::world::World;

/// Looks for missing facts that one decision may take.
const LOOKS_MAX: usize = 10_000;

#[derive(Default)]
pub(crate) struct Draft {
    pub(crate) layers: Vec<Layer>,
    pub(crate) pinned: BTreeMap<Digest, Arc<Pinned>>,
    /// Steps that came with the data of a run, and go with it.
    given: BTreeSet<(ExecutionId, Digest)>,
    pub(crate) messages: BTreeMap<MessageKey, MessageRow>,
    /// Those of them that end a child.
    farewells: BTreeSet<MessageKey>,
    /// The highest fence drawn by what is drafted.
    pub(crate) fence: u64,
    /// Messages whose senders wait no more.
    pub(crate) left: Vec<MessageKey>,
    /// What is known of the requests that begin runs of this draft.
    pub(crate) origins: BTreeMap<ExecutionId, Origin>,
    births: VecDeque<Birth>,
    /// How many runs it begins, by the root of their lineage.
    pub(crate) descendants: BTreeMap<ExecutionId, u64>,
    /// Start keys of runs that are still to be born.
    claims: BTreeMap<RecordKey, ExecutionId>,
}

/// A run that begins by the doing of another.
struct Birth {
    run: ExecutionId,
    start: Start,
    input: Payload,
    event_id: String,
}

/// An event on its way to one execution.
pub(crate) struct Hearing<'a> {
    pub(crate) event: &'a Event,
    pub(crate) payloads: &'a [Payload],
    pub(crate) definition: Option<&'a Arc<Pinned>>,
    pub(crate) actor: &'a str,
    pub(crate) event_id: &'a str,
    pub(crate) principal: &'a str,
    pub(crate) epoch: Option<u32>,
    /// Tasks whose deliveries were missed before.
    pub(crate) wants: Option<&'a Wants>,
}

impl Round {
    /// What is held of an execution's deliveries, as far as the event may need it.
    fn deliveries_for(
        &self,
        before: &Execution,
        hearing: &Hearing<'_>,
    ) -> BTreeMap<TaskId, Option<Delivery>> {
        let execution = before.id();
        let (Some(subject), Some(wants)) = (subject(hearing.event, before), hearing.wants) else {
            return self.deliveries_of(execution);
        };
        let missed = wants.deliveries.iter().filter(|place| place.execution == execution);
        let tasks = missed.map(|place| place.task).chain([subject]);
        let held = tasks.filter_map(|task| {
            let row = self.delivery(Place { execution, task }).flatten()?;
            Some((task, Some(row.clone())))
        });
        held.collect()
    }

    /// Decides one event on one execution. True: something changed, and it is in the draft.
    pub(crate) fn hear(
        &self,
        world: &World,
        draft: &mut Draft,
        before: &Execution,
        hearing: &Hearing<'_>,
    ) -> Result<bool, Outcome> {
        let mut rows = self.deliveries_for(before, hearing);
        let drafted = draft.layers.iter().filter(|layer| layer.execution.id() == before.id());
        drafted.for_each(|layer| rows.extend(layer.rows.clone()));
        rows.retain(|_, row| row.is_some());
        let hand_outs = rows
            .iter()
            .filter_map(|(task, row)| row.as_ref().map(|row| (*task, row.hand_out.clone())));
        let environment = world.variables.snapshot();
        let mut facts = Facts {
            now: self.held.now,
            deliveries: hand_outs.collect(),
            environment: environment.map_err(|failure| Outcome::Answer(Err(failure)))?,
            key_hosts: world.key_hosts.clone(),
            loop_turns_max: world.loop_turns_max,
            sizes: world.sizes,
            epoch: hearing.epoch,
            fence: Some(self.next_fence(draft)),
            ..Facts::default()
        };
        facts.at_hand.counts_descendants = world.lineages.is_limited();
        self.sabotage.forge(hearing.event, &mut facts);
        let (after, decision) = self.decide(world, draft, before, hearing, &mut facts)?;
        if decision.changes.is_empty() {
            return Ok(false);
        }
        let mut layer = Layer::new(after, hearing.principal, hearing.event_id);
        layer.tally = Tally::of(&layer.execution, hearing.event, &decision, &rows);
        layer.rows = rows;
        draft.follow(&layer.execution, &decision, hearing.event_id);
        draft.claim_keys(world)?;
        draft.fence = draft.fence.max(decision.used.fence.unwrap_or_default());
        self.note_guards(draft, &mut layer, &decision)?;
        let revived = decision.changes.iter().any(|it| matches!(it, Change::Revived { .. }));
        layer.write(hearing.event.clone(), decision, hearing.actor);
        self.note_life(draft, before, revived, &mut layer)?;
        if let Some(definition) = hearing.definition {
            draft.pinned.insert(definition.digest(), Arc::clone(definition));
        }
        draft.layers.push(layer);
        Ok(true)
    }

    /// Runs the engine, looking up what it misses. A panic there stops this event alone.
    fn decide(
        &self,
        world: &World,
        draft: &Draft,
        before: &Execution,
        hearing: &Hearing<'_>,
        facts: &mut Facts,
    ) -> Result<(Execution, Decision), Outcome> {
        let brought = Brought { payloads: hearing.payloads, definition: hearing.definition };
        for _ in 0..LOOKS_MAX {
            let mut after = before.clone();
            let run = AssertUnwindSafe(|| decide(&mut after, hearing.event, &brought, facts));
            match catch_unwind(run) {
                Ok(Ok(decision)) => return Ok((after, decision)),
                Ok(Err(Stop::Rejected(rejection))) => {
                    return Err(Outcome::Answer(Err(rejection.into())));
                }
                Ok(Err(Stop::Miss(rows))) => {
                    self.look_up(world, draft, before, rows, facts)?;
                }
                Err(panic) => {
                    let text = panic.downcast_ref::<String>().cloned();
                    let text =
                        text.or_else(|| panic.downcast_ref::<&str>().map(|s| (*s).to_owned()));
                    let text = text.unwrap_or_else(|| "panic".to_owned());
                    return Err(Outcome::Answer(Err(Failure::Fault(text))));
                }
            }
        }
        let text = format!("more than {LOOKS_MAX} facts were missing");
        Err(Outcome::Answer(Err(Failure::Fault(text))))
    }

    /// Adds to the facts what the engine missed, if this round can know it.
    fn look_up(
        &self,
        world: &World,
        draft: &Draft,
        run: &Execution,
        rows: Rows,
        facts: &mut Facts,
    ) -> Result<(), Outcome> {
        match rows {
            Rows::Deliveries(tasks) => {
                let execution = run.id();
                let places = tasks.into_iter().map(|task| Place { execution, task });
                Err(Outcome::Again(Want::Deliveries(places.collect())))
            }
            Rows::Tasks(names) => {
                for name in names {
                    let found = world.definitions.embedded_task(&name);
                    let found = found.map_err(|failure| Outcome::Answer(Err(failure)))?;
                    facts.tasks.insert(name, found);
                }
                Ok(())
            }
            Rows::Schemas(wanted) => {
                for (name, version) in wanted {
                    let found = world.definitions.schema(&name, version);
                    let found = found.map_err(|failure| Outcome::Answer(Err(failure)))?;
                    facts.schemas.entry(name).or_default().insert(version, found);
                }
                Ok(())
            }
            Rows::Descendants(root) => {
                facts.descendants = self.open_descendants(world, draft, root)?;
                Ok(())
            }
            Rows::Definition(name, version) => {
                let found = definition(world, &name, version)?;
                facts.know(name, version, found.as_ref());
                // Whoever asks for it is about to begin a run of it, most often.
                facts.descendants = self.open_descendants(world, draft, run.root())?;
                Ok(())
            }
            Rows::Guard(key) => {
                let fact = self.record_in(draft, &key)?.map(Record::fact);
                facts.guards.entry(key.scope).or_default().insert(key.key, fact);
                Ok(())
            }
            Rows::Guards(keys) => {
                let is_absent =
                    |key: &RecordKey| matches!(self.record_in(draft, key), Err(Outcome::Again(_)));
                let absent: Vec<_> = keys.iter().filter(|key| is_absent(key)).cloned().collect();
                if absent.len() > 1 {
                    return Err(Outcome::Again(Want::Records(absent)));
                }
                keys.into_iter()
                    .try_for_each(|key| self.look_up(world, draft, run, Rows::Guard(key), facts))
            }
            Rows::Record(key) => {
                let claimed = draft.claims.get(&key).map(|run| Claim::live(*run));
                let claim = match claimed {
                    Some(claim) => Some(claim),
                    None => self.start_record(draft, &key)?.as_ref().and_then(Record::claim),
                };
                facts.records.entry(key.scope).or_default().insert(key.key, claim);
                Ok(())
            }
        }
    }

    /// The record as this round has it; what is not held has to be.
    pub(crate) fn held_record(&self, key: &RecordKey) -> Result<Option<&Record>, Outcome> {
        if self.held.skipped.contains(&Row::Record(key.clone())) {
            return Err(Outcome::Defer);
        }
        self.record(key).ok_or_else(|| Outcome::Again(Want::Record(key.clone())))
    }

    /// The record as this draft has it: of two runs it creates, the second sees the first.
    pub(crate) fn record_in<'a>(
        &'a self,
        draft: &'a Draft,
        key: &RecordKey,
    ) -> Result<Option<&'a Record>, Outcome> {
        let drafted = draft.layers.iter().rev().find_map(|layer| layer.records.get(key));
        match drafted {
            Some(record) => Ok(record.as_ref()),
            None => self.held_record(key),
        }
    }

    /// Creates the runs that the draft's decisions led to, and those that these led to.
    pub(crate) fn deliver_births(&self, world: &World, draft: &mut Draft) -> Result<(), Outcome> {
        while let Some(birth) = draft.births.pop_front() {
            let definition = draft.definition(world, birth.start.definition)?;
            if let Some(old) = birth.start.replaces {
                self.end_replaced(world, draft, old, birth.run, "semel")?;
            }
            let unborn = Execution::unborn(birth.run, Arc::clone(&definition));
            let event = Event::Started(Start { input: semel_engine::Slot(0), ..birth.start });
            let hearing = Hearing {
                event: &event,
                payloads: std::slice::from_ref(&birth.input),
                definition: Some(&definition),
                actor: "semel",
                event_id: &birth.event_id,
                principal: "semel",
                epoch: None,
                wants: None,
            };
            self.hear(world, draft, &unborn, &hearing)?;
        }
        Ok(())
    }

    pub(crate) fn merge_all(&mut self, world: &World, draft: Draft) {
        self.fence = self.fence.max(draft.fence);
        for (digest, definition) in draft.pinned {
            self.writes.pinned.entry(digest).or_insert_with(|| definition.text().to_vec());
            world.definitions.know(&definition);
        }
        self.writes.given.extend(draft.given);
        for (root, count) in draft.descendants {
            world.lineages.begun(root, count);
            *self.descendants.entry(root).or_default() += count;
        }
        for layer in draft.layers {
            self.merge(world, layer);
        }
        // Whoever changes one of a line holds its record, as this round does.
        self.writes.messages.extend(draft.left.into_iter().map(|key| (key, None)));
        for (key, row) in draft.messages {
            if row.waits.is_none() {
                let (to, ends) = (row.to.clone(), draft.farewells.contains(&key));
                self.sent.push(Sending { key, to, ends });
            }
            self.writes.messages.insert(key, Some(row));
        }
    }
}

/// What is registered; version 0 is the latest.
fn definition(world: &World, name: &str, version: i32) -> Result<Option<Arc<Pinned>>, Outcome> {
    match world.definitions.for_start(name, Some(version).filter(|version| *version != 0)) {
        // One of its own children is not registered: as good as missing.
        Err(Failure::NoDefinition(_)) => Ok(None),
        found => found.map_err(|failure| Outcome::Answer(Err(failure))),
    }
}

impl Draft {
    /// What runs that are to be born are pinned to: it may come with this very draft.
    fn definition(&self, world: &World, digest: Digest) -> Result<Arc<Pinned>, Outcome> {
        if let Some(defined) = self.pinned.get(&digest) {
            return Ok(Arc::clone(defined));
        }
        let found = world.definitions.pinned(digest);
        found.map_err(|failure| Outcome::Answer(Err(failure)))
    }

    /// Whoever is decided later in this draft sees these keys taken, before their runs are born.
    fn claim_keys(&mut self, world: &World) -> Result<(), Outcome> {
        for birth in &self.births {
            let Some(key) = birth.start.idempotency_key.as_deref() else { continue };
            let definition = self.definition(world, birth.start.definition)?;
            let key = RecordKey::start(&definition.definition().name, key);
            self.claims.insert(key, birth.run);
        }
        Ok(())
    }

    /// Notes the runs a decision creates and the messages it sends.
    fn follow(&mut self, execution: &Execution, decision: &Decision, event_id: &str) {
        let (from, seq) = (execution.id(), execution.link().seq + 1);
        let mut at = 0;
        for change in &decision.changes {
            let (to, body) = match change {
                Change::RunCreated { run, start } => {
                    if let Some(root) = start.root {
                        *self.descendants.entry(root).or_default() += 1;
                    }
                    let input = decision.payloads[start.input.0 as usize].clone();
                    let (start, event_id) = ((**start).clone(), event_id.to_owned());
                    self.births.push_back(Birth { run: *run, start, input, event_id });
                    continue;
                }
                Change::Defined { definition } => {
                    let digest = Digest::of(text(decision, *definition).as_bytes());
                    if let Some(defined) = execution.defined(digest) {
                        self.pinned.insert(digest, Arc::clone(defined));
                        self.given.extend(defined.is_loose().then_some((from, digest)));
                    }
                    continue;
                }
                Change::Sent { to, message } => {
                    let letter = Letter::of(message, &decision.payloads);
                    (Address::Execution(*to), letter.encode())
                }
                Change::Published { task, sink, body } => {
                    let body = decision.payloads[body.0 as usize].clone();
                    let publication = Publication::of(execution, *task, decision.at, body);
                    (Address::Sink(sink.clone()), publication.encode())
                }
                _ => continue,
            };
            let key = MessageKey { from, seq, at };
            if matches!(change, Change::Sent { message: Message::ParentLeft { .. }, .. }) {
                self.farewells.insert(key);
            }
            self.messages.insert(key, MessageRow { key, to, body, waits: None });
            at += 1;
        }
    }
}

fn text(decision: &Decision, slot: semel_engine::Slot) -> &str {
    decision.payloads[slot.0 as usize].text()
}
