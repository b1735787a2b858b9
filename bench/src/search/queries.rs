//! # Queries: the searches people and SDKs send
//!
//! Those of SDK tests, of the command line and of a web page: by type, status, time, correlation,
//! key, id and parent, in order of time, by words. **May not:** send any.

use super::filling::{Filled, LARGE, OPEN_TASK, PARENT, RARE_WORD, SMALL, Seed};

pub(super) struct Query {
    pub(super) name: &'static str,
    /// Sent in turn, so that a search for one thing is not always for the same one.
    pub(super) paths: Vec<String>,
    pub(super) hits: Hits,
}

#[derive(Debug)]
pub(super) enum Hits {
    Exactly(u64),
    Some,
}

impl Hits {
    pub(super) fn is(&self, hits: u64) -> bool {
        match self {
            Self::Exactly(expected) => hits == *expected,
            Self::Some => hits > 0,
        }
    }
}

/// Searches of one route.
struct Route<'a> {
    path: &'static str,
    queries: &'a mut Vec<Query>,
}

impl Route<'_> {
    fn add(&mut self, name: &'static str, hits: Hits, params: &[(&str, &str)]) {
        let path = path(self.path, params);
        self.queries.push(Query { name, paths: vec![path], hits });
    }

    /// The same query about one thing after the other.
    fn each(&mut self, name: &'static str, hits: u64, queries: impl Iterator<Item = String>) {
        let paths = queries.map(|query| path(self.path, &[("query", &query)])).collect();
        self.queries.push(Query { name, paths, hits: Hits::Exactly(hits) });
    }
}

pub(super) fn common(filled: &Filled) -> Vec<Query> {
    let mut queries = Vec::new();
    runs_by_what_they_are(&mut queries, filled);
    runs_one_by_one(&mut queries, filled);
    tasks(&mut queries, filled);
    queries
}

fn runs_by_what_they_are(queries: &mut Vec<Query>, filled: &Filled) {
    let mut runs = Route { path: "/api/workflow/search", queries };
    let count = |holds: &dyn Fn(Seed) -> bool| Hits::Exactly(filled.count(holds));
    let all = || Hits::Exactly(filled.executions());
    let large = format!("workflowType IN ({LARGE})");
    let small = format!("workflowType='{SMALL}'");
    let two = format!("workflowType IN ({LARGE},{SMALL})");
    let open = format!("workflowType IN ({LARGE}) AND status IN (RUNNING)");
    let (from_ms, to_ms) = (filled.from_ms, filled.to_ms);
    let middle_ms = from_ms.midpoint(to_ms);
    let whole = format!("startTime>{} AND startTime<{}", from_ms - 1, to_ms + 1);
    let second = format!("startTime>{middle_ms} AND startTime<{}", middle_ms + 1000);
    let recent = format!("{open} AND startTime>{middle_ms}");
    let newest = ("sort", "startTime:DESC");

    runs.add("everything", all(), &[]);
    runs.add("everything, newest first", all(), &[newest]);
    runs.add("everything, by id", all(), &[("sort", "workflowId:ASC")]);
    runs.add("page 100 of ten each", all(), &[newest, ("start", "990"), ("size", "10")]);
    let is_large = |seed: Seed| seed.name() == LARGE;
    let is_small = |seed: Seed| seed.name() == SMALL;
    runs.add("type, half of all", count(&is_large), &[("query", &large)]);
    runs.add("type, half of all, newest first", count(&is_large), &[("query", &large), newest]);
    runs.add("type, a tenth", count(&is_small), &[("query", &small)]);
    runs.add("two types", count(&|seed| is_large(seed) || is_small(seed)), &[("query", &two)]);
    let completed = Hits::Exactly(filled.executions() - filled.count(Seed::is_open));
    runs.add("status COMPLETED", completed, &[("query", "status IN (COMPLETED)")]);
    runs.add("status RUNNING", count(&Seed::is_open), &[("query", "status IN (RUNNING)")]);
    let is_both = |seed: Seed| seed.is_open() && is_large(seed);
    runs.add("type and status", count(&is_both), &[("query", &open)]);
    runs.add("type, status and time", Hits::Some, &[("query", &recent), newest]);
    runs.add("time, one second", Hits::Some, &[("query", &second)]);
    runs.add("time, all of it", all(), &[("query", &whole)]);
    runs.add("top level", count(&|_| true), &[("topLevelOnly", "true")]);
    let top = ("query", "parentWorkflowId=\"\"");
    runs.add("top level, newest first", count(&|_| true), &[top, newest]);
    let top_open = ("query", "status IN (RUNNING)");
    let top_open = [top_open, ("topLevelOnly", "true"), newest];
    runs.add("top level and status", count(&Seed::is_open), &top_open);
    runs.add("words, rare", count(&Seed::has_rare_word), &[("freeText", RARE_WORD)]);
    let among = format!("workflowType IN ({LARGE},{SMALL},{PARENT})");
    let words = [("query", &*among), ("freeText", RARE_WORD)];
    let is_among = |seed: Seed| is_large(seed) || is_small(seed) || seed.is_parent();
    let is_rare = |seed: Seed| seed.has_rare_word() && is_among(seed);
    if filled.count(is_rare) > 0 {
        runs.add("words, rare, and types", count(&is_rare), &words);
    }
}

