//! # Records: effects, locks and start keys, as people look at them and settle them

use semel_model::Payload;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::answer::Answer;
use crate::call::Call;
use crate::client::Client;
use crate::error::ClientError;

/// Which effects or locks, and where the page begins.
#[derive(Debug, Clone, Default)]
pub struct RecordQuery {
    pub scope: Option<String>,
    pub state: Option<String>,
    pub size: u32,
    /// What the page before gave.
    pub after: Option<String>,
}

/// A page of records; rows have the fields the server gives them.
#[derive(Debug, Clone, PartialEq, Deserialize)]
pub struct RecordPage {
    #[serde(default)]
    pub results: Vec<Value>,
    /// None: there are no more.
    #[serde(default)]
    pub after: Option<String>,
}

/// Whether an effect has happened, and who says so.
#[derive(Debug, Clone, Serialize)]
pub struct Resolve<'a> {
    pub applied: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub output: Option<&'a Payload>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub by: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub note: Option<&'a str>,
}

impl Client {
    pub fn effects(&self, query: &RecordQuery) -> Result<Answer<RecordPage>, ClientError> {
        let call = Call::get("api/effects").query("size", query.size);
        let call = call.query_if("scope", query.scope.as_ref());
        let call = call.query_if("state", query.state.as_ref());
        self.send(call.query_if("after", query.after.as_ref()))
    }

    pub fn effect(&self, scope: &str, key: &str) -> Result<Answer<Value>, ClientError> {
        self.send(Call::get("api/effects").name(scope).name(key))
    }

    /// The registered definitions whose runs may use a secret.
    pub fn secret_uses(&self, name: &str) -> Result<Answer<Vec<Value>>, ClientError> {
        self.send(Call::get("api/secrets").name(name).name("uses"))
    }

    /// Ends the doubt; the run whose effect it is goes on.
    pub fn resolve(
        &self,
        scope: &str,
        key: &str,
        resolve: &Resolve<'_>,
    ) -> Result<Answer<Value>, ClientError> {
        let call = Call::post("api/effects").name(scope).name(key).name("resolve");
        self.send(call.json(resolve)?)
    }

    /// Locks that somebody has, or waits for.
    pub fn locks(&self, query: &RecordQuery) -> Result<Answer<RecordPage>, ClientError> {
        let call = Call::get("api/locks").query("size", query.size);
        self.send(call.query_if("after", query.after.as_ref()))
    }

    pub fn lock(&self, name: &str) -> Result<Answer<Value>, ClientError> {
        self.send(Call::get("api/locks").name(name))
    }

    /// Takes the lock from whoever has it under this fence.
    pub fn free_lock(&self, name: &str, fence: &str) -> Result<Answer<Value>, ClientError> {
        self.send(Call::delete("api/locks").name(name).query("fence", fence))
    }

    /// What is known of a start key.
    pub fn start_key(&self, workflow: &str, key: &str) -> Result<Answer<Value>, ClientError> {
        self.send(Call::get("api/idempotency/workflow").name(workflow).name(key))
    }

    /// The next start under the key makes a run.
    pub fn reset_start_key(&self, workflow: &str, key: &str) -> Result<Answer<()>, ClientError> {
        self.send(Call::delete("api/idempotency/workflow").name(workflow).name(key))
    }

    /// The journal of a run, from this entry on.
    pub fn journal(&self, id: &str, from: u64) -> Result<Answer<Vec<Value>>, ClientError> {
        self.send(Call::get("api/workflow").name(id).name("log").query("from", from))
    }

    /// Checks the journal of a run against everything stored; a conflict if they do not agree.
    pub fn verify(&self, id: &str) -> Result<Answer<Value>, ClientError> {
        self.send(Call::post("api/workflow").name(id).name("verify"))
    }
}
