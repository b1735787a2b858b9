//! # Under way: runs of every kind, on one server, that go on at another

use reqwest::Method;
use semel_tests::process::{Answer, Caller, DEADLINE, Server, until};
use serde_json::{Value, json};

const HOUR_MS: i64 = 3_600_000;

/// One who asks, and expects to be answered.
pub(crate) struct Desk(Caller);

impl Desk {
    pub(crate) fn at(server: &Server) -> Self {
        Self(server.caller().unwrap())
    }

    fn ask(&self, method: Method, path: &str, body: Option<&Value>) -> Answer {
        let answer = self.0.insist(method, path, body).unwrap();
        assert!(answer.status < 300, "{path}: {} {}", answer.status, answer.body);
        answer
    }

    fn post(&self, path: &str, body: &Value) -> Answer {
        self.ask(Method::POST, path, Some(body))
    }

    fn get(&self, path: &str) -> Value {
        self.ask(Method::GET, path, None).json()
    }

    pub(crate) fn start(&self, name: &str, key: &str) -> String {
        let body = json!({"name": name, "input": {"order": key}, "idempotencyKey": key,
                          "idempotencyStrategy": "RETURN_EXISTING"});
        self.post("/api/workflow", &body).body
    }

    pub(crate) fn claim(&self, task_type: &str) -> Value {
        let task = self.get(&format!("/api/tasks/poll/{task_type}?workerid=ann"));
        assert!(task["taskId"].is_string(), "a task of {task_type}: {task}");
        task
    }

    /// Whether the report counted.
    fn report(&self, task: &Value, output: &Value) -> bool {
        let report = json!({"taskId": task["taskId"], "status": "COMPLETED", "workerId": "ann",
            "workflowInstanceId": task["workflowInstanceId"], "fenceToken": task["fenceToken"],
            "outputData": output});
        self.post("/api/tasks", &report).header("x-task-update") != Some("STALE")
    }

    fn status(&self, id: &str) -> String {
        let run = self.get(&format!("/api/workflow/{id}"));
        run["status"].as_str().unwrap_or_default().to_owned()
    }

    fn await_completion(&self, id: &str) {
        let is_complete = || (self.status(id) == "COMPLETED").then_some(());
        until(&format!("{id} completes"), DEADLINE, is_complete).unwrap();
    }

    pub(crate) fn define(&self) {
        let task = |name: &str| {
            json!({"name": name, "retryDelaySeconds": 0, "responseTimeoutSeconds": 60,
                   "timeoutSeconds": 0, "rateLimitPerFrequency": 1_000,
                   "rateLimitFrequencyInSeconds": 3_600})
        };
        let tasks: Vec<_> = ["first", "second", "charge", "quiet"].map(task).into();
        self.post("/api/metadata/taskdefs", &json!(tasks));
        let step = |name: &str| json!({"name": name, "taskReferenceName": name, "type": "SIMPLE"});
        let kind = |kind: &str, input: Value| {
            json!({"name": "step", "taskReferenceName": "step", "type": kind,
                   "inputParameters": input})
        };
        let effect = json!({"name": "charge", "taskReferenceName": "charge", "type": "SIMPLE",
            "inputParameters": {"order": "paid"}, "effect": {"key": "${order}"}});
        let secret = json!({"name": "quiet", "taskReferenceName": "quiet", "type": "SIMPLE",
            "inputParameters": {"password": "${workflow.secrets.PASSWORD}"}});
        let child = json!({"name": "child", "taskReferenceName": "child", "type": "SUB_WORKFLOW",
            "subWorkflowParam": {"name": "pair", "version": 1}});
        for (name, steps) in [
            ("pair", vec![step("first"), step("second")]),
            ("timer", vec![kind("WAIT", json!({"duration": "1 hours"}))]),
            ("person", vec![kind("HUMAN", json!({}))]),
            (
                "lock",
                vec![kind("ACQUIRE_LOCK", json!({"name": "door"})), {
                    json!({"name": "w", "taskReferenceName": "w", "type": "HUMAN"})
                }],
            ),
            ("charge", vec![effect]),
            ("quiet", vec![secret]),
            ("parent", vec![child]),
        ] {
            self.post(
                "/api/metadata/workflow",
                &json!({"name": name, "version": 1,
                "schemaVersion": 2, "ownerEmail": "a@b.c", "tasks": steps}),
            );
        }
        self.0.put_text("/api/secrets/PASSWORD", "correct-horse").unwrap();
        self.0.put_text("/api/environment/REGION", "eu-1").unwrap();
    }
}

