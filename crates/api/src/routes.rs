//! # All routes, and what holds for each of them

use axum::Router;
use axum::extract::Request;
use axum::http::HeaderValue;
use axum::middleware::from_fn_with_state;
use tower::Layer;
use tower_http::cors::{AllowOrigin, Any, CorsLayer};
use tower_http::normalize_path::{NormalizePath, NormalizePathLayer};

use crate::app::App;
use crate::endpoint::Endpoint;
use crate::error::ApiError;
use crate::watch::watch;
use crate::{
    bulk, docs, environment, listings, metadata, monitoring, operations, queues, secrets, service,
    steering, tasks, workflow,
};

/// The routes behind one rule: a trailing slash means nothing.
pub type Door = NormalizePath<Router>;

/// Everything that is served, in the order of the contract.
pub(crate) fn endpoints(test_clock: bool) -> impl Iterator<Item = Endpoint> {
    [
        workflow::endpoints(),
        operations::endpoints(),
        steering::endpoints(),
        bulk::endpoints(),
        tasks::endpoints(),
        queues::endpoints(),
        metadata::endpoints(),
        listings::endpoints(),
        environment::endpoints(),
        secrets::endpoints(),
        docs::endpoints(),
        monitoring::endpoints(),
        service::endpoints(test_clock),
    ]
    .into_iter()
    .flatten()
}

pub fn door(app: App, cors_origins: &[String]) -> Door {
    let seen_by = app.watch.clone();
    let routes = endpoints(app.test_clock)
        .fold(Router::new(), |routes, endpoint| endpoint.open(routes, &app));
    let mut routes = routes
        .fallback(async |request: Request| {
            ApiError::NotFound(format!("no such path: {}", request.uri().path()))
        })
        .method_not_allowed_fallback(async || ApiError::MethodNotAllowed)
        .with_state(app);
    if let Some(cors) = cors(cors_origins) {
        routes = routes.layer(cors);
    }
    routes = routes.layer(from_fn_with_state(seen_by, watch));
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
