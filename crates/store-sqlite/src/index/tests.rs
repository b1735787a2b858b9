//! # Tests of the index file: its plans, and what becomes of a broken one

use std::path::Path;

use semel_store::conformance::samples::execution;
use semel_store::conformance::search::{run, task_row};
use semel_store::search::{Search, TaskField, WorkflowField};

use super::*;
use crate::index::ask::{counts, select};
use crate::index::plan::{Planned, arms};

fn opened(directory: &Path) -> SqliteIndex {
    let commits = CommitNote::open(directory, LastCommit::default()).unwrap();
    SqliteIndex::open(directory, Arc::new(commits))
}

/// How SQLite would answer, a line each: the counts and the pages of all arms.
fn plan<F: Planned>(query: &str, sort: &str) -> Vec<String> {
    plan_with_words::<F>(query, "*", sort)
}

fn plan_with_words<F: Planned>(query: &str, words: &str, sort: &str) -> Vec<String> {
    let directory = tempfile::tempdir().unwrap();
    let connection = connect(&directory.path().join(FILE)).unwrap();
    let search: Search<F> = Search::parse(query, words, sort).unwrap();
    let arms = arms(&search);
    let pages = arms.iter().map(|arm| select(&search, arm, arms.len() == 1));
    let mut lines = Vec::new();
    for sql in counts(&search, &arms).into_iter().chain(pages) {
        let explain = format!("EXPLAIN QUERY PLAN {}", sql.text);
        let mut statement = connection.prepare(&explain).unwrap();
        let values = rusqlite::params_from_iter(sql.values);
        let steps = statement.query_map(values, |row| row.get::<_, String>(3)).unwrap();
        lines.extend(steps.map(Result::unwrap));
    }
    lines
}

fn is_answered_by<F: Planned>(index: &str, queries: &[&str]) {
    for query in queries {
        let lines = plan::<F>(query, "");
        let searched = format!("INDEX {index} (");
        // Kinds are few: whether SQLite searches them or looks at all is the same.
        let is_count =
            |line: &String| line.contains(" run_counts") || line.contains(" task_counts");
        let is_found = |line: &String| line.starts_with("SEARCH ") && line.contains(&searched);
        let is_searched = |line: &String| is_count(line) || is_found(line);
        assert!(lines.iter().any(is_found) && lines.iter().all(is_searched), "{query}: {lines:#?}");
    }
}

#[test]
fn common_searches_of_runs_go_to_one_index_and_sort_nothing() {
    is_answered_by::<WorkflowField>(
        "runs_by_name",
        &[
            "workflowType IN (wf)",
            "workflowType IN (a,b)",
            "workflowType IN (wf) AND status IN (RUNNING)",
            "workflowType IN (a,b) AND status IN (RUNNING, PAUSED)",
            "workflowType='wf'",
            "workflowType='wf' AND startTime>5 AND startTime<9",
        ],
    );
    is_answered_by::<WorkflowField>(
        "runs_by_id",
        &["workflowId=\"0190c0de-1234-7abc-8def-0123456789ab\""],
    );
    let correlated = ["correlationId='c' AND workflowType='wf'", "correlationId IN (a,b)"];
    is_answered_by::<WorkflowField>("runs_by_correlation", &correlated);
    is_answered_by::<WorkflowField>("runs_by_key", &["idempotencyKey IN (k)"]);
    is_answered_by::<WorkflowField>(
        "runs_by_status",
        &["status IN (RUNNING)", "status IN (FAILED, TIMED_OUT)"],
    );
    is_answered_by::<WorkflowField>(
        "runs_by_start",
        &["startTime>1794769871768 AND startTime<1794769900000"],
    );
    let parent = "parentWorkflowId=0190c0de-1234-7abc-8def-0123456789ab";
    is_answered_by::<WorkflowField>("runs_by_parent", &[parent]);
}

#[test]
fn common_searches_of_tasks_go_to_one_index_and_sort_nothing() {
    is_answered_by::<TaskField>(
        "tasks_by_type",
        &["taskType='t'", "taskType IN (t, u) AND status=FAILED", "taskType=t AND startTime>5"],
    );
    is_answered_by::<TaskField>("tasks_by_status", &["status IN (SCHEDULED, IN_PROGRESS)"]);
    is_answered_by::<TaskField>("tasks_by_start", &["startTime>5 AND startTime<9"]);
    is_answered_by::<TaskField>("tasks_by_id", &["taskId=0190c0de-1234-7abc-8def-0123456789ab"]);
}

