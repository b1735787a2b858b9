//! # A family: several executions that create, tell and revive one another
//!
//! Does what the runtime does, in a few plain functions: runs are born in the commit of their
//! maker, messages lie in a table until the commit in which they are heard, and a child that lives
//! again takes its ancestors with it, all or none. A commit is a clone that replaces the original.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::rc::Rc;
use std::sync::Arc;

use semel_engine::{
    Change, Claim, Entry, Event, Execution, Letter, Message, MessageKey, RecordKey, Slot, Start,
    Stop, Task, fingerprint,
};
use semel_model::{ExecutionId, Payload, TaskId, TaskResultStatus, Timestamp};
use serde_json::Value;

use crate::bench::{BEGIN, Bench};
use crate::shapes::{Said, payload};
use crate::shelf::Shelf;

/// Marks the key of an answer given in somebody's stead.
const IN_STEAD: u32 = 1 << 31;

#[derive(Clone)]
pub(crate) struct Family {
    pub(crate) members: BTreeMap<ExecutionId, Rc<Bench>>,
    pub(crate) shelf: Arc<Shelf>,
    /// Sent and not yet heard.
    pub(crate) letters: BTreeMap<MessageKey, (ExecutionId, Letter)>,
    pub(crate) now: Timestamp,
    /// Children that somebody revived without a parent that would notice.
    pub(crate) alone: BTreeSet<ExecutionId>,
    /// Who waits for a record, oldest first.
    pub(crate) line: Vec<(RecordKey, MessageKey, ExecutionId, Letter)>,
    fence: u64,
    begun: u8,
}

#[derive(Debug, PartialEq)]
pub(crate) enum Refused {
    Engine(Stop),
    /// Another run is live under its key.
    Taken(ExecutionId),
    Gone,
}

/// A run that is to begin in this commit.
struct Birth {
    run: ExecutionId,
    start: Start,
    input: Payload,
}

impl Family {
    /// With these definitions registered, children before those that name them.
    pub(crate) fn of(definitions: &[Value]) -> Self {
        let mut shelf = Shelf::default();
        for definition in definitions {
            shelf.register(definition.clone());
        }
        Self {
            members: BTreeMap::new(),
            shelf: Arc::new(shelf),
            letters: BTreeMap::new(),
            now: BEGIN,
            alone: BTreeSet::new(),
            line: Vec::new(),
            fence: 0,
            begun: 0,
        }
    }

    pub(crate) fn start(&mut self, name: &str, input: Value) -> ExecutionId {
        self.start_as(name, input, Start::default())
    }

    pub(crate) fn start_as(&mut self, name: &str, input: Value, start: Start) -> ExecutionId {
        self.begun += 1;
        let run = ExecutionId::from_bytes([self.begun; 16]);
        let definition = self.shelf.find(name, 0).expect("it is registered").digest();
        let start = Start { definition, ..start };
        let birth = Birth { run, start, input: payload(&input) };
        self.deliver_births(VecDeque::from([birth])).expect("nobody has its key");
        run
    }

    pub(crate) fn run(&self, id: ExecutionId) -> &Bench {
        &self.members[&id]
    }

    pub(crate) fn execution(&self, id: ExecutionId) -> &Execution {
        &self.run(id).execution
    }

    /// The run that the newest task at this step waits for.
    pub(crate) fn child(&self, id: ExecutionId, reference: &str) -> ExecutionId {
        let task = self.execution(id).latest(reference).expect("the step was reached");
        task.child.expect("it has a child").run
    }

    /// One commit: the event, the ancestors that live again with it, the runs that it creates.
    pub(crate) fn tell(
        &mut self,
        id: ExecutionId,
        event: Event,
        payloads: &[Payload],
    ) -> Result<Vec<Change>, Refused> {
        let mut draft = self.clone();
        let changes = draft.tell_all(id, event, payloads)?;
        *self = draft;
        Ok(changes)
    }

