//! # The window: how long attempts at a task can go on
//!
//! `W_attempts = D_0 + .. + D_(n-1) + (n+1) * (A + P)`, and no more than `totalTimeoutSeconds + A`
//! where that is set. Delays are the engine's own, caps and the most jitter included. What nothing
//! bounds counts as 0 and is told apart, so the seconds are never too many.

use semel_model::{RetryLogic, TaskDef};

/// From the first scheduling of a task to the last moment its last attempt can act.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Window {
    pub retries: i32,
    /// All delays between attempts.
    pub delays_seconds: i64,
    /// One attempt, from hand-out to timeout; 0 if nothing ends it.
    pub attempt_seconds: i64,
    /// One wait for a worker; 0 if nothing ends it.
    pub queue_seconds: i64,
    /// All of it.
    pub seconds: i64,
}

impl Window {
    /// Of this many retries under this definition.
    pub fn of(policy: &TaskDef, retries: i32) -> Self {
        let retries = retries.max(0);
        let timeout = policy.timeout_seconds.max(0);
        let response = policy.response_timeout_seconds.max(0);
        let attempt_seconds = if timeout > 0 { timeout } else { response };
        let queue_seconds = i64::from(policy.poll_timeout_seconds.unwrap_or(0).max(0));
        let delays_seconds = delays_seconds(policy, retries);
        let each = i128::from(attempt_seconds) + i128::from(queue_seconds);
        let attempts = clamped(i128::from(delays_seconds) + (i128::from(retries) + 1) * each);
        let total = policy.total_timeout_seconds;
        let seconds = match total > 0 {
            true => attempts.min(total.saturating_add(attempt_seconds)),
            false => attempts,
        };
        Self { retries, delays_seconds, attempt_seconds, queue_seconds, seconds }
    }

    /// How the seconds come about.
    pub fn sum(&self) -> String {
        let Self { retries, delays_seconds, attempt_seconds, queue_seconds, seconds } = *self;
        let attempts = i64::from(retries) + 1;
        let queue = if queue_seconds > 0 {
            format!(" + {queue_seconds} s in the queue")
        } else {
            String::new()
        };
        format!(
            "{delays_seconds} s of delays for {retries} retries and {attempts} attempts of \
             {attempt_seconds} s{queue} each, together {}",
            told(seconds)
        )
    }
}

/// `14580 s (4 h 3 min)`.
pub(crate) fn told(seconds: i64) -> String {
    let (days, hours, minutes) = (seconds / 86_400, seconds / 3_600 % 24, seconds / 60 % 60);
    let parts = [(days, "d"), (hours, "h"), (minutes, "min")];
    let parts = parts.iter().filter(|(count, _)| *count > 0);
    let parts: Vec<_> = parts.map(|(count, unit)| format!("{count} {unit}")).collect();
    match parts.is_empty() {
        true => format!("{seconds} s"),
        false => format!("{seconds} s ({})", parts.join(" ")),
    }
}

/// In closed form: a definition may ask for two billion retries.
fn delays_seconds(policy: &TaskDef, retries: i32) -> i64 {
    let count = i128::from(retries);
    let base = i128::from(policy.retry_delay_seconds.max(0));
    let cap = i128::from(policy.max_retry_delay_seconds);
    let most = if cap > 0 { cap } else { i128::from(i32::MAX) };
    let seconds = match policy.retry_logic {
        RetryLogic::Fixed => count * base.min(most),
        RetryLogic::LinearBackoff => {
            let step = base * i128::from(policy.backoff_scale_factor.max(0));
            let growing = if step == 0 { count } else { count.min(most / step) };
            step * growing * (growing + 1) / 2 + (count - growing) * most
        }
        RetryLogic::ExponentialBackoff => {
            let growing = (0..retries.min(31)).map(|attempt| base << attempt);
            let growing: i128 = growing.map(|delay| delay.min(most)).sum();
            growing + (count - 31).max(0) * (base << 31).min(most)
        }
    };
    let jitter_ms = count * i128::from(policy.backoff_jitter_ms.max(0));
    clamped(seconds + (jitter_ms + 999) / 1_000)
}

