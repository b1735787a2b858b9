//! # Reasons: why a script has no value
//!
//! Words for whoever wrote the script: what, where, and which limit. They go into a journal, so
//! they are bounded.

use semel_engine::Verdict;

use crate::budget::{Budget, DEPTH_MAX, REASON_BYTES_MAX};

pub(crate) fn failed(reason: impl Into<String>) -> Verdict {
    Verdict::Failed(shortened(reason.into()))
}

pub(crate) fn too_many_ticks(budget: &Budget) -> Verdict {
    Verdict::Exhausted(format!("the script ran longer than {} ticks", budget.ticks_max))
}

pub(crate) fn out_of_memory(budget: &Budget) -> Verdict {
    Verdict::Exhausted(format!(
        "the script needs more than {} bytes of memory",
        budget.memory_bytes_max
    ))
}

pub(crate) fn null_or_out_of_memory(budget: &Budget) -> Verdict {
    Verdict::Exhausted(format!(
        "the script needs more than {} bytes of memory, or threw null",
        budget.memory_bytes_max
    ))
}

pub(crate) fn too_deep_a_stack(budget: &Budget) -> Verdict {
    let limit = budget.stack_bytes_max;
    Verdict::Exhausted(format!("the script recurses deeper than {limit} bytes of stack"))
}

pub(crate) fn too_long_a_result(budget: &Budget) -> Verdict {
    let limit = budget.result_bytes_max;
    Verdict::Exhausted(format!("the result is longer than {limit} bytes"))
}

pub(crate) fn too_many_results(budget: &Budget) -> Verdict {
    Verdict::Exhausted(format!("the script gives more than {} results", budget.results_max))
}

pub(crate) fn too_deep_a_result() -> Verdict {
    failed(format!("the result contains itself, or nests deeper than {DEPTH_MAX}"))
}

fn shortened(mut reason: String) -> String {
    if reason.len() > REASON_BYTES_MAX {
        reason.truncate(reason.floor_char_boundary(REASON_BYTES_MAX));
        reason.push('…');
    }
    reason
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_reason_is_cut_between_characters() {
        let Verdict::Failed(reason) = failed("é".repeat(REASON_BYTES_MAX)) else { panic!() };
        assert_eq!(reason.len(), REASON_BYTES_MAX + '…'.len_utf8());
        assert_eq!(failed("short"), Verdict::Failed("short".to_owned()));
    }
}
