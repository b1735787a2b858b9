//! # CPU time: how long another process has been working
//!
//! Unlike the time that passes it does not grow while the machine is busy with something else.

/// Milliseconds of all its threads so far; none where the system does not say, or the process is
/// gone.
#[cfg(target_os = "linux")]
pub(crate) fn spent_ms(process: u32) -> Option<u64> {
    let stat = std::fs::read_to_string(format!("/proc/{process}/stat")).ok()?;
    ticks(&stat).map(|ticks| ticks * 1000 / rustix::param::clock_ticks_per_second())
}

#[cfg(not(target_os = "linux"))]
pub(crate) fn spent_ms(_process: u32) -> Option<u64> {
    None
}

/// User and system time. The name in the second field may contain spaces and parentheses.
#[cfg(target_os = "linux")]
fn ticks(stat: &str) -> Option<u64> {
    let (_, fields) = stat.rsplit_once(')')?;
    let mut fields = fields.split_ascii_whitespace().skip(11);
    let user: u64 = fields.next()?.parse().ok()?;
    let system: u64 = fields.next()?.parse().ok()?;
    Some(user + system)
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;

    #[test]
    fn user_and_system_time_are_found_behind_any_name() {
        let stat = "7 (a) S) R 1 7 7 0 -1 4194560 1 2 3 4 50 6 0 0 20 0 1 0 9 8192 1";
        assert_eq!(ticks(stat), Some(56));
        assert_eq!(ticks("7 (a) R 1"), None);
    }

    #[test]
    fn a_process_that_is_not_there_has_none() {
        assert!(spent_ms(std::process::id()).is_some());
        assert_eq!(spent_ms(u32::MAX), None);
    }
}
