//! # Secret names: which secrets a definition may use
//!
//! A definition lists them in `secrets`. One that has no list is read as listing what it names
//! literally, so that an expression whose name is put together from data finds nothing it was not
//! meant to find. **May not:** know whether a secret of that name exists.

use std::collections::BTreeSet;

use crate::{TaskDef, WorkflowDef};

/// What stands before the name in `${workflow.secrets.NAME}`.
const BEFORE: &str = "workflow.secrets.";

impl WorkflowDef {
    /// Those that its expressions name literally, in steps and task definitions inside it too.
    pub fn secrets_named(&self) -> BTreeSet<String> {
        let text = serde_json::to_string(self).expect("a definition is plain data");
        named_in(&text)
    }

    /// Those that its runs may use.
    pub fn secrets_allowed(&self) -> BTreeSet<String> {
        match &self.secrets {
            Some(listed) => listed.iter().cloned().collect(),
            None => self.secrets_named(),
        }
    }
}

impl TaskDef {
    /// Those that its expressions name literally.
    pub fn secrets_named(&self) -> BTreeSet<String> {
        let text = serde_json::to_string(self).expect("a definition is plain data");
        named_in(&text)
    }
}

/// Longer names of secrets and of environment values are refused.
pub const SECRET_NAME_CHARS_MAX: usize = 255;

/// Whether letters of a name of a secret are all it has, and not too many of them.
pub fn is_secret_name(name: &str) -> bool {
    let is_short = name.len() <= SECRET_NAME_CHARS_MAX; // Letters of a name have one byte each.
    is_short && !name.is_empty() && name.chars().all(is_of_name)
}

fn is_of_name(c: char) -> bool {
    c.is_ascii_alphanumeric() || c == '_' || c == '-'
}

fn named_in(text: &str) -> BTreeSet<String> {
    let after = text.split(BEFORE).skip(1);
    let name = |rest: &str| rest[..rest.find(|c| !is_of_name(c)).unwrap_or(rest.len())].to_owned();
    after.map(name).filter(|name| !name.is_empty()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn definition(text: &str) -> WorkflowDef {
        serde_json::from_str(text).unwrap()
    }

    fn names(found: &BTreeSet<String>) -> Vec<&str> {
        found.iter().map(String::as_str).collect()
    }

    const TASKS: &str = r#""tasks":[{"name":"a","taskReferenceName":"a","inputParameters":{
        "user":"${workflow.secrets.DB.user} ${workflow.secrets.KEY-2}",
        "which":"${workflow.secrets.${workflow.input.which}}"},
        "taskDefinition":{"name":"a","inputTemplate":{"t":"${workflow.secrets.OF_TASK}"}}}]"#;

    #[test]
    fn what_is_named_literally_is_allowed_where_nothing_is_listed() {
        let found = definition(&format!(r#"{{"name":"w",{TASKS}}}"#));
        assert_eq!(names(&found.secrets_named()), ["DB", "KEY-2", "OF_TASK"]);
        assert_eq!(found.secrets_allowed(), found.secrets_named());
    }

    #[test]
    fn a_list_says_all_and_may_be_empty() {
        let found = definition(&format!(r#"{{"name":"w","secrets":["B","A"],{TASKS}}}"#));
        assert_eq!(names(&found.secrets_allowed()), ["A", "B"]);
        let found = definition(&format!(r#"{{"name":"w","secrets":[],{TASKS}}}"#));
        assert!(found.secrets_allowed().is_empty());
    }
}
