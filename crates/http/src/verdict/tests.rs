//! # Tests of verdicts: the table of docs/reference/idempotency.md#retry-classes

use serde_json::{Value, json};

use super::*;

fn request(more: Value) -> HttpRequest {
    let mut request = json!({"uri": "http://a", "method": "POST"});
    request.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    HttpRequest::read(&Payload::from_value(&request)).unwrap()
}

/// One request of each class, in the order safe, idempotent, keyed, unsafe.
fn all() -> [HttpRequest; 4] {
    [
        request(json!({"method": "GET"})),
        request(json!({"method": "PUT"})),
        request(json!({"idempotency": {"preset": "stripe"}})),
        request(json!({"idempotency": {"enabled": false}})),
    ]
}

fn answer(status: u16, headers: &[(&str, &str)], body: &str) -> Answer {
    let headers = headers.iter().map(|(name, value)| ((*name).into(), (*value).into())).collect();
    Answer { status, phrase: String::new(), headers, body: body.as_bytes().to_vec() }
}

fn effect(outcome: &Outcome) -> Value {
    outcome.output.value()["_effect"].clone()
}

#[test]
fn what_is_retryable_is_tried_again_where_a_repeat_does_no_harm() {
    for status in [408, 425, 429, 500, 502, 503, 504] {
        let [safe, idempotent, keyed, without] =
            all().map(|request| answered(&request, &answer(status, &[], "")));
        for outcome in [&safe, &idempotent, &keyed] {
            assert_eq!(outcome.status, Status::Failed, "{status}");
        }
        assert_eq!(safe.applied, Applied::No, "{status}");
        let known = matches!(status, 425 | 429);
        let without_key = if known { Status::Failed } else { Status::FailedTerminal };
        assert_eq!(without.status, without_key, "{status}");
        assert_eq!(without.applied == Applied::No, known, "{status}");
        assert_eq!(keyed.applied, without.applied, "{status}");
    }
}

#[test]
fn other_statuses_are_final() {
    for status in [301, 304, 400, 401, 403, 404, 405, 409, 410, 422, 451, 501, 505] {
        for request in all() {
            let outcome = answered(&request, &answer(status, &[], "no"));
            assert_eq!(outcome.status, Status::FailedTerminal, "{status} {}", outcome.class);
            assert_eq!(outcome.output.value()["response"]["statusCode"], status);
        }
    }
    let outcome = answered(&all()[2], &answer(404, &[], "no such thing"));
    let reason = "Failed to invoke HTTP task due to: 404: no such thing";
    assert_eq!(outcome.reason.as_deref(), Some(reason));
    assert_eq!(effect(&outcome), json!({"applied": false, "class": "KEYED"}));
}

#[test]
fn retry_after_is_passed_on_in_both_forms() {
    let keyed = &all()[2];
    let outcome = answered(keyed, &answer(503, &[("Retry-After", "17")], ""));
    assert_eq!((outcome.retry_after, outcome.status), (Some(17), Status::Failed));
    assert_eq!(outcome.output.value()["_retryAfterSeconds"], 17);
    let date = [
        ("Retry-After", "Sun, 06 Nov 1994 08:50:07 GMT"),
        ("Date", "Sun, 06 Nov 1994 08:49:37 GMT"),
    ];
    assert_eq!(answered(keyed, &answer(429, &date, "")).retry_after, Some(30));
    assert_eq!(answered(keyed, &answer(404, &[("Retry-After", "17")], "")).retry_after, None);
}

