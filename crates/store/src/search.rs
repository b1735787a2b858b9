//! # Search: what is asked of the index
//!
//! The language of `query`, `sort` and `freeText` as the contract has it, read into plain data that
//! every store can answer. Pure: it knows fields, not rows in a database.
//!
//! **May not:** guess. A field nobody knows, or a clause that makes no sense, is refused by name.

mod fields;
mod query;
mod reader;
mod value;

pub use fields::{Field, TaskField, Type, WorkflowField};
pub use value::{IdPattern, Pattern, Test, Value};

/// Free text is found by its trigrams, so it needs at least one.
pub const FREE_TEXT_CHARS_MIN: usize = 3;
pub const FREE_TEXT_BYTES_MAX: usize = 1024;
/// How much of a term an error repeats.
const TERM_CHARS_MAX: usize = 100;
pub const QUERY_BYTES_MAX: usize = 64 * 1024;
pub const CLAUSES_MAX: usize = 50;
/// Groups, and NOTs, inside each other.
pub const NESTING_MAX: usize = 16;
/// Values with a wildcard in all clauses together.
pub const WILDCARDS_MAX: usize = 100;
/// Values in all clauses together.
pub const VALUES_MAX: usize = 1000;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    Ascending,
    Descending,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Clause<F> {
    pub field: F,
    pub test: Test,
}

/// What a query may ask for beside plain clauses.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Criterion<F> {
    Clause(Clause<F>),
    Any(Vec<Self>),
    All(Vec<Self>),
    Not(Box<Self>),
}

/// All of the clauses and criteria hold, and the free text is found. Default: everything.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Search<F> {
    /// Those that an index may lead to.
    pub clauses: Vec<Clause<F>>,
    /// No plain clauses: rows that are found otherwise are looked at one by one.
    pub criteria: Vec<Criterion<F>>,
    /// In lower case.
    pub free_text: Option<String>,
    /// Ties are broken by the id, in the direction of the last of these. Never empty.
    pub order: Vec<(F, Direction)>,
    pub start: usize,
    pub size: usize,
}

pub type WorkflowSearch = Search<WorkflowField>;
pub type TaskSearch = Search<TaskField>;

/// Rows that match: how many there are, and the ids of one page of them, in order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Hits<T> {
    pub total: usize,
    pub page: Vec<T>,
}

/// Why a search is refused; the text is for whoever wrote it.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SearchError {
    #[error("Incorrectly formatted query string: {clause}: {why}")]
    Malformed { clause: String, why: &'static str },
    #[error("unknown field {field:?} in the query; one can search by {known}")]
    UnknownField { field: String, known: String },
    #[error(
        "{field} is not indexed by itself: ask for the value as freeText, which looks into input, \
         output and reason; or start runs with a correlationId or an idempotencyKey and ask for that"
    )]
    NotIndexed { field: String },
    #[error("the query's {field} takes {expected}, not {found:?}")]
    Value { field: &'static str, expected: &'static str, found: String },
    #[error("the query's {field} takes {known}, or * for any text, not {found:?}")]
    Choice { field: &'static str, known: String, found: String },
    #[error(
        "freeText is looked for as it stands, so {term} finds nothing: write query={instead}, or leave \
         the name out"
    )]
    FreeTextTerm { term: String, instead: String },
    #[error("the {what} has more than {max} {unit}; ask for less at a time")]
    TooMuch { what: &'static str, max: usize, unit: &'static str },
    #[error("freeText needs at least {FREE_TEXT_CHARS_MIN} characters, or * for everything")]
    FreeTextShort,
    #[error("freeText must not contain the character NUL; leave it out")]
    FreeTextNul,
}

impl<F: Field> Default for Search<F> {
    fn default() -> Self {
        let order = vec![(F::START, Direction::Descending)];
        let (clauses, criteria) = (Vec::new(), Vec::new());
        Self { clauses, criteria, free_text: None, order, start: 0, size: 100 }
    }
}

