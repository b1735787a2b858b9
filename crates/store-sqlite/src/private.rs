//! # Private: a data directory and its files are their owner's alone
//!
//! A directory that is made here has mode 0700, a file 0600, whatever the umask allows. SQLite gives the log and
//! the shared memory of a database the mode of the database. A file that others may read, because an older
//! release or a restore made it so, is closed to them when the directory is opened. A directory that was there
//! before is left as it is, because others may have been given a way through it: the log and `semel doctor` name it.

use std::io;
use std::path::{Path, PathBuf};

/// Names of files in a data directory begin with one of these.
const NAMES: &[&str] = &["semel", "secrets.key", "admin."];

/// A directory or a file that others may use, and its mode.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Shared {
    pub path: PathBuf,
    pub mode: u32,
}

/// Makes the directory, and those above it as the process makes any.
pub fn make_directory(directory: &Path) -> io::Result<()> {
    if let Some(parent) = directory.parent() {
        std::fs::create_dir_all(parent)?;
    }
    let mut builder = std::fs::DirBuilder::new();
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    match builder.create(directory) {
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(()),
        made => made,
    }
}

/// How a file is opened for writing that is made if it is not there.
pub(crate) fn made_if_missing() -> std::fs::OpenOptions {
    let mut options = std::fs::File::options();
    options.create(true).truncate(false).write(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options
}

/// Makes an empty file unless there is one: SQLite would make it as the umask says.
pub(crate) fn make_file(file: &Path) -> io::Result<()> {
    made_if_missing().open(file).map(drop)
}

/// What others may use: the directory, then its files by name. None on systems that have no modes.
#[cfg(unix)]
pub fn shared(directory: &Path) -> io::Result<Vec<Shared>> {
    use std::os::unix::fs::PermissionsExt as _;
    let others = |path: &Path, data: &std::fs::Metadata| {
        let mode = data.permissions().mode() & 0o777;
        (mode & 0o077 != 0).then(|| Shared { path: path.to_owned(), mode })
    };
    let mut files = Vec::new();
    for entry in std::fs::read_dir(directory)? {
        let entry = entry?;
        let name = entry.file_name();
        let is_ours = NAMES.iter().any(|ours| name.as_encoded_bytes().starts_with(ours.as_bytes()));
        // A file that goes away meanwhile is shared with nobody. A link is not followed.
        let Ok(data) = entry.metadata() else { continue };
        if is_ours && data.is_file() {
            files.extend(others(&entry.path(), &data));
        }
    }
    files.sort_by(|a, b| a.path.cmp(&b.path));
    let own = others(directory, &directory.metadata()?);
    Ok(own.into_iter().chain(files).collect())
}

#[cfg(not(unix))]
pub fn shared(_: &Path) -> io::Result<Vec<Shared>> {
    Ok(Vec::new())
}

/// Closes files to others and says so. What cannot be closed is said too, and keeps nobody from starting.
#[cfg(unix)]
pub(crate) fn close_to_others(directory: &Path) {
    use std::os::unix::fs::PermissionsExt as _;
    let found = shared(directory).unwrap_or_default();
    for Shared { path, mode } in found {
        let shown = path.display();
        if path == directory {
            tracing::warn!(
                path = %shown, mode = format!("{mode:03o}"),
                "others may enter the data directory; run chmod 700 on it"
            );
            continue;
        }
        match std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o600)) {
            Ok(()) => tracing::warn!(
                path = %shown, mode = format!("{mode:03o}"),
                "others had access to a data file; its mode is 600 now"
            ),
            Err(error) => tracing::warn!(
                path = %shown, mode = format!("{mode:03o}"), %error,
                "others have access to a data file; run chmod 600 on it as its owner"
            ),
        }
    }
}

#[cfg(not(unix))]
pub(crate) fn close_to_others(_: &Path) {}

#[cfg(unix)]
#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt as _;
    use std::sync::Arc;

    use semel_model::Timestamp;
    use semel_store::Clock;

    use super::*;
    use crate::SqliteStore;

    fn open(directory: &Path) -> SqliteStore {
        let clock = Arc::new(Clock::manual(Timestamp::from_ms(1_000)));
        SqliteStore::open(directory, clock).unwrap()
    }

    fn modes(directory: &Path) -> Vec<(String, u32)> {
        let mode = |path: &Path| path.metadata().unwrap().permissions().mode() & 0o777;
        let entries = std::fs::read_dir(directory).unwrap().map(Result::unwrap);
        entries
            .map(|it| (it.file_name().into_string().unwrap(), mode(&it.path())))
            .chain([(".".to_owned(), mode(directory))])
            .collect()
    }

    #[test]
    fn a_new_directory_and_all_in_it_are_for_its_owner_only() {
        let parent = tempfile::tempdir().unwrap();
        let directory = parent.path().join("data");
        let store = open(&directory);
        let found = modes(&directory);
        for name in ["semel.db", "semel.db-wal", "semel.db-shm", "semel.lock", "semel-index.db-wal"]
        {
            assert!(found.iter().any(|(file, _)| file == name), "{name}: {found:?}");
        }
        for (name, mode) in found {
            let wanted = if name == "." { 0o700 } else { 0o600 };
            assert_eq!(mode, wanted, "{name} has {mode:03o}");
        }
        assert_eq!(shared(&directory).unwrap(), []);
        drop(store);
        let copy = directory.join("copy.db");
        crate::backup(&directory, &copy, true, |_| {}).unwrap();
        assert_eq!(copy.metadata().unwrap().permissions().mode() & 0o777, 0o600);
    }

    #[test]
    fn files_that_others_may_read_are_closed_and_the_directory_is_named() {
        let parent = tempfile::tempdir().unwrap();
        let directory = parent.path().join("data");
        drop(open(&directory));
        let chmod = |path: &Path, mode| {
            std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode)).unwrap();
        };
        chmod(&directory, 0o755);
        chmod(&directory.join("semel.db"), 0o644);
        let (strange, key) = (directory.join("notes.txt"), directory.join("secrets.key"));
        for (file, mode) in [(&strange, 0o644), (&key, 0o640)] {
            std::fs::write(file, "").unwrap();
            chmod(file, mode);
        }
        let named = shared(&directory).unwrap();
        let found: Vec<_> = named.iter().map(|it| (it.path.as_path(), it.mode)).collect();
        let database = directory.join("semel.db");
        assert_eq!(found, [(&*directory, 0o755), (&*key, 0o640), (&*database, 0o644)]);
        let store = open(&directory);
        let left = modes(&directory);
        for (name, mode) in &left {
            let wanted = match name.as_str() {
                "." => 0o755,
                "notes.txt" => 0o644,
                _ => 0o600,
            };
            assert_eq!(*mode, wanted, "{name}: {left:?}");
        }
        drop(store);
        assert_eq!(shared(&directory).unwrap().len(), 1);
    }
}
