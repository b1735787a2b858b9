//! # Validation: what may be registered and started
//!
//! Pure rules over what was sent; every broken one is reported, with Conductor's words where it has
//! them. **May not:** look anything up; who knows the registered task definitions passes them in.
//! Beyond Conductor we refuse references that would be mistaken for the execution itself or for a turn
//! of a loop. What only fails when a run gets there is registered with a warning, see `warnings`.

mod at_run_time;
mod idempotency;
mod named_workflows;
mod parameters;
mod references;
mod size;
mod started;
mod step_type;
mod warnings;
mod without_effect;

use std::collections::HashSet;
use std::fmt::Display;
use std::sync::Arc;

use crate::{
    Action, ActionKind, EventHandler, ID_CHARS_MAX, InlineDefinition, NAME_CHARS_MAX,
    StartWorkflowRequest, TaskAction, TaskDef, TaskResult, Violation, WorkflowDef, WorkflowTask,
    is_secret_name, text_fault,
};
pub use named_workflows::NamedWorkflow;
use references::{References, texts};
pub use size::DefinitionLimits;
pub use started::started_definition;
use step_type::{Broken, broken};

/// A report longer than this helps nobody, and a hostile definition could ask for a huge one.
pub const VIOLATIONS_MAX: usize = 1000;
/// Actions one handler may have.
pub const ACTIONS_MAX: usize = 100;
/// A longer key is refused.
pub const IDEMPOTENCY_KEY_BYTES_MAX: usize = 512;

/// What a task can be told of itself in its input.
const SYSTEM_PARAMETERS: [&str; 4] =
    ["CPEWF_TASK_ID", "CPEWF_EFFECT_KEY", "CPEWF_ATTEMPT", "CPEWF_FENCE"];
const PRIORITY_MAX: i32 = 99;
const PATH_CHARS_MAX: usize = 500;
const MESSAGE_CHARS_MAX: usize = 1000;
const VALUE_CHARS_MAX: usize = 200;
const LABEL_CHARS_MAX: usize = 60;
/// Why data that lie elsewhere are refused: taken for none, they would be lost.
const NO_EXTERNAL_STORAGE: &str =
    "there is no external payload storage here: send the data in the request, up to 10 MiB";

type Registered<'a> = &'a dyn Fn(&str) -> Option<Arc<TaskDef>>;

impl WorkflowDef {
    /// Every broken rule, as far as the definition alone can tell.
    pub fn violations(&self) -> Vec<Violation> {
        self.violations_knowing(&|_| None)
    }

    /// As `violations`, where inputs may also come from the template of a registered task.
    pub fn violations_knowing(
        &self,
        registered: &dyn Fn(&str) -> Option<Arc<TaskDef>>,
    ) -> Vec<Violation> {
        let mut findings = Findings::default();
        findings.definition("", self, registered, Expressions::Checked);
        findings.list
    }

    /// As `violations_knowing`, of a definition that a SUB_WORKFLOW step brings: the same rules that it
    /// was held to when the step was registered.
    pub fn violations_given(
        &self,
        registered: &dyn Fn(&str) -> Option<Arc<TaskDef>>,
    ) -> Vec<Violation> {
        let mut findings = Findings::default();
        findings.definition("", self, registered, Expressions::Ignored);
        findings.list
    }

    /// Every step and where it stands, with those of definitions given in place.
    pub fn places(&self, prefix: &str) -> Vec<(String, &WorkflowTask)> {
        let mut open = vec![(prefix.to_owned(), self)];
        let mut all = vec![];
        while let Some((prefix, definition)) = open.pop() {
            let places = places(&prefix, definition);
            open.extend(places.iter().rev().filter_map(Place::given_definition));
            all.extend(places.into_iter().map(|place| (place.path, place.step)));
        }
        all
    }
}

impl TaskDef {
    pub fn violations(&self) -> Vec<Violation> {
        let mut findings = Findings::default();
        findings.task_definition(self);
        findings.list
    }
}

impl StartWorkflowRequest {
    pub fn violations(&self) -> Vec<Violation> {
        self.violations_knowing(&|_| None)
    }

    /// As `violations`, where inputs may also come from the template of a registered task.
    pub fn violations_knowing(
        &self,
        registered: &dyn Fn(&str) -> Option<Arc<TaskDef>>,
    ) -> Vec<Violation> {
        let mut findings = Findings::default();
        findings.start(self);
        if let Some(definition) = &self.workflow_def {
            findings.definition("workflowDef.", definition, registered, Expressions::Checked);
        }
        findings.list
    }
}

impl TaskResult {
    /// What a report can only mean elsewhere. What is missing is for the door to say.
    pub fn violations(&self) -> Vec<Violation> {
        let mut findings = Findings::default();
        let elsewhere = self.external_output_payload_storage_path.as_deref().unwrap_or_default();
        if !elsewhere.trim().is_empty() {
            findings.add("externalOutputPayloadStoragePath", NO_EXTERNAL_STORAGE);
        }
        findings.list
    }
}

impl EventHandler {
    /// Every broken rule. Whether its condition can be evaluated is for the engine to say.
    pub fn violations(&self) -> Vec<Violation> {
        let mut findings = Findings::default();
        findings.handler(self);
        findings.list
    }
}

/// A step and where it stands.
struct Place<'a> {
    path: String,
    step: &'a WorkflowTask,
    /// The step that runs just before or after this one, if the definition tells.
    before: Option<&'a WorkflowTask>,
    after: Option<&'a WorkflowTask>,
    /// The last step of a fork's branch, or inside the last one. What is after it is the fork's JOIN.
    is_end_of_branch: bool,
    is_top_level: bool,
    is_in_loop: bool,
}

impl<'a> Place<'a> {
    /// The definition that the step gives in place, and where that stands.
    fn given_definition(&self) -> Option<(String, &'a WorkflowDef)> {
        let params = self.step.sub_workflow_param.as_ref()?;
        match params.workflow_definition.as_ref()? {
            InlineDefinition::Definition(inline) => {
                let path = format!("{}.subWorkflowParam.workflowDefinition.", self.path);
                Some((path, &**inline))
            }
            InlineDefinition::Expression(_) => None,
        }
    }
}