impl<F: Field> Search<F> {
    /// Reads the parameters of a search as clients send them.
    pub fn parse(query: &str, free_text: &str, sort: &str) -> Result<Self, SearchError> {
        let order = order(sort);
        let (mut clauses, mut criteria) = (Vec::new(), Vec::new());
        for criterion in query::criteria(query)? {
            match criterion {
                Criterion::Clause(clause) => clauses.push(clause),
                other @ (Criterion::Any(_) | Criterion::All(_) | Criterion::Not(_)) => {
                    criteria.push(other);
                }
            }
        }
        Ok(Self {
            clauses,
            criteria,
            free_text: read_free_text::<F>(free_text)?,
            order: if order.is_empty() { Self::default().order } else { order },
            ..Self::default()
        })
    }

    #[must_use]
    pub fn page(self, start: usize, size: usize) -> Self {
        Self { start, size, ..self }
    }

    /// One more clause: the field is one of these, word for word.
    pub fn and<'a>(
        mut self,
        field: F,
        values: impl IntoIterator<Item = &'a str>,
    ) -> Result<Self, SearchError> {
        let values = values.into_iter().map(|value| (value.to_owned(), true)).collect();
        self.clauses.push(Clause { field, test: query::equals(field, values)? });
        let plain = self.clauses.iter().cloned().map(Criterion::Clause);
        query::check_size(&plain.chain(self.criteria.iter().cloned()).collect::<Vec<_>>())?;
        Ok(self)
    }

    /// Whether a row with these values and words is found.
    pub fn finds<'a>(&self, value: impl Fn(F) -> Value<'a>, words: &str) -> bool {
        self.clauses.iter().all(|clause| clause.test.holds(value(clause.field)))
            && self.criteria.iter().all(|criterion| criterion.holds(&value))
            && self.free_text.as_ref().is_none_or(|text| words.contains(text.as_str()))
    }

    /// The direction in which equals are ordered by id.
    pub fn tie(&self) -> Direction {
        self.order.last().map_or(Direction::Descending, |(_, direction)| *direction)
    }
}

impl<F> Criterion<F> {
    /// The only one, or any of several.
    fn alone_or(mut several: Vec<Self>) -> Self {
        if several.len() == 1 { several.remove(0) } else { Self::Any(several) }
    }

    /// Every test in it, however deep.
    fn tests<'a>(&'a self, tests: &mut Vec<&'a Test>) {
        match self {
            Self::Clause(clause) => tests.push(&clause.test),
            Self::Any(several) | Self::All(several) => {
                several.iter().for_each(|criterion| criterion.tests(tests));
            }
            Self::Not(criterion) => criterion.tests(tests),
        }
    }
}

impl<F: Field> Criterion<F> {
    /// Whether a row with these values passes.
    fn holds<'a>(&self, value: &impl Fn(F) -> Value<'a>) -> bool {
        match self {
            Self::Clause(clause) => clause.test.holds(value(clause.field)),
            Self::Any(several) => several.iter().any(|criterion| criterion.holds(value)),
            Self::All(several) => several.iter().all(|criterion| criterion.holds(value)),
            Self::Not(criterion) => !criterion.holds(value),
        }
    }
}

/// Terms without a direction, or of a field nobody knows, are passed over, as in Conductor.
fn order<F: Field>(sort: &str) -> Vec<(F, Direction)> {
    let mut order: Vec<(F, Direction)> = Vec::new();
    for term in sort.split('|') {
        let Some((name, direction)) = term.split_once(':') else { continue };
        let direction = match direction.trim() {
            word if word.eq_ignore_ascii_case("ASC") => Direction::Ascending,
            word if word.eq_ignore_ascii_case("DESC") => Direction::Descending,
            _ => continue,
        };
        if let Some(field) = F::named(name.trim())
            && !order.iter().any(|(known, _)| *known == field)
        {
            order.push((field, direction));
        }
    }
    order
}

