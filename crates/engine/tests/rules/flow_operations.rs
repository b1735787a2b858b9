//! # flow_operations
