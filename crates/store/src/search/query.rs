//! # The query: clauses joined by AND, read from text
//!
//! As liberal as the clients are sloppy (blanks, quotes and parentheses wherever they may be), and
//! strict where a guess would find the wrong rows.

use super::fields::{Field, Type};
use super::value::{IdPattern, Pattern, Test};
use super::{CLAUSES_MAX, Clause, QUERY_BYTES_MAX, SearchError, VALUES_MAX, WILDCARDS_MAX};

/// How much of a bad query an error repeats.
const SHOWN_CHARS_MAX: usize = 100;

pub(super) fn clauses<F: Field>(query: &str) -> Result<Vec<Clause<F>>, SearchError> {
    if query.len() > QUERY_BYTES_MAX {
        return Err(SearchError::TooMuch { what: "query", max: QUERY_BYTES_MAX, unit: "bytes" });
    }
    let mut reader = Reader { rest: query.trim() };
    let mut clauses = Vec::new();
    // Python writes an absent query so.
    if reader.rest.is_empty() || reader.rest == "None" {
        return Ok(clauses);
    }
    loop {
        clauses.push(reader.clause()?);
        check_size(&clauses)?;
        if reader.rest.is_empty() {
            return Ok(clauses);
        }
        reader.and()?;
    }
}

pub(super) fn check_size<F>(clauses: &[Clause<F>]) -> Result<(), SearchError> {
    let values: usize = clauses.iter().map(|clause| clause.test.len()).sum();
    if values > VALUES_MAX {
        return Err(SearchError::TooMuch { what: "query", max: VALUES_MAX, unit: "values" });
    }
    let wildcards: usize = clauses.iter().map(|clause| clause.test.wildcards()).sum();
    if wildcards > WILDCARDS_MAX {
        return Err(SearchError::TooMuch { what: "query", max: WILDCARDS_MAX, unit: "wildcards" });
    }
    if clauses.len() > CLAUSES_MAX {
        return Err(SearchError::TooMuch { what: "query", max: CLAUSES_MAX, unit: "clauses" });
    }
    Ok(())
}

/// Any of these texts, each with whether it is to be taken word for word.
pub(super) fn equals<F: Field>(field: F, values: Vec<(String, bool)>) -> Result<Test, SearchError> {
    let values = values.into_iter();
    match field.kind() {
        Type::Text => {
            let read = |(text, literal)| Pattern::read(text, literal);
            Ok(Test::Text(values.map(read).collect()))
        }
        Type::Id => {
            let read = |(text, literal): (String, bool)| {
                let expected = "an id, or the beginning of one with * at its end";
                IdPattern::read(&text, literal).ok_or(wrong(field, expected, text))
            };
            values.map(read).collect::<Result<_, _>>().map(Test::Id)
        }
        Type::Number | Type::Time => {
            values.map(|(text, _)| number(field, text)).collect::<Result<_, _>>().map(Test::Number)
        }
    }
}

fn number<F: Field>(field: F, text: String) -> Result<i64, SearchError> {
    let expected = match field.kind() {
        Type::Time => "milliseconds since 1970",
        Type::Number | Type::Text | Type::Id => "a whole number",
    };
    text.parse().map_err(|_| wrong(field, expected, text))
}

fn wrong<F: Field>(field: F, expected: &'static str, found: String) -> SearchError {
    let found = found.chars().take(SHOWN_CHARS_MAX).collect();
    SearchError::Value { field: field.name(), expected, found }
}

enum Operator {
    AnyOf,
    Above,
    Below,
}

struct Reader<'a> {
    rest: &'a str,
}

impl<'a> Reader<'a> {
    fn clause<F: Field>(&mut self) -> Result<Clause<F>, SearchError> {
        let clause = self.rest;
        let name = self.name(clause)?;
        let operator = self.operator(clause)?;
        let field = F::named(name).ok_or_else(|| unknown::<F>(name))?;
        self.skip_blanks();
        let mut values = match self.rest.strip_prefix('(') {
            Some(rest) => {
                self.rest = rest;
                self.list(clause)?
            }
            None => self.loose(clause)?,
        };
        let test = match (operator, field.kind()) {
            (Operator::AnyOf, _) => equals(field, values)?,
            (Operator::Above | Operator::Below, Type::Text | Type::Id) => {
                return Err(malformed(clause, "only times and numbers are compared with < and >"));
            }
            (operator, Type::Number | Type::Time) => {
                let bound = values.pop().map(|(text, _)| number(field, text)).transpose()?;
                match (operator, bound) {
                    (Operator::Above, Some(bound)) if values.is_empty() => Test::Above(bound),
                    (_, Some(bound)) if values.is_empty() => Test::Below(bound),
                    _ => return Err(malformed(clause, "< and > take one value")),
                }
            }
        };
        Ok(Clause { field, test })
    }

