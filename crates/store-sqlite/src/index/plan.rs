//! # Plans: which index answers a search
//!
//! Named here and not left to guesses: there are no statistics in a file that is written all the
//! time, and a wrong guess over a million rows is a second. A search by several types or statuses
//! is several searches whose pages are merged, because only one value's rows come in order. Rows of
//! a type lie together by status, so a search by type alone is one for each status there is.

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

    fn statuses() -> Vec<&'static str>;

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

    fn statuses() -> Vec<&'static str> {
        WorkflowStatus::ALL.iter().map(|status| status.as_str()).collect()
    }

    fn ways(clause: &Clause<Self>) -> Vec<(Sql, &'static str)> {
        let index = match clause.field {
            Self::WorkflowId => "runs_by_id",
            Self::IdempotencyKey => "runs_by_key",
            Self::Correlation => "runs_by_correlation",
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

    fn statuses() -> Vec<&'static str> {
        TaskStatus::ALL.iter().map(|status| status.as_str()).collect()
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
    let leading = |field: &F| clauses.iter().position(|it| it.field == *field && leads(it));
    let Some(at) = F::LEADING.iter().filter(|_| !by_words).find_map(leading) else {
        let clauses = clauses.iter().map(one).fold(Sql::default(), Sql::joining);
        return vec![Arm { index: None, clauses }];
    };
    let without = |left_out: &[usize]| {
        let rest = clauses.iter().enumerate().filter(|(other, _)| !left_out.contains(other));
        rest.map(|(_, clause)| one(clause)).fold(Sql::default(), Sql::joining)
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
