//! # Validation of effects, start policies and concurrency
//!
//! What could never give a key, or never mean anything, is refused when it is registered. Whether
//! the numbers are wise is for the lint.

use super::{Findings, Place, expressions, head_of, is_json_path, shortened};
use crate::validate::{IDEMPOTENCY_KEY_BYTES_MAX, VALUE_CHARS_MAX};
use crate::{
    Concurrency, EffectPolicy, OnPayloadMismatch, OnUnknown, StartPolicy, WorkflowDef,
    WorkflowTask, is_system_type, may_have_effect,
};

/// What of `${workflow...}` is known before a run exists.
const START_FIELDS: [&str; 5] = ["input", "correlationId", "workflowType", "version", "priority"];
const SCOPE_CHARS_MAX: usize = 255;
/// Steps that only lead the run: none of them can be a probe.
const LEADING: [&str; 9] = [
    "DECISION",
    "DO_WHILE",
    "EXCLUSIVE_JOIN",
    "FORK_JOIN",
    "FORK_JOIN_DYNAMIC",
    "JOIN",
    "SET_VARIABLE",
    "SWITCH",
    "TERMINATE",
];

impl Findings {
    pub(super) fn step_effects(&mut self, Place { path, step, .. }: &Place<'_>) {
        if step.downstream.is_some() && step.kind != "HTTP" {
            let message = format!(
                "is for HTTP steps: a {} sends no request of its own; take it away",
                step.kind
            );
            self.add(format!("{path}.downstream"), message);
        }
        if let Some(policy) = &step.effect {
            let path = format!("{path}.effect");
            self.effect_of_type(&path, &step.kind, policy);
            let has_input = |name: &str| step.input_parameters().contains_key(name);
            self.effect(&path, policy, &has_input);
        }
        if let Some(definition) = &step.task_definition
            && let Some(policy) = &definition.effect
        {
            let has_input = |name: &str| {
                let input = step.input_parameters();
                input.contains_key(name) || definition.input_template().contains_key(name)
            };
            let path = format!("{path}.taskDefinition.effect");
            self.effect_of_type(&path, &step.kind, policy);
            self.effect(&path, policy, &has_input);
        }
    }

    /// What a type has no use for is refused, not ignored.
    fn effect_of_type(&mut self, path: &str, kind: &str, policy: &EffectPolicy) {
        if !may_have_effect(kind) {
            let message = format!(
                "a {kind} does nothing that could be done twice: take it away, and give the step \
                 that acts an effect"
            );
            return self.add(path, message);
        }
        let is_own = is_system_type(kind) && !matches!(kind, "HTTP" | "DYNAMIC");
        if is_own && policy.downstream_retention_seconds.is_some() {
            let message = format!("a {kind} sends no key to another side: take it away");
            self.add(format!("{path}.downstreamRetentionSeconds"), message);
        }
    }

    pub(super) fn effect(
        &mut self,
        path: &str,
        policy: &EffectPolicy,
        has_input: &dyn Fn(&str) -> bool,
    ) {
        if let Some(scope) = &policy.scope {
            self.scope(&format!("{path}.scope"), scope);
        }
        if let Some(key) = policy.key() {
            let path = format!("{path}.key");
            self.key(&path, key);
            if reads(key, "workflow") && !has_input("workflow") {
                let message = "an effect's key is made of the task's input: add an input parameter, \
                               such as orderId: ${workflow.input.orderId}, and write ${orderId}";
                self.add_value(path, message, key);
            }
        }
        self.fingerprint(path, policy.fingerprint());
        if policy.on_payload_mismatch == Some(OnPayloadMismatch::Ignore) {
            let message = "IGNORE is for start keys: write FAIL or FLAG";
            self.add_value(format!("{path}.onPayloadMismatch"), message, "IGNORE");
        }
        self.positive(path, "retentionSeconds", policy.retention_seconds);
        self.positive(path, "downstreamRetentionSeconds", policy.downstream_retention_seconds);
        let probes = policy.on_unknown() == OnUnknown::Probe;
        match &policy.probe {
            Some(probe) if probes => self.probe(&format!("{path}.probe"), probe),
            Some(_) => self.add(
                format!("{path}.probe"),
                "is never asked: write onUnknown PROBE or leave it out, or take the probe away",
            ),
            None if probes => self.add(
                format!("{path}.probe"),
                "must be there: onUnknown is PROBE; name a task that reads whether it happened",
            ),
            None => {}
        }
    }

