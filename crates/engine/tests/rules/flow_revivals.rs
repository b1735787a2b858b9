//! # flow_revivals
