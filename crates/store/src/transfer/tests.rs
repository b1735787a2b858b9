//! # Copies that are cut off, refused, or not what they were made from

use std::sync::Arc;

use super::*;
use crate::conformance::samples::{self, BEGIN};
use crate::{Clock, CommitFault, MemoryStore};

fn store() -> MemoryStore {
    MemoryStore::new(Arc::new(Clock::manual(BEGIN)))
}

fn put(store: &MemoryStore, writes: Writes) {
    let round = store.last_round(0).unwrap() + 1;
    let stamp = Stamp { lane: 0, round, at: BEGIN, fence: 7 };
    store.writer(0).unwrap().commit(Writes { stamp, ..writes }).unwrap();
}

/// Many rows: several pages.
fn large() -> MemoryStore {
    let store = store();
    for number in 0..=250 {
        put(&store, samples::journal(number, 7));
    }
    store
}

fn copy(from: &MemoryStore, to: &MemoryStore) -> Result<Outcome, TransferError> {
    transfer("source", from, to, &mut |_| {})
}

fn is_copied(outcome: &Result<Outcome, TransferError>) -> bool {
    matches!(outcome, Ok(Outcome::Copied(compared)) if compared.differences.is_empty())
}

#[test]
fn a_copy_that_was_cut_off_anywhere_goes_on_where_it_was() {
    let from = large();
    let pages = {
        let (to, mut pages) = (store(), 0);
        let count = &mut |step| pages += usize::from(matches!(step, Step::Copied(..)));
        transfer("source", &from, &to, count).unwrap();
        pages
    };
    assert!(pages > 12, "{pages} pages");
    for fault in [CommitFault::LostBefore, CommitFault::LostAfter] {
        for cut in 0..pages {
            let (to, mut page) = (store(), 0);
            let other = to.clone();
            let cutting = &mut |_| {
                page += 1;
                if page == cut {
                    other.fail_next_commit(fault);
                }
            };
            if cut == 0 {
                to.fail_next_commit(fault);
            }
            let cut_off = transfer("source", &from, &to, cutting);
            assert!(matches!(cut_off, Err(TransferError::Store(StoreError::Unknown))), "{cut}");
            assert!(Mark::of(&to).unwrap().is_none_or(|mark| !mark.is_done()));
            assert!(is_copied(&copy(&from, &to)), "cut off after page {cut}");
        }
    }
}

#[test]
fn a_copy_that_is_done_is_not_made_again() {
    let (from, to) = (large(), store());
    assert!(is_copied(&copy(&from, &to)));
    // What the target does from now on is its own.
    put(&to, samples::put_heads([samples::full_head(255)]));
    let again = copy(&from, &to).unwrap();
    let Outcome::Before { from: name, counts, .. } = again else { panic!("{again:?}") };
    assert_eq!((name.as_str(), counts[&Shelf::Journal]), ("source", 251 * 7));
}

#[test]
fn a_target_with_data_of_its_own_is_refused() {
    let (from, to) = (large(), store());
    put(&to, samples::put_deliveries([samples::delivery(1, 1)]));
    let refused = copy(&from, &to).unwrap_err();
    assert!(matches!(refused, TransferError::NotEmpty { .. }), "{refused}");
    assert!(refused.to_string().contains("delivery 01010101"), "{refused}");
    assert_eq!(Mark::of(&to).unwrap(), None);
}

#[test]
fn another_source_does_not_go_on_with_a_copy() {
    let (from, to) = (large(), store());
    to.fail_next_commit(CommitFault::LostAfter);
    copy(&from, &to).unwrap_err();
    let other = large();
    let stamp = Stamp { lane: 0, round: 999, at: BEGIN.plus_ms(1), fence: 8 };
    other.writer(0).unwrap().commit(Writes { stamp, ..Writes::default() }).unwrap();
    let refused = copy(&other, &to).unwrap_err();
    assert!(matches!(refused, TransferError::Another { .. }), "{refused}");
    assert!(is_copied(&copy(&from, &to)));
}

#[test]
fn half_of_a_copy_is_not_copied_on() {
    let (from, half, to) = (large(), store(), store());
    half.fail_next_commit(CommitFault::LostAfter);
    copy(&from, &half).unwrap_err();
    let refused = copy(&half, &to).unwrap_err();
    assert!(matches!(refused, TransferError::Half { .. }), "{refused}");
    assert_eq!(Mark::of(&to).unwrap(), None);
    assert!(is_copied(&copy(&from, &half)) && is_copied(&copy(&half, &to)));
}

#[test]
fn what_differs_is_named() {
    let spoilt = [
        (samples::put_heads([samples::head(255)]), "execution ffffffff"),
        (samples::put_deliveries([samples::delivery(3, 3)]), "delivery 03030303"),
        (samples::put_messages([samples::message(3, 1, 0)]), "message 0 of entry 1"),
        (Writes { entries: vec![(samples::execution(9), 8, vec![])], ..<_>::default() }, "entry 8"),
    ];
    for (writes, words) in spoilt {
        for is_source in [true, false] {
            let (from, to) = (large(), store());
            assert!(is_copied(&copy(&from, &to)));
            put(if is_source { &from } else { &to }, writes.clone());
            let compared = compare(&from, &to, &mut |_| {}).unwrap();
            let said = compared.differences.join("\n");
            assert!(said.contains(words), "{words}: {said}");
        }
    }
}

#[test]
fn a_journal_that_is_broken_in_both_is_found() {
    let (from, to) = (large(), store());
    put(&from, samples::put_heads([samples::head(255)]));
    let Outcome::Copied(compared) = copy(&from, &to).unwrap() else { panic!("it was empty") };
    let words = "its row names entry 1 and its journal ends with entry 0";
    assert!(compared.differences.len() == 1 && compared.differences[0].contains(words));
    assert!(!Mark::of(&to).unwrap().unwrap().is_done(), "and is not served");
}