    fn tell_all(
        &mut self,
        id: ExecutionId,
        event: Event,
        payloads: &[Payload],
    ) -> Result<Vec<Change>, Refused> {
        let revives =
            event.may_revive() && self.members.get(&id).is_some_and(|it| it.execution.is_closed());
        let path = if revives { self.path(id) } else { Vec::new() };
        let mut births = VecDeque::new();
        let epoch = path.first().map(|(_, _, epoch)| *epoch);
        let changes = self.hear(id, event, payloads, epoch, &mut births)?;
        if revives && !changes.is_empty() {
            self.note_alone(id, path.is_empty());
            for (at, (above, task, epoch)) in path.iter().enumerate() {
                let event = Event::ChildRevived { task: *task, epoch: *epoch };
                let next = path.get(at + 1).map(|(_, _, epoch)| *epoch);
                let was_closed = self.execution(*above).is_closed();
                self.hear(*above, event, &[], next, &mut births)?;
                if was_closed {
                    self.note_alone(*above, next.is_none());
                }
            }
        }
        self.deliver_births(births)?;
        Ok(changes)
    }

    /// It lives again, with or without a parent that notices.
    fn note_alone(&mut self, id: ExecutionId, is_alone: bool) {
        self.alone.remove(&id);
        if is_alone && self.execution(id).parent().is_some() {
            self.alone.insert(id);
        }
    }

    /// The ancestors that live again with this run: up to the first that is gone, has another child
    /// there or only watches it, gave it up as optional, or is live already.
    fn path(&self, id: ExecutionId) -> Vec<(ExecutionId, TaskId, u32)> {
        let mut path = Vec::new();
        let mut child = self.execution(id);
        while let Some(parent) = child.parent() {
            let Some(found) = self.members.get(&parent.execution) else { break };
            let task = found.execution.task(parent.task).filter(|task| !task.replaced);
            let given_up =
                |task: &&Arc<Task>| task.status.is_terminal() && task.step.task().optional;
            let edge = task.filter(|task| !given_up(task)).and_then(|task| task.child);
            let Some(edge) = edge.filter(|edge| edge.run == child.id() && !edge.is_observed) else {
                break;
            };
            path.push((parent.execution, parent.task, edge.epoch + 1));
            if found.execution.is_live() {
                break;
            }
            child = &found.execution;
        }
        path
    }

    /// One event on one execution; what it sends lies in the table, whom it creates is a birth.
    fn hear(
        &mut self,
        id: ExecutionId,
        event: Event,
        payloads: &[Payload],
        epoch: Option<u32>,
        births: &mut VecDeque<Birth>,
    ) -> Result<Vec<Change>, Refused> {
        let found = self.members.get_mut(&id).ok_or(Refused::Gone)?;
        let member = Rc::make_mut(found);
        let was_live = member.execution.is_live();
        (member.now, member.epoch, member.shelf) = (self.now, epoch, Arc::clone(&self.shelf));
        let changes = member.happen(event.clone(), payloads).map_err(Refused::Engine)?;
        if changes.is_empty() {
            return Ok(changes);
        }
        let entry: Entry = serde_json::from_slice(member.journal.last().expect("just written"))
            .expect("an entry reads back");
        let mut member = member.clone();
        self.carry_guards(id, &entry);
        member.shelf = Arc::clone(&self.shelf);
        if !can_repeat(&event, &member.execution) {
            let again = member.happen(event.clone(), payloads);
            let is_heard = again.as_ref().is_ok_and(Vec::is_empty);
            let is_refused = matches!(again, Err(Stop::Rejected(_)));
            assert!(is_heard || is_refused, "said twice is said once: {event:?}, {again:?}");
        }
        self.carry(id, &entry, births);
        self.note_life(id, was_live)?;
        Ok(changes)
    }

