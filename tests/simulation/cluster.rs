//! # A cluster: two nodes over one store, driven one step at a time
//!
//! Each node has a few lanes. One lane does one thing per step: look at its timers and begin a
//! round, or finish one; anything may happen in between.

use std::sync::Arc;

use semel_engine::Registry;
use semel_model::{ExecutionId, SchemaDef, TaskDef, Timestamp};
use semel_runtime::{Failure, Inbox, Item, Lane, Prepared, Sabotage, World};
use semel_store::{Clock, MemoryStore, Store};
use semel_tests::scripts::AtOnce;

use crate::chance::Chance;

const NODES: usize = 2;
const LANES_PER_NODE: usize = 2;

pub(crate) struct Cluster {
    pub(crate) clock: Arc<Clock>,
    pub(crate) store: MemoryStore,
    pub(crate) nodes: Vec<Node>,
    sabotage: Sabotage,
}

pub(crate) struct Node {
    pub(crate) world: Arc<World>,
    lanes: Vec<SimLane>,
}

struct SimLane {
    lane: Lane,
    inbox: Arc<Inbox>,
    prepared: Option<Prepared>,
}

impl Cluster {
    pub(crate) fn new(sabotage: Sabotage) -> Self {
        let clock = Arc::new(Clock::manual(Timestamp::from_ms(1_800_000_000_000)));
        let store = MemoryStore::with_disk(Arc::clone(&clock));
        let mut cluster = Self { clock, store, nodes: Vec::new(), sabotage };
        cluster.boot();
        cluster
    }

    /// New processes over what the disk holds.
    fn boot(&mut self) {
        self.nodes = (0..NODES).map(|at| self.node(at)).collect();
    }

    fn node(&self, at: usize) -> Node {
        let store: Arc<dyn Store> = Arc::new(self.store.clone());
        let world = Arc::new(World::new(store).with_scripts(Arc::new(AtOnce)));
        let lanes = (0..LANES_PER_NODE).map(|lane| {
            let number = u16::try_from(at * LANES_PER_NODE + lane).expect("few lanes");
            let inbox = Arc::new(Inbox::default());
            let lane = Lane::new(number, Arc::clone(&world), Arc::clone(&inbox), self.sabotage);
            SimLane { lane: lane.expect("the memory store opens"), inbox, prepared: None }
        });
        let lanes = lanes.collect();
        Node { world, lanes }
    }

    /// Power is cut; processes end before the disk is looked at again.
    pub(crate) fn crash(&mut self) {
        self.nodes.clear();
        self.store.crash();
        self.boot();
    }

    /// One node's process ends; the store and the other node live on.
    pub(crate) fn restart(&mut self, at: usize) {
        self.nodes[at] = self.node(at);
    }

    /// Any node, any lane may get any item.
    pub(crate) fn submit(&mut self, chance: &mut Chance, item: Item) {
        let node = chance.below(NODES);
        let lane = chance.below(LANES_PER_NODE);
        self.nodes[node].lanes[lane].inbox.push(item);
    }

    /// One lane does one thing.
    pub(crate) fn drive(&mut self, chance: &mut Chance) -> Result<(), String> {
        let node = chance.below(NODES);
        let lane = chance.below(LANES_PER_NODE);
        let world = Arc::clone(&self.nodes[node].world);
        let slot = &mut self.nodes[node].lanes[lane];
        let Some(prepared) = slot.prepared.take() else {
            slot.lane.look_at_timers();
            slot.prepared = slot.lane.begin().expect("it is not replaced");
            return Ok(());
        };
        let stepped = slot.lane.finish(prepared).map_err(|down| down.to_string())?;
        for (item, id) in stepped.prefetch {
            load(&world, &slot.inbox, item, id);
        }
        Ok(())
    }

    /// No lane has anything begun or waiting.
    pub(crate) fn is_idle(&self) -> bool {
        let mut lanes = self.nodes.iter().flat_map(|node| &node.lanes);
        lanes.all(|slot| slot.prepared.is_none() && !slot.lane.has_work())
    }
}

fn load(world: &World, inbox: &Inbox, item: Item, id: ExecutionId) {
    match world.prefetch(id) {
        Ok(Some(_)) => inbox.push(item),
        Ok(None) => (item.reply)(Err(Failure::NoExecution(id.to_string()))),
        Err(failure) => (item.reply)(Err(failure)),
    }
}

/// Where nothing is registered.
pub(crate) struct Nothing;

impl Registry for Nothing {
    fn task(&mut self, _: &str) -> Option<Arc<TaskDef>> {
        None
    }

    fn latest(&mut self, _: &str) -> Option<i32> {
        None
    }

    fn schema(&mut self, _: &str, _: i32) -> Option<SchemaDef> {
        None
    }
}
