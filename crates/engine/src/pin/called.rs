//! # Called: a step in a snapshot is its name and its definition
//!
//! Whoever reads one looks the step up in that definition: what is read here is only called so.

use std::sync::Arc;

use semel_model::{Digest, WorkflowTask};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::{Placed, Step};
use crate::schema::Enforced;

/// What a step is called: all that a snapshot says of it.
#[derive(Serialize, Deserialize)]
struct Called {
    reference: String,
    definition: Digest,
}

impl Serialize for Step {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let (reference, definition) = (self.reference().to_owned(), self.definition());
        Called { reference, definition }.serialize(serializer)
    }
}

/// Only called so: whoever reads one looks it up in its definition.
impl<'de> Deserialize<'de> for Step {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let Called { reference, definition } = Called::deserialize(deserializer)?;
        let task = WorkflowTask { task_reference_name: reference, ..WorkflowTask::default() };
        let placed = Placed {
            task: Arc::new(task),
            definition,
            next: None,
            around: None,
            enforced: Enforced::default(),
        };
        Ok(Self(Arc::new(placed)))
    }
}
