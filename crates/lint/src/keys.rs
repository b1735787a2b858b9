//! # Keys: equal exactly when the operation is the same
//!
//! A key that is the same for different operations swallows them; one that differs each time the
//! same operation is tried protects from nothing.

use semel_model::{IdempotencyStrategy, effective_effect};
use serde_json::Value;

use crate::expression::{expressions, head, names};
use crate::finding::{Code, Finding};
use crate::http;
use crate::walk::{Place, Repeats, Scene};

/// The system parameters and fields of a task that are others for each attempt.
const OF_ATTEMPT: [&str; 8] = [
    "CPEWF_TASK_ID",
    "CPEWF_ATTEMPT",
    "CPEWF_FENCE",
    "attempt",
    "pollCount",
    "retryCount",
    "taskId",
    "workerId",
];
const OF_TIME: [&str; 5] = ["createTime", "endTime", "scheduledTime", "startTime", "updateTime"];
/// Names in data that say enough of what they hold.
const IN_DATA: [&str; 7] =
    ["attempt", "currenttime", "now", "random", "retrycount", "taskid", "timestamp"];

/// The key of a start that a step makes.
pub(crate) struct StartKey<'a> {
    pub(crate) key: Option<&'a str>,
    strategy: Option<IdempotencyStrategy>,
}

impl<'a> StartKey<'a> {
    pub(crate) fn of(place: &'a Place<'_>) -> Option<Self> {
        let said = |text: Option<&'a str>| text.filter(|text| !text.trim().is_empty());
        match place.step.kind.as_str() {
            "SUB_WORKFLOW" => {
                let params = place.step.sub_workflow_param.as_ref()?;
                let key = said(params.idempotency_key.as_deref());
                Some(Self { key, strategy: params.idempotency_strategy })
            }
            "START_WORKFLOW" => {
                let request = place.input("startWorkflow")?;
                let text = |name: &str| said(request.get(name).and_then(Value::as_str));
                let strategy = text("idempotencyStrategy").and_then(|name| name.parse().ok());
                Some(Self { key: text("idempotencyKey"), strategy })
            }
            _ => None,
        }
    }
}

pub(crate) fn of_definition(scene: &Scene<'_>) -> Vec<Finding> {
    let policy = scene.definition.idempotency.as_ref();
    let Some(key) = policy.and_then(|policy| policy.key_expression()) else { return vec![] };
    let at = format!("{}idempotency.keyExpression", scene.prefix);
    let mut findings = vec![];
    if expressions(key).is_empty() {
        let message = format!("every start without a key of its own gets the same one: {key}");
        let fix = "name what makes a start another one, such as ${workflow.input.orderId}";
        findings.push(Finding::new(Code::WKey1, &at, message, fix));
    }
    let volatile = expressions(key).into_iter().find_map(of_run);
    findings.extend(volatile.map(|found| found.finding(&at, key)));
    findings
}

pub(crate) fn of_step(place: &Place<'_>) -> Vec<Finding> {
    let mut findings = vec![];
    if let Some(start) = StartKey::of(place) {
        findings.extend(start.key.and_then(|key| fixed(place, key)));
        findings.extend(shared(place, &start));
        findings.extend(found_again(place, &start));
        let volatile = start.key.map(expressions).into_iter().flatten().find_map(of_run);
        let key = start.key.unwrap_or_default();
        findings.extend(volatile.map(|found| found.finding(&place.at, key)));
    }
    findings.extend(effect_key(place));
    findings.extend(http::own_keys(place).into_iter().find_map(|key| {
        let volatile = expressions(key).into_iter().find_map(of_run);
        volatile.map(|found| found.finding(&place.at, key))
    }));
    findings
}

fn fixed(place: &Place<'_>, key: &str) -> Option<Finding> {
    expressions(key).is_empty().then(|| {
        let message = format!(
            "every run of this workflow starts the other one under the same key: {key}; only the \
             first one begins"
        );
        let fix = "name what makes a start another one, such as ${workflow.input.orderId}, or leave \
                   idempotencyKey out: the server has a key of its own for each task";
        Finding::new(Code::WKey1, &place.at, message, fix)
    })
}

