//! # Functions of a plain program: without parameters, called where they are written or by name
//!
//! `(function () { ... })()` and `function decide() { ... } decide();` are how programs use `return`.
//! A name is bound behind the body, so that no function calls itself and every program ends.

use super::lexer::Token;
use super::names::{Declared, is_reserved};
use super::parser::Parser;
use super::tree::{Expression, Id, Statement};

impl Parser {
    /// A function begins behind the bracket that was just read.
    pub(super) fn is_at_function(&self) -> bool {
        let is_behind = |tokens, symbol: &str| matches!(self.peek_behind(tokens), Token::Symbol(found) if *found == symbol);
        self.is_at_word("function")
            || (is_behind(0, "(") && is_behind(1, ")") && is_behind(2, "=>"))
    }

    /// `function () { ... })()`, `function () { ... }())` or `() => ...)()`, behind its bracket.
    pub(super) fn called_at_once(&mut self) -> Option<Id> {
        let is_arrow = !self.takes_word("function");
        if let Token::Name(name) = self.peek().clone() {
            self.names.take(&name)?;
            self.advance();
        }
        self.no_parameters()?;
        let body = match is_arrow {
            false => self.body()?,
            true => self.arrow_body()?,
        };
        if self.takes(")") {
            self.no_parameters()?;
        } else if is_arrow {
            return None;
        } else {
            self.no_parameters()?;
            self.expect(")")?;
        }
        let function = self.tree.add_function(body);
        self.tree.add(Expression::Call(function))
    }

    /// `function name() { ... }`, among the statements of the program or of a function.
    pub(super) fn declared_function(&mut self) -> Option<Statement> {
        self.advance();
        let Token::Name(name) = self.next() else { return None };
        if is_reserved(&name) || !self.names.is_in_body() {
            return None;
        }
        self.names.take(&name)?;
        self.no_parameters()?;
        let body = self.body()?;
        let function = self.tree.add_function(body);
        self.names.bind(name, Declared::Function(function));
        Some(Statement::Empty)
    }

    fn no_parameters(&mut self) -> Option<()> {
        self.expect("(")?;
        self.expect(")")
    }

    fn arrow_body(&mut self) -> Option<Vec<Statement>> {
        if self.is_on_new_line() {
            return None;
        }
        self.expect("=>")?;
        if self.is_at("{") {
            return self.body();
        }
        Some(vec![Statement::Return(Some(self.expression()?))])
    }

    fn body(&mut self) -> Option<Vec<Statement>> {
        self.expect("{")?;
        self.deeper()?;
        self.names.enter(true);
        let around = std::mem::replace(&mut self.is_in_function, true);
        let statements = self.statements()?;
        self.is_in_function = around;
        self.names.leave();
        self.shallower();
        self.expect("}")?;
        Some(statements)
    }
}
