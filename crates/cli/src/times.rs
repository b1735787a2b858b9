//! # Times: moments and spans as people read them

use std::time::{SystemTime, UNIX_EPOCH};

use semel_model::Timestamp;

pub(crate) fn now() -> Timestamp {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    Timestamp::from_ms(i64::try_from(since.as_millis()).unwrap_or(i64::MAX))
}

/// `2026-11-16T03:58:22Z`; empty if it has not come.
pub(crate) fn moment(at: Timestamp) -> String {
    if !at.is_set() {
        return String::new();
    }
    match jiff::Timestamp::from_second(at.ms().div_euclid(1000)) {
        Ok(moment) => moment.to_string(),
        Err(_) => format!("{} ms", at.ms()),
    }
}

/// The two largest units: `3d 4h`, `2m 5s`, `12s`; below a second `340ms`.
pub(crate) fn span(ms: i64) -> String {
    let ms = ms.max(0);
    if ms < 1000 {
        return format!("{ms}ms");
    }
    let seconds = ms / 1000;
    let units = [(86_400, "d"), (3_600, "h"), (60, "m"), (1, "s")];
    let (at, _) = units
        .iter()
        .enumerate()
        .find(|(_, (length, _))| seconds >= *length)
        .unwrap_or((3, &units[3]));
    let (length, unit) = units[at];
    let mut text = format!("{}{unit}", seconds / length);
    if let Some((smaller, unit)) = units.get(at + 1) {
        let rest = seconds % length / smaller;
        if rest > 0 {
            text.push_str(&format!(" {rest}{unit}"));
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_span_shows_its_two_largest_units() {
        for (ms, text) in [
            (-5, "0ms"),
            (340, "340ms"),
            (12_900, "12s"),
            (125_000, "2m 5s"),
            (3_600_000, "1h"),
            (3_660_000, "1h 1m"),
            (273_600_000, "3d 4h"),
        ] {
            assert_eq!(span(ms), text);
        }
    }

    #[test]
    fn a_moment_is_in_utc_to_the_second() {
        assert_eq!(moment(Timestamp::from_ms(1_794_769_871_768)), "2026-11-15T19:11:11Z");
        assert_eq!(moment(Timestamp::NOT_YET), "");
    }
}
