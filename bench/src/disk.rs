//! # Disk: what durability costs here, and how much of it was used
//!
//! The probe puts the figures of one machine into proportion: no durable server answers faster than
//! the disk beneath it. **May not:** look inside the server's files.

use std::fs::{self, File};
use std::io::Write;
use std::path::Path;
use std::time::{Duration, Instant};

use anyhow::{Context, Result};

const PROBE_WRITES: usize = 200;
const PROBE_WRITE_BYTES: usize = 4096;

/// The durations of 200 appended 4 KiB writes, each followed by fdatasync.
pub(crate) fn probe_fdatasync(directory: &Path) -> Result<Vec<Duration>> {
    let path = directory.join("fdatasync-probe");
    let mut file = File::create(&path).with_context(|| format!("creating {}", path.display()))?;
    let block = [0x5a_u8; PROBE_WRITE_BYTES];
    let mut durations = Vec::with_capacity(PROBE_WRITES);
    for _ in 0..PROBE_WRITES {
        let begun = Instant::now();
        file.write_all(&block)?;
        file.sync_data()?;
        durations.push(begun.elapsed());
    }
    fs::remove_file(&path)?;
    Ok(durations)
}

/// The sizes of all files beneath a directory, write-ahead logs included.
pub(crate) fn size_bytes(directory: &Path) -> Result<u64> {
    let mut total_bytes = 0;
    let entries = fs::read_dir(directory)
        .with_context(|| format!("reading the size of {}", directory.display()))?;
    for entry in entries {
        let entry = entry?;
        total_bytes += match entry.metadata() {
            Ok(metadata) if metadata.is_dir() => size_bytes(&entry.path())?,
            Ok(metadata) => metadata.len(),
            Err(_) => 0, // A log the server removed between the two looks.
        };
    }
    Ok(total_bytes)
}

/// The sizes of the files in a directory whose names begin so.
pub(crate) fn size_bytes_named(directory: &Path, prefix: &str) -> Result<u64> {
    let mut total_bytes = 0;
    for entry in fs::read_dir(directory)? {
        let entry = entry?;
        if entry.file_name().to_string_lossy().starts_with(prefix) {
            total_bytes += entry.metadata().map_or(0, |metadata| metadata.len());
        }
    }
    Ok(total_bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_size_counts_files_in_nested_directories() {
        let directory = tempfile::tempdir().unwrap();
        fs::create_dir(directory.path().join("nested")).unwrap();
        fs::write(directory.path().join("a"), [0; 10]).unwrap();
        fs::write(directory.path().join("nested/b"), [0; 32]).unwrap();
        assert_eq!(size_bytes(directory.path()).unwrap(), 42);
    }

    #[test]
    fn a_named_size_counts_a_file_and_its_logs() {
        let directory = tempfile::tempdir().unwrap();
        for (name, bytes) in [("index.db", 5), ("index.db-wal", 7), ("other.db", 100)] {
            fs::write(directory.path().join(name), vec![0; bytes]).unwrap();
        }
        assert_eq!(size_bytes_named(directory.path(), "index.db").unwrap(), 12);
    }

    #[test]
    fn the_probe_measures_every_write_and_leaves_nothing_behind() {
        let directory = tempfile::tempdir().unwrap();
        let durations = probe_fdatasync(directory.path()).unwrap();
        assert_eq!(durations.len(), PROBE_WRITES);
        assert_eq!(fs::read_dir(directory.path()).unwrap().count(), 0);
    }
}