    fn name(&mut self, clause: &str) -> Result<&'a str, SearchError> {
        self.skip_blanks();
        let is_part = |letter: char| letter.is_alphanumeric() || matches!(letter, '_' | '.' | '-');
        let end = self.rest.find(|letter| !is_part(letter)).unwrap_or(self.rest.len());
        let (name, rest) = self.rest.split_at(end);
        self.rest = rest;
        match name {
            "" => Err(malformed(clause, "a clause is a field, then =, <, > or IN, then a value")),
            name => Ok(name),
        }
    }

    fn operator(&mut self, clause: &str) -> Result<Operator, SearchError> {
        self.skip_blanks();
        if let Some(word) = self.rest.get(..2).filter(|word| word.eq_ignore_ascii_case("IN"))
            && !self.rest[word.len()..].starts_with(|letter: char| letter.is_alphanumeric())
        {
            self.rest = &self.rest[word.len()..];
            return Ok(Operator::AnyOf);
        }
        let operator = match self.rest.chars().next() {
            Some('=') => Operator::AnyOf,
            Some('>') => Operator::Above,
            Some('<') => Operator::Below,
            Some('!') => return Err(malformed(clause, "!= is not understood; use =, <, > or IN")),
            _ => return Err(malformed(clause, "after the field comes =, <, > or IN")),
        };
        self.rest = &self.rest[1..];
        match self.rest.starts_with(['=', '>', '<']) {
            true => Err(malformed(clause, ">=, <= and <> are not understood; use =, <, > or IN")),
            false => Ok(operator),
        }
    }

    /// After an opening parenthesis, up to the closing one.
    fn list(&mut self, clause: &str) -> Result<Vec<(String, bool)>, SearchError> {
        let mut values = Vec::new();
        loop {
            self.rest = self.rest.trim_start_matches([' ', '(']);
            let value = match self.quoted(clause)? {
                Some(value) => value,
                None => {
                    let end = self.rest.find([',', ')']).unwrap_or(self.rest.len());
                    self.word(clause, end)?
                }
            };
            values.push((value, false));
            self.skip_blanks();
            let mut letters = self.rest.chars();
            let next = letters.next();
            self.rest = letters.as_str();
            match next {
                Some(',') => {}
                Some(')') => {
                    self.rest = self.rest.trim_start_matches(')');
                    return Ok(values);
                }
                Some(_) => return Err(malformed(clause, "values are separated by commas")),
                None => return Err(malformed(clause, "a parenthesis is not closed")),
            }
        }
    }

    /// Values without parentheses, up to the next AND.
    fn loose(&mut self, clause: &str) -> Result<Vec<(String, bool)>, SearchError> {
        let mut values = Vec::new();
        loop {
            let value = match self.quoted(clause)? {
                Some(value) => value,
                None => self.word(clause, end_of_loose(self.rest))?,
            };
            values.push((value, false));
            self.skip_blanks();
            match self.rest.strip_prefix(',') {
                Some(rest) => self.rest = rest,
                None => return Ok(values),
            }
        }
    }

    /// None: what follows is not quoted.
    fn quoted(&mut self, clause: &str) -> Result<Option<String>, SearchError> {
        self.skip_blanks();
        let quote = self.rest.chars().next().filter(|letter| matches!(letter, '\'' | '"'));
        let Some(quote) = quote else { return Ok(None) };
        let rest = &self.rest[1..];
        let end = rest.find(quote).ok_or_else(|| malformed(clause, "a quote is not closed"))?;
        self.rest = &rest[end + 1..];
        Ok(Some(rest[..end].to_owned()))
    }

    /// Everything up to `end`. A word that was meant to join clauses is not taken for a value.
    fn word(&mut self, clause: &str, end: usize) -> Result<String, SearchError> {
        let (value, rest) = self.rest.split_at(end);
        self.rest = rest;
        let stray =
            |letter: char| letter.is_whitespace() || matches!(letter, '\'' | '"' | '(' | ')');
        let value = value.trim_matches(stray);
        let joins = |word: &str| ["and", "or"].iter().any(|join| word.eq_ignore_ascii_case(join));
        if value.split_whitespace().count() > 1 && value.split_whitespace().any(joins) {
            let why = "clauses are joined by AND, in capitals; a value with such a word is quoted";
            return Err(malformed(clause, why));
        }
        Ok(value.to_owned())
    }

    fn and(&mut self) -> Result<(), SearchError> {
        let here = self.rest;
        self.skip_blanks();
        match self.rest.strip_prefix("AND").filter(|rest| rest.starts_with(char::is_whitespace)) {
            Some(rest) => {
                self.rest = rest;
                Ok(())
            }
            None => Err(malformed(here, "clauses are joined by AND, in capitals")),
        }
    }

    fn skip_blanks(&mut self) {
        self.rest = self.rest.trim_start();
    }
}

