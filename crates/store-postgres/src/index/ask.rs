//! # Asking the index: how many, and one page of them

use semel_store::StoreError;
use semel_store::search::{Direction, Search};
use tokio_postgres::Row;
use tokio_postgres::types::ToSql;

use super::clauses::{Sql, Table, criterion, one};
use crate::asks::Session;
use crate::columns::limit;
use crate::fault;
use crate::readers::Readers;

/// How many are found, and the rows of the page.
pub(super) fn page<F: Table>(
    readers: &Readers,
    search: &Search<F>,
) -> Result<(usize, Vec<Row>), StoreError> {
    let counted = readers.read(async |session| {
        let mut count = Sql::default();
        count.push("SELECT count(*)");
        found_by(&mut count, search);
        query(session, &count).await
    })?;
    let counted = counted.first().map_or(Ok(0), |row| row.try_get::<_, i64>(0));
    let total = usize::try_from(counted.map_err(fault::of)?).unwrap_or(0);
    if total <= search.start || search.size == 0 {
        return Ok((total, Vec::new()));
    }
    let page = readers.read(async |session| query(session, &select(search)).await)?;
    Ok((total, page))
}

/// Searches are of many shapes, so they are prepared each time.
async fn query(session: &Session, sql: &Sql) -> Result<Vec<Row>, tokio_postgres::Error> {
    let values: Vec<&(dyn ToSql + Sync)> = sql.values.iter().map(|value| &**value).collect();
    session.client.query(&sql.text, &values).await
}

fn select<F: Table>(search: &Search<F>) -> Sql {
    let mut sql = Sql::default();
    sql.push(&format!("SELECT {}", F::FOUND));
    found_by(&mut sql, search);
    sql.push(" ORDER BY ");
    for (field, direction) in &search.order {
        // Where every value is the same nothing is ordered.
        if let Ok(column) = field.column() {
            sql.push(&format!("{column} {}, ", word(*direction)));
        }
    }
    sql.push(&format!("{} {} LIMIT ", F::ID, word(search.tie())));
    sql.value(Box::new(limit(search.size)));
    sql.push(" OFFSET ");
    sql.value(Box::new(limit(search.start)));
    sql
}

fn found_by<F: Table>(sql: &mut Sql, search: &Search<F>) {
    sql.push(&format!(" FROM {} WHERE true", F::TABLE));
    for clause in &search.clauses {
        sql.push(" AND ");
        one(sql, clause);
    }
    for asked in &search.criteria {
        sql.push(" AND ");
        criterion(sql, asked);
    }
    if let Some(text) = &search.free_text {
        sql.push(" AND strpos(words, ");
        sql.value(Box::new(text.clone()));
        sql.push(") > 0");
    }
}

fn word(direction: Direction) -> &'static str {
    match direction {
        Direction::Ascending => "ASC",
        Direction::Descending => "DESC",
    }
}