/// All steps of one definition in the order of the text. Nesting is as deep as the sender likes, so
/// the walk keeps its own stack.
fn places<'a>(prefix: &str, definition: &'a WorkflowDef) -> Vec<Place<'a>> {
    let mut open = row(&format!("{prefix}tasks"), definition.steps(), None, false);
    open.iter_mut().for_each(|place| place.is_top_level = true);
    open.reverse();
    let mut places = vec![];
    while let Some(place) = open.pop() {
        let first = open.len();
        let (path, step, after, in_loop) = (&place.path, place.step, place.after, place.is_in_loop);
        let cases = step.cases().map(|(name, steps)| {
            let label = shortened(name, LABEL_CHARS_MAX);
            row(&format!("{path}.decisionCases[{label}]"), steps, after, in_loop)
        });
        let default = row(&format!("{path}.defaultCase"), step.default_case(), after, in_loop);
        for mut steps in cases.chain([default]) {
            if let Some(last) = steps.last_mut() {
                last.is_end_of_branch = place.is_end_of_branch;
            }
            open.extend(steps);
        }
        for (at, steps) in step.branches().iter().enumerate() {
            let mut steps = row(&format!("{path}.forkTasks[{at}]"), steps, after, in_loop);
            if let Some(last) = steps.last_mut() {
                last.is_end_of_branch = true;
            }
            open.extend(steps);
        }
        open.extend(row(&format!("{path}.loopOver"), step.body(), None, true));
        open[first..].reverse();
        places.push(place);
    }
    places
}

fn row<'a>(
    path: &str,
    steps: &'a [WorkflowTask],
    after: Option<&'a WorkflowTask>,
    is_in_loop: bool,
) -> Vec<Place<'a>> {
    let place = |(at, step): (usize, &'a WorkflowTask)| Place {
        path: format!("{path}[{at}]"),
        step,
        before: at.checked_sub(1).and_then(|before| steps.get(before)),
        after: steps.get(at + 1).or(after),
        is_end_of_branch: false,
        is_top_level: false,
        is_in_loop,
    };
    steps.iter().enumerate().map(place).collect()
}

/// Whether expressions of the outermost steps must lead somewhere.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Expressions {
    Checked,
    Ignored,
}

#[derive(Default)]
struct Findings {
    list: Vec<Violation>,
}

impl Findings {
    fn add(&mut self, path: impl AsRef<str>, message: impl AsRef<str>) {
        if self.list.len() < VIOLATIONS_MAX {
            let path = shortened(path.as_ref(), PATH_CHARS_MAX);
            self.list.push(Violation::new(path, shortened(message.as_ref(), MESSAGE_CHARS_MAX)));
        }
    }

    fn add_value(&mut self, path: impl AsRef<str>, message: impl AsRef<str>, value: impl Display) {
        let before = self.list.len();
        self.add(path, message);
        if let Some(violation) = self.list.get_mut(before) {
            violation.invalid_value = Some(shortened(&value.to_string(), VALUE_CHARS_MAX));
        }
    }

    /// Databases and log lines end at a NUL; a key must not.
    fn no_nul(&mut self, path: impl AsRef<str>, text: &str) {
        if text.contains('\0') {
            self.add(path, "must not contain the NUL character");
        }
    }

    fn name(&mut self, path: impl AsRef<str>, text: &str) {
        self.short(path, text, NAME_CHARS_MAX);
    }

    /// Text of one line.
    fn short(&mut self, path: impl AsRef<str>, text: &str, chars_max: usize) {
        if let Some(fault) = text_fault(text, chars_max) {
            self.add(path, fault);
        }
    }

    fn at_least<T: PartialOrd + Display>(
        &mut self,
        path: impl AsRef<str>,
        value: T,
        least: T,
        message: impl AsRef<str>,
    ) {
        if value < least {
            self.add_value(path, message, value);
        }
    }

    /// Definitions given in place are held to the same rules, except that their expressions are not
    /// looked at: like those of nested steps they may yield null.
    fn definition(
        &mut self,
        prefix: &str,
        outermost: &WorkflowDef,
        registered: Registered<'_>,
        expressions: Expressions,
    ) {
        let mut open = vec![(prefix.to_owned(), outermost)];
        while let Some((prefix, definition)) = open.pop() {
            self.head(&prefix, definition);
            self.policies(&prefix, definition);
            let places = places(&prefix, definition);
            let references = References::of(&places);
            let mut seen = HashSet::new();
            for place in &places {
                self.step(place);
                self.step_effects(place);
                self.uniqueness(place, &mut seen, &definition.name);
                if !place.is_in_loop {
                    self.step_type(place, registered);
                }
                let is_outermost = std::ptr::eq(definition, outermost);
                if place.is_top_level && is_outermost && expressions == Expressions::Checked {
                    self.expressions(place, &references);
                }
            }
            open.extend(places.iter().rev().filter_map(Place::given_definition));
        }
    }

    fn head(&mut self, prefix: &str, definition: &WorkflowDef) {
        let name = format!("{prefix}name");
        if definition.name.is_empty() {
            self.add(&name, "WorkflowDef name cannot be null or empty");
        }
        self.name(&name, &definition.name);
        if let Some(failure_workflow) = &definition.failure_workflow {
            self.short(format!("{prefix}failureWorkflow"), failure_workflow, ID_CHARS_MAX);
        }
        if let Some(sink) = &definition.workflow_status_listener_sink {
            self.short(format!("{prefix}workflowStatusListenerSink"), sink, ID_CHARS_MAX);
        }
        if definition.steps().is_empty() {
            self.add(format!("{prefix}tasks"), "WorkflowTask list cannot be empty");
        }
        if definition.schema_version != 2 {
            self.add_value(
                format!("{prefix}schemaVersion"),
                "workflowDef schemaVersion: 2 is only supported",
                definition.schema_version,
            );
        }
        let names = definition.secrets.iter().flatten().filter(|name| !is_secret_name(name));
        for name in names {
            let why = "the name of a secret has letters, digits, _ and - only";
            self.add_value(format!("{prefix}secrets"), why, name);
        }
    }

