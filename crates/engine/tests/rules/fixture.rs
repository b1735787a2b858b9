//! # The fixture: a journal of this release that every later engine must read
//!
//! `tests/fixtures/journal-v1.json` holds the pinned definition and the entries of one run, each as
//! the exact text that was stored. Once released it is never edited: a changed rule raises
//! `ENGINE_VERSION` and adds a file under a new name. Before that, and for the new file:
//! `cargo test -p semel-engine --test rules regenerate -- --ignored`.

use std::collections::BTreeSet;
use std::sync::Arc;

use semel_engine::{
    Answer, Brought, ENGINE_VERSION, Entry, Event, Execution, Link, Pinned, decide,
};
use semel_model::TaskResultStatus::{Failed, InProgress};
use semel_model::{ExecutionId, WorkflowStatus};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::bench::Bench;
use crate::shapes::{Said, flow, payload, step, with};

const TEXT: &str = include_str!("../fixtures/journal-v1.json");

#[derive(Serialize, Deserialize)]
struct Fixture {
    execution: ExecutionId,
    definition: String,
    entries: Vec<String>,
}

/// Every kind of change there is, in the order of their first appearance in the run.
const KINDS: [&str; 11] = [
    "Started",
    "TaskScheduled",
    "Asked",
    "TaskPlaced",
    "TaskAlerted",
    "TaskProgressed",
    "ExecutionAlerted",
    "Paused",
    "TaskClosed",
    "Resumed",
    "ExecutionClosed",
];

fn kinds(entries: &[Entry]) -> Vec<String> {
    let mut kinds: Vec<String> = Vec::new();
    for change in entries.iter().flat_map(|entry| &entry.changes) {
        let kind = match serde_json::to_value(change).expect("a change is plain data") {
            Value::Object(map) => map.keys().next().expect("a change has a name").clone(),
            Value::String(name) => name,
            other => panic!("no change looks like {other}"),
        };
        if !kinds.contains(&kind) {
            kinds.push(kind);
        }
    }
    kinds
}

/// The text of one run with everything in it.
fn told() -> Bench {
    let all = json!({"timeoutPolicy": "ALERT_ONLY", "pollTimeoutSeconds": 10, "timeoutSeconds": 10,
        "totalTimeoutSeconds": 600, "responseTimeoutSeconds": 100, "retryCount": 2,
        "retryDelaySeconds": 5, "backoffJitterMs": 100, "retryLogic": "EXPONENTIAL_BACKOFF"});
    let asks = json!({"inputParameters": {"order": "${workflow.input.order}", "ü": "$${x}"}});
    let definition = with(
        flow(&[
            with(step("charge", all), asks),
            with(step("mail", json!({"retryCount": 0})), json!({"optional": true})),
            with(step("ship", json!({"retryCount": 0})), json!({"startDelay": 3})),
        ]),
        json!({"timeoutSeconds": 50, "outputParameters": {"charge": "${charge.output.id}"}}),
    );
    let mut run = Bench::unborn(definition);
    let start = semel_engine::Start {
        correlation_id: Some("order-9243".to_owned()),
        priority: 5,
        task_to_domain: [("charge_def".to_owned(), "canary,stable".to_owned())].into(),
        idempotency_key: Some("9243".to_owned()),
        created_by: Some("ann".to_owned()),
        ..run.plain_start()
    };
    run.happen(Event::Started(start), &[payload(&json!({"order": {"n": 1.0}}))])
        .expect("the run begins");
    run.tick(5);
    place(&mut run, 0, "stable");
    run.tick(10);
    let said = run.claim("charge", "ann");
    run.tick(10);
    let progress = said.callback(5).reason("asking the bank").output(json!({"asked": true}));
    run.report(&Said { status: InProgress, ..progress }).expect("ann gives it back");
    run.tick(25);
    run.pause();
    run.fail("charge", Failed, "declined");
    run.tick(5);
    run.resume();
    place(&mut run, 1, "nobody");
    run.tick(6);
    run.claim("charge", "bob");
    run.tick(100);
    place(&mut run, 2, "canary");
    run.tick(11);
    run.complete("charge", json!({"id": "ch_1"}));
    run.fail("mail", Failed, "no address");
    run.tick(3);
    run.complete("ship", json!({"parcel": 7}));
    run
}

