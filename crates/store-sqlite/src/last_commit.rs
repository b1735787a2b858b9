//! # The last commit, noted beside the database
//!
//! `semel.last-commit` says which round was acknowledged last. It is written after every commit and
//! before its answers leave, without a sync of its own: a kill takes nothing of it away, a power cut
//! at most the last half minute. So it is never ahead of a database that has lost nothing.
//!
//! It has two places, written in turn: a power cut tears one of them at most.
//! **May not:** fail a commit, which is durable already.

use std::fmt;
use std::fs::File;
use std::io::{self, Read as _, Seek as _, SeekFrom, Write as _};
use std::path::Path;
use std::sync::{Mutex, MutexGuard, PoisonError};

use semel_model::{Digest, Timestamp};

pub(crate) const FILE: &str = "semel.last-commit";
/// The places lie in blocks of their own on any disk.
const PLACES: [u64; 2] = [0, 4096];
const CHECK_BYTES: usize = 8;

/// A round of the lane, and when it was.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct LastCommit {
    /// 0: nothing was committed yet.
    pub round: u64,
    pub at: Timestamp,
}

impl fmt::Display for LastCommit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match jiff::Timestamp::from_second(self.at.ms().div_euclid(1_000)) {
            Ok(at) => write!(f, "number {} of {at}", self.round),
            Err(_) => write!(f, "number {} of {} ms since 1970", self.round, self.at.ms()),
        }
    }
}

/// What the file says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Noted {
    /// It is not there, or nothing was written yet: an older release, or a restored backup.
    Nothing,
    Commit(LastCommit),
    /// It is there, and neither place can be read.
    Unreadable,
}

pub(crate) fn read(directory: &Path) -> io::Result<Noted> {
    match File::open(directory.join(FILE)) {
        Ok(mut file) => Ok(places(&mut file)?.0),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Noted::Nothing),
        Err(error) => Err(error),
    }
}

/// The later of the two places, and the number of its writing.
fn places(file: &mut File) -> io::Result<(Noted, u64)> {
    let mut bytes = Vec::new();
    file.seek(SeekFrom::Start(0))?;
    file.read_to_end(&mut bytes)?;
    let lines = PLACES.map(|place| {
        let from = usize::try_from(place).unwrap_or(usize::MAX);
        bytes.get(from..).and_then(parse)
    });
    let latest = lines.into_iter().flatten().max_by_key(|(_, writing)| *writing);
    Ok(match latest {
        Some((commit, writing)) => (Noted::Commit(commit), writing),
        None if bytes.iter().all(|byte| *byte == 0) => (Noted::Nothing, 0),
        None => (Noted::Unreadable, 0),
    })
}

/// A line that people can read too. Of one length, so that nothing of an older one is left.
fn line(commit: LastCommit, writing: u64) -> String {
    let LastCommit { round, at } = commit;
    let words = format!("last commit: round {round:020} at {:020} writing {writing:020}", at.ms());
    format!("{words} check {}\n", check(&words))
}

fn parse(bytes: &[u8]) -> Option<(LastCommit, u64)> {
    let text = std::str::from_utf8(bytes.split(|byte| *byte == b'\n').next()?).ok()?;
    let (words, found) = text.split_once(" check ")?;
    if check(words) != found {
        return None;
    }
    let mut numbers = words.split(' ').filter_map(|word| word.parse::<i64>().ok());
    let mut next = || numbers.next();
    let (round, at, writing) = (next()?, next()?, next()?);
    let commit = LastCommit { round: u64::try_from(round).ok()?, at: Timestamp::from_ms(at) };
    Some((commit, u64::try_from(writing).ok()?))
}

fn check(words: &str) -> String {
    let digest = Digest::of(words.as_bytes());
    digest.as_bytes()[..CHECK_BYTES].iter().map(|byte| format!("{byte:02x}")).collect()
}

/// The file, open for noting.
pub(crate) struct CommitNote {
    state: Mutex<State>,
    /// The same file: whoever notes does not wait while it is synced.
    synced: File,
}

