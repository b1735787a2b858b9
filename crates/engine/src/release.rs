//! # This release: what of a definition it cannot run
//!
//! Said when the definition is registered, or when it comes with the data of a run.

use semel_model::{Violation, WorkflowDef, WorkflowTask};

/// Refused with the definition.
const NOT_YET: [&str; 2] = ["HTTP", "KAFKA_PUBLISH"];

pub fn is_supported(kind: &str) -> bool {
    !NOT_YET.contains(&kind)
}

/// Every step this release cannot run, those of definitions given in place too.
pub fn unsupported(definition: &WorkflowDef, prefix: &str) -> Vec<Violation> {
    let places = definition.places(prefix);
    places
        .iter()
        .flat_map(|(path, step)| [of_type(path, step), of_sink(path, step)])
        .flatten()
        .collect()
}

fn of_type(path: &str, step: &WorkflowTask) -> Option<Violation> {
    let message = format!("task type {} is not in this release", step.kind);
    let violation = || Violation::new(format!("{path}.type"), message).with_value(&step.kind);
    (!is_supported(&step.kind)).then(violation)
}

fn of_sink(path: &str, step: &WorkflowTask) -> Option<Violation> {
    let sink = step.sink.as_deref().filter(|_| step.kind == "EVENT")?;
    let is_known = sink.contains("${") || sink == "conductor" || sink.starts_with("conductor:");
    let message = "only conductor sinks are in this release: conductor, conductor:NAME";
    let violation = || Violation::new(format!("{path}.sink"), message).with_value(sink);
    (!is_known).then(violation)
}
