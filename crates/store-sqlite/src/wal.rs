//! # The log as it lies on disk: what SQLite would drop without a word
//!
//! SQLite reads its log up to the first frame that is not whole and takes that for the end. After a
//! power cut it is: the last transaction was never acknowledged. A frame of a later transaction
//! behind it says otherwise, because a transaction is begun when the one before is on disk.
//!
//! **May not:** write, or be asked while somebody writes.

use std::collections::BTreeSet;
use std::fs::File;
use std::io::{self, BufReader, Read};
use std::path::Path;

const HEADER_BYTES: usize = 32;
const FRAME_BYTES: usize = 24;
/// The lowest bit says that checksums are of big-endian words.
const MAGIC: u32 = 0x377f_0682;
const VERSION: u32 = 3_007_000;
const PAGE_BYTES_MAX: usize = 1 << 16;
const READ_BYTES: usize = 1 << 20;

/// A log that has a beginning.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Log {
    /// Whole frames, up to the last whole commit.
    pub(crate) frames: u64,
    /// The first frame that is not whole; frames count from 1.
    pub(crate) broken: Option<u64>,
    /// Commits of this log behind the broken frame. One may be the torn end of a transaction that was
    /// never acknowledged.
    pub(crate) commits_behind: u64,
    /// Pages of the database as of the last whole commit.
    pub(crate) pages: Option<u32>,
    /// Those of them that only the log has.
    pub(crate) added: BTreeSet<u32>,
}

/// None: there is no log, or SQLite would begin it anew. `pages` are those of the file of the database.
pub(crate) fn read(path: &Path, pages: u32) -> io::Result<Option<Log>> {
    let file = match File::open(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        other => other?,
    };
    let mut input = BufReader::with_capacity(READ_BYTES, file);
    let mut header = [0; HEADER_BYTES];
    if !fill(&mut input, &mut header)? {
        return Ok(None);
    }
    match Salted::begin(&header) {
        Some(salted) => follow(input, salted, pages).map(Some),
        None => Ok(None),
    }
}

/// What all frames of one log have in common.
struct Salted {
    is_big_endian: bool,
    salts: [u8; 8],
    page_bytes: usize,
    sum: Sum,
}

impl Salted {
    fn begin(header: &[u8; HEADER_BYTES]) -> Option<Self> {
        let magic = word(header, 0);
        let is_big_endian = magic & 1 == 1;
        let sum = Sum::default().of(&header[..24], is_big_endian);
        let page_bytes = usize::try_from(word(header, 8)).ok()?;
        let is_whole = magic & !1 == MAGIC
            && word(header, 4) == VERSION
            && page_bytes <= PAGE_BYTES_MAX
            && sum == Sum::at(header, 24);
        let salts = header[16..24].try_into().ok()?;
        is_whole.then_some(Self { is_big_endian, salts, page_bytes, sum })
    }
}

fn follow(mut input: impl Read, salted: Salted, pages: u32) -> io::Result<Log> {
    let Salted { is_big_endian, salts, page_bytes, mut sum } = salted;
    let (mut log, mut number, mut open) = (Log::default(), 0, BTreeSet::new());
    let mut frame = vec![0; FRAME_BYTES + page_bytes];
    while fill(&mut input, &mut frame)? {
        number += 1;
        let is_of_this_log = frame[8..16] == salts;
        let continued = sum.of(&frame[..8], is_big_endian).of(&frame[FRAME_BYTES..], is_big_endian);
        let is_whole = is_of_this_log && continued == Sum::at(&frame, 16);
        // Behind a broken frame each is judged by what the one before says of itself.
        sum = Sum::at(&frame, 16);
        let (page, commit) = (word(&frame, 0), word(&frame, 4));
        if log.broken.is_some() {
            log.commits_behind += u64::from(is_whole && commit != 0);
            continue;
        }
        if !is_whole {
            log.broken = Some(number);
            continue;
        }
        if page > pages {
            open.insert(page);
        }
        if commit != 0 {
            (log.frames, log.pages) = (number, Some(commit));
            log.added.append(&mut open);
        }
    }
    Ok(log)
}

/// The running checksum of a log.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
struct Sum(u32, u32);

impl Sum {
    /// As it is written down at that place.
    fn at(bytes: &[u8], at: usize) -> Self {
        Self(word(bytes, at), word(bytes, at + 4))
    }

