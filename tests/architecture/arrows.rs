//! # Arrows: who may use whom
//!
//! `cli → server → {api, tasks} → runtime → store → engine → model`, `store-* → store`, `server →
//! scripts → engine`, `{cli, api} → lint → model`, `tasks → http → model`; an outer room may use any
//! room further inwards. What only tests need (dev-dependencies) is not an arrow.

use serde_json::Value;

const PREFIX: &str = "semel-";

/// Each room and all it may use. `store-*` stands for every store, which only `server` picks from.
const ROOMS: &[(&str, &[&str])] = &[
    ("model", &[]),
    ("engine", &["model"]),
    ("lint", &["model"]),
    ("store", &["engine", "model"]),
    ("store-*", &["store", "engine", "model"]),
    ("scripts", &["engine", "model"]),
    ("runtime", &["store", "engine", "model"]),
    ("api", &["runtime", "store", "engine", "lint", "model"]),
    ("http", &["model"]),
    ("tasks", &["http", "runtime", "store", "engine", "model"]),
    ("client", &["model"]),
    (
        "server",
        &["api", "tasks", "http", "runtime", "scripts", "store-*", "store", "engine", "model"],
    ),
    (
        "cli",
        &[
            "server", "client", "api", "tasks", "runtime", "scripts", "store", "engine", "lint",
            "model",
        ],
    ),
];

/// They stand outside and look at everything; nobody may look back.
const OUTSIDE: &[&str] = &["tests", "bench"];

/// The pure rooms, and what would let the world in. A name covers its family: `hyper`, `hyper-util`.
const PURE: &[&str] = &["model", "engine", "lint"];
const WORLDLY: &[&str] = &["tokio", "rusqlite", "axum", "reqwest", "hyper", "rand"];

/// A normal or build dependency of one of our packages, by package names.
#[derive(Debug)]
pub(crate) struct Arrow {
    from: String,
    to: String,
}

/// The arrows in the output of `cargo metadata --no-deps`.
pub(crate) fn read(metadata: &Value) -> Vec<Arrow> {
    let mut arrows = vec![];
    for package in metadata["packages"].as_array().into_iter().flatten() {
        let from = package["name"].as_str().unwrap_or_default();
        for dependency in package["dependencies"].as_array().into_iter().flatten() {
            if dependency["kind"] != "dev" {
                let to = dependency["name"].as_str().unwrap_or_default();
                arrows.push(Arrow { from: from.to_owned(), to: to.to_owned() });
            }
        }
    }
    arrows
}

/// Why this arrow may not be, if so.
pub(crate) fn objection(arrow: &Arrow) -> Option<String> {
    let from = arrow.from.strip_prefix(PREFIX).unwrap_or(&arrow.from);
    let Some(to) = arrow.to.strip_prefix(PREFIX) else {
        let is_worldly = WORLDLY.iter().any(|name| is_of_family(&arrow.to, name));
        return (PURE.contains(&from) && is_worldly)
            .then(|| format!("{from} is pure and may not use {}", arrow.to));
    };
    if OUTSIDE.contains(&from) && !OUTSIDE.contains(&to) {
        return None;
    }
    match ROOMS.iter().find(|(room, _)| *room == kind(from)) {
        None => Some(format!("{from} has no place in ROOMS of tests/architecture/arrows.rs")),
        Some((_, allowed)) if allowed.contains(&kind(to)) => None,
        Some((_, allowed)) => {
            Some(format!("{from} may not use {to}, only: {}", allowed.join(", ")))
        }
    }
}

fn kind(room: &str) -> &str {
    if room.starts_with("store-") { "store-*" } else { room }
}

fn is_of_family(package: &str, name: &str) -> bool {
    package.strip_prefix(name).is_some_and(|rest| rest.is_empty() || rest.starts_with(['-', '_']))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn is_refused(from: &str, to: &str) -> bool {
        objection(&Arrow { from: from.to_owned(), to: to.to_owned() }).is_some()
    }

    #[test]
    fn inward_arrows_are_fine() {
        for (from, to) in [
            ("semel-cli", "semel-server"),
            ("semel-cli", "semel-client"),
            ("semel-cli", "semel-model"),
            ("semel-server", "semel-store-sqlite"),
            ("semel-server", "semel-scripts"),
            ("semel-scripts", "semel-engine"),
            ("semel-api", "semel-model"),
            ("semel-api", "semel-lint"),
            ("semel-cli", "semel-lint"),
            ("semel-lint", "semel-model"),
            ("semel-tasks", "semel-http"),
            ("semel-http", "semel-model"),
            ("semel-store-sqlite", "semel-store"),
            ("semel-engine", "semel-model"),
            ("semel-engine", "sha2"),
            ("semel-runtime", "tokio"),
            ("semel-tests", "semel-runtime"),
            ("semel-bench", "semel-client"),
        ] {
            assert!(!is_refused(from, to), "{from} -> {to}");
        }
    }

    #[test]
    fn any_other_arrow_is_refused() {
        for (from, to) in [
            ("semel-model", "semel-engine"),
            ("semel-lint", "semel-engine"),
            ("semel-engine", "semel-lint"),
            ("semel-store", "semel-store-sqlite"),
            ("semel-store-sqlite", "semel-store-postgres"),
            ("semel-store-sqlite", "semel-runtime"),
            ("semel-runtime", "semel-store-sqlite"),
            ("semel-cli", "semel-store-sqlite"),
            ("semel-api", "semel-tasks"),
            ("semel-tasks", "semel-api"),
            ("semel-http", "semel-engine"),
            ("semel-runtime", "semel-http"),
            ("semel-client", "semel-engine"),
            ("semel-runtime", "semel-api"),
            ("semel-runtime", "semel-scripts"),
            ("semel-scripts", "semel-store"),
            ("semel-server", "semel-tests"),
            ("semel-tests", "semel-bench"),
            ("semel-newcomer", "semel-model"),
            ("semel-server", "semel-newcomer"),
        ] {
            assert!(is_refused(from, to), "{from} -> {to}");
        }
    }

    #[test]
    fn the_pure_rooms_stay_out_of_the_world() {
        for to in ["tokio", "tokio-util", "rusqlite", "axum", "reqwest", "hyper", "rand_core"] {
            assert!(is_refused("semel-engine", to) && is_refused("semel-model", to), "{to}");
        }
        assert!(!is_refused("semel-engine", "randomly"));
    }

    #[test]
    fn only_what_is_shipped_or_built_is_an_arrow() {
        let arrows = read(&json!({"packages": [{"name": "semel-engine", "dependencies": [
            {"name": "semel-model", "kind": null},
            {"name": "tokio", "kind": "build"},
            {"name": "semel-store", "kind": "dev"},
        ]}]}));
        let targets: Vec<&str> = arrows.iter().map(|arrow| arrow.to.as_str()).collect();
        assert_eq!(targets, ["semel-model", "tokio"]);
        assert_eq!(arrows.iter().filter_map(objection).count(), 1);
    }
}
