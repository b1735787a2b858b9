//! # Damage: what was acknowledged is there, or the directory is refused
//!
//! A directory as a kill or a power cut leaves it always opens. One from which somebody or something
//! has taken acknowledged commits never does, and it is left as it was found.

#![expect(clippy::unwrap_used, reason = "a test says what went wrong by panicking")]

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use semel_model::{Digest, Timestamp};
use semel_store::conformance::samples;
use semel_store::{Batch, Clock, FENCE_MARGIN, Stamp, Store, Writes};
use semel_store_sqlite::{Damage, OpenError, SqliteStore, accept_loss, backup, examine_beside};
use tempfile::TempDir;

const ROUNDS: u64 = 6;

/// All files of a directory, by name.
type Files = BTreeMap<String, Vec<u8>>;

fn clock() -> Arc<Clock> {
    Arc::new(Clock::manual(samples::BEGIN))
}

fn open(directory: &Path) -> Result<SqliteStore, OpenError> {
    SqliteStore::open(directory, clock())
}

/// The numbers of a log's index are the process's own, and a kill leaves them behind.
fn files(directory: &Path) -> Files {
    let all = std::fs::read_dir(directory).unwrap().map(Result::unwrap);
    let all = all.filter(|file| file.file_type().unwrap().is_file());
    let named = all.map(|file| (file.file_name().into_string().unwrap(), file.path()));
    let kept = named.filter(|(name, _)| !name.ends_with("-shm") && !name.ends_with(".lock"));
    kept.map(|(name, path)| (name, std::fs::read(path).unwrap())).collect()
}

/// A file without a byte says as much as none.
fn full(files: Files) -> Files {
    files.into_iter().filter(|(_, bytes)| !bytes.is_empty()).collect()
}

fn directory(files: &Files) -> TempDir {
    let directory = TempDir::new().unwrap();
    for (name, bytes) in files {
        std::fs::write(directory.path().join(name), bytes).unwrap();
    }
    directory
}

fn round(number: u64) -> Writes {
    let at = samples::BEGIN.plus_ms(i64::try_from(number).unwrap() * 1_000);
    let stamp = Stamp { lane: 0, round: number, at, fence: number };
    let body = vec![u8::try_from(number).unwrap(); 20_000];
    let pinned = [(Digest::of(&body), body)].into();
    let heads = samples::put_heads([samples::head(u8::try_from(number).unwrap())]);
    Writes { stamp, pinned, ..heads }
}

/// A directory as a kill would leave it before the first round and after each.
fn history() -> Vec<Files> {
    let place = TempDir::new().unwrap();
    let store = open(place.path()).unwrap();
    let mut writer = store.writer(0).unwrap();
    let mut history = vec![files(place.path())];
    for number in 1..=ROUNDS {
        writer.commit(round(number)).unwrap();
        store.index().put(&Batch::default()).unwrap();
        history.push(files(place.path()));
    }
    history
}

fn log(files: &Files) -> &Vec<u8> {
    &files["semel.db-wal"]
}

fn with(files: &Files, name: &str, bytes: Vec<u8>) -> Files {
    let mut files = files.clone();
    files.insert(name.to_owned(), bytes);
    files
}

fn without(files: &Files, names: &[&str]) -> Files {
    let keep = |name: &str| !names.contains(&name);
    files.iter().filter(|(name, _)| keep(name)).map(|(a, b)| (a.clone(), b.clone())).collect()
}

const WITNESSES: [&str; 3] = ["semel.last-commit", "semel-index.db", "semel-index.db-wal"];

/// The number of the last round.
fn opens(files: &Files) -> u64 {
    let place = directory(files);
    open(place.path()).unwrap_or_else(|error| panic!("{error}")).last_round(0).unwrap()
}

fn refused(files: &Files) -> Box<Damage> {
    let place = directory(files);
    let error = open(place.path()).err().expect("it is refused");
    let OpenError::Damaged(damage) = error else { panic!("{error}") };
    assert!(full(self::files(place.path())) == full(files.clone()), "nothing was changed");
    assert!(matches!(examine_beside(place.path()), Err(OpenError::Damaged(_))), "seen beside");
    let to = place.path().join("b");
    assert!(backup(place.path(), &to, true, |_| {}).is_err(), "and not backed up in silence");
    damage
}

fn sure(damage: &Damage) -> u64 {
    damage.sure.expect("there is something to go on with").round
}

fn known(damage: &Damage) -> u64 {
    damage.known.expect("somebody knows").round
}

