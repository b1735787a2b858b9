//! # Ordinary programs: what they give, here and in a child

use semel_engine::{Language, Script, Verdict};
use semel_model::TaskId;
use semel_scripts::{Budget, Guards, evaluate};

use crate::corpus::{self, Case, expect_none, script};
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

#[test]
fn another_seed_throws_other_dice() {
    let throws = |seed| {
        let dice = "Array.from({ length: 100 }, Math.random)";
        let seed = TaskId::from_bytes([seed; 16]);
        evaluate(&Script { seed, ..script(Language::JavaScript, dice) }, &Budget::default())
    };
    let Verdict::Value(thrown) = throws(1) else { panic!("{:?}", throws(1)) };
    let numbers: Vec<f64> = serde_json::from_str(thrown.text()).unwrap();
    assert!(numbers.iter().all(|number| (0.0..1.0).contains(number)), "{numbers:?}");
    let mean = numbers.iter().sum::<f64>() / 100.0;
    assert!((0.4..0.6).contains(&mean), "{mean}");
    assert_ne!(throws(1), throws(2));
}
