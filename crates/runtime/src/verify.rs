//! # Verify: the journal proves the rows
//!
//! Checks that digests chain, that folding gives exactly the journalled columns of the stored rows,
//! and that entries of this engine version, decided again from cause and facts, give the same
//! changes.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use semel_engine::{
    Brought, Delivery, ENGINE_VERSION, Entry, EntryError, Event, Execution, Head, Link, Pinned,
    RecordKey, decide,
};
use semel_model::ExecutionId;
use semel_store::Loaded;

use crate::failure::Failure;
use crate::world::World;

#[derive(Clone, Debug, Default, PartialEq)]
pub struct Verdict {
    pub entries: u64,
    /// Entries of this engine version that were decided again.
    pub decided_again: u64,
    pub rows: u64,
    /// The first entry that is not as it should be, and why.
    pub fault: Option<(u64, String)>,
}

/// None: there is no such execution. A run that moves on while it is looked at is looked at again:
/// its rows and its record are read one after the other.
pub fn verify(world: &World, id: ExecutionId) -> Result<Option<Verdict>, Failure> {
    for _ in 1..LOOKS_MAX {
        let Some((verdict, seen)) = look(world, id)? else { return Ok(None) };
        let stands =
            verdict.fault.is_none() || world.store.head(id)?.is_none_or(|head| head.link == seen);
        if stands {
            return Ok(Some(verdict));
        }
    }
    Ok(look(world, id)?.map(|(verdict, _)| verdict))
}

/// Looks at a run that keeps moving before the last one is believed.
const LOOKS_MAX: usize = 8;

/// One look, and the end of the journal it saw.
fn look(world: &World, id: ExecutionId) -> Result<Option<(Verdict, Link)>, Failure> {
    let Some(loaded) = world.store.load(id, 0)? else { return Ok(None) };
    let mut verdict = Verdict::default();
    let found = match replay(world, id, &loaded, &mut verdict) {
        Ok(execution) => compare_rows(world, &execution, &loaded, &mut verdict)?,
        Err(Broken::Fault(seq, what)) => Some((seq, what)),
        Err(Broken::Failure(failure)) => return Err(failure),
    };
    verdict.fault = found;
    Ok(Some((verdict, loaded.head.link)))
}

enum Broken {
    Fault(u64, String),
    Failure(Failure),
}

fn replay(
    world: &World,
    id: ExecutionId,
    loaded: &Loaded,
    verdict: &mut Verdict,
) -> Result<Execution, Broken> {
    let mut execution: Option<Execution> = None;
    for bytes in &loaded.entries {
        let before = execution.as_ref().map_or_else(Link::default, Execution::link);
        let (entry, link) = Entry::decode(bytes, before).map_err(|error| match error {
            EntryError::Unreadable { seq, .. } | EntryError::Broken { seq } => {
                Broken::Fault(seq, error.to_string())
            }
        })?;
        let mut current = match execution.take() {
            Some(execution) => execution,
            None => begin(world, id, &entry)?,
        };
        let brought = entry.cause.brings().map(|digest| world.definitions.pinned(digest));
        let brought = brought.transpose().map_err(Broken::Failure)?;
        if entry.engine_version == ENGINE_VERSION {
            decide_again(&current, &entry, link.seq, brought.as_ref())?;
            verdict.decided_again += 1;
        }
        current.fold(&entry, link, brought.as_ref());
        verdict.entries += 1;
        execution = Some(current);
    }
    execution.ok_or_else(|| Broken::Fault(1, "the journal is empty".to_owned()))
}

fn begin(world: &World, id: ExecutionId, first: &Entry) -> Result<Execution, Broken> {
    let Event::Started(start) = &first.cause else {
        return Err(Broken::Fault(1, "the journal does not begin with a start".to_owned()));
    };
    let pinned = world.definitions.pinned(start.definition).map_err(Broken::Failure)?;
    if pinned.digest() != start.definition {
        return Err(Broken::Fault(1, "the pinned definition was altered".to_owned()));
    }
    Ok(Execution::unborn(id, pinned))
}

fn decide_again(
    before: &Execution,
    entry: &Entry,
    seq: u64,
    definition: Option<&Arc<Pinned>>,
) -> Result<(), Broken> {
    let mut draft = before.clone();
    let brought = Brought { payloads: &entry.payloads, definition };
    let decided = decide(&mut draft, &entry.cause, &brought, &entry.facts);
    let decision = decided.map_err(|stop| Broken::Fault(seq, format!("decided again: {stop}")))?;
    if decision.changes != entry.changes || decision.payloads != entry.payloads {
        let what = "decided again, it gives other changes".to_owned();
        return Err(Broken::Fault(seq, what));
    }
    Ok(())
}

fn compare_rows(
    world: &World,
    execution: &Execution,
    loaded: &Loaded,
    verdict: &mut Verdict,
) -> Result<Option<(u64, String)>, Failure> {
    let seq = execution.link().seq;
    let fault = |what: String| Ok(Some((seq, what)));
    let stored = &loaded.head;
    let folded = Head::of(execution, &stored.principal).map(|head| Head {
        parked: stored.parked.clone(),
        wake_at: if stored.parked.is_some() { stored.wake_at } else { head.wake_at },
        ..head
    });
    verdict.rows += 1;
    if folded.as_ref() != Some(stored) {
        return fault(format!("the head row is {stored:?}, the journal says {folded:?}"));
    }
    let placed: Vec<_> = execution.open_tasks().filter(|task| task.is_placed()).cloned().collect();
    let rows: BTreeMap<_, _> = loaded.deliveries.iter().map(|row| (row.task, row)).collect();
    for task in &placed {
        let row = rows.get(&task.id);
        verdict.rows += 1;
        let folded = Delivery::of(execution, task);
        if !row.is_some_and(|row| folded.same_journalled(row)) {
            return fault(format!("the delivery row of task {} differs", task.id));
        }
    }
    let placed: BTreeSet<_> = placed.iter().map(|task| task.id).collect();
    if let Some(extra) = loaded.deliveries.iter().find(|row| !placed.contains(&row.task)) {
        return fault(format!("task {} has a delivery row and is not open", extra.task));
    }
    if let Some(key) = execution.idempotency_key() {
        let key = RecordKey::start(&execution.definition().definition().name, key);
        verdict.rows += 1;
        match world.store.record(&key)? {
            // A newer run under the key may have been removed, and the key with it.
            None if !execution.is_live() => {}
            None => return fault(format!("the record of key {} is missing", key.key)),
            Some(record)
                if record.run == Some(execution.id()) && record.live != execution.is_live() =>
            {
                return fault(format!("the record of key {} says live: {}", key.key, record.live));
            }
            Some(_) => {}
        }
    }
    Ok(None)
}
