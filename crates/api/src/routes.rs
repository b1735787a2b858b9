//! # All routes, and what holds for each of them

use axum::Router;
use axum::extract::Request;
use axum::http::HeaderValue;
use tower::Layer;
use tower_http::cors::{AllowOrigin, Any, CorsLayer};
use tower_http::normalize_path::{NormalizePath, NormalizePathLayer};

use crate::app::App;
use crate::error::ApiError;
use crate::{
    bulk, environment, events, listings, metadata, operations, queues, secrets, service, tasks,
    workflow,
};

/// The routes behind one rule: a trailing slash means nothing.
pub type Door = NormalizePath<Router>;

pub fn door(app: App, cors_origins: &[String]) -> Door {
    let api = Router::new()
        .merge(metadata::routes())
        .merge(listings::routes())
        .merge(queues::routes())
        .merge(workflow::routes())
        .merge(operations::routes())
        .merge(bulk::routes())
        .merge(tasks::routes())
        .merge(environment::routes())
        .merge(secrets::routes())
        .merge(events::routes());
    let mut routes = Router::new()
        .nest("/api", api)
        .merge(service::routes(app.test_clock))
        .fallback(async |request: Request| {
            ApiError::NotFound(format!("no such path: {}", request.uri().path()))
        })
        .method_not_allowed_fallback(async || ApiError::MethodNotAllowed)
        .with_state(app);
    if let Some(cors) = cors(cors_origins) {
        routes = routes.layer(cors);
    }
    NormalizePathLayer::trim_trailing_slash().layer(routes)
}

fn cors(origins: &[String]) -> Option<CorsLayer> {
    let origins: Vec<HeaderValue> =
        origins.iter().filter_map(|origin| origin.parse().ok()).collect();
    (!origins.is_empty()).then(|| {
        CorsLayer::new()
            .allow_origin(AllowOrigin::list(origins))
            .allow_methods(Any)
            .allow_headers(Any)
    })
}
