//! # Positions: which elements of a list an index or a slice means

use super::json::Json;
use super::path::Slice;

/// The position an index means, counted from the end when negative.
pub(super) fn position(index: i64, length: usize) -> Option<usize> {
    let length = i64::try_from(length).ok()?;
    let at = if index < 0 { index.checked_add(length)? } else { index };
    usize::try_from(at).ok().filter(|_| at < length)
}

pub(super) fn element(items: &[Json], index: i64) -> Option<&Json> {
    items.get(position(index, items.len())?)
}

/// As in Python: bounds from the end when negative, cut to the list; backwards by a negative step.
pub(super) fn sliced<'v>(
    items: &'v [Json],
    slice: &Slice,
) -> impl Iterator<Item = &'v Json> + use<'v> {
    let length = i64::try_from(items.len()).unwrap_or(i64::MAX);
    let (low, high) = if slice.step > 0 { (0, length) } else { (-1, length - 1) };
    let bound = |bound: Option<i64>, default: i64| {
        bound.map_or(default, |at| {
            if at < 0 { at.saturating_add(length).max(low) } else { at.min(high) }
        })
    };
    let forwards = slice.step > 0;
    let from = bound(slice.from, if forwards { 0 } else { length - 1 });
    let to = bound(slice.to, if forwards { length } else { -1 });
    let step = slice.step;
    std::iter::successors(Some(from), move |at| at.checked_add(step))
        .take_while(move |at| if forwards { *at < to } else { *at > to })
        .filter_map(|at| items.get(usize::try_from(at).ok()?))
}
