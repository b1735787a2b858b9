//! # Search: what is committed is found, whatever became of the index
//!
//! Whole servers in this process, on memory and on SQLite.

#![expect(clippy::unwrap_used, reason = "a test says what went wrong by panicking")]

mod server;

use semel_model::{ExecutionId, TaskId, WorkflowStatus};
use semel_store::search::WorkflowSearch;
use semel_store::{Batch, HandedOver, Place, RunRow, Stretch};
use serde_json::{Value, json};
use server::{Disk, Server};

fn id_of(task: &Value) -> TaskId {
    task["taskId"].as_str().unwrap().parse().unwrap()
}

fn place_of(task: &Value) -> Place {
    let execution = task["workflowInstanceId"].as_str().unwrap().parse().unwrap();
    Place { execution, task: id_of(task) }
}

#[test]
fn what_somebody_did_is_found_by_whoever_asks_next() {
    for disk in Disk::both() {
        let server = Server::on(&disk);
        server.define("order", "pay");
        let input = json!({"input": {"city": "Zürich"}, "correlationId": "c-1"});
        let first = server.start("order", &input);
        let second = server.start("order", &json!({"idempotencyKey": "k-1"}));
        assert_eq!(server.runs("workflowType=order", "*"), [first, second]);
        assert_eq!(server.runs("correlationId=c-1", "*"), [first]);
        assert_eq!(server.runs("idempotencyKey=k-1 AND status=RUNNING", "*"), [second]);
        assert_eq!(server.runs("", "zürich"), [first]);
        assert_eq!(server.tasks("taskType=pay AND status=SCHEDULED", "*").len(), 2);
        let task = server.poll("pay");
        assert_eq!(server.tasks("status=IN_PROGRESS", "*"), [place_of(&task)]);
        assert_eq!(server.place_of(id_of(&task)), Some(place_of(&task)));
        server.report(&task, "COMPLETED", &json!({"receipt": "R-77"}));
        assert_eq!(server.tasks("status=COMPLETED", "r-77"), [place_of(&task)]);
        assert_eq!(server.tasks("status=IN_PROGRESS", "*"), []);
        assert_eq!(server.tasks("taskType=ship", "*").len(), 1);
        server.report(&server.poll("ship"), "COMPLETED", &json!({"parcel": "P-42"}));
        assert_eq!(server.runs("status=COMPLETED", "*"), [place_of(&task).execution]);
        assert_eq!(server.runs("status=COMPLETED", "p-42"), [place_of(&task).execution]);
        server.ask("DELETE", &format!("/api/workflow/{first}/remove"), &Value::Null);
        assert_eq!(server.runs("", "*"), [second]);
        assert_eq!(server.tasks(&format!("workflowId={first}"), "*"), []);
        let nobody = TaskId::from_bytes([7; 16]);
        assert_eq!(server.place_of(nobody), None);
    }
}

#[test]
fn tasks_that_a_restart_removed_are_not_found() {
    for disk in Disk::both() {
        let server = Server::on(&disk);
        server.define("order", "pay");
        let run = server.start("order", &json!({}));
        let before = server.poll("pay");
        server.report(&before, "COMPLETED", &json!({}));
        assert_eq!(server.tasks("", "*").len(), 2);
        server.ask("DELETE", &format!("/api/workflow/{run}"), &Value::Null);
        server.ask("POST", &format!("/api/workflow/{run}/restart"), &Value::Null);
        assert_eq!(server.tasks("", "*").len(), 1);
        assert_eq!(server.place_of(id_of(&before)), None);
        let task = server.poll("pay");
        assert_eq!(server.tasks("status=IN_PROGRESS", "*"), [place_of(&task)]);
    }
}

#[test]
fn a_run_whose_time_is_over_is_not_found() {
    for disk in Disk::both() {
        let server = Server::keeping(&disk, Some(60_000));
        server.define("order", "pay");
        let [over, lives] = [(); 2].map(|()| server.start("order", &json!({})));
        server.ask("DELETE", &format!("/api/workflow/{over}"), &Value::Null);
        assert_eq!(server.runs("", "*").len(), 2);
        server.ask("POST", "/test/clock", &json!({"advanceMs": 120_000}));
        let deadline = std::time::Instant::now() + std::time::Duration::from_secs(30);
        while server.runs("", "*") != [lives] {
            assert!(std::time::Instant::now() < deadline, "it is still found");
            std::thread::yield_now();
        }
        assert_eq!(server.tasks(&format!("workflowId={over}"), "*"), []);
    }
}

