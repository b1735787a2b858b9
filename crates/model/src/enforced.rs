//! # Enforced schemas: which schemas of a definition count

use crate::{SchemaDef, SchemaType, TaskDef, WorkflowDef};

macro_rules! enforced {
    ($definition:ty) => {
        impl $definition {
            /// What goes in must fit it.
            pub fn enforced_input(&self) -> Option<&SchemaDef> {
                self.input_schema.as_ref().filter(|_| self.enforce_schema)
            }

            /// What comes out must fit it.
            pub fn enforced_output(&self) -> Option<&SchemaDef> {
                self.output_schema.as_ref().filter(|_| self.enforce_schema)
            }
        }
    };
}

enforced!(WorkflowDef);
enforced!(TaskDef);

impl SchemaDef {
    /// As it is when nothing else is said.
    pub fn is_json(&self) -> bool {
        matches!(self.kind, None | Some(SchemaType::Json))
    }

    /// It stands for one that is registered under its name.
    pub fn is_named(&self) -> bool {
        let says_nothing = self.data.is_none() && self.external_ref.is_none();
        self.is_json() && says_nothing && !self.name.is_empty()
    }
}
