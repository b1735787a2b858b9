//! # Clauses: what a search asks for, as SQL

use rusqlite::types::Value;
use semel_store::search::{
    Clause, Criterion, Field, IdPattern, Pattern, TaskField, Test, Value as Asked, WorkflowField,
};

/// A piece of SQL and the values it stands on, in order.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Sql {
    pub(super) text: String,
    pub(super) values: Vec<Value>,
}

impl Sql {
    pub(super) fn new(text: impl Into<String>, values: impl IntoIterator<Item = Value>) -> Self {
        Self { text: text.into(), values: values.into_iter().collect() }
    }

    fn joined(parts: Vec<Self>, by: &str) -> Self {
        let texts: Vec<_> = parts.iter().map(|part| part.text.as_str()).collect();
        let text = texts.join(by);
        Self { text, values: parts.into_iter().flat_map(|part| part.values).collect() }
    }

    /// Both hold; nothing holds always.
    pub(super) fn joining(self, other: Self) -> Self {
        match (self.text.is_empty(), other.text.is_empty()) {
            (true, _) => other,
            (_, true) => self,
            (false, false) => Self::joined(vec![self, other], " AND "),
        }
    }

    /// No row passes.
    pub(super) fn is_never(&self) -> bool {
        self.text == "0"
    }

    pub(super) fn and(self, condition: &str) -> Self {
        self.joining(Self::new(condition, []))
    }
}

/// How a kind of rows is kept.
pub(super) trait Table: Field {
    const TABLE: &'static str;
    const ID: &'static str;

    /// An error: every row has the same value, this one.
    fn column(self) -> Result<&'static str, Asked<'static>>;

    /// The condition under which the column's index holds a row, where it does not hold all.
    fn only(self) -> Option<&'static str>;

    /// Whether an index leads to words; else every row that passes otherwise is looked at.
    const HAS_WORD_INDEX: bool;
    const JOIN_WORDS: &'static str;
    const FIND_WORDS: &'static str;
}

impl Table for WorkflowField {
    const TABLE: &'static str = "runs";
    const ID: &'static str = "id";
    const HAS_WORD_INDEX: bool = true;
    const JOIN_WORDS: &'static str = "";
    const FIND_WORDS: &'static str =
        "number IN (SELECT rowid FROM run_words WHERE run_words MATCH ?)";

    fn column(self) -> Result<&'static str, Asked<'static>> {
        match self {
            Self::WorkflowId => Ok("id"),
            Self::Parent => Ok("parent"),
            Self::Correlation => Ok("correlation_id"),
            Self::IdempotencyKey => Ok("idempotency_key"),
            Self::Name => Ok("name"),
            Self::Version => Ok("version"),
            Self::Status => Ok("status"),
            Self::Priority => Ok("priority"),
            Self::Start => Ok("started_at"),
            Self::Update => Ok("updated_at"),
            Self::End => Ok("ended_at"),
            Self::Classifier => Err(Asked::Text(Self::CLASSIFIER)),
        }
    }

    fn only(self) -> Option<&'static str> {
        match self {
            Self::Parent => Some("parent <> x''"),
            Self::Correlation => Some("correlation_id <> ''"),
            Self::IdempotencyKey => Some("idempotency_key <> ''"),
            _ => None,
        }
    }
}

impl Table for TaskField {
    const TABLE: &'static str = "tasks";
    const ID: &'static str = "task";
    const HAS_WORD_INDEX: bool = false;
    const JOIN_WORDS: &'static str = " JOIN task_words ON task_words.number = tasks.number";
    const FIND_WORDS: &'static str = "instr(words, ?) > 0";

    fn column(self) -> Result<&'static str, Asked<'static>> {
        Ok(match self {
            Self::TaskId => "task",
            Self::WorkflowId => "execution",
            Self::WorkflowName => "workflow_name",
            Self::TaskType => "task_type",
            Self::DefinitionName => "ifnull(other_name, task_type)",
            Self::Reference => "reference",
            Self::Status => "status",
            Self::Scheduled => "scheduled_at",
            Self::Start => "started_at",
            Self::Update => "updated_at",
            Self::End => "ended_at",
        })
    }

    fn only(self) -> Option<&'static str> {
        None
    }
}

/// The condition on words, which are in lower case.
pub(super) fn words<F: Table>(text: &str) -> Sql {
    let text = match F::HAS_WORD_INDEX {
        // A phrase of trigrams: the text as it stands, quotes and all.
        true => format!("\"{}\"", text.replace('"', "\"\"")),
        false => text.to_owned(),
    };
    Sql::new(F::FIND_WORDS, [Value::Text(text)])
}

pub(super) fn one<F: Table>(clause: &Clause<F>) -> Sql {
    let column = match clause.field.column() {
        Ok(column) => column,
        Err(constant) => {
            return Sql::new(if clause.test.holds(constant) { "1" } else { "0" }, []);
        }
    };
    let sql = on(column, &clause.test);
    match clause.field.only().filter(|_| is_never_empty(&clause.test)) {
        Some(only) => sql.and(only),
        None => sql,
    }
}

