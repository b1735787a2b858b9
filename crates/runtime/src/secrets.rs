//! # Secrets: sealed where they are stored, open only on their way to a worker
//!
//! Values are documents whose text is encrypted. They are opened when a task is handed out, when a
//! report has to be cleared of them, and when somebody asks for one by name; nothing is kept open.
//!
//! A value that is replaced is kept, sealed, for a while: whoever was handed it may still report it.

mod keys;
mod reseal;

use std::collections::BTreeMap;
use std::sync::Arc;

use secrecy::{ExposeSecret as _, SecretBox, SecretString};
use semel_engine::{Mask, Secret, is_unfinished, reveal, secrets_in};
use semel_model::{Payload, Tag, Timestamp};
use semel_store::{DocumentKey, Kind, Store, StoreError};
use serde::{Deserialize, Serialize};

pub use keys::{KeyRing, SecretsKey};
pub use reseal::{Resealed, Unreadable, reseal, unopened, unopened_among};

use crate::failure::Failure;
use crate::work::HandedOut;
use crate::world::World;
use keys::Sealed;

/// Replaced values that are still recognised in reports.
const REPLACED_MAX: usize = 3;

pub struct Secrets {
    store: Arc<dyn Store>,
    ring: KeyRing,
}

/// The stored form.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct Stored {
    value: Sealed,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    replaced: Vec<Sealed>,
    created_at: Timestamp,
    updated_at: Timestamp,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    tags: Vec<Tag>,
}

/// What may be known of a secret.
#[derive(Clone, Debug)]
pub struct AboutSecret {
    pub name: String,
    pub created_at: Timestamp,
    pub updated_at: Timestamp,
    pub tags: Vec<Tag>,
}

/// What goes out with a task and is stored nowhere.
#[derive(Clone, Default)]
pub struct Confided {
    pub input: Payload,
    pub metadata: BTreeMap<String, String>,
}

impl Secrets {
    pub(crate) fn new(store: Arc<dyn Store>, ring: KeyRing) -> Self {
        Self { store, ring }
    }

    /// Refuses a ring that cannot open what is stored.
    pub(crate) fn opening(store: Arc<dyn Store>, ring: KeyRing) -> Result<Self, Failure> {
        let closed = reseal::unopened(&*store, &ring)?;
        if closed.is_empty() { Ok(Self::new(store, ring)) } else { Err(Failure::Sealed(closed)) }
    }

    pub fn key(name: &str) -> DocumentKey {
        DocumentKey { kind: Kind::Secret, name: name.to_owned(), version: 0 }
    }

    /// A key derived from the newest of the ring: another one once that is replaced.
    pub fn derived_key(&self, purpose: &str) -> SecretBox<[u8; 32]> {
        self.ring.derive(purpose)
    }

    /// Seals what is kept beside something else, under that one's name.
    pub(crate) fn seal_aside(&self, name: &str, text: &str) -> String {
        let sealed = self.ring.seal(name, text);
        serde_json::to_string(&sealed).expect("what is sealed is plain data")
    }

    /// None: the key that sealed it is not here any more, or it was altered.
    pub(crate) fn open_aside(&self, name: &str, sealed: &str) -> Option<SecretString> {
        self.ring.open(name, &serde_json::from_str(sealed).ok()?)
    }

    pub fn all(&self) -> Result<Vec<AboutSecret>, Failure> {
        let all = self.store.documents(Kind::Secret, None)?;
        all.iter().map(|(key, body)| Ok(parse(&key.name, body)?.about(&key.name))).collect()
    }

    pub fn about(&self, name: &str) -> Result<Option<AboutSecret>, Failure> {
        Ok(self.stored(name)?.map(|stored| stored.about(name)))
    }

    pub fn value(&self, name: &str) -> Result<Option<SecretString>, Failure> {
        self.stored(name)?.map(|stored| self.open(name, &stored.value)).transpose()
    }

    fn stored(&self, name: &str) -> Result<Option<Stored>, Failure> {
        let body = self.store.document(&Self::key(name))?;
        body.map(|body| parse(name, &body)).transpose()
    }

    fn open(&self, name: &str, sealed: &Sealed) -> Result<SecretString, Failure> {
        self.ring.open(name, sealed).ok_or_else(|| {
            let why = format!("secret {name} does not open with key {}", sealed.key);
            StoreError::Corrupt(why).into()
        })
    }

