//! # Schemas of what derives none: ids, payloads, ordered maps
//!
//! The other wire types derive theirs. Together they are the OpenAPI document and the schemas that
//! editors check definitions with.

use std::borrow::Cow;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};

use crate::{ExecutionId, ExecutionMetadata, Ordered, Payload, TaskId};

macro_rules! schema {
    ($type:ty, $name:literal, $schema:tt) => {
        impl JsonSchema for $type {
            fn schema_name() -> Cow<'static, str> {
                $name.into()
            }

            fn json_schema(_: &mut SchemaGenerator) -> Schema {
                json_schema!($schema)
            }
        }
    };
}

schema!(ExecutionId, "WorkflowId", {"type": "string", "format": "uuid"});
schema!(TaskId, "TaskId", {"type": "string", "format": "uuid"});
schema!(Payload, "Payload", {"type": "object", "additionalProperties": true});
schema!(ExecutionMetadata, "ExecutionMetadata", {"type": "object"});

impl<T: JsonSchema> JsonSchema for Ordered<T> {
    fn schema_name() -> Cow<'static, str> {
        format!("Ordered_{}", T::schema_name()).into()
    }

    fn inline_schema() -> bool {
        true
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let value = generator.subschema_for::<T>();
        json_schema!({"type": "object", "additionalProperties": value})
    }
}
