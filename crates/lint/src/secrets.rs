//! # Secrets: a definition lists those that its runs may use

use std::collections::BTreeSet;

use semel_model::{InlineDefinition, WorkflowDef};

use crate::finding::{Code, Finding};
use crate::walk::Scene;

/// Of one that has a list, registration says what is missing in it.
pub(crate) fn of_definition(scene: &Scene<'_>) -> Option<Finding> {
    let named = named_here(scene);
    if scene.definition.secrets.is_some() || named.is_empty() {
        return None;
    }
    let told: Vec<&str> = named.iter().map(String::as_str).collect();
    let message = format!(
        "expressions name the secrets {}, and the definition has no list of those its runs may use",
        told.join(", ")
    );
    let quoted: Vec<String> = told.iter().map(|name| format!("\"{name}\"")).collect();
    let fix = format!("add \"secrets\": [{}]", quoted.join(", "));
    Some(Finding::new(Code::WSecret1, &format!("{}secrets", scene.prefix), message, fix))
}

/// Without those that only a definition given in place names: its runs have a list of their own.
fn named_here(scene: &Scene<'_>) -> BTreeSet<String> {
    let given = scene.places.iter().filter_map(|place| {
        let parameters = place.step.sub_workflow_param.as_ref()?;
        match parameters.workflow_definition.as_ref()? {
            InlineDefinition::Definition(inner) => Some(WorkflowDef::secrets_named(inner)),
            InlineDefinition::Expression(_) => None,
        }
    });
    let given: BTreeSet<String> = given.flatten().collect();
    let templates = scene.places.iter().map(|place| place.policy.secrets_named());
    let mut named = &scene.definition.secrets_named() - &given;
    named.extend(templates.flatten());
    named
}