/// What was under way when the server was stopped.
pub(crate) struct UnderWay {
    pub(crate) ended: String,
    held: String,
    task: Value,
    timer: String,
    person: String,
    locks: [String; 2],
    quiet: String,
    parent: String,
    charged: String,
}

impl UnderWay {
    pub(crate) fn begin(desk: &Desk) -> Self {
        desk.define();
        let ended = desk.start("pair", "ended");
        let task = desk.claim("first");
        desk.post(&format!("/api/tasks/{}/log", task["taskId"].as_str().unwrap()), &json!("half"));
        assert!(desk.report(&task, &json!({"by": "ann"})));
        assert!(desk.report(&desk.claim("second"), &json!({})));
        let charged = desk.start("charge", "charged");
        assert!(desk.report(&desk.claim("charge"), &json!({"receipt": 7})));
        let held = desk.start("pair", "held");
        let task = desk.claim("first");
        let (timer, person) = (desk.start("timer", "timer"), desk.start("person", "person"));
        let locks = ["one", "two"].map(|key| desk.start("lock", key));
        let (quiet, parent) = (desk.start("quiet", "quiet"), desk.start("parent", "parent"));
        Self { ended, held, task, timer, person, locks, quiet, parent, charged }
    }

    fn ids(&self) -> Vec<&str> {
        let [one, two] = &self.locks;
        let ids = [&self.ended, &self.held, &self.timer, &self.person, one, two, &self.quiet];
        ids.into_iter().chain([&self.parent, &self.charged]).map(String::as_str).collect()
    }

    /// Everything goes on where it was.
    pub(crate) fn go_on(&self, desk: &Desk) {
        for (key, id) in [("held", &self.held), ("ended", &self.ended)] {
            assert_eq!(&desk.start("pair", key), id, "its key still answers");
        }
        let fence = |task: &Value| task["fenceToken"].as_str().unwrap().parse::<u64>().unwrap();
        assert!(desk.report(&self.task, &json!({})), "whoever had a task still has it");
        assert!(!desk.report(&self.task, &json!({"by": "somebody"})), "once");
        let next = desk.claim("second");
        assert!(fence(&next) > fence(&self.task), "{next}");
        assert!(desk.report(&next, &json!({})));
        desk.await_completion(&self.held);
        let quiet = desk.claim("quiet");
        assert_eq!(quiet["inputData"]["password"], "correct-horse");
        assert!(desk.report(&quiet, &json!({})));
        let again = desk.start("charge", "again");
        assert_eq!(
            desk.get(&format!("/api/workflow/{again}"))["tasks"][0]["outputData"],
            json!({"receipt": 7}),
            "what has happened is replayed"
        );
        assert!(desk.report(&desk.claim("first"), &json!({})), "of the child");
        assert!(desk.report(&desk.claim("second"), &json!({})));
        desk.await_completion(&self.parent);
        desk.post(&format!("/api/tasks/{}/step/COMPLETED", self.person), &json!({}));
        let [one, two] = &self.locks;
        let waits = desk.get(&format!("/api/workflow/{two}"))["tasks"][0]["status"].clone();
        assert_eq!(waits, "IN_PROGRESS", "the other one has the lock");
        for id in [one, two] {
            let completed = || {
                // Without `sync` it is 200 also while nothing waits.
                let path = format!("/api/tasks/{id}/w/COMPLETED/sync");
                desk.0.post(&path, &json!({})).ok().filter(|answer| answer.status == 200)
            };
            until("the lock is its own", DEADLINE, completed).unwrap();
            desk.await_completion(id);
        }
        assert_eq!(desk.status(&self.timer), "RUNNING");
        desk.post("/test/clock", &json!({"advanceMs": HOUR_MS}));
        desk.await_completion(&self.timer);
        for id in self.ids() {
            desk.await_completion(id);
            desk.post(&format!("/api/workflow/{id}/verify"), &json!({}));
        }
        self.is_found(desk);
    }

    /// What is searched by, and what was written about tasks.
    fn is_found(&self, desk: &Desk) {
        let found = || {
            let page = desk.get("/api/workflow/search?query=status%3DCOMPLETED&size=100");
            let ids = page["results"].as_array()?.iter();
            let ids: Vec<_> = ids.filter_map(|run| run["workflowId"].as_str()).collect();
            self.ids().iter().all(|id| ids.contains(id)).then_some(())
        };
        until("all are found", DEADLINE, found).unwrap();
        let ended = desk.get(&format!("/api/workflow/{}", self.ended));
        let task = ended["tasks"][0]["taskId"].as_str().unwrap();
        assert_eq!(desk.get(&format!("/api/tasks/{task}/log"))[0]["log"], "half");
    }
}