    fn carry(&mut self, from: ExecutionId, entry: &Entry, births: &mut VecDeque<Birth>) {
        let seq = self.execution(from).link().seq;
        let mut at = 0;
        for change in &entry.changes {
            match change {
                Change::RunCreated { run, start } => {
                    self.take_key(*run, start);
                    let input = entry.payloads[start.input.0 as usize].clone();
                    births.push_back(Birth { run: *run, start: (**start).clone(), input });
                }
                Change::Defined { definition } => {
                    let text = entry.payloads[definition.0 as usize].text();
                    Arc::make_mut(&mut self.shelf).keep(text.as_bytes());
                }
                Change::Sent { to, message } => {
                    let letter = Letter::of(message, &entry.payloads);
                    let letter = Letter::decode(&letter.encode()).expect("a letter reads back");
                    self.letters.insert(MessageKey { from, seq, at }, (*to, letter));
                    at += 1;
                }
                _ => {}
            }
        }
    }

    /// Whoever is decided later in this commit sees the key taken, before the run is born.
    fn take_key(&mut self, run: ExecutionId, start: &Start) {
        let Some(key) = start.idempotency_key.as_deref() else { return };
        let name = &self.shelf.pinned(start.definition).definition().name;
        let key = RecordKey::start(name, key);
        Arc::make_mut(&mut self.shelf).records.insert(key, Claim::live(run));
    }

    /// A keyed run that begins, ends or lives again says so in its record.
    fn note_life(&mut self, id: ExecutionId, was_live: bool) -> Result<(), Refused> {
        let execution = self.execution(id);
        let (begins, live) = (execution.link().seq == 1, execution.is_live());
        let turns = begins || was_live != live;
        let Some(key) = execution.idempotency_key().filter(|_| turns) else { return Ok(()) };
        let key = RecordKey::start(&execution.definition().definition().name, key);
        let held = self.shelf.records.get(&key).copied();
        let is_own = held.is_some_and(|claim| claim.run == id);
        if let Some(other) = held.filter(|claim| live && !is_own && claim.live) {
            return Err(Refused::Taken(other.run));
        }
        if begins || live || is_own {
            let definition = execution.definition().definition();
            let fingerprint = Some(fingerprint(definition, execution.input()));
            let claim = Claim { live, fingerprint, ..Claim::live(id) };
            Arc::make_mut(&mut self.shelf).records.insert(key, claim);
        }
        Ok(())
    }

    fn deliver_births(&mut self, mut births: VecDeque<Birth>) -> Result<(), Refused> {
        while let Some(Birth { run, start, input }) = births.pop_front() {
            assert!(!self.members.contains_key(&run), "a run is born once");
            let pinned = Arc::clone(self.shelf.pinned(start.definition));
            let unborn = Bench::unborn_as(run, pinned, Arc::clone(&self.shelf));
            self.members.insert(run, Rc::new(unborn));
            let event = Event::Started(Start { input: Slot(0), ..start });
            self.hear(run, event, &[input], None, &mut births)?;
        }
        Ok(())
    }

    /// The receiver hears it, or is answered for; the same commit deletes the row.
    pub(crate) fn deliver(&mut self, key: MessageKey) {
        let Some((to, letter)) = self.letters.get(&key).cloned() else { return };
        let heard = self.tell(to, Event::Told(letter.message.clone()), &letter.payloads);
        if let Err(refused) = heard {
            self.answer_for(key, to, &letter, &format!("{refused:?}"));
        }
        self.letters.remove(&key);
    }

    fn answer_for(&mut self, key: MessageKey, to: ExecutionId, letter: &Letter, reason: &str) {
        if let Some(answer) = letter.message.refused(to, reason) {
            let key = MessageKey { at: key.at | IN_STEAD, ..key };
            self.letters.insert(key, (key.from, Letter::of(&answer, &letter.payloads)));
        }
    }

    /// Until nothing is on its way.
    pub(crate) fn deliver_all(&mut self) {
        while let Some(key) = self.letters.keys().next().copied() {
            self.deliver(key);
        }
    }