fn runs_one_by_one(queries: &mut Vec<Query>, filled: &Filled) {
    let mut runs = Route { path: "/api/workflow/search", queries };
    let ids = || filled.samples.iter();
    runs.each("id", 1, ids().map(|id| format!("workflowId=\"{id}\"")));
    runs.each("parent", 1, ids().map(|id| format!("parentWorkflowId={id}")));
    // Tens without a parent among them: a child has the correlation of its parent.
    let last = filled.starts / 10 - 10;
    let tens = || (0..100).map(move |at| at * 9_999 % last / 10 * 10 + 3);
    runs.each("correlation", 10, tens().map(|ten| format!("correlationId='c-{ten}'")));
    let two = tens().map(|ten| format!("correlationId IN (c-{ten},c-{})", ten + 1));
    runs.each("two correlations", 20, two);
    runs.each("key", 1, tens().map(|ten| format!("idempotencyKey IN (k-{ten}2)")));
}

fn tasks(queries: &mut Vec<Query>, filled: &Filled) {
    let mut tasks = Route { path: "/api/tasks/search", queries };
    let open = || Hits::Exactly(filled.count(Seed::is_open));
    // Every run has one task, and that of a parent is its child.
    let done = || Hits::Exactly(filled.starts - filled.count(Seed::is_open));
    let ship = format!("taskType='{OPEN_TASK}' AND status IN (SCHEDULED)");
    let newest = ("sort", "startTime:DESC");
    tasks.add("tasks: type and status", open(), &[("query", &ship)]);
    let ship = [("query", &*ship), ("sort", "startTime:ASC"), ("start", "990"), ("size", "10")];
    tasks.add("tasks: type and status, page 100", open(), &ship);
    tasks.add("tasks: type, nine in ten", done(), &[("query", "taskType='NOOP'"), newest]);
    let waiting = [("query", "status IN (SCHEDULED, IN_PROGRESS)")];
    tasks.add("tasks: statuses", open(), &waiting);
    let by_run = filled.samples.iter().map(|id| format!("workflowId='{id}'"));
    tasks.each("tasks: of a run", 1, by_run);
}

fn path(route: &str, params: &[(&str, &str)]) -> String {
    let written: Vec<_> =
        params.iter().map(|(name, value)| format!("{name}={}", encoded(value))).collect();
    match written.is_empty() {
        true => route.to_owned(),
        false => format!("{route}?{}", written.join("&")),
    }
}

/// Every byte that a query may not hold as it stands is written in hex.
fn encoded(text: &str) -> String {
    let byte = |byte: u8| match byte {
        b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'_' | b'.' | b'*' => {
            char::from(byte).to_string()
        }
        _ => format!("%{byte:02X}"),
    };
    text.bytes().map(byte).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_query_is_written_as_a_path() {
        let params = [("query", "workflowId=\"é\" AND a IN (b)"), ("size", "10")];
        let written = "/s?query=workflowId%3D%22%C3%A9%22%20AND%20a%20IN%20%28b%29&size=10";
        assert_eq!(path("/s", &params), written);
        assert_eq!(path("/s", &[]), "/s");
    }

    #[test]
    fn every_search_finds_something_however_many_there_are() {
        for starts in [10_000, 12_345] {
            let samples = vec!["id".to_owned()];
            let filled = Filled { starts, samples, from_ms: 1000, to_ms: 9000 };
            for query in common(&filled) {
                assert!(!query.hits.is(0) && !query.paths.is_empty(), "{}", query.name);
            }
        }
    }

    #[test]
    fn what_is_looked_for_one_by_one_was_put_in() {
        let starts = 1234;
        let filled = Filled { starts, samples: vec!["id".to_owned()], from_ms: 1, to_ms: 9 };
        let mut queries = Vec::new();
        runs_one_by_one(&mut queries, &filled);
        let seeds = || (0..starts).map(|number| Seed { number, starts });
        let paths = |name: &str| &queries.iter().find(|query| query.name == name).unwrap().paths;
        for path in paths("key") {
            let key = |seed: Seed| seed.key().map(|key| encoded(&format!("IN ({key})")));
            let found = seeds().filter_map(key).filter(|key| path.ends_with(key));
            assert_eq!(found.count(), 1, "{path}");
        }
        for path in paths("correlation") {
            let value = |seed: &Seed| encoded(&format!("='{}'", seed.correlation()));
            let found: Vec<_> = seeds().filter(|seed| path.ends_with(&value(seed))).collect();
            assert!(found.len() == 10 && !found.iter().any(|seed| seed.is_parent()), "{path}");
        }
    }
}
