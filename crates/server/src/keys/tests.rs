//! # Proof that rotation can stop at any step, and that a wrong key is refused with what to do

use std::sync::Arc;

use semel_runtime::{Runtime, Settings, World};
use semel_store::Clock;
use semel_store_sqlite::SqliteStore;

use super::*;
use crate::config::Flags;
use crate::stores::OpenError;

struct Place {
    directory: tempfile::TempDir,
}

impl Place {
    fn new() -> Self {
        Self { directory: tempfile::tempdir().unwrap() }
    }

    fn config(&self, key: &str) -> Config {
        let mut flags = Flags::default();
        let data = self.directory.path().join("data");
        for (name, value) in [("data", data.to_str().unwrap()), ("secrets_key", key)] {
            let key = crate::config::KEYS.iter().find(|key| key.name == name).unwrap();
            flags.set(key, value);
        }
        Config::load(&flags, |_| None, self.directory.path()).unwrap().0
    }

    fn keys(&self) -> Vec<SecretsKey> {
        KeyFile::of(&self.config("").data).read().unwrap()
    }

    fn open(&self, key: &str) -> Result<Runtime, KeysError> {
        let config = self.config(key);
        let store = Arc::new(SqliteStore::open(&config.data, Arc::new(Clock::wall())).unwrap());
        let ring = ring(&config, &*store)?;
        let world = World::new(store).with_keys(ring)?;
        Ok(Runtime::over(world, Settings::default()).unwrap())
    }

    /// Does something as a server, and stops.
    fn serve<T>(&self, key: &str, work: impl AsyncFnOnce(&Runtime) -> T) -> Result<T, KeysError> {
        let runtime = self.open(key)?;
        let tokio = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        let done = tokio.block_on(work(&runtime));
        runtime.stop();
        Ok(done)
    }

    fn set(&self, key: &str, name: &str, value: &str) {
        let set = async |runtime: &Runtime| runtime.set_secret(name, value.to_owned().into()).await;
        self.serve(key, set).unwrap().unwrap();
    }

    fn value(&self, key: &str, name: &str) -> Option<String> {
        use secrecy::ExposeSecret as _;
        let get = async |runtime: &Runtime| runtime.world().secrets.value(name).unwrap();
        let found = self.serve(key, get).unwrap();
        found.map(|value| value.expose_secret().to_owned())
    }

    fn refusal(&self, key: &str) -> String {
        self.open(key).err().expect("it refuses").to_string()
    }

    fn rotate(&self, key: &str) -> Result<Resealed, KeysError> {
        rotate_secrets_key(&self.config(key), Unreadable::Refuse)
    }
}

#[test]
fn the_first_start_makes_a_key_and_the_next_ones_use_it() {
    let place = Place::new();
    place.set("", "a", "hunter22");
    let keys = place.keys();
    assert_eq!(keys.len(), 1);
    assert_eq!(place.value("", "a").as_deref(), Some("hunter22"));
    assert_eq!(place.keys(), keys);
}

#[test]
fn rotation_leaves_one_new_key_that_opens_everything() {
    let place = Place::new();
    place.set("", "a", "hunter22");
    place.set("", "a", "hunter23");
    let before = place.keys();
    let done = place.rotate("").unwrap();
    assert_eq!(done, Resealed { values: 1, dropped: vec![] });
    let after = place.keys();
    assert!(after.len() == 1 && after != before);
    assert_eq!(place.value("", "a").as_deref(), Some("hunter23"));
}

#[test]
fn a_rotation_that_stops_at_any_step_loses_nothing_and_can_be_run_again() {
    for steps in 0..=3 {
        let place = Place::new();
        place.set("", "a", "hunter22");
        let config = place.config("");
        {
            let store = SqliteStore::open(&config.data, Arc::new(Clock::wall())).unwrap();
            let rotation = Rotation::of(&config).unwrap();
            if steps >= 1 {
                rotation.write_new_key().unwrap();
            }
            if steps >= 2 {
                reseal(&store, &rotation.ring, Unreadable::Refuse).unwrap();
            }
            if steps >= 3 {
                rotation.drop_old_keys().unwrap();
            }
        }
        assert_eq!(place.value("", "a").as_deref(), Some("hunter22"), "after {steps}");
        place.set("", "b", "hunter33");
        place.rotate("").unwrap();
        assert_eq!(place.keys().len(), 1);
        assert_eq!(place.value("", "a").as_deref(), Some("hunter22"), "after {steps}");
        assert_eq!(place.value("", "b").as_deref(), Some("hunter33"), "after {steps}");
    }
}

#[test]
fn a_lost_or_wrong_key_is_refused_with_what_to_do() {
    let place = Place::new();
    place.set("", "a", "hunter22");
    let path = place.config("").data.join("secrets.key");
    let kept = std::fs::read(&path).unwrap();
    std::fs::remove_file(&path).unwrap();
    let refusal = place.refusal("");
    assert!(refusal.contains("secrets.key is missing and 1 secrets are sealed"), "{refusal}");
    assert!(!path.exists(), "a refusal makes no key");
    let other = "00".repeat(32);
    let refusal = place.refusal(&other);
    assert!(refusal.contains("not the one that sealed the stored secrets"), "{refusal}");
    assert!(refusal.contains("semel rotate-secrets-key"), "{refusal}");
    assert!(matches!(place.rotate(&other), Err(KeysError::Wrong(_))));
    std::fs::write(&path, kept).unwrap();
    assert_eq!(place.value("", "a").as_deref(), Some("hunter22"));
    std::fs::remove_file(&path).unwrap();
    let done = rotate_secrets_key(&place.config(""), Unreadable::Drop).unwrap();
    assert_eq!(done, Resealed { values: 0, dropped: vec!["a".to_owned()] });
    assert_eq!(place.value("", "a"), None);
}

#[test]
fn a_configured_key_takes_over_from_the_file_and_from_another() {
    let place = Place::new();
    place.set("", "a", "hunter22");
    let (first, second) = ("11".repeat(32), "22".repeat(32));
    place.rotate(&first).unwrap();
    assert_eq!(place.keys(), [], "the key of the file opens nothing any more");
    assert_eq!(place.value(&first, "a").as_deref(), Some("hunter22"));
    let both = format!("{second},{first}");
    assert_eq!(place.value(&both, "a").as_deref(), Some("hunter22"));
    place.rotate(&both).unwrap();
    assert_eq!(place.value(&second, "a").as_deref(), Some("hunter22"));
    assert!(place.refusal(&first).contains("not the one"));
}

#[test]
fn rotation_needs_a_directory_nobody_holds() {
    let place = Place::new();
    assert!(matches!(place.rotate(""), Err(KeysError::NoData { .. })));
    place.set("", "a", "hunter22");
    let config = place.config("");
    let held = SqliteStore::open(&config.data, Arc::new(Clock::wall())).unwrap();
    let refused = place.rotate("");
    let is_held = |error: &semel_store_sqlite::OpenError| {
        matches!(error, semel_store_sqlite::OpenError::Held { .. })
    };
    assert!(matches!(refused, Err(KeysError::Open(OpenError::Sqlite(error))) if is_held(&error)));
    drop(held);
    place.rotate("").unwrap();
}
