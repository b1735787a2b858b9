//! # All routes, and what holds for each of them

use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::extract::State;
use axum::http::{HeaderMap, HeaderValue, Method, Uri};
use axum::middleware::from_fn_with_state;
use tower::Layer;
use tower_http::cors::{AllowHeaders, AllowOrigin, Any, CorsLayer};
use tower_http::normalize_path::{NormalizePath, NormalizePathLayer};

use crate::app::{App, House};
use crate::endpoint::Endpoint;
use crate::error::ApiError;
use crate::guard::refusal;
use crate::unserved::NotServed;
use crate::watch::{Watching, watch};
use crate::{
    applications, bulk, definition_tags, docs, effects, environment, events, execute, keys, lint,
    listings, locks, logs, lookups, messages, metadata, monitoring, named, operations, queues,
    rehearsal, resolutions, schemas, search, secrets, service, starts, steering, task, tasks,
    token, workflow,
};

/// How long a browser may go by what it was told before a request.
const PREFLIGHT_HOLDS: Duration = Duration::from_secs(600);

/// The routes behind one rule: a trailing slash means nothing.
pub type Door = NormalizePath<Router>;

/// Everything that is served, in the order of the contract.
pub(crate) fn endpoints(test_clock: bool) -> impl Iterator<Item = Endpoint> {
    [
        starts::endpoints(),
        execute::endpoints(),
        keys::endpoints(),
        rehearsal::endpoints(),
        workflow::endpoints(),
        operations::endpoints(),
        steering::endpoints(),
        messages::endpoints(),
        resolutions::endpoints(),
        bulk::endpoints(),
        search::endpoints(),
        lookups::endpoints(),
        tasks::endpoints(),
        named::endpoints(),
        task::endpoints(),
        logs::endpoints(),
        queues::endpoints(),
        metadata::endpoints(),
        listings::endpoints(),
        lint::endpoints(),
        definition_tags::endpoints(),
        schemas::endpoints(),
        events::endpoints(),
        environment::endpoints(),
        secrets::endpoints(),
        effects::endpoints(),
        locks::endpoints(),
        token::endpoints(),
        applications::endpoints(),
        docs::endpoints(),
        monitoring::endpoints(),
        service::endpoints(test_clock),
    ]
    .into_iter()
    .flatten()
}

pub fn door(house: House) -> Door {
    let app = Arc::new(house);
    let watching = Arc::new(Watching::new(Arc::clone(&app)));
    let cors = cors(app.web.origins());
    let routes = endpoints(app.test_clock)
        .fold(Router::new(), |routes, endpoint| endpoint.open(routes, &app));
    let mut routes =
        routes.fallback(no_such_path).method_not_allowed_fallback(no_such_method).with_state(app);
    if let Some(cors) = cors {
        routes = routes.layer(cors);
    }
    routes = routes.layer(from_fn_with_state(watching, watch));
    NormalizePathLayer::trim_trailing_slash().layer(routes)
}

async fn no_such_path(
    State(app): State<App>,
    method: Method,
    uri: Uri,
    headers: HeaderMap,
) -> ApiError {
    let refusal = refusal(&app, &headers).await;
    refusal.unwrap_or_else(|| ApiError::NotServed(NotServed::path(&method, uri.path())))
}

async fn no_such_method(
    State(app): State<App>,
    method: Method,
    uri: Uri,
    headers: HeaderMap,
) -> ApiError {
    let not_served = || NotServed::method(&method, uri.path()).map(ApiError::NotServed);
    let refusal = refusal(&app, &headers).await;
    refusal.or_else(not_served).unwrap_or(ApiError::MethodNotAllowed)
}

fn cors(origins: &[String]) -> Option<CorsLayer> {
    let origins: Vec<HeaderValue> =
        origins.iter().filter_map(|origin| origin.parse().ok()).collect();
    (!origins.is_empty()).then(|| {
        CorsLayer::new()
            .allow_origin(AllowOrigin::list(origins))
            .allow_methods(Any)
            .allow_headers(AllowHeaders::mirror_request()) // `*` would not stand for Authorization.
            .expose_headers(Any)
            .max_age(PREFLIGHT_HOLDS)
    })
}
