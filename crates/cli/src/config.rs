//! # `semel config`: what would the server do, and who said so?
//!
//! Prints every key with its value and its source. **May not:** start or open anything.

use std::io::Write as _;

use clap::{Arg, ArgAction, ArgMatches, Command};
use semel_server::{Shape, Source, Sourced};
use serde_json::{Value, json};

use crate::flags;

pub(crate) const NAME: &str = "config";
const JSON: &str = "json";

pub(crate) fn command() -> Command {
    let json =
        Arg::new(JSON).long("json").action(ArgAction::SetTrue).help("Print JSON instead of text");
    Command::new(NAME)
        .about("Print every configuration key, its value and where the value came from")
        .args(flags::arguments())
        .arg(json)
}

pub(crate) fn execute(matches: &ArgMatches) -> anyhow::Result<()> {
    let (_, values) = flags::load(matches)?;
    let text = if matches.get_flag(JSON) { as_json(&values)? } else { as_text(&values) };
    std::io::stdout().write_all(text.as_bytes())?;
    Ok(())
}

/// Three columns: key, value, source. An empty value is a dash, so that columns can be counted.
fn as_text(values: &[Sourced]) -> String {
    let shown = |it: &Sourced| if it.value.is_empty() { "-".to_owned() } else { it.value.clone() };
    let key_width = values.iter().map(|it| it.key.name.chars().count()).max().unwrap_or(0);
    let value_width = values.iter().map(|it| shown(it).chars().count()).max().unwrap_or(0);
    let line = |it: &Sourced| {
        format!("{:key_width$}  {:value_width$}  {}\n", it.key.name, shown(it), it.source)
    };
    values.iter().map(line).collect()
}

fn as_json(values: &[Sourced]) -> serde_json::Result<String> {
    let objects: Vec<Value> = values.iter().map(object).collect();
    Ok(serde_json::to_string_pretty(&objects)? + "\n")
}

fn object(it: &Sourced) -> Value {
    let (source, name) = match &it.source {
        Source::Flag(_) => ("flag", Some(it.source.to_string())),
        Source::Environment(_) => ("environment", Some(it.source.to_string())),
        Source::File(_) => ("file", Some(it.source.to_string())),
        Source::Default => ("default", None),
    };
    json!({ "key": it.key.name, "value": typed(it), "source": source, "from": name })
}

/// As JSON would write it; the configuration was accepted, so numbers and switches parse.
fn typed(it: &Sourced) -> Value {
    match it.key.shape {
        Shape::Text | Shape::Secret => json!(it.value),
        Shape::Number => json!(it.value.parse::<u64>().ok()),
        Shape::Switch => json!(it.value.parse::<bool>().ok()),
        Shape::List => {
            let items = it.value.split(',').map(str::trim).filter(|item| !item.is_empty());
            json!(items.collect::<Vec<_>>())
        }
    }
}

#[cfg(test)]
mod tests {
    use semel_server::{Config, Flags, KEYS};

    use super::*;

    fn values() -> Vec<Sourced> {
        let mut flags = Flags::default();
        let key = KEYS.iter().find(|key| key.name == "cors_origins").unwrap();
        flags.set(key, "http://a, http://b");
        let env = |name: &str| (name == "SEMEL_SHUTDOWN_MS").then(|| "7".to_owned());
        Config::load(&flags, env, tempfile::tempdir().unwrap().path()).unwrap().1
    }

    #[test]
    fn text_names_key_value_and_source() {
        let text = as_text(&values());
        let lines: Vec<Vec<&str>> =
            text.lines().map(|line| line.split_whitespace().collect()).collect();
        assert_eq!(lines.len(), KEYS.len());
        assert!(lines.contains(&vec!["listen", "127.0.0.1:8080", "default"]));
        assert!(lines.contains(&vec!["shutdown_ms", "7", "SEMEL_SHUTDOWN_MS"]));
    }

    #[test]
    fn json_is_typed() {
        let objects: Value = serde_json::from_str(&as_json(&values()).unwrap()).unwrap();
        let of = |key: &str| {
            objects.as_array().unwrap().iter().find(|object| object["key"] == key).unwrap().clone()
        };
        assert_eq!(of("insecure")["value"], json!(false));
        assert_eq!(of("insecure")["from"], json!(null));
        let shutdown = json!({"key": "shutdown_ms", "value": 7, "source": "environment",
            "from": "SEMEL_SHUTDOWN_MS"});
        assert_eq!(of("shutdown_ms"), shutdown);
        assert_eq!(of("cors_origins")["value"], json!(["http://a", "http://b"]));
        assert_eq!(of("cors_origins")["from"], json!("--cors-origins"));
    }
}
