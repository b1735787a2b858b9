//! # Plans: which index answers a search
//!
//! Named here and not left to guesses: there are no statistics in a file that is written all the
//! time, and a wrong guess over a million rows is a second. A search by several types or statuses
//! is several searches whose pages are merged, because only one value's rows come in order. Rows of
//! a type lie together by status, so a search by type alone is one for each status there is. How many
//! rows there are of a kind is kept count of, since a count that looks at each takes too long.

use semel_model::{TaskStatus, WorkflowStatus};
use semel_store::search::{
    Clause, IdPattern, Pattern, Search, TaskField, Test, Type, WorkflowField,
};

use super::clauses::{Sql, Table, is_never_empty, on, one};

/// More values than this are looked for together, and sorted.
const ARMS_MAX: usize = 16;

/// One search of one index. No row is found by two arms of a search.
#[derive(Debug, PartialEq)]
pub(super) struct Arm {
    pub(super) index: Option<&'static str>,
    pub(super) clauses: Sql,
}

pub(super) trait Planned: Table {
    /// Fields that an index leads to, those that leave the fewest rows first.
    const LEADING: &'static [Self];

    const STATUS: Self;

    /// Indexes whose rows lie by status before they lie by time.
    const BY_STATUS: &'static [&'static str];

    /// Where rows are counted by kind.
    const COUNTS: &'static str;

    fn statuses() -> Vec<&'static str>;

    /// The condition on kinds; none where rows of one kind differ in what is asked.
    fn of_kind(clause: &Clause<Self>) -> Option<Sql>;

    /// Runs without a parent are asked for. They have an index, but are nearly all there are.
    fn is_on_top(clause: &Clause<Self>) -> bool;

    /// How rows are found by this clause: each way by an index, and no row by two ways.
    fn ways(clause: &Clause<Self>) -> Vec<(Sql, &'static str)>;
}

impl Planned for WorkflowField {
    const LEADING: &'static [Self] = &[
        Self::WorkflowId,
        Self::IdempotencyKey,
        Self::Correlation,
        Self::Parent,
        Self::Name,
        Self::Status,
        Self::Start,
        Self::Update,
        Self::End,
    ];
    const STATUS: Self = Self::Status;
    const BY_STATUS: &'static [&'static str] = &["runs_by_name"];
    const COUNTS: &'static str = "run_counts";

    fn statuses() -> Vec<&'static str> {
        WorkflowStatus::ALL.iter().map(|status| status.as_str()).collect()
    }

    fn of_kind(clause: &Clause<Self>) -> Option<Sql> {
        match clause.field {
            Self::Name | Self::Status | Self::Classifier => Some(one(clause)),
            Self::Parent if Self::is_on_top(clause) => Some(Sql::new("on_top = 1", [])),
            _ => None,
        }
    }

    fn is_on_top(clause: &Clause<Self>) -> bool {
        clause.field == Self::Parent && clause.test == Test::Id(vec![IdPattern::Absent])
    }

    fn ways(clause: &Clause<Self>) -> Vec<(Sql, &'static str)> {
        let index = match clause.field {
            Self::WorkflowId => "runs_by_id",
            Self::IdempotencyKey => "runs_by_key",
            Self::Correlation => "runs_by_correlation",
            // Not as a value: only so does SQLite see that the index holds them all.
            Self::Parent if Self::is_on_top(clause) => {
                return vec![(Sql::new("parent = x''", []), "runs_on_top")];
            }
            Self::Parent => "runs_by_parent",
            Self::Name => "runs_by_name",
            Self::Status => "runs_by_status",
            Self::Start => "runs_by_start",
            Self::Update => "runs_by_update",
            Self::End => return vec![(later(clause), "runs_by_update")],
            Self::Version | Self::Priority | Self::Classifier => return Vec::new(),
        };
        vec![(one(clause), index)]
    }
}

