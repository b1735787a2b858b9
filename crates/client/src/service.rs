//! # The server about itself

use serde_json::Value;

use crate::answer::Answer;
use crate::call::Call;
use crate::client::Client;
use crate::error::ClientError;

impl Client {
    /// 503, an error here, while the store does not answer.
    pub fn health(&self) -> Result<Answer<Value>, ClientError> {
        self.send_openly(Call::get("health"))
    }

    /// The text is the version of Conductor that is spoken; `X-Semel-Version` is the server's own.
    pub fn version(&self) -> Result<Answer<()>, ClientError> {
        self.send(Call::get("api/version"))
    }
}
