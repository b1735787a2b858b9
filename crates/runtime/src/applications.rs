//! # Applications: who may call, and with which keys
//!
//! One document per application, holding its keys. Of a key's secret only the SHA-256 is stored: the
//! secret is 256 random bits, so there is no dictionary to try and nothing for a slow hash to slow
//! down. **May not:** store, log or show a secret once it was told.

mod admin;
mod known;

use std::collections::BTreeSet;
use std::sync::{Arc, RwLock};

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use secrecy::{ExposeSecret as _, SecretString};
use semel_engine::Rejection;
use semel_model::{Digest, Tag, Timestamp};
use semel_store::{DocumentKey, Kind, Store, StoreError};
use serde::{Deserialize, Serialize};
use subtle::ConstantTimeEq as _;

pub use admin::{add_admin_key, first_admin_key};
pub use known::{Holder, KnownKeys};

use crate::failure::Failure;
use crate::runtime::Runtime;
use crate::world::World;

const APPLICATIONS_MAX: usize = 1000;
/// Of one application.
const KEYS_MAX: usize = 100;
const SECRET_BYTES: usize = 32;
const ID_BYTES: usize = 16;

/// A reader sees, a worker takes and reports tasks, an operator does both and starts, steers and
/// defines, an admin does everything, also with secrets and keys.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Role {
    Reader,
    Worker,
    Operator,
    Admin,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Application {
    pub id: String,
    pub name: String,
    #[serde(default)]
    pub roles: BTreeSet<Role>,
    /// What the roles were called when they were given.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub role_names: BTreeSet<String>,
    #[serde(default)]
    pub keys: Vec<AccessKey>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tags: Vec<Tag>,
    pub created_by: String,
    pub created_at: Timestamp,
    pub updated_by: String,
    pub updated_at: Timestamp,
}

/// What is kept of a key.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct AccessKey {
    pub id: String,
    secret_hash: Digest,
    pub created_at: Timestamp,
    pub is_active: bool,
}

/// A key at the only moment its secret is known.
#[derive(Clone, Debug)]
pub struct NewKey {
    pub id: String,
    pub secret: SecretString,
}

impl NewKey {
    fn draw() -> Self {
        let mut bytes = [0; SECRET_BYTES];
        fill(&mut bytes);
        Self { id: draw_id(), secret: URL_SAFE_NO_PAD.encode(bytes).into() }
    }
}

impl AccessKey {
    fn of(new: &NewKey, now: Timestamp) -> Self {
        let secret_hash = Digest::of(new.secret.expose_secret().as_bytes());
        Self { id: new.id.clone(), secret_hash, created_at: now, is_active: true }
    }

    fn is_secret(&self, secret: &str) -> bool {
        let given = Digest::of(secret.as_bytes());
        given.as_bytes().ct_eq(self.secret_hash.as_bytes()).into()
    }
}

impl Application {
    fn new(name: &str, by: &str, now: Timestamp) -> Self {
        Self {
            id: draw_id(),
            name: name.to_owned(),
            roles: BTreeSet::new(),
            role_names: BTreeSet::new(),
            keys: Vec::new(),
            tags: Vec::new(),
            created_by: by.to_owned(),
            created_at: now,
            updated_by: by.to_owned(),
            updated_at: now,
        }
    }

    fn add_key(&mut self, new: &NewKey, now: Timestamp) -> Result<(), Failure> {
        if self.keys.len() >= KEYS_MAX {
            let why = format!("an application may have {KEYS_MAX} keys; delete one first");
            return Err(Rejection::Invalid(why).into());
        }
        self.keys.push(AccessKey::of(new, now));
        Ok(())
    }

    pub(crate) fn parse(id: &str, body: &[u8]) -> Result<Self, Failure> {
        serde_json::from_slice(body)
            .map_err(|error| StoreError::Corrupt(format!("application {id}: {error}")).into())
    }

    pub(crate) fn body(&self) -> Result<Vec<u8>, Failure> {
        serde_json::to_vec(self).map_err(|error| Failure::Fault(error.to_string()))
    }
}

pub struct Applications {
    store: Arc<dyn Store>,
    current: RwLock<Arc<KnownKeys>>,
}

impl Applications {
    pub(crate) fn new(store: Arc<dyn Store>) -> Self {
        Self { store, current: RwLock::default() }
    }

    pub fn key(id: &str) -> DocumentKey {
        DocumentKey { kind: Kind::Application, name: id.to_owned(), version: 0 }
    }

    pub fn all(&self) -> Result<Vec<Application>, Failure> {
        all(&*self.store)
    }

    pub fn get(&self, id: &str) -> Result<Option<Application>, Failure> {
        let body = self.store.document(&Self::key(id))?;
        body.map(|body| Application::parse(id, &body)).transpose()
    }
}

