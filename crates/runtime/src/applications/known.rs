//! # Known keys: what every request is checked against
//!
//! All keys of all applications, read anew when a document was written since: a key that is deleted
//! or switched off, a role that is taken away, counts from the next request on.

use std::collections::HashMap;
use std::sync::{Arc, PoisonError};

use semel_model::{Digest, Timestamp};

use super::{AccessKey, Application, Applications};
use crate::failure::Failure;
use crate::runtime::Runtime;

#[derive(Default)]
pub struct KnownKeys {
    /// Of the documents; none: nothing was read yet.
    generation: Option<u64>,
    keys: HashMap<String, (Arc<Application>, AccessKey)>,
}

/// Whoever has an active key.
#[derive(Clone, Debug)]
pub struct Holder {
    pub application: Arc<Application>,
    pub key: String,
}

impl Holder {
    /// Who is named in journals and logs.
    pub fn principal(&self) -> String {
        format!("{}:{}", self.application.name, self.key)
    }
}

impl KnownKeys {
    fn of(generation: u64, applications: Vec<Application>) -> Self {
        let mut keys = HashMap::new();
        for application in applications.into_iter().map(Arc::new) {
            for key in &application.keys {
                keys.insert(key.id.clone(), (Arc::clone(&application), key.clone()));
            }
        }
        Self { generation: Some(generation), keys }
    }

    pub fn holder(&self, key: &str) -> Option<Holder> {
        let (application, known) = self.keys.get(key)?;
        let holder = || Holder { application: Arc::clone(application), key: key.to_owned() };
        known.is_active.then(holder)
    }

    /// Whoever has this key and its secret. A key that is not known costs the same as one whose
    /// secret is wrong.
    pub fn proven(&self, key: &str, secret: &str) -> Option<Holder> {
        let nobody = AccessKey {
            id: String::new(),
            secret_hash: Digest::from_bytes([0; 32]),
            created_at: Timestamp::default(),
            is_active: false,
        };
        let known = self.keys.get(key).map_or(&nobody, |(_, known)| known);
        known.is_secret(secret).then(|| self.holder(key)).flatten()
    }
}

impl Applications {
    /// None: something was written since they were read.
    fn fresh(&self) -> Result<Option<Arc<KnownKeys>>, Failure> {
        let generation = self.store.documents_generation()?;
        let current = Arc::clone(&self.current.read().unwrap_or_else(PoisonError::into_inner));
        Ok(Some(current).filter(|current| current.generation == Some(generation)))
    }

    /// The generation is read first: what is written meanwhile makes this look stale, not fresh.
    fn look(&self) -> Result<Arc<KnownKeys>, Failure> {
        let generation = self.store.documents_generation()?;
        let known = Arc::new(KnownKeys::of(generation, self.all()?));
        *self.current.write().unwrap_or_else(PoisonError::into_inner) = Arc::clone(&known);
        Ok(known)
    }
}

impl Runtime {
    pub async fn known_keys(&self) -> Result<Arc<KnownKeys>, Failure> {
        match self.world().applications.fresh()? {
            Some(known) => Ok(known),
            None => self.blocking(|world| world.applications.look()).await,
        }
    }
}

#[cfg(test)]
mod tests {
    use secrecy::ExposeSecret as _;
    use semel_store::{Clock, MemoryStore};

    use super::super::NewKey;
    use super::*;
    use crate::runtime::Settings;

    #[test]
    fn only_an_active_key_with_its_secret_is_proven() {
        let now = Timestamp::from_ms(1);
        let (on, off) = (NewKey::draw(), NewKey::draw());
        let mut application = Application::new("shop", "me", now);
        application.add_key(&on, now).unwrap();
        application.add_key(&off, now).unwrap();
        application.keys[1].is_active = false;
        let known = KnownKeys::of(1, vec![application]);
        let (secret, other) = (on.secret.expose_secret(), off.secret.expose_secret());
        let holder = known.proven(&on.id, secret).unwrap();
        assert_eq!(holder.principal(), format!("shop:{}", on.id));
        assert!(known.proven(&on.id, other).is_none());
        assert!(known.proven(&off.id, other).is_none() && known.holder(&off.id).is_none());
        assert!(known.proven("nobody", secret).is_none() && known.proven("", "").is_none());
    }

    #[tokio::test]
    async fn a_key_switched_off_is_unknown_to_the_next_look() {
        let store = Arc::new(MemoryStore::new(Arc::new(Clock::wall())));
        let runtime = Runtime::open(store, Settings::default()).unwrap();
        let application = runtime.add_application("shop", "me").await.unwrap();
        let key = runtime.add_access_key(&application.id, "me").await.unwrap();
        assert!(runtime.known_keys().await.unwrap().holder(&key.id).is_some());
        let switch = |application: &mut Application| {
            application.keys[0].is_active = false;
            Ok(())
        };
        let after = runtime.change_application(&application.id, "you", switch).await.unwrap();
        assert_eq!((after.created_by.as_str(), after.updated_by.as_str()), ("me", "you"));
        assert!(runtime.known_keys().await.unwrap().holder(&key.id).is_none());
        runtime.remove(Applications::key(&application.id)).await.unwrap();
        let gone = runtime.add_access_key(&application.id, "me").await;
        assert!(matches!(gone, Err(Failure::Missing(_))));
        runtime.stop();
    }
}