/// A count that looks at every row of a kind takes as long as there are rows.
#[test]
fn kinds_are_counted_without_looking_at_their_rows() {
    fn counted<F: Planned>(query: &str) -> String {
        let search: Search<F> = Search::parse(query, "*", "").unwrap();
        counts(&search, &arms(&search)).into_iter().map(|sql| sql.text + ";").collect()
    }
    for query in [
        "",
        "workflowType IN (wf)",
        "workflowType=a*",
        "status IN (COMPLETED)",
        "workflowType IN (a,b) AND status IN (RUNNING) AND parentWorkflowId=''",
        "classifier=workflow",
    ] {
        let sql = counted::<WorkflowField>(query);
        assert!(sql.starts_with("SELECT ifnull(sum(number), 0) FROM run_counts"), "{query}: {sql}");
        assert_eq!(sql.matches(';').count(), 1, "{query}: {sql}");
    }
    for query in
        ["", "taskType=t", "taskDefName=t AND status=FAILED", "status IN (FAILED, TIMED_OUT)"]
    {
        let sql = counted::<TaskField>(query);
        assert!(
            sql.starts_with("SELECT ifnull(sum(number), 0) FROM task_counts"),
            "{query}: {sql}"
        );
    }
    assert!(counted::<WorkflowField>("status=FAILED AND startTime>5").contains("FROM runs"));
    assert!(counted::<TaskField>("status=FAILED AND startTime>5").contains("FROM tasks"));
}

#[test]
fn words_lead_to_rows_whatever_else_is_asked() {
    for query in ["", "workflowType IN (a,b)", "status=RUNNING AND startTime>5", "correlationId=c"]
    {
        let lines = plan_with_words::<WorkflowField>(query, "heliotrope", "");
        let runs: Vec<_> = lines.iter().filter(|line| line.contains(" runs ")).collect();
        let by_number =
            |line: &&String| **line == "SEARCH runs USING INTEGER PRIMARY KEY (rowid=?)";
        assert!(runs.len() == 2 && runs.iter().all(by_number), "{query}: {lines:#?}");
    }
}

#[test]
fn runs_on_top_come_in_order_from_an_index_of_their_own() {
    for query in ["parentWorkflowId=''", "parentWorkflowId='' AND startTime>5 AND startTime<9"] {
        for sort in ["", "startTime:DESC", "startTime:ASC"] {
            let lines = plan::<WorkflowField>(query, sort);
            let searched = "SEARCH runs USING COVERING INDEX runs_on_top (parent=?";
            let rows: Vec<_> = lines.iter().filter(|line| !line.contains("run_counts")).collect();
            assert!(rows.iter().all(|line| line.starts_with(searched)), "{query}: {lines:?}");
            assert!(!rows.is_empty());
        }
    }
    let lines = plan::<WorkflowField>("parentWorkflowId='' AND status=RUNNING", "");
    assert!(lines.last().unwrap().contains("INDEX runs_by_status (status=?)"), "{lines:?}");
}

/// What a search finds by an index may still have to be sorted, but nothing is looked through.
#[test]
fn no_search_by_one_field_scans() {
    let id = "0190c0de-1234-7abc-8def-0123456789ab";
    let by_run = format!("workflowId={id}");
    for query in [
        &*by_run,
        "taskDefName=call",
        "updateTime>5",
        "endTime>5",
        "scheduledTime>5",
        "taskType=a*",
    ] {
        let lines = plan::<TaskField>(query, "");
        assert!(!lines.iter().any(|line| line.starts_with("SCAN tasks")), "{query}: {lines:#?}");
    }
    for query in ["updateTime>5", "endTime>5 AND endTime<9", "workflowType=a*", "workflowId=01*"] {
        let lines = plan::<WorkflowField>(query, "");
        assert!(!lines.iter().any(|line| line.starts_with("SCAN runs")), "{query}: {lines:#?}");
    }
}

