//! # Asking the index: how many, and one page of them

use std::cmp::Ordering;

use rusqlite::types::Value;
use rusqlite::{Connection, Row, params_from_iter};
use semel_store::StoreError;
use semel_store::search::{Direction, Hits, Search};

use super::clauses::{Sql, Table, criterion, words};
use super::plan::{Arm, Planned, arms, kinds};
use crate::fault;
use crate::read::cached;

pub(super) fn page<F: Planned, T>(
    connection: &Connection,
    search: &Search<F>,
    id: impl Fn(&Row<'_>) -> rusqlite::Result<T>,
) -> Result<Hits<T>, StoreError> {
    let arms = arms(search);
    let mut total = 0;
    for count in counts(search, &arms) {
        let mut statement = cached(connection, &count.text)?;
        let values = params_from_iter(count.values);
        total += statement.query_row(values, |row| row.get::<_, usize>(0)).map_err(fault::of)?;
    }
    if total <= search.start || search.size == 0 {
        return Ok(Hits { total, page: Vec::new() });
    }
    let mut found = Vec::new();
    for arm in &arms {
        let select = select(search, arm, arms.len() == 1);
        let mut statement = cached(connection, &select.text)?;
        let read = |row: &Row<'_>| Ok((key(row, search.order.len())?, id(row)?));
        let rows = statement.query_map(params_from_iter(select.values), read).map_err(fault::of)?;
        for row in rows {
            found.push(row.map_err(|error| fault::in_row(error, || "an indexed row".to_owned()))?);
        }
    }
    if arms.len() > 1 {
        found.sort_by(|(a, _), (b, _)| in_order(search, a, b));
        found.drain(..search.start.min(found.len()));
        found.truncate(search.size);
    }
    Ok(Hits { total, page: found.into_iter().map(|(_, id)| id).collect() })
}

/// What rows of several arms are ordered by: the fields of the order, then the id.
fn key(row: &Row<'_>, fields: usize) -> rusqlite::Result<Vec<Value>> {
    (1..=fields).chain([0]).map(|at| row.get(at)).collect()
}

fn in_order<F: Table>(search: &Search<F>, a: &[Value], b: &[Value]) -> Ordering {
    let directions = search.order.iter().map(|(_, direction)| *direction).chain([search.tie()]);
    let each = a.iter().zip(b).zip(directions).map(|((a, b), direction)| {
        let order = match (a, b) {
            (Value::Integer(a), Value::Integer(b)) => a.cmp(b),
            (Value::Text(a), Value::Text(b)) => a.cmp(b),
            (Value::Blob(a), Value::Blob(b)) => a.cmp(b),
            _ => Ordering::Equal, // A column has one type.
        };
        if direction == Direction::Descending { order.reverse() } else { order }
    });
    each.fold(Ordering::Equal, Ordering::then)
}

/// By kinds where it can be, else row by row; what they count is added.
pub(super) fn counts<F: Planned>(search: &Search<F>, arms: &[Arm]) -> Vec<Sql> {
    match kinds(search) {
        _ if arms.is_empty() => Vec::new(),
        Some(kinds) => {
            let condition = if kinds.text.is_empty() { "1" } else { &kinds.text };
            let text =
                format!("SELECT ifnull(sum(number), 0) FROM {} WHERE {condition}", F::COUNTS);
            vec![Sql { text, ..kinds }]
        }
        None => arms.iter().map(|arm| count(search, arm)).collect(),
    }
}

fn count<F: Planned>(search: &Search<F>, arm: &Arm) -> Sql {
    let from = from(search, arm);
    Sql { text: format!("SELECT count(*) FROM {}", from.text), ..from }
}

/// Of several arms each gives the beginning of its rows; where the page begins is seen when they
/// are merged.
pub(super) fn select<F: Planned>(search: &Search<F>, arm: &Arm, is_alone: bool) -> Sql {
    let from = from(search, arm);
    let columns: Vec<_> =
        search.order.iter().map(|(field, _)| field.column().unwrap_or("0")).collect();
    let mut order: Vec<String> = Vec::new();
    let mut is_total = false;
    for (field, direction) in &search.order {
        // Where every value is the same nothing is ordered, and after ids nothing is left to order.
        if let Ok(column) = field.column()
            && !is_total
        {
            order.push(format!("{column} {}", word(*direction)));
            is_total = column == F::ID;
        }
    }
    if !is_total {
        order.push(format!("{} {}", F::ID, word(search.tie())));
    }
    let bound = |number: usize| Value::Integer(i64::try_from(number).unwrap_or(i64::MAX));
    let (limit, offset) = match is_alone {
        true => (search.size, search.start),
        false => (search.start.saturating_add(search.size), 0),
    };
    let mut values = from.values;
    values.extend([bound(limit), bound(offset)]);
    let text = format!(
        "SELECT {}, {} FROM {} ORDER BY {} LIMIT ? OFFSET ?",
        F::ID,
        columns.join(", "),
        from.text,
        order.join(", ")
    );
    Sql { text, values }
}

fn word(direction: Direction) -> &'static str {
    match direction {
        Direction::Ascending => "ASC",
        Direction::Descending => "DESC",
    }
}

fn from<F: Planned>(search: &Search<F>, arm: &Arm) -> Sql {
    let indexed = match arm.index {
        Some(index) => format!(" INDEXED BY {index}"),
        // Words lead to rows by their number; any index would lead to more of them.
        None if F::HAS_WORD_INDEX && search.free_text.is_some() => " NOT INDEXED".to_owned(),
        None => String::new(),
    };
    let found = search.criteria.iter().map(criterion).fold(arm.clauses.clone(), Sql::joining);
    let found = match search.free_text.as_deref() {
        None => found,
        Some(text) => found.joining(words::<F>(text)),
    };
    let join = if search.free_text.is_some() { F::JOIN_WORDS } else { "" };
    let condition = if found.text.is_empty() { "1" } else { &found.text };
    Sql { text: format!("{}{indexed}{join} WHERE {condition}", F::TABLE), values: found.values }
}
