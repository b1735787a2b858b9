//! # The address of a request: what it is made of has to be there
//!
//! `http://shop/orders/${workflow.input.id}` without an id would be `http://shop/orders/null`: the
//! request would be sent, and be about something else. Behind the path, where the query begins, a
//! part may be missing, and so may a text be empty.

use serde_json::{Value, json};

use crate::expression::expressions_before;
use crate::kinds::Kind;
use crate::task::Task;
use crate::turn::Turn;

/// Where the query or the fragment of an address begins.
const END_OF_PATH: [char; 2] = ['?', '#'];

/// Why a request cannot be sent: the address among that parameter of its step lacks a part.
pub(super) fn fault(
    turn: &mut Turn<'_>,
    task: &Task,
    parameter: &str,
    template: &Value,
) -> Option<String> {
    let (place, written) = match (task.kind(), parameter) {
        (Kind::Http, "http_request") => ("http_request.uri", template.get("uri")?.as_str()?),
        (Kind::Http, "uri") => ("uri", template.as_str()?),
        _ => return None,
    };
    let input = task.input.value();
    let given = match input.get("http_request") {
        Some(request) => request.get("uri"),
        None => input.get("uri"),
    };
    if given.is_none_or(Value::is_null) {
        return None; // Nothing is left of it: whoever reads the request says so.
    }
    if given != Some(&turn.resolve_value(&json!(written), Some(task.id))) {
        return None; // A person has given another one.
    }
    expressions_before(written, &END_OF_PATH).into_iter().find_map(|path| {
        let part = format!("${{{path}}}");
        let is_missing = turn.resolve_value(&json!(part), Some(task.id)).is_null();
        is_missing.then(|| {
            format!("{place} is {written}, and {part} is null or missing: there is no address")
        })
    })
}
