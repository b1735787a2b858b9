//! # Damage: what was acknowledged and is not there any more
//!
//! SQLite opens what it can read and says nothing of what it dropped. So before it is let near, what
//! the files know of each other is compared: the note of the last commit, the search index and the
//! rest of the log must not know more than the database.
//!
//! A kill and a power cut never look like damage: the note and the index follow a commit, they are
//! never ahead of it. **May not:** change anything.

use std::fmt;
use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::time::Duration;

use rusqlite::{Connection, ErrorCode, OpenFlags, OptionalExtension as _};
use semel_model::Timestamp;

use crate::last_commit::{self, LastCommit, Noted};
use crate::open::{DATABASE, OpenError, unusable};
use crate::wal::{self, Log};
use crate::{index, proof};

/// Written by the server beside its database, never before it.
const KEY_FILE: &str = "secrets.key";
const BUSY_MS: u64 = 5_000;
const HEADER_BYTES: usize = 100;
/// Behind a broken frame, one commit may never have been acknowledged.
const COMMITS_TORN_MAX: u64 = 1;

/// Why a directory is not opened, and what is left of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Damage {
    pub directory: PathBuf,
    /// At least one.
    pub findings: Vec<String>,
    /// The last commit that is there.
    pub sure: Option<LastCommit>,
    /// The last one that somebody knows of.
    pub known: Option<LastCommit>,
    /// There is something to go on with.
    pub may_go_on: bool,
    /// The log is not of this database, or of none.
    pub(crate) log_is_foreign: bool,
}

impl std::error::Error for Damage {}

impl fmt::Display for Damage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let directory = self.directory.display();
        write!(f, "{directory} is damaged: {}. ", self.findings.join("; "))?;
        match &self.sure {
            Some(sure) if sure.round > 0 => write!(f, "The last commit that is sure is {sure}. ")?,
            Some(_) => f.write_str("No commit is left. ")?,
            None => {}
        }
        if let Some(known) = &self.known {
            write!(f, "The last one that was acknowledged is {known}, or later. ")?;
        }
        f.write_str("Nothing was changed. Put the missing files back, or restore a backup")?;
        match self.may_go_on {
            true => write!(
                f,
                "; to go on knowingly with what is left: semel accept-loss --data {directory}"
            ),
            false => Ok(()),
        }
    }
}

/// Who else may be at work in the directory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Beside {
    /// The caller holds the lock and is about to serve.
    NobodyToServe,
    /// The same, for a copy: the key of its servers may be there already.
    NobodyToCopy,
    /// A server, which writes the log meanwhile.
    Server,
}

/// The last commit of a directory in which nothing is missing.
pub(crate) fn examine(directory: &Path, beside: Beside) -> Result<LastCommit, OpenError> {
    // First what follows the database, which meanwhile may go on.
    let noted = last_commit::read(directory).map_err(unusable(directory))?;
    let indexed = index::followed(directory);
    let mut damage = Damage {
        directory: directory.to_owned(),
        findings: Vec::new(),
        sure: None,
        known: None,
        may_go_on: true,
        log_is_foreign: false,
    };
    let file = directory.join(DATABASE);
    let bytes = file.metadata().map_or(0, |data| data.len());
    let last = match bytes {
        0 => {
            damage.findings.extend(left_alone(directory, beside));
            damage.log_is_foreign = true;
            LastCommit::default()
        }
        _ => match inspect(directory, &file, bytes, beside, &mut damage) {
            Ok(last) => last,
            Err(error) => {
                damage.unreadable(error)?;
                LastCommit::default()
            }
        },
    };
    damage.compare(last, noted, indexed);
    match damage.findings.is_empty() {
        true => Ok(last),
        false => Err(damage.into()),
    }
}

impl Damage {
    /// What knows of later commits than the last one that is there.
    fn compare(&mut self, last: LastCommit, noted: Noted, indexed: Option<LastCommit>) {
        if noted == Noted::Unreadable {
            self.findings.push(format!("{} cannot be read", last_commit::FILE));
        }
        let noted = match noted {
            Noted::Commit(commit) => Some((last_commit::FILE, commit)),
            Noted::Nothing | Noted::Unreadable => None,
        };
        let indexed = indexed.map(|commit| (index::FILE, commit));
        for (file, commit) in [noted, indexed].into_iter().flatten() {
            if commit.round > last.round {
                self.findings.push(format!("{file} knows of commit {commit}, which is missing"));
                self.known =
                    self.known.into_iter().chain([commit]).max_by_key(|commit| commit.round);
            }
        }
        if self.may_go_on {
            self.sure = Some(last);
        }
    }

    /// Errors that say nothing about the data are passed on.
    fn unreadable(&mut self, error: rusqlite::Error) -> Result<(), OpenError> {
        match error.sqlite_error_code() {
            Some(ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase) => {
                self.findings.push(format!("{DATABASE} cannot be read: {error}"));
                self.may_go_on = false;
                Ok(())
            }
            _ => Err(error.into()),
        }
    }
}

/// What lies where a database was.
fn left_alone(directory: &Path, beside: Beside) -> Vec<String> {
    let key = (beside != Beside::NobodyToCopy).then_some(KEY_FILE);
    let log = format!("{DATABASE}-wal");
    let files = [Some(log.as_str()), Some(index::FILE), key];
    let is_there = |name: &&str| directory.join(name).metadata().is_ok_and(|data| data.len() > 0);
    let left: Vec<_> = files.into_iter().flatten().filter(is_there).collect();
    match left.is_empty() {
        true => Vec::new(),
        false => vec![format!("{DATABASE} is missing beside {}", left.join(", "))],
    }
}

