//! # Transfer: everything one store holds, put into another
//!
//! Shelf by shelf, in the order of keys, a page per commit of the target. The same commit notes how far
//! it is (a [`Mark`]), so it goes on where it was cut off. Then both stores are compared, row by row, and
//! every journal is proven; only a target that is the same as its source is let go to work.
//!
//! The fences of the target begin above those of the source, and its time is when the source was last
//! alive, so that whoever opens it gives leases the time in which nobody could renew them.
//!
//! **May not:** be used on a store that somebody works on, or write to the source.

mod compare;
mod mark;

use std::collections::BTreeMap;

use semel_model::Timestamp;

pub use self::compare::{Compared, compare};
pub use self::mark::Mark;
use self::mark::{Origin, Stage};
use crate::rows::{Kind, Stamp, Writes};
use crate::shelf::{After, Item, Page, Shelf};
use crate::{Store, StoreError, Writer};

/// Small enough that a commit of it is a matter of a second.
pub(crate) const PAGE: Page = Page { rows_max: 500, bytes_max: 2 << 20 };

/// How many rows of each kind.
pub type Counts = BTreeMap<Shelf, u64>;

#[derive(Debug, thiserror::Error)]
pub enum TransferError {
    #[error(
        "the target holds data of its own ({found}), and nothing is copied over it; \
         name an empty one: a new database, or a new directory"
    )]
    NotEmpty { found: String },
    #[error(
        "the target holds a copy of {from}, and the source is another one or was used since that \
         copy was begun; name an empty target: a new database, or a new directory"
    )]
    Another { from: String },
    #[error("the source is itself a copy of {from} that is not finished; finish that one first")]
    Half { from: String },
    #[error("{row} cannot be kept by the target: {why}; change or remove it in the source")]
    Unfit { row: String, why: String },
    #[error(
        "the stores cannot be used as they are; run the command again, it goes on where it was"
    )]
    Store(#[from] StoreError),
}

/// How far it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    Copied(Shelf, u64),
    Compared(Shelf, u64),
}

/// How it ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// What was compared says whether it is the same.
    Copied(Compared),
    /// It had come to its end before.
    Before { from: String, at: Timestamp, counts: Counts },
}

/// Copies all of `from`, which people call `name`, into `to`, or goes on with it.
pub fn transfer(
    name: &str,
    from: &dyn Store,
    to: &dyn Store,
    told: &mut dyn FnMut(Step),
) -> Result<Outcome, TransferError> {
    if let Some(mark) = Mark::of(from)?.filter(|mark| !mark.is_done()) {
        return Err(TransferError::Half { from: mark.from });
    }
    let origin = Origin::of(from)?;
    let mark = match Mark::of(to)? {
        None => {
            refuse_data(to)?;
            Mark::new(name, origin)
        }
        Some(mark) if mark.origin != origin => {
            return Err(TransferError::Another { from: mark.from });
        }
        Some(Mark { stage: Stage::Done(at), from, counts, .. }) => {
            return Ok(Outcome::Before { from, at, counts });
        }
        Some(mark) => mark,
    };
    let mut moving = Moving { from, writer: to.writer(0)?, round: to.last_round(0)?, mark };
    moving.note()?;
    while let Stage::Copying(after) = moving.mark.stage.clone() {
        moving.page(after, PAGE)?;
        told(Step::Copied(moving.mark.shelf(), moving.mark.copied()));
    }
    let compared = compare(from, to, told)?;
    if compared.differences.is_empty() {
        moving.mark.stage = Stage::Done(to.now());
        moving.note()?;
    }
    Ok(Outcome::Copied(compared))
}

fn refuse_data(to: &dyn Store) -> Result<(), TransferError> {
    for shelf in Shelf::ALL {
        let found = to.walk(&After::nothing(shelf), Page::ONE_ROW)?;
        if let Some(row) = found.first() {
            return Err(TransferError::NotEmpty { found: row.to_string() });
        }
    }
    Ok(())
}

/// The mark is of the store it lies in, and no other's.
fn is_mark(item: &Item) -> bool {
    matches!(item, Item::Document(key, _) if key.kind == Kind::Copy)
}

struct Moving<'a> {
    from: &'a dyn Store,
    writer: Box<dyn Writer>,
    round: u64,
    mark: Mark,
}

impl Moving<'_> {
    /// One page, and what comes after it.
    fn page(&mut self, after: After, page: Page) -> Result<(), TransferError> {
        let items = self.from.walk(&after, page)?;
        let before = self.mark.clone();
        self.mark.pass(&after, &items);
        let mut writes = Writes::default();
        let row = items.first().map(ToString::to_string).unwrap_or_default();
        items.into_iter().filter(|item| !is_mark(item)).for_each(|item| item.put(&mut writes));
        match self.commit(writes) {
            Err(StoreError::Corrupt(why)) if page == Page::ONE_ROW => {
                Err(TransferError::Unfit { row, why })
            }
            // Nothing of it was written: one after the other, to find the one that cannot be.
            Err(StoreError::Corrupt(_)) => {
                self.mark = before;
                self.page(after, Page::ONE_ROW)
            }
            done => Ok(done?),
        }
    }

    fn note(&mut self) -> Result<(), StoreError> {
        self.commit(Writes::default())
    }

    fn commit(&mut self, mut writes: Writes) -> Result<(), StoreError> {
        self.round += 1;
        let Origin { last_at, fence, .. } = self.mark.origin;
        writes.stamp = Stamp { lane: 0, round: self.round, at: last_at, fence };
        writes.documents.insert(Mark::key(), Some(self.mark.encode()));
        self.writer.commit(writes)
    }
}

#[cfg(test)]
mod tests;
