//! # Connection: which server, as whom, and how answers are shown
//!
//! Flag beats `SEMEL_*` beats `CONDUCTOR_*` beats default, so that a machine set up for Conductor's
//! own tools needs nothing new.

use clap::Args;
use semel_client::{Client, Credentials};

use crate::exit::AskedWrongly;
use crate::own_words::own_words;
use crate::show::{Show, say};

const DEFAULT: &str = "http://127.0.0.1:8080";

#[derive(Debug, Clone, Default, Args)]
#[command(next_help_heading = "Server")]
pub(crate) struct Connection {
    /// Address of the server, with or without /api [env: SEMEL_SERVER, CONDUCTOR_SERVER_URL]
    /// [default: http://127.0.0.1:8080]
    #[arg(long, global = true, value_name = "URL")]
    server: Option<String>,
    /// Key of an application [env: SEMEL_AUTH_KEY, CONDUCTOR_AUTH_KEY]
    #[arg(long, global = true, value_name = "KEY")]
    auth_key: Option<String>,
    /// Secret of that key; better given by the environment, where others do not see it
    /// [env: SEMEL_AUTH_SECRET, CONDUCTOR_AUTH_SECRET]
    #[arg(long, global = true, value_name = "SECRET")]
    auth_secret: Option<String>,
    /// A token, instead of key and secret [env: SEMEL_AUTH_TOKEN, CONDUCTOR_AUTH_TOKEN]
    #[arg(long, global = true, value_name = "TOKEN", conflicts_with_all = ["auth_key", "auth_secret"])]
    token: Option<String>,
    /// Print the server's JSON as it is
    #[arg(long, global = true)]
    json: bool,
}

impl Connection {
    pub(crate) fn client(&self) -> anyhow::Result<Client> {
        self.client_or(DEFAULT)
    }

    /// `default` is where the server is if nobody says so.
    pub(crate) fn client_or(&self, default: &str) -> anyhow::Result<Client> {
        let env = |name: &str| std::env::var(name).ok();
        let server = self.named_server(env).unwrap_or_else(|| default.to_owned());
        let client = Client::new(server.parse()?, self.credentials(env)?)?;
        Ok(client.warning(|words| say(&own_words(&format!("warning: {words}")))))
    }

    /// Whether somebody said where the server is.
    pub(crate) fn names_a_server(&self) -> bool {
        self.named_server(|name| std::env::var(name).ok()).is_some()
    }

    /// Whether the command line itself says where the server is.
    pub(crate) fn is_asked_for(&self) -> bool {
        self.server.is_some()
    }

    pub(crate) fn show(&self) -> Show {
        Show::here(self.json)
    }

    fn named_server(&self, env: impl Fn(&str) -> Option<String>) -> Option<String> {
        first(self.server.as_ref(), &env, ["SEMEL_SERVER", "CONDUCTOR_SERVER_URL"])
    }

    fn credentials(&self, env: impl Fn(&str) -> Option<String>) -> anyhow::Result<Credentials> {
        if let Some(token) = self.token.clone() {
            return Ok(Credentials::Token(token.into()));
        }
        let key = first(self.auth_key.as_ref(), &env, ["SEMEL_AUTH_KEY", "CONDUCTOR_AUTH_KEY"]);
        let secret =
            first(self.auth_secret.as_ref(), &env, ["SEMEL_AUTH_SECRET", "CONDUCTOR_AUTH_SECRET"]);
        let token = first(None, &env, ["SEMEL_AUTH_TOKEN", "CONDUCTOR_AUTH_TOKEN"]);
        match (key, secret, token) {
            (Some(id), Some(secret), _) => Ok(Credentials::Key { id, secret: secret.into() }),
            (Some(_), None, _) => Err(half("--auth-secret or SEMEL_AUTH_SECRET")),
            (None, Some(_), _) => Err(half("--auth-key or SEMEL_AUTH_KEY")),
            (None, None, Some(token)) => Ok(Credentials::Token(token.into())),
            (None, None, None) => Ok(Credentials::Nobody),
        }
    }
}

fn half(missing: &str) -> anyhow::Error {
    AskedWrongly(format!("a key and its secret belong together; give {missing} too")).into()
}

/// The flag, else the first variable that says something.
fn first(
    flag: Option<&String>,
    env: &impl Fn(&str) -> Option<String>,
    names: [&str; 2],
) -> Option<String> {
    let said = |text: &String| !text.trim().is_empty();
    flag.cloned().or_else(|| names.into_iter().find_map(|name| env(name).filter(said)))
}

#[cfg(test)]
mod tests {
    use secrecy::ExposeSecret as _;

    use super::*;

    fn env<'a>(set: &'a [(&'a str, &'a str)]) -> impl Fn(&str) -> Option<String> + Copy + 'a {
        move |name| set.iter().find(|(key, _)| *key == name).map(|(_, value)| (*value).to_owned())
    }

    #[test]
    fn a_flag_beats_our_variable_and_that_beats_conductors() {
        let all = [("SEMEL_SERVER", "http://a"), ("CONDUCTOR_SERVER_URL", "http://b")];
        let connection = Connection::default();
        assert_eq!(connection.named_server(env(&all)).as_deref(), Some("http://a"));
        assert_eq!(connection.named_server(env(&all[1..])).as_deref(), Some("http://b"));
        let blank = [("SEMEL_SERVER", " ")];
        assert_eq!(connection.named_server(env(&blank)), None);
        let flagged = Connection { server: Some("http://c".to_owned()), ..Connection::default() };
        assert_eq!(flagged.named_server(env(&all)).as_deref(), Some("http://c"));
    }

    #[test]
    fn a_key_without_its_secret_is_refused() {
        let connection = Connection::default();
        let refused = connection.credentials(env(&[("SEMEL_AUTH_KEY", "k")])).unwrap_err();
        assert!(refused.to_string().contains("--auth-secret"), "{refused}");
        let both = [("CONDUCTOR_AUTH_KEY", "k"), ("CONDUCTOR_AUTH_SECRET", "s")];
        let Credentials::Key { id, secret } = connection.credentials(env(&both)).unwrap() else {
            panic!("a key and a secret")
        };
        assert_eq!((id.as_str(), secret.expose_secret()), ("k", "s"));
    }
}
