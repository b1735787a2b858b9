//! # Conformance: the suite, on PostgreSQL

semel_store::conformance!(
    ignored: "needs PostgreSQL; run by ./check full",
    crate::fixture::Database::new()
);
