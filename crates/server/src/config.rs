//! # Configuration: what the operator said, and where
//!
//! Flag beats `SEMEL_*` beats `semel.toml` beats default. A key is declared once, in the list below;
//! its flag, its environment variable, its line in the file and its help follow from that line.
//! **May use:** the arguments it is given. **May not:** read the process environment or open a store.
//! Numbers are accepted within a named range only
//! (docs/reference/principles.md#everything-has-a-limit).

mod error;
mod source;
mod value;

use std::net::SocketAddr;
use std::path::{Path, PathBuf};

use ipnet::IpNet;
use semel_http::TOTAL_MS_MAX;
use semel_model::KeyHosts;
use semel_runtime::SecretsKey;

pub use error::ConfigError;
pub use source::{Flags, Source, Sourced};
pub(crate) use value::store;
pub use value::{DatabaseUrl, LogFormat, Store};

use source::File;

/// Long enough for any sane wait, short enough that adding it to a clock cannot overflow.
const WAIT_MS_MAX: u64 = 86_400_000;
const BODY_BYTES_LIMIT: usize = 1 << 30;
/// Each is an open file.
const CONNECTIONS_LIMIT: usize = 1_000_000;
/// Each has a connection and a thread.
pub(crate) const LANES_MAX: u16 = 64;
const READERS_LIMIT: usize = 1_000;
/// Each has a connection, and an answer in memory.
const HTTP_REQUESTS_LIMIT: usize = 10_000;
const LOOP_TURNS_LIMIT: u32 = 1_000_000_000;
const DEFINITION_TASKS_LIMIT: usize = 1_000_000;
const FORK_BRANCHES_LIMIT: usize = 1_000_000;
const RETENTION_DAYS_MAX: u32 = 36_500;
const DESCENDANTS_LIMIT: u64 = 10_000_000;
/// Thirty days: a token is a secret that travels.
const TOKEN_SECONDS_MAX: u64 = 2_592_000;

