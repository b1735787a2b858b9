//! # Placeholder
