//! # Health: whether this server can do its work, part by part

use std::collections::BTreeMap;
use std::fmt::Display;

use serde_json::{Value, json};

use crate::world::World;

/// One part, and what people want to know of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Health {
    pub name: &'static str,
    pub state: State,
    pub details: BTreeMap<&'static str, Value>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum State {
    Up,
    /// Why not, and what to do.
    Down(String),
}

impl Health {
    pub fn is_up(&self) -> bool {
        self.state == State::Up
    }

    pub(crate) fn down(name: &'static str, why: &dyn Display) -> Self {
        Self { name, state: State::Down(why.to_string()), details: BTreeMap::new() }
    }

    /// The one thread on which everything changes.
    pub(crate) fn lane(is_down: bool) -> Self {
        let state = match is_down {
            true => State::Down("the lane has stopped; restart the server".to_owned()),
            false => State::Up,
        };
        Self { name: "lane", state, details: BTreeMap::new() }
    }

    /// A search index that is behind is no illness: searches wait, and then say so.
    pub(crate) fn index(world: &World) -> Self {
        let (is_complete, behind) = world.dirty.lag();
        let details = [("complete", json!(is_complete)), ("commitsBehind", json!(behind))].into();
        Self { name: "index", state: State::Up, details }
    }

    /// Where the kernel cannot seal them they are confined by limits only, which is no illness. Null: none has
    /// run yet.
    pub(crate) fn scripts(world: &World) -> Self {
        let details = [("sealed", json!(world.scripts.are_sealed()))].into();
        Self { name: "scripts", state: State::Up, details }
    }

    /// Whether the store answers, and took what was last written to it.
    pub(crate) fn store(world: &World) -> Self {
        let mut details = BTreeMap::new();
        let about = world.store.about();
        if let Ok(about) = &about {
            details.insert("kind", json!(about.kind));
            details.extend(about.node.as_ref().map(|name| ("node", json!(name))));
            details.extend(about.schema.map(|number| ("schema", json!(number))));
            details.extend(about.bytes.map(|bytes| ("bytes", json!(bytes))));
        }
        details.extend(world.store.clock().skew_ms().map(|ms| ("aheadOfClockMs", json!(ms))));
        details.extend(world.commit_age_ms().map(|ms| ("lastCommitAgeMs", json!(ms))));
        let answers = about.map(drop).and_then(|()| world.store.fence_floor().map(drop));
        let state = match (answers, world.trouble()) {
            (Err(error), _) => State::Down(format!("the store does not answer: {error}")),
            (Ok(()), Some(why)) => State::Down(format!(
                "the last write was refused: {why}; reads go on, writes are tried again"
            )),
            (Ok(()), None) => State::Up,
        };
        Self { name: "store", state, details }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use semel_store::{Clock, MemoryStore};

    use super::*;

    #[test]
    fn a_store_that_refused_a_write_is_down_until_one_succeeds() {
        let world = World::new(Arc::new(MemoryStore::new(Arc::new(Clock::wall()))));
        assert!(Health::store(&world).is_up());
        world.set_trouble(Some("disk is full".to_owned()));
        let State::Down(why) = Health::store(&world).state else { panic!("it is down") };
        assert!(why.contains("disk is full"), "{why}");
        world.note_commit(world.store.now());
        let health = Health::store(&world);
        assert!(health.is_up() && health.details.contains_key("lastCommitAgeMs"), "{health:?}");
        assert_eq!(health.details["kind"], "memory");
    }

    #[test]
    fn a_lane_that_has_stopped_is_down() {
        assert!(Health::lane(false).is_up());
        assert!(!Health::lane(true).is_up());
    }
}
