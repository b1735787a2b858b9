//! # Report: figures with their units in their names
//!
//! Collects named figures in order and prints them as lines or as one JSON object.
//! **May not:** judge a figure; times are reported and never asserted.

use std::time::Duration;

use serde_json::{Map, Number, Value};

use crate::process::Spent;
use crate::workload::{Window, per};

#[derive(Default)]
pub(crate) struct Report {
    figures: Vec<(String, Value)>,
    problems: Vec<String>,
}

/// One row of a table; its first column says what it is about.
#[derive(Default)]
pub(crate) struct Row(Map<String, Value>);

impl Row {
    pub(crate) fn text(&mut self, name: &str, value: &str) {
        self.0.insert(name.to_owned(), Value::from(value));
    }

    pub(crate) fn count(&mut self, name: &str, value: u64) {
        self.0.insert(name.to_owned(), Value::from(value));
    }

    pub(crate) fn figure(&mut self, name: &str, value: f64) {
        self.0.insert(name.to_owned(), rounded(value));
    }
}

impl Report {
    pub(crate) fn text(&mut self, name: &str, value: &str) {
        self.figures.push((name.to_owned(), Value::from(value)));
    }

    pub(crate) fn count(&mut self, name: &str, value: u64) {
        self.figures.push((name.to_owned(), Value::from(value)));
    }

    pub(crate) fn figure(&mut self, name: &str, value: f64) {
        self.figures.push((name.to_owned(), rounded(value)));
    }

    /// The probe in the directory of the run, taken just before it.
    pub(crate) fn fdatasync(&mut self, durations: Vec<Duration>) {
        let sorted = sorted(durations);
        self.figure("fdatasync_p50_us", micros(percentile(&sorted, 50.0)));
        self.figure("fdatasync_p99_us", micros(percentile(&sorted, 99.0)));
    }

    /// The figures of one measured run that every command prints; `prefix` tells windows apart.
    pub(crate) fn window(&mut self, prefix: &str, window: &Window) {
        let counts = &window.counts;
        self.figure(&format!("{prefix}elapsed_s"), window.elapsed_s());
        self.count(&format!("{prefix}workflows_count"), window.started.workflows);
        self.count(&format!("{prefix}tasks_count"), counts.tasks);
        self.figure(&format!("{prefix}workflows_per_s"), window.workflows_per_s());
        self.figure(&format!("{prefix}tasks_per_s"), window.tasks_per_s());
        let latencies = sorted(window.started.latencies.clone());
        for (name, share) in [("p50", 50.0), ("p99", 99.0), ("max", 100.0)] {
            let latency_ms = millis(percentile(&latencies, share));
            self.figure(&format!("{prefix}start_to_complete_{name}_ms"), latency_ms);
        }
        let server_us = window.server_cpu_us_per_task();
        self.figure(&format!("{prefix}server_cpu_us_per_task"), server_us);
        let generator_us = window.generator_cpu_us_per_task();
        self.figure(&format!("{prefix}generator_cpu_us_per_task"), generator_us);
        self.busy(prefix, &window.spent);
        let requests = per(counts.requests as f64, counts.tasks);
        self.figure(&format!("{prefix}requests_per_task"), requests);
        self.count(&format!("{prefix}polls_count"), counts.polls);
        self.count(&format!("{prefix}polls_empty_count"), counts.polls_empty);
        let handed = per(counts.tasks_handed_by_update as f64, counts.tasks);
        self.figure(&format!("{prefix}tasks_handed_by_update_share"), handed);
        self.count(&format!("{prefix}answers_refused_count"), counts.answers_refused);
        self.count(&format!("{prefix}connections_broken_count"), counts.connections_broken);
        self.count(&format!("{prefix}answers_throttled_count"), counts.answers_throttled);
        if window.started.workflows == 0 {
            self.problems.push(format!("{prefix}workflows_count is 0"));
        }
        self.check(prefix, window);
    }

    /// How busy everyone was meanwhile.
    pub(crate) fn busy(&mut self, prefix: &str, spent: &Spent) {
        self.figure(&format!("{prefix}server_busy_cores"), spent.cores(spent.server));
        self.figure(&format!("{prefix}generator_busy_cores"), spent.cores(spent.generator));
        self.figure(&format!("{prefix}others_busy_cores"), spent.cores(spent.others));
    }

    /// Rows that have the same figures each.
    pub(crate) fn table(&mut self, name: &str, rows: Vec<Row>) {
        let rows = rows.into_iter().map(|row| Value::Object(row.0)).collect();
        self.figures.push((name.to_owned(), Value::Array(rows)));
    }

    /// Whether a figure is below what was promised of it. Said and not asserted.
    pub(crate) fn bar(&mut self, name: &str, value: f64, below: f64) {
        let verdict = if value < below { "met" } else { "missed" };
        self.text(&format!("{name}_below_{below}"), verdict);
    }

    /// What a probe felt before and during something, and whether its worst stayed below so many
    /// times what it was.
    pub(crate) fn probes(
        &mut self,
        prefix: &str,
        before: &[Duration],
        during: &[Duration],
        below: f64,
    ) {
        for (name, times) in [("idle", before), ("during", during)] {
            self.count(&format!("{prefix}_{name}_count"), times.len() as u64);
            let p99 = millis(percentile(times, 99.0));
            self.figure(&format!("{prefix}_{name}_p99_ms"), p99);
        }
        let p99 = |times| percentile(times, 99.0).unwrap_or_default().as_secs_f64();
        let ratio = p99(during) / p99(before);
        self.figure(&format!("{prefix}_during_to_idle_p99_ratio"), ratio);
        self.bar(&format!("{prefix}_during_to_idle_p99_ratio"), ratio, below);
    }

