//! # Effects, locks, start keys and journals, as an operator looks at them and settles them

use semel_tests::process::{DEADLINE, until};
use serde_json::{Value, json};

use crate::house::{House, house};

fn post(house: &House, path: &str, body: &Value) -> Value {
    let answer = house.caller().post(path, body).expect("the server answers");
    assert_eq!(answer.status, 200, "{path}: {}", answer.body);
    answer.json()
}

#[test]
fn effects_are_listed_shown_and_resolved() {
    let house = house();
    let start = json!({"scope": "r_pay", "key": "9243", "owner": "ann", "leaseSeconds": 1});
    post(&house, "/api/effects/try-start", &start);
    let held = house.semel(&["effect", "list", "--scope", "r_pay"]).ok();
    assert_eq!(held.row("9243")[..4], ["r_pay", "9243", "CLAIMED", "ann"]);
    let shown = house.semel(&["effect", "show", "r_pay", "9243"]).ok();
    assert!(shown.stderr.starts_with("r_pay 9243 CLAIMED\n"), "{shown:?}");
    assert!(shown.stderr.contains("owner        ann"), "{shown:?}");
    assert_eq!(house.semel(&["effect", "show", "r_pay", "none"]).code, Some(4));
    let unknown = ["effect", "list", "--scope", "r_pay", "--state", "UNKNOWN"];
    let lapsed = || Some(house.semel(&unknown).ok()).filter(|said| said.stdout.contains("9243"));
    let lapsed = until("the lease lapses", DEADLINE, lapsed).expect("it was for a second");
    assert_eq!(lapsed.row("9243")[2], "UNKNOWN");
    let missing = house.semel(&["effect", "resolve", "r_pay", "9243"]);
    assert_eq!(missing.code, Some(2), "{missing:?}");
    let resolve = ["effect", "resolve", "r_pay", "9243", "--applied", "true"];
    let output = ["--output", r#"{"receipt": 7}"#, "--note", "seen at the bank"];
    let said = house.semel(&[&resolve[..], &output].concat()).ok();
    assert!(said.stderr.contains("it has happened"), "{said:?}");
    let after = house.semel(&["effect", "show", "r_pay", "9243", "--json"]).ok().json();
    assert_eq!((&after["state"], &after["result"]["receipt"]), (&json!("COMPLETED"), &json!(7)));
    let other = house.semel(&["effect", "resolve", "r_pay", "9243", "--applied", "false"]);
    assert_eq!(other.code, Some(5), "{other:?}");
}

#[test]
fn locks_are_listed_and_freed_under_the_fence_that_was_seen() {
    let house = house();
    let acquire = |owner: &str| {
        let body = json!({"owner": owner, "leaseSeconds": 600});
        post(&house, "/api/locks/r_door/acquire", &body)["fence"].clone()
    };
    let first = acquire("ann");
    let fence = first.as_str().unwrap_or_default().to_owned();
    let listed = house.semel(&["lock", "list"]).ok();
    assert_eq!(listed.row("r_door")[..4], ["r_door", "CLAIMED", "ann", &fence]);
    let shown = house.semel(&["lock", "show", "r_door"]).ok();
    assert!(shown.stderr.contains("owner        ann"), "{shown:?}");
    let said = house.semel(&["lock", "free", "r_door"]).ok();
    assert!(said.stderr.contains("freed: r_door"), "{said:?}");
    assert!(!house.semel(&["lock", "list"]).ok().stdout.contains("r_door"));
    // Said twice it is said once, and whoever has it by now is left alone.
    house.semel(&["lock", "free", "r_door", "--fence", &fence]).ok();
    assert_eq!(house.semel(&["lock", "free", "r_door"]).code, Some(5));
    acquire("bob");
    let late = house.semel(&["lock", "free", "r_door", "--fence", &fence]);
    assert_eq!(late.code, Some(5), "{late:?}");
    assert!(house.semel(&["lock", "list"]).ok().row("r_door").contains(&"bob"));
    assert_eq!(house.semel(&["lock", "show", "r_none"]).code, Some(4));
}

#[test]
fn a_lock_that_a_run_has_is_freed_for_the_next_in_line() {
    let house = house();
    let steps = json!([
        {"name": "take", "taskReferenceName": "take", "type": "ACQUIRE_LOCK",
         "inputParameters": {"name": "r_run"}},
        {"name": "r_work", "taskReferenceName": "work", "type": "SIMPLE"}]);
    let workflow = json!({"name": "r_locks", "version": 1, "schemaVersion": 2, "tasks": steps});
    house.semel(&["workflow", "create", &house.file("r_locks.json", &workflow)]).ok();
    let (first, second) = (house.start("r_locks"), house.start("r_locks"));
    let holder = |run: &str| format!("run {run}");
    let listed = house.semel(&["lock", "list"]).ok();
    let row = listed.row("r_run");
    assert_eq!((row[2], row[6]), (holder(&first).as_str(), "1"));
    house.semel(&["lock", "free", "r_run"]).ok();
    let listed = house.semel(&["lock", "list"]).ok();
    assert_eq!(listed.row("r_run")[2], holder(&second));
    // The first run ends, and takes nothing from the second.
    house.semel(&["workflow", "terminate", &first]).ok();
    let listed = house.semel(&["lock", "list"]).ok();
    assert_eq!(listed.row("r_run")[2], holder(&second));
    house.semel(&["workflow", "verify", &first]).ok();
    house.semel(&["workflow", "verify", &second]).ok();
    house.semel(&["workflow", "terminate", &second]).ok();
}

#[test]
fn a_start_key_is_shown_with_those_who_asked_again_and_reset() {
    let house = house();
    house.define("r_key");
    let start = ["workflow", "start", "r_key", "--key", "k 1", "--strategy", "RETURN_EXISTING"];
    let id = house.semel(&start).ok().word().to_owned();
    let other = house.semel(&[&start[..], &["--input", r#"{"given": 9}"#]].concat()).ok();
    assert!(other.stderr.contains("nothing was started"), "{other:?}");
    assert!(other.stderr.contains("another payload"), "{other:?}");
    let refused =
        house.semel(&["workflow", "start", "r_key", "--key", "k 1", "--input", "{\"a\": 1}"]);
    assert_eq!(refused.code, Some(5), "{refused:?}");
    assert!(refused.stderr.contains("another payload"), "{refused:?}");
    let found = house.semel(&["workflow", "search", "--key", "k 1"]).ok();
    assert_eq!((found.row(&id)[1], found.row(&id)[7]), ("r_key", "k 1"));
    let none = house.semel(&["workflow", "search", "--key", "k 2"]).ok();
    assert_eq!(none.stdout, "");
    let run = house.semel(&["workflow", "show", &id]).ok();
    assert!(run.stderr.contains("key          k 1"), "{run:?}");
    assert!(run.stderr.contains("asked again  2 times"), "{run:?}");
    let shown = house.semel(&["key", "show", "r_key", "k 1"]).ok();
    assert!(shown.stderr.contains(&format!("run          {id}")), "{shown:?}");
    assert!(shown.stdout.contains("another payload"), "{shown:?}");
    assert!(shown.stderr.contains("run is       RUNNING"), "{shown:?}");
    assert!(shown.stderr.contains("record       COMPLETED: the start was made"), "{shown:?}");
    assert!(shown.stderr.starts_with("r_key k 1\n"), "the run is not completed: {shown:?}");
    house.semel(&["key", "reset", "r_key", "k 1"]).ok();
    assert_ne!(house.semel(&start).ok().word(), id);
    assert_eq!(house.semel(&["key", "show", "r_key", "never"]).code, Some(4));
}

#[test]
fn the_journal_of_a_run_is_printed_and_verified() {
    let house = house();
    house.define("r_log");
    let id = house.start("r_log");
    house.semel(&["workflow", "terminate", &id, "--reason", "enough"]).ok();
    let log = house.semel(&["workflow", "log", &id]).ok();
    assert_eq!(log.row("Started")[0], "1");
    assert_eq!(log.row("Terminated")[0], "2");
    let rest = house.semel(&["workflow", "log", &id, "--from", "2"]).ok();
    assert_eq!(rest.stdout.lines().count(), 1, "{rest:?}");
    let verified = house.semel(&["workflow", "verify", &id]).ok();
    assert!(verified.stderr.starts_with("verified: 2 entries"), "{verified:?}");
    assert_eq!(house.semel(&["workflow", "verify", &id, "--json"]).ok().json()["entries"], 2);
    let unknown = house.semel(&["workflow", "log", "0190c3f0-0000-7000-8000-000000000000"]);
    assert_eq!(unknown.code, Some(4), "{unknown:?}");
}

#[test]
fn a_run_is_shown_with_its_effects_stale_reports_and_what_it_waits_for() {
    let house = house();
    let task = json!({"name": "r_show", "retryCount": 0});
    house.semel(&["task", "create", &house.file("r_show.task.json", &task)]).ok();
    let step = json!({"name": "r_show", "taskReferenceName": "pay", "type": "SIMPLE",
        "effect": {"key": "r-show"}});
    let workflow = json!({"name": "r_show", "version": 1, "schemaVersion": 2, "tasks": [step],
        "concurrency": {"key": "all", "limit": 1, "policy": "QUEUE"}});
    house.semel(&["workflow", "create", &house.file("r_show.json", &workflow)]).ok();
    let (first, second) = (house.start("r_show"), house.start("r_show"));
    let waits = house.semel(&["workflow", "show", &second]).ok();
    let line = waits.stderr.lines().find(|line| line.starts_with("  waits for    "));
    assert!(line.is_some_and(|line| line.contains(&first)), "{waits:?}");
    let poll = ["task", "poll", "r_show", "--wait", "1000", "--worker", "ann", "--json"];
    let task = house.semel(&poll).ok().json()[0]["taskId"].as_str().unwrap_or_default().to_owned();
    let held = house.semel(&["workflow", "show", &first]).ok();
    assert_eq!(held.row("pay")[8], "CLAIMED", "{held:?}");
    let report = ["task", "update", "--workflow", &first, "--task", &task, "--status", "COMPLETED"];
    let stale = house.semel(&[&report[..], &["--fence", "1"]].concat());
    assert_eq!(stale.code, Some(5), "{stale:?}");
    let told = house.semel(&["workflow", "show", &first]).ok();
    assert!(told.stderr.contains("not taken    report on pay by "), "{told:?}");
    house.semel(&["workflow", "terminate", &second]).ok();
    house.semel(&["workflow", "terminate", &first]).ok();
}

#[test]
fn refusals_are_told_in_words_of_the_command_line() {
    let house = house();
    house.define("r_words");
    let again = house.semel(&["workflow", "create", &house.path("r_words.json")]);
    assert_eq!(again.code, Some(5), "{again:?}");
    assert!(again.stderr.contains("--force") && !again.stderr.contains("overwrite"), "{again:?}");
    let id = house.start("r_words");
    house.semel(&["task", "poll", "r_words", "--wait", "1000", "--worker", "ann"]).ok();
    let by_name = ["task", "update", "--workflow", &id, "--ref", "only", "--status", "COMPLETED"];
    let held = house.semel(&by_name);
    if held.code != Some(0) {
        assert!(held.stderr.contains("--force") && !held.stderr.contains("force=true"), "{held:?}");
    }
    let live = house.start("r_words");
    let refused = house.semel(&["workflow", "remove", &live]);
    assert_eq!(refused.code, Some(5), "{refused:?}");
    assert!(refused.stderr.contains("--force"), "{refused:?}");
    house.semel(&["workflow", "remove", &live, "--force"]).ok();
    assert_eq!(house.semel(&["workflow", "status", &live]).code, Some(4));
}

#[test]
fn a_secret_tells_which_definitions_may_use_it() {
    let house = House::own();
    house.caller().put_text("/api/secrets/r_bank", "hunter-of-records").expect("it can be stored");
    let step = json!({"name": "r_t", "taskReferenceName": "t", "type": "SIMPLE",
        "inputParameters": {"token": "${workflow.secrets.r_bank}"}});
    for (name, secrets) in [("r_lists", json!(["r_bank"])), ("r_names", json!(null))] {
        let mut definition =
            json!({"name": name, "version": 1, "schemaVersion": 2, "tasks": [step]});
        if !secrets.is_null() {
            definition["secrets"] = secrets;
        }
        let made = house.caller().post("/api/metadata/workflow", &definition);
        assert_eq!(made.expect("it answers").status, 200);
    }
    let said = house.semel(&["secret", "uses", "r_bank"]).ok();
    let rows: Vec<&str> = said.stdout.lines().collect();
    assert_eq!(
        rows,
        ["workflow\tr_lists\t1\tlisted", "workflow\tr_names\t1\tnamed only"],
        "{said:?}"
    );
    assert!(!said.stdout.contains("hunter") && !said.stderr.contains("hunter"), "{said:?}");
    let none = house.semel(&["secret", "uses", "r_other"]).ok();
    assert!(none.stdout.is_empty() && none.stderr.contains("no registered definition"), "{none:?}");
    assert_eq!(house.semel(&["secret", "uses", "r_bank", "--json"]).ok().json()[0]["listed"], true);
}
