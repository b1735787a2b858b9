//! # Logins: how often a wrong secret may be tried
//!
//! Failures are counted for an address and a key together, for an address, and for a key. Whoever has
//! failed too often is told to wait. A right secret is never held back, because behind a proxy all have
//! one address: nobody can lock others out by failing. **May not:** remember a key or a secret; digests
//! are enough.

use std::collections::HashMap;
use std::collections::hash_map::RandomState;
use std::hash::BuildHasher as _;
use std::net::IpAddr;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// What is remembered at most. More is dropped, oldest first.
const ENTRIES_MAX: usize = 20_000;

/// One address with one key.
const PAIR: Allowance = Allowance { failures: 10, one_back_after: Duration::from_secs(10) };
/// One address with all keys.
const ADDRESS: Allowance = Allowance { failures: 30, one_back_after: Duration::from_secs(2) };
/// One key from all addresses.
const KEY: Allowance = Allowance { failures: 30, one_back_after: Duration::from_secs(2) };

struct Allowance {
    failures: u32,
    one_back_after: Duration,
}

/// Failures so far, of which one is forgotten after each pause.
#[derive(Clone, Copy)]
struct Failures {
    count: u32,
    /// The pause that runs began here.
    since: Instant,
}

impl Failures {
    /// What is left of them, and since when the pause runs that has not ended yet.
    fn at(self, allowance: &Allowance, now: Instant) -> Self {
        let gone = now.duration_since(self.since).as_millis();
        let forgotten = u32::try_from(gone / allowance.one_back_after.as_millis());
        match forgotten {
            Ok(forgotten) if forgotten < self.count => Self {
                count: self.count - forgotten,
                since: self.since + allowance.one_back_after * forgotten,
            },
            _ => Self { count: 0, since: now },
        }
    }
}

#[derive(Default)]
pub(crate) struct Logins {
    failures: Mutex<HashMap<u64, Failures>>,
    digests: RandomState,
}

impl Logins {
    /// Counts a wrong secret; or after how many seconds to come back.
    pub(crate) fn failed(&self, from: Option<IpAddr>, key: &str) -> Result<(), u64> {
        self.failed_at(from, key, Instant::now())
    }

    fn failed_at(&self, from: Option<IpAddr>, key: &str, now: Instant) -> Result<(), u64> {
        let from = from.map(network);
        let counters = [
            (self.digests.hash_one(("pair", from, key)), &PAIR),
            (self.digests.hash_one(("address", from)), &ADDRESS),
            (self.digests.hash_one(("key", key)), &KEY),
        ];
        let mut failures = self.failures.lock().unwrap_or_else(PoisonError::into_inner);
        let none = Failures { count: 0, since: now };
        let counted = counters.map(|(digest, allowance)| {
            let left = failures.get(&digest).map_or(none, |known| known.at(allowance, now));
            (digest, allowance, left)
        });
        let full = counted.iter().find(|(_, allowance, left)| left.count >= allowance.failures);
        if let Some((_, allowance, _)) = full {
            return Err(allowance.one_back_after.as_secs());
        }
        for (digest, _, left) in counted {
            failures.insert(digest, Failures { count: left.count + 1, ..left });
        }
        forget_old(&mut failures);
        Ok(())
    }
}

fn forget_old(failures: &mut HashMap<u64, Failures>) {
    if failures.len() > ENTRIES_MAX {
        let mut times: Vec<_> = failures.values().map(|failures| failures.since).collect();
        let (_, median, _) = times.select_nth_unstable(ENTRIES_MAX / 2);
        let median = *median;
        failures.retain(|_, failures| failures.since > median);
    }
}

/// Who has one address of IPv6 has 2^64 of them.
fn network(address: IpAddr) -> IpAddr {
    match address.to_canonical() {
        IpAddr::V6(address) => {
            let [a, b, c, d, ..] = address.segments();
            IpAddr::from([a, b, c, d, 0, 0, 0, 0])
        }
        address => address,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn from(last: u8) -> Option<IpAddr> {
        Some(IpAddr::from([10, 0, 0, last]))
    }

    #[test]
    fn who_fails_too_often_waits_and_nobody_else() {
        let (logins, now) = (Logins::default(), Instant::now());
        for _ in 0..PAIR.failures {
            assert!(logins.failed_at(from(1), "k", now).is_ok());
        }
        assert_eq!(logins.failed_at(from(1), "k", now).err(), Some(10));
        assert!(logins.failed_at(from(2), "k", now).is_ok(), "from elsewhere");
        assert!(logins.failed_at(from(1), "other", now).is_ok(), "another key");
        let later = now + PAIR.one_back_after;
        assert!(logins.failed_at(from(1), "k", later).is_ok(), "one was forgotten");
        assert!(logins.failed_at(from(1), "k", later).is_err());
    }

    #[test]
    fn failures_are_forgotten_on_a_busy_address_too() {
        let (logins, start) = (Logins::default(), Instant::now());
        // One each 9 seconds, of one key: nine of ten are forgotten.
        for n in 0..60 {
            let now = start + Duration::from_secs(9) * n;
            assert!(logins.failed_at(from(1), "k", now).is_ok(), "{n}");
        }
        let (logins, mut accepted) = (Logins::default(), 0);
        for tenth in 0..1_000 {
            let now = start + Duration::from_millis(100) * tenth;
            accepted += u32::from(logins.failed_at(from(1), &tenth.to_string(), now).is_ok());
        }
        let forgotten = 1 + 100 / 2;
        assert!(
            (ADDRESS.failures + forgotten - 3..=ADDRESS.failures + forgotten).contains(&accepted)
        );
    }

    #[test]
    fn many_keys_from_one_address_wait() {
        let (logins, now) = (Logins::default(), Instant::now());
        for n in 0..ADDRESS.failures {
            assert!(logins.failed_at(from(1), &n.to_string(), now).is_ok());
        }
        assert_eq!(logins.failed_at(from(1), "next", now).err(), Some(2));
        assert!(logins.failed_at(from(2), "next", now).is_ok());
    }

    #[test]
    fn a_key_tried_from_everywhere_waits() {
        let (logins, now) = (Logins::default(), Instant::now());
        for n in 0..KEY.failures {
            assert!(logins.failed_at(from(u8::try_from(n).unwrap()), "k", now).is_ok());
        }
        assert_eq!(logins.failed_at(from(200), "k", now).err(), Some(2));
        assert!(logins.failed_at(from(200), "other", now).is_ok());
    }

    #[test]
    fn what_is_remembered_has_a_bound() {
        let (logins, now) = (Logins::default(), Instant::now());
        for n in 0..ENTRIES_MAX {
            let address = IpAddr::from([10, 1, (n / 256 % 256) as u8, (n % 256) as u8]);
            let at = now + Duration::from_millis(n as u64);
            let _ = logins.failed_at(Some(address), &n.to_string(), at);
        }
        assert!(logins.failures.lock().unwrap().len() <= ENTRIES_MAX);
    }
}
