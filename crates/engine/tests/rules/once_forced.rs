//! # What a call by name leaves of an effect: a person forces, or ends a task that was given back

use semel_engine::{Event, Progress, RecordState, Slot};
use semel_model::TaskResultStatus;
use serde_json::{Value, json};

use crate::family::Family;
use crate::once::{charge, is_offered, order, shop};
use crate::shapes::{Said, payload};

fn policy() -> Value {
    json!({"retryCount": 1, "retryDelaySeconds": 0, "responseTimeoutSeconds": 60})
}

#[test]
fn what_a_person_forces_is_unknown_unless_the_person_says() {
    let force = |family: &mut Family, run, status, output: Value| {
        let progress = Progress {
            status,
            output: Slot(0),
            reason: None,
            worker: None,
            callback_after_seconds: 0,
        };
        let event =
            Event::Named { reference: "charge".into(), force: true, progress, distinct: false };
        family.tell(run, event, &[payload(&output)]).expect("a person may force it");
    };
    let says = |applied: Value| json!({"_effect": {"applied": applied}});
    for (output, state) in [
        (json!({}), RecordState::Unknown),
        (says(json!("unknown")), RecordState::Unknown),
        (says(json!(false)), RecordState::Released),
        (says(json!(true)), RecordState::Failed),
    ] {
        let mut family = shop(charge(policy(), json!({})));
        let run = order(&mut family, "1", 10);
        family.claim(run, "charge", "ann");
        let status = TaskResultStatus::FailedWithTerminalError;
        force(&mut family, run, status, output.clone());
        family.reads(run, &["FAILED", "charge 0 FAILED_WITH_TERMINAL_ERROR"]);
        assert_eq!(family.effect("charge_def", "1").state, state, "{output}");
        family.run(run).replay();
    }
    let mut family = shop(charge(policy(), json!({})));
    let run = order(&mut family, "1", 10);
    let said = family.claim(run, "charge", "ann");
    force(&mut family, run, TaskResultStatus::Failed, json!({}));
    family.reads(run, &["RUNNING", "charge 0 FAILED", "charge 1 IN_PROGRESS"]);
    assert!(!is_offered(&family, run), "the next attempt is not handed out in doubt");
    family.report(run, &said.output(json!({"n": 1}))).expect("whoever had it knows");
    family.deliver_all();
    let story = ["RUNNING", "charge 0 FAILED", "charge 1 COMPLETED", "ship 0 SCHEDULED"];
    family.reads(run, &story);
    family.run(run).replay();
}

#[test]
fn a_failure_by_name_of_a_task_that_was_given_back_leaves_doubt() {
    for (worker, state) in [(None, RecordState::Unknown), (Some("ann"), RecordState::Released)] {
        let mut family = shop(charge(policy(), json!({})));
        let run = order(&mut family, "1", 10);
        let said = family.claim(run, "charge", "ann").callback(600);
        let said = Said { status: TaskResultStatus::InProgress, ..said };
        family.report(run, &said).expect("whoever has it may come back later");
        let progress = Progress {
            status: TaskResultStatus::FailedWithTerminalError,
            output: Slot(0),
            reason: None,
            worker: worker.map(str::to_owned),
            callback_after_seconds: 0,
        };
        let event =
            Event::Named { reference: "charge".into(), force: false, progress, distinct: false };
        family.tell(run, event, &[payload(&json!({}))]).expect("nobody holds it now");
        assert_eq!(family.effect("charge_def", "1").state, state, "{worker:?}");
        family.run(run).replay();
    }
}
