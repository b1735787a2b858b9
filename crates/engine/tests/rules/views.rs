//! # Views: the fields clients read of runs and tasks
//!
//! Rules:
//! * docs/reference/rules/runs-and-definitions.md#fields-of-a-run
//! * docs/reference/rules/runs-and-definitions.md#fields-of-a-task

use semel_engine::{Event, Slot, view};
use semel_model::TaskResultStatus::{Canceled, Failed, FailedWithTerminalError};
use serde_json::{Value, json};

use crate::bench::{BEGIN, Bench};
use crate::shapes::{flow, payload, step, with};

fn shown(run: &Bench) -> Value {
    serde_json::to_value(view::workflow(&run.execution, true)).expect("a view is plain data")
}

/// One field of every task, in the order in which they are listed.
fn of_tasks(run: &Bench, field: &str) -> Vec<Value> {
    let shown = shown(run);
    let tasks = shown["tasks"].as_array().expect("a list of tasks");
    tasks.iter().map(|task| task[field].clone()).collect()
}

fn at(seconds: i64) -> Value {
    json!(BEGIN.plus_seconds(seconds).ms())
}

/// A run whose step `a` fails once and succeeds, after a delay of five seconds.
fn twice() -> Bench {
    let policy = json!({"retryCount": 1, "retryDelaySeconds": 5});
    let mut run = Bench::start(flow(&[step("a", policy), step("b", json!({}))]), json!({}));
    run.advance(2);
    run.fail("a", Failed, "x");
    run.advance(5);
    run.claim("a", "ann");
    run
}

#[test]
fn the_names_of_failed_tasks_are_those_of_all_attempts_that_failed() {
    let mut run = twice();
    assert_eq!(shown(&run)["failedReferenceTaskNames"], json!([]), "not before the end");
    let task = run.attempt("a", 1).id;
    let said = crate::shapes::Said::new(task, semel_model::TaskResultStatus::Completed);
    run.report(&said.worker(Some("ann"))).unwrap();
    run.complete("b", json!({}));
    run.reads(&["COMPLETED", "a 0 FAILED", "a 1 COMPLETED", "b 0 COMPLETED"]);
    assert_eq!(shown(&run)["failedReferenceTaskNames"], json!(["a"]));
    assert_eq!(shown(&run)["failedTaskNames"], json!(["a_def"]));
}

#[test]
fn the_names_of_failed_tasks_are_not_those_that_timed_out_or_were_cancelled() {
    let policy = json!({"retryCount": 0, "responseTimeoutSeconds": 10});
    let one = || Bench::start(flow(&[step("a", policy.clone())]), json!({}));
    let mut silent = one();
    silent.claim("a", "ann");
    silent.tick(10);
    silent.reads(&["TIMED_OUT", "a 0 TIMED_OUT"]);
    assert_eq!(shown(&silent)["failedReferenceTaskNames"], json!([]));
    for (status, names) in
        [(Canceled, json!([])), (Failed, json!(["a"])), (FailedWithTerminalError, json!(["a"]))]
    {
        let mut run = one();
        run.fail("a", status, "x");
        assert_eq!(shown(&run)["failedReferenceTaskNames"], names, "{status}");
        run.happen(Event::Restarted { definition: None }, &[]).unwrap();
        assert_eq!(shown(&run)["failedReferenceTaskNames"], json!([]), "a new life");
    }
}

#[test]
fn the_task_that_first_ended_a_run_stays_named() {
    let policy = json!({"retryCount": 0});
    let mut run = Bench::start(flow(&[step("a", policy.clone()), step("b", policy)]), json!({}));
    run.fail("a", Failed, "x");
    let first = run.attempt("a", 0).id;
    assert_eq!(run.execution.failed_task(), Some(first));
    run.happen(Event::Retried, &[]).unwrap();
    run.complete("a", json!({}));
    run.fail("b", Failed, "y");
    assert_eq!(run.execution.failed_task(), Some(first));
}

#[test]
fn an_attempt_that_was_replaced_says_so_and_the_new_one_names_it() {
    let run = twice();
    let first = run.attempt("a", 0).id.to_string();
    assert_eq!(of_tasks(&run, "retryCount"), [json!(0), json!(1)]);
    assert_eq!(of_tasks(&run, "retried"), [json!(true), json!(false)]);
    assert_eq!(of_tasks(&run, "retriedTaskId"), [json!(null), json!(first)]);
    assert_eq!(of_tasks(&run, "executed"), [json!(false), json!(false)]);
    assert_eq!(of_tasks(&run, "seq"), [json!(1), json!(2)]);
    assert_eq!(of_tasks(&run, "startDelayInSeconds"), [json!(0), json!(5)]);
    assert_eq!(of_tasks(&run, "callbackAfterSeconds"), [json!(0), json!(5)]);
    assert_eq!(of_tasks(&run, "reasonForIncompletion"), [json!("x"), json!("x")]);
}