#[test]
fn what_a_kill_leaves_always_opens() {
    let history = history();
    for (number, files) in (0..).zip(&history) {
        assert_eq!(opens(files), number);
        for gone in [&WITNESSES[..1], &WITNESSES[1..], &WITNESSES[..]] {
            assert_eq!(opens(&without(files, gone)), number, "{gone:?}");
        }
    }
}

#[test]
fn a_transaction_that_was_cut_off_anywhere_opens_without_it() {
    let history = history();
    for (number, pair) in (0..).zip(history.windows(2)) {
        let [before, after] = pair else { unreachable!() };
        let (from, to) = (log(before).len(), log(after).len());
        for end in (from..to).step_by(4_093) {
            let cut = with(before, "semel.db-wal", log(after)[..end].to_vec());
            assert_eq!(opens(&cut), number, "cut at {end} of {from}..{to}");
        }
        assert_eq!(opens(&with(before, "semel.db-wal", log(after).clone())), number + 1);
    }
}

#[test]
fn a_power_cut_may_keep_any_part_of_the_last_transaction() {
    let history = history();
    for (number, pair) in (0..).zip(history.windows(2)) {
        let [before, after] = pair else { unreachable!() };
        let (from, to) = (log(before).len(), log(after).len());
        let sectors: Vec<_> = (from.div_ceil(512)..to.div_ceil(512)).collect();
        for (lost, sector) in sectors.iter().enumerate().step_by(5) {
            let mut torn = log(after).clone();
            // This one, and every third.
            for (at, other) in sectors.iter().enumerate() {
                if other == sector || (lost % 2 == 1 && at % 3 == 0) {
                    torn[(other * 512).max(from)..(other * 512 + 512).min(to)].fill(0);
                }
            }
            let opened = opens(&with(before, "semel.db-wal", torn));
            assert!(opened == number || opened == number + 1, "sector {sector}: {opened}");
        }
    }
}

#[test]
fn a_byte_that_was_changed_is_refused_wherever_it_is() {
    let history = history();
    let last = history.last().unwrap();
    let ends: Vec<_> = history.iter().map(|files| log(files).len()).collect();
    for at in (0..log(last).len()).step_by(30_011).chain([0, 5, 9, 13, 17, 25, 31, 32, 36, 40, 48])
    {
        let mut bytes = log(last).clone();
        bytes[at] ^= 0x10;
        let tampered = with(last, "semel.db-wal", bytes);
        let damage = refused(&tampered);
        // Of a log whose head is broken nothing is read.
        let head = if at < 32 { 0 } else { ends.iter().filter(|end| **end <= at).count() };
        let left = u64::try_from(head.saturating_sub(1)).unwrap();
        assert_eq!((sure(&damage), known(&damage)), (left, ROUNDS), "{at}: {damage}");
        let words = damage.to_string();
        for part in ["semel.last-commit knows of commit number 6 of 20", "semel accept-loss"] {
            assert!(words.contains(part), "{words}");
        }
        // The index alone knows too, and so does the log of all but its last two commits.
        assert_eq!(known(&refused(&without(&tampered, &WITNESSES[..1]))), ROUNDS);
        if at >= 32 && at < ends[ends.len() - 3] {
            let damage = refused(&without(&tampered, &WITNESSES));
            assert_eq!((sure(&damage), damage.known), (left, None), "{at}");
            assert!(damage.to_string().contains("commits lie behind it"), "{damage}");
        }
    }
}

#[test]
fn a_log_that_was_cut_short_is_refused() {
    let history = history();
    let last = history.last().unwrap();
    let ends: Vec<_> = history.iter().map(|files| log(files).len()).collect();
    for end in (0..log(last).len()).step_by(30_011).chain(ends[..ends.len() - 1].iter().copied()) {
        let damage = refused(&with(last, "semel.db-wal", log(last)[..end].to_vec()));
        let left = ends.iter().filter(|whole| **whole <= end).count().saturating_sub(1);
        let left = u64::try_from(left).unwrap();
        assert_eq!((sure(&damage), known(&damage)), (left, ROUNDS), "{end}: {damage}");
    }
}