    fn of(self, bytes: &[u8], is_big_endian: bool) -> Self {
        let Self(mut first, mut second) = self;
        for pair in bytes.chunks_exact(8) {
            let [a, b] = [0, 4].map(|at| {
                let word = word(pair, at);
                if is_big_endian { word } else { word.swap_bytes() }
            });
            first = first.wrapping_add(a).wrapping_add(second);
            second = second.wrapping_add(b).wrapping_add(first);
        }
        Self(first, second)
    }
}

/// Numbers in a log are big-endian, whatever its checksums are of.
fn word(bytes: &[u8], at: usize) -> u32 {
    match bytes.get(at..at + 4) {
        Some(&[a, b, c, d]) => u32::from_be_bytes([a, b, c, d]),
        _ => 0,
    }
}

/// False: it ends before.
fn fill(input: &mut impl Read, bytes: &mut [u8]) -> io::Result<bool> {
    match input.read_exact(bytes) {
        Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => Ok(false),
        other => other.map(|()| true),
    }
}

#[cfg(test)]
mod tests {
    use rusqlite::Connection;
    use tempfile::TempDir;

    use super::*;

    /// A log of five commits, as a kill leaves it, and where each ends.
    fn log_of_five() -> (TempDir, Vec<u8>, Vec<u64>) {
        let directory = TempDir::new().unwrap();
        let connection = Connection::open(directory.path().join("a.db")).unwrap();
        connection.pragma_update(None, "journal_mode", "WAL").unwrap();
        connection.pragma_update(None, "wal_autocheckpoint", 0).unwrap();
        let path = directory.path().join("a.db-wal");
        let mut ends = Vec::new();
        for sql in ["CREATE TABLE t (x BLOB)"]
            .into_iter()
            .chain(["INSERT INTO t VALUES (zeroblob(9000))"; 4])
        {
            connection.execute_batch(sql).unwrap();
            ends.push(read(&path, 1).unwrap().unwrap().frames);
        }
        let bytes = std::fs::read(&path).unwrap();
        (directory, bytes, ends)
    }

    fn read_of(bytes: &[u8]) -> Option<Log> {
        let directory = TempDir::new().unwrap();
        let path = directory.path().join("b");
        std::fs::write(&path, bytes).unwrap();
        read(&path, 1).unwrap()
    }

    #[test]
    fn a_whole_log_is_read_as_sqlite_reads_it() {
        let (directory, bytes, ends) = log_of_five();
        let log = read_of(&bytes).unwrap();
        assert_eq!((Some(&log.frames), log.broken, log.commits_behind), (ends.last(), None, 0));
        let connection = Connection::open(directory.path().join("a.db")).unwrap();
        let pages: u32 = connection.query_row("PRAGMA page_count", [], |row| row.get(0)).unwrap();
        assert_eq!(log.pages, Some(pages));
        assert_eq!(log.added, (2..=pages).collect());
    }

    #[test]
    fn a_byte_that_was_changed_breaks_its_frame_and_commits_lie_behind() {
        let (_directory, bytes, ends) = log_of_five();
        for (commit, end) in ends.iter().enumerate() {
            let frame = usize::try_from(end - 1).unwrap();
            // Page number, size at commit, salt, checksum, page.
            for offset in [0, 5, 9, 17, 24, 2_000] {
                let mut bytes = bytes.clone();
                bytes[HEADER_BYTES + frame * (FRAME_BYTES + 4096) + offset] ^= 0x40;
                let log = read_of(&bytes).unwrap();
                assert_eq!(log.broken, Some(*end), "{commit} {offset}");
                let whole = ends[..commit].last().copied().unwrap_or(0);
                assert_eq!(log.frames, whole, "{commit} {offset}");
                let behind = u64::try_from(ends.len() - 1 - commit).unwrap();
                assert_eq!(log.commits_behind, behind, "{commit} {offset}");
            }
        }
    }

    #[test]
    fn a_log_that_ends_early_has_nothing_behind() {
        let (_directory, bytes, ends) = log_of_five();
        for end in (0..bytes.len()).step_by(997) {
            let log = read_of(&bytes[..end]).unwrap_or_default();
            assert!(log.broken.is_none() && log.commits_behind == 0, "{end}");
            assert!(log.frames == 0 || ends.contains(&log.frames), "{end}");
        }
        assert_eq!(read_of(b""), None);
        let mut bytes = bytes;
        bytes[17] ^= 1;
        assert_eq!(read_of(&bytes), None, "SQLite begins such a log anew");
    }
}
