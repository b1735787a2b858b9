//! # Filters: which elements a `[?( )]` keeps
//!
//! Read here, tested in [`super::holds`]. An operand that leads nowhere is undefined: it equals
//! nothing, not even null.

use super::json::Json;
use super::path::{Ends, Parser, Path};
use super::pattern::Pattern;

#[derive(Debug)]
pub(super) enum Filter {
    Any(Vec<Filter>),
    Every(Vec<Filter>),
    Not(Box<Filter>),
    Exists(Operand),
    Compare(Operand, Operator, Operand),
}

#[derive(Debug)]
pub(super) enum Operand {
    /// A path from `@`, the element in question.
    Here(Path),
    /// One of the query's documents.
    Document(usize),
    Literal(Json),
    Pattern(Pattern),
}

#[derive(Clone, Copy, Debug)]
pub(super) enum Operator {
    Equal,
    Unequal,
    Same,
    NotSame,
    Less,
    LessOrEqual,
    Greater,
    GreaterOrEqual,
    Matches,
    In,
    NotIn,
    SubsetOf,
    AnyOf,
    NoneOf,
    All,
    Contains,
    Size,
    Empty,
}

/// Longer ones first where one begins like another.
const SYMBOLS: [(&str, Operator); 9] = [
    ("===", Operator::Same),
    ("!==", Operator::NotSame),
    ("==", Operator::Equal),
    ("!=", Operator::Unequal),
    ("=~", Operator::Matches),
    ("<=", Operator::LessOrEqual),
    (">=", Operator::GreaterOrEqual),
    ("<", Operator::Less),
    (">", Operator::Greater),
];

impl Parser<'_> {
    /// What stands behind `?`.
    pub(super) fn filter(&mut self) -> Option<Filter> {
        self.cursor.skip_blanks();
        (self.cursor.peek() == Some('(')).then(|| self.any()).flatten()
    }

    fn any(&mut self) -> Option<Filter> {
        self.joined("||", Self::every, Filter::Any)
    }

    fn every(&mut self) -> Option<Filter> {
        self.joined("&&", Self::one, Filter::Every)
    }

    fn joined(
        &mut self,
        by: &str,
        mut part: impl FnMut(&mut Self) -> Option<Filter>,
        join: impl Fn(Vec<Filter>) -> Filter,
    ) -> Option<Filter> {
        let mut parts = vec![part(self)?];
        while self.cursor.expect(by).is_some() {
            parts.push(part(self)?);
        }
        if parts.len() == 1 { parts.pop() } else { Some(join(parts)) }
    }

    fn one(&mut self) -> Option<Filter> {
        self.cursor.deeper()?;
        self.cursor.skip_blanks();
        let one = if self.cursor.take("!") {
            Filter::Not(Box::new(self.one()?))
        } else if self.cursor.take("(") {
            let inside = self.any()?;
            self.cursor.expect(")")?;
            inside
        } else {
            self.comparison()?
        };
        self.cursor.shallower();
        Some(one)
    }

    fn comparison(&mut self) -> Option<Filter> {
        let left = self.operand()?;
        self.cursor.skip_blanks();
        if !matches!(self.cursor.peek(), Some(')' | '&' | '|')) {
            let operator = self.operator()?;
            return Some(Filter::Compare(left, operator, self.operand()?));
        }
        match left {
            Operand::Here(_) | Operand::Document(_) => Some(Filter::Exists(left)),
            Operand::Literal(_) | Operand::Pattern(_) => None,
        }
    }

    fn operator(&mut self) -> Option<Operator> {
        for (symbol, operator) in SYMBOLS {
            if self.cursor.take(symbol) {
                return Some(operator);
            }
        }
        let word = self.cursor.until(|next| !next.is_ascii_alphabetic());
        Some(match word.to_ascii_lowercase().as_str() {
            "in" => Operator::In,
            "nin" => Operator::NotIn,
            "subsetof" => Operator::SubsetOf,
            "anyof" => Operator::AnyOf,
            "noneof" => Operator::NoneOf,
            "all" => Operator::All,
            "contains" => Operator::Contains,
            "size" => Operator::Size,
            "empty" => Operator::Empty,
            _ => return None,
        })
    }

    fn operand(&mut self) -> Option<Operand> {
        self.cursor.skip_blanks();
        if self.cursor.take("@") {
            return self.path(false, Ends::AtOperators).map(Operand::Here);
        }
        if self.cursor.take("$") {
            return self.document().map(Operand::Document);
        }
        if self.cursor.take("/") {
            let pattern = self.cursor.raw_until('/')?;
            let flags = self.cursor.until(|next| !next.is_ascii_alphabetic());
            return Pattern::compile(pattern, flags).map(Operand::Pattern);
        }
        self.cursor.literal().map(Operand::Literal)
    }
}
