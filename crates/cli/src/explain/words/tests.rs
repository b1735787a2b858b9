//! # What is said about runs of every kind

use semel_model::ExecutionId;
use serde_json::{Value, json};

use super::*;

const RUN: &str = "01890000-0000-7000-8000-000000000001";
const CHILD: &str = "01890000-0000-7000-8000-000000000002";
const TASK: &str = "01890000-0000-8000-8000-000000000003";
const NOW: i64 = 1_794_769_871_000;

fn task(more: Value) -> Value {
    let mut task = json!({"taskType": "charge", "status": "SCHEDULED", "taskId": TASK,
        "referenceTaskName": "pay", "taskDefName": "charge", "workflowInstanceId": RUN,
        "workflowType": "order", "scheduledTime": NOW - 90_000, "taskDefinition": null,
        "responseTimeoutSeconds": 60, "inputData": {}, "outputData": {}});
    for (key, value) in more.as_object().unwrap() {
        task[key] = value.clone();
    }
    task
}

fn run(more: Value, tasks: &[Value]) -> Workflow {
    let mut run = json!({"status": "RUNNING", "workflowId": RUN, "workflowName": "order",
        "workflowVersion": 2, "startTime": NOW - 3_600_000, "tasks": tasks});
    for (key, value) in more.as_object().unwrap() {
        run[key] = value.clone();
    }
    serde_json::from_value(run).unwrap()
}

fn said_of(run: &Workflow, parked: Option<&str>, around: impl Fn() -> Around) -> String {
    let tasks = run.tasks.iter().map(|task| (task.task_id, around()));
    let scene = Scene {
        now: Timestamp::from_ms(NOW),
        run,
        parked: parked.map(str::to_owned),
        around: tasks.collect(),
    };
    scene.sentences().join("\n")
}

fn said(more: Value, around: impl Fn() -> Around) -> String {
    said_of(&run(json!({}), &[task(more)]), None, around)
}

fn polled(domain: Option<&str>, ago_ms: i64) -> Around {
    let poll = PollData {
        queue_name: "charge".to_owned(),
        domain: domain.map(str::to_owned),
        worker_id: Some("ann".to_owned()),
        last_poll_time: Timestamp::from_ms(NOW - ago_ms),
    };
    Around { polls: Some(vec![poll]), ..Around::default() }
}

fn has(text: &str, words: &str) {
    assert!(text.contains(words), "{words:?} is not in:\n{text}");
}

#[test]
fn a_task_that_nobody_polls_for_says_so() {
    let text = said(json!({}), || Around { polls: Some(vec![]), ..Around::default() });
    has(&text, "is a run of order version 2: RUNNING, started 2026-11-15T18:11:11Z (1h ago).");
    has(
        &text,
        "pay waits for a worker that polls charge: scheduled 2026-11-15T19:09:41Z (1m 30s ago)",
    );
    has(&text, "No worker has polled charge there since the server started: start one.");
}

#[test]
fn the_last_poll_is_named_and_an_old_one_doubted() {
    has(
        &said(json!({}), || polled(None, 2_000)),
        "last polled 2026-11-15T19:11:09Z (2s ago) by ann.",
    );
    has(&said(json!({}), || polled(None, 61_000)), "by ann: is that worker still running?");
    let text = said(json!({"domain": "eu"}), || polled(Some("us"), 1));
    has(&text, "polls charge in the domain eu");
    has(&text, "No worker has polled charge there");
    has(&text, "other domains: us");
}

#[test]
fn limits_are_named_with_what_is_in_flight() {
    let mut limited = TaskDef::ad_hoc("charge", "SIMPLE");
    limited.concurrent_exec_limit = Some(3);
    limited.rate_limit_per_frequency = 5;
    limited.rate_limit_frequency_in_seconds = 60;
    let text = said(json!({}), || Around {
        definition: Some(limited.clone()),
        in_flight: Some(3),
        waiting: Some(7),
        ..polled(None, 1)
    });
    has(&text, "At most 3 of charge run at once (concurrentExecLimit); 3 are in progress.");
    has(&text, "At most 5 of charge are handed out per 60 s");
    has(&text, "7 tasks of charge wait.");
}

