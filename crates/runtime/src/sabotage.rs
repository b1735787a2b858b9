//! # Sabotage: faults that tests plant to prove that they would be noticed
//!
//! Without the `sabotage` feature there is none, and no released binary has it.

use semel_engine::{Event, Facts};

/// Test-only faults of the lane itself.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Sabotage {
    #[default]
    None,
    /// Reports are taken whatever their fence and worker say.
    #[cfg(feature = "sabotage")]
    FenceNotChecked,
    /// The lane dies after every commit, before anybody is answered.
    #[cfg(feature = "sabotage")]
    DiesAfterCommit,
}

impl Sabotage {
    /// Makes every report look as if its sender held the task.
    pub(crate) fn forge(self, event: &Event, facts: &mut Facts) {
        match (self, event) {
            #[cfg(feature = "sabotage")]
            (Self::FenceNotChecked, Event::Reported(report)) => {
                for held in facts.deliveries.values_mut() {
                    held.fence = report.fence.unwrap_or(held.fence);
                    held.worker.clone_from(&report.progress.worker);
                }
            }
            _ => {
                let _ = facts;
            }
        }
    }

    pub(crate) fn dies_after_commit(self) -> bool {
        match self {
            Self::None => false,
            #[cfg(feature = "sabotage")]
            Self::FenceNotChecked => false,
            #[cfg(feature = "sabotage")]
            Self::DiesAfterCommit => true,
        }
    }
}
