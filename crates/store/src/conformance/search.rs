//! # Search: rows of the index are found by what is asked, in order

use semel_model::{ExecutionId, TaskStatus, Timestamp, WorkflowStatus};

use super::samples::{BEGIN, UNICODE, execution, place, task};
use super::{Desk, Fixture};
use crate::search::{TaskSearch, WorkflowSearch};
use crate::{Batch, HandedOver, Place, RunRow, Stretch, TaskRow, Words};

pub(super) const ALL: usize = usize::MAX;

/// Later the higher its number, and with nothing set that may be unset.
pub fn run(number: u8) -> RunRow {
    let at = BEGIN.plus_ms(i64::from(number));
    RunRow {
        id: execution(number),
        seq: 1,
        brings: vec![Stretch { after: 0, to: 1 }],
        name: "order".to_owned(),
        version: 1,
        status: WorkflowStatus::Running,
        correlation_id: String::new(),
        idempotency_key: String::new(),
        parent: None,
        priority: 0,
        started_at: at,
        updated_at: at,
        ended_at: Timestamp::NOT_YET,
        has_new_words: true,
    }
}

pub fn task_row(of_execution: u8, of_task: u8) -> TaskRow {
    let at = BEGIN.plus_ms(i64::from(of_task));
    TaskRow {
        place: place(of_execution, of_task),
        seq: 1,
        workflow_name: "order".to_owned(),
        task_type: "pay".to_owned(),
        definition_name: "pay".to_owned(),
        reference: "pay_ref".to_owned(),
        status: TaskStatus::Scheduled,
        scheduled_at: at,
        started_at: at,
        updated_at: at,
        ended_at: Timestamp::NOT_YET,
        words: String::new(),
    }
}

pub(super) fn words(of_execution: u8, seq: u64, text: &str) -> Words {
    Words { of: execution(of_execution), seq, text: text.to_owned() }
}

pub(super) fn put(desk: &Desk<'_>, batch: &Batch) {
    desk.store().index().put(batch).expect("writable");
}

pub(super) fn put_runs(desk: &Desk<'_>, runs: impl IntoIterator<Item = RunRow>) {
    put(desk, &Batch { runs: runs.into_iter().collect(), ..Batch::default() });
}

fn put_tasks(desk: &Desk<'_>, tasks: impl IntoIterator<Item = TaskRow>) {
    put(desk, &Batch { tasks: tasks.into_iter().collect(), ..Batch::default() });
}

fn runs(desk: &Desk<'_>, query: &str) -> Vec<ExecutionId> {
    let search = WorkflowSearch::parse(query, "*", "").expect("a query");
    let hits = desk.store().index().workflows(&search).expect("readable");
    assert_eq!(hits.total, hits.page.len(), "{query}");
    hits.page
}

fn tasks(desk: &Desk<'_>, query: &str) -> Vec<Place> {
    let search = TaskSearch::parse(query, "*", "").expect("a query");
    let hits = desk.store().index().tasks(&search).expect("readable");
    assert_eq!(hits.total, hits.page.len(), "{query}");
    hits.page
}

pub(super) fn said(desk: &Desk<'_>, text: &str) -> (Vec<ExecutionId>, Vec<Place>) {
    let search = WorkflowSearch::parse("", text, "").expect("a text");
    let found = desk.store().index().workflows(&search).expect("readable").page;
    let search = TaskSearch::parse("", text, "").expect("a text");
    (found, desk.store().index().tasks(&search).expect("readable").page)
}