#[test]
fn a_file_that_is_gone_is_named() {
    let history = history();
    let last = history.last().unwrap();
    let damage = refused(&without(last, &["semel.db-wal"]));
    assert_eq!((sure(&damage), known(&damage)), (0, ROUNDS), "{damage}");
    let damage = refused(&without(last, &["semel.db"]));
    assert!(damage.to_string().contains("semel.db is missing beside semel.db-wal"), "{damage}");
    let key = |files: &Files| with(files, "secrets.key", b"key".to_vec());
    let alone = key(&without(last, &["semel.db", "semel.db-wal"]));
    for (gone, words) in [
        (&WITNESSES[..0], "semel.last-commit knows of commit number 6"),
        (&WITNESSES[..1], "semel.db is missing beside semel-index.db, secrets.key"),
        (&WITNESSES[..], "semel.db is missing beside secrets.key"),
    ] {
        let damage = refused(&without(&alone, gone));
        assert!(damage.to_string().contains(words), "{damage}");
    }
    let place = directory(&key(&Files::new()));
    SqliteStore::open_for_copy(place.path(), clock()).unwrap();
    assert_eq!(opens(&without(last, &WITNESSES)), ROUNDS);
}

#[test]
fn after_a_clean_close_the_file_alone_is_everything() {
    let place = TempDir::new().unwrap();
    let store = open(place.path()).unwrap();
    (1..=ROUNDS).for_each(|at| store.writer(0).unwrap().commit(round(at)).unwrap());
    drop(store);
    let closed = files(place.path());
    assert!(!closed.contains_key("semel.db-wal"));
    assert_eq!(opens(&closed), ROUNDS);
    let bytes = closed["semel.db"].clone();
    for kept in [4_000, 8_192, 50_000, bytes.len() - 8_192, bytes.len() - 1] {
        let damage = refused(&with(&closed, "semel.db", bytes[..kept].to_vec()));
        assert!(!damage.may_go_on, "{kept}: {damage}");
        assert!(!damage.to_string().contains("accept-loss"), "{kept}: {damage}");
        assert!(accept_loss(directory(&closed).path(), &clock()).unwrap().is_none());
    }
}

#[test]
fn a_backup_opens_by_itself_and_not_beside_what_it_replaces() {
    let history = history();
    let place = directory(history.last().unwrap());
    let to = place.path().join("early.backup");
    let early = directory(&history[2]);
    backup(early.path(), &to, true, |_| {}).unwrap();
    let copy = std::fs::read(&to).unwrap();
    assert_eq!(opens(&[("semel.db".to_owned(), copy.clone())].into()), 2);
    let beside = with(history.last().unwrap(), "semel.db", copy.clone());
    let damage = refused(&beside);
    assert!(damage.to_string().contains("the log of another database"), "{damage}");
    assert_eq!(sure(&damage), 2);
    let damage = refused(&without(&beside, &["semel.db-wal"]));
    assert_eq!((sure(&damage), known(&damage)), (2, ROUNDS));
    let place = directory(&beside);
    accept_loss(place.path(), &clock()).unwrap().expect("there was damage");
    assert_eq!(open(place.path()).unwrap().last_round(0).unwrap(), ROUNDS + 1);
}

#[test]
fn who_accepts_the_loss_goes_on_with_the_rest_above_all_fences() {
    let history = history();
    let last = history.last().unwrap();
    let cut = log(&history[3]).len() + 100;
    let rest = with(last, "semel.db-wal", log(last)[..cut].to_vec());
    for (left, damaged) in [(3, rest), (0, without(last, &["semel.db"]))] {
        let place = directory(&damaged);
        let done = accept_loss(place.path(), &clock()).unwrap().expect("there was damage");
        assert_eq!(sure(&done.damage), left);
        let kept = files(&done.kept);
        assert_eq!(kept["semel.db-wal"], damaged["semel.db-wal"], "put aside");
        assert!(accept_loss(place.path(), &clock()).unwrap().is_none(), "it is whole now");
        let store = open(place.path()).unwrap();
        assert_eq!(store.last_round(0).unwrap(), ROUNDS + 1, "no number is given twice");
        let now = u64::try_from(samples::BEGIN.ms()).unwrap() * 1_000;
        assert!(done.fence >= now + FENCE_MARGIN);
        assert_eq!(store.fence_floor().unwrap(), done.fence);
        for number in 1..=ROUNDS {
            let head = store.head(samples::execution(u8::try_from(number).unwrap())).unwrap();
            assert_eq!(head.is_some(), number <= left, "{number}");
        }
        let next = Stamp { round: ROUNDS + 2, at: Timestamp::from_ms(9), ..round(1).stamp };
        store.writer(0).unwrap().commit(Writes { stamp: next, ..round(1) }).unwrap();
    }
}
