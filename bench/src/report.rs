//! # Report: figures with their units in their names
//!
//! Collects named figures in order and prints them as lines or as one JSON object.
//! **May not:** judge a figure; times are reported and never asserted.

use std::time::Duration;

use serde_json::{Map, Number, Value};

use crate::workload::{Window, per};

#[derive(Default)]
pub(crate) struct Report {
    figures: Vec<(String, Value)>,
    problems: Vec<String>,
}

impl Report {
    pub(crate) fn text(&mut self, name: &str, value: &str) {
        self.figures.push((name.to_owned(), Value::from(value)));
    }

    pub(crate) fn count(&mut self, name: &str, value: u64) {
        self.figures.push((name.to_owned(), Value::from(value)));
    }

    /// Three decimals; what is not a number becomes null.
    pub(crate) fn figure(&mut self, name: &str, value: f64) {
        let rounded = Number::from_f64((value * 1000.0).round() / 1000.0);
        self.figures.push((name.to_owned(), rounded.map_or(Value::Null, Value::Number)));
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
        let elapsed_s = window.elapsed.as_secs_f64();
        self.figure(&format!("{prefix}elapsed_s"), elapsed_s);
        self.count(&format!("{prefix}workflows_count"), window.started.workflows);
        self.count(&format!("{prefix}tasks_count"), counts.tasks);
        self.figure(&format!("{prefix}workflows_per_s"), window.workflows_per_s());
        self.figure(&format!("{prefix}tasks_per_s"), window.tasks_per_s());
        let latencies = sorted(window.started.latencies.clone());
        for (name, share) in [("p50", 50.0), ("p99", 99.0), ("max", 100.0)] {
            let latency_ms = micros(percentile(&latencies, share)) / 1e3;
            self.figure(&format!("{prefix}start_to_complete_{name}_ms"), latency_ms);
        }
        let server_us = window.server_cpu_us_per_task();
        self.figure(&format!("{prefix}server_cpu_us_per_task"), server_us);
        let generator_us = window.generator_cpu_us_per_task();
        self.figure(&format!("{prefix}generator_cpu_us_per_task"), generator_us);
        let busy_cores = |cpu: Duration| cpu.as_secs_f64() / elapsed_s;
        self.figure(&format!("{prefix}server_busy_cores"), busy_cores(window.server_cpu));
        self.figure(&format!("{prefix}generator_busy_cores"), busy_cores(window.generator_cpu));
        self.figure(&format!("{prefix}others_busy_cores"), busy_cores(window.others_cpu));
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

    /// What makes the figures worthless: executions that did not complete.
    pub(crate) fn check(&mut self, prefix: &str, window: &Window) {
        let unfinished = window.started.unfinished;
        self.problems(&format!("{prefix}workflows_unfinished_count"), unfinished);
        let name = format!("{prefix}workflows_not_completed_in_sample_count");
        self.problems(&name, window.not_completed);
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
                let shown = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
                println!("{name:<48} {shown:>16}");
            }
        }
        anyhow::ensure!(self.problems.is_empty(), self.problems.join("; "));
        Ok(())
    }
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

fn micros(duration: Option<Duration>) -> f64 {
    duration.map_or(f64::NAN, |duration| duration.as_secs_f64() * 1e6)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn millis(range: std::ops::RangeInclusive<u64>) -> Vec<Duration> {
        range.map(Duration::from_millis).collect()
    }

    #[test]
    fn percentiles_are_nearest_ranks() {
        let hundred = millis(1..=100);
        assert_eq!(percentile(&hundred, 50.0), Some(Duration::from_millis(50)));
        assert_eq!(percentile(&hundred, 99.0), Some(Duration::from_millis(99)));
        assert_eq!(percentile(&hundred, 100.0), Some(Duration::from_millis(100)));
        assert_eq!(percentile(&millis(7..=7), 99.0), Some(Duration::from_millis(7)));
        assert_eq!(percentile(&[], 50.0), None);
    }

    #[test]
    fn what_is_not_a_number_is_null() {
        let mut report = Report::default();
        report.figure("cpu_us_per_task", per(1.0, 0));
        assert_eq!(report.figures[0].1, Value::Null);
    }
}
