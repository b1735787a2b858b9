//! # Unserved: paths of Conductor and Orkes that are not in this release
//!
//! One table of what clients may ask for in vain. Whoever does is told so, and where to read on,
//! instead of "no such path", which would look like a wrong address. `docs/compatibility.md` has the
//! same rows, and a test compares both.

use axum::http::{Method, StatusCode};

/// What the answer says in `code`.
pub(crate) const CODE: &str = "NOT_SERVED";

struct Row {
    methods: &'static [&'static str],
    /// `{name}` stands for one segment, `*` for one or more.
    paths: &'static [&'static str],
    why: &'static str,
}

/// The rows of one section of `docs/compatibility.md`.
struct Section {
    anchor: &'static str,
    rows: &'static [Row],
}

/// There is no such path, or none in this release. Nothing that a run could change.
#[derive(Debug)]
pub(crate) struct NotServed {
    pub(crate) status: StatusCode,
    pub(crate) message: String,
    /// Where to read on, if the path is one of Conductor's.
    pub(crate) docs: Option<String>,
}

impl NotServed {
    /// A path that no route answers.
    pub(crate) fn path(method: &Method, path: &str) -> Self {
        let message = format!("no such path: {path}");
        let unknown = Self { status: StatusCode::NOT_FOUND, message, docs: None };
        Self::known(method, path).unwrap_or(unknown)
    }

    /// For routes whose variable would take the last word of such a path for a name or an id.
    pub(crate) fn check(method: Method, path: &str) -> Result<(), Self> {
        Self::known(&method, path).map_or(Ok(()), Err)
    }

    /// A path of Conductor's that is not in this release.
    fn known(method: &Method, path: &str) -> Option<Self> {
        Self::found(method, path, StatusCode::NOT_FOUND)
    }

    /// A path that a route answers, but not to this method.
    pub(crate) fn method(method: &Method, path: &str) -> Option<Self> {
        Self::found(method, path, StatusCode::METHOD_NOT_ALLOWED)
    }

    /// A feature that is switched off.
    pub(crate) fn off(message: &str) -> Self {
        Self { status: StatusCode::NOT_FOUND, message: message.to_owned(), docs: None }
    }

    fn found(method: &Method, path: &str, status: StatusCode) -> Option<Self> {
        let asked = if method == Method::HEAD { "GET" } else { method.as_str() };
        let below_api = path.strip_prefix("/api").filter(|rest| rest.starts_with('/'));
        let segments: Vec<&str> =
            below_api.unwrap_or(path).split('/').filter(|part| !part.is_empty()).collect();
        let (anchor, row) = TABLE.iter().find_map(|section| {
            let is_it = |row: &&Row| row.methods.contains(&asked) && row.matches(&segments);
            section.rows.iter().find(is_it).map(|row| (section.anchor, row))
        })?;
        let docs = format!("docs/compatibility.md#{anchor}");
        let message = format!("{asked} {path} is not in this release: {}; see {docs}", row.why);
        Some(Self { status, message, docs: Some(docs) })
    }

    pub(crate) fn code(&self) -> Option<&'static str> {
        self.docs.as_ref().map(|_| CODE)
    }
}

impl Row {
    fn matches(&self, segments: &[&str]) -> bool {
        self.paths.iter().any(|pattern| {
            let pattern: Vec<&str> = pattern.split('/').skip(1).collect();
            let begins = pattern.iter().zip(segments);
            let is_alike = |(wanted, given): (&&str, &&str)| {
                *wanted == "*" || wanted.starts_with('{') || wanted == given
            };
            let is_long_enough = segments.len() >= pattern.len();
            let may_be_longer = pattern.last() == Some(&"*");
            is_long_enough
                && (may_be_longer || segments.len() == pattern.len())
                && begins.into_iter().all(is_alike)
        })
    }
}

const fn row(
    methods: &'static [&'static str],
    paths: &'static [&'static str],
    why: &'static str,
) -> Row {
    Row { methods, paths, why }
}

const ALL: &[&str] = &["GET", "POST", "PUT", "DELETE"];

const NO_PAYLOAD_STORAGE: &str = "no external payload storage";
const NO_BROKERS: &str = "no brokers";
const NO_USERS: &str = "no people as users; programs have applications";
const NO_SCHEDULES: &str = "no schedules";
const EVENT_TRACE: &str = "what an event did is in the journals of the runs";