/// A comma, or an AND that stands alone.
fn end_of_loose(text: &str) -> usize {
    let ends = |(at, letter): &(usize, char)| {
        let joined = || text[*at..].trim_start().strip_prefix("AND");
        *letter == ','
            || letter.is_whitespace()
                && joined().is_some_and(|rest| rest.starts_with(char::is_whitespace))
    };
    text.char_indices().find(ends).map_or(text.len(), |(at, _)| at)
}

fn malformed(clause: &str, why: &'static str) -> SearchError {
    let clause = clause.trim().chars().take(SHOWN_CHARS_MAX).collect();
    SearchError::Malformed { clause, why }
}

fn unknown<F: Field>(name: &str) -> SearchError {
    let known: Vec<_> = F::NAMES.iter().map(|(name, _)| *name).collect();
    let field = name.chars().take(SHOWN_CHARS_MAX).collect();
    SearchError::UnknownField { field, known: known.join(", ") }
}

#[cfg(test)]
mod tests {
    use super::super::{TaskField, WorkflowField};
    use super::*;

    fn read(query: &str) -> Result<Vec<(WorkflowField, Test)>, SearchError> {
        let read = clauses::<WorkflowField>(query)?;
        Ok(read.into_iter().map(|clause| (clause.field, clause.test)).collect())
    }

    fn texts(values: &[&str]) -> Test {
        Test::Text(values.iter().map(|text| Pattern::read((*text).to_owned(), false)).collect())
    }

    #[test]
    fn a_value_may_be_written_in_many_ways() {
        use WorkflowField::{Correlation, Name, Status};
        for query in [
            "workflowType=wf",
            "workflowType = wf",
            "  workflowType =\twf  ",
            "workflowType='wf'",
            "workflowType = \"wf\" ",
            "workflowType IN (wf)",
            "workflowType IN(wf)",
            "workflowType IN ( 'wf' )",
            "workflowType IN ((wf))",
            "workflowType = (wf)",
            "workflowType in wf",
        ] {
            assert_eq!(read(query), Ok(vec![(Name, texts(&["wf"]))]), "{query}");
        }
        let both = [(Status, texts(&["RUNNING"])), (Correlation, texts(&["x"]))];
        assert_eq!(read(" status IN (RUNNING) AND correlationId = \"x\" "), Ok(both.into()));
        let several = Ok(vec![(Status, texts(&["RUNNING", "FAILED"]))]);
        for query in
            ["status IN (RUNNING, FAILED)", "status IN RUNNING,FAILED", "status='RUNNING' , FAILED"]
        {
            assert_eq!(read(query), several, "{query}");
        }
    }

    #[test]
    fn nothing_is_no_clause() {
        for query in ["", "  ", "None"] {
            assert_eq!(read(query), Ok(vec![]));
        }
    }

    #[test]
    fn what_is_quoted_is_one_value() {
        let correlation = |query: &str| read(query).unwrap()[0].1.clone();
        assert_eq!(correlation("correlationId='a, b AND c'"), texts(&["a, b AND c"]));
        assert_eq!(correlation("correlationId IN ('a)', \"o'b\")"), texts(&["a)", "o'b"]));
        assert_eq!(correlation("correlationId=dGVzdA=="), texts(&["dGVzdA=="]));
        assert_eq!(correlation("correlationId=''"), texts(&[""]));
        assert_eq!(correlation("correlationId="), texts(&[""]));
        assert_eq!(correlation("correlationId=ANDERS AND status=x"), texts(&["ANDERS"]));
        assert_eq!(correlation("correlationId=my order"), texts(&["my order"]));
    }

