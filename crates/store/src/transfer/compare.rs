//! # Comparing: is one store the same as another?
//!
//! Row by row, from both sides at once, so that what differs first on a shelf is named. Journals are
//! followed from digest to digest as well: two stores may be equal and both be broken.

use std::collections::{BTreeMap, VecDeque};

use super::{PAGE, Step, is_mark};
use crate::chain::Chain;
use crate::shelf::{After, Item, Shelf};
use crate::{Store, StoreError};

/// So many journals are told about.
const BROKEN_MAX: usize = 10;

/// What was found on both sides.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Compared {
    /// How many rows the source has, and the target.
    pub counts: BTreeMap<Shelf, (u64, u64)>,
    /// In words, the first of each shelf. None: they are the same.
    pub differences: Vec<String>,
}

/// Both must be at rest.
pub fn compare(
    from: &dyn Store,
    to: &dyn Store,
    told: &mut dyn FnMut(Step),
) -> Result<Compared, StoreError> {
    let mut compared = Compared::default();
    for shelf in Shelf::ALL {
        let (counts, difference) = compare_shelf(shelf, from, to)?;
        compared.counts.insert(shelf, counts);
        compared.differences.extend(difference);
        told(Step::Compared(shelf, compared.counts.values().map(|(_, count)| count).sum()));
    }
    let (floor, new_floor) = (from.fence_floor()?, to.fence_floor()?);
    if new_floor < floor {
        let words = format!("fences of the source go up to {floor}, of the target to {new_floor}");
        compared.differences.push(words);
    }
    compared.differences.extend(broken_journals(to)?);
    Ok(compared)
}

fn compare_shelf(
    shelf: Shelf,
    from: &dyn Store,
    to: &dyn Store,
) -> Result<((u64, u64), Option<String>), StoreError> {
    let (mut source, mut target) = (Rows::of(from, shelf), Rows::of(to, shelf));
    let mut counts = (0, 0);
    let mut difference = None;
    loop {
        let rows = (source.next()?, target.next()?);
        counts.0 += u64::from(rows.0.is_some());
        counts.1 += u64::from(rows.1.is_some());
        let words = match rows {
            (None, None) => return Ok((counts, difference)),
            (Some(row), Some(other)) if row.is_same(&other) => continue,
            (Some(row), Some(other)) if row.to_string() == other.to_string() => {
                format!("{row} is not the same in source and target")
            }
            (Some(row), Some(other)) => {
                format!("where the source has {row}, the target has {other}")
            }
            (Some(row), None) => format!("{row} is in the source and not in the target"),
            (None, Some(row)) => format!("{row} is in the target and not in the source"),
        };
        difference.get_or_insert(words);
    }
}

/// The first journals of a store that are not as they were written.
fn broken_journals(store: &dyn Store) -> Result<Vec<String>, StoreError> {
    let mut heads = Rows::of(store, Shelf::Executions);
    let mut entries = Rows::of(store, Shelf::Journal);
    let mut entry = entries.next()?;
    let mut broken = Vec::new();
    while let (Some(Item::Head(head)), true) = (heads.next()?, broken.len() < BROKEN_MAX) {
        let mut chain = Chain::new(head.id, head.link);
        let mut wrong = None;
        while let Some(Item::Entry(execution, seq, bytes)) = &entry {
            if *execution > head.id {
                break;
            }
            let followed = match *execution == head.id {
                true => chain.follow(*seq, bytes),
                false => Err(format!("execution {execution} has a journal and no row")),
            };
            wrong = wrong.or(followed.err());
            entry = entries.next()?;
        }
        broken.extend(wrong.or(chain.end().err()));
    }
    if let (Some(Item::Entry(execution, ..)), true) = (entry, broken.len() < BROKEN_MAX) {
        broken.push(format!("execution {execution} has a journal and no row"));
    }
    Ok(broken)
}

/// One shelf, a page at a time.
struct Rows<'a> {
    store: &'a dyn Store,
    page: VecDeque<Item>,
    /// Where the next page begins; none: there is none.
    after: Option<After>,
}

impl<'a> Rows<'a> {
    fn of(store: &'a dyn Store, shelf: Shelf) -> Self {
        Self { store, page: VecDeque::new(), after: Some(After::nothing(shelf)) }
    }

    fn next(&mut self) -> Result<Option<Item>, StoreError> {
        loop {
            if let Some(item) = self.page.pop_front() {
                if is_mark(&item) {
                    continue;
                }
                return Ok(Some(item));
            }
            let Some(after) = self.after.take() else { return Ok(None) };
            self.page = self.store.walk(&after, PAGE)?.into();
            self.after = self.page.back().map(Item::after);
        }
    }
}