    /// What makes the figures worthless: executions that did not complete.
    pub(crate) fn check(&mut self, prefix: &str, window: &Window) {
        let unfinished = window.started.unfinished;
        self.problems(&format!("{prefix}workflows_unfinished_count"), unfinished);
        let name = format!("{prefix}workflows_not_completed_in_sample_count");
        self.problems(&name, window.not_completed);
    }

    /// The same of one of many windows: said only if there is something to say.
    pub(crate) fn check_quietly(&mut self, window: &Window) {
        if window.started.unfinished + window.not_completed > 0 {
            self.check("", window);
        }
    }

    /// A count that should be zero; if it is not, the command fails after printing.
    pub(crate) fn problems(&mut self, name: &str, count: u64) {
        self.count(name, count);
        if count > 0 {
            self.problems.push(format!("{name} is {count}"));
        }
    }

    /// Prints to stdout; fails, after printing, if executions did not complete.
    pub(crate) fn print(self, as_json: bool) -> anyhow::Result<()> {
        if as_json {
            let object: Map<String, Value> = self.figures.into_iter().collect();
            println!("{}", serde_json::to_string_pretty(&object)?);
        } else {
            for (name, value) in &self.figures {
                match value.as_array() {
                    Some(rows) => print!("{name}\n{}", aligned(rows)),
                    None => println!("{name:<48} {:>16}", shown(value)),
                }
            }
        }
        anyhow::ensure!(self.problems.is_empty(), self.problems.join("; "));
        Ok(())
    }
}

/// Three decimals; what is not a number becomes null.
fn rounded(value: f64) -> Value {
    Number::from_f64((value * 1000.0).round() / 1000.0).map_or(Value::Null, Value::Number)
}

fn shown(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

/// The columns of the first row over the rows: texts to the left, figures to the right.
fn aligned(rows: &[Value]) -> String {
    let columns = rows.first().and_then(Value::as_object).into_iter().flatten();
    let columns: Vec<&String> = columns.map(|(name, _)| name).collect();
    let mut lines = vec![columns.iter().map(|name| (*name).clone()).collect::<Vec<_>>()];
    lines.extend(rows.iter().map(|row| columns.iter().map(|name| shown(&row[*name])).collect()));
    let width = |at: usize| lines.iter().map(|line| line[at].chars().count()).max().unwrap_or(0);
    let widths: Vec<usize> = (0..columns.len()).map(width).collect();
    let mut text = String::new();
    for line in &lines {
        for (at, (cell, width)) in line.iter().zip(&widths).enumerate() {
            text += &match at {
                0 => format!("  {cell:<width$}"),
                _ => format!("  {cell:>width$}"),
            };
        }
        text.push('\n');
    }
    text
}

pub(crate) fn sorted(mut durations: Vec<Duration>) -> Vec<Duration> {
    durations.sort_unstable();
    durations
}

/// The nearest rank: the smallest value with at least `share` per cent at or below it.
pub(crate) fn percentile(sorted: &[Duration], share: f64) -> Option<Duration> {
    let rank = (share / 100.0 * sorted.len() as f64).ceil() as usize;
    sorted.get(rank.max(1) - 1).copied()
}

pub(crate) fn millis(duration: Option<Duration>) -> f64 {
    micros(duration) / 1e3
}

fn micros(duration: Option<Duration>) -> f64 {
    duration.map_or(f64::NAN, |duration| duration.as_secs_f64() * 1e6)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn durations(range: std::ops::RangeInclusive<u64>) -> Vec<Duration> {
        range.map(Duration::from_millis).collect()
    }

    #[test]
    fn percentiles_are_nearest_ranks() {
        let hundred = durations(1..=100);
        assert_eq!(percentile(&hundred, 50.0), Some(Duration::from_millis(50)));
        assert_eq!(percentile(&hundred, 99.0), Some(Duration::from_millis(99)));
        assert_eq!(percentile(&hundred, 100.0), Some(Duration::from_millis(100)));
        assert_eq!(percentile(&durations(7..=7), 99.0), Some(Duration::from_millis(7)));
        assert_eq!(percentile(&[], 50.0), None);
    }

    #[test]
    fn what_is_not_a_number_is_null() {
        let mut report = Report::default();
        report.figure("cpu_us_per_task", per(1.0, 0));
        assert_eq!(report.figures[0].1, Value::Null);
    }

    #[test]
    fn a_table_is_aligned_under_the_names_of_its_columns() {
        let row = |name: &str, hits: u64, p99_ms: f64| {
            let mut row = Row::default();
            row.text("query", name);
            row.count("hits", hits);
            row.figure("p99_ms", p99_ms);
            Value::Object(row.0)
        };
        let text = aligned(&[row("everything", 12345, 0.5), row("one", 1, f64::NAN)]);
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(lines[0], "  query        hits  p99_ms");
        assert_eq!(lines[1], "  everything  12345     0.5");
        assert_eq!(lines[2], "  one             1    null");
    }

    #[test]
    fn a_bar_is_met_only_below_it() {
        let mut report = Report::default();
        report.bar("p99_ms", 99.9, 100.0);
        report.bar("p99_ms", 100.0, 100.0);
        report.bar("p99_ms", f64::NAN, 100.0);
        let verdicts: Vec<_> = report.figures.iter().map(|(_, verdict)| verdict.clone()).collect();
        assert_eq!(verdicts, ["met", "missed", "missed"]);
        assert_eq!(report.figures[0].0, "p99_ms_below_100");
    }
}
