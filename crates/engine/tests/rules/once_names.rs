//! # Effects and names: who speaks for a task whose effect is done once

use semel_engine::{Event, Progress, RecordState, Slot};
use semel_model::TaskResultStatus;
use serde_json::json;

use crate::family::Family;
use crate::once::{charge, order, shop};
use crate::shapes::payload;

fn under(on_unknown: &str) -> Family {
    let policy = json!({"responseTimeoutSeconds": 60, "retryCount": 1, "retryDelaySeconds": 0});
    shop(charge(policy, json!({"onUnknown": on_unknown})))
}

#[test]
fn a_late_word_of_the_only_holder_counts_under_any_name() {
    for on_unknown in ["HOLD", "FAIL"] {
        let mut family = under(on_unknown);
        let run = order(&mut family, "1", 10);
        let said = family.claim(run, "charge", "ann");
        family.tick(61);
        family.effect_is("charge_def", "1", RecordState::Unknown);
        let said = said.fence(None).worker(Some("custom")).output(json!({"n": 1}));
        family.report(run, &said).expect("nobody else ever had the task");
        family.effect_is("charge_def", "1", RecordState::Completed);
        assert_eq!(family.report(run, &said).expect("it is repeated"), []);
    }
}

#[test]
fn a_failure_by_name_of_a_nameless_holder_leaves_the_effect_unknown() {
    for (worker, state) in [(None, RecordState::Unknown), (Some("ann"), RecordState::Released)] {
        let mut family = under("HOLD");
        let run = order(&mut family, "1", 10);
        family.claim_as(run, "charge", worker);
        let progress = Progress {
            status: TaskResultStatus::FailedWithTerminalError,
            output: Slot(0),
            reason: None,
            worker: worker.map(str::to_owned),
            callback_after_seconds: 0,
        };
        let reference = "charge".to_owned();
        let event = Event::Named { reference, force: false, progress, distinct: false };
        family.tell(run, event, &[payload(&json!({}))]).expect("it may be the holder");
        family.reads(run, &["FAILED", "charge 0 FAILED_WITH_TERMINAL_ERROR"]);
        family.effect_is("charge_def", "1", state);
        family.run(run).replay();
    }
}