struct State {
    file: File,
    last: LastCommit,
    writing: u64,
    /// So that a disk that refuses is told of once.
    is_refused: bool,
}

impl CommitNote {
    /// Begins with the last commit of the database. Durable when it returns.
    pub(crate) fn open(directory: &Path, last: LastCommit) -> io::Result<Self> {
        let mut options = File::options();
        options.read(true).write(true).create(true).truncate(false);
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        let mut file = options.open(directory.join(FILE))?;
        let writing = places(&mut file)?.1;
        let mut state = State { file, last, writing, is_refused: false };
        for _ in PLACES {
            state.write(last)?;
        }
        state.file.sync_all()?;
        if cfg!(unix) {
            File::open(directory)?.sync_all()?;
        }
        Ok(Self { synced: state.file.try_clone()?, state: Mutex::new(state) })
    }

    /// This commit is durable, and whoever asked is about to be told.
    pub(crate) fn note(&self, last: LastCommit) {
        let mut state = self.state();
        match state.write(last) {
            Ok(()) => state.is_refused = false,
            Err(error) => {
                if !std::mem::replace(&mut state.is_refused, true) {
                    tracing::error!(%error, file = FILE, "the last commit cannot be noted");
                }
            }
        }
    }

    pub(crate) fn last(&self) -> LastCommit {
        self.state().last
    }

    pub(crate) fn sync(&self) {
        if let Err(error) = self.synced.sync_data() {
            tracing::error!(%error, file = FILE, "the last commit cannot be noted");
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for CommitNote {
    fn drop(&mut self) {
        self.sync();
    }
}

impl State {
    fn write(&mut self, last: LastCommit) -> io::Result<()> {
        self.last = last;
        self.writing += 1;
        let place = if self.writing.is_multiple_of(2) { PLACES[0] } else { PLACES[1] };
        self.file.seek(SeekFrom::Start(place))?;
        self.file.write_all(line(last, self.writing).as_bytes())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn commit(round: u64) -> LastCommit {
        LastCommit { round, at: Timestamp::from_ms(1_767_225_600_000) }
    }

    #[test]
    fn the_last_note_is_found_again() {
        let directory = tempfile::tempdir().unwrap();
        assert_eq!(read(directory.path()).unwrap(), Noted::Nothing);
        let note = CommitNote::open(directory.path(), LastCommit::default()).unwrap();
        for round in 1..6 {
            note.note(commit(round));
            assert_eq!(read(directory.path()).unwrap(), Noted::Commit(commit(round)));
        }
        drop(note);
        let note = CommitNote::open(directory.path(), commit(3)).unwrap();
        assert_eq!(read(directory.path()).unwrap(), Noted::Commit(commit(3)), "begun anew");
        assert_eq!(note.last(), commit(3));
    }

    #[test]
    fn a_torn_write_leaves_the_note_before() {
        let directory = tempfile::tempdir().unwrap();
        let note = CommitNote::open(directory.path(), commit(6)).unwrap();
        note.note(commit(7));
        note.note(commit(8));
        let path = directory.path().join(FILE);
        let whole = std::fs::read(&path).unwrap();
        let latest = PLACES.into_iter().map(|place| usize::try_from(place).unwrap()).find(|at| {
            let mut torn = whole.clone();
            torn[at + 30] ^= 1;
            std::fs::write(&path, &torn).unwrap();
            read(directory.path()).unwrap() == Noted::Commit(commit(7))
        });
        assert!(latest.is_some(), "{}", String::from_utf8_lossy(&whole));
        let torn: Vec<u8> = whole.iter().map(|byte| byte ^ 1).collect();
        std::fs::write(&path, torn).unwrap();
        assert_eq!(read(directory.path()).unwrap(), Noted::Unreadable);
        std::fs::write(&path, "").unwrap();
        assert_eq!(read(directory.path()).unwrap(), Noted::Nothing);
    }

    #[test]
    fn a_commit_is_told_by_number_and_time() {
        assert_eq!(commit(12).to_string(), "number 12 of 2026-01-01T00:00:00Z");
    }
}
