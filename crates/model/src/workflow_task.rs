//! # Workflow tasks: the steps of a definition
//!
//! One shape serves all step types; which fields count depends on `type`, and validation knows.

use std::cell::Cell;
use std::collections::BTreeMap;
use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Deserialize, Deserializer, Serialize, Serializer, de};
use serde_json::{Map, Value};

use crate::names::names;
use crate::workflow_def::EMPTY_MAP;
use crate::{
    CacheConfig, Downstream, EffectPolicy, IdempotencyStrategy, Ordered, TaskDef, WorkflowDef,
    lenient,
};

/// Steps inside steps, inline definitions included. A debug build reads this many on 2 MiB of stack.
pub const STEP_NESTING_MAX: usize = 32;

/// A place in a definition.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, rename_all = "camelCase", remote = "Self")]
pub struct WorkflowTask {
    #[serde(deserialize_with = "lenient::text")]
    pub name: String,
    #[serde(deserialize_with = "lenient::text")]
    pub task_reference_name: String,
    #[serde(deserialize_with = "lenient::boxed_text", skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub input_parameters: Option<Map<String, Value>>,
    /// `type` on the wire.
    #[serde(rename = "type", deserialize_with = "lenient::text")]
    pub kind: String,
    #[serde(deserialize_with = "lenient::boxed_text", skip_serializing_if = "Option::is_none")]
    pub dynamic_task_name_param: Option<String>,
    #[serde(deserialize_with = "lenient::boxed_text", skip_serializing_if = "Option::is_none")]
    pub case_value_param: Option<String>,
    #[serde(deserialize_with = "lenient::boxed_text", skip_serializing_if = "Option::is_none")]
    pub case_expression: Option<String>,
    #[serde(deserialize_with = "lenient::boxed_text", skip_serializing_if = "Option::is_none")]
    pub script_expression: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub decision_cases: Option<Ordered<Vec<WorkflowTask>>>,
    #[serde(deserialize_with = "lenient::boxed_text", skip_serializing_if = "Option::is_none")]
    pub dynamic_fork_join_tasks_param: Option<String>,
    #[serde(deserialize_with = "lenient::boxed_text", skip_serializing_if = "Option::is_none")]
    pub dynamic_fork_tasks_param: Option<String>,
    #[serde(deserialize_with = "lenient::boxed_text", skip_serializing_if = "Option::is_none")]
    pub dynamic_fork_tasks_input_param_name: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub default_case: Option<Vec<WorkflowTask>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fork_tasks: Option<Vec<Vec<WorkflowTask>>>,
    /// Seconds.
    #[serde(deserialize_with = "lenient::int")]
    pub start_delay: i32,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sub_workflow_param: Option<SubWorkflowParams>,
    #[serde(deserialize_with = "lenient::texts", skip_serializing_if = "Option::is_none")]
    pub join_on: Option<Vec<String>>,
    #[serde(deserialize_with = "lenient::boxed_text", skip_serializing_if = "Option::is_none")]
    pub join_status: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub join_mode: Option<JoinMode>,
    #[serde(deserialize_with = "lenient::boxed_text", skip_serializing_if = "Option::is_none")]
    pub sink: Option<String>,
    #[serde(deserialize_with = "lenient::flag")]
    pub optional: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub task_definition: Option<Arc<TaskDef>>,
    #[serde(deserialize_with = "lenient::boxed_flag", skip_serializing_if = "Option::is_none")]
    pub rate_limited: Option<bool>,
    #[serde(deserialize_with = "lenient::texts", skip_serializing_if = "Option::is_none")]
    pub default_exclusive_join_task: Option<Vec<String>>,
    #[serde(deserialize_with = "lenient::flag")]
    pub async_complete: bool,
    #[serde(deserialize_with = "lenient::boxed_text", skip_serializing_if = "Option::is_none")]
    pub loop_condition: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub loop_over: Option<Vec<WorkflowTask>>,
    #[serde(deserialize_with = "lenient::boxed_text", skip_serializing_if = "Option::is_none")]
    pub items: Option<String>,
    /// Wins over the definition of the task; 0 counts.
    #[serde(deserialize_with = "lenient::boxed_int", skip_serializing_if = "Option::is_none")]
    pub retry_count: Option<i32>,
    #[serde(deserialize_with = "lenient::boxed_text", skip_serializing_if = "Option::is_none")]
    pub evaluator_type: Option<String>,
    #[serde(deserialize_with = "lenient::boxed_text", skip_serializing_if = "Option::is_none")]
    pub expression: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub on_state_change: Option<Ordered<Vec<StateChangeEvent>>>,
    #[serde(deserialize_with = "lenient::flag")]
    pub permissive: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cache_config: Option<CacheConfig>,
    /// Ours: wins over that of the task definition.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub effect: Option<EffectPolicy>,
    /// Ours: what is known of the service that an HTTP step speaks to.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub downstream: Option<Downstream>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub metadata: Option<Map<String, Value>>,
    /// The other name of `type` on input. Moved there while reading, so nobody else meets it.
    #[doc(hidden)]
    #[serde(deserialize_with = "lenient::boxed_text", skip_serializing)]
    pub workflow_task_type: Option<String>,
}