    #[test]
    fn times_and_numbers_are_compared() {
        use WorkflowField::{Start, Update, Version};
        let range = [(Start, Test::Above(5)), (Start, Test::Below(-9))];
        assert_eq!(read("startTime>5 AND startTime < '-9'"), Ok(range.into()));
        assert_eq!(read("modifiedTime=7"), Ok(vec![(Update, Test::Number(vec![7]))]));
        assert_eq!(read("version IN (1, 2)"), Ok(vec![(Version, Test::Number(vec![1, 2]))]));
    }

    #[test]
    fn what_makes_no_sense_is_refused_by_name() {
        let said = |query: &str| read(query).unwrap_err().to_string();
        for query in [
            "status",
            "=x",
            "status RUNNING",
            "status >= 1",
            "status != RUNNING",
            "startTime <= 7",
            "status IN (RUNNING",
            "status='RUNNING",
            "status='a' b",
            "status=a AND",
            "status=a OR status=b",
            "status=a and status=b",
            "AND",
            "workflowType > a",
            "startTime > 1,2",
            "(status=a)",
            "startTime BETWEEN 1 AND 2",
        ] {
            let said = said(query);
            assert!(said.starts_with("Incorrectly formatted query string: "), "{query}: {said}");
        }
        let expected = "the query's startTime takes milliseconds since 1970, not \"yesterday\"";
        assert_eq!(said("startTime > yesterday"), expected);
        assert!(said("version=one").contains("version takes a whole number"));
        assert!(said("workflowId=*x").contains("workflowId takes an id"));
        let unknown = said("owner=me");
        assert!(unknown.starts_with("unknown field \"owner\""), "{unknown}");
        assert!(unknown.contains("workflowId, workflowType,"), "{unknown}");
        assert!(clauses::<TaskField>("correlationId=x").is_err());
        assert!(clauses::<TaskField>("referenceTaskName=x").is_ok());
    }

    /// Pieces that look like queries when thrown together.
    const PIECES: [&str; 24] = [
        "status",
        "startTime",
        "workflowId",
        "x",
        "=",
        ">",
        "<",
        " IN ",
        "(",
        ")",
        ",",
        "'",
        "\"",
        " ",
        " AND ",
        "AND",
        " OR ",
        "*",
        "1",
        "-",
        "é\u{1F600}",
        "\0",
        "RUNNING",
        "0190c0de-*",
    ];

    proptest::proptest! {
        #[test]
        fn no_query_makes_the_reader_panic(
            picks in proptest::collection::vec(0..PIECES.len(), 0..30), noise in ".*"
        ) {
            let query: String = picks.iter().map(|at| PIECES[*at]).collect();
            for text in [query.clone() + &noise, noise + &query] {
                for clause in clauses::<WorkflowField>(&text).unwrap_or_default() {
                    clause.test.holds(super::super::Value::Text("RUNNING"));
                }
                let _ = clauses::<TaskField>(&text);
            }
        }

        #[test]
        fn a_quoted_value_is_read_as_it_was_written(value in "[^\"]*", other in "[^']*") {
            let query = format!("status = \"{value}\" AND correlationId IN ('{other}')");
            let expected = [&value, &other].map(|text| texts(&[text]));
            let found = read(&query).unwrap();
            proptest::prop_assert_eq!(found.into_iter().map(|it| it.1).collect::<Vec<_>>(), expected);
        }
    }

    #[test]
    fn a_query_has_limits() {
        let many = format!("status IN ({})", vec!["x"; VALUES_MAX + 1].join(","));
        assert!(matches!(read(&many), Err(SearchError::TooMuch { unit: "values", .. })));
        let long = vec!["status=x"; CLAUSES_MAX + 1].join(" AND ");
        assert!(matches!(read(&long), Err(SearchError::TooMuch { unit: "clauses", .. })));
        let large = "x".repeat(QUERY_BYTES_MAX + 1);
        assert!(matches!(read(&large), Err(SearchError::TooMuch { unit: "bytes", .. })));
    }
}
