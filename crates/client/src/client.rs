//! # The client: one server, one connection pool, one token
//!
//! A key and its secret are exchanged for a token with the first call. A server that knows no such
//! exchange answers 404: authentication is off there, and the client goes on without.

use std::io::Read as _;
use std::sync::OnceLock;
use std::time::Duration;

use reqwest::header::{CONTENT_TYPE, HeaderValue};
use secrecy::{ExposeSecret as _, SecretString};
use serde::Deserialize;
use serde_json::json;

use crate::address::Address;
use crate::answer::Answer;
use crate::call::Call;
use crate::error::{ClientError, Refusal};

const CONNECT_WITHIN: Duration = Duration::from_secs(5);
/// More than any server of ours sends.
const ANSWER_BYTES_MAX: u64 = 256 << 20;
const HEADER: &str = "x-authorization";
const WARNING: &str = "x-semel-warning";

/// Who asks.
#[derive(Debug, Clone)]
pub enum Credentials {
    Nobody,
    Token(SecretString),
    Key { id: String, secret: SecretString },
}

pub struct Client {
    address: Address,
    http: reqwest::blocking::Client,
    credentials: Credentials,
    /// What the key was exchanged for; none if authentication is off.
    token: OnceLock<Option<SecretString>>,
    /// Is told of what the server took and will not act upon.
    warn: fn(&str),
}

#[derive(Deserialize)]
struct Token {
    token: String,
}

impl Client {
    pub fn new(address: Address, credentials: Credentials) -> Result<Self, ClientError> {
        // Straight to the server: a proxy of the environment is for the world outside.
        let http =
            reqwest::blocking::Client::builder().no_proxy().connect_timeout(CONNECT_WITHIN).build();
        let http = http.map_err(|error| ClientError::transport(address.to_string(), error))?;
        Ok(Self { address, http, credentials, token: OnceLock::new(), warn: |_| {} })
    }

    /// Every `X-Semel-Warning` of an answer, whatever was asked, goes there.
    #[must_use]
    pub fn warning(self, warn: fn(&str)) -> Self {
        Self { warn, ..self }
    }

    pub fn address(&self) -> &Address {
        &self.address
    }

    /// Sends it, as whoever asks.
    pub(crate) fn send<T>(&self, call: Call) -> Result<Answer<T>, ClientError> {
        let token = self.token()?;
        self.send_with(call, token.as_ref())
    }

    /// Sends it, as nobody.
    pub(crate) fn send_openly<T>(&self, call: Call) -> Result<Answer<T>, ClientError> {
        self.send_with(call, None)
    }

    fn send_with<T>(
        &self,
        call: Call,
        token: Option<&SecretString>,
    ) -> Result<Answer<T>, ClientError> {
        let url = self.address.join(&call.segments, &call.query)?;
        let mut request = self.http.request(call.method, url).timeout(call.within);
        if let Some(token) = token {
            request = request.header(HEADER, header(token)?);
        }
        if let Some((kind, text)) = call.body {
            request = request.header(CONTENT_TYPE, kind).body(text);
        }
        let lost = |error| ClientError::transport(self.address.to_string(), error);
        let response = request.send().map_err(lost)?;
        let (status, headers) = (response.status(), response.headers().clone());
        if let Some(words) = headers.get(WARNING).and_then(|words| words.to_str().ok()) {
            (self.warn)(words);
        }
        let mut bytes = Vec::new();
        let read = response.take(ANSWER_BYTES_MAX + 1).read_to_end(&mut bytes);
        read.map_err(|source| ClientError::Cut { server: self.address.to_string(), source })?;
        if u64::try_from(bytes.len()).unwrap_or(u64::MAX) > ANSWER_BYTES_MAX {
            return Err(ClientError::TooLarge(ANSWER_BYTES_MAX));
        }
        let text = String::from_utf8_lossy(&bytes).into_owned();
        if status.is_success() {
            Ok(Answer::new(text, headers))
        } else {
            Err(ClientError::of(status.as_u16(), &text))
        }
    }

    fn token(&self) -> Result<Option<SecretString>, ClientError> {
        let (id, secret) = match &self.credentials {
            Credentials::Nobody => return Ok(None),
            Credentials::Token(token) => return Ok(Some(token.clone())),
            Credentials::Key { id, secret } => (id, secret),
        };
        if let Some(known) = self.token.get() {
            return Ok(known.clone());
        }
        let body = json!({"keyId": id, "keySecret": secret.expose_secret()});
        let found = match self.send_openly::<Token>(Call::post("api/token").json(&body)?) {
            Ok(answer) => Some(answer.read()?.token.into()),
            Err(ClientError::NotFound(_)) => None,
            Err(other) => return Err(other),
        };
        Ok(self.token.get_or_init(|| found).clone())
    }
}

fn header(token: &SecretString) -> Result<HeaderValue, ClientError> {
    let value = HeaderValue::from_str(token.expose_secret().trim());
    let mut value = value.map_err(|_| {
        let message = "the token cannot be sent: it has characters that no token has".to_owned();
        ClientError::Unauthorised(Refusal { status: 401, message, code: None, violations: vec![] })
    })?;
    value.set_sensitive(true);
    Ok(value)
}
