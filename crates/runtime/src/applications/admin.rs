//! # The first key: how somebody gets in
//!
//! Written before the first lane starts, or on the data of a server that is stopped. The first key is handed over
//! before it is stored: a process that dies in between leaves a key that opens nothing, and the next start makes another.

use std::collections::BTreeMap;

use semel_store::Store;

use super::{Application, Applications, NewKey, Role, all};
use crate::failure::Failure;
use crate::offline;

/// Name of the application these keys belong to.
const ADMIN: &str = "admin";
/// Who made it.
const BY: &str = "semel";

/// None: there are applications already. Nothing is stored if the key cannot be handed over. Durable when it returns.
pub fn first_admin_key<T, E: From<Failure>>(
    store: &dyn Store,
    hand_over: impl FnOnce(&NewKey) -> Result<T, E>,
) -> Result<Option<T>, E> {
    if !all(store)?.is_empty() {
        return Ok(None);
    }
    let new = NewKey::draw();
    let handed = hand_over(&new)?;
    add(store, &new)?;
    Ok(Some(handed))
}

/// Another key of the application `admin`, which is made if there is none. Durable when it returns.
pub fn add_admin_key(store: &dyn Store) -> Result<NewKey, Failure> {
    let new = NewKey::draw();
    add(store, &new)?;
    Ok(new)
}

fn add(store: &dyn Store, new: &NewKey) -> Result<(), Failure> {
    let is_admin = |it: &Application| it.name == ADMIN && it.roles.contains(&Role::Admin);
    let now = store.now();
    let found = all(store)?.into_iter().find(is_admin);
    let mut application = found.unwrap_or_else(|| Application::new(ADMIN, BY, now));
    application.roles.insert(Role::Admin);
    application.add_key(new, now)?;
    let application = Application { updated_by: BY.to_owned(), updated_at: now, ..application };
    let document = (Applications::key(&application.id), Some(application.body()?));
    offline::commit(store, BTreeMap::from([document]))?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use semel_store::{Clock, MemoryStore};

    use super::*;

    #[test]
    fn the_first_key_is_made_once_and_another_when_asked_for() {
        let store = MemoryStore::new(Arc::new(Clock::wall()));
        let failed =
            first_admin_key(&store, |_| Err::<(), _>(Failure::Parked(String::new()))).is_err();
        assert!(failed && all(&store).unwrap().is_empty(), "what nobody has is not stored");
        let id = |key: &NewKey| Ok::<_, Failure>(key.id.clone());
        let first = first_admin_key(&store, id).unwrap().unwrap();
        assert!(first_admin_key(&store, id).unwrap().is_none());
        let second = add_admin_key(&store).unwrap();
        let applications = all(&store).unwrap();
        assert_eq!(applications.len(), 1);
        assert!(applications[0].roles.contains(&Role::Admin));
        let ids: Vec<&str> = applications[0].keys.iter().map(|key| key.id.as_str()).collect();
        assert_eq!(ids, [first, second.id]);
    }
}
