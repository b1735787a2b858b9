//! # Snapshots of long runs, beside the index

use super::Fixture;
use super::desk::Desk;
use super::samples::execution;
use crate::index::Batch;

pub fn a_snapshot_is_kept_until_its_run_is_removed(fixture: &mut dyn Fixture) {
    let desk = Desk::new(fixture);
    let store = desk.store();
    let put = |batch: Batch| store.index().put(&batch).expect("writable");
    let snapshot = |number| store.index().snapshot(execution(number)).expect("readable");
    let both = vec![(execution(1), vec![1]), (execution(2), vec![2])];
    put(Batch { snapshots: both, ..Batch::default() });
    put(Batch { snapshots: vec![(execution(2), vec![3])], ..Batch::default() });
    assert_eq!((snapshot(1), snapshot(2)), (Some(vec![1]), Some(vec![3])), "the last is kept");
    put(Batch { removed: vec![execution(1)], ..Batch::default() });
    assert_eq!((snapshot(1), snapshot(2)), (None, Some(vec![3])));
}
