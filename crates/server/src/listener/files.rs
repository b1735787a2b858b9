//! # Files: how many this process may have open
//!
//! Every connection is one. Systems start processes with a low limit that these may raise themselves.

/// What is left for the store, scripts and the requests of HTTP tasks.
const FOR_OTHERS: u64 = 512;
/// Where the system has no limit worth the name.
#[cfg(unix)]
const ENOUGH: u64 = 1 << 20;

/// Raises the limit as far as it may be; what it is then. None: nobody knows.
#[cfg(unix)]
pub(super) fn raise_limit() -> Option<u64> {
    use rustix::process::{Resource, getrlimit, setrlimit};
    let mut limit = getrlimit(Resource::Nofile);
    let wanted = limit.maximum.map_or(ENOUGH, |hard| hard.min(ENOUGH));
    let before = limit.current?;
    if before >= wanted {
        return Some(before);
    }
    limit.current = Some(wanted);
    match setrlimit(Resource::Nofile, limit) {
        Ok(()) => Some(wanted),
        Err(error) => {
            tracing::warn!(%error, before, wanted, "the limit of open files cannot be raised");
            Some(before)
        }
    }
}

#[cfg(not(unix))]
pub(super) fn raise_limit() -> Option<u64> {
    None
}

/// As many connections as were asked for, or as there is room for.
pub(super) fn connections_max(asked: usize, files: Option<u64>) -> usize {
    let Some(files) = files else { return asked };
    let room = files - FOR_OTHERS.min(files / 2);
    let possible = usize::try_from(room).unwrap_or(usize::MAX).max(1);
    if possible < asked {
        tracing::warn!(
            files,
            possible,
            asked,
            "the limit of open files leaves room for fewer connections"
        );
    }
    asked.min(possible)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn connections_leave_files_for_others() {
        assert_eq!(connections_max(10_000, None), 10_000);
        assert_eq!(connections_max(10_000, Some(1 << 20)), 10_000);
        assert_eq!(connections_max(10_000, Some(1_024)), 512);
        assert_eq!(connections_max(10_000, Some(100)), 50);
    }
}
