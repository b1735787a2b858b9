//! # Faults: what PostgreSQL said, named by remedy

use semel_store::StoreError;
use tokio_postgres::Error;
use tokio_postgres::error::SqlState;

/// What went wrong: what the database said, or what was found in its rows.
#[derive(Debug)]
pub(crate) enum Fault {
    Said(Error),
    Found(StoreError),
    /// The row of the lane is not there: it was idle for so long that it was taken for dead.
    LaneGone,
    /// It takes connections and says nothing on them.
    NoAnswer,
}

impl Fault {
    pub(crate) fn is_cut_off(&self) -> bool {
        matches!(self, Self::Said(error) if is_cut_off(error))
    }
}

impl From<Error> for Fault {
    fn from(error: Error) -> Self {
        Self::Said(error)
    }
}

impl From<StoreError> for Fault {
    fn from(error: StoreError) -> Self {
        Self::Found(error)
    }
}

impl From<Fault> for StoreError {
    fn from(fault: Fault) -> Self {
        match fault {
            Fault::Said(error) => of(error),
            Fault::Found(error) => error,
            Fault::NoAnswer => StoreError::Unavailable("the database does not answer".into()),
            Fault::LaneGone => StoreError::Contended,
        }
    }
}

/// A read, or a write before its COMMIT: nothing has happened.
pub(crate) fn of(error: Error) -> StoreError {
    let Some(code) = error.code() else {
        return match is_conversion(&error) {
            true => StoreError::Corrupt(described(&error)),
            false => unavailable(&error),
        };
    };
    if is_contended(code) {
        return StoreError::Contended;
    }
    match code.code().get(..2) {
        // A value that cannot be stored, a key that is taken, a row too large: it has a culprit.
        Some("22" | "23" | "54") => StoreError::Corrupt(described(&error)),
        _ => unavailable(&error),
    }
}

pub(crate) fn unavailable(error: &Error) -> StoreError {
    StoreError::Unavailable(described(error).into())
}

/// Others were in the way: the same may be done again.
pub(crate) fn is_contention(error: &Error) -> bool {
    error.code().is_some_and(is_contended)
}

/// A deadlock, a conflict, or a wait that took too long.
fn is_contended(code: &SqlState) -> bool {
    [
        SqlState::T_R_DEADLOCK_DETECTED,
        SqlState::T_R_SERIALIZATION_FAILURE,
        SqlState::LOCK_NOT_AVAILABLE,
        SqlState::QUERY_CANCELED,
    ]
    .contains(code)
}

pub(crate) fn is_locked(error: &Error) -> bool {
    error.code() == Some(&SqlState::LOCK_NOT_AVAILABLE)
}

/// The connection is gone, by the database's word or without one.
pub(crate) fn is_cut_off(error: &Error) -> bool {
    match error.code().map(SqlState::code) {
        Some(code) => code.starts_with("57P") || code.starts_with("08") || code == "25P03",
        None => !is_conversion(error),
    }
}

/// The driver tells no kinds, only where an error comes from.
fn is_conversion(error: &Error) -> bool {
    let said = error.to_string();
    said.starts_with("error deserializing column")
        || said.starts_with("error serializing parameter")
}

/// With what the database, or whoever was asked for a connection, adds to the message.
pub(crate) fn described(error: &Error) -> String {
    let Some(said) = error.as_db_error() else {
        return match std::error::Error::source(error) {
            Some(cause) => format!("{error}: {cause}"),
            None => error.to_string(),
        };
    };
    match said.detail() {
        Some(detail) => format!("{} ({detail})", said.message()),
        None => said.message().to_owned(),
    }
}

/// A row that was found; `row` names it should it not be readable.
pub(crate) fn in_row(error: Error, row: impl FnOnce() -> String) -> StoreError {
    match is_conversion(&error) {
        true => StoreError::Corrupt(format!("{}: {}", row(), described(&error))),
        false => of(error),
    }
}
