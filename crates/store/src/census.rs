//! # The census: what a store holds, in numbers
//!
//! For people and dashboards; nothing is decided by it.

use std::collections::BTreeMap;

/// What there was at one look.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Census {
    /// Runs that have not ended, by the name and version of their definition.
    pub live: BTreeMap<(String, i32), u64>,
    /// Executions that are left alone until somebody lifts them.
    pub parked: u64,
    /// Tasks in the hands of workers, by type.
    pub held: BTreeMap<String, u64>,
}

/// What kind of store it is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct About {
    pub kind: &'static str,
    /// The number of its tables' last change; none when it keeps no tables.
    pub schema: Option<u32>,
    /// What it takes on disk; none when it has none.
    pub bytes: Option<u64>,
    /// What this process is called among those that share it; none when nobody does.
    pub node: Option<String>,
}
