//! # Expressions: what `${...}` brings into an input
//!
//! Rules:
//! * docs/reference/rules/expressions.md
//! * docs/reference/rules/expressions.md#templates-and-defaults

use serde_json::{Value, json};

use crate::bench::Bench;
use crate::shapes::{flow, step, with};

/// The input of the only step, given its parameters and the run's input.
#[track_caller]
fn resolve(parameters: Value, input: Value) -> Value {
    let only = with(step("a", json!({})), json!({"inputParameters": parameters}));
    let run = Bench::start(flow(&[only]), input);
    run.replay();
    run.attempt("a", 0).input.value()
}

#[track_caller]
fn resolve_one(template: &str, input: Value) -> Value {
    resolve(json!({ "x": template }), input)["x"].take()
}

#[test]
fn a_whole_expression_keeps_the_type() {
    let input = json!({"n": 7, "o": {"k": 1}, "l": [1, "b"], "t": true, "z": null, "f": 1.0});
    for (field, value) in input.as_object().unwrap() {
        let template = format!("${{workflow.input.{field}}}");
        assert_eq!(&resolve_one(&template, input.clone()), value, "{template}");
    }
}

#[test]
fn an_expression_inside_text_becomes_text() {
    let input = json!({"n": 7, "a": 1, "b": 2, "o": {"k": 1}, "l": [1, 2], "f": 1.0, "s": "hi"});
    for (template, text) in [
        ("n=${workflow.input.n}", "n=7"),
        (" ${workflow.input.n}", " 7"),
        ("${workflow.input.a}${workflow.input.b}", "12"),
        ("o=${workflow.input.o}", r#"o={"k":1}"#),
        ("l=${workflow.input.l}", "l=[1,2]"),
        ("f=${workflow.input.f}", "f=1.0"),
        ("<${workflow.input.s}>", "<hi>"),
    ] {
        assert_eq!(resolve_one(template, input.clone()), json!(text), "{template}");
    }
}

#[test]
fn what_is_missing_is_null_and_inside_text_the_word_null() {
    let input = json!({"s": "text", "l": [1]});
    for path in [
        "workflow.input.missing",
        "workflow.input.s.length",
        "workflow.input.l[5]",
        "workflow.nothing",
        "later.output.x",
        "workflow.input...s",
        "workflow.input.l[",
        "HOME",
    ] {
        assert_eq!(resolve_one(&format!("${{{path}}}"), input.clone()), json!(null), "{path}");
        assert_eq!(resolve_one(&format!("n=${{{path}}}"), input.clone()), json!("n=null"));
    }
    let kept = resolve(json!({"x": "${workflow.input.missing}"}), input);
    assert_eq!(kept, json!({"x": null}), "the key stays");
}

#[test]
fn escapes_and_oddities_are_text() {
    for (template, value) in [
        ("$${x}", "${x}"),
        ("$$${x}", "$${x}"),
        ("a $${x} b ${workflow.input.n}", "a ${x} b 7"),
        ("open ${workflow.input.n", "open ${workflow.input.n"),
        ("${}", ""),
        ("${  }", ""),
        ("$", "$"),
        ("{}", "{}"),
    ] {
        assert_eq!(resolve_one(template, json!({"n": 7})), json!(value), "{template}");
    }
}

#[test]
fn data_is_never_looked_at_again() {
    let input = json!({"s": "${workflow.input.n} $${x}", "n": 7});
    assert_eq!(resolve_one("${workflow.input.s}", input.clone()), input["s"]);
    assert_eq!(resolve_one("<${workflow.input.s}>", input), json!("<${workflow.input.n} $${x}>"));
}

#[test]
fn paths_reach_through_maps_lists_and_quoted_names() {
    let input = json!({"l": [{"id": 1}, {"id": 2}], "m": {"x y": {"a.b": 3}, "a-b": 4}});
    for (path, value) in [
        ("workflow.input.l[0].id", 1),
        ("workflow.input.l[-1].id", 2),
        ("workflow.input['l'][1].id", 2),
        ("workflow.input.m['x y'][\"a.b\"]", 3),
        ("workflow.input.m.a-b", 4),
        (" workflow.input.l[0].id ", 1),
    ] {
        assert_eq!(resolve_one(&format!("${{{path}}}"), input.clone()), json!(value), "{path}");
    }
}

#[test]
fn inner_expressions_are_resolved_first_and_become_text() {
    let input = json!({"rows": [{"id": "r0"}, {"id": "r1"}], "at": 1, "key": "rows"});
    assert_eq!(resolve_one("${workflow.input.rows[${workflow.input.at}].id}", input.clone()), "r1");
    let twice = "${workflow.input.${workflow.input.key}[${workflow.input.at}].id}";
    assert_eq!(resolve_one(twice, input), "r1");
}

#[test]
fn values_are_resolved_through_maps_and_lists_and_keys_are_not() {
    let parameters = json!({
        "deep": {"l": ["${workflow.input.n}", {"m": "${workflow.input.n}"}]},
        "${workflow.input.n}": 1, "number": 3, "flag": true, "none": null});
    let resolved = json!({
        "deep": {"l": [7, {"m": 7}]},
        "${workflow.input.n}": 1, "number": 3, "flag": true, "none": null});
    assert_eq!(resolve(parameters, json!({"n": 7})), resolved);
}

#[test]
fn the_worked_example_of_section_6_6_holds() {
    let ship = with(
        step("ship_1", json!({"inputTemplate": {"carrier": "post", "retries": 2}})),
        json!({"inputParameters": {
            "to": "${workflow.input.addr}",
            "label": "order ${workflow.input.id}/${pay.output.code}",
            "lines": [{"sku": "${workflow.input.items[0].sku}"}],
            "raw": "$${keep}", "carrier": "${workflow.input.carrier}"}}),
    );
    let input = json!({"id": 5, "addr": {"zip": "01000"}, "items": [{"sku": "A"}]});
    let run = Bench::start(flow(&[ship]), input);
    let wanted = json!({"to": {"zip": "01000"}, "label": "order 5/null", "lines": [{"sku": "A"}],
        "raw": "${keep}", "carrier": "post", "retries": 2});
    assert_eq!(run.attempt("ship_1", 0).input.value(), wanted);
    run.replay();
}

#[test]
fn a_task_template_fills_what_is_absent_or_null_and_is_itself_resolved() {
    let policy = json!({"inputTemplate": {
        "who": "${workflow.input.who}", "gone": "${workflow.input.gone}", "kept": "template"}});
    let filled = with(step("a", policy), json!({"inputParameters": {"who": null, "kept": 1}}));
    let run = Bench::start(flow(&[filled]), json!({"who": "ann"}));
    let wanted = json!({"who": "ann", "kept": 1, "gone": "${workflow.input.gone}"});
    assert_eq!(run.attempt("a", 0).input.value(), wanted);
}

#[test]
fn a_workflow_template_fills_what_the_start_left_out_and_resolves_nothing() {
    let template = json!({"inputTemplate": {"a": "${workflow.input.b}", "b": 2, "c": {"d": 3}}});
    let definition = with(flow(&[step("s", json!({}))]), template);
    let run = Bench::start(definition.clone(), json!({"b": null, "c": {}}));
    let wanted = json!({"a": "${workflow.input.b}", "b": 2, "c": {}});
    assert_eq!(run.execution.input().value(), wanted);
    run.replay();
    let empty = Bench::start(definition, json!({}));
    assert_eq!(empty.execution.input().value()["b"], 2);
}

#[test]
fn the_fields_of_the_run_and_of_earlier_tasks_can_be_read() {
    let reader = with(
        step("b", json!({})),
        json!({"inputParameters": {
            "run": "${workflow.workflowId}", "name": "${workflow.workflowType}",
            "version": "${workflow.version}", "status": "${workflow.status}",
            "mine": "${CPEWF_TASK_ID}", "a_status": "${a.status}", "a_id": "${a.taskId}",
            "a_type": "${a.taskType}", "a_tries": "${a.retryCount}", "a_polls": "${a.pollCount}",
            "a_worker": "${a.workerId}", "a_input": "${a.input}", "v": "${a.output.v}"}}),
    );
    let first = with(step("a", json!({})), json!({"inputParameters": {"k": "v"}}));
    let mut run = Bench::start(flow(&[first, reader]), json!({}));
    run.complete("a", json!({"v": 9}));
    let wanted = json!({
        "run": run.execution.id().to_string(), "name": "flow", "version": 1, "status": "RUNNING",
        "mine": run.attempt("b", 0).id.to_string(), "a_status": "COMPLETED",
        "a_id": run.attempt("a", 0).id.to_string(), "a_type": "a_def", "a_tries": 0, "a_polls": 1,
        "a_worker": "ann", "a_input": {"k": "v"}, "v": 9});
    assert_eq!(run.attempt("b", 0).input.value(), wanted);
    run.replay();
}

#[test]
fn a_step_without_parameters_has_an_empty_input() {
    let run = Bench::start(flow(&[step("a", json!({}))]), json!({"n": 1}));
    assert_eq!(run.attempt("a", 0).input.value(), json!({}));
}

#[test]
fn outputs_are_resolved_by_the_same_rules_without_a_task_of_their_own() {
    let definition = with(
        flow(&[step("a", json!({}))]),
        json!({"outputParameters": {
            "id": "${CPEWF_TASK_ID}", "text": "<${CPEWF_TASK_ID}>", "status": "${workflow.status}",
            "all": "${a.output.l[*].n}", "max": "${a.output.l[*].n.max()}", "none": "${b.output.x}",
            "key": "${workflow.secrets.KEY}"}}),
    );
    let mut run = Bench::start(definition, json!({}));
    run.complete("a", json!({"l": [{"n": 1}, {"n": 2}]}));
    let wanted = json!({"id": null, "text": "<null>", "status": "COMPLETED", "all": [1, 2],
        "max": 2.0, "none": null, "key": "${workflow.secrets.KEY}"});
    assert_eq!(run.output(), wanted);
    run.replay();
}

#[test]
fn a_retry_overlays_the_old_input_and_has_its_own_task_id() {
    let policy = json!({"retryCount": 1, "retryDelaySeconds": 0, "inputTemplate": {"t": 1.5}});
    let only = with(
        step("a", policy),
        json!({"inputParameters": {"id": "${CPEWF_TASK_ID}", "before": "${a.status}"}}),
    );
    let mut run = Bench::start(flow(&[only]), json!({}));
    run.fail("a", semel_model::TaskResultStatus::Failed, "once");
    for (attempt, before) in [(0, Value::Null), (1, json!("FAILED"))] {
        let task = run.attempt("a", attempt);
        let wanted = json!({"id": task.id.to_string(), "before": before, "t": 1.5});
        assert_eq!(task.input.text(), wanted.to_string(), "and in that order");
    }
    run.replay();
}

#[test]
fn environment_values_are_read_when_a_task_is_scheduled_and_noted_in_its_entry() {
    let environment = |region: &str| {
        let values = [("REGION", region), ("UNUSED", "nobody asks")];
        values.map(|(name, value)| (name.to_owned(), value.to_owned())).into_iter().collect()
    };
    let asks = json!({"inputParameters": {"at": "${workflow.env.REGION}"}});
    let policy = json!({"retryCount": 1, "retryDelaySeconds": 0});
    let mut run = Bench::unborn(flow(&[with(step("a", policy), asks)]));
    run.environment = environment("eu");
    let start = semel_engine::Event::Started(run.plain_start());
    run.happen(start, &[semel_model::Payload::empty()]).expect("a run begins");
    run.environment = environment("us");
    run.fail("a", semel_model::TaskResultStatus::Failed, "once");
    run.environment = environment("mars");
    assert_eq!(run.attempt("a", 0).input.value(), json!({"at": "eu"}));
    assert_eq!(run.attempt("a", 1).input.value(), json!({"at": "us"}));
    run.replay();
    let journal = String::from_utf8(run.journal.concat()).expect("a journal is text");
    assert!(journal.contains(r#""environment":{"REGION":"eu"}"#), "{journal}");
    assert!(!journal.contains("nobody asks") && !journal.contains("mars"), "{journal}");
}

#[test]
fn an_escaped_secret_reaches_the_worker_as_text_by_whatever_way() {
    let asks = json!({"inputParameters": {"text": "$${workflow.secrets.KEY}",
        "more": "a $$${workflow.secrets.KEY}", "value": "${workflow.secrets.KEY}"}});
    let copies = json!({"inputParameters": {"all": "${a.input}"}});
    let mut run = Bench::start(
        flow(&[with(step("a", json!({})), asks), with(step("b", json!({})), copies)]),
        json!({}),
    );
    run.complete("a", json!({}));
    let handed = |reference: &str| {
        let input = &run.attempt(reference, 0).input;
        assert!(!input.text().contains("hunter22"), "the value is not stored");
        semel_engine::reveal(input, Some(1), &mut |_| Some("hunter22".to_owned())).value()
    };
    let wanted = json!({"text": "${workflow.secrets.KEY}", "more": "a $${workflow.secrets.KEY}",
        "value": "hunter22"});
    assert_eq!(handed("a"), wanted);
    assert_eq!(handed("b"), json!({"all": wanted}));
    run.replay();
}

#[test]
fn a_template_of_a_system_task_is_not_applied() {
    let waits = json!({"name": "w", "taskReferenceName": "w", "type": "WAIT",
        "taskDefinition": {"name": "w", "inputTemplate": {"duration": "1s", "x": 1}},
        "inputParameters": {"y": "${workflow.input.y}"}});
    let run = Bench::start(flow(&[waits]), json!({"y": 2}));
    assert_eq!(run.attempt("w", 0).input.value(), json!({"y": 2}));
}

#[test]
fn numbers_keep_their_text_on_the_way_through_a_run() {
    let numbers = r#"{"wei":20000000000000000001,"p":1.10}"#;
    let definition = with(
        flow(&[with(
            step("a", json!({"inputTemplate": {"d": 1}})),
            json!({"inputParameters": {"wei": "${workflow.input.wei}", "all": "${workflow.input}"}}),
        )]),
        json!({"inputTemplate": {"k": 1}, "outputParameters": {"p": "${a.input.all.p}"}}),
    );
    let mut run = Bench::unborn(definition);
    let start = semel_engine::Event::Started(run.plain_start());
    let input = semel_model::Payload::from_text(numbers.to_owned()).unwrap();
    run.happen(start, &[input]).expect("a run begins");
    let with_default = r#"{"wei":20000000000000000001,"p":1.10,"k":1}"#;
    assert_eq!(run.execution.input().text(), with_default);
    let wanted = format!(r#"{{"wei":20000000000000000001,"all":{with_default},"d":1}}"#);
    assert_eq!(run.attempt("a", 0).input.text(), wanted);
    run.complete("a", json!({}));
    assert_eq!(run.execution.output().text(), r#"{"p":1.10}"#);
    run.replay();
}

#[test]
fn data_never_says_where_a_path_begins() {
    let armed = json!({"inputParameters": {"armed": "${workflow.secrets.BANK}", "k": "v"}});
    let asks = json!({"inputParameters": {
        "whole": "${${workflow.input.way}}",
        "rest": "${${workflow.input.half}.input.armed}",
        "document": "${workflow.input.l.concat(${workflow.input.far})}",
        "chosen": "${first.input.${workflow.input.key}}",
        "plain": "${first.input.${workflow.input.plain}}",
        "written": "${first.input.armed}",
        "beside": "${workflow.input.l[?(@ == $.first.input.k || @ == ${workflow.input.one})]}"}});
    let first = with(step("first", json!({})), armed);
    let mut run = Bench::start(
        flow(&[first, with(step("a", json!({})), asks)]),
        json!({"way": "first.input.armed", "half": "first", "far": "$.first.input.k", "l": ["v", 1],
            "key": "armed", "plain": "k", "one": 1}),
    );
    run.complete("first", json!({}));
    let expected = json!({"whole": null, "rest": null, "document": null,
        "chosen": "$${workflow.secrets.BANK}", "plain": "v",
        "written": "${workflow.secrets.BANK}", "beside": ["v", 1]});
    assert_eq!(run.attempt("a", 0).input.value(), expected);
    run.replay();
}
