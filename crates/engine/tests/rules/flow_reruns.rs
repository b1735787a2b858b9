//! # flow_reruns