fn all(store: &dyn Store) -> Result<Vec<Application>, Failure> {
    let all = store.documents(Kind::Application, None)?;
    all.iter().map(|(key, body)| Application::parse(&key.name, body)).collect()
}

impl Runtime {
    /// Without roles and keys.
    pub async fn add_application(&self, name: &str, by: &str) -> Result<Application, Failure> {
        let application = Application::new(name, by, self.now());
        let body = application.body()?;
        let add = move |world: &World, _: Option<&[u8]>| {
            if world.applications.all()?.len() >= APPLICATIONS_MAX {
                let why = format!("there may be {APPLICATIONS_MAX} applications; delete one first");
                return Err(Rejection::Invalid(why).into());
            }
            Ok(Some(body.clone()))
        };
        let edited = self.edit(Applications::key(&application.id), add).await?;
        let body = edited.after.unwrap_or_default();
        Application::parse(&application.id, &body)
    }

    /// Returns the application as it is then. What changes nothing is written nowhere.
    pub async fn change_application(
        &self,
        id: &str,
        by: &str,
        change: impl Fn(&mut Application) -> Result<(), Failure> + Send + Sync + 'static,
    ) -> Result<Application, Failure> {
        let (application, _) = self.change_aside(id, by, None, change).await?;
        Ok(application)
    }

    /// The application as it is then, and what the first time this request came was put aside.
    async fn change_aside(
        &self,
        id: &str,
        by: &str,
        aside: Option<String>,
        change: impl Fn(&mut Application) -> Result<(), Failure> + Send + Sync + 'static,
    ) -> Result<(Application, Option<String>), Failure> {
        let key = Applications::key(id);
        let (wanted, by, now) = (key.clone(), by.to_owned(), self.now());
        let edit = move |_: &World, body: Option<&[u8]>| {
            let body = body.ok_or_else(|| Failure::Missing(wanted.clone()))?;
            let before = Application::parse(&wanted.name, body)?;
            let mut after = before.clone();
            change(&mut after)?;
            if after == before {
                return Ok(Some(body.to_vec()));
            }
            Application { updated_by: by.clone(), updated_at: now, ..after }.body().map(Some)
        };
        let edited = self.edit_aside(key.clone(), aside, edit).await?;
        let body = edited.after.ok_or(Failure::Missing(key))?;
        Ok((Application::parse(id, &body)?, edited.aside))
    }

    pub async fn add_access_key(&self, id: &str, by: &str) -> Result<NewKey, Failure> {
        let (new, now) = (NewKey::draw(), self.now());
        let secrets = &self.world().secrets;
        let told = format!("{} {}", new.id, new.secret.expose_secret());
        let aside = Some(secrets.seal_aside(id, &told));
        let add = move |application: &mut Application| application.add_key(&new, now);
        let (_, aside) = self.change_aside(id, by, aside, add).await?;
        let opened = aside.and_then(|aside| secrets.open_aside(id, &aside));
        let key = opened.and_then(|told| {
            let (id, secret) = told.expose_secret().split_once(' ')?;
            Some(NewKey { id: id.to_owned(), secret: secret.into() })
        });
        let lost = "the secrets key that sealed this answer is gone; delete the key, make another";
        key.ok_or_else(|| Rejection::NotFound(lost.to_owned()).into())
    }
}

fn draw_id() -> String {
    let mut bytes = [0; ID_BYTES];
    fill(&mut bytes);
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn fill(bytes: &mut [u8]) {
    getrandom::fill(bytes).expect("the operating system gives random bytes");
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_secret_is_known_by_its_hash_alone() {
        let (new, other) = (NewKey::draw(), NewKey::draw());
        let secret = new.secret.expose_secret();
        assert_eq!(URL_SAFE_NO_PAD.decode(secret).unwrap().len(), SECRET_BYTES);
        let key = AccessKey::of(&new, Timestamp::from_ms(1));
        let stored = serde_json::to_string(&key).unwrap();
        assert!(!stored.contains(secret) && !format!("{new:?}{key:?}").contains(secret));
        let read: AccessKey = serde_json::from_str(&stored).unwrap();
        assert!(read.is_secret(secret));
        for wrong in [other.secret.expose_secret(), "", &secret[1..], &format!("{secret}a")] {
            assert!(!read.is_secret(wrong));
        }
        assert!(!read.is_secret(&read.secret_hash.to_string()), "the hash opens nothing");
    }

    #[test]
    fn an_application_has_so_many_keys_and_no_more() {
        let mut application = Application::new("a", "me", Timestamp::from_ms(1));
        for _ in 0..KEYS_MAX {
            application.add_key(&NewKey::draw(), Timestamp::from_ms(1)).unwrap();
        }
        assert!(application.add_key(&NewKey::draw(), Timestamp::from_ms(1)).is_err());
    }
}
