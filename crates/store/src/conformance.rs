//! # Conformance: what every store must do
