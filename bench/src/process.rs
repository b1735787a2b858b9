//! # Process: what /proc says about a process
//!
//! **May not:** start or stop anything. Linux only; times come in clock ticks of 10 ms, so a window
//! needs some thousand tasks before its CPU figure means something.

use std::fs;
use std::time::{Duration, Instant};

use anyhow::{Context, Result};

/// `USER_HZ`, which Linux keeps at 100 on every architecture we run on.
const TICK_MS: u64 = 10;

/// A process by its directory below /proc.
#[derive(Clone, Copy)]
pub(crate) enum Process {
    Own,
    Child(u32),
    /// With those it has started, ended ones included.
    Family(u32),
}

impl Process {
    /// User and system time of all threads, ended ones included.
    pub(crate) fn cpu(self) -> Result<Duration> {
        if let Self::Family(id) = self {
            return family_cpu(id);
        }
        let stat = self.read("stat")?;
        let ticks = cpu_ticks(&stat).with_context(|| format!("no CPU times in {stat:?}"))?;
        Ok(Duration::from_millis(ticks * TICK_MS))
    }

    /// The largest resident set so far.
    pub(crate) fn memory_peak_bytes(self) -> Result<u64> {
        self.memory("VmHWM:")
    }

    pub(crate) fn memory_resident_bytes(self) -> Result<u64> {
        self.memory("VmRSS:")
    }

    fn memory(self, field: &str) -> Result<u64> {
        let status = self.read("status")?;
        memory_bytes(&status, field).with_context(|| format!("no {field} in /proc status"))
    }

    fn read(self, file: &str) -> Result<String> {
        let path = match self {
            Self::Own => format!("/proc/self/{file}"),
            Self::Child(id) | Self::Family(id) => format!("/proc/{id}/{file}"),
        };
        fs::read_to_string(&path).with_context(|| format!("reading {path}"))
    }
}

/// Of a process, of those it has waited for, and of those that are its children now.
fn family_cpu(id: u32) -> Result<Duration> {
    let stat = Process::Child(id).read("stat")?;
    let waited = times(&stat, 13).with_context(|| format!("no CPU times in {stat:?}"))?;
    let mut sum = Process::Child(id).cpu()? + Duration::from_millis(waited * TICK_MS);
    for entry in fs::read_dir("/proc")?.flatten() {
        let Some(child) = entry.file_name().to_str().and_then(|name| name.parse::<u32>().ok())
        else {
            continue;
        };
        let Ok(stat) = Process::Child(child).read("stat") else { continue }; // It has just ended.
        if parent(&stat) == Some(id) {
            sum += Duration::from_millis(cpu_ticks(&stat).unwrap_or(0) * TICK_MS);
        }
    }
    Ok(sum)
}

/// The CPU times so far; what a window cost is the difference of two.
pub(crate) struct Reading {
    at: Instant,
    server: Duration,
    generator: Duration,
    machine: Duration,
}

/// What was used between two readings.
pub(crate) struct Spent {
    pub(crate) elapsed: Duration,
    pub(crate) server: Duration,
    pub(crate) generator: Duration,
    /// What everyone else on the machine used meanwhile: the noise in the figures.
    pub(crate) others: Duration,
}

impl Reading {
    pub(crate) fn of(server: Process) -> Result<Self> {
        Ok(Self {
            at: Instant::now(),
            server: server.cpu().context("the server is gone")?,
            generator: Process::Own.cpu()?,
            machine: machine_cpu()?,
        })
    }

    pub(crate) fn since(&self, earlier: &Self) -> Spent {
        let server = self.server.saturating_sub(earlier.server);
        let generator = self.generator.saturating_sub(earlier.generator);
        let machine = self.machine.saturating_sub(earlier.machine);
        let others = machine.saturating_sub(server + generator);
        Spent { elapsed: self.at - earlier.at, server, generator, others }
    }
}

impl Spent {
    pub(crate) fn cores(&self, cpu: Duration) -> f64 {
        cpu.as_secs_f64() / self.elapsed.as_secs_f64()
    }
}

/// Busy time of all cores together, time stolen by the host included; waiting for disk is not busy.
fn machine_cpu() -> Result<Duration> {
    let stat = fs::read_to_string("/proc/stat").context("reading /proc/stat")?;
    let ticks = machine_ticks(&stat).context("no CPU times in /proc/stat")?;
    Ok(Duration::from_millis(ticks * TICK_MS))
}

/// user, nice, system, idle, iowait, irq, softirq, steal; guest time is already within user time.
fn machine_ticks(stat: &str) -> Option<u64> {
    let line = stat.lines().find_map(|line| line.strip_prefix("cpu "))?;
    let fields: Vec<u64> =
        line.split_ascii_whitespace().map(str::parse).collect::<Result<_, _>>().ok()?;
    let [user, nice, system, _idle, _iowait, irq, softirq, steal, ..] = fields[..] else {
        return None;
    };
    Some(user + nice + system + irq + softirq + steal)
}

/// Fields 14 and 15, counted after the command name, which may itself hold spaces and brackets.
fn cpu_ticks(stat: &str) -> Option<u64> {
    times(stat, 11)
}

/// The sum of two neighbouring fields, the first of which comes so many after the command name.
fn times(stat: &str, skipped: usize) -> Option<u64> {
    let (_, fields) = stat.rsplit_once(')')?;
    let mut times = fields.split_ascii_whitespace().skip(skipped);
    let user: u64 = times.next()?.parse().ok()?;
    let system: u64 = times.next()?.parse().ok()?;
    Some(user + system)
}

fn parent(stat: &str) -> Option<u32> {
    let (_, fields) = stat.rsplit_once(')')?;
    fields.split_ascii_whitespace().nth(1)?.parse().ok()
}

fn memory_bytes(status: &str, field: &str) -> Option<u64> {
    let line = status.lines().find_map(|line| line.strip_prefix(field))?;
    let kibibytes: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(kibibytes * 1024)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cpu_times_are_found_behind_an_awkward_command_name() {
        let stat = "7 (a ) b) S 1 7 7 0 -1 4194560 900 0 0 0 120 34 5 6 20 0 9 0 1 2 3";
        assert_eq!(cpu_ticks(stat), Some(154));
    }

    #[test]
    fn the_machine_is_busy_when_neither_idle_nor_waiting() {
        let stat = "cpu  100 20 30 9999 8888 4 5 6 0 0\ncpu0 1 2 3 4 5 6 7 8 0 0\n";
        assert_eq!(machine_ticks(stat), Some(165));
    }

    #[test]
    fn memory_is_read_in_bytes() {
        let status = "Name:\tsemel\nVmHWM:\t    2048 kB\nVmRSS:\t    1024 kB\n";
        assert_eq!(memory_bytes(status, "VmHWM:"), Some(2048 * 1024));
        assert_eq!(memory_bytes(status, "VmSwap:"), None);
    }

    #[test]
    fn the_own_process_has_figures() {
        assert!(Process::Own.memory_peak_bytes().unwrap() > 0);
        assert!(Process::Own.cpu().is_ok());
    }
}
