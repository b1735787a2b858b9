//! # Sources: the places a value can come from
//!
//! Every source is brought to the same form, key to text, so that one parser per key serves all.
//! **May not:** know what a single key means; only how its shape is written.

use std::collections::BTreeMap;
use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

use toml::{Table, Value};

use super::{ConfigError, KEYS, Key, Shape};

/// Shown instead of a secret.
pub(super) const HIDDEN: &str = "***";

const FILE_NAME: &str = "semel.toml";

/// What the command line said.
#[derive(Clone, Default)]
pub struct Flags {
    pub(super) config: Option<PathBuf>,
    values: BTreeMap<&'static str, String>,
}

impl fmt::Debug for Flags {
    /// Which, not what: a value may be a secret.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let given: Vec<_> = self.values.keys().collect();
        f.debug_struct("Flags").field("config", &self.config).field("given", &given).finish()
    }
}

impl Flags {
    /// No flag but, perhaps, `--config`: the file to read, which has to exist.
    pub fn new(config: Option<PathBuf>) -> Self {
        Self { config, values: BTreeMap::new() }
    }

    /// Notes the value of one flag, as text; the last one stands.
    pub fn set(&mut self, key: &'static Key, value: impl Into<String>) {
        self.values.insert(key.name, value.into());
    }

    pub(super) fn get(&self, key: &Key) -> Option<&str> {
        self.values.get(key.name).map(String::as_str)
    }
}

/// A key's value, as text, and who said it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Sourced {
    /// Which key.
    pub key: &'static Key,
    /// As written by its source.
    pub value: String,
    /// Who said so.
    pub source: Source,
}

impl Sourced {
    /// What is secret has been parsed and is not needed as text any more.
    pub(super) fn hide(&mut self) {
        self.value = super::error::masked(&self.value);
        if self.key.shape == Shape::Secret && !self.value.is_empty() {
            self.value = HIDDEN.to_owned();
        }
    }
}

/// Who said it. Displays as what the operator would look for: `--listen`, `SEMEL_LISTEN`, a path.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Source {
    /// This flag, without its dashes.
    Flag(String),
    /// This environment variable.
    Environment(String),
    /// This file.
    File(PathBuf),
    /// Nobody.
    Default,
}

impl fmt::Display for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Flag(name) => write!(f, "--{name}"),
            Self::Environment(name) => f.write_str(name),
            Self::File(path) => write!(f, "{}", path.display()),
            Self::Default => f.write_str("default"),
        }
    }
}

/// `semel.toml`, every value brought to text.
pub(super) struct File {
    path: PathBuf,
    values: BTreeMap<&'static str, String>,
}

impl File {
    /// A file that was asked for has to exist; the usual one need not.
    pub(super) fn read(
        asked: Option<&Path>,
        directory: &Path,
    ) -> Result<Option<Self>, ConfigError> {
        let path = directory.join(asked.unwrap_or(Path::new(FILE_NAME)));
        match std::fs::read_to_string(&path) {
            Ok(text) => Self::parse(path, &text).map(Some),
            Err(error) if asked.is_none() && error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(cause) => Err(ConfigError::Unreadable { path, cause }),
        }
    }

    fn parse(path: PathBuf, text: &str) -> Result<Self, ConfigError> {
        let table: Table = match text.parse() {
            Ok(table) => table,
            Err(error) => return Err(malformed(path, text, &error)),
        };
        let mut values = BTreeMap::new();
        for (name, value) in &table {
            let Some(key) = KEYS.iter().find(|key| key.name == name) else {
                return Err(ConfigError::UnknownKey { key: name.clone(), path });
            };
            let text = written(key.shape, value).map_err(|reason| {
                let from = Source::File(path.clone());
                ConfigError::bad_value(key, &value.to_string(), from, reason.to_owned())
            })?;
            values.insert(key.name, text);
        }
        Ok(Self { path, values })
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    pub(super) fn get(&self, key: &Key) -> Option<&str> {
        self.values.get(key.name).map(String::as_str)
    }
}

/// The value as a flag would say it, or what the file should have said.
fn written(shape: Shape, value: &Value) -> Result<String, &'static str> {
    match (shape, value) {
        (Shape::Text | Shape::List | Shape::Secret, Value::String(text)) => Ok(text.clone()),
        (Shape::Number, Value::Integer(number)) => Ok(number.to_string()),
        (Shape::Switch, Value::Boolean(switch)) => Ok(switch.to_string()),
        (Shape::List, Value::Array(items)) => {
            let items: Option<Vec<&str>> = items.iter().map(Value::as_str).collect();
            items.map(|items| items.join(",")).ok_or("expected strings only in the list")
        }
        (Shape::Text | Shape::Secret, _) => Err("expected a string in quotes"),
        (Shape::Number, _) => Err("expected a whole number without quotes"),
        (Shape::Switch, _) => Err("expected true or false without quotes"),
        (Shape::List, _) => Err("expected a list of strings"),
    }
}

fn malformed(path: PathBuf, text: &str, error: &toml::de::Error) -> ConfigError {
    let at = error.span().map_or(0, |span| span.start);
    let line = 1 + text.bytes().take(at).filter(|byte| *byte == b'\n').count();
    ConfigError::Malformed { path, line, message: error.message().to_owned() }
}
