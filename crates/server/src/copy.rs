//! # Copying: all data of a stopped server, put into another store
//!
//! Opens both ends as they are, so that nothing is done to rows that are only being moved, and leaves
//! the work to [`semel_store::transfer`]. The key that opens secrets is never part of it.

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use semel_store::transfer::{self, Compared, Outcome, Step, TransferError};
use semel_store::{Clock, Kind, StoreError};
use semel_store_postgres::{Options, PostgresStore};
use semel_store_sqlite::SqliteStore;

use crate::config::{DatabaseUrl, Store, store};
use crate::stores::OpenError;

/// The name under which a copy works on a database.
const NODE: &str = "semel copy";

#[derive(Debug, thiserror::Error)]
pub enum CannotCopy {
    #[error(
        "--{flag}: expected sqlite:DIRECTORY, sqlite (the directory of --data), or postgres://USER:PASSWORD@HOST:PORT/DATABASE"
    )]
    End { flag: &'static str },
    #[error(
        "--{flag}: a store in memory is gone with its process; use sqlite:DIRECTORY or postgres://..."
    )]
    Memory { flag: &'static str },
    #[error("source and target are the same")]
    Same,
    #[error("{} holds no data; name the directory of the stopped server with --from sqlite:DIRECTORY", .directory.display())]
    NoData { directory: PathBuf },
    #[error("the {which} cannot be opened")]
    Open { which: &'static str, source: OpenError },
    #[error(transparent)]
    Transfer(#[from] TransferError),
}

impl CannotCopy {
    /// What is asked for makes sense, and what is there is in the way.
    pub fn is_conflict(&self) -> bool {
        match self {
            Self::Open { source, .. } => source.is_served(),
            Self::Transfer(error) => {
                matches!(
                    error,
                    TransferError::NotEmpty { .. }
                        | TransferError::Another { .. }
                        | TransferError::Half { .. }
                )
            }
            Self::End { .. } | Self::Memory { .. } | Self::Same | Self::NoData { .. } => false,
        }
    }

    /// The command line names something that cannot be copied.
    pub fn is_asked_wrongly(&self) -> bool {
        matches!(self, Self::End { .. } | Self::Memory { .. } | Self::Same)
    }
}

/// One end of a copy. Shown without its password.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum End {
    Sqlite(PathBuf),
    Postgres(DatabaseUrl),
}

impl End {
    /// As `--store` has it, or with the directory of a SQLite store; `data` is the directory of one
    /// that names none.
    pub fn read(flag: &'static str, text: &str, data: &Path) -> Result<Self, CannotCopy> {
        match text.strip_prefix("sqlite:").map(|path| path.strip_prefix("//").unwrap_or(path)) {
            Some("") => return Err(CannotCopy::End { flag }),
            Some(directory) => return Ok(Self::Sqlite(directory.into())),
            None => {}
        }
        match store(text) {
            Ok(Store::Sqlite) => Ok(Self::Sqlite(data.to_owned())),
            Ok(Store::Postgres(url)) => Ok(Self::Postgres(url)),
            Ok(Store::Memory) => Err(CannotCopy::Memory { flag }),
            Err(_) => Err(CannotCopy::End { flag }),
        }
    }

    fn open(&self, which: &'static str) -> Result<Box<dyn semel_store::Store>, CannotCopy> {
        self.open_alone(NODE).map_err(|source| CannotCopy::Open { which, source })
    }

    /// For whoever works on it while nobody serves it.
    pub(crate) fn open_alone(&self, node: &str) -> Result<Box<dyn semel_store::Store>, OpenError> {
        Ok(match self {
            Self::Sqlite(directory) => {
                Box::new(SqliteStore::open_for_copy(directory, Arc::new(Clock::wall()))?)
            }
            Self::Postgres(url) => {
                Box::new(PostgresStore::open(url.reveal(), &Options::alone(node))?)
            }
        })
    }

    /// A source is not made by opening it.
    pub(crate) fn has_data(&self) -> Result<bool, OpenError> {
        match self {
            Self::Sqlite(directory) => Ok(semel_store_sqlite::look(directory)?.is_some()),
            Self::Postgres(_) => Ok(true),
        }
    }
}

impl fmt::Display for End {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Sqlite(directory) => write!(f, "sqlite:{}", directory.display()),
            Self::Postgres(url) => url.fmt(f),
        }
    }
}

