//! # Numbers: where counters, gauges and histograms are kept
//!
//! One place per process, for the runtime and the door to count into and for `/metrics` to read.
//! What each of them means is said here, once, and in `docs/observability.md`.

use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use metrics::{Unit, counter, describe_counter, describe_gauge, describe_histogram};
use metrics_exporter_prometheus::{BuildError, Matcher, PrometheusBuilder, PrometheusHandle};

/// Samples wait in memory until they are sorted into buckets; this often even if nobody reads them.
const UPKEEP_EVERY: Duration = Duration::from_secs(5);

/// Of what a server does by itself.
const FAST_SECONDS: &[f64] =
    &[0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0];

/// Of what workers and whole runs take. There may be a thousand names, so these are few.
const SLOW_SECONDS: &[f64] = &[0.01, 0.1, 0.5, 1.0, 5.0, 30.0, 60.0, 300.0, 3600.0, 86400.0];

const ITEMS: &[f64] = &[1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0, 128.0, 256.0, 512.0];

enum Kind {
    Counter,
    Gauge,
    Histogram(&'static [f64]),
}

use Kind::{Counter, Gauge, Histogram};

const NUMBERS: &[(&str, Kind, &str)] = &[
    ("workflow_start_success_total", Counter, "Runs begun"),
    (
        "workflow_start_error_total",
        Counter,
        "Starts that failed; conflicting keys are not failures",
    ),
    ("workflow_failure_total", Counter, "Runs that ended otherwise than COMPLETED"),
    ("workflow_execution_seconds", Histogram(SLOW_SECONDS), "Time from start to COMPLETED"),
    ("workflow_running", Gauge, "Runs that have not ended"),
    ("workflow_server_error_total", Counter, "Requests answered 5xx"),
    ("task_poll_total", Counter, "Polls, whether or not there was a task"),
    ("task_poll_count_total", Counter, "Tasks handed out"),
    ("task_queue_wait_seconds", Histogram(SLOW_SECONDS), "Time from ready to handed out"),
    ("task_queue_depth", Gauge, "Tasks that wait for a worker"),
    ("task_in_progress", Gauge, "Tasks in the hands of workers"),
    ("task_execution_seconds", Histogram(SLOW_SECONDS), "Time from first handed out to closed"),
    ("task_timeout_total", Counter, "Tasks that took too long, or were not taken in time"),
    ("task_response_timeout_total", Counter, "Tasks whose worker fell silent"),
    ("http_server_requests_seconds", Histogram(FAST_SECONDS), "Time to answer a request"),
    (
        "semel_door_refusals_total",
        Counter,
        "Requests refused before anybody looked at them, by reason",
    ),
    ("semel_connections_open", Gauge, "Connections of clients"),
    ("semel_connections_ended_total", Counter, "Connections ended by the server, by reason"),
    ("semel_request_bodies_bytes", Gauge, "Request bodies in memory"),
    ("semel_accept_errors_total", Counter, "Connections the system could not give us"),
    ("semel_logins_total", Counter, "Requests for a token by outcome"),
    ("semel_starts_total", Counter, "Starts by outcome"),
    ("semel_idempotency_total", Counter, "Answers under a key by layer and outcome"),
    ("semel_request_keys_total", Counter, "Requests with an Idempotency-Key by outcome"),
    ("semel_effect_calls_total", Counter, "Calls of the effect ledger by outcome"),
    ("semel_lock_calls_total", Counter, "Calls about locks by outcome"),
    ("semel_reports_total", Counter, "Reports of workers by outcome"),
    (
        "semel_stale_reports_total",
        Counter,
        "Reports and lease renewals that did not count, by queue",
    ),
    ("semel_effects_total", Counter, "Effects that are done once, by what was decided"),
    ("semel_runs_not_counted_total", Counter, "Runs that began and that their gate does not count"),
    ("semel_lease_expiries_total", Counter, "Leases that ran out"),
    ("semel_rounds_total", Counter, "Rounds of the lane by outcome"),
    ("semel_round_items", Histogram(ITEMS), "Items in a round"),
    (
        "semel_round_seconds",
        Histogram(FAST_SECONDS),
        "Time of a round, from gathering to answering",
    ),
    ("semel_commit_seconds", Histogram(FAST_SECONDS), "Time to make a round durable"),
    ("semel_misses_total", Counter, "Items decided again because more rows were needed"),
    ("semel_rows_skipped_total", Counter, "Rows a round wanted and another one held"),
    ("semel_rounds_waited_total", Counter, "Rounds that waited for rows which others held"),
    ("semel_store_round_trips_total", Counter, "Times the database was asked and waited for"),
    ("semel_busy_total", Counter, "Requests refused with 429 because the lane was full"),
    ("semel_executions_parked_total", Counter, "Executions parked by a fault"),
    (
        "semel_descendants_refused_total",
        Counter,
        "Runs that steps did not begin, because open_descendants_max of their lineage were open",
    ),
    ("semel_parked_executions", Gauge, "Executions that are parked"),
    ("semel_waits_open", Gauge, "What waits for somebody now, by kind"),
    ("semel_waits_oldest_seconds", Gauge, "How long the oldest of a kind has waited"),
    ("semel_inbox_items", Gauge, "Items that wait for the lane"),
    ("semel_waiting_polls", Gauge, "Polls that wait for a task"),
    ("semel_http_waiting", Gauge, "HTTP tasks that wait for their share of the requests"),
    ("semel_index_complete", Gauge, "1 when everything is in the search index"),
    ("semel_index_commits_behind", Gauge, "Commits the search index has yet to hear of"),
    ("semel_last_commit_age_seconds", Gauge, "Time since something was last written"),
    ("semel_cached_executions", Gauge, "Executions kept in memory, by kind"),
    ("semel_memory_bytes", Gauge, "What is held of the budget of memory, about, by kind"),
    ("semel_memory_budget_bytes", Gauge, "What may be held of it, by kind"),
    ("semel_clock_skew_seconds", Gauge, "How far the store's time is ahead of the machine's clock"),
    ("semel_store_bytes", Gauge, "What the store takes on disk"),
    ("semel_store_trouble", Gauge, "1 while the store refuses writes"),
    ("semel_build_info", Gauge, "1, with the version as a label"),
    ("process_resident_memory_bytes", Gauge, "Memory of the process"),
    ("process_cpu_seconds_total", Gauge, "User and system time of the process"),
    ("process_open_fds", Gauge, "Open files and connections of the process"),
    ("process_threads", Gauge, "Threads of the process"),
];

/// There before anything was counted, so that one that is missing is not taken for none.
const FROM_THE_BEGINNING: [&str; 6] = [
    "semel_accept_errors_total",
    "semel_lease_expiries_total",
    "semel_misses_total",
    "semel_rows_skipped_total",
    "semel_rounds_waited_total",
    "semel_executions_parked_total",
];

/// From now on everything is counted, until the process ends; where there are several nodes, with the
/// name of this one.
pub(crate) fn collect(node: Option<&str>) -> Result<PrometheusHandle, BuildError> {
    static COLLECTED: Mutex<Option<PrometheusHandle>> = Mutex::new(None);
    let mut collected = COLLECTED.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(handle) = &*collected {
        return Ok(handle.clone());
    }
    let mut builder = PrometheusBuilder::new();
    if let Some(node) = node {
        builder = builder.add_global_label("node", node);
    }
    for (name, kind, _) in NUMBERS {
        if let Histogram(buckets) = kind {
            builder = builder.set_buckets_for_metric(Matcher::Full((*name).to_owned()), buckets)?;
        }
    }
    let handle = builder.install_recorder()?;
    describe();
    let upkeep = handle.clone();
    tokio::spawn(async move {
        loop {
            tokio::time::sleep(UPKEEP_EVERY).await;
            upkeep.run_upkeep();
        }
    });
    *collected = Some(handle.clone());
    Ok(handle)
}

fn describe() {
    for (name, kind, about) in NUMBERS {
        match kind {
            Counter => describe_counter!(*name, Unit::Count, *about),
            Gauge => describe_gauge!(*name, *about),
            Histogram(_) => describe_histogram!(*name, *about),
        }
    }
    for name in FROM_THE_BEGINNING {
        counter!(name).increment(0);
    }
    // A rate needs the value before the first.
    for class in ["start", "operation", "poll", "report"] {
        counter!("semel_busy_total", "class" => class).increment(0);
    }
    for reason in ["host", "origin", "connections", "bodies", "stalled"] {
        counter!("semel_door_refusals_total", "reason" => reason).increment(0);
    }
    counter!("semel_reports_total", "outcome" => "stale").increment(0);
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    /// The document people read, and the list the server has.
    #[test]
    fn the_document_has_every_number_and_no_other() {
        let document = include_str!("../../../docs/observability.md");
        let rows = document.lines().filter_map(|line| line.strip_prefix("| `")?.split('`').next());
        let documented: BTreeSet<_> = rows
            .filter(|name| {
                ["workflow_", "task_", "http_", "semel_", "process_"]
                    .iter()
                    .any(|family| name.starts_with(family))
            })
            .collect();
        let ours: BTreeSet<_> = NUMBERS.iter().map(|(name, _, _)| *name).collect();
        assert_eq!(ours, documented);
    }

    #[test]
    fn what_is_there_from_the_beginning_is_a_counter() {
        for name in FROM_THE_BEGINNING {
            let is_it =
                |number: &(&str, Kind, &str)| number.0 == name && matches!(number.1, Counter);
            assert!(NUMBERS.iter().any(is_it), "{name}");
        }
    }
}
