//! # The first key: a file that only the owner of the server reads
//!
//! Its secret goes to no log and to no stream that becomes one, as stdout does in a container. The file lies in
//! the data directory, whatever the store; a file that is there already is never written over.

use std::fs::File;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use secrecy::ExposeSecret as _;
use semel_runtime::{Failure, NewKey, first_admin_key};

use crate::config::Config;

/// More than anybody leaves behind by starting anew.
const FILES_MAX: u32 = 1_000;

/// What became of the key that a store without applications needs.
#[derive(Debug)]
pub enum FirstKey {
    /// In this file, as variables to copy.
    In(PathBuf),
    /// No file could be made, so no key was.
    NotWritten { directory: PathBuf, error: io::Error },
}

/// Why there is no key.
enum Unmade {
    File(io::Error),
    Store(Failure),
}

impl From<Failure> for Unmade {
    fn from(failure: Failure) -> Self {
        Self::Store(failure)
    }
}

/// None: there are applications already.
pub(crate) fn make(
    config: &Config,
    store: &dyn semel_store::Store,
) -> Result<Option<FirstKey>, Failure> {
    let write = |key: &NewKey| write(&config.data, key).map_err(Unmade::File);
    match first_admin_key(store, write) {
        Ok(path) => Ok(path.map(FirstKey::In)),
        Err(Unmade::Store(failure)) => Err(failure),
        Err(Unmade::File(error)) => {
            Ok(Some(FirstKey::NotWritten { directory: config.data.clone(), error }))
        }
    }
}

/// Durable when it returns.
fn write(directory: &Path, key: &NewKey) -> io::Result<PathBuf> {
    if !directory.is_dir() {
        semel_store_sqlite::make_directory(directory)?;
    }
    let directory = std::path::absolute(directory)?;
    let (path, mut file) = make_file(&directory)?;
    writeln!(file, "SEMEL_AUTH_KEY={}", key.id)?;
    writeln!(file, "SEMEL_AUTH_SECRET={}", key.secret.expose_secret())?;
    file.sync_all()?;
    if cfg!(unix) {
        File::open(&directory)?.sync_all()?;
    }
    Ok(path)
}

/// `admin.key`, or the first name that is free.
fn make_file(directory: &Path) -> io::Result<(PathBuf, File)> {
    let mut options = File::options();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    for number in 1..=FILES_MAX {
        let name = if number == 1 { "admin.key".to_owned() } else { format!("admin.{number}.key") };
        let path = directory.join(name);
        match options.open(&path) {
            Ok(file) => return Ok((path, file)),
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            Err(error) => return Err(error),
        }
    }
    Err(io::Error::other("there are too many files of former first keys; remove them"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_is_written_over_and_only_the_owner_reads() {
        let parent = tempfile::tempdir().unwrap();
        let directory = parent.path().join("data");
        let key = |id: &str| NewKey { id: id.to_owned(), secret: format!("of {id}").into() };
        let paths = ["a", "b"].map(|id| write(&directory, &key(id)).unwrap());
        assert_eq!(paths, ["admin.key", "admin.2.key"].map(|name| directory.join(name)));
        let text = std::fs::read_to_string(&paths[0]).unwrap();
        assert_eq!(text, "SEMEL_AUTH_KEY=a\nSEMEL_AUTH_SECRET=of a\n");
        assert_eq!(semel_store_sqlite::shared(&directory).unwrap(), []);
    }
}
