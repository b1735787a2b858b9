//! # The journal: what is written is enough, and cannot be altered unseen (design 2)

use std::sync::Arc;

use semel_engine::{Entry, EntryError, Execution, Link, Pinned};
use semel_model::{Digest, TaskResultStatus::Failed};
use serde_json::json;

use crate::bench::Bench;
use crate::shapes::{flow, step};

fn told() -> Bench {
    let policy = json!({"retryCount": 1, "retryDelaySeconds": 0});
    let mut run = Bench::start(flow(&[step("a", policy), step("b", json!({}))]), json!({"n": 1}));
    run.fail("a", Failed, "x");
    run.pause();
    run.complete("a", json!({"v": 1}));
    run.resume();
    run.complete("b", json!({}));
    run.reads(&["COMPLETED", "a 0 FAILED", "a 1 COMPLETED", "b 0 COMPLETED"]);
    run
}

/// Reads a journal as verify does: the chain, then where the head says it ends.
fn noticed(journal: &[Vec<u8>], head: Link) -> bool {
    let mut link = Link::default();
    for bytes in journal {
        match Entry::decode(bytes, link) {
            Ok((_, next)) => link = next,
            Err(EntryError::Unreadable { .. } | EntryError::Broken { .. }) => return true,
        }
    }
    link != head
}

#[test]
fn altering_any_byte_of_any_entry_is_noticed() {
    let run = told();
    let head = run.execution.link();
    assert!(!noticed(&run.journal, head));
    let mut altered = run.journal.clone();
    for entry in 0..altered.len() {
        for byte in 0..altered[entry].len() {
            for flip in [1, 0x20] {
                altered[entry][byte] ^= flip;
                assert!(noticed(&altered, head), "entry {entry}, byte {byte}");
                altered[entry][byte] ^= flip;
            }
        }
    }
}

#[test]
fn a_missing_a_doubled_or_a_swapped_entry_is_noticed() {
    let run = told();
    let head = run.execution.link();
    for at in 0..run.journal.len() {
        let mut missing = run.journal.clone();
        let taken = missing.remove(at);
        assert!(noticed(&missing, head), "without entry {at}");
        let mut doubled = run.journal.clone();
        doubled.insert(at, taken);
        assert!(noticed(&doubled, head), "entry {at} twice");
        let mut swapped = run.journal.clone();
        let last = swapped.len() - 1;
        swapped.swap(at, last);
        assert!(at == last || noticed(&swapped, head), "entry {at} moved");
    }
}

#[test]
fn a_fault_names_its_entry() {
    let run = told();
    let first = Entry::decode(&run.journal[0], Link::default()).unwrap().1;
    let broken = Entry::decode(&run.journal[2], first).unwrap_err();
    assert_eq!(broken.to_string(), "entry 2 does not continue the chain");
    let unreadable = Entry::decode(b"{", first).unwrap_err();
    assert_eq!(unreadable.to_string(), "entry 2 does not parse");
}

#[test]
fn an_entry_reads_back_as_it_was_written() {
    for bytes in &told().journal {
        let entry: Entry = serde_json::from_slice(bytes).unwrap();
        assert_eq!(&entry.encode(), bytes);
    }
}

#[test]
fn unknown_fields_of_a_newer_engine_are_ignored() {
    let run = told();
    let mut value: serde_json::Value = serde_json::from_slice(&run.journal[0]).unwrap();
    value["novelty"] = json!({"x": 1});
    value["cause"]["Started"]["novelty"] = json!(2);
    value["changes"][1]["TaskScheduled"]["novelty"] = json!([3]);
    let bytes = serde_json::to_vec(&value).unwrap();
    let (entry, link) = Entry::decode(&bytes, Link::default()).unwrap();
    let mut again = Execution::unborn(run.execution.id(), Arc::clone(run.execution.definition()));
    again.fold(&entry, link, None);
    assert_eq!(again.task_count(), 1);
}

#[test]
fn an_event_that_changes_nothing_leaves_no_entry() {
    let mut run = told();
    let entries = run.journal.len();
    assert_eq!(run.wake(), []);
    assert!(run.terminate("late").is_err());
    assert_eq!(run.journal.len(), entries);
    run.replay();
}

#[test]
fn a_pinned_definition_is_named_by_the_text_it_was_stored_as() {
    let text = run_text();
    let pinned = Pinned::parse(&text).unwrap();
    assert_eq!((pinned.digest(), pinned.text()), (Digest::of(&text), text.as_slice()));
    let older = br#"{"name":"flow","tasks":[{"name":"a","taskReferenceName":"a"}]}"#;
    let pinned = Pinned::parse(older).unwrap();
    assert_eq!(pinned.digest(), Digest::of(older), "written before a field was added");
    assert_eq!(pinned.text(), older);
}

fn run_text() -> Vec<u8> {
    told().execution.definition().text().to_vec()
}
