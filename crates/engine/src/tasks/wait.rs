//! # WAIT: until a time has passed, a moment has come, or somebody says so

use jiff::civil::{Date, DateTime};
use jiff::tz::{TimeZone, TimeZoneDatabase};
use semel_model::{Payload, TaskId, TaskStatus, Timestamp};
use serde_json::Value;

use crate::change::Change;
use crate::decide::Stop;
use crate::kinds::Kind;
use crate::turn::Turn;

impl Turn<'_> {
    pub(crate) fn begin_wait(&mut self, task: TaskId) {
        let input = self.execution().expect_task(task).input.value();
        match until(&input, self.now()) {
            Ok(Some(until)) => self.emit(Change::TaskWaits { task, until }),
            Ok(None) => {} // Until somebody reports it.
            Err(reason) => {
                let status = TaskStatus::FailedWithTerminalError;
                self.end_system(task, status, Payload::empty(), Some(reason));
            }
        }
    }

    pub(crate) fn end_wait(&mut self, id: TaskId) -> Result<(), Stop> {
        match self.task(id).filter(|task| !task.status.is_terminal()) {
            Some(task) if task.kind() == Kind::AcquireLock => self.look_at_lock(id)?,
            Some(task) if task.once.is_some() => self.look_at_owner(&task)?,
            Some(_) => self.end_system(id, TaskStatus::Completed, Payload::empty(), None),
            None => {}
        }
        Ok(())
    }
}

/// What Conductor shows of a WAIT that nothing but a person ends.
const FOR_EVER_SECONDS: i64 = i32::MAX as i64;

/// How long a WAIT with that input waits from then on, as `callbackAfterSeconds` tells it.
pub(crate) fn wait_seconds(input: &Payload, since: Timestamp) -> i64 {
    match until(&input.value(), since) {
        Ok(Some(until)) => until.since_ms(since).max(0) / 1_000,
        Ok(None) => FOR_EVER_SECONDS,
        Err(_) => 0,
    }
}

fn until(input: &Value, now: Timestamp) -> Result<Option<Timestamp>, String> {
    match (text(input, "duration"), text(input, "until")) {
        (Some(_), Some(_)) => {
            Err("Both 'duration' and 'until' specified. Please provide only one input".to_owned())
        }
        (Some(duration), None) => match duration_seconds(&duration) {
            Some(seconds) => Ok(Some(now.plus_seconds(seconds))),
            None => Err(format!("Not a duration: {duration}. Write it like '2 days 3h 10m 5s'")),
        },
        (None, Some(until)) => moment(&until)
            .map(Some)
            .ok_or_else(|| format!("Invalid/Unsupported Wait Until format.  Provided: {until}")),
        (None, None) => Ok(None),
    }
}

fn text(input: &Value, name: &str) -> Option<String> {
    let given = input.get(name).filter(|given| !given.is_null())?;
    let found = given.as_str().map_or_else(|| given.to_string(), |text| text.trim().to_owned());
    (!found.is_empty()).then_some(found)
}

/// Days, hours, minutes and seconds, in this order, each at most once, each with its unit.
fn duration_seconds(text: &str) -> Option<i64> {
    const UNITS: [(&[&str], i64); 4] = [
        (&["d", "day", "days"], 86_400),
        (&["h", "hr", "hrs", "hour", "hours"], 3_600),
        (&["m", "min", "mins", "minute", "minutes"], 60),
        (&["s", "sec", "secs", "second", "seconds"], 1),
    ];
    let text = text.to_ascii_lowercase();
    let mut rest = text.trim();
    let mut units = UNITS.iter();
    let mut total: i64 = 0;
    while !rest.is_empty() {
        let digits = rest.find(|c: char| !c.is_ascii_digit())?;
        let count: i64 = rest[..digits].parse().ok()?;
        rest = rest[digits..].trim_start();
        let letters = rest.find(|c: char| !c.is_ascii_lowercase()).unwrap_or(rest.len());
        let unit = &rest[..letters];
        let (_, seconds) = units.find(|(names, _)| names.contains(&unit))?;
        total = total.saturating_add(count.saturating_mul(*seconds));
        rest = rest[letters..].trim_start();
    }
    Some(total)
}