    /// The body with another value. The same value again changes nothing.
    pub(crate) fn set(
        &self,
        name: &str,
        value: &SecretString,
        before: Option<&[u8]>,
    ) -> Result<Vec<u8>, Failure> {
        let now = self.store.now();
        let sealed = self.ring.seal(name, value.expose_secret());
        let stored = match before.map(|body| Ok::<_, Failure>((body, parse(name, body)?))) {
            None => Stored {
                value: sealed,
                replaced: Vec::new(),
                created_at: now,
                updated_at: now,
                tags: Vec::new(),
            },
            Some(before) => {
                let (body, mut stored) = before?;
                let known = self.open(name, &stored.value)?;
                if known.expose_secret() == value.expose_secret() {
                    return Ok(body.to_vec());
                }
                stored.replaced.insert(0, stored.value);
                stored.replaced.truncate(REPLACED_MAX);
                Stored { value: sealed, updated_at: now, ..stored }
            }
        };
        stored.body()
    }

    /// The body with other tags.
    pub(crate) fn tag(
        name: &str,
        before: &[u8],
        retag: impl FnOnce(&mut Vec<Tag>) -> Result<(), Failure>,
    ) -> Result<Vec<u8>, Failure> {
        let mut stored = parse(name, before)?;
        retag(&mut stored.tags)?;
        stored.body()
    }

    /// Hides every value, also replaced ones, that these secrets had.
    fn mask(&self, secrets: &[Secret]) -> Result<Mask, Failure> {
        let mut values: Vec<(&Secret, SecretString)> = Vec::new();
        for secret in secrets {
            let Some(stored) = self.stored(&secret.name)? else { continue };
            for sealed in std::iter::once(&stored.value).chain(&stored.replaced) {
                values.push((secret, self.open(&secret.name, sealed)?));
            }
        }
        Ok(Mask::of(values.iter().map(|(secret, value)| (*secret, value.expose_secret()))))
    }
}

impl Stored {
    fn about(self, name: &str) -> AboutSecret {
        let Self { created_at, updated_at, tags, .. } = self;
        AboutSecret { name: name.to_owned(), created_at, updated_at, tags }
    }

    fn body(&self) -> Result<Vec<u8>, Failure> {
        serde_json::to_vec(self).map_err(|error| Failure::Fault(error.to_string()))
    }
}

fn parse(name: &str, body: &[u8]) -> Result<Stored, Failure> {
    serde_json::from_slice(body)
        .map_err(|error| StoreError::Corrupt(format!("secret {name}: {error}")).into())
}

impl HandedOut {
    /// Something has to be put in place before it can go out.
    pub fn is_unfinished(&self) -> bool {
        is_unfinished(&self.delivery.input) || !self.metadata_names().is_empty()
    }

    fn metadata_names(&self) -> &[String] {
        self.definition.step(&self.delivery.reference).policy().runtime_metadata()
    }
}

impl World {
    /// Each task's input with its secrets in place, and the values its definition asks for by name:
    /// secrets first, then the environment.
    pub fn confide(&self, tasks: &[HandedOut]) -> Result<Vec<Confided>, Failure> {
        let mut opened: BTreeMap<String, Option<SecretString>> = BTreeMap::new();
        let mut failure = None;
        let mut look_up = |name: &str| -> Option<String> {
            let known = opened.entry(name.to_owned()).or_insert_with(|| {
                self.secrets.value(name).unwrap_or_else(|error| {
                    failure.get_or_insert(error);
                    None
                })
            });
            known.as_ref().map(|value| value.expose_secret().to_owned())
        };
        let environment = self.variables.snapshot()?;
        let mut confided = Vec::with_capacity(tasks.len());
        for task in tasks {
            let fence = Some(task.delivery.hand_out.fence);
            let input = reveal(&task.delivery.input, fence, &mut look_up);
            let mut metadata = BTreeMap::new();
            for name in task.metadata_names() {
                let value = look_up(name).or_else(|| environment.get(name).map(str::to_owned));
                metadata.extend(value.map(|value| (name.clone(), value)));
            }
            confided.push(Confided { input, metadata });
        }
        failure.map_or(Ok(confided), Err)
    }

    /// What a report on a task with this input must not bring into what is stored. `names` are
    /// secrets it was handed beside its input.
    pub(crate) fn mask(&self, input: &Payload, names: &[String]) -> Result<Mask, Failure> {
        let mut secrets = secrets_in(input);
        secrets.extend(names.iter().map(|name| Secret::named(name)));
        self.secrets.mask(&secrets)
    }
}
