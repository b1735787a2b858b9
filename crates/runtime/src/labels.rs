//! # Labels: tags of definitions, kept beside them
//!
//! A definition has versions and its tags do not, so they are documents of their own.

use semel_model::Tag;
use semel_store::{DocumentKey, Kind, StoreError};

use crate::failure::Failure;
use crate::work::{DocumentRule, DocumentWrite};
use crate::world::World;

pub(crate) fn changed(
    before: Option<&[u8]>,
    retag: impl Fn(&mut Vec<Tag>) -> Result<(), Failure>,
) -> Result<Option<Vec<u8>>, Failure> {
    let mut tags = before.map_or(Ok(Vec::new()), parse)?;
    retag(&mut tags)?;
    if tags.is_empty() {
        return Ok(None);
    }
    let body = serde_json::to_vec(&tags);
    body.map(Some).map_err(|error| Failure::Fault(error.to_string()))
}

fn parse(body: &[u8]) -> Result<Vec<Tag>, Failure> {
    let tags = serde_json::from_slice(body);
    Ok(tags.map_err(|error| StoreError::Corrupt(format!("tags: {error}")))?)
}

impl World {
    /// The write that changes the tags of one name, if nobody changes them meanwhile; none: they are so
    /// already.
    pub fn label_write(
        &self,
        kind: Kind,
        name: &str,
        retag: impl Fn(&mut Vec<Tag>) -> Result<(), Failure>,
    ) -> Result<Option<DocumentWrite>, Failure> {
        let key = DocumentKey { kind, name: name.to_owned(), version: 0 };
        let before = self.store.document(&key)?;
        let body = changed(before.as_deref(), retag)?;
        let is_changed = body != before;
        let write = DocumentWrite { key, body, rule: DocumentRule::Unchanged(before) };
        Ok(is_changed.then_some(write))
    }

    pub fn labels(&self, kind: Kind, name: &str) -> Result<Vec<Tag>, Failure> {
        let key = DocumentKey { kind, name: name.to_owned(), version: 0 };
        self.store.document(&key)?.map_or(Ok(Vec::new()), |body| parse(&body))
    }

    /// Every tag of every definition, each once.
    pub fn all_labels(&self) -> Result<Vec<Tag>, Failure> {
        let mut all: Vec<Tag> = Vec::new();
        for kind in [Kind::WorkflowTags, Kind::TaskTags] {
            for (_, body) in self.store.documents(kind, None)? {
                for tag in parse(&body)? {
                    if !all.iter().any(|known| known.is_same(&tag)) {
                        all.push(tag);
                    }
                }
            }
        }
        Ok(all)
    }
}
