//! # The parser: expressions of a plain program
//!
//! Reads as JavaScript does: operators by their strength, members before operators. Whatever is left
//! over is not plain. Statements are read in `statements.rs`, functions in `functions.rs`.

use super::lexer::{Placed, Token};
use super::names::{Declared, Names, is_reserved};
use super::number;
use super::tree::{Binary, Expression, Id, Logic, Tree, Unary};

/// Brackets in brackets, statements in statements. The pool can read more.
const NESTING_MAX: usize = 40;

/// The name that an object literal would not take as a key of its own.
const PROTOTYPE: &str = "__proto__";

pub(super) struct Parser {
    tokens: Vec<Placed>,
    at: usize,
    nesting: usize,
    pub(super) tree: Tree,
    pub(super) names: Names,
    /// `return` is allowed here.
    pub(super) is_in_function: bool,
}

/// What an operator between two expressions does.
#[derive(Clone, Copy)]
enum Infix {
    Binary(Binary),
    Logic(Logic),
}

/// Operators by their strength.
fn infix(symbol: &str) -> Option<(u8, Infix)> {
    Some(match symbol {
        "??" => (1, Infix::Logic(Logic::Coalesce)),
        "||" => (1, Infix::Logic(Logic::Or)),
        "&&" => (2, Infix::Logic(Logic::And)),
        "==" => (3, Infix::Binary(Binary::Equal)),
        "!=" => (3, Infix::Binary(Binary::Unequal)),
        "===" => (3, Infix::Binary(Binary::StrictEqual)),
        "!==" => (3, Infix::Binary(Binary::StrictUnequal)),
        "<" => (4, Infix::Binary(Binary::Less)),
        "<=" => (4, Infix::Binary(Binary::LessOrEqual)),
        ">" => (4, Infix::Binary(Binary::Greater)),
        ">=" => (4, Infix::Binary(Binary::GreaterOrEqual)),
        "+" => (5, Infix::Binary(Binary::Add)),
        "-" => (5, Infix::Binary(Binary::Subtract)),
        "*" => (6, Infix::Binary(Binary::Multiply)),
        "/" => (6, Infix::Binary(Binary::Divide)),
        "%" => (6, Infix::Binary(Binary::Remainder)),
        _ => return None,
    })
}

impl Parser {
    pub(super) fn new(tokens: Vec<Placed>) -> Self {
        let (tree, names) = (Tree::default(), Names::new());
        Self { tokens, at: 0, nesting: 0, tree, names, is_in_function: false }
    }

    /// An expression, a choice with `?` included.
    pub(super) fn expression(&mut self) -> Option<Id> {
        self.deeper()?;
        let condition = self.operation(0)?;
        let found = match self.takes("?") {
            false => condition,
            true => {
                let yes = self.expression()?;
                self.expect(":")?;
                let no = self.expression()?;
                self.tree.add(Expression::Choice { condition, yes, no })?
            }
        };
        self.shallower();
        Some(found)
    }

    /// Operations whose operators are stronger than `above`.
    fn operation(&mut self, above: u8) -> Option<Id> {
        let mut left = self.operand()?;
        let mut coalesces = None;
        while let Token::Symbol(symbol) = *self.peek()
            && let Some((strength, infix)) = infix(symbol)
            && strength > above
        {
            self.advance();
            left = match infix {
                Infix::Binary(operator) => {
                    let right = self.operation(strength)?;
                    self.tree.add(Expression::Binary(operator, left, right))?
                }
                Infix::Logic(operator) => {
                    // `??` is never mixed with `||` and `&&`.
                    let is_coalescing = operator == Logic::Coalesce;
                    if coalesces.replace(is_coalescing).is_some_and(|it| it != is_coalescing) {
                        return None;
                    }
                    let right = match is_coalescing {
                        true => self.operation(2)?,
                        false => self.operation(strength)?,
                    };
                    self.logic(operator, left, right)?
                }
            };
        }
        Some(left)
    }

    /// A chain of the same operator is one expression.
    fn logic(&mut self, operator: Logic, left: Id, right: Id) -> Option<Id> {
        if let Expression::Logic(known, _) = self.tree.expression(left)
            && *known == operator
        {
            return self.tree.extend(left, right);
        }
        self.tree.add(Expression::Logic(operator, vec![left, right]))
    }

    fn operand(&mut self) -> Option<Id> {
        let operator = match self.peek() {
            Token::Symbol("!") => Unary::Not,
            Token::Symbol("-") => Unary::Minus,
            Token::Symbol("+") => Unary::Plus,
            Token::Name(name) if name == "typeof" => Unary::TypeOf,
            Token::Name(_) | Token::Number(_) | Token::Text(_) | Token::Symbol(_) | Token::End => {
                return self.members();
            }
        };
        self.advance();
        self.deeper()?;
        let of = self.operand()?;
        self.shallower();
        self.tree.add(Expression::Unary(operator, of))
    }