    /// Ends it if it is live; then nothing of it is left, and its key is free.
    pub(crate) fn remove(&mut self, id: ExecutionId) {
        let mut draft = self.clone();
        let told = draft.tell_all(id, Event::Removed, &[]);
        if told.is_err() {
            return;
        }
        draft.members.remove(&id);
        Arc::make_mut(&mut draft.shelf).records.retain(|_, claim| claim.run != id);
        *self = draft;
    }

    /// Every process dies; what was committed is read back.
    pub(crate) fn crash(&mut self) {
        self.members.values_mut().for_each(|member| Rc::make_mut(member).reopen());
    }

    pub(crate) fn claim(&mut self, id: ExecutionId, reference: &str, worker: &str) -> Said {
        self.claim_as(id, reference, Some(worker))
    }

    pub(crate) fn claim_as(
        &mut self,
        id: ExecutionId,
        reference: &str,
        worker: Option<&str>,
    ) -> Said {
        let member = Rc::make_mut(self.members.get_mut(&id).expect("it is not gone"));
        (member.now, member.fence) = (self.now, self.fence);
        let said = member.claim_as(reference, worker);
        self.fence = member.fence;
        said
    }

    /// Claims and reports COMPLETED.
    pub(crate) fn complete(&mut self, id: ExecutionId, reference: &str, output: Value) {
        let said = self.claim(id, reference, "ann").output(output);
        self.report(id, &said).expect("the holder's report is taken");
    }

    /// Claims and reports FAILED.
    pub(crate) fn fail(&mut self, id: ExecutionId, reference: &str, reason: &str) {
        let said = self.claim(id, reference, "ann").reason(reason);
        let said = Said { status: TaskResultStatus::Failed, ..said };
        self.report(id, &said).expect("the holder's report is taken");
    }

    /// Advances, then lets fire what is due.
    pub(crate) fn tick(&mut self, seconds: i64) {
        self.now = self.now.plus_seconds(seconds);
        for _ in 0..1_000 {
            let due = self.members.iter().find_map(|(id, member)| {
                let wakes = member.execution.wake_at().is_some_and(|at| at <= self.now);
                let wake = wakes.then_some(Event::Woke);
                let late = member
                    .rows
                    .values()
                    .find(|row| row.hand_out.due_at().is_some_and(|at| at <= self.now));
                let expiry = late.map(|row| Event::Expired { task: row.task });
                Some((*id, wake.or(expiry)?))
            });
            let Some((id, event)) = due else { return };
            self.tell(id, event, &[]).expect("a deadline is never refused");
        }
        panic!("whatever fires is disarmed");
    }

    /// The story of that run is this one, and all journals tell the same as their runs.
    #[track_caller]
    pub(crate) fn reads(&self, id: ExecutionId, story: &[&str]) {
        assert_eq!(self.run(id).story(), story);
        self.members.values().for_each(|member| member.replay());
    }

    pub(crate) fn report(&mut self, id: ExecutionId, said: &Said) -> Result<Vec<Change>, Refused> {
        let (event, payloads) = said.told();
        self.tell(id, event, &payloads)
    }
}

/// Done again, this is another deed: the person who asks twice names the request by a key, and an
/// answer given twice is heard once.
fn can_repeat(event: &Event, after: &Execution) -> bool {
    let asks = matches!(event, Event::Jumped { .. } | Event::Told(Message::Watch { .. }));
    // Whoever is let go and has to wait on leaves a new message in the place of this one.
    let waits_on = matches!(event, Event::Told(Message::YourTurn { .. }));
    // What did not fit into one turn is still due.
    let goes_on =
        matches!(event, Event::Woke) && after.wake_at().is_some_and(|at| at <= after.last_at());
    // Each signal is one of its own.
    let signals = matches!(
        event,
        Event::Signalled { .. }
            | Event::Told(Message::Signal { .. } | Message::SignalRefused { .. })
    );
    asks || signals || waits_on || goes_on || (event.may_revive() && after.is_closed())
}
