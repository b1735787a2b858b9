//! # The cache of definitions: weighed by their text
//!
//! A run may bring a definition of several megabytes, and each brings another one, so a count says
//! nothing about memory. **May not:** know what is registered; whoever asks says under which key.

use std::hash::Hash;

use quick_cache::sync::{Cache, DefaultLifecycle};
use quick_cache::{DefaultHashBuilder, OptionsBuilder, Weighter};

/// A definition that was read takes about three times as much as its text, besides the text.
const TIMES_TEXT: u64 = 4;

/// An entry without a text, about.
const ENTRY_BYTES: u64 = 512;

/// Few, because an entry has to fit into its part of the cache.
const PARTS: usize = 4;

#[derive(Clone)]
struct Weighed<V> {
    value: V,
    bytes: u64,
}

#[derive(Clone)]
struct ByBytes;

impl<K, V> Weighter<K, Weighed<V>> for ByBytes {
    fn weight(&self, _: &K, entry: &Weighed<V>) -> u64 {
        entry.bytes
    }
}

pub(crate) struct DefinitionCache<K, V>(Cache<K, Weighed<V>, ByBytes>);

impl<K: Clone + Eq + Hash, V: Clone> DefinitionCache<K, V> {
    /// Of so many bytes.
    pub(crate) fn new(bytes: u64) -> Self {
        let options = OptionsBuilder::new()
            .shards(PARTS)
            .estimated_items_capacity(usize::try_from(bytes / ENTRY_BYTES / 8).unwrap_or(1).max(1))
            .weight_capacity(bytes)
            .build()
            .expect("both capacities are given");
        let (hasher, lifecycle) = (DefaultHashBuilder::default(), DefaultLifecycle::default());
        Self(Cache::with_options(options, ByBytes, hasher, lifecycle))
    }

    pub(crate) fn get<Q>(&self, key: &Q) -> Option<V>
    where
        Q: Hash + quick_cache::Equivalent<K> + ?Sized,
    {
        self.0.get(key).map(|entry| entry.value)
    }

    /// `text_bytes` is how long the text of the value is.
    pub(crate) fn insert(&self, key: K, value: V, text_bytes: usize) {
        let bytes = ENTRY_BYTES + (text_bytes as u64).saturating_mul(TIMES_TEXT);
        self.0.insert(key, Weighed { value, bytes });
    }

    /// What is held, about.
    pub(crate) fn bytes(&self) -> u64 {
        self.0.weight()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_kept_stays_within_its_bytes_however_many_there_are() {
        let cache = DefinitionCache::new(4_000_000);
        for key in 0..1_000_u32 {
            cache.insert(key, key, 20_000);
            assert!(cache.bytes() <= 4_000_000, "{}", cache.bytes());
        }
        let kept = (0..1_000).filter(|key| cache.get(key).is_some()).count();
        assert!((1..=49).contains(&kept), "{kept}");
    }

    #[test]
    fn one_that_is_larger_than_all_there_is_is_not_kept() {
        let cache = DefinitionCache::new(1_000_000);
        cache.insert(1, 1, 1_000_000);
        assert_eq!((cache.get(&1), cache.bytes()), (None, 0));
    }
}