fn read_free_text<F: Field>(text: &str) -> Result<Option<String>, SearchError> {
    let text = text.trim();
    if text.is_empty() || text == "*" {
        return Ok(None);
    }
    if text.len() > FREE_TEXT_BYTES_MAX {
        let max = FREE_TEXT_BYTES_MAX;
        return Err(SearchError::TooMuch { what: "freeText", max, unit: "bytes" });
    }
    if text.contains('\0') {
        return Err(SearchError::FreeTextNul);
    }
    if let Some((name, value)) = term_of::<F>(text) {
        let shown: String = value.chars().take(TERM_CHARS_MAX).collect();
        let (term, instead) = (format!("{name}:{shown}"), format!("{name}={shown}"));
        return Err(SearchError::FreeTextTerm { term, instead });
    }
    let text = text.to_lowercase();
    if text.chars().count() < FREE_TEXT_CHARS_MIN {
        return Err(SearchError::FreeTextShort);
    }
    Ok(Some(text))
}

/// A term of the languages that search engines have: `workflowType:order`.
fn term_of<F: Field>(text: &str) -> Option<(&str, &str)> {
    let terms =
        text.split_whitespace().filter_map(|word| word.trim_matches(['(', ')']).split_once(':'));
    terms.into_iter().find(|(name, value)| F::named(name).is_some() && !value.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn free_text_in_the_language_of_a_search_engine_is_refused() {
        let parse = |text: &str| WorkflowSearch::parse("", text, "").map(|it| it.free_text);
        let refused = parse("workflowType:q AND status:RUNNING").unwrap_err().to_string();
        assert!(refused.contains("write query=workflowType=q"), "{refused}");
        assert!(parse("(status:FAILED)").is_err());
        for found in ["12:30", "\"status\":\"ok\"", "status: late", "http://a", "colour:red"] {
            assert_eq!(parse(found), Ok(Some(found.to_lowercase())), "{found}");
        }
    }

    fn sorted(sort: &str) -> Vec<(WorkflowField, Direction)> {
        WorkflowSearch::parse("", "*", sort).unwrap().order
    }

    #[test]
    fn terms_of_the_order_that_say_nothing_are_passed_over() {
        use Direction::{Ascending, Descending};
        use WorkflowField::{Start, WorkflowId};
        let newest_first = [(Start, Descending)];
        for nothing in ["", "startTime", "ASC", "owner:ASC", "startTime:UP", ":", "||", "None"] {
            assert_eq!(sorted(nothing), newest_first, "{nothing}");
        }
        assert_eq!(sorted("workflowId:asc"), [(WorkflowId, Ascending)]);
        let both = [(Start, Ascending), (WorkflowId, Descending)];
        assert_eq!(sorted(" startTime:ASC|x:ASC|workflowId : Desc|startTime:DESC"), both);
    }

    #[test]
    fn a_star_or_nothing_is_no_free_text_and_a_short_one_is_refused() {
        let parse = |text: &str| WorkflowSearch::parse("", text, "");
        for none in ["*", "", "  ", " * "] {
            assert_eq!(parse(none).unwrap().free_text, None);
        }
        assert_eq!(parse(" ÄbC ").unwrap().free_text.as_deref(), Some("äbc"));
        assert_eq!(parse("ab"), Err(SearchError::FreeTextShort));
        assert_eq!(parse("a\0bc"), Err(SearchError::FreeTextNul));
        assert!(matches!(parse(&"x".repeat(2000)), Err(SearchError::TooMuch { .. })));
    }

    #[test]
    fn wildcards_are_few() {
        let query = |count: usize| format!("workflowType IN ({})", vec!["a*"; count].join(","));
        assert!(WorkflowSearch::parse(&query(WILDCARDS_MAX), "", "").is_ok());
        let refused = WorkflowSearch::parse(&query(WILDCARDS_MAX + 1), "", "");
        assert!(matches!(refused, Err(SearchError::TooMuch { unit: "wildcards", .. })));
    }

    #[test]
    fn values_given_one_by_one_are_taken_word_for_word() {
        let search = WorkflowSearch::default().and(WorkflowField::Correlation, ["a*'(,"]).unwrap();
        let expected = Test::Text(vec![Pattern::Exact("a*'(,".to_owned())]);
        assert_eq!(search.clauses[0].test, expected);
        let refused = WorkflowSearch::default().and(WorkflowField::Version, ["x"]);
        assert!(matches!(refused, Err(SearchError::Value { field: "version", .. })));
    }
}
