//! # Task types: which names of Conductor and Orkes are system types
//!
//! A step whose type is none of these is done by a worker that polls for it. Types that this release
//! does not serve are listed too: a task of such a type would otherwise wait for a worker that never
//! comes.

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
const ABSENT: [&str; 38] = [
    "AGENT",
    "BUSINESS_RULE",
    "CALL_MCP_TOOL",
    "CANCEL_AGENT",
    "CHUNK_TEXT",
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
    "JDBC",
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
    "OPS_GENIE",
    "PARSE_DOCUMENT",
    "QUERY_PROCESSOR",
    "SENDGRID",
    "TERMINATE_WORKFLOW",
    "UPDATE_SECRET",
    "UPDATE_TASK",
    "WAIT_FOR_EVENT",
    "WAIT_FOR_WEBHOOK",
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
}