#[test]
fn steps_that_came_with_data_go_with_the_last_run_that_was_given_them() {
    let [disk, _] = Disk::both();
    let (server, store) = (Server::on(&disk), disk.store());
    let fan = json!({"name": "fan", "taskReferenceName": "fan", "type": "FORK_JOIN_DYNAMIC",
        "inputParameters": {"forkTaskName": "w", "forkTaskInputs": "${workflow.input.list}"}});
    let join = json!({"name": "join", "taskReferenceName": "join", "type": "JOIN"});
    let definition = json!({"name": "fanned", "version": 1, "tasks": [fan, join]});
    server.ask("POST", "/api/metadata/workflow", &definition);
    let begin = |list: Value| server.start("fanned", &json!({"input": {"list": list}}));
    let runs = [begin(json!([1, 2])), begin(json!([1, 2])), begin(json!([3]))];
    let given = runs.map(|run| {
        let loaded = store.load(run, 0).unwrap().expect("it is there");
        loaded.deliveries.first().expect("branches wait for workers").definition
    });
    assert!(given[0] == given[1] && given[0] != given[2], "the same steps are kept once");
    let is_kept = || given.map(|digest| store.pinned(digest).unwrap().is_some());
    let remove = |run: ExecutionId| {
        let path = format!("/api/workflow/{run}/remove?archiveWorkflow=false");
        server.ask("DELETE", &path, &Value::Null);
    };
    remove(runs[0]);
    assert_eq!(is_kept(), [true, true, true]);
    remove(runs[1]);
    assert_eq!(is_kept(), [false, false, true]);
    assert_eq!(server.poll("w")["workflowInstanceId"], runs[2].to_string());
    let again = begin(json!([1, 2]));
    assert_eq!(is_kept(), [true, true, true]);
    remove(again);
    remove(runs[2]);
    assert_eq!(is_kept(), [false; 3]);
}

/// A server with a run that is over, one that waits and one that a worker has; and what is true.
struct Scene {
    over: ExecutionId,
    waits: ExecutionId,
    held: Place,
}

impl Scene {
    fn set(server: &Server) -> Self {
        server.define("order", "pay");
        server.define("refund", "check");
        let over = server.start("order", &json!({"input": {"note": "first words"}}));
        server.report(&server.poll("pay"), "FAILED_WITH_TERMINAL_ERROR", &json!({}));
        let waits = server.start("order", &json!({}));
        server.start("refund", &json!({}));
        let held = place_of(&server.poll("check"));
        Self { over, waits, held }
    }

    fn is_found(&self, server: &Server) {
        assert_eq!(server.runs("status=FAILED", "*"), [self.over]);
        assert_eq!(server.runs("status=RUNNING", "*").len(), 2);
        assert_eq!(server.runs("", "first words"), [self.over]);
        assert_eq!(server.runs("", "*").len(), 3);
        assert_eq!(server.tasks("status=IN_PROGRESS", "*"), [self.held]);
        assert_eq!(server.tasks("status=SCHEDULED", "*").len(), 1);
        assert_eq!(server.tasks("", "*").len(), 3);
        assert_eq!(server.place_of(self.held.task), Some(self.held));
    }
}

/// Lets a server live, changes its index, and lets it live again.
fn is_mended(change: impl Fn(&Disk, &Scene)) {
    for disk in Disk::both() {
        let server = Server::on(&disk);
        let scene = Scene::set(&server);
        scene.is_found(&server);
        drop(server);
        change(&disk, &scene);
        scene.is_found(&Server::on(&disk));
    }
}

fn put(disk: &Disk, batch: &Batch) {
    disk.store().index().put(batch).unwrap();
}

fn stray(id: ExecutionId) -> RunRow {
    RunRow {
        id,
        seq: 1,
        brings: vec![Stretch { after: 0, to: 1 }],
        name: "stray".to_owned(),
        version: 1,
        status: WorkflowStatus::Running,
        correlation_id: String::new(),
        idempotency_key: String::new(),
        parent: None,
        priority: 0,
        started_at: semel_model::Timestamp::NOT_YET,
        updated_at: semel_model::Timestamp::NOT_YET,
        ended_at: semel_model::Timestamp::NOT_YET,
        has_new_words: true,
    }
}

#[test]
fn rows_that_are_stale_are_written_again() {
    is_mended(|disk, scene| {
        let runs = vec![stray(scene.over), stray(scene.waits)];
        put(disk, &Batch { runs, emptied: vec![(scene.over, u64::MAX)], ..Batch::default() });
    });
}