fn place(run: &mut Bench, attempt: u32, active: &str) {
    let task = run.attempt("charge", attempt);
    let question = task.question.as_ref().expect("something is asked");
    let answer = Answer::ActiveDomains(BTreeSet::from([active.to_owned()]));
    let question = question.digest(task.id);
    run.happen(Event::Answered { task: task.id, question, answer }, &[])
        .expect("an answer is taken");
}

#[test]
fn the_journal_of_version_1_still_folds_to_the_same_end() {
    let fixture: Fixture = serde_json::from_str(TEXT).unwrap();
    let pinned = Arc::new(Pinned::parse(fixture.definition.as_bytes()).unwrap());
    let digest = pinned.digest();
    let mut run = Execution::unborn(fixture.execution, pinned);
    let mut entries = Vec::new();
    for text in &fixture.entries {
        let (entry, link): (Entry, Link) = Entry::decode(text.as_bytes(), run.link()).unwrap();
        assert_eq!(entry.engine_version, 1);
        decide_again(&run, &entry);
        run.fold(&entry, link, None);
        entries.push(entry);
    }
    assert_eq!(kinds(&entries), KINDS);
    let Event::Started(start) = &entries[0].cause else { panic!("a journal begins with a start") };
    assert_eq!(start.definition, digest);
    assert_eq!(run.status(), Some(WorkflowStatus::Completed));
    assert_eq!(run.output().value(), json!({"charge": "ch_1"}));
    assert_eq!(run.input().value(), json!({"order": {"n": 1.0}}));
    assert_eq!((run.correlation_id(), run.priority()), (Some("order-9243"), 5));
    assert_eq!((run.idempotency_key(), run.created_by()), (Some("9243"), Some("ann")));
    let tasks: Vec<String> = run.tasks().map(|task| tell(task)).collect();
    let wanted = [
        "charge 0 FAILED in stable by ann, polls 2, fence 2: declined",
        "charge 1 TIMED_OUT in stable by bob, polls 1, fence 3: responseTimeout: 100 exceeded",
        "charge 2 COMPLETED in canary by ann, polls 1, fence 4: none",
        "mail 0 COMPLETED_WITH_ERRORS in none by ann, polls 1, fence 5: no address",
        "ship 0 COMPLETED in none by ann, polls 1, fence 6: none",
    ];
    assert_eq!(tasks, wanted);
    assert_eq!(run.link().seq, u64::try_from(fixture.entries.len()).unwrap());
    assert_eq!(run.wake_at(), None);
}

/// As long as the version is the same, so are the decisions.
fn decide_again(before: &Execution, entry: &Entry) {
    if entry.engine_version == ENGINE_VERSION {
        let mut draft = before.clone();
        let brought = Brought { payloads: &entry.payloads, definition: None };
        let decided = decide(&mut draft, &entry.cause, &brought, &entry.facts);
        let decision = decided.expect("what was decided can be decided again");
        assert_eq!(decision.changes, entry.changes, "a changed rule raises ENGINE_VERSION");
    }
}

fn tell(task: &semel_engine::Task) -> String {
    let reason = task.reason.as_deref().unwrap_or("none");
    let reason = reason.split_once(" for the taskId").map_or(reason, |(before, _)| before);
    let (domain, worker) = (task.domain.as_deref(), task.worker.as_deref());
    format!(
        "{} {} {} in {} by {}, polls {}, fence {}: {reason}",
        task.reference,
        task.attempt,
        task.status,
        domain.unwrap_or("none"),
        worker.unwrap_or("none"),
        task.polls,
        task.fence.unwrap_or(0)
    )
}

#[test]
fn the_run_behind_the_fixture_contains_every_kind_of_change() {
    let run = told();
    run.replay();
    let parse = |bytes: &Vec<u8>| serde_json::from_slice(bytes).unwrap();
    let entries: Vec<Entry> = run.journal.iter().map(parse).collect();
    let mut since: Vec<&str> = KINDS.to_vec();
    since.insert(3, "AskedAgain"); // Version 1 asked again as it asked first.
    assert_eq!(kinds(&entries), since);
}

#[test]
#[ignore = "writes a fixture; only for a new engine version"]
fn regenerate() {
    let run = told();
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    let fixture = Fixture {
        execution: run.execution.id(),
        definition: text(run.execution.definition().text().to_vec()),
        entries: run.journal.iter().cloned().map(text).collect(),
    };
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fixtures/journal-v1.json");
    let mut written = serde_json::to_string_pretty(&fixture).unwrap();
    written.push('\n');
    std::fs::write(path, written).unwrap();
}
