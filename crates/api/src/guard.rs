//! # The guard in front of every endpoint
//!
//! Made from the endpoint's own line, so no route is without one. It decides before anything of the
//! request's body is looked at.
//! What matches no endpoint has a guard too: a stranger learns nothing there.
//! One layer for all an endpoint needs: axum copies every layer of a route for each request.

use std::sync::Arc;

use axum::extract::{Request, State};
use axum::http::{HeaderMap, Method};
use axum::middleware::Next;
use axum::response::{IntoResponse as _, Response};
use semel_runtime::Holder;

use crate::app::App;
use crate::audit::Line;
use crate::caller::Principal;
use crate::endpoint::Does;
use crate::error::ApiError;
use crate::keyed::{Keyed, keyed};
use crate::params;
use crate::request::{Reading, handle};
use crate::roles::{self, Access};

pub(crate) struct Guard {
    pub(crate) app: App,
    pub(crate) access: Access,
    pub(crate) does: Does,
    /// None: the same request again is another request.
    pub(crate) keyed: Option<Keyed>,
    pub(crate) reading: Reading,
    /// Parameters of the query, if others mean nothing here and something is changed.
    pub(crate) known: Option<Vec<&'static str>>,
}

impl Guard {
    async fn serve(&self, request: Request, next: Next) -> Response {
        let known = self.known.as_deref();
        if let Some(error) = known.and_then(|known| params::misspelt(request.uri(), known)) {
            return error.into_response();
        }
        match &self.keyed {
            Some(line) => keyed(line, request, next).await,
            None => handle(request, next, &self.reading).await,
        }
    }
}

/// While authentication is off, everybody is let in as nobody in particular.
pub(crate) async fn guard(
    State(guard): State<Arc<Guard>>,
    mut request: Request,
    next: Next,
) -> Response {
    let Guard { app, access, does, .. } = &*guard;
    // A HEAD would be served as its GET.
    let is_misled = *does != Does::Looks && request.method() == Method::HEAD;
    let of_a_page = app.web.check_page(&request, *does);
    let Some(auth) = &app.auth else {
        let method = if is_misled { Err(ApiError::MethodNotAllowed) } else { Ok(()) };
        return match of_a_page.and(method) {
            Err(refused) => refused.into_response(),
            Ok(()) => guard.serve(request, next).await,
        };
    };
    let mut line = Line::of(&request, *does, &app.keys);
    if let Err(refused) = of_a_page {
        return line.ended(refused.into_response());
    }
    if matches!(access, Access::Anyone) {
        return line.ended(guard.serve(request, next).await);
    }
    let holder = match auth.holder(request.headers(), &app.runtime).await {
        Ok(holder) => holder,
        Err(error) => return line.ended(error.into_response()),
    };
    let principal = Principal(holder.principal());
    line.is_by(&principal);
    if !access.lets_in(&holder.application.roles) {
        return line.ended(forbidden(*access, &holder).into_response());
    }
    if is_misled {
        return line.ended(ApiError::MethodNotAllowed.into_response());
    }
    request.extensions_mut().insert(principal);
    request.extensions_mut().insert(holder);
    line.ended(guard.serve(request, next).await)
}

fn forbidden(access: Access, holder: &Holder) -> ApiError {
    let application = &holder.application;
    let has: Vec<&str> = application.roles.iter().map(|role| roles::name(*role)).collect();
    let has = if has.is_empty() { "none".to_owned() } else { has.join(", ") };
    ApiError::Forbidden(format!(
        "this needs the role {}; application {} has {has}",
        access.needed(),
        application.name
    ))
}

/// In front of what is no endpoint; none: go on and say so.
pub(crate) async fn refusal(app: &App, headers: &HeaderMap) -> Option<ApiError> {
    let auth = app.auth.as_ref()?;
    auth.holder(headers, &app.runtime).await.err()
}
