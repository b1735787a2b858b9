//! # Hostile programs: each ends, with a reason, and leaves nothing behind
//!
//! What a budget ends for sure is run twice in this process and must end the same. All of them are
//! run by children, and after each a plain question must be answered as if nothing had been.

use semel_engine::{Language, Script, Verdict};
use semel_scripts::{Budget, Guards, Pool, evaluate};

use crate::corpus::{self, Case, expect_none, script, value};
use crate::pools;

/// Fewer means that programs were lost, not that less is tested.
const JAVASCRIPT_MIN: usize = 120;
const JQ_MIN: usize = 60;

/// Enough to be ordinary, little enough to be spent soon.
fn budget() -> Budget {
    Budget {
        ticks_max: 50,
        memory_bytes_max: 16 * 1024 * 1024,
        stack_bytes_max: 1024 * 1024,
        result_bytes_max: 1_000_000,
        results_max: 10_000,
    }
}

fn all() -> Vec<Case> {
    let javascript = corpus::read("hostile", Language::JavaScript);
    let jq = corpus::read("hostile", Language::Jq);
    assert!(javascript.len() >= JAVASCRIPT_MIN, "only {} in JavaScript", javascript.len());
    assert!(jq.len() >= JQ_MIN, "only {} in jq", jq.len());
    javascript.into_iter().chain(jq).collect()
}

/// A plain question, whose answer shows what an earlier script might have left.
fn plain(language: Language) -> (Script, Verdict) {
    match language {
        Language::JavaScript | Language::Function => (
            script(
                Language::JavaScript,
                "var seen = []; for (var k in {}) seen.push(k); for (var k in []) seen.push(k);
                 [seen, typeof polluted, typeof pile, [1, 2].map(String).join(), ({}).toString(),
                  Object.keys($), new Map([['a', 1]]), new Date(), Math.random()]",
            ),
            value(
                r#"[[],"undefined","undefined","1,2","[object Object]",[],{"a":1},"2023-11-14T22:13:20.123Z",0.01088889475226662]"#,
            ),
        ),
        Language::Jq => (script(Language::Jq, "., [1, 2] | length"), value("[0,2]")),
    }
}

#[test]
fn what_a_budget_ends_ends_the_same_every_time() {
    let mut objections = vec![];
    for case in all().iter().filter(|case| case.is_harmless()) {
        let verdict = evaluate(&case.script, &budget());
        objections.extend(case.objection(&verdict));
        let (question, answer) = plain(case.script.language);
        if evaluate(&question, &budget()) != answer {
            objections.push(format!("{} left something behind", case.place));
        }
        if evaluate(&case.script, &budget()) != verdict {
            objections.push(format!("{} ends differently when repeated", case.place));
        }
    }
    expect_none(&objections);
}

#[test]
fn what_a_budget_ends_ends_so_in_a_child() {
    let cases: Vec<Case> = all().into_iter().filter(|case| !case.is_killed()).collect();
    // One child, so that the question comes to where the program was.
    let pool = pools::real(1, budget(), Guards { cpu_ms: 20_000, wall_ms: 60_000 });
    expect_none(&objections(&pool, &cases));
}

#[test]
fn what_no_budget_ends_is_killed() {
    let cases: Vec<Case> = all().into_iter().filter(Case::is_killed).collect();
    assert!(cases.len() > 30, "only {} programs need a guard", cases.len());
    let pool = pools::real(2, Budget::default(), Guards { cpu_ms: 100, wall_ms: 20_000 });
    expect_none(&objections(&pool, &cases));
}

/// Every program in a child, and after it a plain question.
fn objections(pool: &Pool, cases: &[Case]) -> Vec<String> {
    let scripts = cases.iter().flat_map(|case| {
        let (question, _) = plain(case.script.language);
        [case.script.clone(), question]
    });
    let verdicts = pools::ask_all(pool, scripts);
    let mut objections = vec![];
    for (case, verdicts) in cases.iter().zip(verdicts.chunks(2)) {
        objections.extend(case.objection(&verdicts[0]));
        if verdicts[1] != plain(case.script.language).1 {
            objections.push(format!("{} left something behind: {:?}", case.place, verdicts[1]));
        }
    }
    objections
}