    fn step(&mut self, Place { path, step, .. }: &Place<'_>) {
        let name = format!("{path}.name");
        if step.name.is_empty() {
            self.add(&name, "WorkflowTask name cannot be empty or null");
        }
        self.name(&name, &step.name);
        let reference = format!("{path}.taskReferenceName");
        if step.task_reference_name.is_empty() {
            self.add(&reference, "WorkflowTask taskReferenceName name cannot be empty or null");
        }
        self.name(&reference, &step.task_reference_name);
        if let Some(why) = reserved(&step.task_reference_name) {
            self.add_value(&reference, why, &step.task_reference_name);
        }
        self.name(format!("{path}.type"), &step.kind);
        self.state_changes(path, step);
        if let Some(definition) = &step.task_definition {
            self.name(format!("{path}.taskDefinition.name"), &definition.name);
        }
        if let Some(name) = step.sub_workflow_param.as_ref().and_then(|it| it.name.as_ref()) {
            self.short(format!("{path}.subWorkflowParam.name"), name, ID_CHARS_MAX);
        }
        self.at_least(
            format!("{path}.startDelay"),
            step.start_delay,
            0,
            format!("WorkflowTask startDelay: {} must be >= 0", step.start_delay),
        );
    }

    fn state_changes(&mut self, path: &str, step: &WorkflowTask) {
        for (keys, events) in step.on_state_change.iter().flat_map(|all| all.iter()) {
            let label = shortened(keys, LABEL_CHARS_MAX);
            let path = format!("{path}.onStateChange[{label}]");
            for (at, event) in events.iter().enumerate() {
                let path = format!("{path}[{at}].type");
                self.short(&path, &event.kind, ID_CHARS_MAX);
            }
        }
    }

    fn uniqueness<'a>(&mut self, place: &Place<'a>, seen: &mut HashSet<&'a str>, workflow: &str) {
        let reference = place.step.task_reference_name.as_str();
        if !reference.is_empty() && !seen.insert(reference) {
            self.add_value(
                format!("{}.taskReferenceName", place.path),
                format!(
                    "taskReferenceName: {reference} should be unique across tasks for a given \
                     workflowDefinition: {workflow}"
                ),
                reference,
            );
        }
    }

    /// What the type of a step asks of it. In a loop Conductor does not look: there it is a warning.
    fn step_type(&mut self, place: &Place<'_>, registered: Registered<'_>) {
        for Broken { path, message, value, .. } in broken(place, registered) {
            match value {
                Some(value) => self.add_value(path, message, value),
                None => self.add(path, message),
            }
        }
    }

    fn expressions(&mut self, place: &Place<'_>, references: &References<'_>) {
        for (top, value) in place.step.input_parameters() {
            let path =
                format!("{}.inputParameters.{}", place.path, shortened(top, LABEL_CHARS_MAX));
            for (key, text) in texts(top, value) {
                self.text(&path, &place.step.name, key, text, references);
            }
        }
    }

    fn text(&mut self, path: &str, task: &str, key: &str, text: &str, references: &References<'_>) {
        for Expression { inside, is_nested } in expressions(text) {
            // An expression in an expression is text by the time the outer one is read.
            if !is_nested && !is_json_path(inside) {
                let shown = shortened(inside, VALUE_CHARS_MAX);
                self.add(path, format!("key: {key} input parameter value: {shown} is not valid"));
                continue;
            }
            let head = head_of(inside);
            let is_known = head == "workflow"
                || references.contains(head)
                || SYSTEM_PARAMETERS.contains(&inside)
                || inside.starts_with("NETFLIX_")
                || (is_nested && head.contains('$'));
            if !is_known {
                let shown = shortened(text, VALUE_CHARS_MAX);
                let head = shortened(head, VALUE_CHARS_MAX);
                self.add(
                    path,
                    format!(
                        "taskReferenceName: {head} for given task: {task} input value: {key} of \
                         input parameter: {shown} is not defined in workflow definition."
                    ),
                );
            }
        }
    }

    fn task_definition(&mut self, definition: &TaskDef) {
        if definition.name.is_empty() {
            self.add("name", "TaskDef name cannot be null or empty");
        }
        self.name("name", &definition.name);
        let response = definition.response_timeout_seconds;
        self.at_least(
            "responseTimeoutSeconds",
            response,
            1,
            format!("TaskDef responseTimeoutSeconds: {response} should be minimum 1 second"),
        );
        for (field, value, least) in [
            ("retryCount", definition.retry_count.into(), 0),
            ("retryDelaySeconds", definition.retry_delay_seconds.into(), 0),
            ("pollTimeoutSeconds", definition.poll_timeout_seconds.unwrap_or(0).into(), 0),
            ("maxRetryDelaySeconds", definition.max_retry_delay_seconds.into(), 0),
            ("backoffJitterMs", definition.backoff_jitter_ms.into(), 0),
            ("totalTimeoutSeconds", definition.total_timeout_seconds, 0),
            ("backoffScaleFactor", i64::from(definition.backoff_scale_factor), 1),
        ] {
            self.at_least(
                field,
                value,
                least,
                format!("TaskDef {field}: {value} must be >= {least}"),
            );
        }
        let (name, timeout) = (&definition.name, definition.timeout_seconds);
        if timeout > 0 && response > timeout {
            self.add_value(
                "responseTimeoutSeconds",
                format!(
                    "TaskDef: {name} responseTimeoutSeconds: {response} must be less than \
                     timeoutSeconds: {timeout}"
                ),
                response,
            );
        }
        let total = definition.total_timeout_seconds;
        if total > 0 && timeout > total {
            self.add_value(
                "timeoutSeconds",
                format!(
                    "TaskDef: {name} timeoutSeconds: {timeout} must be less than or equal to \
                     totalTimeoutSeconds: {total}"
                ),
                timeout,
            );
        }
        if let Some(policy) = &definition.effect {
            let has_input = |name: &str| definition.input_template().contains_key(name);
            self.effect("effect", policy, &has_input);
        }
    }

    fn start(&mut self, request: &StartWorkflowRequest) {
        if request.workflow_name().is_empty() {
            self.add("name", "Workflow name cannot be null or empty");
        }
        self.name("name", &request.name);
        let priority = request.priority;
        let message = format!("priority: {priority} should be minimum 0");
        self.at_least("priority", priority, 0, message);
        if priority > PRIORITY_MAX {
            let message = format!("priority: {priority} should be maximum {PRIORITY_MAX}");
            self.add_value("priority", message, priority);
        }
        for (field, text) in
            [("correlationId", &request.correlation_id), ("createdBy", &request.created_by)]
        {
            self.short(field, text.as_deref().unwrap_or_default(), ID_CHARS_MAX);
        }
        self.no_nul("idempotencyKey", request.idempotency_key.as_deref().unwrap_or_default());
        let elsewhere = request.external_input_payload_storage_path.as_deref().unwrap_or_default();
        if !elsewhere.trim().is_empty() {
            self.add("externalInputPayloadStoragePath", NO_EXTERNAL_STORAGE);
        }
        for (task, domain) in request.task_to_domain.iter().flatten() {
            self.name("taskToDomain", task);
            self.short("taskToDomain", domain, ID_CHARS_MAX);
        }
        let key_bytes = request.idempotency_key.as_ref().map_or(0, String::len);
        if key_bytes > IDEMPOTENCY_KEY_BYTES_MAX {
            self.add(
                "idempotencyKey",
                format!(
                    "idempotencyKey: {key_bytes} bytes should be maximum {IDEMPOTENCY_KEY_BYTES_MAX}"
                ),
            );
        }
    }

    fn handler(&mut self, handler: &EventHandler) {
        if handler.name.trim().is_empty() {
            self.add("name", "Missing event handler name");
        }
        self.name("name", &handler.name);
        self.short("event", &handler.event, ID_CHARS_MAX);
        if handler.event.trim().is_empty() {
            self.add("event", "Missing event location");
        }
        if handler.actions.len() > ACTIONS_MAX {
            self.add("actions", format!("a handler may have {ACTIONS_MAX} actions and no more"));
        }
        for (at, action) in handler.actions.iter().enumerate().take(ACTIONS_MAX) {
            self.action(&format!("actions[{at}]"), action);
        }
    }

    fn action(&mut self, path: &str, action: &Action) {
        let Some(kind) = action.kind() else {
            let known: Vec<_> = ActionKind::ALL.iter().map(|kind| kind.as_str()).collect();
            let message = format!("this release knows the actions {}", known.join(", "));
            return self.add_value(format!("{path}.action"), message, &action.action);
        };
        let block = format!("{path}.{kind}");
        if !action.has_block(kind) {
            return self.add(&block, format!("must be there: the action is {kind}"));
        }
        let mut needs = |field: &str, value: &str| {
            if value.trim().is_empty() {
                self.add(format!("{block}.{field}"), "must not be empty");
            }
        };
        match kind {
            ActionKind::StartWorkflow => {
                let start = action.start_workflow.iter();
                start.for_each(|start| needs("name", &start.name));
            }
            ActionKind::TerminateWorkflow => {
                let end = action.terminate_workflow.iter();
                end.for_each(|end| needs("workflowId", &end.workflow_id));
            }
            ActionKind::UpdateWorkflowVariables => {
                let update = action.update_workflow_variables.iter();
                update.for_each(|update| needs("workflowId", &update.workflow_id));
            }
            ActionKind::CompleteTask => {
                action.complete_task.iter().for_each(|task| self.task_action(&block, task));
            }
            ActionKind::FailTask => {
                action.fail_task.iter().for_each(|task| self.task_action(&block, task));
            }
        }
    }

    fn task_action(&mut self, path: &str, action: &TaskAction) {
        let is_given =
            |text: &Option<String>| text.as_deref().is_some_and(|it| !it.trim().is_empty());
        if !is_given(&action.task_id) && !is_given(&action.task_ref_name) {
            self.add(format!("{path}.taskRefName"), "name the task, or give its taskId");
        }
        if !is_given(&action.workflow_id) {
            let message = "must not be empty: tasks are found by their workflow in this release, \
                           also those given by taskId";
            self.add(format!("{path}.workflowId"), message);
        }
    }
}

