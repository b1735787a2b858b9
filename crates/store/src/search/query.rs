//! # The query: clauses joined by AND, OR and NOT, read from text
//!
//! As in SQL: NOT binds before AND, AND before OR, and parentheses group. What a single clause may
//! look like is read in `reader.rs`.

use super::fields::{Field, Type};
use super::reader::{Join, Operator, Reader, malformed};
use super::value::{IdPattern, Pattern, Test};
use super::{CLAUSES_MAX, Clause, Criterion, QUERY_BYTES_MAX, SearchError, VALUES_MAX};
use super::{NESTING_MAX, WILDCARDS_MAX};

/// How much of a bad query an error repeats.
pub(super) const SHOWN_CHARS_MAX: usize = 100;

/// All of these hold.
pub(super) fn criteria<F: Field>(query: &str) -> Result<Vec<Criterion<F>>, SearchError> {
    if query.len() > QUERY_BYTES_MAX {
        return Err(SearchError::TooMuch { what: "query", max: QUERY_BYTES_MAX, unit: "bytes" });
    }
    let mut reader = Reader::of(query.trim(), |name| F::named(name).is_some());
    // Python writes an absent query so.
    if reader.is_at_end() || query.trim() == "None" {
        return Ok(Vec::new());
    }
    let read = any(&mut reader)?;
    if !reader.is_at_end() {
        return Err(reader.malformed("a parenthesis is closed that was not opened"));
    }
    let read = match read {
        Criterion::All(all) => all,
        one @ (Criterion::Clause(_) | Criterion::Any(_) | Criterion::Not(_)) => vec![one],
    };
    check_size(&read)?;
    Ok(read)
}

fn any<F: Field>(reader: &mut Reader<'_>) -> Result<Criterion<F>, SearchError> {
    let mut several = vec![all(reader)?];
    while reader.joined_by(Join::Or)? {
        several.push(all(reader)?);
        check_size(&several)?;
    }
    Ok(one_of(several))
}

fn all<F: Field>(reader: &mut Reader<'_>) -> Result<Criterion<F>, SearchError> {
    let mut several = vec![single(reader)?];
    while reader.joined_by(Join::And)? {
        several.push(single(reader)?);
        check_size(&several)?;
    }
    match <[Criterion<F>; 1]>::try_from(several) {
        Ok([alone]) => Ok(alone),
        Err(several) => Ok(Criterion::All(several)),
    }
}

fn single<F: Field>(reader: &mut Reader<'_>) -> Result<Criterion<F>, SearchError> {
    if reader.is_negated() {
        reader.descend(NESTING_MAX)?;
        let read = Criterion::Not(Box::new(single(reader)?));
        reader.ascend();
        return Ok(read);
    }
    if reader.opens_group() {
        reader.descend(NESTING_MAX)?;
        let read = any(reader)?;
        reader.ascend();
        reader.close_group()?;
        return Ok(read);
    }
    clause(reader)
}

/// Several values of one field are one clause, which an index can lead to.
fn one_of<F: Field>(mut several: Vec<Criterion<F>>) -> Criterion<F> {
    let mut merged: Option<Clause<F>> = None;
    for criterion in &several {
        let Criterion::Clause(clause) = criterion else { return Criterion::alone_or(several) };
        merged = match merged {
            None => Some(clause.clone()),
            Some(before) if before.field == clause.field => {
                match before.test.or(clause.test.clone()) {
                    Some(test) => Some(Clause { field: before.field, test }),
                    None => return Criterion::alone_or(several),
                }
            }
            Some(_) => return Criterion::alone_or(several),
        };
    }
    merged.map_or_else(|| several.remove(0), Criterion::Clause)
}

pub(super) fn check_size<F>(criteria: &[Criterion<F>]) -> Result<(), SearchError> {
    let mut tests = Vec::new();
    criteria.iter().for_each(|criterion| criterion.tests(&mut tests));
    let too_much = |max, unit| Err(SearchError::TooMuch { what: "query", max, unit });
    if tests.iter().map(|test| test.len()).sum::<usize>() > VALUES_MAX {
        return too_much(VALUES_MAX, "values");
    }
    if tests.iter().map(|test| test.wildcards()).sum::<usize>() > WILDCARDS_MAX {
        return too_much(WILDCARDS_MAX, "wildcards");
    }
    if tests.len() > CLAUSES_MAX {
        return too_much(CLAUSES_MAX, "clauses");
    }
    Ok(())
}