const TABLE: &[Section] = &[
    Section { anchor: "executions", rows: EXECUTIONS },
    Section { anchor: "tasks", rows: TASKS },
    Section { anchor: "definitions", rows: DEFINITIONS },
    Section { anchor: "events", rows: EVENTS },
    Section { anchor: "schedules", rows: SCHEDULES },
    Section { anchor: "server-environment-secrets", rows: SERVER },
    Section { anchor: "identity", rows: IDENTITY },
    Section { anchor: "what-only-orkes-or-the-ai-module-has", rows: ORKES },
];

const EXECUTIONS: &[Row] = &[
    row(
        &["GET"],
        &["/workflow/externalstoragelocation", "/workflow/external-storage-location"],
        NO_PAYLOAD_STORAGE,
    ),
    row(&["POST"], &["/workflow/document-store/upload"], "no document store"),
    row(
        &["POST"],
        &["/workflow/bulk/search"],
        "`GET /api/workflow/search-v2` with `workflowId IN (..)` finds the same",
    ),
];

const TASKS: &[Row] = &[row(
    &["GET"],
    &["/tasks/externalstoragelocation", "/tasks/external-storage-location"],
    NO_PAYLOAD_STORAGE,
)];

const DEFINITIONS: &[Row] = &[
    row(&["GET", "POST", "DELETE"], &["/metadata/tags/workflow/{name}"], "no rate limits by tag"),
    row(
        &["PUT", "DELETE"],
        &["/metadata/workflow/{name}/rate-limit"],
        "write `rateLimitConfig` into the definition",
    ),
    row(&["POST"], &["/metadata/workflow-importer/import-bpm"], "no importer"),
    row(
        &["POST"],
        &["/metadata/workflow-task-defs/upload"],
        "no upload of definitions to elsewhere",
    ),
];

const EVENTS: &[Row] = &[
    row(&["GET"], &["/event/handler"], "`GET /api/event` lists the handlers"),
    row(&["GET"], &["/event/queue/config"], NO_BROKERS),
    row(&["GET", "PUT", "DELETE"], &["/event/queue/config/{queueType}/{queueName}"], NO_BROKERS),
    row(&["POST"], &["/event/queue/connectivity"], NO_BROKERS),
    row(&["POST"], &["/event/handleIncomingEvent"], "events come from EVENT tasks only"),
    row(&["GET"], &["/event/execution", "/event/message"], EVENT_TRACE),
    row(&["GET"], &["/event/execution/{eventHandlerName}", "/event/message/{event}"], EVENT_TRACE),
];

const SCHEDULES: &[Row] = &[
    row(&["GET", "POST"], &["/scheduler/schedules"], NO_SCHEDULES),
    row(&["GET"], &["/scheduler/schedules/search"], NO_SCHEDULES),
    row(&["GET", "DELETE"], &["/scheduler/schedules/{name}"], NO_SCHEDULES),
    row(
        &["GET", "PUT"],
        &["/scheduler/schedules/{name}/pause", "/scheduler/schedules/{name}/resume"],
        NO_SCHEDULES,
    ),
    row(&["GET"], &["/scheduler/nextFewSchedules", "/scheduler/search/executions"], NO_SCHEDULES),
    row(&["PUT"], &["/scheduler/bulk/pause", "/scheduler/bulk/resume"], NO_SCHEDULES),
    row(&["GET", "POST"], &["/scheduler/admin/*"], NO_SCHEDULES),
    row(&["GET"], &["/scheduler/test/timeout", "/scheduler/schedules/tags"], NO_SCHEDULES),
    row(&["GET", "PUT", "DELETE"], &["/scheduler/schedules/{name}/tags"], NO_SCHEDULES),
];

const SERVER: &[Row] = &[
    row(&["GET"], &["/admin/config"], "`semel config` prints it"),
    row(&["GET"], &["/admin/task/{taskType}"], "`GET /api/tasks/search` finds them"),
    row(
        &["POST"],
        &["/admin/sweep/requeue/{workflowId}"],
        "there is no sweeper that could have lost a run",
    ),
    row(
        &["POST"],
        &["/admin/consistency/verifyAndRepair/{workflowId}"],
        "`POST /api/workflow/{id}/verify` checks more; nothing needs repair",
    ),
    row(&["GET"], &["/admin/queues"], NO_BROKERS),
    row(&["POST"], &["/admin/cache/clear/{taskDefName}"], "there is no cache to clear"),
    row(&["GET"], &["/admin/redisUsage"], "no Redis"),
    row(&["GET"], &["/limits"], "no quotas"),
    row(
        &["GET", "POST"],
        &["/queue", "/queue/*"],
        "answer a WAIT by a signal or an update by reference",
    ),
    row(ALL, &["/files", "/files/*"], "no file storage"),
    row(&["GET"], &["/external/postgres/{path}"], NO_PAYLOAD_STORAGE),
];

