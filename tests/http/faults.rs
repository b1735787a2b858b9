//! # Faults: effects per key, for every schedule of them

use semel_tests::oracle::Fault;
use serde_json::{Value, json};

use crate::scene::{Scene, UNKNOWN_HOST, with, without_key};

/// Impatient, so that silence is noticed at once.
fn patience() -> Value {
    json!({"readTimeOut": 100})
}

fn refused(status: u16) -> Fault {
    Fault::Refuse(status, Vec::new())
}

/// Everything that can go wrong and be made up for.
fn faults() -> Vec<Fault> {
    vec![
        Fault::DropBefore,
        Fault::DropAfter,
        Fault::InUse,
        Fault::ErrorAfter,
        Fault::Slow,
        refused(429),
        refused(502),
        refused(503),
    ]
}

/// None, one or two of them.
fn schedules() -> Vec<Vec<Fault>> {
    let single = faults().into_iter().map(|fault| vec![fault]);
    let pairs = faults()
        .into_iter()
        .flat_map(|first| faults().into_iter().map(move |second| vec![first.clone(), second]));
    std::iter::once(Vec::new()).chain(single).chain(pairs).collect()
}

#[test]
fn whatever_goes_wrong_a_keyed_request_has_one_effect() {
    let scene = Scene::set();
    scene.define("keyed", patience(), json!({"retryCount": 3}));
    let square = json!({"idempotency": {"preset": "square"}});
    scene.define("inside", with(patience(), square), json!({"retryCount": 3}));
    let mut runs = Vec::new();
    for workflow in ["keyed", "inside"] {
        for (at, schedule) in schedules().into_iter().enumerate() {
            let order = format!("{workflow}-{at}");
            scene.oracle.plan(&order, &schedule);
            runs.push((scene.start(workflow, &order), order, schedule));
        }
    }
    for (id, order, schedule) in runs {
        let run = scene.over(&id);
        assert_eq!(run["status"], "COMPLETED", "{schedule:?}: {run:#}");
        assert_eq!(scene.oracle.effects(&order), 1, "{schedule:?}");
        let heard = scene.oracle.heard(&order);
        assert_eq!(heard.len(), schedule.len() + 1, "{schedule:?}");
        let tasks = run["tasks"].as_array().expect("a run has tasks");
        for (heard, task) in heard.iter().zip(tasks) {
            assert_eq!(heard.body, scene.oracle.heard(&order)[0].body, "the same bytes");
            assert_eq!(task["effectKey"], tasks[0]["effectKey"]);
            if order.starts_with("keyed") {
                assert_eq!(task["effectKey"], heard.headers["idempotency-key"]);
            } else {
                assert!(heard.body.contains(task["effectKey"].as_str().expect("a key")));
            }
        }
        let fences: Vec<&String> = heard.iter().map(|it| &it.headers["x-fence-token"]).collect();
        assert!(fences.windows(2).all(|pair| pair[0] < pair[1]), "{fences:?}");
    }
}

#[test]
fn whatever_goes_wrong_a_request_without_a_key_is_not_sent_twice() {
    let scene = Scene::set();
    scene.define("bare", with(patience(), without_key()), json!({"retryCount": 3}));
    let runs: Vec<_> = faults()
        .into_iter()
        .enumerate()
        .map(|(at, fault)| {
            let order = format!("bare-{at}");
            scene.oracle.plan(&order, std::slice::from_ref(&fault));
            (scene.start("bare", &order), order, fault)
        })
        .collect();
    for (id, order, fault) in runs {
        if fault == refused(429) {
            assert_eq!(scene.over(&id)["status"], "COMPLETED", "what is refused is not done");
            assert_eq!((scene.oracle.heard(&order).len(), scene.oracle.effects(&order)), (2, 1));
            continue;
        }
        let is_known = matches!(fault, Fault::InUse);
        let task = if is_known { scene.task(&id) } else { scene.doubtful(&id) };
        assert_eq!(scene.oracle.heard(&order).len(), 1, "{fault:?}");
        if is_known {
            assert_eq!(task["status"], "FAILED_WITH_TERMINAL_ERROR", "{fault:?}: {task:#}");
            let effect = json!({"applied": false, "class": "UNSAFE"});
            assert_eq!(task["outputData"]["_effect"], effect, "{fault:?}");
        } else {
            assert_eq!(task["status"], "IN_PROGRESS", "a person has to say: {fault:?}");
        }
        let reason = task["reasonForIncompletion"].as_str().unwrap_or_default();
        assert_eq!(reason.contains("may have been carried out"), !is_known, "{reason}");
    }
}