/// A field, an operator and values.
fn clause<F: Field>(reader: &mut Reader<'_>) -> Result<Criterion<F>, SearchError> {
    let text = reader.rest();
    let name = reader.name()?;
    let operator = reader.operator(text)?;
    let field = F::named(name).ok_or_else(|| unknown::<F>(name))?;
    let values = reader.values(text)?;
    let is = |test| Criterion::Clause(Clause { field, test });
    let is_not = |test| Criterion::Not(Box::new(is(test)));
    let test = match (operator, field.kind()) {
        (Operator::AnyOf, _) => return equals(field, values).map(is),
        (Operator::NoneOf, _) => return equals(field, values).map(is_not),
        (_, Type::Text | Type::Id) => {
            let why = "only times and numbers are compared with <, >, <= and >=";
            return Err(malformed(text, why));
        }
        (operator, Type::Number | Type::Time) => {
            let Ok([(bound, _)]) = <[_; 1]>::try_from(values) else {
                return Err(malformed(text, "<, >, <= and >= take one value"));
            };
            (operator, number(field, bound)?)
        }
    };
    // A bound that is included is the next one that is not, except at the ends of all numbers.
    Ok(match test {
        (Operator::Above, bound) => is(Test::Above(bound)),
        (Operator::AtLeast, bound) => bound
            .checked_sub(1)
            .map_or_else(|| is_not(Test::Below(bound)), |it| is(Test::Above(it))),
        (Operator::AtMost, bound) => bound
            .checked_add(1)
            .map_or_else(|| is_not(Test::Above(bound)), |it| is(Test::Below(it))),
        (Operator::Below | Operator::AnyOf | Operator::NoneOf, bound) => is(Test::Below(bound)),
    })
}