impl Default for WorkflowTask {
    fn default() -> Self {
        Self {
            name: String::new(),
            task_reference_name: String::new(),
            description: None,
            input_parameters: Some(Map::new()),
            kind: Self::SIMPLE.to_owned(),
            dynamic_task_name_param: None,
            case_value_param: None,
            case_expression: None,
            script_expression: None,
            decision_cases: Some(Ordered::default()),
            dynamic_fork_join_tasks_param: None,
            dynamic_fork_tasks_param: None,
            dynamic_fork_tasks_input_param_name: None,
            default_case: Some(vec![]),
            fork_tasks: Some(vec![]),
            start_delay: 0,
            sub_workflow_param: None,
            join_on: Some(vec![]),
            join_status: None,
            join_mode: None,
            sink: None,
            optional: false,
            task_definition: None,
            rate_limited: None,
            default_exclusive_join_task: Some(vec![]),
            async_complete: false,
            loop_condition: None,
            loop_over: Some(vec![]),
            items: None,
            retry_count: None,
            evaluator_type: None,
            expression: None,
            on_state_change: Some(Ordered::default()),
            permissive: false,
            cache_config: None,
            effect: None,
            downstream: None,
            metadata: Some(Map::new()),
            workflow_task_type: None,
        }
    }
}

impl WorkflowTask {
    /// The type of a step that says none.
    pub const SIMPLE: &'static str = "SIMPLE";

    pub fn input_parameters(&self) -> &Map<String, Value> {
        self.input_parameters.as_ref().unwrap_or(&EMPTY_MAP)
    }

    /// The steps of one case of a SWITCH, if there is such a case.
    pub fn case(&self, name: &str) -> Option<&[WorkflowTask]> {
        self.decision_cases.as_ref()?.get(name).map(Vec::as_slice)
    }

    pub fn cases(&self) -> impl DoubleEndedIterator<Item = (&str, &[WorkflowTask])> {
        let cases = self.decision_cases.iter().flat_map(Ordered::iter);
        cases.map(|(name, steps)| (name, steps.as_slice()))
    }

    pub fn default_case(&self) -> &[WorkflowTask] {
        self.default_case.as_deref().unwrap_or_default()
    }

    /// The branches of a FORK_JOIN.
    pub fn branches(&self) -> &[Vec<WorkflowTask>] {
        self.fork_tasks.as_deref().unwrap_or_default()
    }

    /// The body of a DO_WHILE.
    pub fn body(&self) -> &[WorkflowTask] {
        self.loop_over.as_deref().unwrap_or_default()
    }

    pub fn join_on(&self) -> &[String] {
        self.join_on.as_deref().unwrap_or_default()
    }

    pub fn default_exclusive_join_task(&self) -> &[String] {
        self.default_exclusive_join_task.as_deref().unwrap_or_default()
    }

    /// Every list of steps directly inside this one: cases, default case, branches, body.
    pub fn children(&self) -> impl DoubleEndedIterator<Item = &[WorkflowTask]> {
        let cases = self.cases().map(|(_, steps)| steps);
        let branches = self.branches().iter().map(Vec::as_slice);
        cases
            .chain(std::iter::once(self.default_case()))
            .chain(branches)
            .chain(std::iter::once(self.body()))
    }

    /// As `children`, to change them.
    pub fn children_mut(&mut self) -> impl Iterator<Item = &mut [WorkflowTask]> {
        let cases = self.decision_cases.iter_mut().flat_map(Ordered::values_mut);
        cases
            .chain(self.default_case.iter_mut())
            .chain(self.fork_tasks.iter_mut().flatten())
            .chain(self.loop_over.iter_mut())
            .map(Vec::as_mut_slice)
    }
}