/// Several tasks of one run with one key.
fn shared(place: &Place<'_>, start: &StartKey<'_>) -> Option<Finding> {
    let repeats = place.repeats?;
    let whose = match repeats {
        Repeats::Loop => "every turn of the loop",
        Repeats::DynamicFork => "every branch of the dynamic fork",
    };
    let message = match start.key {
        None if place.step.kind == "SUB_WORKFLOW" && start.strategy.is_some() => format!(
            "idempotencyStrategy without idempotencyKey inherits the key of the run, which is the \
             same in {whose}: all find the child of the first"
        ),
        Some(key) if is_of_whole_run(key) => format!(
            "the key {key} is the same in {whose}: all find the run that the first has started"
        ),
        Some(_) | None => return None,
    };
    let fix = match repeats {
        Repeats::Loop => {
            "give idempotencyKey a part that differs, such as ${loop.output.iteration} or the \
             item, or leave key and strategy out"
        }
        Repeats::DynamicFork => {
            "give idempotencyKey a part that differs from branch to branch, or leave key and \
             strategy out"
        }
    };
    Some(Finding::new(Code::WKey2, &place.at, message, fix))
}

/// Made of what a run was started with alone.
fn is_of_whole_run(key: &str) -> bool {
    let found = expressions(key);
    let is_of_run = |path: &&str| {
        let mut names = names(path);
        names.next() == Some("workflow") && names.next() != Some("variables")
    };
    !found.is_empty() && found.iter().all(is_of_run)
}

fn found_again(place: &Place<'_>, start: &StartKey<'_>) -> Option<Finding> {
    let returns = start.strategy == Some(IdempotencyStrategy::ReturnExisting);
    let retries = place.retries();
    (place.step.kind == "SUB_WORKFLOW" && returns && retries > 0).then(|| {
        let message = format!(
            "the task is tried again {retries} times, and under RETURN_EXISTING each attempt finds \
             the child that has failed and fails at once"
        );
        let fix = "use RETURN_EXISTING_UNLESS_FAILED, or set retryCount of the step to 0";
        Finding::new(Code::WKey3, &place.at, message, fix)
    })
}

/// A part of a key that is another one each time.
struct Volatile<'a> {
    path: &'a str,
    why: &'static str,
}

impl Volatile<'_> {
    fn finding(&self, at: &str, key: &str) -> Finding {
        let message = format!(
            "the key {key} is made of ${{{}}}, which {}: what is tried again has another key and \
             happens again",
            self.path, self.why
        );
        let fix = "name what the operation is about, such as an order's id; for one key per task \
                   that retries keep, use ${CPEWF_EFFECT_KEY} or none";
        Finding::new(Code::WKey4, at, message, fix)
    }
}

const BY_ATTEMPT: &str = "is another one for each attempt";
const BY_TIME: &str = "is another one each time";

/// Of an expression over the run and its tasks.
fn of_run(path: &str) -> Option<Volatile<'_>> {
    let mut rest = names(path);
    let (head, field) = (rest.next()?, rest.next());
    if OF_ATTEMPT.contains(&head) {
        return Some(Volatile { path, why: BY_ATTEMPT });
    }
    match field? {
        "input" | "output" | "variables" => of_data(path, rest),
        field if OF_ATTEMPT.contains(&field) => Some(Volatile { path, why: BY_ATTEMPT }),
        field if OF_TIME.contains(&field) => Some(Volatile { path, why: BY_TIME }),
        _ => None,
    }
}

fn of_data<'a>(path: &'a str, mut names: impl Iterator<Item = &'a str>) -> Option<Volatile<'a>> {
    let is_telling = |name: &str| IN_DATA.contains(&name.to_ascii_lowercase().as_str());
    names.any(is_telling).then_some(Volatile { path, why: BY_TIME })
}

/// An effect's key is made of the task's input, and that of expressions over the run.
fn effect_key(place: &Place<'_>) -> Option<Finding> {
    let policy = effective_effect(&place.policy, &place.step)?;
    let key = policy.key()?;
    for path in expressions(key) {
        if OF_ATTEMPT.contains(&path) {
            return Some(Volatile { path, why: BY_ATTEMPT }.finding(&place.at, key));
        }
        if let Some(found) = of_data(path, names(path)) {
            return Some(found.finding(&place.at, key));
        }
        let input = place.input(head(path)).and_then(Value::as_str);
        if let Some(found) = input.into_iter().flat_map(expressions).find_map(of_run) {
            return Some(found.finding(&place.at, key));
        }
    }
    None
}