/// What was done.
#[derive(Debug)]
pub struct Copied {
    pub outcome: Outcome,
    /// Sealed with the key of the source, which the target's servers will need.
    pub secrets: usize,
}

/// Copies all of `from` into `to`, or goes on with a copy that was cut off, and compares both.
pub fn copy(from: &End, to: &End, told: &mut dyn FnMut(Step)) -> Result<Copied, CannotCopy> {
    let (source, target) = open_both(from, to)?;
    let outcome = transfer::transfer(&from.to_string(), &*source, &*target, told)?;
    Ok(Copied { outcome, secrets: secrets(&*source).map_err(TransferError::from)? })
}

/// Compares them and writes nothing.
pub fn compare(from: &End, to: &End, told: &mut dyn FnMut(Step)) -> Result<Compared, CannotCopy> {
    let (source, target) = open_both(from, to)?;
    Ok(transfer::compare(&*source, &*target, told).map_err(TransferError::from)?)
}

type Both = (Box<dyn semel_store::Store>, Box<dyn semel_store::Store>);

fn open_both(from: &End, to: &End) -> Result<Both, CannotCopy> {
    if from == to {
        return Err(CannotCopy::Same);
    }
    if let (End::Sqlite(directory), Ok(false)) = (from, from.has_data()) {
        return Err(CannotCopy::NoData { directory: directory.clone() });
    }
    Ok((from.open("source")?, to.open("target")?))
}

fn secrets(store: &dyn semel_store::Store) -> Result<usize, StoreError> {
    Ok(store.documents(Kind::Secret, None)?.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn end(text: &str) -> Result<String, String> {
        let end = End::read("from", text, Path::new("data"));
        end.map(|end| end.to_string()).map_err(|error| error.to_string())
    }

    #[test]
    fn an_end_is_written_as_a_store_is() {
        assert_eq!(end("sqlite").unwrap(), "sqlite:data");
        assert_eq!(end("sqlite:a/b").unwrap(), "sqlite:a/b");
        assert_eq!(end("sqlite:///a/b").unwrap(), "sqlite:/a/b");
        assert_eq!(end("postgres://ann:hush@h/d").unwrap(), "postgres://***@h/d");
    }

    #[test]
    fn what_is_no_end_is_refused_and_not_repeated() {
        for text in ["", "sqlite:", "mysql://ann:hush@h/d", "memory"] {
            let error = end(text).unwrap_err();
            assert!(error.contains("--from") && !error.contains("hush"), "{error}");
        }
    }

    #[test]
    fn a_copy_from_nowhere_makes_nothing() {
        let parent = tempfile::tempdir().unwrap();
        let [from, to] = ["from", "to"].map(|name| End::Sqlite(parent.path().join(name)));
        let refused = copy(&from, &to, &mut |_| {}).unwrap_err();
        assert!(matches!(refused, CannotCopy::NoData { .. }), "{refused}");
        assert!(matches!(copy(&from, &from, &mut |_| {}), Err(CannotCopy::Same)));
        assert_eq!(std::fs::read_dir(parent.path()).unwrap().count(), 0);
    }

    #[test]
    fn a_source_that_is_served_is_refused() {
        let parent = tempfile::tempdir().unwrap();
        let [from, to] = ["from", "to"].map(|name| parent.path().join(name));
        let served = SqliteStore::open(&from, Arc::new(Clock::wall())).unwrap();
        let [from, to] = [from, to].map(End::Sqlite);
        let refused = copy(&from, &to, &mut |_| {}).unwrap_err();
        assert!(refused.is_conflict() && refused.to_string().contains("source"), "{refused}");
        drop(served);
        let copied = copy(&from, &to, &mut |_| {}).unwrap();
        assert!(matches!(copied.outcome, Outcome::Copied(_)), "{copied:?}");
        let again = copy(&from, &to, &mut |_| {}).unwrap();
        assert!(matches!(again.outcome, Outcome::Before { .. }), "{again:?}");
    }
}
