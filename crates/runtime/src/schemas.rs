//! # Schemas: the registry of shapes, by name and version
//!
//! What a definition names is copied into it when a run is pinned, so a schema may change or go
//! without any run noticing. Registered again unchanged it is not written again: workers register
//! theirs whenever they start.

use std::collections::BTreeMap;
use std::sync::Arc;

use semel_model::{SchemaDef, SchemaType, Timestamp};
use semel_store::{DocumentKey, Kind, Store, StoreError};

use crate::edits::EDITS_MAX;
use crate::failure::Failure;
use crate::inbox::Class;
use crate::requests::Step;
use crate::runtime::Runtime;
use crate::work::{DocumentRule, DocumentWrite, Work};

pub struct Schemas {
    store: Arc<dyn Store>,
}

impl Schemas {
    pub(crate) fn new(store: Arc<dyn Store>) -> Self {
        Self { store }
    }

    fn key(name: &str, version: i32) -> DocumentKey {
        DocumentKey { kind: Kind::Schema, name: name.to_owned(), version }
    }

    /// All versions of all names, ordered by name and version.
    pub fn all(&self) -> Result<Vec<SchemaDef>, Failure> {
        let all = self.store.documents(Kind::Schema, None)?;
        all.iter().map(|(key, body)| parse(&key.name, body)).collect()
    }

    /// That version, else the highest.
    pub fn get(&self, name: &str, version: Option<i32>) -> Result<Option<SchemaDef>, Failure> {
        let found = match version {
            Some(version) => self.store.document(&Self::key(name, version))?,
            None => self.store.documents(Kind::Schema, Some(name))?.pop().map(|(_, body)| body),
        };
        found.map(|body| parse(name, &body)).transpose()
    }

    /// What has to be written so that these are registered.
    fn writes(
        &self,
        schemas: &[SchemaDef],
        as_new_versions: bool,
        by: Option<&str>,
    ) -> Result<Vec<DocumentWrite>, Failure> {
        let now = self.store.now();
        // Of two in one list, the second sees the first.
        let mut latest: BTreeMap<&str, Option<SchemaDef>> = BTreeMap::new();
        let mut writes = Vec::new();
        for schema in schemas {
            let mut wanted = schema.clone();
            wanted.kind.get_or_insert(SchemaType::Json);
            if as_new_versions {
                if !latest.contains_key(schema.name.as_str()) {
                    latest.insert(&schema.name, self.get(&schema.name, None)?);
                }
                let known = latest.get(schema.name.as_str()).and_then(Option::as_ref);
                if known.is_some_and(|known| says_the_same(known, &wanted)) {
                    continue;
                }
                wanted.version = known.map_or(1, |known| known.version.saturating_add(1));
                latest.insert(&schema.name, Some(wanted.clone()));
            }
            let key = Self::key(&wanted.name, wanted.version);
            let body = self.store.document(&key)?;
            let before = body.as_deref().map(|body| parse(&key.name, body)).transpose()?;
            if before.as_ref().is_some_and(|before| says_the_same(before, &wanted)) {
                continue;
            }
            stamp(&mut wanted, before, now, by);
            let text = serde_json::to_vec(&wanted);
            let text = text.map_err(|error| Failure::Fault(error.to_string()))?;
            writes.push(DocumentWrite {
                key,
                body: Some(text),
                rule: DocumentRule::Unchanged(body),
            });
        }
        Ok(writes)
    }

    /// What has to be deleted so that nothing of that name, or of that version, is left.
    fn deletions(&self, name: &str, version: Option<i32>) -> Result<Vec<DocumentWrite>, Failure> {
        let all = self.store.documents(Kind::Schema, Some(name))?;
        let wanted = all.into_iter().map(|(key, _)| key);
        let wanted = wanted.filter(|key| version.is_none_or(|version| key.version == version));
        let delete = |key| DocumentWrite { key, body: None, rule: DocumentRule::MustExist };
        Ok(wanted.map(delete).collect())
    }
}

impl Runtime {
    /// Registers schemas, all or none: each over what is there, or as the next version of its name.
    pub async fn register_schemas(
        &self,
        schemas: Vec<SchemaDef>,
        as_new_versions: bool,
        by: Option<String>,
    ) -> Result<(), Failure> {
        let schemas = Arc::new(schemas);
        let step = Step::next();
        if self.recalled(step.as_ref()).await?.is_some() {
            return Ok(());
        }
        for _ in 0..EDITS_MAX {
            let (wanted, by) = (Arc::clone(&schemas), by.clone());
            let writes = self
                .blocking(move |world| {
                    world.schemas.writes(&wanted, as_new_versions, by.as_deref())
                })
                .await?;
            if writes.is_empty() {
                return Ok(());
            }
            let work = Work::Documents(writes);
            match self.submit_as(step.clone(), work, Class::Operation).await {
                Err(Failure::Changed(_)) => {}
                done => return done.map(|_| ()),
            }
        }
        Err(Failure::Unavailable)
    }

    /// Removes a version of a schema, or all of them; false: there was none.
    pub async fn remove_schemas(&self, name: &str, version: Option<i32>) -> Result<bool, Failure> {
        let step = Step::next();
        if self.recalled(step.as_ref()).await?.is_some() {
            return Ok(true);
        }
        for _ in 0..EDITS_MAX {
            let named = name.to_owned();
            let deletions =
                self.blocking(move |world| world.schemas.deletions(&named, version)).await?;
            if deletions.is_empty() {
                return Ok(false);
            }
            let work = Work::Documents(deletions);
            match self.submit_as(step.clone(), work, Class::Operation).await {
                Err(Failure::Missing(_)) => {}
                done => return done.map(|_| true),
            }
        }
        Err(Failure::Unavailable)
    }
}

/// But for who wrote it and when.
fn says_the_same(one: &SchemaDef, other: &SchemaDef) -> bool {
    one.kind == other.kind && one.data == other.data && one.external_ref == other.external_ref
}

/// `createTime` is kept over updates; by whom is what the schema says, else who sent it.
fn stamp(schema: &mut SchemaDef, before: Option<SchemaDef>, now: Timestamp, by: Option<&str>) {
    let by = by.map(str::to_owned);
    match before {
        Some(before) => {
            (schema.create_time, schema.update_time) = (before.create_time, now);
            schema.created_by = schema.created_by.take().or(before.created_by);
            schema.updated_by = schema.updated_by.take().or(by);
        }
        None => {
            (schema.create_time, schema.update_time) = (now, Timestamp::NOT_YET);
            schema.created_by = schema.created_by.take().or(by);
        }
    }
}

fn parse(name: &str, body: &[u8]) -> Result<SchemaDef, Failure> {
    serde_json::from_slice(body)
        .map_err(|error| StoreError::Corrupt(format!("schema {name}: {error}")).into())
}