impl Serialize for WorkflowTask {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        Self::serialize(self, serializer)
    }
}

impl<'de> Deserialize<'de> for WorkflowTask {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let _level = Level::enter().ok_or_else(|| {
            de::Error::custom(format!("steps are nested more than {STEP_NESTING_MAX} deep"))
        })?;
        let mut step = Self::deserialize(deserializer)?;
        // Not an alias: some clients send both names, which an alias would refuse.
        let other = step.workflow_task_type.take();
        if step.kind.is_empty() || step.kind == Self::SIMPLE {
            step.kind =
                other.filter(|kind| !kind.is_empty()).unwrap_or_else(|| Self::SIMPLE.to_owned());
        }
        if let Some(params) = &mut step.sub_workflow_param {
            params.take_identity_from_definition();
        }
        Ok(step)
    }
}

thread_local! {
    static LEVEL: Cell<usize> = const { Cell::new(0) };
}

/// How many steps inside steps are being read on this thread right now. Reading recurses, and a
/// stack that overflows takes the whole process with it.
struct Level;

impl Level {
    fn enter() -> Option<Self> {
        let level = LEVEL.get();
        (level < STEP_NESTING_MAX).then(|| {
            LEVEL.set(level + 1);
            Self
        })
    }
}

impl Drop for Level {
    fn drop(&mut self) {
        LEVEL.set(LEVEL.get() - 1);
    }
}

names! {
    /// How eagerly a JOIN looks at its branches. Kept for clients; ours looks when one changes.
    JoinMode {
        Sync = "SYNC",
        Async = "ASYNC",
    }
}

/// Which definition a SUB_WORKFLOW step runs.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, rename_all = "camelCase")]
pub struct SubWorkflowParams {
    #[serde(deserialize_with = "lenient::boxed_text", skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// None means the latest.
    #[serde(deserialize_with = "lenient::boxed_int", skip_serializing_if = "Option::is_none")]
    pub version: Option<i32>,
    #[serde(deserialize_with = "lenient::text_map", skip_serializing_if = "Option::is_none")]
    pub task_to_domain: Option<BTreeMap<String, String>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub workflow_definition: Option<InlineDefinition>,
    #[serde(deserialize_with = "lenient::boxed_text", skip_serializing_if = "Option::is_none")]
    pub idempotency_key: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub idempotency_strategy: Option<IdempotencyStrategy>,
    /// A number or an expression; none inherits.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub priority: Option<Value>,
}

impl SubWorkflowParams {
    /// A definition given in full reports its own name and version.
    fn take_identity_from_definition(&mut self) {
        if let Some(InlineDefinition::Definition(definition)) = &self.workflow_definition {
            self.name = Some(definition.name.clone());
            self.version = Some(definition.version);
        }
    }
}

/// A definition given in place: in full, or as an expression that will yield one.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[serde(untagged)]
pub enum InlineDefinition {
    Definition(Arc<WorkflowDef>),
    Expression(String),
}

impl<'de> Deserialize<'de> for InlineDefinition {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        match Value::deserialize(deserializer)? {
            Value::String(expression) => Ok(Self::Expression(expression)),
            value @ Value::Object(_) => {
                let definition = serde_json::from_value(value).map_err(de::Error::custom)?;
                Ok(Self::Definition(Arc::new(definition)))
            }
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::Array(_) => {
                Err(de::Error::custom("workflowDefinition must be an object or an expression"))
            }
        }
    }
}

/// The states a step may tell of; several in one key have commas between them.
pub const STATE_KEYS: [&str; 5] =
    ["onScheduled", "onStart", "onSuccess", "onFailed", "onCancelled"];

/// Something to publish when a task changes state.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, rename_all = "camelCase")]
pub struct StateChangeEvent {
    #[serde(rename = "type", deserialize_with = "lenient::text")]
    pub kind: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub payload: Option<Map<String, Value>>,
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn read(json: Value) -> WorkflowTask {
        serde_json::from_str(&json.to_string()).unwrap()
    }

    fn write(step: &WorkflowTask) -> Value {
        serde_json::to_value(step).unwrap()
    }

    #[test]
    fn the_other_name_of_type_is_read_and_never_written() {
        for json in [
            json!({"workflowTaskType": "HTTP"}),
            json!({"type": "SIMPLE", "workflowTaskType": "HTTP"}),
            json!({"type": "HTTP", "workflowTaskType": "SIMPLE"}),
            json!({"workflowTaskType": "HTTP", "type": null}),
        ] {
            let step = read(json);
            assert_eq!(step.kind, "HTTP");
            assert_eq!(write(&step)["type"], "HTTP");
            assert!(write(&step).get("workflowTaskType").is_none());
        }
        assert_eq!(read(json!({"type": null})).kind, "SIMPLE");
    }

