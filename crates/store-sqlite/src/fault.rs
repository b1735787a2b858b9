//! # Faults: what SQLite said, named by remedy

use rusqlite::{Error, ErrorCode};
use semel_store::StoreError;

/// A read, or a write before its COMMIT: nothing has happened.
pub(crate) fn of(error: Error) -> StoreError {
    match error.sqlite_error_code() {
        Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => StoreError::Contended,
        Some(ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase) => {
            StoreError::Corrupt(error.to_string())
        }
        _ => StoreError::Unavailable(Box::new(error)),
    }
}

/// A COMMIT that failed. A full disk and a busy one leave nothing behind; of anything else (a
/// failed fsync) it cannot be known what the kernel kept.
pub(crate) fn in_commit(error: Error) -> StoreError {
    match error.sqlite_error_code() {
        Some(ErrorCode::DiskFull) => StoreError::Unavailable(Box::new(error)),
        Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => StoreError::Contended,
        _ => {
            tracing::error!(%error, "a commit failed in a way that leaves its outcome unknown");
            StoreError::Unknown
        }
    }
}

/// A row that was found; `row` names it should it not be readable.
pub(crate) fn in_row(error: Error, row: impl FnOnce() -> String) -> StoreError {
    match error {
        Error::FromSqlConversionFailure(..)
        | Error::IntegralValueOutOfRange(..)
        | Error::InvalidColumnType(..)
        | Error::Utf8Error(..) => StoreError::Corrupt(format!("{}: {error}", row())),
        other => of(other),
    }
}

pub(crate) fn is_taken(error: &Error) -> bool {
    error.sqlite_error_code() == Some(ErrorCode::ConstraintViolation)
}

#[cfg(test)]
mod tests {
    use rusqlite::ffi;

    use super::*;

    fn error(code: i32) -> Error {
        Error::SqliteFailure(ffi::Error::new(code), None)
    }

    #[test]
    fn a_full_disk_leaves_nothing_behind_wherever_it_is_met() {
        assert!(matches!(of(error(ffi::SQLITE_FULL)), StoreError::Unavailable(_)));
        assert!(matches!(in_commit(error(ffi::SQLITE_FULL)), StoreError::Unavailable(_)));
    }

    #[test]
    fn a_failed_fsync_leaves_the_commit_unknown() {
        assert!(matches!(in_commit(error(ffi::SQLITE_IOERR_FSYNC)), StoreError::Unknown));
        assert!(matches!(in_commit(error(ffi::SQLITE_IOERR_WRITE)), StoreError::Unknown));
        assert!(matches!(of(error(ffi::SQLITE_IOERR_READ)), StoreError::Unavailable(_)));
    }

    #[test]
    fn a_locked_file_is_contended() {
        assert!(matches!(of(error(ffi::SQLITE_BUSY)), StoreError::Contended));
        assert!(matches!(of(error(ffi::SQLITE_BUSY_SNAPSHOT)), StoreError::Contended));
        assert!(matches!(of(error(ffi::SQLITE_LOCKED)), StoreError::Contended));
    }
}
