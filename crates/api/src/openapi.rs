//! # The OpenAPI document: made from the endpoints, so it cannot say anything else

use schemars::SchemaGenerator;
use schemars::generate::SchemaSettings;
use semel_model::ErrorBody;
use serde_json::{Map, Value as Json, json};

use crate::endpoint::{Content, Empty, Endpoint, Parameter, Value};
use crate::roles::{self, Access};

pub(crate) fn document(endpoints: impl Iterator<Item = Endpoint>) -> Json {
    let settings = SchemaSettings::draft2020_12()
        .with(|settings| settings.definitions_path = "/components/schemas".into());
    let mut schemas = settings.into_generator();
    let refused = json!({"application/json": {"schema": schemas.subschema_for::<ErrorBody>()}});
    let mut paths: Map<String, Json> = Map::new();
    for endpoint in endpoints {
        let method = endpoint.method.as_str().to_ascii_lowercase();
        let described = operation(&endpoint, &mut schemas);
        let path = paths.entry(endpoint.path).or_insert_with(|| json!({}));
        path[method] = described;
    }
    json!({
        "openapi": "3.1.0",
        "info": {
            "title": "Semel",
            "description": "A durable workflow orchestrator that speaks Conductor's REST API.",
            "version": env!("CARGO_PKG_VERSION"),
        },
        "paths": paths,
        "components": {
            "schemas": schemas.take_definitions(true),
            "responses": refusals(&refused),
            "securitySchemes": {
                "token": {"type": "apiKey", "in": "header", "name": "X-Authorization"},
            },
        },
    })
}

fn operation(endpoint: &Endpoint, schemas: &mut SchemaGenerator) -> Json {
    let mut operation = json!({
        "operationId": operation_id(endpoint),
        "tags": [tag(endpoint.path)],
        "summary": endpoint.about,
        "parameters": parameters(endpoint),
        "responses": responses(endpoint, schemas),
    });
    if let Some(takes) = endpoint.takes {
        let content = content(takes, schemas);
        operation["requestBody"] = json!({"required": !endpoint.optional, "content": content});
    }
    if let Access::Roles(roles) = endpoint.access {
        let roles: Vec<_> = roles.iter().map(|role| roles::name(*role)).collect();
        operation["x-roles"] = json!(roles);
        operation["security"] = json!([{}, {"token": []}]);
    }
    operation
}

/// `GET /api/workflow/{id}/status` is `get_workflow_id_status`.
fn operation_id(endpoint: &Endpoint) -> String {
    let words = endpoint.path.split(|c: char| !c.is_ascii_alphanumeric());
    let words = words.filter(|word| !word.is_empty() && *word != "api");
    let method = endpoint.method.as_str().to_ascii_lowercase();
    std::iter::once(method.as_str()).chain(words).collect::<Vec<_>>().join("_")
}

/// The section of the contract: the first word of the path.
fn tag(path: &str) -> &str {
    let mut words = path.split('/').filter(|word| !word.is_empty() && *word != "api");
    words.next().unwrap_or("server")
}

fn parameters(endpoint: &Endpoint) -> Vec<Json> {
    let in_path = endpoint.path.split('/').filter_map(|word| {
        let name = word.strip_prefix('{')?.strip_suffix('}')?;
        let schema = json!({"type": "string", "minLength": 1});
        Some(json!({"name": name, "in": "path", "required": true, "schema": schema}))
    });
    let in_query = endpoint.query.iter().map(|Parameter { name, value }| {
        json!({"name": name, "in": "query", "required": false, "schema": schema_of(*value)})
    });
    let key = endpoint.is_keyed().then_some(&"Idempotency-Key");
    let in_headers = endpoint.headers.iter().chain(key).map(|name| {
        json!({"name": name, "in": "header", "required": false, "schema": {"type": "string"}})
    });
    in_path.chain(in_query).chain(in_headers).collect()
}

fn schema_of(value: Value) -> Json {
    match value {
        Value::Text => json!({"type": "string"}),
        Value::Texts => json!({"type": "array", "items": {"type": "string"}}),
        Value::Flag(default) => json!({"type": "boolean", "default": default}),
        Value::Number(default) => json!({"type": "integer", "format": "int64", "default": default}),
        Value::Count => json!({"type": "integer", "format": "int32"}),
        Value::Choice(choices) => json!({"type": "string", "enum": choices}),
    }
}

fn content(content: Content, schemas: &mut SchemaGenerator) -> Json {
    match content {
        Content::Json(make) => json!({"application/json": {"schema": make(schemas)}}),
        Content::Text => json!({"text/plain": {"schema": {"type": "string"}}}),
        Content::Html => json!({"text/html": {"schema": {"type": "string"}}}),
    }
}

fn responses(endpoint: &Endpoint, schemas: &mut SchemaGenerator) -> Json {
    let mut responses = Map::new();
    if endpoint.empty != Empty::Always {
        let success = match endpoint.gives {
            Some(gives) => json!({"description": "done", "content": content(gives, schemas)}),
            None => json!({"description": "done; the body is empty"}),
        };
        responses.insert("200".to_owned(), success);
    }
    if endpoint.empty != Empty::Never {
        responses.insert("204".to_owned(), json!({"description": "done; there is nothing to say"}));
    }
    let is_closed = matches!(endpoint.access, Access::Roles(_));
    let is_keyed = endpoint.is_keyed();
    let usual = |refusal: &&Refusal| match refusal.when {
        When::Always => true,
        When::Closed => is_closed,
        When::Keyed => is_keyed,
    };
    let said = |refusal: &&Refusal| endpoint.also.contains(&refusal.status);
    for Refusal { status, .. } in REFUSALS.iter().filter(|it| usual(it) || said(it)) {
        let named = json!({"$ref": format!("#/components/responses/{status}")});
        responses.insert(status.to_string(), named);
    }
    Json::Object(responses)
}

/// Why an endpoint may refuse; each is described once.
struct Refusal {
    status: u16,
    why: &'static str,
    when: When,
}

enum When {
    Always,
    /// Where a token is needed.
    Closed,
    /// Where an `Idempotency-Key` is taken.
    Keyed,
}

const REFUSALS: &[Refusal] = &[
    Refusal {
        status: 400,
        why: "the request cannot be understood; the message names what is wrong",
        when: When::Always,
    },
    Refusal {
        status: 401,
        why: "no token, or one that is invalid or has expired",
        when: When::Closed,
    },
    Refusal {
        status: 403,
        why: "the token's roles do not allow this, or a page of another origin asks for it",
        when: When::Closed,
    },
    Refusal { status: 404, why: "there is no such thing", when: When::Always },
    Refusal {
        status: 409,
        why: "not in this state, or the same request is being carried out",
        when: When::Keyed,
    },
    Refusal {
        status: 408,
        why: "the body did not go on coming; nothing was done",
        when: When::Always,
    },
    Refusal {
        status: 413,
        why: "the body is larger than body_bytes_max, or the answer would be larger than one may be",
        when: When::Always,
    },
    Refusal {
        status: 421,
        why: "the server is not known under the host of the request",
        when: When::Always,
    },
    Refusal { status: 422, why: "the key named another request before", when: When::Keyed },
    Refusal {
        status: 429,
        why: "too much at once; come back after Retry-After",
        when: When::Always,
    },
    Refusal {
        status: 503,
        why: "the store is unavailable; come back after Retry-After",
        when: When::Always,
    },
];

fn refusals(refused: &Json) -> Json {
    let all = REFUSALS.iter().map(|Refusal { status, why, .. }| {
        (status.to_string(), json!({"description": why, "content": refused}))
    });
    Json::Object(all.collect())
}
