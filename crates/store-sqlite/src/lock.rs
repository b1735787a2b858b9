//! # The lock: one process per directory
//!
//! Held on the directory itself, which nobody can remove while it has files, and on `semel.lock`, which older releases
//! look at. Removing the file lets no second process in.

use std::fs::{File, TryLockError};
use std::path::Path;
use std::time::Duration;

use crate::open::OpenError;
use crate::private;

pub(crate) const LOCK: &str = "semel.lock";
/// Of a process that has ended, the lock may be left for a moment: a child it was just starting has a copy
/// until it runs its own program.
const LOCK_EVERY: Duration = Duration::from_millis(10);
const LOCK_PAUSES_MAX: usize = 200;

/// Given back when it is dropped.
pub(crate) struct Lock {
    _directory: Option<File>,
    _file: File,
}

/// Makes the directory if there is none.
pub(crate) fn lock(directory: &Path) -> Result<Lock, OpenError> {
    let unusable = |source| OpenError::Directory { directory: directory.to_owned(), source };
    if !directory.is_dir() {
        private::make_directory(directory).map_err(unusable)?;
        sync_parent(directory).map_err(unusable)?;
    }
    let refused = |error| match error {
        TryLockError::WouldBlock => OpenError::Held { directory: directory.to_owned() },
        TryLockError::Error(source) => unusable(source),
    };
    let itself = match File::open(directory).map(|it| (take(&it, pause), it)) {
        Ok((Ok(()), itself)) => Some(itself),
        Ok((Err(TryLockError::WouldBlock), _)) => return Err(refused(TryLockError::WouldBlock)),
        Ok((Err(TryLockError::Error(error)), _)) | Err(error) => {
            if cfg!(unix) {
                tracing::warn!(
                    %error, directory = %directory.display(),
                    "this file system does not lock directories: do not remove semel.lock while a server runs"
                );
            }
            None
        }
    };
    let file = private::made_if_missing().open(directory.join(LOCK)).map_err(unusable)?;
    take(&file, pause).map_err(refused)?;
    Ok(Lock { _directory: itself, _file: file })
}

/// Whether a process holds the directory.
pub fn is_held(directory: &Path) -> std::io::Result<bool> {
    if let Ok(itself) = File::open(directory)
        && matches!(itself.try_lock_shared(), Err(TryLockError::WouldBlock))
    {
        return Ok(true);
    }
    let file = match File::open(directory.join(LOCK)) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(false),
        other => other?,
    };
    match file.try_lock_shared() {
        Ok(()) => Ok(false), // Given back when the file is closed, which is now.
        Err(TryLockError::WouldBlock) => Ok(true),
        Err(TryLockError::Error(error)) => Err(error),
    }
}

fn pause() {
    std::thread::sleep(LOCK_EVERY);
}

fn take(lock: &File, mut pause: impl FnMut()) -> Result<(), TryLockError> {
    for _ in 0..LOCK_PAUSES_MAX {
        match lock.try_lock() {
            Err(TryLockError::WouldBlock) => pause(),
            tried => return tried,
        }
    }
    lock.try_lock()
}

/// A directory whose name is not on disk yet would take everything committed into it along.
fn sync_parent(directory: &Path) -> std::io::Result<()> {
    let absolute = std::path::absolute(directory)?;
    match absolute.parent() {
        Some(parent) if cfg!(unix) => File::open(parent)?.sync_all(),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_lock_that_is_left_for_a_moment_is_waited_for() {
        let directory = tempfile::tempdir().unwrap();
        let ended = lock(directory.path()).unwrap();
        let mut left = Some(ended._file.try_clone().unwrap()); // As a child has it.
        drop(ended);
        let next = File::open(directory.path().join(LOCK)).unwrap();
        let mut pauses = 0;
        take(&next, || {
            pauses += 1;
            drop(left.take());
        })
        .unwrap();
        assert_eq!(pauses, 1);
    }

    #[cfg(unix)]
    #[test]
    fn a_lock_whose_file_is_removed_is_held() {
        let directory = tempfile::tempdir().unwrap();
        let held = lock(directory.path()).unwrap();
        std::fs::remove_file(directory.path().join(LOCK)).unwrap();
        assert!(is_held(directory.path()).unwrap());
        let refused = lock(directory.path()).err().unwrap();
        assert!(matches!(refused, OpenError::Held { .. }), "{refused}");
        drop(held);
        assert!(!is_held(directory.path()).unwrap());
        lock(directory.path()).unwrap();
    }

    #[test]
    fn an_older_release_that_holds_only_the_file_is_heeded() {
        let directory = tempfile::tempdir().unwrap();
        let older = File::create(directory.path().join(LOCK)).unwrap();
        older.try_lock().unwrap();
        assert!(is_held(directory.path()).unwrap());
        assert!(matches!(lock(directory.path()), Err(OpenError::Held { .. })));
        drop(older);
        lock(directory.path()).unwrap();
    }
}