#[test]
fn a_key_in_use_is_waited_for_and_a_key_misused_is_not() {
    let [_, put, keyed, without] = all();
    let in_use = answer(409, &[("retry-after", "2")], r#"{"code": "idempotency_key_in_use"}"#);
    let outcome = answered(&keyed, &in_use);
    assert_eq!((outcome.status, outcome.retry_after), (Status::Failed, Some(2)));
    assert_eq!(answered(&put, &in_use).status, Status::FailedTerminal);
    assert_eq!(answered(&without, &in_use).status, Status::FailedTerminal);
    for status in [400, 409, 422] {
        let body = "Keys for idempotent requests can only be used with the same parameters";
        let outcome = answered(&keyed, &answer(status, &[], body));
        assert_eq!(outcome.status, Status::FailedTerminal);
        assert!(outcome.reason.unwrap().contains("used before for another request"));
    }
}

#[test]
fn a_replay_is_told_from_a_first_answer() {
    let replayed = answered(&all()[2], &answer(201, &[("Idempotent-Replayed", "true")], "{}"));
    assert_eq!(replayed.output.value()["effectStatus"], "DEDUPED_DOWNSTREAM");
    let first = answered(&all()[2], &answer(201, &[("Idempotent-Replayed", "false")], "{}"));
    assert_eq!(first.output.value().get("effectStatus"), None);
    assert_eq!((first.status, first.applied), (Status::Completed, Applied::Yes));
    assert_eq!(first.output.value().get("_effect"), None);
}

#[test]
fn without_an_answer_only_the_unsafe_is_not_tried_again() {
    let lost = || Fault::NoAnswer("reset".to_owned());
    let [safe, idempotent, keyed, without] = all().map(|request| unanswered(&request, lost()));
    assert_eq!((safe.status, safe.applied), (Status::Failed, Applied::No));
    for outcome in [idempotent, keyed] {
        assert_eq!((outcome.status, outcome.applied), (Status::Failed, Applied::Unknown));
    }
    assert_eq!((without.status, without.applied), (Status::FailedTerminal, Applied::Unknown));
    assert_eq!(effect(&without), json!({"applied": "unknown", "class": "UNSAFE"}));
    assert!(without.reason.unwrap().contains("may have been carried out, and it has no key"));
    let unknown = unanswered(&request(json!({})), lost());
    assert_eq!((unknown.status, unknown.applied), (Status::FailedTerminal, Applied::Unknown));
    assert!(unknown.reason.unwrap().contains("downstream.honoursKeys"));
}

#[test]
fn what_never_left_may_always_be_tried_again_unless_it_never_can() {
    for request in all() {
        let outcome = unanswered(&request, Fault::NotSent("refused".to_owned()));
        assert_eq!((outcome.status, outcome.class), (Status::Failed, HttpClass::NotSent));
        assert_eq!(effect(&outcome), json!({"applied": false, "class": "NOT_SENT"}));
        let never = unanswered(&request, Fault::Impossible("10.0.0.1".to_owned()));
        assert_eq!((never.status, never.applied), (Status::FailedTerminal, Applied::No));
    }
}

#[test]
fn an_answer_that_cannot_be_taken_says_what_was_done() {
    let cut = || Fault::Unreadable { status: 200, why: "cut".to_owned() };
    let [_, _, keyed, without] = all();
    assert_eq!(unanswered(&keyed, cut()).status, Status::Failed);
    let done = unanswered(&without, cut());
    assert_eq!((done.status, done.applied), (Status::FailedTerminal, Applied::Yes));
    let long = Fault::TooLong { status: 201, why: "long".to_owned() };
    let long = unanswered(&keyed, long);
    assert_eq!((long.status, long.applied), (Status::FailedTerminal, Applied::Yes));
    let astray = unanswered(&keyed, Fault::Astray("elsewhere".to_owned()));
    assert_eq!((astray.status, astray.applied), (Status::FailedTerminal, Applied::Unknown));
}

#[test]
fn conductor_tries_everything_again_that_could_be_sent() {
    let unsafe_one = &all()[3];
    let lost = unanswered(unsafe_one, Fault::NoAnswer("reset".to_owned()));
    assert_eq!(retried_like_conductor(lost).status, Status::Failed);
    let missing = answered(unsafe_one, &answer(404, &[], ""));
    assert_eq!(retried_like_conductor(missing).status, Status::Failed);
    assert_eq!(retried_like_conductor(malformed("x")).status, Status::FailedTerminal);
    let fine = answered(unsafe_one, &answer(200, &[], ""));
    assert_eq!(retried_like_conductor(fine).status, Status::Completed);
}