#[test]
fn a_page_of_everything_comes_in_order_from_an_index() {
    for (sort, index) in [
        ("", "runs_by_start"),
        ("startTime:DESC", "runs_by_start"),
        ("startTime:ASC", "runs_by_start"),
        ("updateTime:DESC", "runs_by_update"),
        ("workflowId:ASC", "runs_by_id"),
    ] {
        let lines = plan::<WorkflowField>("", sort);
        assert_eq!(
            lines.last().unwrap(),
            &format!("SCAN runs USING COVERING INDEX {index}"),
            "{sort}"
        );
        if index != "runs_by_start" {
            let lines = plan::<WorkflowField>("parentWorkflowId=''", sort);
            let scans = format!("SCAN runs USING INDEX {index}");
            assert!(lines.last().unwrap().starts_with(&scans), "{lines:?}");
        }
    }
}

fn put(index: &SqliteIndex, number: u8) {
    let (runs, tasks) = (vec![run(number)], vec![task_row(number, number)]);
    index.put(&Batch { runs, tasks, ..Batch::default() }).unwrap();
}

fn is_usable_and_has(index: &SqliteIndex, numbers: &[u8]) {
    let has: Vec<_> = index.indexed(None, 99).unwrap().into_iter().map(|(id, _)| id).collect();
    assert_eq!(has, numbers.iter().map(|number| execution(*number)).collect::<Vec<_>>());
    put(index, 200);
    let hits = index.workflows(&WorkflowSearch::default()).unwrap();
    assert_eq!(hits.total, numbers.len() + 1);
}

fn filled(directory: &Path) {
    let index = opened(directory);
    (1..100).for_each(|number| put(&index, number));
}

#[test]
fn an_index_is_kept_from_one_process_to_the_next() {
    let directory = tempfile::tempdir().unwrap();
    filled(directory.path());
    is_usable_and_has(&opened(directory.path()), &(1..100).collect::<Vec<_>>());
}

#[test]
fn what_a_killed_process_leaves_is_usable() {
    let (directory, left) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let index = opened(directory.path());
    put(&index, 1);
    for name in [FILE.to_owned(), format!("{FILE}-wal")] {
        std::fs::copy(directory.path().join(&name), left.path().join(&name)).unwrap();
    }
    is_usable_and_has(&opened(left.path()), &[1]);
}

#[test]
fn a_file_that_is_no_index_is_made_anew() {
    let broken: [fn(&Path); 6] = [
        |file| std::fs::remove_file(file).unwrap(),
        |file| {
            std::fs::write(file, "no database, but more than its header would be".repeat(99))
                .unwrap()
        },
        |file| std::fs::write(file, "").unwrap(),
        |file| std::fs::File::options().write(true).open(file).unwrap().set_len(50).unwrap(),
        |file| {
            let connection = Connection::open(file).unwrap();
            connection.pragma_update(None, "user_version", 7).unwrap();
        },
        // Open while the machine went down.
        |file| {
            let connection = Connection::open(file).unwrap();
            connection.execute("UPDATE meta SET opened_in = 'another boot'", []).unwrap();
        },
    ];
    for (at, broken) in broken.into_iter().enumerate() {
        let directory = tempfile::tempdir().unwrap();
        filled(directory.path());
        broken(&directory.path().join(FILE));
        let index = opened(directory.path());
        assert_eq!(index.indexed(None, 99).unwrap(), [], "{at}");
        is_usable_and_has(&index, &[]);
    }
}

#[test]
fn damage_that_is_met_later_is_told_and_mended_by_a_reset() {
    let directory = tempfile::tempdir().unwrap();
    filled(directory.path());
    let file = std::fs::File::options().write(true).open(directory.path().join(FILE)).unwrap();
    file.set_len(u64::try_from(PAGE_BYTES).unwrap() * 2).unwrap();
    let index = opened(directory.path());
    if !index.indexed(None, 1).is_ok_and(|found| found.is_empty()) {
        let told =
            index.indexed(None, 99).and_then(|_| index.workflows(&WorkflowSearch::default()));
        assert!(matches!(told, Err(StoreError::Corrupt(_))), "{told:?}");
    }
    index.reset().unwrap();
    is_usable_and_has(&index, &[]);
}

#[test]
fn a_store_opens_even_where_no_index_can_be_made() {
    let directory = tempfile::tempdir().unwrap();
    std::fs::create_dir(directory.path().join(FILE)).unwrap();
    let index = opened(directory.path());
    let told = index.workflows(&WorkflowSearch::default());
    assert!(matches!(told, Err(StoreError::Corrupt(_))), "{told:?}");
    std::fs::remove_dir(directory.path().join(FILE)).unwrap();
    index.reset().unwrap();
    is_usable_and_has(&index, &[]);
}
