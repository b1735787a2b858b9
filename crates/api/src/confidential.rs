//! # Confidential: values that leave with a task and do not come back
//!
//! The only place where a secret enters an answer other than its own, and where a report is cleared
//! of it before it becomes an event.

use semel_engine::Mask;
use semel_model::{Payload, Task};
use semel_runtime::{Confided, HandedOut};

use crate::app::App;
use crate::error::ApiError;
use crate::view;

/// The tasks as their workers receive them. What is stored has the expressions, these the values.
pub(crate) async fn handed_out(app: &App, tasks: Vec<HandedOut>) -> Result<Vec<Task>, ApiError> {
    if !tasks.iter().any(HandedOut::is_unfinished) {
        return Ok(tasks.iter().map(view::handed_out).collect());
    }
    let confide = move |world: &semel_runtime::World| {
        let confided = world.confide(&tasks)?;
        let with = |(out, Confided { input, metadata }): (&HandedOut, Confided)| Task {
            input_data: input,
            runtime_metadata: metadata,
            ..view::handed_out(out)
        };
        Ok(tasks.iter().zip(confided).map(with).collect())
    };
    Ok(app.runtime.blocking(confide).await?)
}

/// Takes the mask's values out of what was reported; true if there were any.
pub(crate) fn clear(mask: &Mask, output: &mut Payload, reason: &mut Option<String>) -> bool {
    let masked_output = mask.payload(output);
    let masked_reason = reason.as_deref().and_then(|reason| mask.text(reason));
    let is_changed = masked_output.is_some() || masked_reason.is_some();
    *output = masked_output.unwrap_or_else(|| output.clone());
    *reason = masked_reason.or_else(|| reason.take());
    is_changed
}
