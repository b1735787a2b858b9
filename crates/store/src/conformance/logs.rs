//! # Logs: lines in the order they were written

use semel_model::Timestamp;

use super::samples::{execution, place};
use super::{Desk, Fixture};
use crate::{LogLine, Writes};

fn line(number: u8, task: u8, text: &str) -> LogLine {
    let created_at = Timestamp::from_ms(i64::from(text.len() as u32));
    LogLine { place: place(number, task), created_at, line: text.to_owned() }
}

fn write(lines: impl IntoIterator<Item = LogLine>) -> Writes {
    Writes { logs: lines.into_iter().collect(), ..Writes::default() }
}

pub fn the_last_lines_of_a_task_are_read_oldest_first(fixture: &mut dyn Fixture) {
    let mut desk = Desk::new(fixture);
    desk.commit(write([line(1, 1, "a"), line(1, 2, "other"), line(1, 1, "bb")]));
    desk.commit(write([line(1, 1, "ccc")]));
    let read = |max| desk.store().logs(place(1, 1), max).expect("readable");
    assert_eq!(read(10), [line(1, 1, "a"), line(1, 1, "bb"), line(1, 1, "ccc")]);
    assert_eq!(read(2), [line(1, 1, "bb"), line(1, 1, "ccc")]);
    assert_eq!(desk.store().logs(place(2, 1), 10).expect("readable"), []);
}

pub fn the_lines_of_a_removed_execution_are_gone(fixture: &mut dyn Fixture) {
    let mut desk = Desk::new(fixture);
    desk.commit(write([line(1, 1, "gone"), line(2, 1, "stays")]));
    desk.commit(Writes { removed: [execution(1)].into(), ..write([line(1, 1, "gone too")]) });
    assert_eq!(desk.store().logs(place(1, 1), 10).expect("readable"), []);
    assert_eq!(desk.store().logs(place(2, 1), 10).expect("readable"), [line(2, 1, "stays")]);
}
