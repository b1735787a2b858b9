//! # The first key: how somebody gets in
//!
//! Written before the first lane starts, or on the data of a server that is stopped. A secret told
//! to nobody, because the process died between commit and print, is no loss: another can be made.

use std::collections::BTreeMap;

use semel_store::Store;

use super::{Application, Applications, NewKey, Role, all};
use crate::failure::Failure;
use crate::offline;

/// Name of the application these keys belong to.
const ADMIN: &str = "admin";
/// Who made it.
const BY: &str = "semel";

/// None: there are applications already. Durable when it returns.
pub fn first_admin_key(store: &dyn Store) -> Result<Option<NewKey>, Failure> {
    if all(store)?.is_empty() { add_admin_key(store).map(Some) } else { Ok(None) }
}

/// Another key of the application `admin`, which is made if there is none. Durable when it returns.
pub fn add_admin_key(store: &dyn Store) -> Result<NewKey, Failure> {
    let is_admin = |it: &Application| it.name == ADMIN && it.roles.contains(&Role::Admin);
    let now = store.now();
    let found = all(store)?.into_iter().find(is_admin);
    let mut application = found.unwrap_or_else(|| Application::new(ADMIN, BY, now));
    application.roles.insert(Role::Admin);
    let new = NewKey::draw();
    application.add_key(&new, now)?;
    let application = Application { updated_by: BY.to_owned(), updated_at: now, ..application };
    let document = (Applications::key(&application.id), Some(application.body()?));
    offline::commit(store, BTreeMap::from([document]))?;
    Ok(new)
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use semel_store::{Clock, MemoryStore};

    use super::*;

    #[test]
    fn the_first_key_is_made_once_and_another_when_asked_for() {
        let store = MemoryStore::new(Arc::new(Clock::wall()));
        let first = first_admin_key(&store).unwrap().unwrap();
        assert!(first_admin_key(&store).unwrap().is_none());
        let second = add_admin_key(&store).unwrap();
        let applications = all(&store).unwrap();
        assert_eq!(applications.len(), 1);
        assert!(applications[0].roles.contains(&Role::Admin));
        let ids: Vec<&str> = applications[0].keys.iter().map(|key| key.id.as_str()).collect();
        assert_eq!(ids, [first.id, second.id]);
    }
}
