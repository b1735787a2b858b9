//! # Proof that configuration keeps its precedence and its manners
//!
//! **May not:** read the real environment or the real working directory; both are handed in.

mod page;

use super::*;
use std::path::PathBuf;

/// A directory of its own, an environment of its own.
struct Operator {
    flags: Flags,
    variables: Vec<(&'static str, &'static str)>,
    directory: tempfile::TempDir,
}

impl Operator {
    fn new() -> Self {
        let directory = tempfile::tempdir().unwrap();
        Self { flags: Flags::default(), variables: vec![], directory }
    }

    fn flag(mut self, name: &str, value: &str) -> Self {
        let key = KEYS.iter().find(|key| key.name == name).unwrap();
        self.flags.set(key, value);
        self
    }

    fn variable(mut self, name: &'static str, value: &'static str) -> Self {
        self.variables.push((name, value));
        self
    }

    fn file(self, text: &str) -> Self {
        self.file_named("semel.toml", text)
    }

    fn file_named(self, name: &str, text: &str) -> Self {
        std::fs::write(self.directory.path().join(name), text).unwrap();
        self
    }

    fn asking_for(mut self, name: &str) -> Self {
        self.flags.config = Some(PathBuf::from(name));
        self
    }

    fn load(&self) -> Result<(Config, Vec<Sourced>), ConfigError> {
        let env = |name: &str| {
            let found = self.variables.iter().find(|(variable, _)| *variable == name);
            found.map(|(_, value)| (*value).to_owned())
        };
        Config::load(&self.flags, env, self.directory.path())
    }

    fn config(&self) -> Config {
        self.load().unwrap().0
    }

    fn refusal(&self) -> String {
        let refusal = self.load().unwrap_err().to_string();
        // The directory's name is random; what people read starts after it.
        refusal.replace(&format!("{}/", self.directory.path().display()), "")
    }
}

const KEY_HEX: &str = "000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f";
const KEY_BASE64: &str = "ICEiIyQlJicoKSorLC0uLzAxMjM0NTY3ODk6Ozw9Pj8=";
const KEYS_BOTH: &str = "ICEiIyQlJicoKSorLC0uLzAxMjM0NTY3ODk6Ozw9Pj8=, \
    000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f";

/// For every key: a value for each source, all different from the default where the type allows.
const SAMPLES: &[(&str, [&str; 3])] = &[
    ("listen", ["127.0.0.1:1", "127.0.0.1:2", "127.0.0.1:3"]),
    ("data", ["a", "b", "c"]),
    ("store", ["memory", "sqlite", "memory"]),
    ("node", ["a", "b", "c"]),
    ("lanes", ["1", "2", "64"]),
    ("readers_max", ["1", "2", "1000"]),
    ("secrets_key", [KEY_HEX, KEY_BASE64, KEYS_BOTH]),
    ("body_bytes_max", ["1", "2", "3"]),
    ("memory_max", ["67108864", "67108865", "1125899906842624"]),
    ("body_timeout_ms", ["1", "2", "3"]),
    ("header_timeout_ms", ["1", "2", "3"]),
    ("idle_timeout_ms", ["1", "2", "3"]),
    ("connections_max", ["1", "2", "1000000"]),
    ("poll_wait_ms_max", ["1", "2", "3"]),
    ("execute_wait_ms_max", ["1", "2", "3"]),
    ("retention_days", ["0", "1", "36500"]),
    ("loop_turns_max", ["0", "1", "1000000000"]),
    ("definition_tasks_max", ["1", "2", "1000000"]),
    ("definition_bytes_max", ["1", "2", "3"]),
    ("fork_branches_max", ["1", "2", "1000000"]),
    ("open_descendants_max", ["1", "2", "10000000"]),
    ("hosts", ["semel", "*.internal,semel.example:8443", "a"]),
    ("cors_origins", ["http://a", "http://b,http://c", "https://d:1"]),
    ("request_keys_required", ["/api", "/api/a,/api/b", "/api/c"]),
    ("start_keys_strict", ["true", "false", "true"]),
    ("start_keys_outlive_removal", ["true", "false", "true"]),
    ("shutdown_ms", ["1", "2", "3"]),
    ("http_allow", ["10.0.0.0/8", "10.1.0.0/16,fd00::/8", "127.0.0.1"]),
    ("http_requests_max", ["0", "1", "10000"]),
    ("http_share_max", ["1", "2", "10000"]),
    ("http_total_ms", ["1", "2", "3600000"]),
    ("http_key_hosts", ["api.example.com", "*.example.com,b.example:8443", "localhost"]),
    ("http_compat_retry", ["true", "false", "true"]),
    ("log", ["warn", "debug", "trace"]),
    ("log_format", ["json", "text", "json"]),
    ("log_keys_hashed", ["true", "false", "true"]),
    ("auth", ["true", "false", "true"]),
    ("token_seconds", ["1", "2", "2592000"]),
    ("otlp_endpoint", ["http://a:1", "http://b:2", "http://c:3"]),
    ("insecure", ["true", "false", "true"]),
    ("test_clock", ["true", "false", "true"]),
];