fn clamped(seconds: i128) -> i64 {
    i64::try_from(seconds).unwrap_or(i64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn exponential(retry_count: i32) -> TaskDef {
        TaskDef { retry_logic: RetryLogic::ExponentialBackoff, retry_count, ..TaskDef::default() }
    }

    #[test]
    fn the_defaults_take_four_hours_and_three_minutes() {
        let window = Window::of(&TaskDef::default(), 3);
        assert_eq!((window.delays_seconds, window.seconds), (180, 180 + 4 * 3600));
        assert_eq!(told(window.seconds), "14580 s (4 h 3 min)");
        assert_eq!(
            window.sum(),
            "180 s of delays for 3 retries and 4 attempts of 3600 s each, together 14580 s (4 h 3 min)"
        );
    }

    #[test]
    fn uncapped_backoff_passes_a_day_at_the_eleventh_retry() {
        let day = 86_400;
        let delays = |retries| Window::of(&exponential(retries), retries).delays_seconds;
        assert_eq!(delays(11) - delays(10), 60 * 1024, "the 11th delay alone is 17 hours");
        assert!(delays(10) < day && delays(11) > day);
        assert!(Window::of(&exponential(24), 24).seconds > day);
    }

    /// One by one, as the engine computes them.
    fn slowly(policy: &TaskDef, retries: i32) -> i128 {
        let delay = |attempt: i32| {
            let base = i128::from(policy.retry_delay_seconds);
            let seconds = match policy.retry_logic {
                RetryLogic::Fixed => base,
                RetryLogic::LinearBackoff => {
                    base * i128::from(policy.backoff_scale_factor) * i128::from(attempt + 1)
                }
                RetryLogic::ExponentialBackoff => base << attempt.min(62),
            };
            let cap = i128::from(policy.max_retry_delay_seconds);
            let most = if cap > 0 { cap } else { i32::MAX.into() };
            seconds.min(most) * 1_000 + i128::from(policy.backoff_jitter_ms)
        };
        ((0..retries).map(delay).sum::<i128>() + 999) / 1_000
    }

    #[test]
    fn the_closed_form_is_the_sum_of_the_delays() {
        for logic in RetryLogic::ALL {
            for (base, scale, cap, jitter) in [
                (60, 1, 0, 0),
                (1, 3, 100, 0),
                (7, 2, 7, 1),
                (0, 1, 0, 500),
                (i32::MAX, i32::MAX, 0, i32::MAX),
                (3, 1, 1, 999),
                (1, 1, i32::MAX, 0),
            ] {
                let policy = TaskDef {
                    retry_logic: *logic,
                    retry_delay_seconds: base,
                    backoff_scale_factor: scale,
                    max_retry_delay_seconds: cap,
                    backoff_jitter_ms: jitter,
                    ..TaskDef::default()
                };
                for retries in [0, 1, 2, 30, 31, 32, 33, 70, 300] {
                    let found = i128::from(Window::of(&policy, retries).delays_seconds);
                    assert_eq!(found, slowly(&policy, retries), "{logic} {base} {retries}");
                }
            }
        }
    }

    #[test]
    fn a_total_timeout_ends_it_and_a_poll_timeout_counts_for_each_attempt() {
        let policy = TaskDef { poll_timeout_seconds: Some(10), ..TaskDef::default() };
        assert_eq!(Window::of(&policy, 3).seconds, 180 + 4 * 3610);
        let policy = TaskDef { total_timeout_seconds: 600, ..policy };
        assert_eq!(Window::of(&policy, 3).seconds, 600 + 3600);
        let policy = TaskDef { timeout_seconds: 4000, ..TaskDef::default() };
        assert_eq!(Window::of(&policy, 0).seconds, 4000, "the timeout, not the response timeout");
    }

    #[test]
    fn the_largest_numbers_do_not_overflow() {
        let policy = TaskDef {
            retry_delay_seconds: i32::MAX,
            backoff_scale_factor: i32::MAX,
            backoff_jitter_ms: i32::MAX,
            timeout_seconds: i64::MAX,
            poll_timeout_seconds: Some(i32::MAX),
            total_timeout_seconds: i64::MAX,
            ..exponential(i32::MAX)
        };
        for logic in RetryLogic::ALL {
            let policy = TaskDef { retry_logic: *logic, ..policy.clone() };
            assert_eq!(Window::of(&policy, i32::MAX).seconds, i64::MAX);
        }
        let negative = TaskDef {
            retry_delay_seconds: -1,
            timeout_seconds: -1,
            response_timeout_seconds: -1,
            poll_timeout_seconds: Some(-1),
            ..TaskDef::default()
        };
        assert_eq!(Window::of(&negative, -1).seconds, 0);
    }
}
