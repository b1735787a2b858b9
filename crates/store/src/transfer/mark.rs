//! # The mark: how far a copy is, kept in its target
//!
//! Written with every page, so it is never ahead or behind of what is there.

use semel_model::Timestamp;
use serde::{Deserialize, Serialize};

use super::{Counts, is_mark};
use crate::rows::{DocumentKey, Kind};
use crate::shelf::{After, Item, Shelf};
use crate::{Store, StoreError};

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Mark {
    /// What people call the source.
    pub(super) from: String,
    pub(super) origin: Origin,
    pub(super) stage: Stage,
    pub(super) counts: Counts,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) enum Stage {
    Copying(After),
    Comparing,
    Done(Timestamp),
}

/// The source as it was: one that was used since is another one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Origin {
    pub(super) last_at: Timestamp,
    pub(super) fence: u64,
    documents_generation: u64,
}

impl Origin {
    pub(super) fn of(store: &dyn Store) -> Result<Self, StoreError> {
        Ok(Self {
            last_at: store.last_at()?.unwrap_or_default(),
            fence: store.fence_floor()?,
            documents_generation: store.documents_generation()?,
        })
    }
}

impl Mark {
    /// Under which name it lies there.
    pub fn key() -> DocumentKey {
        DocumentKey { kind: Kind::Copy, name: String::new(), version: 0 }
    }

    /// That of a store, if it is or was the target of a copy.
    pub fn of(store: &dyn Store) -> Result<Option<Self>, StoreError> {
        store.document(&Self::key())?.map(|body| Self::decode(&body)).transpose()
    }

    pub fn decode(body: &[u8]) -> Result<Self, StoreError> {
        let mark = serde_json::from_slice(body);
        mark.map_err(|error| StoreError::Corrupt(format!("the mark of a copy: {error}")))
    }

    pub(super) fn encode(&self) -> Vec<u8> {
        serde_json::to_vec(self).expect("a mark is plain data")
    }

    pub(super) fn new(from: &str, origin: Origin) -> Self {
        let stage = Stage::Copying(After::nothing(Shelf::ALL[0]));
        Self { from: from.to_owned(), origin, stage, counts: Counts::new() }
    }

    /// Whether all is there, and the same as in the source.
    pub fn is_done(&self) -> bool {
        matches!(self.stage, Stage::Done(_))
    }

    /// What people call the source.
    pub fn from(&self) -> &str {
        &self.from
    }

    /// What it is at.
    pub(super) fn shelf(&self) -> Shelf {
        match &self.stage {
            Stage::Copying(after) => after.shelf(),
            Stage::Comparing | Stage::Done(_) => Shelf::ALL[Shelf::ALL.len() - 1],
        }
    }

    /// All rows so far.
    pub(super) fn copied(&self) -> u64 {
        self.counts.values().sum()
    }

    /// These were found after there; none means that the shelf ends there.
    pub(super) fn pass(&mut self, after: &After, items: &[Item]) {
        let shelf = after.shelf();
        let count = items.iter().filter(|item| !is_mark(item)).count();
        *self.counts.entry(shelf).or_default() += u64::try_from(count).unwrap_or(u64::MAX);
        let next = Shelf::ALL.into_iter().find(|next| *next > shelf);
        self.stage = match (items.last(), next) {
            (Some(last), _) => Stage::Copying(last.after()),
            (None, Some(next)) => Stage::Copying(After::nothing(next)),
            (None, None) => Stage::Comparing,
        };
    }
}
