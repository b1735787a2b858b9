//! # Ordinary programs: what they give, here and in a child

use semel_engine::Language;
use semel_scripts::{Budget, Guards, evaluate};

use crate::corpus::{self, Case, expect_none};
use crate::pools;

/// Fewer means that programs were lost, not that less is tested.
const CASES_MIN: usize = 150;

fn all() -> Vec<Case> {
    let languages = [Language::JavaScript, Language::Function, Language::Jq];
    let all: Vec<Case> =
        languages.into_iter().flat_map(|language| corpus::read("ordinary", language)).collect();
    assert!(all.len() >= CASES_MIN, "only {} programs", all.len());
    all
}

#[test]
fn an_ordinary_program_gives_what_it_says() {
    let objections: Vec<String> = all()
        .iter()
        .filter_map(|case| case.objection(&evaluate(&case.script, &Budget::default())))
        .collect();
    expect_none(&objections);
}

#[test]
fn an_ordinary_program_gives_the_same_in_a_child() {
    let pool = pools::real(2, Budget::default(), Guards::default());
    let cases = all();
    let verdicts = pools::ask_all(&pool, cases.iter().map(|case| case.script.clone()));
    let objections: Vec<String> = cases
        .iter()
        .zip(&verdicts)
        .filter_map(|(case, verdict)| {
            case.objection(verdict).or_else(|| {
                let here = evaluate(&case.script, &Budget::default());
                (here != *verdict).then(|| format!("{}: {here:?}, {verdict:?}", case.place))
            })
        })
        .collect();
    expect_none(&objections);
}
