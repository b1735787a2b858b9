//! # What can be wrong with a configuration
//!
//! Each message names the key, where its value came from and what to do.
//! **May not:** repeat a password: what looks like one is masked before it gets into a message.

use std::net::SocketAddr;
use std::path::PathBuf;

use super::source::HIDDEN;
use super::{KEYS, Key, Shape, Source};

/// A configuration the server refuses to start with.
#[derive(Debug, thiserror::Error)]
pub enum ConfigError {
    /// The file is there, or was asked for, and cannot be read.
    #[error("cannot read {}; give --config a readable file", .path.display())]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// Why not.
        #[source]
        cause: std::io::Error,
    },
    /// The file is not TOML.
    #[error("{} line {line} is not valid TOML: {message}", .path.display())]
    Malformed {
        /// The file.
        path: PathBuf,
        /// Where, counted from 1.
        line: usize,
        /// What the parser stumbled over.
        message: String,
    },
    /// The file says something nobody listens to, most likely a misspelling.
    #[error("unknown key `{key}` in {}; the keys are {}", .path.display(), known())]
    UnknownKey {
        /// As written in the file.
        key: String,
        /// The file.
        path: PathBuf,
    },
    /// A value that its key does not accept.
    #[error("{key} = {value:?} (from {from}): {reason}")]
    BadValue {
        /// The name of the key.
        key: &'static str,
        /// As given, passwords masked.
        value: String,
        /// Who said so.
        from: Source,
        /// What is expected instead.
        reason: String,
    },
    /// Anyone who can reach the address could do anything.
    #[error(
        "listen = {listen} (from {from}) can be reached by other machines and nothing authenticates \
         them; turn authentication on with --auth (SEMEL_AUTH=true, auth = true), listen on \
         127.0.0.1, or accept the risk with --insecure (SEMEL_INSECURE=true, insecure = true)"
    )]
    Exposed {
        /// The address.
        listen: SocketAddr,
        /// Who said so.
        from: Source,
    },
}

impl ConfigError {
    pub(super) fn bad_value(key: &Key, value: &str, from: Source, reason: String) -> Self {
        let value = if key.shape == Shape::Secret { HIDDEN.to_owned() } else { masked(value) };
        Self::BadValue { key: key.name, value, from, reason }
    }
}

fn known() -> String {
    KEYS.iter().map(|key| key.name).collect::<Vec<_>>().join(", ")
}

/// `postgres://ann:secret@host/db?password=secret` becomes `postgres://***@host/db?***`.
pub(super) fn masked(value: &str) -> String {
    let Some((scheme, rest)) = value.split_once("://") else { return value.to_owned() };
    let rest = rest.rsplit_once('@').map_or(rest.to_owned(), |(_, host)| format!("***@{host}"));
    match rest.split_once('?') {
        Some((place, options)) if options.contains("password") => format!("{scheme}://{place}?***"),
        _ => format!("{scheme}://{rest}"),
    }
}
