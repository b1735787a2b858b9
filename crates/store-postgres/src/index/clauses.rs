//! # Clauses: what a search asks for, as SQL

use semel_store::search::{
    Clause, Criterion, Field, IdPattern, Pattern, TaskField, Test, Value as Asked, WorkflowField,
};
use uuid::Uuid;

use super::names;
use crate::asks::Value;

/// A piece of SQL and the values it stands on.
#[derive(Default)]
pub(super) struct Sql {
    pub(super) text: String,
    pub(super) values: Vec<Value<'static>>,
}

impl Sql {
    pub(super) fn push(&mut self, text: &str) {
        self.text.push_str(text);
    }

    /// The place of one more value.
    pub(super) fn value(&mut self, value: Value<'static>) {
        self.values.push(value);
        self.text.push_str(&format!("${}", self.values.len()));
    }
}

/// How a kind of rows is kept.
pub(super) trait Table: Field {
    const TABLE: &'static str;
    const ID: &'static str;
    /// What a hit is told by; the id comes first.
    const FOUND: &'static str;

    /// An error: every row has the same value, this one.
    fn column(self) -> Result<&'static str, Asked<'static>>;

    /// Whether a long value is kept as [`names::kept`] says.
    fn is_name(self) -> bool;

    /// Whether ids of this field are kept as bytes, because there may be none.
    fn may_be_absent(self) -> bool;
}

impl Table for WorkflowField {
    const TABLE: &'static str = "runs";
    const ID: &'static str = "id";
    const FOUND: &'static str = "id";

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

    fn is_name(self) -> bool {
        self == Self::Name
    }

    fn may_be_absent(self) -> bool {
        self == Self::Parent
    }
}

impl Table for TaskField {
    const TABLE: &'static str = "tasks";
    const ID: &'static str = "task";
    const FOUND: &'static str = "task, execution";

    fn column(self) -> Result<&'static str, Asked<'static>> {
        Ok(match self {
            Self::TaskId => "task",
            Self::WorkflowId => "execution",
            Self::WorkflowName => "workflow_name",
            Self::TaskType => "task_type",
            Self::DefinitionName => "definition_name",
            Self::Reference => "reference",
            Self::Status => "status",
            Self::Scheduled => "scheduled_at",
            Self::Start => "started_at",
            Self::Update => "updated_at",
            Self::End => "ended_at",
        })
    }

    fn is_name(self) -> bool {
        matches!(self, Self::TaskType | Self::DefinitionName)
    }

    fn may_be_absent(self) -> bool {
        false
    }
}

/// The condition under which a row passes.
pub(super) fn one<F: Table>(sql: &mut Sql, clause: &Clause<F>) {
    let column = match clause.field.column() {
        Ok(column) => column,
        Err(constant) => {
            return sql.push(if clause.test.holds(constant) { "true" } else { "false" });
        }
    };
    match &clause.test {
        Test::Text(patterns) => texts(sql, column, patterns, clause.field.is_name()),
        Test::Id(patterns) => ids(sql, column, patterns, clause.field.may_be_absent()),
        Test::Number(numbers) => {
            sql.push(&format!("{column}::bigint = ANY ("));
            sql.value(Box::new(numbers.clone()));
            sql.push(")");
        }
        Test::Above(bound) => {
            sql.push(&format!("{column}::bigint > "));
            sql.value(Box::new(*bound));
        }
        Test::Below(bound) => {
            sql.push(&format!("{column}::bigint < "));
            sql.value(Box::new(*bound));
        }
    }
}

/// The condition of what is no plain clause.
pub(super) fn criterion<F: Table>(sql: &mut Sql, asked: &Criterion<F>) {
    let mut several = |several: &[Criterion<F>], by: &str| {
        for (at, inside) in several.iter().enumerate() {
            sql.push(if at == 0 { "(" } else { by });
            criterion(sql, inside);
        }
        sql.push(")");
    };
    match asked {
        Criterion::Any(any) => several(any, " OR "),
        Criterion::All(all) => several(all, " AND "),
        Criterion::Clause(clause) => one(sql, clause),
        Criterion::Not(inside) => {
            sql.push("NOT (");
            criterion(sql, inside);
            sql.push(")");
        }
    }
}

fn texts(sql: &mut Sql, column: &str, patterns: &[Pattern], is_name: bool) {
    let exact = patterns.iter().filter_map(|pattern| match pattern {
        Pattern::Exact(text) if is_name => Some(names::kept(text).into_owned()),
        Pattern::Exact(text) => Some(text.clone()),
        Pattern::Like(_) => None,
    });
    let exact: Vec<String> = exact.filter(|text| !text.contains('\0')).collect();
    sql.push(&format!("({column} = ANY ("));
    sql.value(Box::new(exact));
    sql.push(")");
    for pattern in patterns {
        if let Pattern::Like(like) = pattern
            && !like.contains('\0')
        {
            sql.push(&format!(" OR {column} LIKE "));
            sql.value(Box::new(escaped(like)));
        }
    }
    sql.push(")");
}

/// Only a star stands for something else.
fn escaped(like: &str) -> String {
    let mut text = String::with_capacity(like.len());
    for letter in like.chars() {
        match letter {
            '*' => text.push('%'),
            '%' | '_' | '\\' => text.extend(['\\', letter]),
            letter => text.push(letter),
        }
    }
    text
}

fn ids(sql: &mut Sql, column: &str, patterns: &[IdPattern], may_be_absent: bool) {
    let id = |id: &[u8; 16]| -> Value<'static> {
        match may_be_absent {
            true => Box::new(id.to_vec()),
            false => Box::new(Uuid::from_bytes(*id)),
        }
    };
    sql.push("(false");
    for pattern in patterns {
        match pattern {
            IdPattern::Absent if may_be_absent => sql.push(&format!(" OR {column} = ''")),
            IdPattern::Exact(exact) => {
                sql.push(&format!(" OR {column} = "));
                sql.value(id(exact));
            }
            IdPattern::Between(low, high) => {
                sql.push(&format!(" OR {column} BETWEEN "));
                sql.value(id(low));
                sql.push(" AND ");
                sql.value(id(high));
            }
            IdPattern::Anything => sql.push(" OR true"),
            IdPattern::Absent | IdPattern::Nothing => {}
        }
    }
    sql.push(")");
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_star_is_a_wildcard() {
        assert_eq!(escaped(r"a*b%c_d\e"), r"a%b\%c\_d\\e");
    }
}
