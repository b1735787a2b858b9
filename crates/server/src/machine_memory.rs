//! # Memory of the machine: how much there is for this process
//!
//! What the kernel says, or less where a control group (a container, a unit of systemd) sets a limit.

use std::path::Path;

use semel_runtime::Budget;

use crate::config::Config;

/// The share of the machine's memory that is planned with when nobody says how much: a quarter. The rest
/// is for what is not counted, for the cache of the file system, and for a database beside it.
const SHARE: u64 = 4;

/// With less than this a server does not work well.
pub(crate) const BYTES_MIN: u64 = 64 << 20;

/// What was configured, or a share of what the machine has. None is known: the budget's own default.
pub(crate) fn budget(config: &Config) -> Budget {
    match config.memory_max {
        0 => bytes_of(Path::new("/"))
            .map_or_else(Budget::default, |bytes| Budget::of((bytes / SHARE).max(BYTES_MIN))),
        bytes => Budget::of(bytes),
    }
}

/// `root` is where `/proc` and `/sys` are.
fn bytes_of(root: &Path) -> Option<u64> {
    let machine = of_machine(&std::fs::read_to_string(root.join("proc/meminfo")).ok()?)?;
    let groups = std::fs::read_to_string(root.join("proc/self/cgroup")).unwrap_or_default();
    let limits = groups.lines().flat_map(|line| limits_of(root, line));
    Some(limits.fold(machine, u64::min))
}

fn of_machine(meminfo: &str) -> Option<u64> {
    let line = meminfo.lines().find_map(|line| line.strip_prefix("MemTotal:"))?;
    let kib: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    kib.checked_mul(1024)
}

/// The limits of a group and of those around it. A line is `ID:CONTROLLERS:PATH`; the second version has
/// no controllers. A container may see its own group as the outermost one, so that is looked at too.
fn limits_of(root: &Path, line: &str) -> Vec<u64> {
    let mut fields = line.splitn(3, ':').skip(1);
    let (Some(controllers), Some(path)) = (fields.next(), fields.next()) else { return Vec::new() };
    let (base, file) = match controllers {
        "" => ("sys/fs/cgroup", "memory.max"),
        known if known.split(',').any(|it| it == "memory") => {
            ("sys/fs/cgroup/memory", "memory.limit_in_bytes")
        }
        _ => return Vec::new(),
    };
    let groups = Path::new(path.trim_start_matches('/')).ancestors();
    // `max` is no number, and no limit.
    let limit = |group: &Path| {
        std::fs::read_to_string(root.join(base).join(group).join(file)).ok()?.trim().parse().ok()
    };
    groups.filter_map(limit).collect()
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    fn machine(files: &[(&str, &str)]) -> tempfile::TempDir {
        let root = tempfile::tempdir().unwrap();
        for (path, text) in files {
            let path = root.path().join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
        root
    }

    const MEMINFO: (&str, &str) = ("proc/meminfo", "MemTotal:       4000 kB\nMemFree: 1 kB\n");

    #[test]
    fn without_a_limit_it_is_the_memory_of_the_machine() {
        assert_eq!(bytes_of(machine(&[MEMINFO]).path()), Some(4_096_000));
        let unlimited = machine(&[
            MEMINFO,
            ("proc/self/cgroup", "0::/a/b\n"),
            ("sys/fs/cgroup/a/b/memory.max", "max\n"),
        ]);
        assert_eq!(bytes_of(unlimited.path()), Some(4_096_000));
        assert_eq!(bytes_of(machine(&[]).path()), None);
    }

    #[test]
    fn the_narrowest_group_counts_of_either_version() {
        let second = machine(&[
            MEMINFO,
            ("proc/self/cgroup", "0::/a/b\n"),
            ("sys/fs/cgroup/a/memory.max", "1000000\n"),
            ("sys/fs/cgroup/a/b/memory.max", "2000000\n"),
        ]);
        assert_eq!(bytes_of(second.path()), Some(1_000_000));
        let container = machine(&[
            MEMINFO,
            ("proc/self/cgroup", "0::/\n"),
            ("sys/fs/cgroup/memory.max", "7\n"),
        ]);
        assert_eq!(bytes_of(container.path()), Some(7));
        let first = machine(&[
            MEMINFO,
            ("proc/self/cgroup", "3:cpu:/a\n5:memory,x:/b\n"),
            ("sys/fs/cgroup/memory/b/memory.limit_in_bytes", "3000000\n"),
        ]);
        assert_eq!(bytes_of(first.path()), Some(3_000_000));
    }
}
