//! # Task types: which names of Conductor and Orkes are system types
//!
//! A step whose type is none of these is done by a worker that polls for it. Types that this release
//! does not serve are listed too: a task of such a type would otherwise wait for a worker that never
//! comes. So would a task whose type is mistyped.

use crate::spelling::almost;

/// Types that this release runs itself.
const SERVED: [&str; 24] = [
    "ACQUIRE_LOCK",
    "DECISION",
    "DO_WHILE",
    "DYNAMIC",
    "EVENT",
    "EXCLUSIVE_JOIN",
    "FORK_JOIN",
    "FORK_JOIN_DYNAMIC",
    "HTTP",
    "HUMAN",
    "INLINE",
    "JOIN",
    "JSON_JQ_TRANSFORM",
    "LAMBDA",
    "NOOP",
    "PULL_WORKFLOW_MESSAGES",
    "RELEASE_LOCK",
    "SET_VARIABLE",
    "START_WORKFLOW",
    "SUB_WORKFLOW",
    "SWITCH",
    "TERMINATE",
    "WAIT",
    "YIELD",
];

/// System types of Conductor, its AI module and Orkes that are not in this release.
const ABSENT: [&str; 48] = [
    "AGENT",
    "AI_DECISION",
    "BUSINESS_RULE",
    "CALL_MCP_TOOL",
    "CANCEL_AGENT",
    "CHUNK_TEXT",
    "FORK",
    "GDRIVE_READ",
    "GENERATE_AUDIO",
    "GENERATE_IMAGE",
    "GENERATE_PDF",
    "GENERATE_VIDEO",
    "GET_AGENT_CARD",
    "GET_DOCUMENT",
    "GET_SIGNED_JWT",
    "GET_WORKFLOW",
    "GRPC",
    "HTTP_POLL",
    "INTEGRATION",
    "JDBC",
    "JUMP",
    "KAFKA_PUBLISH",
    "LIST_FILES",
    "LIST_MCP_TOOLS",
    "LLM_CHAT_COMPLETE",
    "LLM_GENERATE_EMBEDDINGS",
    "LLM_GET_EMBEDDINGS",
    "LLM_INDEX_DOCUMENT",
    "LLM_INDEX_TEXT",
    "LLM_SEARCH_EMBEDDINGS",
    "LLM_SEARCH_INDEX",
    "LLM_STORE_EMBEDDINGS",
    "LLM_TEXT_COMPLETE",
    "MCP",
    "MCP_REMOTE",
    "OPS_GENIE",
    "PARSE_DOCUMENT",
    "QUERY_PROCESSOR",
    "SENDGRID",
    "START",
    "TASK_SUMMARY",
    "TERMINAL",
    "TERMINATE_WORKFLOW",
    "UPDATE_SECRET",
    "UPDATE_TASK",
    "WAIT_FOR_EVENT",
    "WAIT_FOR_WEBHOOK",
    "_ai_tc",
];

/// Of these, the types that act on something outside of their run, or compute a result that can be
/// kept. What a DYNAMIC step becomes is known when it is reached.
const WITH_EFFECT: [&str; 8] = [
    "DYNAMIC",
    "EVENT",
    "HTTP",
    "INLINE",
    "JSON_JQ_TRANSFORM",
    "LAMBDA",
    "START_WORKFLOW",
    "SUB_WORKFLOW",
];

/// Of the served types, those that run when they are reached: Conductor has no queue for them either,
/// and a start delay has no effect.
const AT_ONCE: [&str; 14] = [
    "DECISION",
    "DO_WHILE",
    "EXCLUSIVE_JOIN",
    "FORK_JOIN",
    "FORK_JOIN_DYNAMIC",
    "HUMAN",
    "INLINE",
    "JOIN",
    "JSON_JQ_TRANSFORM",
    "LAMBDA",
    "NOOP",
    "SET_VARIABLE",
    "SWITCH",
    "TERMINATE",
];

/// Types whose input is their parameters alone, whatever template their task definition has.
const UNTEMPLATED: [&str; 13] = [
    "SWITCH",
    "DECISION",
    "FORK_JOIN",
    "FORK_JOIN_DYNAMIC",
    "JOIN",
    "SUB_WORKFLOW",
    "START_WORKFLOW",
    "SET_VARIABLE",
    "EVENT",
    "WAIT",
    "HUMAN",
    "TERMINATE",
    "YIELD",
];

/// Types that this release runs itself.
pub fn served_types() -> &'static [&'static str] {
    &SERVED
}

/// An `effect` or a `cacheConfig` means something at a step of that type.
pub fn may_have_effect(kind: &str) -> bool {
    !SERVED.contains(&kind) || WITH_EFFECT.contains(&kind)
}

/// A system type that this release does not serve: a task of it fails and says so.
pub fn is_absent_type(kind: &str) -> bool {
    ABSENT.contains(&kind)
}

/// A type that the server itself does, and no worker has to.
pub fn is_served_type(kind: &str) -> bool {
    SERVED.contains(&kind)
}

/// Whether a task of that type waits for the `startDelay` of its step.
pub fn heeds_start_delay(kind: &str) -> bool {
    !AT_ONCE.contains(&kind) && !is_absent_type(kind)
}

/// Whether the `inputTemplate` of the task definition is part of the input of a task of that type.
pub fn is_templated(kind: &str) -> bool {
    !UNTEMPLATED.contains(&kind)
}

/// The system type that was probably meant by the type of a worker, or by one that runs nowhere.
pub fn meant_type(kind: &str) -> Option<&'static str> {
    match kind {
        "SIMPLE" | "USER_DEFINED" => None,
        "FORK" => Some("FORK_JOIN"),
        _ if is_system_type(kind) => None,
        _ => almost(kind, SERVED.into_iter().chain(ABSENT)),
    }
}

/// A type that no worker is offered, served or not.
pub fn is_system_type(kind: &str) -> bool {
    SERVED.contains(&kind) || is_absent_type(kind)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_type_is_served_absent_or_a_workers() {
        assert!(is_absent_type("GET_WORKFLOW") && is_system_type("GET_WORKFLOW"));
        assert!(!is_absent_type("HTTP") && is_system_type("HTTP"));
        assert!(!is_absent_type("charge_card") && !is_system_type("charge_card"));
        assert!(!is_system_type("SIMPLE") && !is_system_type("USER_DEFINED"));
        assert!(SERVED.iter().all(|kind| !is_absent_type(kind)));
    }

    #[test]
    fn what_the_official_builders_and_editors_know_waits_for_no_worker() {
        for kind in [
            "MCP_REMOTE",
            "JUMP",
            "TASK_SUMMARY",
            "_ai_tc",
            "FORK",
            "AI_DECISION",
            "START",
            "TERMINAL",
        ] {
            assert!(is_absent_type(kind), "{kind}");
        }
    }

    #[test]
    fn a_mistyped_system_type_is_known() {
        for (kind, meant) in [
            ("http", Some("HTTP")),
            ("DOWHILE", Some("DO_WHILE")),
            ("FORK", Some("FORK_JOIN")),
            ("SWITHC", None),
            ("HTTPS", Some("HTTP")),
            ("HTTP", None),
            ("SIMPLE", None),
            ("charge_card", None),
        ] {
            assert_eq!(meant_type(kind), meant, "{kind}");
        }
    }
}
