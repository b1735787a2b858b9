//! # Guarding: who may not be spoken to, and which ways are not gone

use semel_tests::oracle::{Fault, Oracle};
use serde_json::{Value, json};

use crate::scene::Scene;

fn reason(task: &Value) -> &str {
    task["reasonForIncompletion"].as_str().unwrap_or_default()
}

#[test]
fn without_leave_no_name_and_no_address_leads_inside() {
    let scene = Scene::set_with(&["--store", "memory"]);
    let port = scene.oracle.address().port();
    let loopback = "--http-allow 127.0.0.0/8";
    for (at, (uri, opens)) in [
        (format!("http://127.0.0.1:{port}/"), loopback),
        // Whichever address of the two is tried first.
        (format!("http://localhost:{port}/"), "--http-allow "),
        (format!("http://[::ffff:127.0.0.1]:{port}/"), loopback),
        (format!("http://0x7f000001:{port}/"), loopback),
        ("http://169.254.169.254/latest/meta-data/".to_owned(), "--http-allow 169.254.169.254"),
        ("http://10.0.0.1/".to_owned(), "--http-allow 10.0.0.0/8"),
        ("http://[fd00:ec2::254]/".to_owned(), "--http-allow fd00:ec2::254"),
    ]
    .iter()
    .enumerate()
    {
        let name = format!("guarded{at}");
        scene.define(&name, json!({"uri": uri}), json!({"retryCount": 3}));
        let task = scene.task(&scene.start(&name, "g"));
        assert_eq!(task["status"], "FAILED_WITH_TERMINAL_ERROR", "{uri}");
        let reason = reason(&task);
        assert!(reason.contains("http_allow") && reason.contains(opens), "{uri}: {reason}");
        assert_eq!(task["outputData"]["_effect"]["applied"], false);
    }
    assert_eq!(scene.oracle.heard("g").len(), 0);
}

#[test]
fn a_way_inside_is_not_gone() {
    let scene = Scene::set();
    let sent_on = |status: u16, to: &str| {
        vec![Fault::Refuse(status, vec![("Location".to_owned(), to.to_owned())])]
    };
    scene.define("post", json!({}), json!({"retryCount": 3}));
    for (order, status, to, why) in [
        ("meta", 307, "http://169.254.169.254/latest", "169.254.169.254 is link-local"),
        ("file", 307, "file:///etc/passwd", "must begin with http:// or https://"),
        ("found", 302, "/elsewhere", "final address"),
        ("other", 303, "/elsewhere", "final address"),
    ] {
        scene.oracle.plan(order, &sent_on(status, to));
        let task = scene.task(&scene.start("post", order));
        assert_eq!(task["status"], "FAILED_WITH_TERMINAL_ERROR", "{order}");
        assert!(reason(&task).contains(why), "{}", reason(&task));
        assert_eq!(scene.oracle.heard(order).len(), 1);
    }
}

#[test]
fn a_repeat_elsewhere_has_key_and_body_and_no_credentials_of_the_first_host() {
    let scene = Scene::set();
    let headers = json!({"headers": {"Authorization": "Bearer t", "X-Other": "o"}});
    scene.define("post", headers, json!({}));
    let other = Oracle::default();
    let ways = [("same", "/charges".to_owned(), true), ("another", other.uri(), false)];
    for (order, to, has_login) in ways {
        scene.oracle.plan(order, &[Fault::Refuse(308, vec![("Location".to_owned(), to)])]);
        let task = scene.task(&scene.start("post", order));
        assert_eq!(task["status"], "COMPLETED", "{task:#}");
        let heard = [scene.oracle.heard(order), other.heard(order)].concat();
        assert_eq!(heard.len(), 2);
        assert_eq!((&heard[1].method, &heard[1].body), (&heard[0].method, &heard[0].body));
        for name in ["idempotency-key", "x-fence-token", "x-other"] {
            assert_eq!(heard[1].headers[name], heard[0].headers[name]);
        }
        assert_eq!(heard[1].headers.contains_key("authorization"), has_login, "{order}");
    }
}