/// The last commit of a database and its log; what is wrong with them is added.
fn inspect(
    directory: &Path,
    file: &Path,
    bytes: u64,
    beside: Beside,
    damage: &mut Damage,
) -> Result<LastCommit, rusqlite::Error> {
    let header = Header::read(file);
    let pages = header.map_or(0, |header| header.pages_in(bytes));
    let log = match beside {
        Beside::Server => None,
        Beside::NobodyToServe | Beside::NobodyToCopy => log(directory, pages, damage),
    };
    if let Some(log) = &log {
        if log.commits_behind > COMMITS_TORN_MAX {
            let Log { broken, commits_behind, .. } = log;
            let frame = broken.unwrap_or_default();
            damage.findings.push(format!(
                "frame {frame} of {DATABASE}-wal is broken, and {commits_behind} commits lie behind it"
            ));
        }
        if log.frames > 0 && header.is_some_and(|header| header.is_backup) {
            // SQLite would mix both.
            damage.findings.push(format!(
                "{DATABASE} is a backup, and {DATABASE}-wal beside it is the log of another database"
            ));
            damage.log_is_foreign = true;
        }
    }
    let (connection, log) = match damage.log_is_foreign {
        true => (open_without_log(file)?, None),
        false => (open(file)?, log),
    };
    let last = last(&connection)?;
    if beside != Beside::Server
        && let Some(words) = cut_short(&connection, header, bytes, log)?
    {
        damage.findings.push(format!("{DATABASE} is cut short: {words}"));
        damage.may_go_on = false;
    }
    Ok(last)
}

/// Whether pages are missing that the log does not have.
fn cut_short(
    connection: &Connection,
    header: Option<Header>,
    bytes: u64,
    log: Option<Log>,
) -> rusqlite::Result<Option<String>> {
    let Some(header) = header else { return Ok(Some("it has no header".to_owned())) };
    let log = log.unwrap_or_default();
    if log.frames == 0 && !bytes.is_multiple_of(u64::from(header.page_bytes)) {
        return Ok(Some("its last page is not whole".to_owned()));
    }
    let wanted = log.pages.or(header.pages).unwrap_or(0);
    let first = header.pages_in(bytes) + 1;
    let missing = (first..=wanted).filter(|page| !log.added.contains(page)).count();
    if missing == 0 {
        return Ok(None);
    }
    // One page of a very large file is never written: only who reads all of them knows.
    let words = proof::structure(connection)?.err();
    Ok(words.map(|words| format!("{missing} pages are missing; {words}")))
}

fn log(directory: &Path, pages: u32, damage: &mut Damage) -> Option<Log> {
    wal::read(&directory.join(format!("{DATABASE}-wal")), pages).unwrap_or_else(|error| {
        damage.findings.push(format!("{DATABASE}-wal cannot be read: {error}"));
        None
    })
}

fn open(file: &Path) -> rusqlite::Result<Connection> {
    // Who only reads does not copy the log into the file when it closes. But a first start that was
    // cut off has left no log: what it was at has to be taken back.
    let is_cut_off = file.with_file_name(format!("{DATABASE}-journal")).exists();
    let access = match is_cut_off {
        true => OpenFlags::SQLITE_OPEN_READ_WRITE,
        false => OpenFlags::SQLITE_OPEN_READ_ONLY,
    };
    let connection = Connection::open_with_flags(file, access | OpenFlags::SQLITE_OPEN_NO_MUTEX)?;
    connection.busy_timeout(Duration::from_millis(BUSY_MS))?;
    Ok(connection)
}

/// As if it lay alone, which is how its numbers were meant.
fn open_without_log(file: &Path) -> rusqlite::Result<Connection> {
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY
        | OpenFlags::SQLITE_OPEN_NO_MUTEX
        | OpenFlags::SQLITE_OPEN_URI;
    let path = file.to_string_lossy();
    let escaped = path.replace('%', "%25").replace('?', "%3f").replace('#', "%23");
    Connection::open_with_flags(format!("file:{escaped}?immutable=1"), flags)
}

fn last(connection: &Connection) -> rusqlite::Result<LastCommit> {
    let is_made = "SELECT count(*) FROM sqlite_schema WHERE name = 'lanes'";
    if connection.query_row(is_made, [], |row| row.get::<_, i64>(0))? == 0 {
        return Ok(LastCommit::default());
    }
    let last = "SELECT round, at FROM lanes WHERE lane = 0";
    let read = |row: &rusqlite::Row<'_>| {
        Ok(LastCommit { round: row.get(0)?, at: Timestamp::from_ms(row.get(1)?) })
    };
    Ok(connection.query_row(last, [], read).optional()?.unwrap_or_default())
}

/// What the first page of the file says, without its log.
#[derive(Clone, Copy)]
struct Header {
    page_bytes: u32,
    /// Only if the release that wrote the file last keeps count.
    pages: Option<u32>,
    /// A file of its own, as backups are; a server makes a log at once.
    is_backup: bool,
}

impl Header {
    fn read(file: &Path) -> Option<Self> {
        let mut bytes = [0; HEADER_BYTES];
        std::fs::File::open(file).ok()?.read_exact(&mut bytes).ok()?;
        let word = |at: usize| {
            let bytes = bytes.get(at..at + 4)?;
            Some(u32::from_be_bytes(bytes.try_into().ok()?))
        };
        let page_bytes = match u32::from(u16::from_be_bytes([bytes[16], bytes[17]])) {
            1 => 1 << 16,
            bytes => bytes,
        };
        let pages = (word(24) == word(92)).then(|| word(28)).flatten();
        (page_bytes > 0).then_some(Self { page_bytes, pages, is_backup: bytes[18] == 1 })
    }

    fn pages_in(self, bytes: u64) -> u32 {
        u32::try_from(bytes / u64::from(self.page_bytes)).unwrap_or(u32::MAX)
    }
}