    #[test]
    fn everything_the_contract_names_is_kept() {
        let full = json!({"name": "t", "taskReferenceName": "r", "type": "SWITCH",
            "description": "d", "inputParameters": {"z": null, "a": "${workflow.input.x}"},
            "optional": true, "permissive": true, "asyncComplete": true, "startDelay": 3,
            "retryCount": 0, "rateLimited": true, "evaluatorType": "javascript",
            "expression": "e", "caseValueParam": "c", "caseExpression": "x",
            "scriptExpression": "s", "joinOn": ["a"], "joinStatus": "j", "joinMode": "SYNC",
            "defaultExclusiveJoinTask": ["b"], "dynamicTaskNameParam": "n",
            "dynamicForkTasksParam": "p", "dynamicForkTasksInputParamName": "q",
            "dynamicForkJoinTasksParam": "o", "loopCondition": "l", "items": "i", "sink": "k",
            "cacheConfig": {"key": "k", "ttlInSecond": 7}, "metadata": {"m": 1},
            "effect": {"mode": "ONCE", "scope": "WORKFLOW"},
            "onStateChange": {"onStart": [{"type": "t", "payload": {"p": 1}}]},
            "subWorkflowParam": {"name": "w", "version": 2, "taskToDomain": {"a": "b"},
                "idempotencyKey": "k", "idempotencyStrategy": "FAIL", "priority": "${x}",
                "workflowDefinition": "${workflow.input.def}"}});
        let written = write(&read(full.clone()));
        for (key, value) in full.as_object().unwrap() {
            assert_eq!(&written[key], value, "{key}");
        }
        assert_eq!(written["decisionCases"], json!({}));
    }

    #[test]
    fn an_inline_definition_reports_its_own_name_and_version() {
        let step = read(json!({"subWorkflowParam": {"name": "other", "version": 9,
            "workflowDefinition": {"name": "child", "version": 3}}}));
        let params = step.sub_workflow_param.as_ref().unwrap();
        assert_eq!((params.name.as_deref(), params.version), (Some("child"), Some(3)));
        assert!(matches!(params.workflow_definition, Some(InlineDefinition::Definition(_))));
        assert_eq!(write(&step)["subWorkflowParam"]["workflowDefinition"]["schemaVersion"], 2);
    }

    #[test]
    fn an_inline_task_definition_is_kept() {
        let step = read(json!({"taskDefinition": {"name": "t", "retryCount": null}}));
        assert_eq!(step.task_definition.as_ref().unwrap().retry_count, 0);
        assert_eq!(write(&step)["taskDefinition"]["responseTimeoutSeconds"], 3600);
    }

    #[test]
    fn nesting_ends_before_the_stack_does() {
        let nested = |depth: usize, open: &str, close: &str| {
            let text = format!("{}{{}}{}", open.repeat(depth - 1), close.repeat(depth - 1));
            serde_json::from_str::<WorkflowTask>(&text)
        };
        let inline = r#"{"subWorkflowParam":{"workflowDefinition":{"tasks":["#;
        for (open, close) in [
            (r#"{"loopOver":["#, "]}"),
            (r#"{"decisionCases":{"a":["#, "]}}"),
            (r#"{"forkTasks":[["#, "]]}"),
            (inline, "]}}}"),
        ] {
            let deepest = nested(STEP_NESTING_MAX - 1, open, close).unwrap();
            assert_eq!(serde_json::to_value(deepest.clone()).unwrap(), write(&deepest));
            let error = nested(STEP_NESTING_MAX + 1, open, close).unwrap_err().to_string();
            assert!(error.contains("nested more than") || error.contains("recursion"), "{error}");
        }
        assert!(nested(STEP_NESTING_MAX, r#"{"loopOver":["#, "]}").is_ok());
    }

    #[test]
    fn nesting_is_limited_in_values_too() {
        let mut value = json!({});
        for _ in 0..100 {
            value = json!({"loopOver": [value]});
        }
        let error = serde_json::from_value::<WorkflowTask>(value).unwrap_err().to_string();
        assert_eq!(error, "steps are nested more than 32 deep");
        assert!(serde_json::from_str::<WorkflowTask>(r#"{"loopOver":[{}]}"#).is_ok());
    }
}