    fn scope(&mut self, path: &str, scope: &str) {
        self.no_nul(path, scope);
        if scope.trim().is_empty() {
            let message = "must be TASK_NAME, WORKFLOW_NAME, WORKFLOW or a name of your own";
            self.add(path, message);
        }
        if scope.contains("${") {
            self.add_value(path, "is plain text: what varies belongs in the key", scope);
        }
        if scope.chars().count() > SCOPE_CHARS_MAX {
            self.add(path, format!("must have at most {SCOPE_CHARS_MAX} characters"));
        }
    }

    fn probe(&mut self, path: &str, probe: &WorkflowTask) {
        let name = format!("{path}.name");
        if probe.name.is_empty() {
            self.add(&name, "must name the task that reads whether it happened");
        }
        self.no_nul(&name, &probe.name);
        if LEADING.contains(&probe.kind.as_str()) {
            let message = "a probe is one task that reads: write HTTP, or a task of a worker";
            self.add_value(format!("{path}.type"), message, &probe.kind);
        }
        if probe.effect.is_some() {
            self.add(format!("{path}.effect"), "a probe only reads: give it no effect");
        }
    }

    pub(super) fn policies(&mut self, prefix: &str, definition: &WorkflowDef) {
        if let Some(policy) = &definition.idempotency {
            self.start_policy(&format!("{prefix}idempotency"), policy);
        }
        if let Some(concurrency) = &definition.concurrency {
            self.concurrency(&format!("{prefix}concurrency"), concurrency);
        }
        if let Some(config) = &definition.rate_limit_config {
            for (field, limit) in [
                ("concurrentExecLimit", Some(config.concurrent_exec_limit)),
                ("concurrentExecutionLimit", config.concurrent_execution_limit),
            ] {
                let limit = limit.unwrap_or(0);
                let message = format!("{field}: {limit} must be >= 0; 0 means no limit");
                self.at_least(format!("{prefix}rateLimitConfig.{field}"), limit, 0, message);
            }
        }
    }

    fn start_policy(&mut self, path: &str, policy: &StartPolicy) {
        if let Some(key) = policy.key_expression() {
            self.start_key(&format!("{path}.keyExpression"), key);
        }
        self.fingerprint(path, policy.fingerprint());
        for (at, entry) in policy.fingerprint().iter().enumerate() {
            let is_blank = entry.trim().is_empty();
            if !is_blank && !entry.contains("${") && head_of(entry.trim()) != "input" {
                let message = "is compared when a run starts: begin it with input, \
                               such as input.orderId";
                self.add_value(format!("{path}.fingerprint[{at}]"), message, entry);
            }
        }
        self.positive(path, "retentionSeconds", policy.retention_seconds);
    }

    fn concurrency(&mut self, path: &str, concurrency: &Concurrency) {
        if let Some(key) = concurrency.key() {
            self.start_key(&format!("{path}.key"), key);
        }
        let limit = concurrency.limit;
        let message = format!("limit: {limit} must be >= 1; leave concurrency out for no limit");
        self.at_least(format!("{path}.limit"), limit, 1, message);
        let waiting = concurrency.max_queue.unwrap_or(0);
        let message = format!("maxQueue: {waiting} must be >= 0");
        self.at_least(format!("{path}.maxQueue"), waiting, 0, message);
        self.positive(path, "queueTimeoutSeconds", concurrency.queue_timeout_seconds);
    }

    /// A key that is made before the run exists.
    fn start_key(&mut self, path: &str, key: &str) {
        self.key(path, key);
        for expression in expressions(key) {
            let (head, field) = (head_of(expression.inside), field_of(expression.inside));
            if head != "workflow" || !field.is_some_and(|field| START_FIELDS.contains(&field)) {
                let shown = shortened(expression.inside, VALUE_CHARS_MAX);
                let message = format!(
                    "${{{shown}}} is not known when a run starts: use workflow.{}",
                    START_FIELDS.join(", workflow.")
                );
                self.add_value(path, message, key);
            }
        }
    }

