//! # Logins: how often a wrong secret may be tried
//!
//! Failures are counted for an address and a key together, for an address, and for a key. Whoever has
//! failed too often waits. An address that has not failed with a key may always try it once more, and
//! a key that has logged in from an address is not held back by what others do there: behind a proxy all
//! have one address. **May not:** remember a key or a secret; digests are enough.

use std::collections::HashMap;
use std::collections::hash_map::RandomState;
use std::hash::{BuildHasher as _, Hash};
use std::net::IpAddr;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// What is remembered at most. More is dropped, oldest first.
const ENTRIES_MAX: usize = 20_000;

/// One address with one key.
const PAIR: Allowance = Allowance { failures: 10, one_back_after: Duration::from_secs(10) };
/// One address with all keys that have not yet logged in from there.
const ADDRESS: Allowance = Allowance { failures: 30, one_back_after: Duration::from_secs(2) };
/// One key from all addresses that have failed with it.
const KEY: Allowance = Allowance { failures: 30, one_back_after: Duration::from_secs(2) };

struct Allowance {
    failures: u32,
    one_back_after: Duration,
}

/// Failures so far, of which one is forgotten after each pause.
#[derive(Clone, Copy)]
struct Failures {
    count: u32,
    since: Instant,
}

impl Failures {
    fn left(self, allowance: &Allowance, now: Instant) -> u32 {
        let forgotten =
            now.duration_since(self.since).as_millis() / allowance.one_back_after.as_millis();
        self.count.saturating_sub(u32::try_from(forgotten).unwrap_or(u32::MAX))
    }
}

#[derive(Default)]
struct Seen {
    failures: HashMap<u64, Failures>,
    /// Keys that have logged in from an address, and when.
    proven: HashMap<u64, Instant>,
}

#[derive(Default)]
pub(crate) struct Logins {
    seen: Mutex<Seen>,
    digests: RandomState,
}

/// One attempt, which counts as a failure until it is known to be none.
pub(crate) struct Attempt {
    pair: u64,
    address: u64,
    key: u64,
}

impl Logins {
    /// The attempt, or after how many seconds to come back.
    pub(crate) fn begin(&self, from: Option<IpAddr>, key: &str) -> Result<Attempt, u64> {
        self.begin_at(from, key, Instant::now())
    }

    fn begin_at(&self, from: Option<IpAddr>, key: &str, now: Instant) -> Result<Attempt, u64> {
        let from = from.map(network);
        let attempt = Attempt {
            pair: self.digest(("pair", from, key)),
            address: self.digest(("address", from)),
            key: self.digest(("key", key)),
        };
        let mut seen = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
        let pair = left_of(&seen, attempt.pair, &PAIR, now);
        let of_address = left_of(&seen, attempt.address, &ADDRESS, now);
        let of_key = left_of(&seen, attempt.key, &KEY, now);
        let is_proven = seen.proven.contains_key(&attempt.pair);
        let waits = if pair >= PAIR.failures {
            Some(&PAIR)
        } else if !is_proven && of_address >= ADDRESS.failures {
            Some(&ADDRESS)
        } else if pair > 0 && of_key >= KEY.failures {
            Some(&KEY)
        } else {
            None
        };
        if let Some(allowance) = waits {
            return Err(allowance.one_back_after.as_secs());
        }
        for (digest, allowance) in attempt.counters() {
            let count = left_of(&seen, digest, allowance, now) + 1;
            seen.failures.insert(digest, Failures { count, since: now });
        }
        seen.forget_old();
        Ok(attempt)
    }

    /// It was the right secret.
    pub(crate) fn succeeded(&self, attempt: &Attempt) {
        let mut seen = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
        for (digest, _) in attempt.counters() {
            if let Some(failures) = seen.failures.get_mut(&digest) {
                failures.count = failures.count.saturating_sub(1);
            }
        }
        seen.failures.remove(&attempt.pair);
        seen.proven.insert(attempt.pair, Instant::now());
        seen.forget_old();
    }