fn shortened(text: &str, chars_max: usize) -> String {
    match text.char_indices().nth(chars_max) {
        Some((end, _)) => format!("{}...", &text[..end]),
        None => text.to_owned(),
    }
}

/// Why nobody may be called so, if so.
fn reserved(reference: &str) -> Option<&'static str> {
    if reference == "workflow" {
        return Some("taskReferenceName: workflow is reserved for the execution itself");
    }
    let (_, turn) = reference.rsplit_once("__")?;
    let is_turn = !turn.is_empty() && turn.bytes().all(|byte| byte.is_ascii_digit());
    is_turn.then_some("taskReferenceName must not end in __ and digits, which names a loop's turns")
}

struct Expression<'a> {
    inside: &'a str,
    /// There are expressions inside this one.
    is_nested: bool,
}

/// Every `${...}` of a text, in one pass: an escaped or unterminated one is plain text.
fn expressions(text: &str) -> Vec<Expression<'_>> {
    struct Open {
        start: usize,
        is_expression: bool,
        is_nested: bool,
    }
    let bytes = text.as_bytes();
    let mut open: Vec<Open> = vec![];
    let mut found = vec![];
    for (at, byte) in bytes.iter().enumerate() {
        match byte {
            b'{' => {
                let is_escaped = at >= 2 && bytes[at - 2] == b'$';
                let is_expression = at >= 1 && bytes[at - 1] == b'$' && !is_escaped;
                if is_expression && let Some(outer) = open.last_mut() {
                    outer.is_nested = true;
                }
                open.push(Open { start: at + 1, is_expression, is_nested: false });
            }
            b'}' => {
                let Some(Open { start, is_expression, is_nested }) = open.pop() else { continue };
                if is_expression {
                    found.push(Expression { inside: text[start..at].trim(), is_nested });
                }
                if is_nested && let Some(outer) = open.last_mut() {
                    outer.is_nested = true;
                }
            }
            _ => {}
        }
    }
    found
}

/// The name an expression starts from: up to the first dot or bracket, or quoted in brackets.
/// Ends at a brace too, so that expressions nested a thousand deep are not read a thousand times.
fn head_of(path: &str) -> &str {
    if let Some(rest) = path.strip_prefix('[') {
        let rest = rest.trim_start();
        return match rest.chars().next() {
            Some(quote @ ('\'' | '"')) => rest[1..].split(quote).next().unwrap_or_default(),
            Some(_) | None => path,
        };
    }
    path.split(['.', '[', '{']).next().unwrap_or_default()
}