    fn key(&mut self, path: &str, key: &str) {
        self.no_nul(path, key);
        let found = expressions(key);
        for expression in &found {
            if !expression.is_nested && !is_json_path(expression.inside) {
                let shown = shortened(expression.inside, VALUE_CHARS_MAX);
                self.add_value(path, format!("${{{shown}}} is no path into the input"), key);
            }
        }
        if found.is_empty() && key.replace("$${", "").contains("${") {
            self.add_value(path, "has an expression that does not end: write ${...}", key);
        }
        if found.is_empty() && key.len() > IDEMPOTENCY_KEY_BYTES_MAX {
            let bytes = key.len();
            let message = format!("{bytes} bytes should be maximum {IDEMPOTENCY_KEY_BYTES_MAX}");
            self.add(path, message);
        }
    }

    fn fingerprint(&mut self, path: &str, entries: &[String]) {
        for (at, entry) in entries.iter().enumerate() {
            let path = format!("{path}.fingerprint[{at}]");
            if entry.trim().is_empty() {
                self.add(path, "must be a path, such as amount or order.amount");
            } else if entry.contains("${") {
                self.add_value(path, "is a path already: write it without ${ and }", entry);
            } else if !is_json_path(entry.trim()) {
                self.add_value(path, "is no path: write it like order.items[0].amount", entry);
            }
        }
    }

    fn positive(&mut self, path: &str, field: &str, value: Option<i64>) {
        if let Some(value) = value {
            let message = format!("{field}: {value} must be > 0; leave it out for the default");
            self.at_least(format!("{path}.{field}"), value, 1, message);
        }
    }
}

fn reads(key: &str, head: &str) -> bool {
    expressions(key).iter().any(|expression| head_of(expression.inside) == head)
}

