//! # Domains: which workers a task is offered to
//!
//! `taskToDomain` maps a task type, or `*`, to a comma-separated list. One entry is used as it is;
//! of several the first with a worker polling lately wins, which is a question for the runtime.

use std::collections::{BTreeMap, BTreeSet};

const NO_DOMAIN: &str = "NO_DOMAIN";

#[derive(Debug, PartialEq)]
pub(crate) enum Choice {
    Settled(Option<String>),
    Ask(Vec<String>),
}

pub(crate) fn choose(map: &BTreeMap<String, String>, task_type: &str) -> Choice {
    let Some(list) = map.get(task_type).or_else(|| map.get("*")) else {
        return Choice::Settled(None);
    };
    let mut domains: Vec<String> =
        list.split(',').map(|one| one.trim().to_owned()).filter(|one| !one.is_empty()).collect();
    match domains.len() {
        0 => Choice::Settled(None),
        1 => Choice::Settled(named(domains.swap_remove(0))),
        _ => Choice::Ask(domains),
    }
}

/// The first active one, else the last of the list.
pub(crate) fn settle(domains: &[String], active: &BTreeSet<String>) -> Option<String> {
    let first = domains.iter().find(|one| active.contains(*one) && named((*one).clone()).is_some());
    first.or_else(|| domains.last()).cloned().and_then(named)
}

fn named(domain: String) -> Option<String> {
    (!domain.eq_ignore_ascii_case(NO_DOMAIN)).then_some(domain)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn map(entries: &[(&str, &str)]) -> BTreeMap<String, String> {
        entries.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned())).collect()
    }

    fn domains(names: &[&str]) -> Vec<String> {
        names.iter().map(|name| (*name).to_owned()).collect()
    }

    #[test]
    fn a_specific_entry_replaces_the_star() {
        let map = map(&[("*", "eu"), ("charge", "canary,stable")]);
        assert_eq!(choose(&map, "ship"), Choice::Settled(Some("eu".into())));
        assert_eq!(choose(&map, "charge"), Choice::Ask(domains(&["canary", "stable"])));
        assert_eq!(choose(&BTreeMap::new(), "ship"), Choice::Settled(None));
    }

    #[test]
    fn the_first_active_domain_wins_else_the_last_of_the_list() {
        let list = domains(&["canary", "stable", "NO_DOMAIN"]);
        let active = |names: &[&str]| domains(names).into_iter().collect();
        assert_eq!(settle(&list, &active(&["stable", "canary"])), Some("canary".into()));
        assert_eq!(settle(&list, &active(&["stable"])), Some("stable".into()));
        assert_eq!(settle(&list, &active(&[])), None);
        assert_eq!(settle(&domains(&["a", "b"]), &active(&[])), Some("b".into()));
    }
}
