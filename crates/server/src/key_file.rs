//! # The key file: `secrets.key` in the data directory
//!
//! One key per line, the newest first. Made on the first start, readable by its owner only, and
//! replaced as a whole: a crash leaves the file before or the file after, never half of one.

use std::fs::File;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use secrecy::ExposeSecret as _;
use semel_runtime::SecretsKey;

const NAME: &str = "secrets.key";
const UNFINISHED: &str = "secrets.key.new";
const WORDS: &str = "\
# Semel seals secrets with the first key below; the others only open what they sealed.
# Keep a copy of this file in a safe place: without it the stored secrets are lost.
";

#[derive(Debug, thiserror::Error)]
pub enum KeyFileError {
    #[error("{} cannot be used; check who owns it and whether it may be read and written", .path.display())]
    Unusable { path: PathBuf, source: io::Error },
    #[error(
        "{} line {line} is not a key of 32 bytes in base64 or hex; put the file back from a backup",
        .path.display()
    )]
    Malformed { path: PathBuf, line: usize },
}

pub(crate) struct KeyFile {
    path: PathBuf,
}

impl KeyFile {
    pub(crate) fn of(directory: &Path) -> Self {
        Self { path: directory.join(NAME) }
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// No keys: there is no file.
    pub(crate) fn read(&self) -> Result<Vec<SecretsKey>, KeyFileError> {
        let text = match std::fs::read_to_string(&self.path) {
            Ok(text) => text,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
            Err(source) => return Err(self.unusable(source)),
        };
        self.warn_if_others_read();
        let lines = text.lines().enumerate().map(|(at, line)| (at + 1, line.trim()));
        let keys = lines.filter(|(_, line)| !line.is_empty() && !line.starts_with('#'));
        let malformed = |line| KeyFileError::Malformed { path: self.path.clone(), line };
        keys.map(|(at, line)| SecretsKey::read(line).ok_or_else(|| malformed(at))).collect()
    }

    /// Returns when the new content is durable.
    pub(crate) fn write(&self, keys: &[SecretsKey]) -> Result<(), KeyFileError> {
        self.replace(keys).map_err(|source| self.unusable(source))
    }

    pub(crate) fn remove(&self) -> Result<(), KeyFileError> {
        let removed = match std::fs::remove_file(&self.path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
            other => other.and_then(|()| self.sync_directory()),
        };
        removed.map_err(|source| self.unusable(source))
    }

    fn replace(&self, keys: &[SecretsKey]) -> io::Result<()> {
        let unfinished = self.path.with_file_name(UNFINISHED);
        match std::fs::remove_file(&unfinished) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
            Ok(()) | Err(_) => {}
        }
        let mut options = File::options();
        options.write(true).create_new(true);
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        let mut file = options.open(&unfinished)?;
        file.write_all(WORDS.as_bytes())?;
        for key in keys {
            file.write_all(key.text().expose_secret().as_bytes())?;
            file.write_all(b"\n")?;
        }
        file.sync_all()?;
        std::fs::rename(&unfinished, &self.path)?;
        self.sync_directory()
    }

    fn sync_directory(&self) -> io::Result<()> {
        match self.path.parent() {
            Some(directory) if cfg!(unix) => File::open(directory)?.sync_all(),
            _ => Ok(()),
        }
    }

    fn warn_if_others_read(&self) {
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt as _;
            let mode = std::fs::metadata(&self.path).map(|data| data.permissions().mode());
            if mode.is_ok_and(|mode| mode & 0o077 != 0) {
                let path = self.path.display();
                tracing::warn!(%path, "others may read the key file; run chmod 600 on it");
            }
        }
    }

    fn unusable(&self, source: io::Error) -> KeyFileError {
        KeyFileError::Unusable { path: self.path.clone(), source }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_read_back_in_their_order_and_only_by_their_owner() {
        let directory = tempfile::tempdir().unwrap();
        let file = KeyFile::of(directory.path());
        assert_eq!(file.read().unwrap(), []);
        let keys = [SecretsKey::draw(), SecretsKey::draw()];
        std::fs::write(directory.path().join(UNFINISHED), "left by a crash").unwrap();
        file.write(&keys).unwrap();
        assert_eq!(file.read().unwrap(), keys);
        assert!(!directory.path().join(UNFINISHED).exists());
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt as _;
            let mode = std::fs::metadata(file.path()).unwrap().permissions().mode();
            assert_eq!(mode & 0o777, 0o600);
        }
        file.remove().unwrap();
        file.remove().unwrap();
        assert_eq!(file.read().unwrap(), []);
    }

    #[test]
    fn a_file_that_is_not_keys_is_refused_without_showing_it() {
        let directory = tempfile::tempdir().unwrap();
        let file = KeyFile::of(directory.path());
        std::fs::write(file.path(), format!("{WORDS}hunter22\n")).unwrap();
        let refused = file.read().unwrap_err().to_string();
        assert!(refused.contains("secrets.key line 3 is not a key"), "{refused}");
        assert!(!refused.contains("hunter22"), "{refused}");
    }
}