fn line(key: &Key, value: &str) -> String {
    match key.shape {
        Shape::Text | Shape::Secret => format!("{} = {value:?}\n", key.name),
        Shape::Number | Shape::Switch => format!("{} = {value}\n", key.name),
        Shape::List => format!("{} = {:?}\n", key.name, value.split(',').collect::<Vec<_>>()),
    }
}

#[test]
fn nothing_said_means_the_defaults() {
    let (config, values) = Operator::new().load().unwrap();
    let expected = Config {
        listen: "127.0.0.1:8080".parse().unwrap(),
        data: PathBuf::from("./semel-data"),
        store: Store::Sqlite,
        node: None,
        lanes: 0,
        readers_max: 8,
        secrets_key: vec![],
        body_bytes_max: 16 * 1024 * 1024,
        memory_max: 0,
        body_timeout_ms: 30_000,
        header_timeout_ms: 10_000,
        idle_timeout_ms: 360_000,
        connections_max: 10_000,
        poll_wait_ms_max: 5_000,
        execute_wait_ms_max: 60_000,
        retention_days: 30,
        loop_turns_max: 10_000,
        definition_tasks_max: 5_000,
        definition_bytes_max: 4 * 1024 * 1024,
        fork_branches_max: 20_000,
        open_descendants_max: 50_000,
        hosts: vec![],
        cors_origins: vec![],
        request_keys_required: vec![],
        start_keys_strict: false,
        start_keys_outlive_removal: false,
        shutdown_ms: 10_000,
        http_allow: vec![],
        http_requests_max: 64,
        http_share_max: 0,
        http_total_ms: 60_000,
        http_key_hosts: KeyHosts::default(),
        http_compat_retry: false,
        log: "info".to_owned(),
        log_format: LogFormat::Text,
        log_keys_hashed: false,
        auth: false,
        token_seconds: 3_600,
        otlp_endpoint: None,
        insecure: false,
        test_clock: false,
    };
    assert_eq!(config, expected);
    assert_eq!(values.len(), KEYS.len());
    assert!(values.iter().all(|value| value.source == Source::Default));
}

#[test]
fn every_key_obeys_flag_then_variable_then_file_then_default() {
    for key in KEYS {
        let (_, [flag, variable, file]) =
            *SAMPLES.iter().find(|(name, _)| *name == key.name).expect("each key has a sample");
        let name: &'static str = key.variable().leak();
        let shown = |value: &str| match key.shape {
            Shape::Secret => "***".to_owned(),
            Shape::Text | Shape::Number | Shape::Switch | Shape::List => value.to_owned(),
        };
        let settled = |operator: &Operator| {
            let (_, values) = operator.load().unwrap();
            let found = find(&values, key.name);
            (found.value.clone(), found.source.clone())
        };

        let operator = Operator::new();
        assert_eq!(settled(&operator), (key.default.to_owned(), Source::Default));
        let operator = operator.file(&line(key, file));
        let path = operator.directory.path().join("semel.toml");
        assert_eq!(settled(&operator), (shown(file), Source::File(path)));
        let operator = operator.variable(name, variable);
        let source = Source::Environment(name.to_owned());
        assert_eq!(settled(&operator), (shown(variable), source));
        let operator = operator.flag(key.name, flag);
        assert_eq!(settled(&operator), (shown(flag), Source::Flag(key.flag())));
    }
}

#[test]
fn names_follow_from_the_key() {
    let key = KEYS.iter().find(|key| key.name == "body_bytes_max").unwrap();
    assert_eq!(
        (key.flag().as_str(), key.variable().as_str()),
        ("body-bytes-max", "SEMEL_BODY_BYTES_MAX")
    );
    assert_eq!(Source::Flag(key.flag()).to_string(), "--body-bytes-max");
}

#[test]
fn a_switch_in_the_environment_can_overrule_the_file() {
    let operator = Operator::new().file("test_clock = true").variable("SEMEL_TEST_CLOCK", "false");
    assert!(!operator.config().test_clock);
}

