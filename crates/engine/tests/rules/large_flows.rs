//! # large_flows