impl Planned for TaskField {
    const LEADING: &'static [Self] = &[
        Self::TaskId,
        Self::WorkflowId,
        Self::DefinitionName,
        Self::TaskType,
        Self::Status,
        Self::Start,
        Self::Update,
        Self::End,
        Self::Scheduled,
    ];
    const STATUS: Self = Self::Status;
    const BY_STATUS: &'static [&'static str] = &["tasks_by_type"];
    const COUNTS: &'static str = "task_counts";

    fn statuses() -> Vec<&'static str> {
        TaskStatus::ALL.iter().map(|status| status.as_str()).collect()
    }

    fn of_kind(clause: &Clause<Self>) -> Option<Sql> {
        match clause.field {
            Self::TaskType | Self::Status => Some(one(clause)),
            Self::DefinitionName => Some(on("definition_name", &clause.test)),
            _ => None,
        }
    }

    fn is_on_top(_: &Clause<Self>) -> bool {
        false
    }

    fn ways(clause: &Clause<Self>) -> Vec<(Sql, &'static str)> {
        let index = match clause.field {
            Self::TaskId => "tasks_by_id",
            Self::WorkflowId => "tasks_by_execution",
            // Most tasks are defined under their type; only the others have a name to index.
            Self::DefinitionName => {
                let by_type = on("task_type", &clause.test).and("other_name IS NULL");
                let by_name = on("other_name", &clause.test).and("other_name IS NOT NULL");
                return vec![(by_type, "tasks_by_type"), (by_name, "tasks_by_definition")];
            }
            Self::TaskType => "tasks_by_type",
            Self::Status => "tasks_by_status",
            Self::Start => "tasks_by_start",
            Self::Update => "tasks_by_update",
            Self::End | Self::Scheduled => return vec![(later(clause), "tasks_by_update")],
            Self::WorkflowName | Self::Reference => return Vec::new(),
        };
        vec![(one(clause), index)]
    }
}

/// No time of a row is after its update, so what is after a bound was updated after it.
fn later<F: Table>(clause: &Clause<F>) -> Sql {
    one(clause).joining(on("updated_at", &clause.test))
}

/// None: nothing can be found.
pub(super) fn arms<F: Planned>(search: &Search<F>) -> Vec<Arm> {
    let clauses = &search.clauses;
    // SQLite sees it too, and then has no use for the index it is told to use.
    if clauses.iter().any(|clause| one(clause).is_never()) {
        return Vec::new();
    }
    let by_words = search.free_text.is_some() && F::HAS_WORD_INDEX;
    let ranks = clauses.iter().enumerate().filter(|_| !by_words);
    let ranks = ranks.filter_map(|(at, clause)| Some((rank(search, clause)?, at)));
    let Some((_, at)) = ranks.min() else {
        let clauses = clauses.iter().map(aside).fold(Sql::default(), Sql::joining);
        return vec![Arm { index: None, clauses }];
    };
    let without = |left_out: &[usize]| {
        let rest = clauses.iter().enumerate().filter(|(other, _)| !left_out.contains(other));
        rest.map(|(_, clause)| aside(clause)).fold(Sql::default(), Sql::joining)
    };
    let field = clauses[at].field;
    let is_exact = is_exact(&clauses[at].test);
    let mut arms = Vec::new();
    for test in one_by_one(&clauses[at].test) {
        for (way, index) in F::ways(&Clause { field, test }) {
            let index = Some(index);
            if !is_exact || !F::BY_STATUS.iter().any(|by_status| Some(*by_status) == index) {
                arms.push(Arm { index, clauses: way.joining(without(&[at])) });
                continue;
            }
            let (status, told) = statuses(clauses);
            let rest = without(&[at, told.unwrap_or(at)]);
            for status in status {
                let clauses = way.clone().joining(status).joining(rest.clone());
                arms.push(Arm { index, clauses });
            }
        }
    }
    arms
}

