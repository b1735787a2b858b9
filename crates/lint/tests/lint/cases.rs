//! # Cases: definitions, and exactly what is found in them
//!
//! One file each in `tests/cases`: `about` in words, a bundle, settings that differ from the
//! defaults, and `expect`, a list of `CODE at`.

use std::path::{Path, PathBuf};

use semel_lint::{Code, FINDINGS_MAX, Settings, lint};
use semel_model::{WorkflowDef, WorkflowTask};
use serde::Deserialize;

use crate::bundle::Bundle;

#[derive(Deserialize)]
struct Case {
    about: String,
    #[serde(flatten)]
    bundle: Bundle,
    #[serde(default)]
    settings: Changed,
    expect: Vec<String>,
}

#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct Changed {
    /// 0 keeps for ever.
    execution_retention_seconds: Option<i64>,
}

impl Changed {
    fn settings(&self) -> Settings {
        match self.execution_retention_seconds {
            None => Settings::default(),
            Some(seconds) => {
                let execution_retention_seconds = Some(seconds).filter(|seconds| *seconds > 0);
                Settings { execution_retention_seconds, ..Settings::default() }
            }
        }
    }
}

fn cases() -> Vec<(PathBuf, Case)> {
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cases");
    let files = std::fs::read_dir(directory).expect("the cases are there");
    let read = |file: std::io::Result<std::fs::DirEntry>| {
        let path = file.expect("a file").path();
        let text = std::fs::read_to_string(&path).expect("a file can be read");
        let case = serde_json::from_str(&text);
        (path.clone(), case.unwrap_or_else(|error| panic!("{}: {error}", path.display())))
    };
    files.map(read).collect()
}

#[test]
fn every_case_gives_exactly_the_findings_it_says() {
    for (path, case) in cases() {
        let found = case.bundle.lint(&case.settings.settings());
        let told: Vec<_> = found.iter().map(|it| format!("{} {}", it.code, it.at)).collect();
        assert_eq!(told, case.expect, "{}: {}\n{found:#?}", path.display(), case.about);
    }
}

#[test]
fn every_case_may_be_registered_unless_it_says_otherwise() {
    let refused = |case: &Case| case.expect.iter().any(|it| it.starts_with("E-REG-1"));
    for (path, case) in cases().into_iter().filter(|(_, case)| !refused(case)) {
        case.bundle.may_be_registered(&path.display().to_string());
    }
}

#[test]
fn every_code_has_a_case() {
    let expected: Vec<String> = cases().into_iter().flat_map(|(_, case)| case.expect).collect();
    for code in Code::ALL {
        let prefix = format!("{code} ");
        assert!(expected.iter().any(|line| line.starts_with(&prefix)), "no case for {code}");
    }
}

#[test]
fn a_hostile_definition_gets_a_short_report() {
    let step = WorkflowTask {
        name: "n".repeat(10_000),
        task_reference_name: "r".repeat(10_000),
        kind: "X".to_owned(),
        ..WorkflowTask::default()
    };
    let definition = WorkflowDef { tasks: Some(vec![step; 3_000]), ..WorkflowDef::default() };
    let found = lint(&definition, &|_| None, &Settings::default());
    assert_eq!(found.len(), FINDINGS_MAX);
    assert!(found.iter().all(|it| it.at.len() < 1_100 && it.fix.len() < 1_100));
}