#[test]
fn a_delayed_retry_says_when_and_why() {
    let failed = task(json!({"status": "FAILED", "reasonForIncompletion": "card declined",
        "taskId": CHILD, "retried": true}));
    let again = task(json!({"retryCount": 1, "retriedTaskId": CHILD, "callbackAfterSeconds": 100}));
    let text = said_of(&run(json!({}), &[failed, again]), None, Around::default);
    has(&text, "pay is tried again at 2026-11-15T19:11:21Z (in 10s), as attempt 2.");
    has(&text, "The attempt before: card declined");
}

#[test]
fn who_holds_a_task_and_until_when() {
    let held = json!({"status": "IN_PROGRESS", "workerId": "ann", "startTime": NOW - 5_000,
        "leaseUntil": NOW + 55_000});
    let text = said(held, Around::default);
    has(&text, "pay is in progress with ann, since 2026-11-15T19:11:06Z (5s ago).");
    has(&text, "Its lease ends at 2026-11-15T19:12:06Z (in 55s)");
    let given_back = json!({"status": "IN_PROGRESS", "workerId": "ann", "updateTime": NOW - 1_000,
        "callbackAfterSeconds": 31});
    let text = said(given_back, Around::default);
    has(&text, "given back by ann 2026-11-15T19:11:10Z (1s ago)");
    has(&text, "taken again at 2026-11-15T19:11:41Z (in 30s).");
    let unbounded = json!({"status": "IN_PROGRESS", "startTime": NOW, "responseTimeoutSeconds": 0});
    has(&said(unbounded, Around::default), "It has no response timeout");
}

#[test]
fn waits_people_and_children_say_how_they_end() {
    let wait =
        |input: Value| json!({"taskType": "WAIT", "status": "IN_PROGRESS", "inputData": input});
    has(&said(wait(json!({})), Around::default), &format!("Say so: semel task signal {RUN}"));
    has(&said(wait(json!({"duration": "2 days"})), Around::default), "pay waits 2 days, since");
    has(&said(wait(json!({"until": "2027-01-01"})), Around::default), "waits until 2027-01-01");
    let human = json!({"taskType": "HUMAN", "status": "IN_PROGRESS"});
    let by_hand = format!("semel task update --workflow {RUN} --ref pay --status COMPLETED");
    has(&said(human, Around::default), &by_hand);
    let parent =
        json!({"taskType": "SUB_WORKFLOW", "status": "IN_PROGRESS", "subWorkflowId": CHILD});
    let text = said(parent.clone(), || Around {
        child: Some(Child::Is(WorkflowStatus::Paused)),
        ..Around::default()
    });
    has(&text, &format!("waits for the run {CHILD}, which is PAUSED. See: semel explain {CHILD}"));
    let gone = || Around { child: Some(Child::Gone), ..Around::default() };
    has(&said(parent, gone), "which is gone");
}

#[test]
fn paused_parked_and_ended_runs_say_what_to_do() {
    let paused = run(json!({"status": "PAUSED"}), &[]);
    has(&said_of(&paused, None, Around::default), &format!("semel workflow resume {RUN}"));
    has(
        &said_of(&paused, Some("a fault"), Around::default),
        "parked, and nothing happens to it: a fault",
    );
    let failed = run(
        json!({"status": "FAILED", "endTime": NOW - 1_000, "reasonForIncompletion": "no money"}),
        &[task(json!({"status": "FAILED", "retryCount": 2, "reasonForIncompletion": "declined"}))],
    );
    let text = said_of(&failed, None, Around::default);
    has(&text, "It ended 2026-11-15T19:11:10Z (1s ago): no money");
    has(&text, "pay is FAILED after attempt 3: declined");
    has(&text, &format!("semel workflow retry {RUN}"));
    let done = run(json!({"status": "COMPLETED", "endTime": NOW}), &[]);
    assert!(!said_of(&done, None, Around::default).contains("retry"));
}

#[test]
fn tasks_that_were_not_looked_at_are_counted() {
    let run = run(json!({}), &[task(json!({}))]);
    let scene =
        Scene { now: Timestamp::from_ms(NOW), run: &run, parked: None, around: BTreeMap::new() };
    has(&scene.sentences().join("\n"), "1 more tasks are open.");
    assert_eq!(run.workflow_id, RUN.parse::<ExecutionId>().unwrap());
}
