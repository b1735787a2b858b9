//! # What plain programs give, and which programs are not plain
//!
//! That JavaScript gives the same is proved in `tests/scripts`, against the engine of the pool.

use semel_model::Payload;

use super::{Program, compute};
use crate::expression::Json;
use crate::script::Language;

const INPUT: &str = r#"{"state": "PAID", "n": 10, "zero": 0, "yes": true, "no": false,
    "nothing": null, "text": "12", "empty": "", "list": [1, {"x": "y"}], "odd key": 1,
    "deep": {"a": {"b": 5}}, "größe": 3, "big": 9007199254740993, "10": "ten", "9": "nine"}"#;

fn input() -> Payload {
    Payload::from_text(INPUT.to_owned()).unwrap()
}

fn given(language: Language, source: &str) -> Option<String> {
    compute(language, source, &input()).map(|computed| computed.result.text().to_owned())
}

fn result(source: &str) -> Option<String> {
    given(Language::JavaScript, source)
}

fn holds(source: &str) -> Result<bool, String> {
    let document = Json::read_data(&input());
    let program = Program::parse(Language::JavaScript, source);
    let program = program.unwrap_or_else(|| panic!("{source} is plain"));
    program.is_true(&document).map_err(|obstacle| obstacle.to_string())
}

#[track_caller]
fn all_give(expected: &str, programs: &[&str]) {
    for program in programs {
        assert_eq!(result(program).as_deref(), Some(expected), "{program}");
    }
}

#[test]
fn a_condition_means_what_it_means_in_javascript() {
    for text in [
        "$.state == 'PAID'",
        "$.state === \"PAID\"",
        "$.n > 9 && $.n <= 10",
        "$.n >= 10.0",
        "$.n == '10'",
        "$.text > 3",
        "$.n !== '10'",
        "$['odd key'] == 1",
        "$.list[1].x == 'y'",
        "$.list.length == 2",
        "$.state.length == 4",
        "$.missing == null",
        "$.missing === undefined",
        "$.missing !== null",
        "$.nothing == undefined",
        "!($.state == 'OPEN')",
        "!$.no",
        "!!$.state",
        "$.yes",
        "$.n",
        "$.yes == 1",
        "($.no || $.yes) && ($.deep.a.b == 5)",
        "$.no || $.n == 1 || $.state == 'PAID'",
        "$.no && $.missing.more || $.yes",
        "'a' < 'b'",
        "$.n == $.n;",
        "\n $.state\n==\n'PAID'\n",
        "true",
        "$.empty == 0",
        "$.n + 1 == 11",
        "$.n == 10 ? true : false",
        "$.größe == 3",
        "$.list == $.list",
        "!$.a == 1",
        "if ($.n < 11) { true; } else { false; }",
    ] {
        assert_eq!(holds(text), Ok(true), "{text}");
    }
    for text in [
        "$.state == 'paid'",
        "$.n < 9",
        "$.zero",
        "$.state",
        "$.list",
        "$.yes && $.state",
        "$.missing != null",
        "$.nothing === undefined",
        "$.missing > 1",
        "$.missing <= 1",
        "!$.yes",
        "$.no == null",
        "$.state > 1",
        "$.state < 1",
        "$",
        "$.n / 0 - $.n / 0",
    ] {
        assert_eq!(holds(text), Ok(false), "{text}");
    }
}

#[test]
fn reading_on_from_nothing_is_an_error() {
    assert_eq!(holds("$.missing.more == 1"), Err("cannot read more of undefined".to_owned()));
    assert_eq!(holds("$.nothing.more == 1"), Err("cannot read more of null".to_owned()));
    assert_eq!(holds("$.yes || $.missing.more"), Ok(true), "what is not looked at is no error");
    assert_eq!(result("$.missing.more"), None, "the pool has the words");
}