/// `yyyy-MM-dd`, `yyyy-MM-dd HH:mm`, or that with a zone; UTC when none is named.
fn moment(text: &str) -> Option<Timestamp> {
    let mut words = text.splitn(3, ' ');
    let date: Date = words.next()?.parse().ok()?;
    let time = words.next().unwrap_or("00:00");
    let zone = words.next().map_or(Some(TimeZone::UTC), zone)?;
    let (hour, minute) = time.split_once(':')?;
    let time = jiff::civil::Time::new(hour.parse().ok()?, minute.parse().ok()?, 0, 0).ok()?;
    let moment = DateTime::from_parts(date, time).to_zoned(zone).ok()?;
    Some(Timestamp::from_ms(moment.timestamp().as_millisecond()))
}

/// A zone by name, or `GMT+02:00`, `UTC-3`, `+0530`.
fn zone(name: &str) -> Option<TimeZone> {
    let name = name.trim();
    let offset = name.strip_prefix("GMT").or_else(|| name.strip_prefix("UTC")).unwrap_or(name);
    if offset.is_empty() || name == "Z" {
        return Some(TimeZone::UTC);
    }
    let sign = match offset.as_bytes()[0] {
        b'+' => 1,
        b'-' => -1,
        _ => return TimeZoneDatabase::bundled().get(name).ok(),
    };
    let digits: String = offset[1..].chars().filter(|c| *c != ':').collect();
    if !digits.bytes().all(|digit| digit.is_ascii_digit()) {
        return None;
    }
    let (hours, minutes) = match digits.len() {
        1 | 2 => (digits.parse::<i32>().ok()?, 0),
        4 => (digits[..2].parse().ok()?, digits[2..].parse::<i32>().ok()?),
        _ => return None,
    };
    let offset = jiff::tz::Offset::from_seconds(sign * (hours * 3600 + minutes * 60)).ok()?;
    Some(TimeZone::fixed(offset))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_are_read_in_order_and_with_units() {
        assert_eq!(duration_seconds("2 days 3h 10m 5s"), Some(2 * 86_400 + 3 * 3_600 + 605));
        assert_eq!(duration_seconds("1D"), Some(86_400));
        assert_eq!(duration_seconds("10 minutes"), Some(600));
        assert_eq!(duration_seconds("5secs"), Some(5));
        for wrong in ["90", "5m 1h", "1h 1h", "-5s", "s", "5 parsecs", "1.5h"] {
            assert_eq!(duration_seconds(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn moments_are_read_with_and_without_zones() {
        let at = |text| moment(text).map(Timestamp::ms);
        assert_eq!(at("1970-01-02"), Some(86_400_000));
        assert_eq!(at("1970-01-01 00:01"), Some(60_000));
        assert_eq!(at("1970-01-01 02:00 GMT+02:00"), Some(0));
        assert_eq!(at("1970-01-01 02:00 +0200"), Some(0));
        assert_eq!(at("2026-07-01 12:00 Europe/Paris"), at("2026-07-01 10:00 UTC"));
        for wrong in [
            "tomorrow",
            "2026-13-01",
            "2026-01-01 25:00",
            "2026-01-01 10:00 Nowhere/City",
            "2030-01-01 00:00 +aéb",
            "2030-01-01 00:00 +-1",
        ] {
            assert_eq!(at(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn both_forms_at_once_are_refused_and_neither_waits_for_somebody() {
        let now = Timestamp::from_ms(1_000);
        let both = serde_json::json!({"duration": "1s", "until": "2026-01-01"});
        assert!(until(&both, now).is_err());
        assert_eq!(until(&serde_json::json!({"duration": " "}), now), Ok(None));
        assert_eq!(
            until(&serde_json::json!({"duration": "1s"}), now),
            Ok(Some(Timestamp::from_ms(2_000)))
        );
    }
}
