//! # `semel explain`

use semel_tests::process::until;
use serde_json::json;

use crate::house::{House, definition, house};

fn explained(house: &House, id: &str) -> String {
    house.semel(&["explain", id]).ok().stdout
}

fn has(text: &str, words: &str) {
    assert!(text.contains(words), "{words:?} is not in:\n{text}");
}

#[test]
fn a_task_is_followed_from_no_worker_to_its_end() {
    let house = house();
    house.define("e_work");
    let id = house.start("e_work");
    has(&explained(&house, &id), "only waits for a worker that polls e_work");
    has(&explained(&house, &id), "No worker has polled e_work there since the server started");
    house.semel(&["task", "poll", "e_work", "--worker", "ann"]).ok();
    let held = explained(&house, &id);
    has(&held, "only is in progress with ann");
    has(&held, "Its lease ends at ");
    let fail = ["task", "update", "--workflow", &id, "--task"];
    let shown = house.semel(&["workflow", "show", &id]).ok();
    let task = shown.row("only")[7].to_owned();
    let rest =
        [task.as_str(), "--status", "FAILED", "--reason", "card declined", "--worker", "ann"];
    house.semel(&[&fail[..], &rest[..]].concat()).ok();
    let delayed = explained(&house, &id);
    has(&delayed, "only is tried again at ");
    has(&delayed, "as attempt 2. The attempt before: card declined");
    house.semel(&["workflow", "pause", &id]).ok();
    has(&explained(&house, &id), &format!("semel workflow resume {id}"));
    house.semel(&["workflow", "terminate", &id, "--reason", "enough"]).ok();
    has(&explained(&house, &id), "ago): enough");
    let told = house.semel(&["explain", &id, "--json"]).ok().json();
    assert_eq!(
        (&told["status"], &told["waits"][0]["kind"]),
        (&json!("TERMINATED"), &json!("ENDED"))
    );
    let words = explained(&house, &id);
    has(&words, told["summary"].as_str().unwrap().split(" started").next().unwrap());
    assert_eq!(house.semel(&["explain", "nonsense"]).code, Some(4));
}

#[test]
fn what_it_says_about_waiting_people_and_children_can_be_typed() {
    let house = house();
    for kind in ["WAIT", "HUMAN"] {
        let name = format!("e_{kind}");
        let mut workflow = definition(&name, kind);
        workflow["tasks"][0]["inputParameters"] = json!({});
        house.semel(&["workflow", "create", &house.file(&format!("{name}.json"), &workflow)]).ok();
        let id = house.start(&name);
        let text = explained(&house, &id);
        let how = text.lines().find_map(|line| line.strip_prefix("Complete it: semel "));
        let how = how.unwrap_or_else(|| panic!("{text}")).replace('\'', "");
        house.semel(&how.split(' ').collect::<Vec<_>>()).ok();
        assert_eq!(house.semel(&["workflow", "status", &id]).ok().word(), "COMPLETED");
    }
    house.define("e_child");
    let mut parent = definition("e_parent", "SUB_WORKFLOW");
    parent["tasks"][0]["subWorkflowParam"] = json!({"name": "e_child", "version": 1});
    house.semel(&["workflow", "create", &house.file("e_parent.json", &parent)]).ok();
    let id = house.start("e_parent");
    let child = until("the child is there", semel_tests::process::DEADLINE, || {
        let run = house.semel(&["workflow", "show", &id, "--json"]).ok().json();
        run["tasks"][0]["subWorkflowId"].as_str().map(str::to_owned)
    });
    let child = child.expect("the parent begins its child");
    has(&explained(&house, &id), &format!("waits for the run {child}, which is RUNNING"));
}