/// What is no plain clause, and leads nowhere.
pub(super) fn criterion<F: Table>(asked: &Criterion<F>) -> Sql {
    let several = |several: &[Criterion<F>], by: &str| {
        let sql = Sql::joined(several.iter().map(criterion).collect(), by);
        Sql { text: format!("({})", sql.text), ..sql }
    };
    match asked {
        Criterion::Clause(clause) => {
            let sql = one(clause);
            // SQLite would see that nothing can be found, and refuse the index it is told to use.
            if sql.is_never() {
                return Sql::new("(? = 1)", [Value::Integer(0)]);
            }
            Sql { text: format!("({})", sql.text), ..sql }
        }
        Criterion::Any(any) => several(any, " OR "),
        Criterion::All(all) => several(all, " AND "),
        Criterion::Not(criterion_inside) => {
            let sql = criterion(criterion_inside);
            Sql { text: format!("NOT {}", sql.text), ..sql }
        }
    }
}

pub(super) fn on(column: &str, test: &Test) -> Sql {
    match test {
        Test::Text(patterns) => texts(column, patterns),
        Test::Id(patterns) => ids(column, patterns),
        Test::Number(numbers) => {
            any_of(column, numbers.iter().map(|number| Value::Integer(*number)))
        }
        Test::Above(bound) => Sql::new(format!("{column} > ?"), [Value::Integer(*bound)]),
        Test::Below(bound) => Sql::new(format!("{column} < ?"), [Value::Integer(*bound)]),
    }
}

/// Whether only values that are there can pass.
pub(super) fn is_never_empty(test: &Test) -> bool {
    match test {
        Test::Text(patterns) => patterns.iter().all(|pattern| !pattern.prefix().is_empty()),
        Test::Id(patterns) => patterns
            .iter()
            .all(|pattern| matches!(pattern, IdPattern::Exact(_) | IdPattern::Between(..))),
        Test::Number(_) | Test::Above(_) | Test::Below(_) => true,
    }
}

fn any_of(column: &str, values: impl Iterator<Item = Value>) -> Sql {
    let values: Vec<_> = values.collect();
    match values.len() {
        0 => Sql::new("0", []),
        1 => Sql::new(format!("{column} = ?"), values),
        count => Sql::new(format!("{column} IN ({})", vec!["?"; count].join(",")), values),
    }
}

fn either(parts: Vec<Sql>) -> Sql {
    let parts: Vec<_> = parts.into_iter().filter(|part| !part.is_never()).collect();
    match parts.len() {
        0 => Sql::new("0", []),
        1 => Sql::joined(parts, ""),
        _ => {
            let sql = Sql::joined(parts, " OR ");
            Sql { text: format!("({})", sql.text), ..sql }
        }
    }
}

fn texts(column: &str, patterns: &[Pattern]) -> Sql {
    let exact = patterns.iter().filter_map(|pattern| match pattern {
        Pattern::Exact(text) => Some(Value::Text(text.clone())),
        Pattern::Like(_) => None,
    });
    let mut parts = vec![any_of(column, exact)];
    for pattern in patterns {
        if let Pattern::Like(like) = pattern {
            parts.push(glob(column, like, pattern.prefix()));
        }
    }
    either(parts)
}

/// The prefix once more as a range, which an index understands.
fn glob(column: &str, like: &str, prefix: &str) -> Sql {
    let escaped: String = like
        .chars()
        .map(|letter| match letter {
            '?' => "[?]".to_owned(),
            '[' => "[[]".to_owned(),
            letter => letter.to_string(),
        })
        .collect();
    let mut text = format!("{column} GLOB ?");
    let mut values = vec![Value::Text(escaped)];
    if !prefix.is_empty() {
        text = format!("{text} AND {column} >= ?");
        values.push(Value::Text(prefix.to_owned()));
        if let Some(after) = after(prefix) {
            text = format!("{text} AND {column} < ?");
            values.push(Value::Text(after));
        }
    }
    Sql::new(format!("({text})"), values)
}

/// The first text after all that begin so.
fn after(prefix: &str) -> Option<String> {
    let mut letters: Vec<char> = prefix.chars().collect();
    while let Some(last) = letters.pop() {
        if let Some(next) = (last..=char::MAX).nth(1) {
            letters.push(next);
            return Some(letters.into_iter().collect());
        }
    }
    None
}

fn ids(column: &str, patterns: &[IdPattern]) -> Sql {
    let mut exact = Vec::new();
    let mut parts = Vec::new();
    for pattern in patterns {
        match pattern {
            IdPattern::Absent => exact.push(Value::Blob(Vec::new())),
            IdPattern::Exact(id) => exact.push(Value::Blob(id.to_vec())),
            IdPattern::Between(low, high) => {
                let ends = [low, high].map(|id| Value::Blob(id.to_vec()));
                parts.push(Sql::new(format!("{column} BETWEEN ? AND ?"), ends));
            }
            IdPattern::Anything => parts.push(Sql::new("1", [])),
            IdPattern::Nothing => {}
        }
    }
    parts.insert(0, any_of(column, exact.into_iter()));
    either(parts)
}
