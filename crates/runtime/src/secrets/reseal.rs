//! # Resealing: every stored value under the newest key
//!
//! One commit, all values or none, so that the old key is either needed by all of them or by none.
//! Also the look before a start: a server that cannot open what it stores would fail its tasks one
//! by one.

use std::collections::BTreeMap;

use semel_store::{Kind, Store};

use super::keys::{KeyRing, Sealed};
use super::{Stored, parse};
use crate::failure::Failure;
use crate::offline;

/// What to do with a value that no key opens.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unreadable {
    Refuse,
    Drop,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Resealed {
    pub values: usize,
    /// Names of secrets that were removed because no key opens them.
    pub dropped: Vec<String>,
}

/// Names of secrets whose value this ring does not open, each with the id of the key it wants. A
/// value that was replaced is only kept to be masked, and may go.
pub fn unopened(store: &dyn Store, ring: &KeyRing) -> Result<BTreeMap<String, String>, Failure> {
    let documents = store.documents(Kind::Secret, None)?;
    unopened_among(documents.iter().map(|(key, body)| (key.name.as_str(), body.as_ref())), ring)
}

/// The same, for documents that were read elsewhere.
pub fn unopened_among<'a>(
    documents: impl IntoIterator<Item = (&'a str, &'a [u8])>,
    ring: &KeyRing,
) -> Result<BTreeMap<String, String>, Failure> {
    let mut closed = BTreeMap::new();
    for (name, body) in documents {
        let stored = parse(name, body)?;
        if ring.open(name, &stored.value).is_none() {
            closed.insert(name.to_owned(), stored.value.key);
        }
    }
    Ok(closed)
}

/// Seals everything with the newest key of the ring. The caller is the only one who writes.
pub fn reseal(
    store: &dyn Store,
    ring: &KeyRing,
    unreadable: Unreadable,
) -> Result<Resealed, Failure> {
    let closed = unopened(store, ring)?;
    if !closed.is_empty() && unreadable == Unreadable::Refuse {
        return Err(Failure::Sealed(closed));
    }
    let mut done = Resealed::default();
    let mut documents = BTreeMap::new();
    for (key, body) in store.documents(Kind::Secret, None)? {
        if closed.contains_key(&key.name) {
            done.dropped.push(key.name.clone());
            documents.insert(key, None);
            continue;
        }
        let before = parse(&key.name, &body)?;
        let Some(value) = again(ring, &key.name, &before.value) else { continue };
        let replaced = before.replaced.iter().filter_map(|it| again(ring, &key.name, it)).collect();
        let after = Stored { value, replaced, ..before };
        done.values += 1;
        let after = after.body()?;
        if after != body {
            documents.insert(key, Some(after));
        }
    }
    if !documents.is_empty() {
        offline::commit(store, documents)?;
    }
    Ok(done)
}

/// None: no key opens it.
fn again(ring: &KeyRing, name: &str, sealed: &Sealed) -> Option<Sealed> {
    use secrecy::ExposeSecret as _;
    let value = ring.open(name, sealed)?;
    let is_newest = ring.is_newest(sealed);
    Some(if is_newest { sealed.clone() } else { ring.seal(name, value.expose_secret()) })
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use secrecy::{ExposeSecret as _, SecretString};
    use semel_store::{Clock, MemoryStore};

    use super::super::{Secrets, SecretsKey};
    use super::*;

    fn planted(ring: &KeyRing, names: &[&str]) -> Arc<dyn Store> {
        let store: Arc<dyn Store> = Arc::new(MemoryStore::new(Arc::new(Clock::wall())));
        let secrets = Secrets::new(Arc::clone(&store), ring.clone());
        let documents = names.iter().map(|name| {
            let old = secrets.set(name, &SecretString::from("old"), None).unwrap();
            let new = secrets.set(name, &SecretString::from("new"), Some(&old)).unwrap();
            (Secrets::key(name), Some(new))
        });
        offline::commit(&*store, documents.collect()).unwrap();
        store
    }

    #[test]
    fn after_resealing_the_old_key_opens_nothing_and_the_new_one_everything() {
        let old = KeyRing::throw_away();
        let store = planted(&old, &["a", "b"]);
        let both = KeyRing::of(SecretsKey::draw(), old.keys().cloned().collect());
        let new = KeyRing::of(both.keys().next().unwrap().clone(), vec![]);
        assert!(unopened(&*store, &both).unwrap().is_empty());
        assert_eq!(unopened(&*store, &new).unwrap().len(), 2);
        let done = reseal(&*store, &both, Unreadable::Refuse).unwrap();
        assert_eq!(done, Resealed { values: 2, dropped: vec![] });
        assert!(unopened(&*store, &new).unwrap().is_empty());
        assert_eq!(unopened(&*store, &old).unwrap().len(), 2);
        let generation = store.documents_generation().unwrap();
        reseal(&*store, &both, Unreadable::Refuse).unwrap();
        assert_eq!(store.documents_generation().unwrap(), generation, "said twice is said once");
        let secrets = Secrets::new(Arc::clone(&store), new);
        assert_eq!(secrets.value("a").unwrap().unwrap().expose_secret(), "new");
        let masked = secrets.mask(&[semel_engine::Secret::named("a")]).unwrap();
        assert!(masked.is_empty(), "both are too short to be masked, and both open");
    }

    #[test]
    fn what_no_key_opens_is_refused_or_dropped() {
        let store = planted(&KeyRing::throw_away(), &["a", "b"]);
        let other = KeyRing::throw_away();
        let refused = reseal(&*store, &other, Unreadable::Refuse).unwrap_err();
        assert!(matches!(&refused, Failure::Sealed(names) if names.len() == 2), "{refused}");
        let done = reseal(&*store, &other, Unreadable::Drop).unwrap();
        assert_eq!(done.dropped, ["a", "b"]);
        assert!(Secrets::new(store, other).all().unwrap().is_empty());
    }
}