const IDENTITY: &[Row] = &[
    row(ALL, &["/users"], NO_USERS),
    row(&["POST", "PUT", "DELETE"], &["/users/*"], NO_USERS),
    row(&["GET"], &["/users/{id}/*"], NO_USERS),
    row(ALL, &["/groups", "/groups/*"], "no groups"),
    row(
        &["GET", "POST", "DELETE"],
        &["/auth/*"],
        "no permissions on single things; a role holds for all of them",
    ),
    row(ALL, &["/roles", "/roles/*"], "no roles of one's own"),
];

const ORKES: &[Row] = &[
    row(ALL, &["/prompts", "/prompts/*"], "no AI"),
    row(ALL, &["/integrations", "/integrations/*"], "no integrations"),
    row(ALL, &["/human/*"], "no human task API; complete a HUMAN task like any task"),
    row(ALL, &["/metadata/webhook", "/metadata/webhook/*", "/webhook/*"], "no webhooks"),
    row(&["GET", "POST", "DELETE"], &["/registry/*"], "no service registry"),
    row(ALL, &["/business-rules", "/business-rules/*"], "no rule engine"),
    row(ALL, &["/gateway/*"], "no gateway"),
    row(&["GET"], &["/worker-code", "/worker-code/*"], "no store of worker code"),
    row(ALL, &["/agent/*"], "no agents"),
    row(&["GET"], &["/providers/status"], "no AI"),
    row(&["GET", "POST", "DELETE"], &["/skills", "/skills/*"], "no agents"),
    row(&["POST"], &["/a2a/*"], "no agents"),
];

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    const PAGE: &str = include_str!("../../../docs/compatibility.md");

    /// `(anchor, method, path)` of every row that the page says is not served.
    fn documented() -> BTreeSet<(String, String, String)> {
        let (mut anchor, mut found) = (String::new(), BTreeSet::new());
        for line in PAGE.lines() {
            if let Some(title) = line.strip_prefix("### ") {
                let kept = title.chars().filter(|c| c.is_alphanumeric() || matches!(c, ' ' | '-'));
                anchor = kept.collect::<String>().to_lowercase().replace(' ', "-");
            }
            // The state itself is explained in a row that begins with it.
            if !line.contains("| not served |") || line.starts_with("| not served |") {
                continue;
            }
            let cells: Vec<&str> = line.split('|').map(str::trim).collect();
            for path in cells[2].split('`').skip(1).step_by(2) {
                let path = path.trim_end_matches('/').to_owned();
                let rows = cells[1].split(", ");
                found.extend(rows.map(|it| (anchor.clone(), it.to_owned(), path.clone())));
            }
        }
        found
    }

    #[test]
    fn the_table_and_the_page_on_compatibility_name_the_same_paths() {
        let mut told = BTreeSet::new();
        for Section { anchor, rows } in TABLE {
            for Row { methods, paths, .. } in *rows {
                for path in *paths {
                    told.extend(methods.iter().map(|method| {
                        ((*anchor).to_owned(), (*method).to_owned(), (*path).to_owned())
                    }));
                }
            }
        }
        let documented = documented();
        assert!(documented.len() > 100, "the page was read");
        let missing: Vec<_> = documented.difference(&told).collect();
        assert!(missing.is_empty(), "not in the table: {missing:?}");
        let extra: Vec<_> = told.difference(&documented).collect();
        assert!(extra.is_empty(), "not in docs/compatibility.md: {extra:?}");
    }

    #[test]
    fn a_path_of_conductor_is_told_with_its_section() {
        let told = NotServed::path(&Method::GET, "/api/scheduler/schedules/nightly");
        assert_eq!(told.status, StatusCode::NOT_FOUND);
        assert_eq!(told.docs.as_deref(), Some("docs/compatibility.md#schedules"));
        assert_eq!(told.code(), Some(CODE));
        assert!(told.message.contains("not in this release"), "{}", told.message);
        let told = NotServed::path(&Method::HEAD, "/webhook/7");
        assert!(told.docs.is_some(), "without /api too: {}", told.message);
    }

    #[test]
    fn a_path_that_is_nobodys_is_no_such_path() {
        for path in ["/api/schedular", "/apis/prompts", "/api/scheduler", "/api/human", "/x"] {
            let told = NotServed::path(&Method::GET, path);
            assert_eq!((told.code(), told.message), (None, format!("no such path: {path}")));
        }
        assert!(NotServed::path(&Method::PATCH, "/api/prompts").docs.is_none());
        assert!(NotServed::method(&Method::PUT, "/api/metadata/workflow/a/rate-limit").is_some());
        assert!(NotServed::method(&Method::PUT, "/api/workflow").is_none());
    }
}
