//! # Words: moments and spans as people read them

use semel_model::Timestamp;

/// `2026-11-16T03:58:22Z (2m 5s ago)`.
pub(super) fn past(now: Timestamp, at: Timestamp) -> String {
    if !at.is_set() {
        return "an unknown time".to_owned();
    }
    format!("{} ({} ago)", moment(at), span(now.since_ms(at)))
}

/// `at 2026-11-16T03:58:22Z (in 2m 5s)`.
pub(super) fn future(now: Timestamp, at: Timestamp) -> String {
    match at.since_ms(now) {
        ms if ms > 0 => format!("at {} (in {})", moment(at), span(ms)),
        _ => format!("at {} (now)", moment(at)),
    }
}

/// To the second, in UTC.
pub(super) fn moment(at: Timestamp) -> String {
    match jiff::Timestamp::from_second(at.ms().div_euclid(1000)) {
        Ok(moment) => moment.to_string(),
        Err(_) => format!("{} ms", at.ms()),
    }
}

/// The two largest units: `3d 4h`, `2m 5s`, `12s`; below a second `340ms`.
fn span(ms: i64) -> String {
    let ms = ms.max(0);
    if ms < 1000 {
        return format!("{ms}ms");
    }
    let seconds = ms / 1000;
    let units = [(86_400, "d"), (3_600, "h"), (60, "m"), (1, "s")];
    let at = units.iter().position(|(length, _)| seconds >= *length).unwrap_or(3);
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

/// A list of names; of many the first few.
pub(super) fn list(names: &[String]) -> String {
    const NAMED_MAX: usize = 10;
    let mut text = names.iter().take(NAMED_MAX).cloned().collect::<Vec<_>>().join(", ");
    if names.len() > NAMED_MAX {
        text.push_str(&format!(" and {} more", names.len() - NAMED_MAX));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_span_shows_its_two_largest_units() {
        let spans = [(-5, "0ms"), (340, "340ms"), (12_900, "12s"), (125_000, "2m 5s")];
        for (ms, text) in spans.into_iter().chain([(3_660_000, "1h 1m"), (273_600_000, "3d 4h")]) {
            assert_eq!(span(ms), text);
        }
    }

    #[test]
    fn moments_are_in_utc_and_say_how_far_they_are() {
        let at = Timestamp::from_ms(1_794_769_871_768);
        let later = at.plus_seconds(65);
        assert_eq!(past(later, at), "2026-11-15T19:11:11Z (1m 5s ago)");
        assert_eq!(future(at, later), "at 2026-11-15T19:12:16Z (in 1m 5s)");
        assert_eq!(future(later, at), "at 2026-11-15T19:11:11Z (now)");
        assert_eq!(past(later, Timestamp::NOT_YET), "an unknown time");
    }
}