pub fn a_run_is_found_by_each_of_its_fields(fixture: &mut dyn Fixture) {
    let desk = Desk::new(fixture);
    let other = RunRow {
        name: UNICODE.to_owned(),
        version: 7,
        status: WorkflowStatus::TimedOut,
        correlation_id: "it's [a] \"c\"?*".to_owned(),
        idempotency_key: "k".to_owned(),
        parent: Some(execution(9)),
        priority: -3,
        ended_at: BEGIN.plus_ms(50),
        updated_at: BEGIN.plus_ms(51),
        ..run(2)
    };
    put_runs(&desk, [run(1), other.clone()]);
    let id = execution(2);
    for query in [
        format!("workflowId='{id}'"),
        format!("workflowId={}*", &id.to_string()[..9]),
        format!("workflowType=\"{}\"", "Ünï*"),
        "version=7".to_owned(),
        "status IN (TIMED_OUT, FAILED)".to_owned(),
        "status = T*D_OUT".to_owned(),
        "correlationId = it's [a] *".to_owned(),
        "correlationId = *?*".to_owned(),
        "idempotencyKey IN (k, k, j)".to_owned(),
        format!("parentWorkflowId={}", execution(9)),
        "priority < 0".to_owned(),
        format!("startTime={}", other.started_at.ms()),
        format!("endTime>{}", BEGIN.ms()),
        format!("modifiedTime>{}", BEGIN.plus_ms(50).ms()),
    ] {
        assert_eq!(runs(&desk, &query), [id], "{query}");
    }
    let word_for_word = WorkflowSearch::default()
        .and(crate::search::WorkflowField::Correlation, [&*other.correlation_id])
        .expect("a clause");
    assert_eq!(desk.store().index().workflows(&word_for_word).expect("readable").page, [id]);
    for query in ["workflowType=ORDER", "workflowId=x", "correlationId=it"] {
        assert_eq!(runs(&desk, query), [], "{query}");
    }
    for query in ["parentWorkflowId=''", "correlationId=''", "idempotencyKey=\"\""] {
        assert_eq!(runs(&desk, query), [execution(1)], "{query}");
    }
    for query in ["", "classifier=workflow", "classifier IN (agent, work*)", "workflowId=*"] {
        assert_eq!(runs(&desk, query), [execution(2), execution(1)], "{query}");
    }
    assert_eq!(runs(&desk, "classifier=agent"), []);
}

pub fn a_task_is_found_by_each_of_its_fields(fixture: &mut dyn Fixture) {
    let desk = Desk::new(fixture);
    let other = TaskRow {
        workflow_name: "refund".to_owned(),
        task_type: "HTTP".to_owned(),
        definition_name: "call".to_owned(),
        reference: "call_ref".to_owned(),
        status: TaskStatus::FailedWithTerminalError,
        scheduled_at: BEGIN.plus_ms(40),
        started_at: BEGIN.plus_ms(41),
        updated_at: BEGIN.plus_ms(43),
        ended_at: BEGIN.plus_ms(42),
        ..task_row(1, 2)
    };
    put_tasks(&desk, [task_row(1, 1), other, task_row(9, 3)]);
    let found = place(1, 2);
    for query in [
        format!("taskId={}", task(2)),
        format!("workflowId={} AND status=FAILED*", execution(1)),
        "workflowType=refund".to_owned(),
        "taskType='HTTP'".to_owned(),
        "taskDefName IN (call)".to_owned(),
        "taskDefName = c*".to_owned(),
        "referenceTaskName=call_ref".to_owned(),
        "taskReferenceName=call*".to_owned(),
        "status=FAILED_WITH_TERMINAL_ERROR".to_owned(),
        format!("scheduledTime>{}", BEGIN.plus_ms(39).ms()),
        format!("startTime={}", BEGIN.plus_ms(41).ms()),
        format!("endTime>{}", BEGIN.ms()),
        format!("updateTime>{}", BEGIN.plus_ms(42).ms()),
    ] {
        assert_eq!(tasks(&desk, &query), [found], "{query}");
    }
    assert_eq!(tasks(&desk, "taskDefName IN (call, pay)").len(), 3);
    assert_eq!(tasks(&desk, "taskDefName=HTTP"), []);
    assert_eq!(tasks(&desk, "taskDefName=pay"), [place(9, 3), place(1, 1)]);
    let index = desk.store().index();
    assert_eq!(index.place_of(task(3)).expect("readable"), Some(place(9, 3)));
    assert_eq!(index.place_of(task(4)).expect("readable"), None);
}

pub fn clauses_hold_together(fixture: &mut dyn Fixture) {
    let desk = Desk::new(fixture);
    let keyed = |number, key: &str| RunRow { correlation_id: key.to_owned(), ..run(number) };
    let other = RunRow { name: "refund".to_owned(), ..keyed(3, "c") };
    put_runs(&desk, [keyed(1, "c"), keyed(2, "d"), other]);
    assert_eq!(runs(&desk, "correlationId='c' AND workflowType='order'"), [execution(1)]);
    assert_eq!(runs(&desk, "status=RUNNING AND status=FAILED"), []);
    let both = "correlationId IN (c,d) AND workflowType IN (order, refund)";
    assert_eq!(runs(&desk, both), [3, 2, 1].map(execution));
}

pub fn times_are_found_between_bounds(fixture: &mut dyn Fixture) {
    let desk = Desk::new(fixture);
    put_runs(&desk, (1..6).map(run));
    put_tasks(&desk, (1..6).map(|number| task_row(1, number)));
    let between = |field: &str| {
        let [low, high] = [2, 5].map(|ms| BEGIN.plus_ms(ms).ms());
        format!("{field}>{low} AND {field}<{high}")
    };
    for field in ["startTime", "updateTime"] {
        assert_eq!(runs(&desk, &between(field)), [4, 3].map(execution), "{field}");
        let found = [4, 3].map(|number| place(1, number));
        assert_eq!(tasks(&desk, &between(field)), found, "{field}");
    }
    assert_eq!(tasks(&desk, &between("scheduledTime")).len(), 2);
    assert_eq!(runs(&desk, "endTime<1").len(), 5, "what has not ended carries 0");
}

