//! # Shown: how the server did a statement, as it has written it down

use std::collections::BTreeMap;
use std::fmt::Write as _;

use serde_json::Value;

/// Names of connections.
pub(super) const LANE: &str = "semel lane";
pub(super) const READER: &str = "semel";

/// A row each, or one per lane: no index is better than looking.
const SMALL: [&str; 3] = ["clock", "meta", "lanes"];
/// What is told of a step besides its kind.
const DETAILS: [&str; 6] =
    ["Index Cond", "Recheck Cond", "Join Filter", "Filter", "Sort Key", "Conflict Arbiter Indexes"];

/// The first column of each index, and of which rows it is.
pub(super) type Leads = BTreeMap<String, (String, String)>;

/// A statement, and how it was done.
#[derive(Debug)]
pub(super) struct Shown {
    /// The name of the connection.
    pub(super) by: String,
    pub(super) sql: String,
    pub(super) plan: Value,
}

impl Shown {
    pub(super) fn asks(&self, begin: &str) -> bool {
        self.sql.starts_with(begin)
    }
}

/// `NAME|LOG:  duration: .. plan:`, and then an object in lines that are set in.
pub(super) fn read(log: &str) -> Vec<Shown> {
    let mut shown = Vec::new();
    let mut lines = log.lines().peekable();
    while let Some(line) = lines.next() {
        let Some((by, _)) = line.split_once("|LOG:  duration:") else { continue };
        let mut text = String::new();
        while let Some(line) = lines.next_if(|line| line.starts_with('\t')) {
            text.push_str(line);
        }
        let Ok(explained) = serde_json::from_str::<Value>(&text) else { continue };
        let sql = explained["Query Text"].as_str().unwrap_or_default().to_owned();
        let is_ours = [LANE, READER].contains(&by);
        let plan = explained["Plan"].clone();
        shown.extend(is_ours.then(|| Shown { by: by.to_owned(), sql, plan }));
    }
    shown
}

fn steps(plan: &Value) -> impl Iterator<Item = &Value> {
    plan["Plans"].as_array().into_iter().flatten()
}

fn text<'a>(step: &'a Value, name: &str) -> &'a str {
    step[name].as_str().unwrap_or_default()
}

/// What makes a way of reading longer the more there is, by the first columns of all indexes.
pub(super) fn faults(plan: &Value, leads: &Leads) -> Vec<String> {
    let mut faults = Vec::new();
    judge(plan, leads, false, &mut faults);
    faults
}

/// The rows of a step may be cut off: then it goes no further than it has to, if they come in order.
fn judge(step: &Value, leads: &Leads, is_cut: bool, faults: &mut Vec<String>) {
    let kind = text(step, "Node Type");
    let is_small = SMALL.contains(&text(step, "Relation Name"));
    let is_fault = match kind {
        "Seq Scan" => !is_small,
        "Index Scan" | "Index Only Scan" | "Bitmap Index Scan" => {
            !is_small && !is_bounded(step, leads, is_cut)
        }
        "Sort" | "Incremental Sort" => is_cut,
        _ => false,
    };
    if is_fault {
        faults.push(label(step));
    }
    let is_cut = kind == "Limit" || (is_cut && kind == "LockRows");
    let is_apart = |step: &Value| text(step, "Parent Relationship") == "InitPlan";
    steps(step).for_each(|step| judge(step, leads, is_cut && !is_apart(step), faults));
}

/// Definitions that have filled their share are passed over row by row: a known gap in docs/status.md.
const PASSED_OVER: &str = "definition <> ALL";

/// By what it looks for, or by the order in which it is cut off. What is cut off must not be sifted on
/// the way, but for what the index promises already.
fn is_bounded(step: &Value, leads: &Leads, is_cut: bool) -> bool {
    let Some((lead, promise)) = leads.get(text(step, "Index Name")) else { return false };
    let filter = text(step, "Filter");
    let is_sifted = !filter.is_empty() && filter != promise && !filter.contains(PASSED_OVER);
    let looks_for_something = text(step, "Index Cond").contains(&**lead);
    if is_cut { !is_sifted } else { looks_for_something }
}

/// As PostgreSQL tells it, without what it costs.
pub(super) fn told(plan: &Value) -> String {
    let mut told = String::new();
    tell(plan, 1, &mut told);
    told
}

fn tell(step: &Value, depth: usize, told: &mut String) {
    // Whether rows are remembered in between is a toss-up, and changes nothing.
    if text(step, "Node Type") == "Memoize" {
        return steps(step).for_each(|step| tell(step, depth, told));
    }
    let inset = "  ".repeat(depth);
    let _ = writeln!(told, "{inset}{}", label(step)); // A string takes everything.
    for name in DETAILS {
        let detail = match &step[name] {
            Value::Array(parts) => parts.iter().filter_map(Value::as_str).collect(),
            one => Vec::from_iter(one.as_str()),
        };
        if !detail.is_empty() {
            let _ = writeln!(told, "{inset}    {name}: {}", detail.join(", "));
        }
    }
    steps(step).for_each(|step| tell(step, depth + 1, told));
}

fn label(step: &Value) -> String {
    let mut label = text(step, "Node Type").to_owned();
    if label == "ModifyTable" {
        label = text(step, "Operation").to_owned();
    }
    let name = |name| Some(text(step, name)).filter(|text| !text.is_empty());
    if let Some(join) = name("Join Type").filter(|join| *join != "Inner") {
        label = format!("{label} ({join})");
    }
    if let Some(index) = name("Index Name") {
        label = format!("{label} using {index}");
    }
    if let Some(of) = name("Relation Name").or(name("Function Name")) {
        label = format!("{label} on {of}");
    }
    match name("Subplan Name") {
        Some(subplan) => format!("{subplan}: {label}"),
        None => label,
    }
}
