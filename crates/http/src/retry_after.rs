//! # Retry-After: how long the other side asks us to wait
//!
//! Seconds, or a moment. A moment is compared with the `Date` of the same answer, if it has one: what
//! counts is the other side's clock.

use jiff::Timestamp;
use jiff::fmt::rfc2822;

/// Whole seconds from now on; a moment that has passed is none at all.
pub(crate) fn seconds(said: &str, date: Option<&str>) -> Option<u64> {
    let said = said.trim();
    if let Ok(seconds) = said.parse() {
        return Some(seconds);
    }
    let until = moment(said)?;
    let now = date.and_then(moment).unwrap_or_else(Timestamp::now);
    let ms = until.as_millisecond().saturating_sub(now.as_millisecond());
    u64::try_from(ms).map(|ms| ms.div_ceil(1000)).ok().or(Some(0))
}

fn moment(text: &str) -> Option<Timestamp> {
    let parser = rfc2822::DateTimeParser::new().relaxed_weekday(true);
    parser.parse_timestamp(text.trim()).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn seconds_and_moments_are_understood() {
        assert_eq!(seconds(" 120 ", None), Some(120));
        assert_eq!(seconds("0", None), Some(0));
        let date = Some("Sun, 06 Nov 1994 08:49:37 GMT");
        assert_eq!(seconds("Sun, 06 Nov 1994 08:50:07 GMT", date), Some(30));
        assert_eq!(seconds("Sun, 06 Nov 1994 08:49:00 GMT", date), Some(0));
        assert!(seconds("Fri, 31 Dec 2199 23:59:59 GMT", None).is_some_and(|all| all > 1_000_000));
        for wrong in ["", "soon", "-1", "1.5", "99999999999999999999999"] {
            assert_eq!(seconds(wrong, None), None, "{wrong}");
        }
    }
}