    fn members(&mut self) -> Option<Id> {
        let mut of = self.primary()?;
        loop {
            let key = if self.takes(".") {
                let Token::Name(name) = self.next() else { return None };
                self.tree.add(Expression::Text(name))?
            } else if self.takes("[") {
                let key = self.expression()?;
                self.expect("]")?;
                key
            } else {
                return Some(of);
            };
            of = self.tree.add(Expression::Member { of, key })?;
        }
    }

    fn primary(&mut self) -> Option<Id> {
        let found = match self.next() {
            Token::Number(number) => Expression::Number(number),
            Token::Text(text) => Expression::Text(text),
            Token::Name(name) => return self.named(&name),
            Token::Symbol("(") if self.is_at_function() => return self.called_at_once(),
            Token::Symbol("(") => {
                let inside = self.expression()?;
                self.expect(")")?;
                return Some(inside);
            }
            Token::Symbol("[") => Expression::List(self.items("]", Self::expression)?),
            Token::Symbol("{") => Expression::Object(self.items("}", Self::entry)?),
            Token::Symbol(_) | Token::End => return None,
        };
        self.tree.add(found)
    }

    fn named(&mut self, name: &str) -> Option<Id> {
        let found = match name {
            "$" => Expression::Input,
            "true" => Expression::Bool(true),
            "false" => Expression::Bool(false),
            "null" => Expression::Null,
            "undefined" => Expression::Undefined,
            "NaN" => Expression::Number(f64::NAN),
            "Infinity" => Expression::Number(f64::INFINITY),
            word if is_reserved(word) => return None,
            name => match self.names.find(name) {
                Some(Declared::Variable(slot) | Declared::Constant(slot)) => {
                    Expression::Variable(slot)
                }
                Some(Declared::Function(function)) if self.takes("(") => {
                    self.expect(")")?;
                    Expression::Call(function)
                }
                Some(Declared::Function(_)) | None => Expression::Unknown,
            },
        };
        self.tree.add(found)
    }

    fn entry(&mut self) -> Option<(String, Id)> {
        let key = match self.next() {
            Token::Name(name) => name,
            Token::Text(text) => text,
            Token::Number(number) => number::text(number),
            Token::Symbol(_) | Token::End => return None,
        };
        self.expect(":")?;
        let value = self.expression()?;
        (key != PROTOTYPE).then_some((key, value))
    }

    /// A list up to `end`, by commas. One comma may stand before the end.
    fn items<T>(&mut self, end: &str, one: fn(&mut Self) -> Option<T>) -> Option<Vec<T>> {
        let mut items = Vec::new();
        while !self.takes(end) {
            items.push(one(self)?);
            if !self.takes(",") {
                self.expect(end)?;
                break;
            }
        }
        Some(items)
    }

    pub(super) fn peek(&self) -> &Token {
        &self.tokens[self.at].token
    }

    pub(super) fn peek_behind(&self, tokens: usize) -> &Token {
        let at = (self.at + tokens).min(self.tokens.len() - 1);
        &self.tokens[at].token
    }

    /// A line ends before the next token.
    pub(super) fn is_on_new_line(&self) -> bool {
        self.tokens[self.at].is_on_new_line
    }

    /// The end is never passed.
    pub(super) fn advance(&mut self) {
        self.at = (self.at + 1).min(self.tokens.len() - 1);
    }

    pub(super) fn next(&mut self) -> Token {
        let token = self.peek().clone();
        self.advance();
        token
    }

    pub(super) fn is_at(&self, symbol: &str) -> bool {
        matches!(self.peek(), Token::Symbol(found) if *found == symbol)
    }

    pub(super) fn is_at_word(&self, word: &str) -> bool {
        matches!(self.peek(), Token::Name(found) if found == word)
    }

    pub(super) fn takes(&mut self, symbol: &str) -> bool {
        let is_at = self.is_at(symbol);
        if is_at {
            self.advance();
        }
        is_at
    }

    pub(super) fn takes_word(&mut self, word: &str) -> bool {
        let is_at = self.is_at_word(word);
        if is_at {
            self.advance();
        }
        is_at
    }

    pub(super) fn expect(&mut self, symbol: &str) -> Option<()> {
        self.takes(symbol).then_some(())
    }

    /// Into a bracket or a statement; back out by [`Parser::shallower`].
    pub(super) fn deeper(&mut self) -> Option<()> {
        self.nesting += 1;
        (self.nesting <= NESTING_MAX).then_some(())
    }

    pub(super) fn shallower(&mut self) {
        self.nesting -= 1;
    }
}