pub fn results_come_in_order_page_by_page(fixture: &mut dyn Fixture) {
    let desk = Desk::new(fixture);
    let at_once = |row: RunRow| RunRow { started_at: BEGIN, ..row };
    put_runs(&desk, [run(5), at_once(run(1)), at_once(run(4)), at_once(run(2)), run(3)]);
    let page = |sort: &str, start, size| {
        let search = WorkflowSearch::parse("", "*", sort).expect("an order").page(start, size);
        let hits = desk.store().index().workflows(&search).expect("readable");
        assert_eq!(hits.total, 5, "whatever the page");
        hits.page
    };
    assert_eq!(page("", 0, 9), [5, 3, 4, 2, 1].map(execution), "ties by id");
    assert_eq!(page("startTime:ASC", 0, 9), [1, 2, 4, 3, 5].map(execution));
    assert_eq!(page("workflowId:ASC", 0, 9), [1, 2, 3, 4, 5].map(execution));
    assert_eq!(page("startTime:ASC|workflowId:DESC", 0, 9), [4, 2, 1, 3, 5].map(execution));
    assert_eq!(page("version:ASC|updateTime:DESC", 0, 9), [5, 4, 3, 2, 1].map(execution));
    assert_eq!(page("classifier:ASC|workflowId:DESC", 0, 9), [5, 4, 3, 2, 1].map(execution));
    assert_eq!(page("", 1, 2), [3, 4].map(execution));
    assert_eq!(page("", 4, ALL), [execution(1)]);
    assert_eq!(page("", 5, 2), []);
    assert_eq!(page("", ALL, ALL), []);
    assert_eq!(page("", 0, 0), []);
}

pub fn several_values_give_one_order(fixture: &mut dyn Fixture) {
    let desk = Desk::new(fixture);
    let named = |number: u8| RunRow { name: format!("w{}", number % 3), ..run(number) };
    put_runs(&desk, (1..10).map(named));
    let page = |query: &str, start, size| {
        let search = WorkflowSearch::parse(query, "*", "").expect("a query").page(start, size);
        desk.store().index().workflows(&search).expect("readable")
    };
    let hits = page("workflowType IN (w0, w2, w0, nobody)", 1, 3);
    assert_eq!((hits.total, hits.page), (6, vec![execution(8), execution(6), execution(5)]));
    let many = (0..40).map(|number| format!("w{number}")).collect::<Vec<_>>().join(",");
    let hits = page(&format!("workflowType IN ({many})"), 7, 9);
    assert_eq!((hits.total, hits.page), (9, vec![execution(2), execution(1)]));
}

pub fn a_row_is_replaced_by_its_next(fixture: &mut dyn Fixture) {
    let desk = Desk::new(fixture);
    put_runs(&desk, [run(1)]);
    put_tasks(&desk, [task_row(1, 1)]);
    let gone_on = RunRow { seq: 5, updated_at: BEGIN.plus_ms(9), ..run(1) };
    put_runs(&desk, [gone_on.clone()]);
    assert_eq!(runs(&desk, &format!("updateTime={}", BEGIN.plus_ms(9).ms())), [execution(1)]);
    let ended = RunRow {
        seq: 6,
        status: WorkflowStatus::Completed,
        ended_at: BEGIN.plus_ms(10),
        updated_at: BEGIN.plus_ms(10),
        correlation_id: "later".to_owned(),
        version: 2,
        ..gone_on
    };
    put_runs(&desk, [ended]);
    assert_eq!(runs(&desk, "status=RUNNING"), []);
    let query = "status=COMPLETED AND correlationId=later AND version=2 AND endTime>0";
    assert_eq!(runs(&desk, query), [execution(1)]);
    let [(id, indexed)] = &*desk.store().index().indexed(None, ALL).expect("readable") else {
        panic!("there is one");
    };
    assert_eq!((*id, indexed.seq, indexed.is_live), (execution(1), 6, false));
    put_tasks(&desk, [TaskRow { status: TaskStatus::Completed, ..task_row(1, 1) }]);
    assert_eq!(tasks(&desk, "taskType=pay"), [place(1, 1)]);
    assert_eq!(tasks(&desk, "taskType=pay AND status=SCHEDULED"), []);
}

