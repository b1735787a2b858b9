//! # Kinds of tasks: what this engine can run
//!
//! SIMPLE and any type nobody has reserved are worker tasks. The reserved ones need rules of their
//! own; until the engine has them a definition that uses one is refused.

const RESERVED: [&str; 21] = [
    "DYNAMIC",
    "FORK_JOIN",
    "FORK_JOIN_DYNAMIC",
    "DECISION",
    "SWITCH",
    "JOIN",
    "DO_WHILE",
    "SUB_WORKFLOW",
    "START_WORKFLOW",
    "EVENT",
    "WAIT",
    "HUMAN",
    "HTTP",
    "LAMBDA",
    "INLINE",
    "EXCLUSIVE_JOIN",
    "TERMINATE",
    "KAFKA_PUBLISH",
    "JSON_JQ_TRANSFORM",
    "SET_VARIABLE",
    "NOOP",
];

pub fn is_supported(kind: &str) -> bool {
    !RESERVED.contains(&kind)
}
