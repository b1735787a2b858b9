//! # Proof that the cache keeps to its budget and drops in its order

use super::*;

struct Run {
    id: ExecutionId,
    bytes: u64,
    is_over: bool,
}

impl Keepable for Run {
    fn id(&self) -> ExecutionId {
        self.id
    }

    fn weight(&self) -> u64 {
        self.bytes
    }

    fn is_over(&self) -> bool {
        self.is_over
    }
}

fn id(number: u8) -> ExecutionId {
    ExecutionId::from_bytes([number; 16])
}

fn live(number: u8, bytes: u64) -> Arc<Run> {
    Arc::new(Run { id: id(number), bytes, is_over: false })
}

fn ended(number: u8, bytes: u64) -> Arc<Run> {
    Arc::new(Run { id: id(number), bytes, is_over: true })
}

/// Room for 1,600 bytes, of which runs that are over may take 200.
fn cache() -> Cache<Run> {
    Cache::new(Budget::of(4_272))
}

fn has(cache: &Cache<Run>, numbers: impl IntoIterator<Item = u8>) -> Vec<u8> {
    let slots = cache.slots();
    numbers.into_iter().filter(|number| slots.by_id.contains_key(&id(*number))).collect()
}

#[test]
fn runs_that_are_over_have_a_small_share_and_the_oldest_go_first() {
    let cache = cache();
    (1..=30).for_each(|number| cache.insert(ended(number, 20)));
    assert_eq!(has(&cache, 1..=30), (21..=30).collect::<Vec<_>>());
    assert_eq!(cache.kept(), (Kept::default(), Kept { count: 10, bytes: 200 }));
}

#[test]
fn runs_that_are_over_make_room_for_those_that_go_on() {
    let cache = cache();
    (1..=20).for_each(|number| cache.insert(ended(number, 10)));
    (101..=116).for_each(|number| cache.insert(live(number, 95)));
    assert_eq!(has(&cache, 101..=116).len(), 16, "none that goes on was dropped");
    let (live, ended) = cache.kept();
    assert!(live.bytes == 1_520 && ended.bytes <= 80 && ended.count == KEPT_MIN, "{ended:?}");
}

#[test]
fn a_run_that_ends_is_counted_among_those_that_are_over() {
    let cache = cache();
    cache.insert(live(1, 100));
    cache.insert(ended(1, 150));
    assert_eq!(cache.kept(), (Kept::default(), Kept { count: 1, bytes: 150 }));
    cache.insert(live(1, 40)); // Revived.
    assert_eq!(cache.kept(), (Kept { count: 1, bytes: 40 }, Kept::default()));
    cache.remove(id(1));
    assert_eq!(cache.kept(), (Kept::default(), Kept::default()));
    assert!(cache.get(id(1)).is_none());
}

#[test]
fn of_those_that_go_on_the_ones_nobody_asks_for_go_first() {
    let cache = cache();
    (1..=16).for_each(|number| cache.insert(live(number, 100)));
    assert!(cache.get(id(1)).is_some() && cache.get(id(3)).is_some());
    (17..=20).for_each(|number| cache.insert(live(number, 100)));
    assert_eq!(has(&cache, 1..=8), [1, 3, 7, 8]);
    assert_eq!(cache.kept().0, Kept { count: 16, bytes: 1_600 });
}

#[test]
fn however_large_a_few_of_each_stay() {
    let cache = cache();
    (1..=10).for_each(|number| cache.insert(live(number, 10_000)));
    (101..=110).for_each(|number| cache.insert(ended(number, 10_000)));
    let (live, ended) = cache.kept();
    assert_eq!((live.count, ended.count), (KEPT_MIN, KEPT_MIN));
    assert_eq!(has(&cache, [10, 110]), [10, 110], "the last ones among them");
}

#[test]
fn what_nobody_asks_for_is_dropped_in_time() {
    let cache = cache();
    for run in [live(1, 10), live(2, 10), ended(3, 10), ended(4, 10)] {
        cache.insert(run);
    }
    cache.tick();
    assert!(cache.get(id(4)).is_some());
    cache.tick();
    assert_eq!(has(&cache, 1..=4), [1, 2, 4]);
    (0..LIVE_TICKS - 2).for_each(|_| {
        assert!(cache.get(id(1)).is_some());
        cache.tick();
    });
    assert_eq!(has(&cache, 1..=4), [1]);
    (0..LIVE_TICKS).for_each(|_| cache.tick());
    assert_eq!(cache.kept(), (Kept::default(), Kept::default()));
}

#[test]
fn lines_do_not_grow_with_those_that_have_left() {
    let cache = cache();
    for turn in 0..20_000_u32 {
        let number = u8::try_from(turn % 7).unwrap();
        cache.insert(live(number, 1));
        cache.insert(ended(number, 1));
    }
    let slots = cache.slots();
    assert!(slots.live.places.len() <= 2 * LOOKED_AT_ONCE, "{}", slots.live.places.len());
    assert!(slots.ended.places.len() <= 2 * LOOKED_AT_ONCE, "{}", slots.ended.places.len());
    assert_eq!(slots.by_id.len(), 7);
}

#[test]
fn tables_are_given_back_after_a_rush() {
    let cache = Cache::new(Budget::of(1 << 20));
    for number in 0..50_000_u32 {
        let mut bytes = [0; 16];
        bytes[..4].copy_from_slice(&number.to_be_bytes());
        let id = ExecutionId::from_bytes(bytes);
        cache.insert(Arc::new(Run { id, bytes: 1, is_over: false }));
    }
    (0..=LIVE_TICKS).for_each(|_| cache.tick());
    let slots = cache.slots();
    assert!(slots.by_id.capacity() < 1_000 && slots.live.places.capacity() < 1_000);
}