pub fn nothing_of_a_removed_run_is_found(fixture: &mut dyn Fixture) {
    let desk = Desk::new(fixture);
    let words = |number| words(number, 1, "same words");
    put(
        &desk,
        &Batch {
            runs: vec![run(1), run(2)],
            tasks: vec![task_row(1, 1), task_row(2, 2)],
            words: vec![words(1), words(2)],
            ..Batch::default()
        },
    );
    let removed = vec![execution(1), execution(7)];
    put(&desk, &Batch { removed, words: vec![words(1)], ..Batch::default() });
    assert_eq!(runs(&desk, ""), [execution(2)]);
    assert_eq!(tasks(&desk, ""), [place(2, 2)]);
    assert_eq!(said(&desk, "same words").0, [execution(2)]);
    assert_eq!(desk.store().index().place_of(task(1)).expect("readable"), None);
    put_runs(&desk, [run(1)]);
    assert_eq!(said(&desk, "same words").0, [execution(2)], "it comes back without its words");
}

pub fn an_emptied_run_keeps_what_its_batch_brings(fixture: &mut dyn Fixture) {
    let desk = Desk::new(fixture);
    put_tasks(&desk, [task_row(1, 1), task_row(1, 2), task_row(2, 3)]);
    let emptied = vec![(execution(1), 1)];
    put(&desk, &Batch { emptied, tasks: vec![task_row(1, 4)], ..Batch::default() });
    assert_eq!(tasks(&desk, ""), [place(1, 4), place(2, 3)]);
}

pub fn a_hand_over_changes_only_tasks_that_are_there(fixture: &mut dyn Fixture) {
    let desk = Desk::new(fixture);
    let waiting = TaskRow { started_at: Timestamp::NOT_YET, ..task_row(1, 1) };
    put_tasks(&desk, [waiting]);
    let to = HandedOver { started_at: BEGIN.plus_ms(7), updated_at: BEGIN.plus_ms(8) };
    let handed_over = [(place(1, 1), to), (place(1, 2), to)].into();
    put(&desk, &Batch { handed_over, ..Batch::default() });
    let query = format!("startTime={} AND updateTime={}", to.started_at.ms(), to.updated_at.ms());
    assert_eq!(tasks(&desk, &format!("status=IN_PROGRESS AND {query}")), [place(1, 1)]);
    assert_eq!(tasks(&desk, ""), [place(1, 1)]);
}

pub fn free_text_is_found_whatever_its_case(fixture: &mut dyn Fixture) {
    let desk = Desk::new(fixture);
    let said_by = "{\"city\": \"zürich\", \"a\": \"100% 'x' _ \\\\ \\\"q\\\" 漢字漢字\"}";
    let task = TaskRow { words: said_by.to_owned(), ..task_row(1, 1) };
    put(
        &desk,
        &Batch {
            runs: vec![run(1), run(2)],
            tasks: vec![task, task_row(1, 2)],
            words: vec![words(1, 1, said_by), words(2, 1, "other")],
            ..Batch::default()
        },
    );
    for text in [
        "zürich",
        "ZÜRICH",
        "rich\", \"a",
        "100%",
        "'x' _ \\",
        "\\\"q\\\"",
        "漢字漢",
        " 漢字漢字\"}",
    ] {
        let found = (vec![execution(1)], vec![place(1, 1)]);
        assert_eq!(said(&desk, text), found, "{text}");
    }
    for text in ["zurich", "zür*", "city AND a", "100%x", "richzü"] {
        assert_eq!(said(&desk, text), (vec![], vec![]), "{text}");
    }
    let search = WorkflowSearch::parse("status=RUNNING", "other", "").expect("a search");
    let hits = desk.store().index().workflows(&search).expect("readable");
    assert_eq!((hits.total, hits.page), (1, vec![execution(2)]));
    let again = vec![words(2, 1, "new words")];
    put(&desk, &Batch { words: again, ..Batch::default() });
    assert_eq!(said(&desk, "other").0, []);
    assert_eq!(said(&desk, "new words").0, [execution(2)]);
}

pub fn an_index_that_was_reset_is_empty_and_usable(fixture: &mut dyn Fixture) {
    let desk = Desk::new(fixture);
    put_runs(&desk, [run(1)]);
    put_tasks(&desk, [task_row(1, 1)]);
    desk.store().index().reset().expect("writable");
    assert_eq!(runs(&desk, ""), []);
    assert_eq!(tasks(&desk, ""), []);
    put_runs(&desk, [run(2)]);
    assert_eq!(runs(&desk, ""), [execution(2)]);
}