macro_rules! keys {
    ($($(#[doc = $help:literal])+
       $name:ident: $type:ty = $default:literal, $shape:ident, $parse:expr;)+) => {
        /// Everything the server can be told. Each field is a key of [`KEYS`].
        #[derive(Debug, Clone, PartialEq, Eq)]
        pub struct Config {
            $($(#[doc = $help])+ pub $name: $type,)+
        }

        /// Every key, in the order in which `--help` and `semel config` show them.
        pub const KEYS: &[Key] = &[$(Key {
            name: stringify!($name),
            help: concat!($($help),+).trim_ascii(),
            default: $default,
            shape: Shape::$shape,
        }),+];

        fn parse(values: &[Sourced]) -> Result<Config, ConfigError> {
            Ok(Config { $($name: parsed(values, stringify!($name), $parse)?,)+ })
        }
    };
}

keys! {
    /// Address and port of the API
    listen: SocketAddr = "127.0.0.1:8080", Text, value::address;
    /// Directory of the database, created if missing
    data: PathBuf = "./semel-data", Text, value::path;
    /// Where executions are kept: sqlite, memory (gone at exit), or postgres://USER:PASSWORD@HOST/DATABASE
    /// (shared by several nodes)
    store: Store = "sqlite", Text, value::store;
    /// Name of this node among those of a PostgreSQL store, the same after a restart; without one, the name
    /// of the machine and the port
    node: Option<String> = "", Text, value::node;
    /// Rounds at one time of a node of a PostgreSQL store, each with a connection of its own; 0: as many as
    /// the machine has cores
    lanes: u16 = "0", Number, |text| value::number(text, 0..=LANES_MAX, "lanes");
    /// Connections of a node of a PostgreSQL store for reading, at most
    readers_max: usize = "8", Number, |text| value::number(text, 1..=READERS_LIMIT, "connections");
    /// Keys that seal secrets, newest first, comma separated, each 32 bytes in base64 or hex; without
    /// one, the file secrets.key in the data directory; PostgreSQL needs one
    secrets_key: Vec<SecretsKey> = "", Secret, value::secrets_keys;
    /// Largest request body, in bytes
    body_bytes_max: usize = "16777216", Number,
        |text| value::number(text, 1..=BODY_BYTES_LIMIT, "bytes");
    /// Memory for what is large (executions kept in memory, answers, request bodies), in bytes; 0: a quarter of
    /// what the machine, or the container, has
    memory_max: u64 = "0", Number, value::memory;
    /// Time in which a request body has to go on, and an answer to be taken, in milliseconds
    body_timeout_ms: u64 = "30000", Number,
        |text| value::number(text, 1..=WAIT_MS_MAX, "milliseconds");
    /// Time in which the head of a request has to come, in milliseconds
    header_timeout_ms: u64 = "10000", Number,
        |text| value::number(text, 1..=WAIT_MS_MAX, "milliseconds");
    /// Time that a connection may stay open between two requests, in milliseconds
    idle_timeout_ms: u64 = "360000", Number,
        |text| value::number(text, 1..=WAIT_MS_MAX, "milliseconds");
    /// Connections at one time; beyond it those that rest are closed, and others get 503
    connections_max: usize = "10000", Number,
        |text| value::number(text, 1..=CONNECTIONS_LIMIT, "connections");
    /// Longest time a poll may wait for work, in milliseconds; longer waits are cut to it
    poll_wait_ms_max: u64 = "5000", Number,
        |text| value::number(text, 0..=WAIT_MS_MAX, "milliseconds");
    /// Longest time a synchronous execution, update or signal may wait, in milliseconds; longer waits
    /// are cut to it
    execute_wait_ms_max: u64 = "60000", Number,
        |text| value::number(text, 0..=WAIT_MS_MAX, "milliseconds");
    /// Days that runs are kept after their end; 0 keeps them for ever
    retention_days: u32 = "30", Number,
        |text| value::number(text, 0..=RETENTION_DAYS_MAX, "days");
    /// Turns of a DO_WHILE that follow each other by themselves, with nothing from a worker, a message or
    /// a wait in between, before it fails; 0: any number
    loop_turns_max: u32 = "10000", Number,
        |text| value::number(text, 0..=LOOP_TURNS_LIMIT, "turns");
    /// Tasks in one definition of a workflow, those inside others included
    definition_tasks_max: usize = "5000", Number,
        |text| value::number(text, 1..=DEFINITION_TASKS_LIMIT, "tasks");
    /// Largest definition of a workflow, in bytes of its JSON
    definition_bytes_max: usize = "4194304", Number,
        |text| value::number(text, 1..=BODY_BYTES_LIMIT, "bytes");
    /// Branches of one FORK_JOIN_DYNAMIC
    fork_branches_max: usize = "20000", Number,
        |text| value::number(text, 1..=FORK_BRANCHES_LIMIT, "branches");
    /// Open runs that the steps of one run, and of the runs they begin, may lead to
    open_descendants_max: u64 = "50000", Number,
        |text| value::number(text, 1..=DESCENDANTS_LIMIT, "runs");
    /// Names under which this server is reached, besides addresses and localhost, comma separated, such as
    /// semel.example.com or *.internal
    hosts: Vec<String> = "", List, value::own_hosts;
    /// Origins whose web pages may call the API, comma separated
    cors_origins: Vec<String> = "", List, value::origins;
    /// Paths under which whatever changes something needs an Idempotency-Key, comma separated, such as
    /// /api/workflow
    request_keys_required: Vec<String> = "", List, value::paths;
    /// Refuse a start whose key came with another payload before, unless its definition says otherwise
    start_keys_strict: bool = "false", Switch, value::switch;
    /// Keep a start key taken when its run is removed by hand
    start_keys_outlive_removal: bool = "false", Switch, value::switch;
    /// Time that open requests get to finish at shutdown, in milliseconds
    shutdown_ms: u64 = "10000", Number,
        |text| value::number(text, 0..=WAIT_MS_MAX, "milliseconds");
    /// Ranges of addresses that HTTP tasks may speak to besides the public ones, comma separated, such as
    /// 10.1.0.0/16
    http_allow: Vec<IpNet> = "", List, value::ranges;
    /// HTTP tasks at one time; 0 leaves them to workers of your own
    http_requests_max: usize = "64", Number,
        |text| value::number(text, 0..=HTTP_REQUESTS_LIMIT, "requests");
    /// HTTP tasks of one workflow, or to one host, at one time; 0: no more than are left free
    http_share_max: usize = "0", Number,
        |text| value::number(text, 0..=HTTP_REQUESTS_LIMIT, "requests");
    /// How long an HTTP task may take that does not say it itself, in milliseconds, from the name of its
    /// host to the end of the answer
    http_total_ms: u64 = "60000", Number,
        |text| value::number(text, 1..=TOTAL_MS_MAX, "milliseconds");
    /// Hosts that do a request with the same idempotency key once, comma separated, such as
    /// api.example.com or *.example.com
    http_key_hosts: KeyHosts = "", List, value::hosts;
    /// Let every failed HTTP task be tried again, as Conductor does, also one that may be done twice
    http_compat_retry: bool = "false", Switch, value::switch;
    /// What to log: a level, or a filter such as info,semel_api=debug
    log: String = "info", Text, value::log_filter;
    /// How to log: text or json
    log_format: LogFormat = "text", Text, value::log_format;
    /// Tell idempotency keys in the log by their SHA-256 only
    log_keys_hashed: bool = "false", Switch, value::switch;
    /// Let in only who has a token; the first start prints a key
    auth: bool = "false", Switch, value::switch;
    /// How long a token lives, in seconds
    token_seconds: u64 = "3600", Number,
        |text| value::number(text, 1..=TOKEN_SECONDS_MAX, "seconds");
    /// Where spans are sent: the base address of an OTLP collector that speaks HTTP, such as
    /// http://127.0.0.1:4318; none: nowhere
    otlp_endpoint: Option<String> = "", Text, value::collector;
    /// Accept a listen address that other machines can reach without authentication
    insecure: bool = "false", Switch, value::switch;
    /// Let tests move the clock through POST /test/clock
    test_clock: bool = "false", Switch, value::switch;
}

/// One thing that can be configured.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Key {
    /// As in `semel.toml`.
    pub name: &'static str,
    /// One line for people.
    pub help: &'static str,
    /// The value, as text, when nobody says otherwise.
    pub default: &'static str,
    /// How a value is written.
    pub shape: Shape,
}

/// How a value is written: bare or quoted in the file, with or without a value as a flag.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Shape {
    /// A string.
    Text,
    /// A whole number.
    Number,
    /// `true` or `false`; as a flag alone it means `true`.
    Switch,
    /// An array of strings in the file, comma separated elsewhere.
    List,
    /// A string that is never shown.
    Secret,
}

impl Key {
    /// The flag without its dashes: `body-bytes-max`.
    pub fn flag(&self) -> String {
        self.name.replace('_', "-")
    }

    /// Another variable that says the same, known to every program that sends spans.
    fn common_variable(&self) -> Option<&'static str> {
        (self.name == "otlp_endpoint").then_some("OTEL_EXPORTER_OTLP_ENDPOINT")
    }

    /// The environment variable: `SEMEL_BODY_BYTES_MAX`.
    pub fn variable(&self) -> String {
        format!("SEMEL_{}", self.name.to_ascii_uppercase())
    }
}

