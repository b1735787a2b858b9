//! # Statuses: where executions and tasks can be
//!
//! The flags are Conductor's, quirks included: a task that is not over yet counts as successful.

use crate::names::names;

names! {
    WorkflowStatus {
        Running = "RUNNING",
        Completed = "COMPLETED",
        Failed = "FAILED",
        TimedOut = "TIMED_OUT",
        Terminated = "TERMINATED",
        Paused = "PAUSED",
    }
}

impl WorkflowStatus {
    pub const fn is_terminal(self) -> bool {
        match self {
            Self::Completed | Self::Failed | Self::TimedOut | Self::Terminated => true,
            Self::Running | Self::Paused => false,
        }
    }

    /// PAUSED counts as successful and RUNNING does not, as in Conductor.
    pub const fn is_successful(self) -> bool {
        match self {
            Self::Completed | Self::Paused => true,
            Self::Running | Self::Failed | Self::TimedOut | Self::Terminated => false,
        }
    }
}

names! {
    TaskStatus {
        InProgress = "IN_PROGRESS",
        Canceled = "CANCELED",
        Failed = "FAILED",
        FailedWithTerminalError = "FAILED_WITH_TERMINAL_ERROR",
        Completed = "COMPLETED",
        CompletedWithErrors = "COMPLETED_WITH_ERRORS",
        Scheduled = "SCHEDULED",
        TimedOut = "TIMED_OUT",
        Skipped = "SKIPPED",
    }
}

impl TaskStatus {
    pub const fn is_terminal(self) -> bool {
        match self {
            Self::InProgress | Self::Scheduled => false,
            Self::Canceled
            | Self::Failed
            | Self::FailedWithTerminalError
            | Self::Completed
            | Self::CompletedWithErrors
            | Self::TimedOut
            | Self::Skipped => true,
        }
    }

    pub const fn is_successful(self) -> bool {
        match self {
            Self::InProgress
            | Self::Scheduled
            | Self::Completed
            | Self::CompletedWithErrors
            | Self::Skipped => true,
            Self::Canceled | Self::Failed | Self::FailedWithTerminalError | Self::TimedOut => false,
        }
    }

    pub const fn is_retriable(self) -> bool {
        match self {
            Self::InProgress
            | Self::Scheduled
            | Self::Completed
            | Self::CompletedWithErrors
            | Self::Failed
            | Self::TimedOut => true,
            Self::Canceled | Self::FailedWithTerminalError | Self::Skipped => false,
        }
    }
}

names! {
    /// The statuses a worker may report.
    TaskResultStatus {
        InProgress = "IN_PROGRESS",
        Failed = "FAILED",
        FailedWithTerminalError = "FAILED_WITH_TERMINAL_ERROR",
        Completed = "COMPLETED",
        Canceled = "CANCELED",
    }
}

impl From<TaskResultStatus> for TaskStatus {
    fn from(status: TaskResultStatus) -> Self {
        match status {
            TaskResultStatus::InProgress => Self::InProgress,
            TaskResultStatus::Failed => Self::Failed,
            TaskResultStatus::FailedWithTerminalError => Self::FailedWithTerminalError,
            TaskResultStatus::Completed => Self::Completed,
            TaskResultStatus::Canceled => Self::Canceled,
        }
    }
}

names! {
    /// What a start does when its key is already taken.
    IdempotencyStrategy {
        Fail = "FAIL",
        ReturnExisting = "RETURN_EXISTING",
        FailOnRunning = "FAIL_ON_RUNNING",
        /// Ours: a run that failed may have a successor.
        ReturnExistingUnlessFailed = "RETURN_EXISTING_UNLESS_FAILED",
        /// Ours: the live run ends and the new one begins.
        TerminateExisting = "TERMINATE_EXISTING",
        /// Ours: a live run is returned, a closed one has a successor.
        ReturnRunning = "RETURN_RUNNING",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_status_survives_its_text_and_its_json() {
        for status in TaskStatus::ALL {
            assert_eq!(status.to_string().parse(), Ok(*status));
            let json = serde_json::to_string(status).unwrap();
            assert_eq!(json, format!("\"{status}\""));
            assert_eq!(serde_json::from_str::<TaskStatus>(&json).unwrap(), *status);
        }
        assert_eq!(TaskStatus::ALL.len(), 9);
        for status in WorkflowStatus::ALL {
            assert_eq!(status.as_str().parse(), Ok(*status));
        }
    }

    #[test]
    fn an_unknown_name_is_refused_with_the_known_ones() {
        let error = "completed".parse::<WorkflowStatus>().unwrap_err().to_string();
        assert_eq!(
            error,
            "unknown value \"completed\", expected one of \
             RUNNING, COMPLETED, FAILED, TIMED_OUT, TERMINATED, PAUSED"
        );
        let error = serde_json::from_str::<IdempotencyStrategy>("\"MAYBE\"").unwrap_err();
        assert!(error.to_string().starts_with("unknown value \"MAYBE\", expected one of FAIL,"));
        let error = serde_json::from_str::<IdempotencyStrategy>("null").unwrap_err();
        assert!(error.to_string().contains("one of FAIL, RETURN_EXISTING, FAIL_ON_RUNNING"));
    }

    #[test]
    fn task_flags_are_conductors() {
        use TaskStatus::*;
        let table = [
            (Scheduled, false, true, true),
            (InProgress, false, true, true),
            (Completed, true, true, true),
            (CompletedWithErrors, true, true, true),
            (Skipped, true, true, false),
            (Failed, true, false, true),
            (TimedOut, true, false, true),
            (FailedWithTerminalError, true, false, false),
            (Canceled, true, false, false),
        ];
        for (status, terminal, successful, retriable) in table {
            assert_eq!(status.is_terminal(), terminal, "{status}");
            assert_eq!(status.is_successful(), successful, "{status}");
            assert_eq!(status.is_retriable(), retriable, "{status}");
        }
    }

    #[test]
    fn a_paused_execution_is_not_over() {
        assert!(!WorkflowStatus::Paused.is_terminal());
        assert!(!WorkflowStatus::Running.is_terminal());
        assert!(WorkflowStatus::Terminated.is_terminal());
    }
}