/// The name after the head: `input` of `workflow.input.id` and of `workflow['input']`.
fn field_of(path: &str) -> Option<&str> {
    let rest = path.get(head_of(path).len()..)?;
    if let Some(rest) = rest.strip_prefix('.') {
        return rest.split(['.', '[', '$', '{', '(']).next();
    }
    let quoted = rest.strip_prefix('[')?.trim_start();
    let quote = quoted.chars().next().filter(|char| matches!(char, '\'' | '"'))?;
    quoted[1..].split(quote).next()
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use crate::{TaskDef, Violation, WorkflowDef};

    fn told(violations: &[Violation]) -> Vec<String> {
        violations.iter().map(|it| format!("{}: {}", it.path, it.message)).collect()
    }

    /// What is said against one step with these fields.
    fn of_step(fields: &Value) -> Vec<String> {
        let mut step = json!({"name": "n", "taskReferenceName": "r",
            "inputParameters": {"id": "${workflow.input.id}"}});
        for (key, value) in fields.as_object().unwrap() {
            step[key] = value.clone();
        }
        of_definition(&json!({"tasks": [step]}))
    }

    fn of_effect(effect: &Value) -> Vec<String> {
        of_step(&json!({"effect": effect}))
    }

    fn of_definition(fields: &Value) -> Vec<String> {
        let mut definition = json!({"name": "wf", "tasks": [{"name": "n",
            "taskReferenceName": "r"}]});
        for (key, value) in fields.as_object().unwrap() {
            definition[key] = value.clone();
        }
        let definition: WorkflowDef = serde_json::from_str(&definition.to_string()).unwrap();
        told(&definition.violations())
    }

    #[test]
    fn the_effect_of_the_contract_is_valid() {
        let effect = json!({"mode": "ONCE", "scope": "TASK_NAME", "key": "${id}-x",
            "fingerprint": ["amount", "order.items[0].id"], "onPayloadMismatch": "FAIL",
            "onInProgress": "WAIT", "onUnknown": "PROBE", "cacheFailures": false,
            "retentionSeconds": 2_592_000, "downstreamRetentionSeconds": 86400,
            "probe": {"name": "find_charge", "type": "HTTP"}});
        assert_eq!(of_effect(&effect), [""; 0]);
        let task = json!({"name": "t", "effect": effect}).to_string();
        assert_eq!(told(&serde_json::from_str::<TaskDef>(&task).unwrap().violations()), [""; 0]);
        for effect in [json!({}), json!({"key": " "}), json!({"key": "fixed"})] {
            assert_eq!(of_effect(&effect), [""; 0], "{effect}");
        }
    }

    #[test]
    fn a_rate_limit_below_none_is_refused() {
        for field in ["concurrentExecLimit", "concurrentExecutionLimit"] {
            let found = of_definition(&json!({"rateLimitConfig": {field: -1}}));
            let said =
                format!("rateLimitConfig.{field}: {field}: -1 must be >= 0; 0 means no limit");
            assert_eq!(found, [said]);
        }
        let none = json!({"rateLimitConfig": {"rateLimitKey": "k", "concurrentExecLimit": 0}});
        assert_eq!(of_definition(&none), [""; 0]);
    }

    #[test]
    fn each_broken_rule_of_an_effect_names_its_field() {
        let long = "k".repeat(513);
        for (effect, expected) in [
            (json!({"scope": " "}), "scope: must be TASK_NAME"),
            (json!({"scope": "${id}"}), "scope: is plain text"),
            (json!({"scope": "s".repeat(256)}), "scope: must have at most 255"),
            (json!({"scope": "a\0"}), "scope: must not contain the NUL"),
            (json!({"key": "a\0"}), "key: must not contain the NUL"),
            (json!({"key": "${a b}"}), "key: ${a b} is no path into the input"),
            (json!({"key": "${id"}), "key: has an expression that does not end"),
            (json!({"key": long}), "key: 513 bytes should be maximum 512"),
            (json!({"key": "${workflow.input.id}"}), "key: an effect's key is made of the task's"),
            (json!({"fingerprint": ["a", ""]}), "fingerprint[1]: must be a path"),
            (json!({"fingerprint": ["${a}"]}), "fingerprint[0]: is a path already"),
            (json!({"fingerprint": ["a..."]}), "fingerprint[0]: is no path"),
            (json!({"onPayloadMismatch": "IGNORE"}), "onPayloadMismatch: IGNORE is for start keys"),
            (json!({"retentionSeconds": 0}), "retentionSeconds: retentionSeconds: 0 must be > 0"),
            (
                json!({"downstreamRetentionSeconds": -1}),
                "downstreamRetentionSeconds: downstreamRetentionSeconds: -1 must be > 0",
            ),
            (json!({"onUnknown": "PROBE"}), "probe: must be there"),
            (json!({"onUnknown": "HOLD", "probe": {"name": "p"}}), "probe: is never asked"),
            (json!({"onUnknown": "PROBE", "probe": {}}), "probe.name: must name the task"),
            (
                json!({"onUnknown": "PROBE", "probe": {"name": "p", "type": "SWITCH"}}),
                "probe.type: a probe is one task that reads",
            ),
            (
                json!({"onUnknown": "PROBE", "probe": {"name": "p", "effect": {}}}),
                "probe.effect: a probe only reads",
            ),
        ] {
            let found = of_effect(&effect);
            assert_eq!(found.len(), 1, "{effect}: {found:?}");
            assert!(found[0].starts_with(&format!("tasks[0].effect.{expected}")), "{found:?}");
            let task = json!({"name": "t", "effect": effect}).to_string();
            let found = told(&serde_json::from_str::<TaskDef>(&task).unwrap().violations());
            assert!(found[0].starts_with(&format!("effect.{expected}")), "{found:?}");
        }
    }

    #[test]
    fn an_effect_needs_a_task_that_does_something() {
        let effect = json!({"key": "${id}"});
        for kind in ["SET_VARIABLE", "HUMAN", "WAIT", "YIELD", "NOOP", "PULL_WORKFLOW_MESSAGES"] {
            let said =
                format!("effect: a {kind} does nothing that could be done twice: take it away");
            let found = of_step(&json!({"type": kind, "effect": effect}));
            assert_eq!(found.len(), 1, "{found:?}");
            assert!(found[0].starts_with(&format!("tasks[0].{said}")), "{found:?}");
            let task = json!({"name": "n", "effect": effect});
            let found = of_step(&json!({"type": kind, "taskDefinition": task}));
            assert!(found[0].starts_with(&format!("tasks[0].taskDefinition.{said}")), "{found:?}");
        }
    }

    #[test]
    fn an_effect_is_for_steps_that_act_or_compute() {
        let effect = json!({"key": "${id}"});
        let fields = json!({"subWorkflowParam": {"name": "c"}, "sink": "conductor",
            "evaluatorType": "javascript", "expression": "1",
            "inputParameters": {"id": 1, "startWorkflow": {"name": "c"}, "expression": "1",
                "queryExpression": ".", "scriptExpression": "1",
                "http_request": {"uri": "http://localhost/", "method": "GET"}}});
        for kind in
            ["SUB_WORKFLOW", "START_WORKFLOW", "EVENT", "INLINE", "LAMBDA", "JSON_JQ_TRANSFORM"]
        {
            let mut step = fields.clone();
            (step["type"], step["effect"]) = (json!(kind), effect.clone());
            assert_eq!(of_step(&step), [""; 0], "{kind}");
            step["effect"]["downstreamRetentionSeconds"] = json!(60);
            let found = of_step(&step);
            let path = "tasks[0].effect.downstreamRetentionSeconds: a ";
            assert!(found.len() == 1 && found[0].starts_with(path), "{found:?}");
        }
    }

    #[test]
    fn an_input_called_workflow_may_be_in_a_key() {
        let key = json!({"key": "${workflow.id}"});
        let step = json!({"effect": key, "inputParameters": {"workflow": {"id": 1}}});
        assert_eq!(of_step(&step), [""; 0]);
        let found = of_step(&json!({"taskDefinition": {"name": "n", "effect": key}}));
        assert!(found[0].starts_with("tasks[0].taskDefinition.effect.key"), "{found:?}");
    }

    #[test]
    fn a_start_key_is_made_of_what_the_start_brings() {
        for key in [
            "${workflow.input.order.id}",
            "order-${workflow['input'].id}-${workflow.correlationId}",
            "fixed",
            "$${workflow.output.x}",
        ] {
            let policies = json!({"idempotency": {"keyExpression": key,
                "fingerprint": ["input.amount", "input['b']"], "onPayloadMismatch": "IGNORE",
                "retentionSeconds": 1}, "concurrency": {"key": key}});
            assert_eq!(of_definition(&policies), [""; 0], "{key}");
        }
        for key in
            ["${workflow.output.x}", "${step.output.x}", "${workflow.workflowId}", "${workflow}"]
        {
            let policies = json!({"idempotency": {"keyExpression": key},
                "concurrency": {"key": key}});
            let found = of_definition(&policies);
            let expected = format!("{key} is not known when a run starts: use workflow.input,");
            assert!(found[0].starts_with(&format!("idempotency.keyExpression: {expected}")));
            assert!(found[1].starts_with(&format!("concurrency.key: {expected}")), "{found:?}");
        }
    }

    #[test]
    fn each_broken_rule_of_a_policy_names_its_field() {
        for (policies, expected) in [
            (
                json!({"idempotency": {"fingerprint": ["orderId"]}}),
                "idempotency.fingerprint[0]: is compared when a run starts",
            ),
            (
                json!({"idempotency": {"fingerprint": [""]}}),
                "idempotency.fingerprint[0]: must be a path",
            ),
            (
                json!({"idempotency": {"retentionSeconds": 0}}),
                "idempotency.retentionSeconds: retentionSeconds: 0 must be > 0",
            ),
            (json!({"concurrency": {"limit": 0}}), "concurrency.limit: limit: 0 must be >= 1"),
            (json!({"concurrency": {"maxQueue": -1}}), "concurrency.maxQueue: maxQueue: -1 must"),
            (
                json!({"concurrency": {"queueTimeoutSeconds": 0}}),
                "concurrency.queueTimeoutSeconds: queueTimeoutSeconds: 0 must be > 0",
            ),
        ] {
            let found = of_definition(&policies);
            assert_eq!(found.len(), 1, "{policies}: {found:?}");
            assert!(found[0].starts_with(expected), "{found:?}");
        }
    }
}
