//! # The process: memory, time and files, as the operating system counts them
//!
//! Read from `/proc`; where there is none these numbers are absent.

use metrics::gauge;

/// What Linux counts a process's time in, on every architecture it still runs on.
const TICKS_PER_SECOND: f64 = 100.0;

pub(crate) fn observe() {
    let status = read("status");
    let field = |name: &str| number(status.lines().find_map(|line| line.strip_prefix(name))?);
    if let Some(kib) = field("VmRSS:") {
        gauge!("process_resident_memory_bytes").set(kib * 1024.0);
    }
    if let Some(threads) = field("Threads:") {
        gauge!("process_threads").set(threads);
    }
    if let Some(seconds) = cpu_seconds(&read("stat")) {
        gauge!("process_cpu_seconds_total").set(seconds);
    }
    if let Ok(files) = std::fs::read_dir("/proc/self/fd") {
        gauge!("process_open_fds").set(files.count() as f64);
    }
}

fn read(name: &str) -> String {
    std::fs::read_to_string(format!("/proc/self/{name}")).unwrap_or_default()
}

/// `  1234 kB`
fn number(text: &str) -> Option<f64> {
    text.split_whitespace().next()?.parse().ok()
}

/// The name of the process, in brackets, may hold anything: fields are counted from its end.
fn cpu_seconds(stat: &str) -> Option<f64> {
    let (_, rest) = stat.rsplit_once(')')?;
    let mut fields = rest.split_whitespace().skip(11); // User time, then system time.
    let (user, system) = (number(fields.next()?)?, number(fields.next()?)?);
    Some((user + system) / TICKS_PER_SECOND)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn time_is_read_whatever_the_process_is_called() {
        let rest = "S 1 1 1 0 -1 4194304 100 0 0 0 250 50 0 0 20 0 4 0 1000 1 1";
        for name in ["semel", "a) b (c", ") 1 2 3 4"] {
            assert_eq!(cpu_seconds(&format!("7 ({name}) {rest}")), Some(3.0));
        }
        assert_eq!(cpu_seconds(""), None);
    }
}