    fn digest(&self, of: impl Hash) -> u64 {
        self.digests.hash_one(of)
    }
}

fn left_of(seen: &Seen, digest: u64, allowance: &Allowance, now: Instant) -> u32 {
    seen.failures.get(&digest).map_or(0, |failures| failures.left(allowance, now))
}

impl Attempt {
    fn counters(&self) -> [(u64, &'static Allowance); 3] {
        [(self.pair, &PAIR), (self.address, &ADDRESS), (self.key, &KEY)]
    }
}

impl Seen {
    fn forget_old(&mut self) {
        if self.failures.len() > ENTRIES_MAX {
            let mut times: Vec<_> = self.failures.values().map(|failures| failures.since).collect();
            let (_, median, _) = times.select_nth_unstable(ENTRIES_MAX / 2);
            let median = *median;
            self.failures.retain(|_, failures| failures.since > median);
        }
        if self.proven.len() > ENTRIES_MAX {
            let mut times: Vec<_> = self.proven.values().copied().collect();
            let (_, median, _) = times.select_nth_unstable(ENTRIES_MAX / 2);
            let median = *median;
            self.proven.retain(|_, since| *since > median);
        }
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
            assert!(logins.begin_at(from(1), "k", now).is_ok());
        }
        assert_eq!(logins.begin_at(from(1), "k", now).err(), Some(10));
        assert!(logins.begin_at(from(2), "k", now).is_ok(), "from elsewhere");
        assert!(logins.begin_at(from(1), "other", now).is_ok(), "another key");
        let later = now + PAIR.one_back_after;
        assert!(logins.begin_at(from(1), "k", later).is_ok(), "one was forgotten");
        assert!(logins.begin_at(from(1), "k", later).is_err());
    }

    #[test]
    fn a_right_secret_is_no_failure() {
        let (logins, now) = (Logins::default(), Instant::now());
        for _ in 0..100 {
            let attempt = logins.begin_at(from(1), "k", now).ok().unwrap();
            logins.succeeded(&attempt);
        }
    }

    #[test]
    fn many_keys_from_one_address_wait_but_not_the_one_that_is_known_there() {
        let (logins, now) = (Logins::default(), Instant::now());
        logins.succeeded(&logins.begin_at(from(1), "good", now).ok().unwrap());
        for n in 0..ADDRESS.failures {
            assert!(logins.begin_at(from(1), &n.to_string(), now).is_ok());
        }
        assert_eq!(logins.begin_at(from(1), "next", now).err(), Some(2));
        assert!(logins.begin_at(from(1), "good", now).is_ok());
        assert!(logins.begin_at(from(2), "next", now).is_ok());
    }

    #[test]
    fn a_key_tried_from_everywhere_gives_each_address_one_try() {
        let (logins, now) = (Logins::default(), Instant::now());
        for n in 0..KEY.failures {
            assert!(logins.begin_at(from(u8::try_from(n).unwrap()), "k", now).is_ok());
        }
        assert!(logins.begin_at(from(200), "k", now).is_ok(), "its first");
        assert_eq!(logins.begin_at(from(200), "k", now).err(), Some(2));
        assert!(logins.begin_at(from(201), "k", now).is_ok(), "a right one from elsewhere");
    }

    #[test]
    fn what_is_remembered_has_a_bound() {
        let (logins, now) = (Logins::default(), Instant::now());
        for n in 0..ENTRIES_MAX {
            let address = IpAddr::from([10, 1, (n / 256 % 256) as u8, (n % 256) as u8]);
            let at = now + Duration::from_millis(n as u64);
            let _ = logins.begin_at(Some(address), &n.to_string(), at);
        }
        assert!(logins.seen.lock().unwrap().failures.len() <= ENTRIES_MAX);
    }
}