#[test]
fn the_forms_that_builders_and_examples_write_are_plain() {
    all_give(
        "true",
        &[
            "if ( $.n['length'] == undefined || $.n < 11 ) { true; } else { false; }",
            "if ($.n < 5) { false; } else if ($.n < 20) { true; } else { false; }",
            "function e() { if ($.n > 1) { return true } else { return false } } e();",
            "(function () { return $.n > 1; })();",
            "(function(){ return $.n > 1 }())",
            "(() => $.n > 1)()",
            "(() => { return $.n > 1 })()",
            "var limit = 5; $.n > limit",
            "var ok = false\nif ($.n > 1) { ok = true }\nok",
            "const ok = $.n > 1; // why\nok;",
            "/* why */ $.n > 1",
        ],
    );
    all_give(r#"{"result":true,"n":11}"#, &["({result: true, 'n': $.n + 1})"]);
    all_give("\"10px\"", &["$.n + 'px'", "var unit = 'px'; $.n + unit"]);
    let body = "if ($.n == 10) { return {testvalue: true} } else { return {testvalue: false} }";
    assert_eq!(given(Language::Function, body).as_deref(), Some(r#"{"testvalue":true}"#));
    assert_eq!(given(Language::Function, "$.n").as_deref(), Some("null"));
    assert_eq!(given(Language::Jq, ".n"), None);
}

#[test]
fn a_result_is_written_as_the_pool_writes_it() {
    all_give("null", &["", ";", "undefined", "null", "NaN", "1 / 0", "var x = 5", "if (false) 1"]);
    all_give("0", &["-0", "0.0"]);
    all_give("9007199254740992", &["$.big"]);
    all_give("1e+24", &["1e24"]);
    all_give("[1,null,\"\\n\"]", &["[1, undefined, '\\n',]"]);
    all_give(r#"{"9":1,"10":2,"b":3,"a":4}"#, &["({b: 3, 10: 2, a: 4, 9: 1})"]);
    assert!(result("$").unwrap().starts_with(r#"{"9":"nine","10":"ten","state":"PAID""#));
}

#[test]
fn a_statement_without_a_value_leaves_the_one_before() {
    all_give("1", &["1; var x = 2", "1; {}", "1;;", "1; function f() { return 2 }"]);
    all_give("null", &["1; if (true) { }", "1; if (false) 2"]);
    all_give("3", &["1; { 2; 3; }", "var x = 1; x = 3", "let x; if (true) x = 3; else x = 4; x"]);
}

#[test]
fn what_is_not_plain_is_left_to_the_pool() {
    for text in [
        "$.a ==",
        "== 1",
        "$.a = 1",
        "$.a+1 = 2",
        "$.list.includes('x')",
        "$.a.toString() == 'x'",
        "$.a == b",
        "$a == 1",
        "($.a == 1",
        "$.a == 1)",
        "$.a == 1) || ($.b == 2",
        "$.a?.b == 1",
        "$.a & $.b",
        "$.a && ",
        "$.list == 'x'",
        "$.list + 1",
        "$.a == undefinedly",
        "$.a == /x/",
        "function() { return true }",
        "return $.n == 1",
        "$.1 == 1",
        "$..a == 1",
        "$.* == 1",
        "`x` == $.a",
        "$.a in [1]",
        "1 <!-- 2",
        "1 --> 0",
        "2 ** 3",
        "1 << 2",
        "010",
        "0x10",
        "1n",
        "1_000",
        "3.toString",
        "'\\ud800'",
        "'\\0'",
        "var x = 1; var x = 2",
        "x; var x = 1",
        "const x = 1; x = 2",
        "const x;",
        "{ let x = 1 } x",
        "if (true) { var x = 1 } x",
        "var undefined = 1",
        "var Date; Date",
        "({__proto__: null})",
        "$.toString",
        "$.n.toFixed",
        "$.state.trim",
        "$.state['-1']",
        "1 ?? 2 || 3",
        "function f() { return f() } f()",
        "a: 1",
        "for (;;) {}",
        "1 2",
        "1\n(2)",
        "return 1",
        "new Object()",
        "this",
        "'x' == '\u{2028}'",
        "0 == '\u{a0}'",
        "0 == '0x10'",
        "($ => 1)()",
    ] {
        assert_eq!(result(text), None, "{text}");
    }
}

#[test]
fn input_that_only_the_pool_can_show_is_not_plain() {
    let with = |input: &str| {
        let input = Payload::from_text(input.to_owned()).unwrap();
        compute(Language::JavaScript, "1", &input).is_some()
    };
    assert!(with("{}") && with(r#"{"a":[[]]}"#) && with("1e999"));
    assert!(!with(r#"{"a":"${workflow.secrets.KEY}"}"#));
    assert!(!with(r#"{"a":"\ud83d"}"#));
    assert!(!with(&format!("{}1{}", "[".repeat(120), "]".repeat(120))));
    assert!(!with(&format!("\"{}\"", "x".repeat(200_000))));
}

#[test]
fn depth_length_and_steps_have_a_limit() {
    let nested = |levels: usize| format!("{}$.n{}", "(".repeat(levels), ")".repeat(levels));
    assert!(result(&nested(30)).is_some());
    assert!(result(&nested(60)).is_none());
    assert!(result(&"!".repeat(3_000)).is_none());
    assert!(result(&format!("1{}", "+1".repeat(100))).is_some());
    assert!(result(&format!("1{}", "+1".repeat(1_000))).is_none());
    assert!(result(&format!("$.no{}", "||$.n==1".repeat(1_000))).is_some());
    assert!(result(&format!("1{}", " ".repeat(20_000))).is_none());
    let doubled: String =
        (1..30).map(|at| format!("var x{at} = x{} + x{}; ", at - 1, at - 1)).collect();
    assert!(result(&format!("var x0 = 'text'; {doubled}")).is_none());
    let calls: String = (1..30)
        .map(|at| format!("function f{at}() {{ return f{0}() + f{0}() }} ", at - 1))
        .collect();
    assert!(result(&format!("function f0() {{ return 1 }} {calls} f29()")).is_none());
}