impl Config {
    /// Settles every key. `env` answers for one variable; `directory` is where relative paths to the
    /// configuration file start, and where `semel.toml` is looked for if no flag names a file.
    pub fn load(
        flags: &Flags,
        env: impl Fn(&str) -> Option<String>,
        directory: &Path,
    ) -> Result<(Self, Vec<Sourced>), ConfigError> {
        let file = File::read(flags.config.as_deref(), directory)?;
        let mut values: Vec<Sourced> =
            KEYS.iter().map(|key| settle(key, flags, &env, file.as_ref())).collect();
        let config = parse(&values)?;
        config.refuse_exposure(&values)?;
        values.iter_mut().for_each(Sourced::hide);
        Ok((config, values))
    }

    fn refuse_exposure(&self, values: &[Sourced]) -> Result<(), ConfigError> {
        if self.auth || self.insecure || self.listen.ip().to_canonical().is_loopback() {
            return Ok(());
        }
        let from = find(values, "listen").source.clone();
        Err(ConfigError::Exposed { listen: self.listen, from })
    }
}

fn settle(
    key: &'static Key,
    flags: &Flags,
    env: &impl Fn(&str) -> Option<String>,
    file: Option<&File>,
) -> Sourced {
    let flag = || Some((flags.get(key)?.to_owned(), Source::Flag(key.flag())));
    let variable = || Some((env(&key.variable())?, Source::Environment(key.variable())));
    let common = || {
        let name = key.common_variable()?;
        Some((env(name)?, Source::Environment(name.to_owned())))
    };
    let line = || {
        let file = file?;
        Some((file.get(key)?.to_owned(), Source::File(file.path().to_owned())))
    };
    let (value, source) = flag()
        .or_else(variable)
        .or_else(common)
        .or_else(line)
        .unwrap_or_else(|| (key.default.to_owned(), Source::Default));
    Sourced { key, value, source }
}

fn find<'a>(values: &'a [Sourced], name: &str) -> &'a Sourced {
    values.iter().find(|value| value.key.name == name).expect("every key of KEYS was settled")
}

fn parsed<T>(
    values: &[Sourced],
    name: &str,
    parse: impl Fn(&str) -> Result<T, String>,
) -> Result<T, ConfigError> {
    let Sourced { key, value, source } = find(values, name);
    parse(value).map_err(|reason| ConfigError::bad_value(key, value, source.clone(), reason))
}

#[cfg(test)]
mod tests;
