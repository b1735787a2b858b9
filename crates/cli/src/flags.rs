//! # Flags: the configuration's keys on the command line
//!
//! One flag per key of the server's list, made from that list: a new key needs nothing here.
//! **May not:** parse a value; the server does, for all sources alike.

use std::path::{Path, PathBuf};

use clap::{Arg, ArgAction, ArgMatches, value_parser};
use semel_server::{Config, ConfigError, Flags, KEYS, Key, Shape, Sourced};

const CONFIG: &str = "config";

/// `--config` and one argument per key.
pub(crate) fn arguments() -> impl Iterator<Item = Arg> {
    let config = Arg::new(CONFIG)
        .long("config")
        .value_name("FILE")
        .value_parser(value_parser!(PathBuf))
        .help("Configuration file [default: ./semel.toml if it exists]");
    std::iter::once(config).chain(KEYS.iter().map(argument))
}

/// `--config` and these keys only, for commands that need no others.
pub(crate) fn arguments_of(keys: &'static [&'static str]) -> impl Iterator<Item = Arg> {
    let wanted = |argument: &Arg| {
        let id = argument.get_id().as_str();
        id == CONFIG || keys.contains(&id)
    };
    arguments().filter(wanted)
}

/// Settles the configuration from the command line, the environment and the working directory.
pub(crate) fn load(matches: &ArgMatches) -> Result<(Config, Vec<Sourced>), ConfigError> {
    // Lossy, so that a variable which is not UTF-8 is refused by its parser instead of ignored.
    let env = |name: &str| Some(std::env::var_os(name)?.to_string_lossy().into_owned());
    Config::load(&flags(matches), env, Path::new("."))
}

fn argument(key: &'static Key) -> Arg {
    let default = if key.default.is_empty() { "none" } else { key.default };
    let help = format!("{} [env: {}] [default: {default}]", key.help, key.variable());
    let argument = Arg::new(key.name).long(key.flag()).help(help);
    match key.shape {
        Shape::Text => argument.value_name("TEXT"),
        Shape::Secret => argument.value_name("KEY"),
        Shape::Number => argument.value_name("NUMBER").allow_negative_numbers(true),
        Shape::List => argument.value_name("LIST").action(ArgAction::Append),
        Shape::Switch => argument
            .value_name("BOOL")
            .num_args(0..=1)
            .require_equals(true)
            .default_missing_value("true"),
    }
}

fn flags(matches: &ArgMatches) -> Flags {
    let mut flags = Flags::new(matches.get_one(CONFIG).cloned());
    for key in KEYS {
        // Not every command takes every key.
        let values = matches.try_get_many::<String>(key.name).ok().flatten();
        if let Some(values) = values {
            flags.set(key, values.map(String::as_str).collect::<Vec<_>>().join(","));
        }
    }
    flags
}

#[cfg(test)]
mod tests {
    use clap::Command;

    use super::*;

    fn config(arguments_given: &[&str]) -> Config {
        let command = Command::new("test").no_binary_name(true).args(arguments());
        let matches = command.try_get_matches_from(arguments_given).unwrap();
        let directory = tempfile::tempdir().unwrap();
        Config::load(&flags(&matches), |_| None, directory.path()).unwrap().0
    }

    #[test]
    fn every_key_is_a_flag() {
        let ids: Vec<String> =
            arguments().skip(1).map(|argument| argument.get_id().to_string()).collect();
        assert_eq!(ids, KEYS.iter().map(|key| key.name).collect::<Vec<_>>());
    }

    #[test]
    fn a_command_may_take_some_keys_only() {
        let command = Command::new("test").no_binary_name(true).args(arguments_of(&["data"]));
        assert_eq!(command.get_arguments().count(), 2);
        let matches = command.try_get_matches_from(["--data", "x"]).unwrap();
        let directory = tempfile::tempdir().unwrap();
        let config = Config::load(&flags(&matches), |_| None, directory.path()).unwrap().0;
        assert_eq!(config.data, Path::new("x"));
    }

    #[test]
    fn a_flag_reaches_its_key() {
        let config = config(&["--listen", "127.0.0.1:0", "--poll-wait-ms-max=7"]);
        assert_eq!((config.listen.port(), config.poll_wait_ms_max), (0, 7));
    }

    #[test]
    fn a_switch_stands_alone_or_takes_a_value() {
        let config = config(&["--insecure", "--test-clock=false"]);
        assert!(config.insecure && !config.test_clock);
    }

    #[test]
    fn a_list_may_be_given_piece_by_piece() {
        let config = config(&["--cors-origins", "http://a,http://b", "--cors-origins", "http://c"]);
        assert_eq!(config.cors_origins, ["http://a", "http://b", "http://c"]);
    }
}
