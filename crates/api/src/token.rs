//! # Tokens (docs/authentication.md)
//!
//! A refused key is 401 without `error`: what asks clients to refresh their token would send them
//! back here at once.

use std::net::IpAddr;
use std::time::Duration;

use axum::Extension;
use axum::extract::State;
use axum::http::StatusCode;
use axum::http::request::Parts;
use metrics::counter;
use schemars::JsonSchema;
use semel_runtime::Holder;
use serde::{Deserialize, Serialize};

use crate::answer::{Answered, json};
use crate::app::App;
use crate::applications;
use crate::caller::{ANONYMOUS, Principal, user_id};
use crate::connection::Connection;
use crate::endpoint::Value::Flag;
use crate::endpoint::{Endpoint, get, post};
use crate::error::ApiError;
use crate::params::Path;
use crate::refusal::Refusal;
use crate::request::Body;
use crate::roles::{self, ADMINISTER, ANYONE, FOLLOW};
use crate::seldom::Seldom;
use crate::unserved::NotServed;

/// A key and a secret take a few hundred bytes, and strangers may send them.
const REQUEST_BYTES_MAX: usize = 4096;

/// How long a refusal takes: nothing to people, a lot to whoever tries many keys.
const REFUSAL_WAIT: Duration = Duration::from_millis(250);

pub(crate) fn endpoints() -> Vec<Endpoint> {
    vec![
        post("/api/token", ANYONE, mint)
            .about("A token for a key and its secret; 404 while authentication is off")
            .takes::<TokenRequest>()
            .at_most(REQUEST_BYTES_MAX)
            .gives::<TokenAnswer>()
            .also(401),
        get("/api/token/userInfo", FOLLOW, user_info)
            .about("Who the token is for")
            .query("claims", Flag(false))
            .gives::<User>(),
        get("/api/users/{user}", ADMINISTER, user)
            .about("An application as a user, app:ID; there are no people as users")
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
async fn mint(State(app): State<App>, from: Option<Extension<Connection>>, body: Body) -> Answered {
    let off = || ApiError::NotServed(NotServed::off("authentication is off; no token is needed"));
    let auth = app.auth.as_ref().ok_or_else(off)?;
    let request: TokenRequest = body.object()?;
    let seconds = request.expiration.map(|seconds| u64::try_from(seconds).unwrap_or(0));
    if seconds == Some(0) {
        let message = "expiration must be a number of seconds from 1 on".to_owned();
        return Err(ApiError::Malformed(message));
    }
    let from = from.map(|Extension(connection)| connection.peer);
    let known = app.runtime.known_keys().await?;
    // Only a verdict counts: while the store does not answer, nobody has a wrong secret.
    let Some(holder) = known.proven(&request.key_id, &request.key_secret) else {
        let counted = auth.logins.failed(from, &request.key_id);
        tokio::time::sleep(REFUSAL_WAIT).await;
        counted.map_err(|wait| throttled(from, wait))?;
        count("refused");
        return Err(ApiError::KeyRefused);
    };
    count("accepted");
    let token = auth.token(&holder, app.runtime.now(), seconds)?;
    let mut answer = json(&TokenAnswer { token });
    answer.extensions_mut().insert(Principal(holder.principal()));
    Ok(answer)
}

fn count(outcome: &'static str) {
    counter!("semel_logins_total", "outcome" => outcome).increment(1);
}

/// Told to the operator too: somebody guesses, or a program has a wrong secret.
fn throttled(from: Option<IpAddr>, wait: u64) -> ApiError {
    static TOLD: Seldom = Seldom::new();
    count("throttled");
    if TOLD.is_due() {
        let from = from.map_or_else(|| "somewhere".to_owned(), |from| from.to_string());
        tracing::warn!(from, "logins with a wrong secret are held back");
    }
    let message = format!(
        "too many logins with a wrong secret, this one too; come back after {wait} s \
         (docs/errors/LOGINS_THROTTLED.md)"
    );
    let refusal = Refusal::new(StatusCode::TOO_MANY_REQUESTS, "LOGINS_THROTTLED", message);
    ApiError::Refused(Box::new(refusal.retry_after(wait)))
}

/// A caller as clients know users.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct User {
    id: String,
    name: String,
    roles: Vec<NamedRole>,
    groups: Vec<String>,
    uuid: String,
    application_user: bool,
}

#[derive(Serialize, JsonSchema)]
struct NamedRole {
    name: String,
    permissions: Vec<String>,
}

impl NamedRole {
    fn all(names: Vec<&str>) -> Vec<Self> {
        let role = |name: &str| Self { name: name.to_owned(), permissions: Vec::new() };
        names.into_iter().map(role).collect()
    }
}

/// `GET /api/token/userInfo`: while authentication is off, nobody who may do everything.
async fn user_info(parts: Parts) -> Answered {
    let user = match parts.extensions.get::<Holder>() {
        Some(holder) => User {
            id: holder.principal(),
            name: holder.application.name.clone(),
            roles: NamedRole::all(roles::shown(&holder.application)),
            groups: Vec::new(),
            uuid: holder.key.clone(),
            application_user: true,
        },
        None => User {
            id: ANONYMOUS.to_owned(),
            name: ANONYMOUS.to_owned(),
            roles: NamedRole::all(roles::shown_to_anonymous()),
            groups: Vec::new(),
            uuid: ANONYMOUS.to_owned(),
            application_user: false,
        },
    };
    Ok(json(&user))
}

/// `GET /api/users/{user}`: applications are the only users there are.
async fn user(State(app): State<App>, Path(id): Path<String>) -> Answered {
    let missing = || ApiError::NotFound(format!("User {id} not found; users are app:ID"));
    let application = id.strip_prefix("app:").ok_or_else(missing)?;
    let found = applications::find(&app, application).await.map_err(|error| match error {
        ApiError::NotFound(_) => missing(),
        error => error,
    })?;
    Ok(json(&User {
        id: user_id(&found.id),
        name: found.name.clone(),
        roles: NamedRole::all(roles::shown(&found)),
        groups: Vec::new(),
        uuid: found.id.clone(),
        application_user: true,
    }))
}