#[test]
fn a_key_that_nobody_is_known_to_honour_is_not_relied_on() {
    let scene = Scene::set_with(&UNKNOWN_HOST);
    scene.define("keyed", patience(), json!({"retryCount": 3}));
    scene.oracle.plan("k", &[Fault::DropAfter]);
    let id = scene.start("keyed", "k");
    let task = scene.doubtful(&id);
    let reason = task["reasonForIncompletion"].as_str().unwrap_or_default();
    assert!(reason.contains("downstream.honoursKeys"), "{reason}");
    assert_eq!((scene.oracle.heard("k").len(), scene.oracle.effects("k")), (1, 1));
    let key = task["effectKey"].as_str().expect("a key");
    let said = json!({"applied": true, "output": {"charge": "ch_1"}, "by": "eve"});
    let answer = scene.caller.post(&format!("/api/effects/call/{key}/resolve"), &said);
    assert_eq!(answer.expect("an answer").status, 200);
    assert_eq!(scene.over(&id)["status"], "COMPLETED");

    let step = json!({"name": "call", "taskReferenceName": "call", "type": "HTTP",
        "taskDefinition": {"name": "call", "retryCount": 3, "retryDelaySeconds": 0},
        "downstream": {"honoursKeys": true}, "inputParameters": {"http_request":
            {"uri": scene.oracle.uri(), "method": "POST", "readTimeOut": 100,
             "body": {"order": "${workflow.input.order}"}}}});
    scene.register(&json!({"name": "known", "schemaVersion": 2, "tasks": [step]}));
    scene.oracle.plan("d", &[Fault::DropAfter]);
    assert_eq!(scene.over(&scene.start("known", "d"))["status"], "COMPLETED");
    assert_eq!((scene.oracle.heard("d").len(), scene.oracle.effects("d")), (2, 1));
}

#[test]
fn who_says_that_a_repeat_does_no_harm_is_believed() {
    let scene = Scene::set();
    let assumed = with(without_key(), json!({"assumeIdempotent": true}));
    scene.define("assumed", assumed, json!({"retryCount": 1}));
    let policy = json!({"retryCount": 1, "assumeIdempotent": true});
    scene.define("assumed_by_definition", without_key(), policy);
    for workflow in ["assumed", "assumed_by_definition"] {
        scene.oracle.plan(workflow, &[Fault::DropAfter]);
        assert_eq!(scene.over(&scene.start(workflow, workflow))["status"], "COMPLETED");
        assert_eq!(scene.oracle.effects(workflow), 2, "and pays for it");
    }
}

#[test]
fn what_never_left_is_tried_again_also_without_a_key() {
    let scene = Scene::set();
    let nowhere = json!({"uri": "http://127.0.0.1:1/"});
    scene.define("nowhere", with(without_key(), nowhere), json!({"retryCount": 2}));
    let run = scene.over(&scene.start("nowhere", "n"));
    let tasks = run["tasks"].as_array().expect("a run has tasks");
    assert_eq!(tasks.len(), 3);
    for task in tasks {
        assert_eq!(task["status"], "FAILED");
        let effect = json!({"applied": false, "class": "NOT_SENT"});
        assert_eq!(task["outputData"], json!({ "_effect": effect }));
    }
}

#[test]
fn a_rerun_and_a_restart_are_known_by_the_other_side() {
    let scene = Scene::set();
    scene.define("again", json!({}), json!({}));
    let id = scene.start("again", "a");
    scene.over(&id);
    for path in ["restart", "rerun"] {
        let answer = scene.caller.post(&format!("/api/workflow/{id}/{path}"), &json!({}));
        assert!(matches!(answer.expect("an answer").status, 200 | 204), "{path}");
        let run = scene.over(&id);
        assert_eq!(run["status"], "COMPLETED", "{run:#}");
        assert_eq!(run["tasks"][0]["outputData"]["effectStatus"], "DEDUPED_DOWNSTREAM");
        assert_eq!(run["tasks"][0]["outputData"]["response"]["body"]["charge"], "ch_1");
    }
    assert_eq!((scene.oracle.heard("a").len(), scene.oracle.effects("a")), (3, 1));
}

#[test]
fn a_key_that_was_used_for_something_else_is_a_bug_and_not_tried_again() {
    let scene = Scene::set();
    let fixed = json!({"idempotency": {"value": "the-same-for-all"}});
    scene.define("fixed", fixed, json!({"retryCount": 3}));
    assert_eq!(scene.task(&scene.start("fixed", "a"))["status"], "COMPLETED");
    let task = scene.task(&scene.start("fixed", "b"));
    assert_eq!(task["status"], "FAILED_WITH_TERMINAL_ERROR");
    let reason = task["reasonForIncompletion"].as_str().unwrap_or_default();
    assert!(reason.contains("used before for another request"), "{reason}");
    assert_eq!(scene.oracle.effects("b"), 0);
}

/// The count can fail: nobody can help a service that forgets.
#[test]
fn a_service_that_forgets_its_keys_is_found_out() {
    let scene = Scene::set();
    scene.define("keyed", patience(), json!({"retryCount": 3}));
    scene.oracle.plan("f", &[Fault::DropAfter, Fault::Forget]);
    assert_eq!(scene.over(&scene.start("keyed", "f"))["status"], "COMPLETED");
    assert_eq!(scene.oracle.effects("f"), 2);
}

#[test]
fn as_in_conductor_everything_is_tried_again_where_that_is_wanted() {
    let options = [&crate::scene::OPTIONS[..], &["--store", "memory", "--http-compat-retry"]];
    let scene = Scene::set_with(&options.concat());
    scene.define("bare", without_key(), json!({"retryCount": 1}));
    scene.oracle.plan("a", &[Fault::DropAfter]);
    assert_eq!(scene.over(&scene.start("bare", "a"))["status"], "COMPLETED");
    scene.oracle.plan("b", &[refused(404)]);
    let run = scene.over(&scene.start("bare", "b"));
    assert_eq!(
        (&run["status"], &run["tasks"][0]["status"]),
        (&json!("COMPLETED"), &json!("FAILED"))
    );
}