#[test]
fn a_wait_tells_how_long_it_waits() {
    let wait = |input: Value| {
        let step = json!({"name": "w", "taskReferenceName": "w", "type": "WAIT",
            "inputParameters": input});
        of_tasks(&Bench::start(flow(&[step]), json!({})), "callbackAfterSeconds")
    };
    assert_eq!(wait(json!({"duration": "1 min 30s"})), [json!(90)]);
    assert_eq!(wait(json!({"until": "1970-01-01"})), [json!(0)], "it is over");
    assert_eq!(wait(json!({})), [json!(2_147_483_647)], "until somebody says so");
}

#[test]
fn the_times_of_a_task_are_those_of_its_own_attempt() {
    let mut run = twice();
    let said =
        crate::shapes::Said::new(run.attempt("a", 1).id, semel_model::TaskResultStatus::Completed);
    run.advance(3);
    run.report(&said.worker(Some("ann"))).unwrap();
    assert_eq!(of_tasks(&run, "scheduledTime")[..2], [at(0), at(2)]);
    assert_eq!(of_tasks(&run, "startTime")[..2], [at(2), at(7)], "when it was first handed out");
    assert_eq!(of_tasks(&run, "endTime")[..2], [at(2), at(10)]);
    assert_eq!(of_tasks(&run, "updateTime")[..2], [at(2), at(7)], "the end is no update");
    assert_eq!(of_tasks(&run, "callbackAfterSeconds")[..2], [json!(0), json!(0)], "taken since");
    assert_eq!(of_tasks(&run, "executed")[..2], [json!(false), json!(true)]);
}

#[test]
fn a_task_is_called_by_its_type_and_by_the_name_of_its_definition() {
    let steps = [
        step("a", json!({})),
        json!({"name": "mine", "taskReferenceName": "m", "type": "MY_OWN"}),
        json!({"name": "person", "taskReferenceName": "h", "type": "HUMAN"}),
    ];
    let mut run = Bench::start(flow(&steps), json!({}));
    run.complete("a", json!({}));
    run.complete("m", json!({}));
    assert_eq!(of_tasks(&run, "taskType"), [json!("a_def"), json!("MY_OWN"), json!("HUMAN")]);
    assert_eq!(of_tasks(&run, "taskDefName"), [json!("a_def"), json!("mine"), json!("person")]);
    assert_eq!(of_tasks(&run, "iteration"), [json!(0), json!(0), json!(0)]);
}

#[test]
fn tasks_are_listed_as_they_were_scheduled_but_for_those_skipped_ahead() {
    let steps = [step("a", json!({})), step("b", json!({})), step("c", json!({}))];
    let mut run = Bench::start(flow(&steps), json!({}));
    let nothing = [payload(&json!({})), payload(&json!({}))];
    let skip = Event::Skipped { reference: "b".to_owned(), input: Slot(0), output: Slot(1) };
    run.happen(skip, &nothing).unwrap();
    run.complete("a", json!({}));
    let names = [json!("b"), json!("a"), json!("c")];
    assert_eq!(of_tasks(&run, "referenceTaskName"), names);
    assert_eq!(of_tasks(&run, "seq"), [json!(0), json!(1), json!(3)]);
}

#[test]
fn a_run_shows_what_it_was_started_with_and_when() {
    let template = json!({"inputTemplate": {"x": 1}, "variables": {"v": 2}});
    let mut run = Bench::unborn(with(flow(&[step("a", json!({}))]), template));
    let start = semel_engine::Start {
        priority: 9,
        correlation_id: Some("order-1".to_owned()),
        idempotency_key: Some("key".to_owned()),
        ..run.plain_start()
    };
    run.happen(Event::Started(start), &[payload(&json!({"n": 3}))]).unwrap();
    let before = shown(&run);
    assert_eq!(before["input"], json!({"n": 3, "x": 1}));
    assert_eq!((&before["variables"], &before["output"]), (&json!({"v": 2}), &json!({})));
    assert_eq!((&before["priority"], &before["correlationId"]), (&json!(9), &json!("order-1")));
    assert_eq!(before["tasks"][0]["workflowPriority"], 9);
    assert_eq!(before["idempotencyKey"], "key");
    assert_eq!((&before["createTime"], &before["lastRetriedTime"]), (&at(0), &json!(0)));
    assert_eq!(before["endTime"], json!(0), "not yet");
    run.advance(4);
    run.complete("a", json!({}));
    assert_eq!(shown(&run)["endTime"], at(4));
}
