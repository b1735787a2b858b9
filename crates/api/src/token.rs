//! # Tokens: contract sections 1.6 and 2.8
//!
//! A refused key is 401 without `error`: what asks clients to refresh their token would send them
//! back here at once.

use std::time::Duration;

use axum::extract::State;
use axum::http::request::Parts;
use schemars::JsonSchema;
use semel_runtime::Holder;
use serde::{Deserialize, Serialize};

use crate::answer::{Answered, json};
use crate::app::App;
use crate::caller::{ANONYMOUS, Principal};
use crate::endpoint::Value::Flag;
use crate::endpoint::{Endpoint, get, post};
use crate::error::ApiError;
use crate::request::Body;
use crate::roles::{ANYONE, FOLLOW, Role, wire_names};

/// How long a refusal takes: nothing to people, a lot to whoever tries many keys.
const REFUSAL_WAIT: Duration = Duration::from_millis(250);

pub(crate) fn endpoints() -> Vec<Endpoint> {
    vec![
        post("/api/token", ANYONE, mint)
            .about("A token for a key and its secret; 404 while authentication is off")
            .takes::<TokenRequest>()
            .gives::<TokenAnswer>()
            .also(401),
        get("/api/token/userInfo", FOLLOW, user_info)
            .about("Who the token is for")
            .query("claims", Flag(false))
            .gives::<User>(),
    ]
}

#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct TokenRequest {
    key_id: String,
    key_secret: String,
    /// Seconds; only shortens what the server gives.
    #[serde(default)]
    expiration: Option<i64>,
}

#[derive(Serialize, JsonSchema)]
struct TokenAnswer {
    token: String,
}

/// `POST /api/token`.
async fn mint(State(app): State<App>, body: Body) -> Answered {
    let off = || ApiError::NotFound("authentication is off; no token is needed".to_owned());
    let auth = app.auth.as_ref().ok_or_else(off)?;
    let request: TokenRequest = body.object()?;
    let seconds = request.expiration.map(|seconds| u64::try_from(seconds).unwrap_or(0));
    if seconds == Some(0) {
        let message = "expiration must be a number of seconds from 1 on".to_owned();
        return Err(ApiError::Malformed(message));
    }
    let known = app.runtime.known_keys().await?;
    let Some(holder) = known.proven(&request.key_id, &request.key_secret) else {
        tokio::time::sleep(REFUSAL_WAIT).await;
        return Err(ApiError::KeyRefused);
    };
    let token = auth.token(&holder, app.runtime.now(), seconds)?;
    let mut answer = json(&TokenAnswer { token });
    answer.extensions_mut().insert(Principal(holder.principal()));
    Ok(answer)
}

/// A caller as clients know users.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct User {
    id: String,
    name: String,
    roles: Vec<Named>,
    groups: Vec<String>,
    uuid: String,
    application_user: bool,
}

#[derive(Serialize, JsonSchema)]
struct Named {
    name: &'static str,
    permissions: Vec<String>,
}

/// `GET /api/token/userInfo`: while authentication is off, nobody who may do everything.
async fn user_info(parts: Parts) -> Answered {
    let named = |role: Role| {
        let names = wire_names(role).iter();
        names.map(|name| Named { name, permissions: Vec::new() }).collect::<Vec<_>>()
    };
    let user = match parts.extensions.get::<Holder>() {
        Some(holder) => User {
            id: holder.principal(),
            name: holder.application.name.clone(),
            roles: holder.application.roles.iter().flat_map(|role| named(*role)).collect(),
            groups: Vec::new(),
            uuid: holder.key.clone(),
            application_user: true,
        },
        None => User {
            id: ANONYMOUS.to_owned(),
            name: ANONYMOUS.to_owned(),
            roles: named(Role::Admin),
            groups: Vec::new(),
            uuid: ANONYMOUS.to_owned(),
            application_user: false,
        },
    };
    Ok(json(&user))
}