/// Any of these texts, each with whether it is to be taken word for word.
pub(super) fn equals<F: Field>(field: F, values: Vec<(String, bool)>) -> Result<Test, SearchError> {
    let values = values.into_iter();
    match field.kind() {
        Type::Text => {
            let choices = field.choices();
            let read = |(text, literal): (String, bool)| {
                let pattern = Pattern::read(text.clone(), literal);
                let may_be = choices.iter().any(|choice| pattern.matches(choice));
                if choices.is_empty() || may_be { Ok(pattern) } else { Err(none_of(field, &text)) }
            };
            values.map(read).collect::<Result<_, _>>().map(Test::Text)
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

/// A value that no row has: what is meant would not be found.
fn none_of<F: Field>(field: F, found: &str) -> SearchError {
    let found = found.chars().take(SHOWN_CHARS_MAX).collect();
    SearchError::Choice { field: field.name(), known: field.choices().join(", "), found }
}

/// What is not indexed by itself can still be found, and the error says how.
fn unknown<F: Field>(name: &str) -> SearchError {
    let field: String = name.chars().take(SHOWN_CHARS_MAX).collect();
    let is_data = ["input", "output", "variables"].iter().any(|data| {
        let rest = name.strip_prefix(data);
        rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
    });
    if is_data {
        return SearchError::NotIndexed { field };
    }
    let known: Vec<_> = F::NAMES.iter().map(|(name, _)| *name).collect();
    SearchError::UnknownField { field, known: known.join(", ") }
}

#[cfg(test)]
mod tests {
    use super::super::{TaskField, WorkflowField};
    use super::*;

    /// Of a query that is nothing but clauses.
    fn read(query: &str) -> Result<Vec<(WorkflowField, Test)>, SearchError> {
        let plain = |criterion| match criterion {
            Criterion::Clause(clause) => (clause.field, clause.test),
            other @ (Criterion::Any(_) | Criterion::All(_) | Criterion::Not(_)) => {
                panic!("{other:?}")
            }
        };
        Ok(criteria::<WorkflowField>(query)?.into_iter().map(plain).collect())
    }

    /// As it is grouped, with the first letter of each value.
    fn grouped(query: &str) -> String {
        fn shown(criterion: &Criterion<WorkflowField>) -> String {
            let list = |several: &[Criterion<WorkflowField>], by: &str| {
                let shown: Vec<_> = several.iter().map(shown).collect();
                format!("({})", shown.join(by))
            };
            match criterion {
                Criterion::Clause(clause) => match &clause.test {
                    Test::Text(values) => {
                        values.iter().map(Pattern::prefix).collect::<Vec<_>>().join(",")
                    }
                    other @ (Test::Id(_) | Test::Number(_) | Test::Above(_) | Test::Below(_)) => {
                        format!("{other:?}")
                    }
                },
                Criterion::Any(several) => list(several, " or "),
                Criterion::All(several) => list(several, " and "),
                Criterion::Not(criterion) => format!("not {}", shown(criterion)),
            }
        }
        let read = criteria::<WorkflowField>(query).unwrap();
        read.iter().map(shown).collect::<Vec<_>>().join("; ")
    }

    #[test]
    fn not_binds_before_and_and_and_before_or() {
        for (query, expected) in [
            ("classifier=a AND workflowType=b", "a; b"),
            ("classifier=a OR workflowType=b", "(a or b)"),
            ("classifier=a AND workflowType=b OR correlationId=c", "((a and b) or c)"),
            ("classifier=a AND (workflowType=b OR correlationId=c)", "a; (b or c)"),
            ("NOT classifier=a AND workflowType=b", "not a; b"),
            ("NOT (classifier=a AND workflowType=b)", "not (a and b)"),
            ("NOT(classifier=a)OR workflowType=b", "(not a or b)"),
            ("(classifier='a')", "a"),
            ("((classifier IN ((a), b)) AND (workflowType = c))", "a,b; c"),
            ("(workflowType=c OR classifier IN (a,b))", "(c or a,b)"),
            ("classifier != a", "not a"),
            ("classifier <> a AND workflowType NOT IN (b, c)", "not a; not b,c"),
            ("NOT NOT classifier=a", "not not a"),
        ] {
            assert_eq!(grouped(query), expected, "{query}");
        }
    }

    #[test]
    fn several_values_of_one_field_are_one_clause() {
        for query in [
            "classifier=a OR classifier=b",
            "(classifier=a OR classifier=b)",
            "classifier IN (a) OR classifier=b",
        ] {
            assert_eq!(
                read(query),
                Ok(vec![(WorkflowField::Classifier, texts(&["a", "b"]))]),
                "{query}"
            );
        }
        let either = read("version=1 OR version=2 OR version IN (3)").unwrap();
        assert_eq!(either, [(WorkflowField::Version, Test::Number(vec![1, 2, 3]))]);
        assert_eq!(grouped("version > 1 OR version < 0"), "(Above(1) or Below(0))");
    }

    #[test]
    fn bounds_may_be_included() {
        assert_eq!(grouped("startTime >= 5 AND startTime<=9"), "Above(4); Below(10)");
        let ends = format!("priority >= {} AND priority <= {}", i64::MIN, i64::MAX);
        let expected = format!("not Below({}); not Above({})", i64::MIN, i64::MAX);
        assert_eq!(grouped(&ends), expected);
    }

    #[test]
    fn what_is_not_understood_says_how_to_ask_instead() {
        let said = |query: &str| criteria::<WorkflowField>(query).unwrap_err().to_string();
        for (query, words) in [
            ("startTime BETWEEN 1 AND 2", ">= and <="),
            ("workflowType LIKE 'a%'", "= with *"),
            ("status == RUNNING", "write ="),
            ("parentWorkflowId IS NULL", "= ''"),
            ("classifier=a or classifier=b", "in capitals"),
            ("input.city=Bern", "freeText"),
            ("output=7", "freeText"),
            ("(classifier=a", "not closed"),
            ("classifier='a')", "not opened"),
            ("NOT (NOT (classifier=a)", "not closed"),
        ] {
            let said = said(query);
            assert!(said.contains(words), "{query}: {said}");
        }
        let deep = format!("{}classifier=a{}", "(".repeat(40), ")".repeat(40));
        assert!(said(&deep).contains("nested"), "{}", said(&deep));
        assert!(said(&format!("{}classifier=a", "NOT ".repeat(40))).contains("nested"));
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
        assert_eq!(correlation("correlationId=ANDERS AND classifier=x"), texts(&["ANDERS"]));
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
            "startTime => 7",
            "status IS",
            "status IN (RUNNING",
            "status='RUNNING",
            "classifier='a' b",
            "classifier=a AND",
            "classifier=a OR",
            "classifier=a OR (",
            "classifier=a and classifier=b",
            "AND",
            "workflowType > a",
            "startTime > 1,2",
            "()",
            "startTime BETWEEN 1 AND 2",
            "workflowType=q && status=RUNNING",
            "workflowType=q || workflowType=r",
            "workflowType=q status=RUNNING",
            "(workflowType=q & status=RUNNING)",
            "(((",
        ] {
            let said = said(query);
            assert!(said.starts_with("Incorrectly formatted query string: "), "{query}: {said}");
        }
        let grammar = said("(((");
        for word in [">=", "!=", "NOT IN", "AND", "OR", "NOT,"] {
            assert!(grammar.contains(word), "{word}: {grammar}");
        }
        let expected = "the query's startTime takes milliseconds since 1970, not \"yesterday\"";
        assert_eq!(said("startTime > yesterday"), expected);
        assert!(said("version=one").contains("version takes a whole number"));
        assert!(said("workflowId=*x").contains("workflowId takes an id"));
        let unknown = said("owner=me");
        assert!(unknown.starts_with("unknown field \"owner\""), "{unknown}");
        assert!(unknown.contains("workflowId, workflowType,"), "{unknown}");
        assert!(criteria::<TaskField>("correlationId=x").is_err());
        assert!(criteria::<TaskField>("referenceTaskName=x").is_ok());
    }

    #[test]
    fn a_status_that_nothing_has_is_refused_by_name() {
        let said = |query: &str| read(query).unwrap_err().to_string();
        let known = "RUNNING, COMPLETED, FAILED, TIMED_OUT, TERMINATED, PAUSED";
        for wrong in ["RUNNIN", "running", "X*", ""] {
            for query in
                [format!("status='{wrong}'"), format!("status NOT IN (RUNNING, '{wrong}')")]
            {
                let said = said(&query);
                assert!(said.contains(known) && said.ends_with(&format!("{wrong:?}")), "{said}");
            }
        }
        assert!(read("status=T*").is_ok() && read("status='*'").is_ok());
        assert!(criteria::<TaskField>("status=SCHEDULED").is_ok());
        assert!(criteria::<TaskField>("status=RUNNING").is_err(), "no task is");
    }

    #[test]
    fn a_quoted_value_may_look_like_a_clause() {
        let found = read("correlationId='a && status=RUNNING'").unwrap();
        assert_eq!(found[0].1, texts(&["a && status=RUNNING"]));
        assert_eq!(read("correlationId=a b=c").unwrap()[0].1, texts(&["a b=c"]), "b is no field");
    }

    /// Pieces that look like queries when thrown together.
    const PIECES: [&str; 28] = [
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
        " NOT ",
        "NOT(",
        "!=",
        ">=",
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
                for criterion in criteria::<WorkflowField>(&text).unwrap_or_default() {
                    criterion.holds(&|_| super::super::Value::Text("RUNNING"));
                }
                let _ = criteria::<TaskField>(&text);
            }
        }

        #[test]
        fn a_quoted_value_is_read_as_it_was_written(value in "[^\"]*", other in "[^']*") {
            let query = format!("classifier = \"{value}\" AND correlationId IN ('{other}')");
            let expected = [&value, &other].map(|text| texts(&[text]));
            let found = read(&query).unwrap();
            proptest::prop_assert_eq!(found.into_iter().map(|it| it.1).collect::<Vec<_>>(), expected);
        }
    }

    #[test]
    fn a_query_has_limits() {
        let many = format!("classifier IN ({})", vec!["x"; VALUES_MAX + 1].join(","));
        assert!(matches!(read(&many), Err(SearchError::TooMuch { unit: "values", .. })));
        let long = vec!["classifier=x"; CLAUSES_MAX + 1].join(" AND ");
        assert!(matches!(read(&long), Err(SearchError::TooMuch { unit: "clauses", .. })));
        let large = "x".repeat(QUERY_BYTES_MAX + 1);
        assert!(matches!(read(&large), Err(SearchError::TooMuch { unit: "bytes", .. })));
    }
}