#[test]
fn a_list_is_written_as_an_array_or_comma_separated() {
    let expected = ["http://a:1".to_owned(), "https://b".to_owned()];
    let array = Operator::new().file(r#"cors_origins = ["http://a:1", "https://b"]"#);
    assert_eq!(array.config().cors_origins, expected);
    let text = Operator::new().flag("cors_origins", "http://a:1, https://b");
    assert_eq!(text.config().cors_origins, expected);
    let none = Operator::new().file(r#"cors_origins = ["http://a"]"#).flag("cors_origins", "");
    assert_eq!(none.config().cors_origins, Vec::<String>::new());
}

#[test]
fn a_named_file_is_read_instead_of_the_usual_one() {
    let operator = Operator::new().file("shutdown_ms = 1").file_named("other.toml", "");
    assert_eq!(operator.config().shutdown_ms, 1);
    assert_eq!(operator.asking_for("other.toml").config().shutdown_ms, 10_000);
}

#[test]
fn a_named_file_has_to_exist() {
    let operator = Operator::new().asking_for("gone.toml");
    assert_eq!(operator.refusal(), "cannot read gone.toml; give --config a readable file");
}

#[test]
fn an_unknown_key_is_named() {
    let refusal = Operator::new().file("lisen = \"127.0.0.1:1\"").refusal();
    assert!(refusal.starts_with("unknown key `lisen` in semel.toml; the keys are listen, data,"));
    let refusal = Operator::new().file("[server]\nlisten = \"127.0.0.1:1\"").refusal();
    assert!(refusal.starts_with("unknown key `server` in semel.toml"), "{refusal}");
}

#[test]
fn a_file_that_is_not_toml_is_refused_with_its_line() {
    let refusal = Operator::new().file("shutdown_ms = 1\nlisten = \n").refusal();
    assert!(refusal.starts_with("semel.toml line 2 is not valid TOML: "), "{refusal}");
}

#[test]
fn a_bad_value_names_key_source_and_what_is_expected() {
    let expected =
        "(from --shutdown-ms): expected a whole number of milliseconds from 0 to 86400000";
    let refusal = Operator::new().flag("shutdown_ms", "soon").refusal();
    assert_eq!(refusal, format!("shutdown_ms = \"soon\" {expected}"));

    let refusal = Operator::new().variable("SEMEL_LISTEN", "8080").refusal();
    let expected = "expected an address and port such as 127.0.0.1:8080";
    assert_eq!(refusal, format!("listen = \"8080\" (from SEMEL_LISTEN): {expected}"));

    let refusal = Operator::new().file("log_format = \"xml\"").refusal();
    assert_eq!(refusal, "log_format = \"xml\" (from semel.toml): expected text or json");
}

#[test]
fn every_kind_of_value_can_be_refused() {
    for (key, value) in [
        ("listen", "localhost"),
        ("data", ""),
        ("store", "mysql"),
        ("memory_max", "67108863"),
        ("memory_max", "1 GB"),
        ("body_bytes_max", "0"),
        ("body_bytes_max", "1073741825"),
        ("poll_wait_ms_max", "-1"),
        ("header_timeout_ms", "0"),
        ("connections_max", "0"),
        ("retention_days", "36501"),
        ("open_descendants_max", "0"),
        ("hosts", "http://semel"),
        ("hosts", "*"),
        ("hosts", "semel:http"),
        ("hosts", "semel,semel:80800"),
        ("hosts", "::1"),
        ("cors_origins", "*"),
        ("http_allow", "localhost"),
        ("http_allow", "10.0.0.0/33"),
        ("http_requests_max", "10001"),
        ("http_total_ms", "0"),
        ("http_total_ms", "3600001"),
        ("http_key_hosts", "https://api.example.com"),
        ("http_key_hosts", "*."),
        ("cors_origins", "https://a/"),
        ("cors_origins", "ui.example.com"),
        ("request_keys_required", "workflow"),
        ("request_keys_required", "/api/workflow?x=1"),
        ("log", ""),
        ("log", "info,=="),
        ("auth", "on"),
        ("token_seconds", "0"),
        ("token_seconds", "2592001"),
        ("insecure", "yes"),
        ("test_clock", ""),
    ] {
        let refusal = Operator::new().flag(key, value).refusal();
        assert!(refusal.starts_with(&format!("{key} = {value:?} (from --")), "{refusal}");
        assert!(refusal.contains("): expected "), "{refusal}");
    }
}

#[test]
fn a_value_of_the_wrong_shape_in_the_file_is_refused() {
    for (text, expected) in [
        ("listen = 8080", "expected a string in quotes"),
        ("shutdown_ms = \"1\"", "expected a whole number without quotes"),
        ("shutdown_ms = 1.5", "expected a whole number without quotes"),
        ("insecure = \"true\"", "expected true or false without quotes"),
        ("cors_origins = 1", "expected a list of strings"),
        ("cors_origins = [1]", "expected strings only in the list"),
    ] {
        let refusal = Operator::new().file(text).refusal();
        assert!(refusal.contains("(from semel.toml)") && refusal.ends_with(expected), "{refusal}");
    }
}

#[test]
fn the_password_of_a_database_is_not_shown() {
    for (url, shown) in [
        ("postgres://ann:hunter22@db/semel", "postgres://***@db/semel"),
        ("postgresql://db/semel?user=ann&password=hunter22", "postgresql://db/semel?***"),
    ] {
        let (config, values) = Operator::new().variable("SEMEL_STORE", url).load().unwrap();
        let Store::Postgres(found) = &config.store else { panic!("{config:?}") };
        assert_eq!((found.reveal(), found.to_string().as_str()), (url, shown));
        assert!(!format!("{config:?} {values:?}").contains("hunter22"), "{values:?}");
    }
}

#[test]
fn a_store_nobody_knows_is_refused_without_its_password() {
    let refusal = Operator::new().variable("SEMEL_STORE", "mysql://ann:secret@db/semel").refusal();
    assert!(refusal.starts_with("store = \"mysql://***@db/semel\" (from SEMEL_STORE): expected"));
    assert!(refusal.contains("postgres://") && !refusal.contains("secret"), "{refusal}");
}

#[test]
fn keys_are_read_newest_first_and_never_shown() {
    let operator = Operator::new().flag("secrets_key", KEYS_BOTH);
    let (config, values) = operator.load().unwrap();
    let keys = [KEY_BASE64, KEY_HEX].map(|key| SecretsKey::read(key).unwrap());
    assert_eq!(config.secrets_key, keys);
    let shown = format!("{config:?} {values:?} {:?}", operator.flags);
    assert!(!shown.contains(&KEY_BASE64[..8]) && !shown.contains(&KEY_HEX[..8]), "{shown}");
    for wrong in ["hunter22", &KEY_HEX[2..], &format!("{KEY_HEX},x")] {
        let refusal = Operator::new().flag("secrets_key", wrong).refusal();
        let expected = "secrets_key = \"***\" (from --secrets-key): expected 32 bytes";
        assert!(refusal.starts_with(expected) && !refusal.contains(wrong), "{refusal}");
    }
    let refusal = Operator::new().file("secrets_key = 4711").refusal();
    assert!(refusal.contains("a string in quotes") && !refusal.contains("4711"), "{refusal}");
}

#[test]
fn an_address_others_can_reach_needs_auth_or_insecure() {
    for listen in ["0.0.0.0:8080", "192.168.1.2:80", "[::]:8080"] {
        let refusal = Operator::new().flag("listen", listen).refusal();
        assert!(refusal.starts_with(&format!("listen = {listen} (from --listen) can be reached")));
        assert!(refusal.contains("--insecure") && refusal.contains("--auth"), "{refusal}");
        for way_out in ["SEMEL_INSECURE", "SEMEL_AUTH"] {
            let operator = Operator::new().flag("listen", listen).variable(way_out, "true");
            assert_eq!(operator.config().listen, listen.parse().unwrap());
        }
    }
    for listen in ["127.0.0.1:0", "127.9.9.9:1", "[::1]:8080"] {
        assert!(Operator::new().flag("listen", listen).load().is_ok());
    }
}

#[test]
fn spans_go_where_the_usual_variable_says_unless_ours_says_otherwise() {
    let usual = "OTEL_EXPORTER_OTLP_ENDPOINT";
    let operator = Operator::new().variable(usual, "http://collector:4318/");
    assert_eq!(operator.config().otlp_endpoint.as_deref(), Some("http://collector:4318"));
    let operator = operator.variable("SEMEL_OTLP_ENDPOINT", "http://other:1");
    assert_eq!(operator.config().otlp_endpoint.as_deref(), Some("http://other:1"));
    assert_eq!(Operator::new().config().otlp_endpoint, None);
    for wrong in ["https://a:1", "a:1", "http://", "http://user@a"] {
        let refusal = Operator::new().flag("otlp_endpoint", wrong).refusal();
        assert!(refusal.contains("http://127.0.0.1:4318"), "{refusal}");
    }
}
