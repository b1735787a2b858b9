//! # Parameters: what stands in the inputs of a step whose type reads inputs of known names
//!
//! `inputParameters` hold data of their author, so a name is only judged where nobody else can have a
//! use for it: in a request, in a start, and where it is almost a name that its type reads.

use serde_json::{Map, Value};

use super::{LABEL_CHARS_MAX, Place, shortened};
use crate::spelling::nearest;
use crate::unknown_members::{says_something, unknown_in_start};
use crate::{Warning, WorkflowTask};

const HTTP_FIELDS: [&str; 15] = [
    "accept",
    "assumeIdempotent",
    "asyncComplete",
    "body",
    "connectionTimeOut",
    "contentType",
    "followRedirects",
    "headers",
    "idempotency",
    "ifMatch",
    "ifNoneMatch",
    "method",
    "onConditionFailed",
    "readTimeOut",
    "totalTimeOut",
];
const HTTP_KEY_FIELDS: [&str; 5] = ["bodyField", "enabled", "header", "preset", "value"];
/// Fields of Conductor and Orkes that this release has no use for.
const IDLE_HTTP_FIELDS: [&str; 5] =
    ["appName", "encode", "oauthConsumerKey", "oauthConsumerSecret", "vipAddress"];
/// What stands beside the inputs of a step, and is easily put among them.
const STEP_FIELDS: [&str; 3] = ["cacheConfig", "downstream", "effect"];

/// What a step says in its inputs that nobody reads.
pub(super) fn unread(place: &Place<'_>) -> Vec<Warning> {
    let mut found = Unread { list: vec![] };
    found.step(&format!("{}.inputParameters", place.path), place.step);
    found.list
}

struct Unread {
    list: Vec<Warning>,
}

impl Unread {
    fn step(&mut self, path: &str, step: &WorkflowTask) {
        let inputs = step.input_parameters();
        match step.kind.as_str() {
            "HTTP" => match inputs.get("http_request") {
                Some(Value::Object(request)) => {
                    self.request(&format!("{path}.http_request"), request);
                }
                Some(_) | None => {
                    let known: Vec<&str> = HTTP_FIELDS.into_iter().chain(["uri"]).collect();
                    self.mistyped(path, inputs, &known);
                    self.idle(path, inputs);
                }
            },
            "START_WORKFLOW" => {
                if let Some(start) = inputs.get("startWorkflow") {
                    let prefix = format!("{path}.startWorkflow.");
                    self.list
                        .extend(unknown_in_start(start).into_iter().map(|it| it.below(&prefix)));
                }
            }
            "ACQUIRE_LOCK" => self.unknown(path, inputs, &["leaseSeconds", "name"]),
            "RELEASE_LOCK" => self.unknown(path, inputs, &["name"]),
            "WAIT" => self.mistyped(path, inputs, &["duration", "until"]),
            "TERMINATE" => {
                let known = ["terminationReason", "terminationStatus", "workflowOutput"];
                self.mistyped(path, inputs, &known);
            }
            "PULL_WORKFLOW_MESSAGES" => self.mistyped(path, inputs, &["batchSize", "blocking"]),
            "DO_WHILE" => self.mistyped(path, inputs, &["_items", "keepLastN"]),
            "FORK_JOIN_DYNAMIC" => {
                let known = [
                    "forkTaskInputs",
                    "forkTaskName",
                    "forkTaskType",
                    "forkTaskWorkflow",
                    "forkTaskWorkflowVersion",
                ];
                self.mistyped(path, inputs, &known);
            }
            _ => {}
        }
    }

    fn request(&mut self, path: &str, request: &Map<String, Value>) {
        let known: Vec<&str> = HTTP_FIELDS
            .into_iter()
            .chain(["hedgingConfig", "uri"])
            .chain(IDLE_HTTP_FIELDS)
            .collect();
        self.unknown(path, request, &known);
        self.idle(path, request);
        if let Some(Value::Object(key)) = request.get("idempotency") {
            self.unknown(&format!("{path}.idempotency"), key, &HTTP_KEY_FIELDS);
        }
    }

    /// `encode` says what is done anyway when it is true.
    fn idle(&mut self, path: &str, request: &Map<String, Value>) {
        for name in IDLE_HTTP_FIELDS {
            let value = request.get(name).filter(|value| says_something(value));
            if value.is_some_and(|value| *value != Value::Bool(true)) {
                let message = "is kept, and without effect in this release";
                self.list.push(Warning::no_effect(format!("{path}.{name}"), message));
            }
        }
    }

    /// Every name that is not known.
    fn unknown(&mut self, path: &str, members: &Map<String, Value>, known: &[&str]) {
        let given = members.iter().filter(|(_, value)| says_something(value));
        for (name, _) in given.filter(|(name, _)| !known.contains(&name.as_str())) {
            let beside = nearest(name, STEP_FIELDS.into_iter());
            let message = match nearest(name, known.iter().copied()) {
                Some(meant) => unread_as(meant),
                None => match beside {
                    Some(meant) => format!(
                        "{}? It stands in the step, beside inputParameters",
                        unread_as(meant).trim_end_matches('?')
                    ),
                    None => "is not known here and changes nothing".to_owned(),
                },
            };
            self.add(path, name, message);
        }
    }

    /// Every name that is almost a known one which is not there.
    fn mistyped(&mut self, path: &str, members: &Map<String, Value>, known: &[&str]) {
        let given = members.iter().filter(|(_, value)| says_something(value));
        for (name, _) in given.filter(|(name, _)| !known.contains(&name.as_str())) {
            let meant = nearest(name, known.iter().copied());
            if let Some(meant) = meant.filter(|meant| !members.contains_key(*meant)) {
                self.add(path, name, unread_as(meant));
            }
        }
    }

    fn add(&mut self, path: &str, name: &str, message: String) {
        let name = shortened(name, LABEL_CHARS_MAX);
        self.list.push(Warning::dropped(format!("{path}.{name}"), message));
    }
}

fn unread_as(meant: &str) -> String {
    format!("is not known here and changes nothing; is {meant} meant?")
}
