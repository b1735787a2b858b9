//! # The connection a request has come on, as the listener tells it

use std::net::IpAddr;

use axum::extract::Request;
use axum::http::StatusCode;
use metrics::counter;

use crate::error::ApiError;
use crate::refusal::Refusal;

/// Asked for by those who watch the server, also when it has no room for anybody else.
pub(crate) const HEALTH: [&str; 2] = ["/health", "/api/health"];

/// Put into a request by the listener.
#[derive(Clone, Copy, Debug)]
pub struct Connection {
    pub peer: IpAddr,
    /// As many are open as may be, and this is one more: it may ask for the health only.
    pub is_spare: bool,
}

pub(crate) fn check_room(request: &Request) -> Result<(), ApiError> {
    let is_spare = request.extensions().get::<Connection>().is_some_and(|from| from.is_spare);
    if !is_spare || HEALTH.contains(&request.uri().path()) {
        return Ok(());
    }
    counter!("semel_door_refusals_total", "reason" => "connections").increment(1);
    let message = "as many connections are at work as may be (connections_max); nothing was done";
    let (status, code) = (StatusCode::SERVICE_UNAVAILABLE, "CONNECTIONS_FULL");
    let refusal = Refusal::new(status, code, message.to_owned()).retry_after(1);
    Err(ApiError::Refused(Box::new(refusal)))
}
