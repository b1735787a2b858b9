//! # Search by OR, NOT and groups: every store finds the same rows by them

use semel_model::{ExecutionId, TaskStatus, WorkflowStatus};

use super::samples::{BEGIN, execution, place};
use super::search::{put, put_runs, run, task_row, words};
use super::{Desk, Fixture};
use crate::search::{TaskSearch, WorkflowSearch};
use crate::{Batch, Place, RunRow, TaskRow};

fn runs(desk: &Desk<'_>, query: &str, text: &str) -> Vec<ExecutionId> {
    let search = WorkflowSearch::parse(query, text, "workflowId:ASC").expect(query);
    let hits = desk.store().index().workflows(&search).expect("readable");
    assert_eq!(hits.total, hits.page.len(), "{query}");
    hits.page
}

fn tasks(desk: &Desk<'_>, query: &str) -> Vec<Place> {
    let search = TaskSearch::parse(query, "*", "taskId:ASC").expect(query);
    let hits = desk.store().index().tasks(&search).expect("readable");
    assert_eq!(hits.total, hits.page.len(), "{query}");
    hits.page
}

/// Four runs: two of `order`, two of `refund`; the second of each failed and has a key.
fn four_runs(desk: &Desk<'_>) {
    let named = |number: u8, name: &str, key: &str| RunRow {
        name: name.to_owned(),
        idempotency_key: key.to_owned(),
        status: if key.is_empty() { WorkflowStatus::Running } else { WorkflowStatus::Failed },
        priority: i32::from(number),
        ..run(number)
    };
    let all = [named(1, "order", ""), named(2, "order", "k-2")];
    put_runs(desk, all.into_iter().chain([named(3, "refund", ""), named(4, "refund", "k-4")]));
}

fn finds(desk: &Desk<'_>, query: &str, numbers: &[u8]) {
    let expected: Vec<_> = numbers.iter().copied().map(execution).collect();
    assert_eq!(runs(desk, query, "*"), expected, "{query}");
}

pub fn runs_are_found_by_either_clause(fixture: &mut dyn Fixture) {
    let desk = Desk::new(fixture);
    four_runs(&desk);
    finds(&desk, "status=FAILED OR workflowType=order", &[1, 2, 4]);
    finds(&desk, "workflowType=order OR workflowType=refund", &[1, 2, 3, 4]);
    finds(&desk, "workflowType=order AND status=FAILED OR idempotencyKey=k-4", &[2, 4]);
    finds(&desk, "workflowType=refund AND (status=FAILED OR idempotencyKey='')", &[3, 4]);
    finds(&desk, "(workflowType=nobody OR correlationId=nothing)", &[]);
    finds(&desk, "classifier=agent OR workflowId=*", &[1, 2, 3, 4]);
}

pub fn what_must_not_hold_is_left_out(fixture: &mut dyn Fixture) {
    let desk = Desk::new(fixture);
    four_runs(&desk);
    finds(&desk, "status != FAILED", &[1, 3]);
    finds(&desk, "status <> FAILED AND workflowType=order", &[1]);
    finds(&desk, "workflowType NOT IN (order, nobody)", &[3, 4]);
    finds(&desk, "idempotencyKey != ''", &[2, 4]);
    finds(&desk, "NOT workflowType=ord*", &[3, 4]);
    finds(&desk, "NOT (status=FAILED AND workflowType=order)", &[1, 3, 4]);
    finds(&desk, "NOT NOT status=FAILED", &[2, 4]);
    finds(&desk, &format!("workflowId != {}", execution(3)), &[1, 2, 4]);
    finds(&desk, "parentWorkflowId != ''", &[]);
    finds(&desk, "correlationId != 'a\0b'", &[1, 2, 3, 4]);
}

pub fn bounds_may_be_included(fixture: &mut dyn Fixture) {
    let desk = Desk::new(fixture);
    four_runs(&desk);
    let [low, high] = [2, 3].map(|ms| BEGIN.plus_ms(ms).ms());
    finds(&desk, &format!("startTime >= {low} AND startTime <= {high}"), &[2, 3]);
    finds(&desk, "priority >= 4 OR priority <= 1", &[1, 4]);
    finds(&desk, "priority != 2", &[1, 3, 4]);
    finds(&desk, &format!("priority >= {}", i64::MIN), &[1, 2, 3, 4]);
    finds(&desk, &format!("priority <= {}", i64::MAX), &[1, 2, 3, 4]);
    finds(&desk, &format!("priority > {}", i64::MAX), &[]);
}

pub fn tasks_are_found_by_criteria_too(fixture: &mut dyn Fixture) {
    let desk = Desk::new(fixture);
    let other = TaskRow {
        task_type: "HTTP".to_owned(),
        definition_name: "call".to_owned(),
        status: TaskStatus::Failed,
        ..task_row(1, 2)
    };
    let tasks_of_two = vec![task_row(1, 1), other, task_row(2, 3)];
    put(&desk, &Batch { tasks: tasks_of_two, ..Batch::default() });
    assert_eq!(tasks(&desk, "taskDefName != pay"), [place(1, 2)]);
    assert_eq!(tasks(&desk, "taskDefName NOT IN (call)"), [place(1, 1), place(2, 3)]);
    let either = format!("status=FAILED OR workflowId={}", execution(2));
    assert_eq!(tasks(&desk, &either), [place(1, 2), place(2, 3)]);
    assert_eq!(tasks(&desk, &format!("taskType=pay AND NOT ({either})")), [place(1, 1)]);
}

pub fn criteria_and_words_hold_together(fixture: &mut dyn Fixture) {
    let desk = Desk::new(fixture);
    four_runs(&desk);
    let all = (1..5).map(|number| words(number, 1, if number < 3 { "bern" } else { "basel" }));
    put(&desk, &Batch { words: all.collect(), ..Batch::default() });
    assert_eq!(runs(&desk, "status != FAILED", "basel"), [execution(3)]);
    let either = "idempotencyKey=k-2 OR workflowType=refund";
    assert_eq!(runs(&desk, either, "bern"), [execution(2)]);
}