/// Whether a path could be one: brackets and quotes closed, no blanks between names, no name missing.
fn is_json_path(path: &str) -> bool {
    let mut closers = vec![];
    let mut quote = None;
    let mut dots = 0;
    let mut is_escaped = false;
    let mut last = ' ';
    for char in path.chars() {
        if let Some(end) = quote {
            if is_escaped {
                is_escaped = false;
            } else if char == '\\' {
                is_escaped = true;
            } else if char == end {
                quote = None;
            }
            last = char;
            continue;
        }
        dots = if char == '.' { dots + 1 } else { 0 };
        match char {
            '[' => closers.push(']'),
            '(' => closers.push(')'),
            ']' if last == '[' => return false,
            ']' | ')' if closers.pop() != Some(char) => return false,
            '\'' | '"' if !closers.is_empty() => quote = Some(char),
            '.' if closers.is_empty() && dots > 2 => return false,
            _ if closers.is_empty() && char.is_whitespace() => return false,
            _ => {}
        }
        last = char;
    }
    let is_closed = closers.is_empty() && quote.is_none();
    is_closed && !path.is_empty() && !path.starts_with('.') && !path.ends_with('.')
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};

    fn read(json: Value) -> WorkflowDef {
        serde_json::from_str(&json.to_string()).unwrap()
    }

    fn step(kind: &str, fields: Value) -> Value {
        let mut step = json!({"name": "n", "taskReferenceName": "r", "type": kind});
        for (key, value) in fields.as_object().unwrap() {
            step[key] = value.clone();
        }
        step
    }

    fn named(reference: &str) -> Value {
        step("SIMPLE", json!({"taskReferenceName": reference}))
    }

    fn wf(steps: Value) -> WorkflowDef {
        read(json!({"name": "wf", "tasks": steps}))
    }

    /// `path: message` of every violation.
    fn told(violations: &[Violation]) -> Vec<String> {
        violations.iter().map(|it| format!("{}: {}", it.path, it.message)).collect()
    }

    fn of(steps: Value) -> Vec<String> {
        told(&wf(steps).violations())
    }

    /// Of one step followed by a JOIN, which is legal after anything.
    fn of_step(kind: &str, fields: Value) -> Vec<String> {
        of(json!([step(kind, fields), step("JOIN", json!({"taskReferenceName": "join"}))]))
    }

    fn of_task(json: Value) -> Vec<String> {
        told(&serde_json::from_str::<TaskDef>(&json.to_string()).unwrap().violations())
    }

    #[test]
    fn a_plain_definition_is_valid() {
        assert_eq!(of(json!([named("a"), named("b")])), [""; 0]);
    }

    #[test]
    fn all_broken_rules_are_reported_together() {
        let violations = read(json!({"schemaVersion": 1})).violations();
        assert_eq!(
            told(&violations),
            [
                "name: WorkflowDef name cannot be null or empty",
                "tasks: WorkflowTask list cannot be empty",
                "schemaVersion: workflowDef schemaVersion: 2 is only supported",
            ]
        );
        assert_eq!(violations[2].invalid_value.as_deref(), Some("1"));
        assert_eq!(
            of(json!([named("a"), {"startDelay": -1}])),
            [
                "tasks[1].name: WorkflowTask name cannot be empty or null",
                "tasks[1].taskReferenceName: WorkflowTask taskReferenceName name cannot be empty or null",
                "tasks[1].startDelay: WorkflowTask startDelay: -1 must be >= 0",
            ]
        );
    }

    #[test]
    fn references_are_unique_over_the_whole_tree() {
        let steps = json!([
            named("a"),
            step(
                "SWITCH",
                json!({"taskReferenceName": "s", "evaluatorType": "value-param",
                "expression": "x", "decisionCases": {"x": [named("b")], "y": [named("a")]},
                "defaultCase": [named("b")]})
            ),
            step(
                "DO_WHILE",
                json!({"taskReferenceName": "l", "loopCondition": "c",
                "loopOver": [named("s")]})
            ),
            step("FORK_JOIN", json!({"taskReferenceName": "f", "forkTasks": [[named("l")]]})),
            step("JOIN", json!({"taskReferenceName": "j", "joinOn": ["l"]})),
        ]);
        let rule = |path: &str, reference: &str| {
            format!(
                "{path}.taskReferenceName: taskReferenceName: {reference} should be unique across \
                 tasks for a given workflowDefinition: wf"
            )
        };
        assert_eq!(
            of(steps),
            [
                rule("tasks[1].decisionCases[y][0]", "a"),
                rule("tasks[1].defaultCase[0]", "b"),
                rule("tasks[2].loopOver[0]", "s"),
                rule("tasks[3].forkTasks[0][0]", "l"),
            ]
        );
    }

    #[test]
    fn references_with_a_meaning_of_their_own_are_refused() {
        for (reference, is_valid) in [
            ("workflow", false),
            ("a__1", false),
            ("a__b__23", false),
            ("__0", false),
            ("a__", true),
            ("a__b", true),
            ("a_1", true),
            ("workflows", true),
        ] {
            assert_eq!(of(json!([named(reference)])).is_empty(), is_valid, "{reference}");
        }
    }

    #[test]
    fn names_and_owners_are_free_text() {
        for (name, owner) in [("a:b/c ä", json!(null)), ("wf", json!("")), ("wf", json!("nobody"))]
        {
            let steps = json!([step("SIMPLE", json!({"name": name, "taskReferenceName": name}))]);
            let definition = json!({"name": name, "ownerEmail": owner, "tasks": steps});
            assert_eq!(told(&read(definition).violations()), [""; 0], "{name}");
            assert_eq!(of_task(json!({"name": name, "ownerEmail": owner})), [""; 0], "{name}");
        }
    }

    #[test]
    fn a_policy_or_logic_that_is_none_is_refused() {
        let is_task = |text: &str| serde_json::from_str::<TaskDef>(text).is_ok();
        let is_workflow = |text: &str| serde_json::from_str::<WorkflowDef>(text).is_ok();
        for wrong in ["null", "\"\"", "\"retry\"", "1"] {
            let fields = [("timeoutPolicy", true), ("retryLogic", false)];
            for (field, is_of_both) in fields {
                let text = format!("{{\"name\":\"t\",\"{field}\":{wrong}}}");
                assert!(!is_task(&text), "{text}");
                assert!(!is_of_both || !is_workflow(&text), "{text}");
            }
        }
        assert!(is_task(r#"{"name":"t","timeoutPolicy":"RETRY","retryLogic":"FIXED"}"#));
    }

    #[test]
    fn nul_is_refused_in_every_name() {
        let nul = "a\0b";
        let definition = read(json!({"name": nul, "failureWorkflow": nul, "tasks": [
            {"name": nul, "taskReferenceName": nul, "type": nul, "taskDefinition": {"name": nul},
                "subWorkflowParam": {"name": nul}}]}));
        let paths: Vec<_> = definition.violations().into_iter().map(|it| it.path).collect();
        assert_eq!(
            paths,
            [
                "name",
                "failureWorkflow",
                "tasks[0].name",
                "tasks[0].taskReferenceName",
                "tasks[0].type",
                "tasks[0].taskDefinition.name",
                "tasks[0].subWorkflowParam.name",
            ]
        );
        assert_eq!(of_task(json!({"name": nul})), ["name: must not contain the NUL character"]);
    }

    #[test]
    fn each_type_asks_for_its_fields() {
        let required = |kind: &str, field: &str| {
            format!("tasks[0].{field}: {field} field is required for taskType: {kind} taskName: n")
        };
        let no_case = |kind: &str| {
            format!(
                "tasks[0].decisionCases: decisionCases should have atleast one task for taskType: \
                 {kind} taskName: n"
            )
        };
        assert_eq!(of_step("EVENT", json!({})), [required("EVENT", "sink")]);
        assert_eq!(
            of_step("DECISION", json!({})),
            [required("DECISION", "caseValueParam or caseExpression"), no_case("DECISION")]
        );
        assert_eq!(
            of_step("SWITCH", json!({"decisionCases": null})),
            [
                required("SWITCH", "evaluatorType"),
                required("SWITCH", "expression"),
                no_case("SWITCH")
            ]
        );
        assert_eq!(of_step("DYNAMIC", json!({})), [required("DYNAMIC", "dynamicTaskNameParam")]);
        assert_eq!(
            of_step("FORK_JOIN", json!({})),
            [
                "tasks[0].forkTasks: forkTasks should have atleast one task for taskType: FORK_JOIN taskName: n"
            ]
        );
        assert_eq!(
            of_step("DO_WHILE", json!({})),
            [required("DO_WHILE", "loopCondition"), required("DO_WHILE", "loopOver")]
        );
        assert_eq!(
            of_step("SUB_WORKFLOW", json!({})),
            [required("SUB_WORKFLOW", "subWorkflowParam")]
        );
        assert_eq!(
            of_step("SUB_WORKFLOW", json!({"subWorkflowParam": {}})),
            [required("SUB_WORKFLOW", "subWorkflowParam.name")]
        );
        assert_eq!(of_step("HTTP", json!({})), [required("HTTP", "inputParameters.http_request")]);
        assert_eq!(
            of_step("KAFKA_PUBLISH", json!({})),
            [required("KAFKA_PUBLISH", "inputParameters.kafka_request")]
        );
        assert_eq!(
            of_step("JSON_JQ_TRANSFORM", json!({})),
            [required("JSON_JQ_TRANSFORM", "inputParameters.queryExpression")]
        );
    }

    #[test]
    fn each_type_is_content_with_its_fields() {
        for (kind, fields) in [
            ("EVENT", json!({"sink": "conductor"})),
            ("DECISION", json!({"caseExpression": "e", "decisionCases": {"a": []}})),
            (
                "SWITCH",
                json!({"evaluatorType": "javascript", "expression": "e",
                "decisionCases": {"a": []}}),
            ),
            ("DYNAMIC", json!({"dynamicTaskNameParam": "p"})),
            ("FORK_JOIN", json!({"forkTasks": [[]]})),
            ("FORK_JOIN_DYNAMIC", json!({"inputParameters": {"forkTaskInputs": []}})),
            ("FORK_JOIN_DYNAMIC", json!({"dynamicForkJoinTasksParam": "p"})),
            (
                "FORK_JOIN_DYNAMIC",
                json!({"dynamicForkTasksParam": "p",
                "dynamicForkTasksInputParamName": "q"}),
            ),
            ("DO_WHILE", json!({"loopCondition": "c", "loopOver": [named("b")]})),
            ("DO_WHILE", json!({"items": "${workflow.input.x}", "loopOver": [named("b")]})),
            ("DO_WHILE", json!({"inputParameters": {"_items": [1]}, "loopOver": [named("b")]})),
            ("SUB_WORKFLOW", json!({"subWorkflowParam": {"name": "child"}})),
            (
                "SUB_WORKFLOW",
                json!({"subWorkflowParam": {"workflowDefinition": "${workflow.input.d}"}}),
            ),
            ("HTTP", json!({"inputParameters": {"http_request": "${workflow.input.request}"}})),
            ("HTTP", json!({"inputParameters": {"uri": "http://u", "method": "GET"}})),
            ("HTTP", json!({"taskDefinition": {"name": "n", "inputTemplate": {"uri": "u"}}})),
            ("KAFKA_PUBLISH", json!({"inputParameters": {"kafka_request": {}}})),
            ("JSON_JQ_TRANSFORM", json!({"inputParameters": {"queryExpression": "."}})),
            ("TERMINATE", json!({"inputParameters": {"terminationStatus": "TERMINATED"}})),
            ("TERMINATE", json!({"inputParameters": {"terminationStatus": "${workflow.input.s}"}})),
            ("WAIT", json!({})),
            ("SIMPLE", json!({})),
            ("MY_OWN", json!({})),
        ] {
            assert_eq!(of_step(kind, fields.clone()), [""; 0], "{kind} {fields}");
        }
    }

    #[test]
    fn a_template_of_a_registered_task_counts_as_input() {
        let definition = wf(json!([step("HTTP", json!({}))]));
        assert_eq!(definition.violations().len(), 1);
        let template: TaskDef =
            serde_json::from_str(r#"{"name":"n","inputTemplate":{"http_request":{}}}"#).unwrap();
        let template = Arc::new(template);
        let registered = |name: &str| (name == "n").then(|| template.clone());
        assert_eq!(definition.violations_knowing(&registered), []);
    }

    #[test]
    fn a_dynamic_fork_takes_one_style() {
        let both = json!({"dynamicForkJoinTasksParam": "a", "dynamicForkTasksParam": "b"});
        let violations = of_step("FORK_JOIN_DYNAMIC", both);
        assert_eq!(violations.len(), 1);
        assert!(violations[0].starts_with("tasks[0].dynamicForkJoinTasksParam: "));
        assert_eq!(
            of_step("FORK_JOIN_DYNAMIC", json!({"dynamicForkTasksParam": "b"})),
            ["tasks[0].dynamicForkTasksInputParamName: dynamicForkTasksInputParamName field is \
              required for taskType: FORK_JOIN_DYNAMIC taskName: n"]
        );
        assert_eq!(of_step("FORK_JOIN_DYNAMIC", json!({})).len(), 2);
    }

    #[test]
    fn a_terminate_step_says_how_it_ends_and_is_not_optional() {
        assert_eq!(
            of_step(
                "TERMINATE",
                json!({"optional": true,
                "inputParameters": {"terminationStatus": "PAUSED"}})
            ),
            [
                "tasks[0].optional: terminate task cannot be optional, taskName: n",
                "tasks[0].inputParameters.terminationStatus: terminate task must have an \
                 terminationStatus parameter and must be set to COMPLETED or FAILED, taskName: n",
            ]
        );
    }

    #[test]
    fn a_wait_is_for_a_while_or_until_a_moment() {
        let wait = |inputs: Value| of_step("WAIT", json!({"inputParameters": inputs}));
        for duration in ["5s", "2 days 3h 5 min 1 SEC", "1d1h1m1s", "${workflow.input.d}", " "] {
            assert_eq!(wait(json!({"duration": duration})), [""; 0], "{duration}");
        }
        for duration in [json!("90"), json!(90), json!("5m 1h"), json!("1h 2h"), json!("5 weeks")] {
            assert_eq!(wait(json!({"duration": duration})).len(), 1, "{duration}");
        }
        for until in ["2026-01-31", "2026-01-31 10:20", "2026-01-31 10:20 GMT+02:00"] {
            assert_eq!(wait(json!({"until": until})), [""; 0], "{until}");
        }
        for until in ["tomorrow", "2026-13-31", "2026-01-31 25:00", "2026-01-31T10:20"] {
            assert_eq!(wait(json!({"until": until})).len(), 1, "{until}");
        }
        assert_eq!(
            wait(json!({"duration": "5s", "until": "2026-01-31"})),
            [
                "tasks[0].inputParameters: Both 'duration' and 'until' specified. Please provide only \
              one input"
            ]
        );
    }

    #[test]
    fn a_sub_workflow_definition_in_words_must_be_an_expression() {
        let violations =
            of_step("SUB_WORKFLOW", json!({"subWorkflowParam": {"workflowDefinition": "child"}}));
        assert_eq!(
            violations,
            ["tasks[0].subWorkflowParam.workflowDefinition: workflowDefinition must be a \
              definition or an expression, taskName: n"]
        );
    }

    #[test]
    fn an_inline_definition_is_held_to_the_same_rules() {
        let inline = json!({"name": "child", "tasks": [named("workflow"),
            step("SIMPLE", json!({"inputParameters": {"x": "${nobody.output.y}"}}))]});
        let violations =
            of_step("SUB_WORKFLOW", json!({"subWorkflowParam": {"workflowDefinition": inline}}));
        assert_eq!(
            violations,
            ["tasks[0].subWorkflowParam.workflowDefinition.tasks[0].taskReferenceName: \
              taskReferenceName: workflow is reserved for the execution itself"]
        );
    }

    #[test]
    fn children_of_loops_are_not_asked_for_the_fields_of_their_type() {
        let fields = json!({"loopCondition": "c",
            "loopOver": [step("HTTP", json!({"taskReferenceName": "h"}))]});
        assert_eq!(of_step("DO_WHILE", fields), [""; 0]);
    }

    #[test]
    fn expressions_start_from_the_workflow_or_a_known_step() {
        let steps = |value: Value| {
            json!([
                step("SIMPLE", json!({"inputParameters": {"k": value}})),
                step(
                    "DO_WHILE",
                    json!({"taskReferenceName": "l", "loopCondition": "c",
                    "loopOver": [named("inner")]})
                )
            ])
        };
        for value in [
            json!("${workflow.input.x}"),
            json!("${workflow.input['a b'][0]}"),
            json!("a ${l.output.x} b ${inner.output.list[?(@.p > 3 && @.q == 'x y')].id}"),
            json!("${workflow.input..x}"),
            json!("${inner.output.list.length()}"),
            json!("${CPEWF_TASK_ID} ${CPEWF_EFFECT_KEY} ${CPEWF_ATTEMPT} ${CPEWF_FENCE}"),
            json!("${NETFLIX_STACK}"),
            json!("${workflow.input.rows[${inner.output.n}].id}"),
            json!("${['inner'].output.x}"),
            json!("$${nobody.output.x}"),
            json!("${nobody.output.x"),
            json!("plain {nobody} text }"),
            json!([1, null, {"deep": ["${workflow.input.x}"]}]),
        ] {
            assert_eq!(of(steps(value.clone())), [""; 0], "{value}");
        }
        for (value, head, key, shown) in [
            (json!("${nobody.output.x}"), "nobody", "k", "${nobody.output.x}"),
            (json!([{"deep": ["a${b.c}"]}]), "b", "deep", "a${b.c}"),
            (json!("${PATH}"), "PATH", "k", "${PATH}"),
            (
                json!("${workflow.input.rows[${who.output.n}]}"),
                "who",
                "k",
                "${workflow.input.rows[${who.output.n}]}",
            ),
        ] {
            assert_eq!(
                of(steps(value)),
                [format!(
                    "tasks[0].inputParameters.k: taskReferenceName: {head} for given task: n input \
                     value: {key} of input parameter: {shown} is not defined in workflow definition."
                )]
            );
        }
        for path in ["", "workflow.input.", "workflow.input.a b", "workflow.input[0", "workflow.a]"]
        {
            assert_eq!(
                of(steps(json!(format!("${{{path}}}")))),
                [format!(
                    "tasks[0].inputParameters.k: key: k input parameter value: {path} is not valid"
                )]
            );
        }
    }

    #[test]
    fn expressions_of_nested_steps_are_not_checked() {
        let inner = step(
            "SIMPLE",
            json!({"taskReferenceName": "i", "inputParameters": {"x": "${nobody.output}"}}),
        );
        assert_eq!(
            of_step("DO_WHILE", json!({"loopCondition": "c", "loopOver": [inner]})),
            [""; 0]
        );
    }

    #[test]
    fn a_hostile_definition_gets_a_short_answer_quickly() {
        let text = "${a.b}".repeat(100_000) + &"${".repeat(100_000) + &"}".repeat(50_000);
        let violations =
            wf(json!([step("SIMPLE", json!({"inputParameters": {"x": text}}))])).violations();
        assert_eq!(violations.len(), VIOLATIONS_MAX);
        assert!(violations.iter().all(|it| it.message.len() < 2 * MESSAGE_CHARS_MAX));
        let mut deep = WorkflowTask { name: "n".into(), ..WorkflowTask::default() };
        for at in 0..200 {
            let inside = vec![deep];
            let name = format!("d{at}");
            deep = WorkflowTask {
                name: name.clone(),
                task_reference_name: name,
                loop_over: Some(inside),
                ..WorkflowTask::default()
            };
        }
        let definition =
            WorkflowDef { name: "wf".into(), tasks: Some(vec![deep]), ..WorkflowDef::default() };
        assert_eq!(definition.violations().len(), 1);
    }

    #[test]
    fn task_definitions_obey_their_limits() {
        assert_eq!(of_task(json!({"name": "t"})), [""; 0]);
        let timed = json!({"name": "t", "timeoutSeconds": 60, "responseTimeoutSeconds": 60,
            "totalTimeoutSeconds": 60, "pollTimeoutSeconds": 0});
        assert_eq!(of_task(timed), [""; 0]);
        assert_eq!(
            of_task(json!({"retryCount": -1, "retryDelaySeconds": -2, "pollTimeoutSeconds": -3,
                "maxRetryDelaySeconds": -4, "backoffJitterMs": -5, "totalTimeoutSeconds": -6,
                "backoffScaleFactor": 0, "responseTimeoutSeconds": 0})),
            [
                "name: TaskDef name cannot be null or empty",
                "responseTimeoutSeconds: TaskDef responseTimeoutSeconds: 0 should be minimum 1 second",
                "retryCount: TaskDef retryCount: -1 must be >= 0",
                "retryDelaySeconds: TaskDef retryDelaySeconds: -2 must be >= 0",
                "pollTimeoutSeconds: TaskDef pollTimeoutSeconds: -3 must be >= 0",
                "maxRetryDelaySeconds: TaskDef maxRetryDelaySeconds: -4 must be >= 0",
                "backoffJitterMs: TaskDef backoffJitterMs: -5 must be >= 0",
                "totalTimeoutSeconds: TaskDef totalTimeoutSeconds: -6 must be >= 0",
                "backoffScaleFactor: TaskDef backoffScaleFactor: 0 must be >= 1",
            ]
        );
    }

    #[test]
    fn timeouts_fit_into_each_other() {
        assert_eq!(
            of_task(json!({"name": "t", "timeoutSeconds": 60})),
            ["responseTimeoutSeconds: TaskDef: t responseTimeoutSeconds: 3600 must be less than \
              timeoutSeconds: 60"]
        );
        assert_eq!(
            of_task(json!({"name": "t", "timeoutSeconds": 60, "responseTimeoutSeconds": 5,
                "totalTimeoutSeconds": 59})),
            ["timeoutSeconds: TaskDef: t timeoutSeconds: 60 must be less than or equal to \
              totalTimeoutSeconds: 59"]
        );
    }

    #[test]
    fn a_start_obeys_its_limits() {
        let of = |json: Value| {
            told(
                &serde_json::from_str::<StartWorkflowRequest>(&json.to_string())
                    .unwrap()
                    .violations(),
            )
        };
        assert_eq!(of(json!({"name": "wf", "priority": 99})), [""; 0]);
        assert_eq!(
            of(json!({"name": "", "workflowDef": {}}))[0],
            "name: Workflow name cannot be null or empty"
        );
        assert_eq!(
            of(json!({"priority": 100, "workflowDef": {"name": "wf"}})),
            [
                "priority: priority: 100 should be maximum 99",
                "workflowDef.tasks: WorkflowTask list cannot be empty",
            ]
        );
        assert_eq!(
            of(json!({"name": "wf", "priority": -1, "correlationId": "\0",
                "idempotencyKey": "k".repeat(513)})),
            [
                "priority: priority: -1 should be minimum 0",
                "correlationId: must not contain the NUL character",
                "idempotencyKey: idempotencyKey: 513 bytes should be maximum 512",
            ]
        );
        let elsewhere = of(json!({"name": "wf", "externalInputPayloadStoragePath": "s3://x"}));
        let told = "externalInputPayloadStoragePath: there is no external payload storage here";
        assert!(elsewhere[0].starts_with(told), "{elsewhere:?}");
        assert_eq!(of(json!({"name": "wf", "externalInputPayloadStoragePath": ""})), [""; 0]);
    }

    fn handler(json: Value) -> Vec<String> {
        let handler: EventHandler = serde_json::from_str(&json.to_string()).unwrap();
        told(&handler.violations())
    }

    #[test]
    fn a_handler_needs_a_name_and_an_event() {
        assert_eq!(
            handler(json!({})),
            ["name: Missing event handler name", "event: Missing event location",]
        );
        let many: Vec<_> = (0..=ACTIONS_MAX).map(|_| json!({"action": "fly"})).collect();
        let found = handler(json!({"name": "h", "event": "conductor:a:b", "actions": many}));
        assert_eq!(found[0], "actions: a handler may have 100 actions and no more");
        assert_eq!(found.len(), 1 + ACTIONS_MAX);
    }

    #[test]
    fn an_action_is_known_and_its_block_is_there() {
        let of = |action: Value| {
            handler(json!({"name": "h", "event": "conductor:a:b", "actions": [action]}))
        };
        let kinds = "start_workflow, complete_task, fail_task, terminate_workflow, \
                     update_workflow_variables";
        for action in ["", "start_agent", "START_WORKFLOW"] {
            let message = format!("actions[0].action: this release knows the actions {kinds}");
            assert_eq!(of(json!({"action": action})), [message]);
        }
        for (kind, block, messages) in [
            ("start_workflow", json!({}), vec!["name: must not be empty"]),
            ("terminate_workflow", json!({}), vec!["workflowId: must not be empty"]),
            ("update_workflow_variables", json!({}), vec!["workflowId: must not be empty"]),
            (
                "complete_task",
                json!({"taskId": "x"}),
                vec![
                    "workflowId: must not be empty: tasks are found by their workflow in this \
                     release, also those given by taskId",
                ],
            ),
            (
                "fail_task",
                json!({"workflowId": "x"}),
                vec!["taskRefName: name the task, or give its taskId"],
            ),
        ] {
            let missing = format!("actions[0].{kind}: must be there: the action is {kind}");
            assert_eq!(of(json!({"action": kind})), [missing]);
            let messages: Vec<_> =
                messages.iter().map(|message| format!("actions[0].{kind}.{message}")).collect();
            assert_eq!(of(json!({"action": kind, kind: block})), messages);
        }
    }
}