#[test]
fn rows_that_are_missing_are_written() {
    is_mended(|disk, scene| {
        put(disk, &Batch { removed: vec![scene.over, scene.held.execution], ..Batch::default() });
    });
}

/// A server dies before it has indexed some entries, and those after them are indexed by the next.
#[test]
fn tasks_of_entries_that_were_lost_are_found_though_later_ones_were_indexed() {
    is_mended(|disk, scene| {
        let store = disk.store();
        let ends = store.ends_of_journals(None, 9).unwrap();
        let (id, seq) = ends.into_iter().find(|(id, _)| *id == scene.over).unwrap();
        let later = RunRow {
            seq,
            brings: vec![Stretch { after: seq - 1, to: seq }],
            status: WorkflowStatus::Failed,
            ..stray(id)
        };
        store.index().put(&Batch { removed: vec![id], ..Batch::default() }).unwrap();
        store.index().put(&Batch { runs: vec![later], ..Batch::default() }).unwrap();
    });
}

#[test]
fn what_is_indexed_as_it_happens_is_whole() {
    for disk in Disk::both() {
        let server = Server::on(&disk);
        let scene = Scene::set(&server);
        server.report(&server.poll("pay"), "COMPLETED", &json!({}));
        server.ask("DELETE", &format!("/api/workflow/{}", scene.waits), &Value::Null);
        server.ask("POST", &format!("/api/workflow/{}/restart", scene.waits), &Value::Null);
        assert_eq!(server.runs("", "*").len(), 3);
        drop(server);
        let store = disk.store();
        let indexed = store.index().indexed(None, 9).unwrap();
        assert!(indexed.iter().all(|(_, row)| row.is_whole), "{indexed:?}");
        let seqs: Vec<_> = indexed.into_iter().map(|(id, row)| (id, row.seq)).collect();
        assert_eq!(seqs, store.ends_of_journals(None, 9).unwrap());
    }
}

#[test]
fn rows_of_nobody_are_removed() {
    is_mended(|disk, _| {
        let strays = (0..=255).map(|byte| stray(ExecutionId::from_bytes([byte; 16])));
        put(disk, &Batch { runs: strays.collect(), ..Batch::default() });
    });
}

/// A claim leaves no entry in the journal, so the seq of its run does not show that it is missing.
#[test]
fn a_claim_that_was_not_indexed_is_found_after_all() {
    for disk in Disk::both() {
        let server = Server::on(&disk);
        let scene = Scene::set(&server);
        scene.is_found(&server);
        let held = server.poll("pay");
        drop(server);
        let search = WorkflowSearch::parse("", "*", "").unwrap();
        let store = disk.store();
        assert_eq!(store.index().workflows(&search).unwrap().total, 3);
        let row = HandedOver {
            started_at: semel_model::Timestamp::NOT_YET,
            updated_at: semel_model::Timestamp::NOT_YET,
        };
        store
            .index()
            .put(&Batch { handed_over: [(place_of(&held), row)].into(), ..Batch::default() })
            .unwrap();
        drop(store);
        let server = Server::on(&disk);
        assert_eq!(server.tasks("status=IN_PROGRESS AND startTime>0", "*").len(), 2);
    }
}

#[test]
fn an_index_that_was_forgotten_is_written_from_the_journals() {
    is_mended(|disk, _| disk.store().index().reset().unwrap());
}

#[test]
fn a_file_that_is_gone_or_broken_is_written_anew() {
    let file = |disk: &Disk| disk.directory().map(|directory| directory.join("semel-index.db"));
    is_mended(|disk, _| {
        if let Some(file) = file(disk) {
            std::fs::remove_file(file).unwrap();
        }
    });
    for bytes in [0, 50, 8192, 20_000, 60_000] {
        is_mended(|disk, _| {
            if let Some(file) = file(disk) {
                std::fs::File::options().write(true).open(file).unwrap().set_len(bytes).unwrap();
            }
        });
    }
}

#[test]
fn what_a_killed_server_left_is_found_by_the_next() {
    for disk in Disk::both() {
        let server = Server::on(&disk);
        let scene = Scene::set(&server);
        // Nobody waited for the index.
        let left = disk.as_cut_off();
        if disk.directory().is_some() {
            scene.is_found(&Server::on(&left));
        }
        drop(server);
        scene.is_found(&Server::on(&disk));
    }
}
