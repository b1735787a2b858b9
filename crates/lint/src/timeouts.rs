//! # Timeouts: a worker that dies is noticed

use crate::finding::{Code, Finding};
use crate::walk::Place;
use crate::window::told;

pub(crate) fn of_step(place: &Place<'_>) -> Option<Finding> {
    let policy = &place.policy;
    let is_missing = place.is_worker() && policy.response_timeout_seconds <= 0;
    is_missing.then(|| {
        let message = match policy.timeout_seconds {
            ..=0 => {
                "responseTimeoutSeconds is 0: if the worker dies with the task, nobody notices, \
                     and the run waits for ever"
                    .to_owned()
            }
            timeout => format!(
                "responseTimeoutSeconds is 0: if the worker dies with the task, that is noticed \
                 only after timeoutSeconds, {}",
                told(timeout)
            ),
        };
        let fix = format!(
            "register a task definition named {} with responseTimeoutSeconds, a little longer than \
             the worker is ever silent",
            place.step.name
        );
        Finding::new(Code::WTimeout1, &place.at, message, fix)
    })
}