/// Kinds whose rows are all found, and no other; none: rows have to be counted one by one.
pub(super) fn kinds<F: Planned>(search: &Search<F>) -> Option<Sql> {
    if search.free_text.is_some() || !search.criteria.is_empty() {
        return None;
    }
    let conditions: Option<Vec<_>> = search.clauses.iter().map(F::of_kind).collect();
    Some(conditions?.into_iter().fold(Sql::default(), Sql::joining))
}

/// A clause that does not lead. The sign keeps SQLite from an index that would be no help: nearly all
/// rows are in it, and in another order than is wanted.
fn aside<F: Planned>(clause: &Clause<F>) -> Sql {
    if F::is_on_top(clause) { Sql::new("+parent = x''", []) } else { one(clause) }
}

/// The clause of the lowest rank leads; one without a rank cannot. Rows on top come before those of
/// a time, and only where they come in order.
fn rank<F: Planned>(search: &Search<F>, clause: &Clause<F>) -> Option<usize> {
    let place = |field: F| F::LEADING.iter().position(|leading| *leading == field);
    if F::is_on_top(clause) {
        let is_by_start = search.order.first().is_some_and(|(field, _)| *field == F::START);
        return place(F::START).filter(|_| is_by_start).map(|at| 2 * at);
    }
    place(clause.field).filter(|_| leads(clause)).map(|at| 2 * at + 1)
}

/// A condition for each status that is looked for, and the clause that says which.
fn statuses<F: Planned>(clauses: &[Clause<F>]) -> (Vec<Sql>, Option<usize>) {
    let told =
        clauses.iter().position(|clause| clause.field == F::STATUS && is_exact(&clause.test));
    let tests = match told {
        Some(at) => one_by_one(&clauses[at].test),
        None => {
            let exact = |status: &str| Test::Text(vec![Pattern::Exact(status.to_owned())]);
            F::statuses().into_iter().map(exact).collect()
        }
    };
    (tests.iter().map(|test| on("status", test)).collect(), told)
}

fn is_exact(test: &Test) -> bool {
    match test {
        Test::Text(patterns) => patterns.iter().all(|pattern| matches!(pattern, Pattern::Exact(_))),
        Test::Id(patterns) => patterns.iter().all(|pattern| matches!(pattern, IdPattern::Exact(_))),
        Test::Number(_) | Test::Above(_) | Test::Below(_) => false,
    }
}

/// Whether an index leads to the rows that pass.
fn leads<F: Planned>(clause: &Clause<F>) -> bool {
    let is_bounded = match &clause.test {
        Test::Text(patterns) => {
            is_exact(&clause.test) || patterns.len() == 1 && is_never_empty(&clause.test)
        }
        Test::Id(patterns) => {
            is_exact(&clause.test)
                || matches!(&**patterns, [IdPattern::Between(..) | IdPattern::Absent])
        }
        Test::Number(_) => clause.field == F::START,
        Test::Above(_) => clause.field.kind() == Type::Time,
        Test::Below(_) => clause.field == F::START,
    };
    is_bounded && (clause.field.only().is_none() || is_never_empty(&clause.test))
}

/// Each value by itself, once, while they are few.
fn one_by_one(test: &Test) -> Vec<Test> {
    fn each<T: Clone + PartialEq>(values: &[T], test: impl Fn(Vec<T>) -> Test) -> Vec<Test> {
        let mut once: Vec<T> = Vec::new();
        for value in values {
            if !once.contains(value) {
                once.push(value.clone());
            }
        }
        match once.len() {
            0..=ARMS_MAX => once.into_iter().map(|value| test(vec![value])).collect(),
            _ => vec![test(once)],
        }
    }
    match test {
        Test::Text(patterns) => each(patterns, Test::Text),
        Test::Id(patterns) => each(patterns, Test::Id),
        Test::Number(_) | Test::Above(_) | Test::Below(_) => vec![test.clone()],
    }
}
