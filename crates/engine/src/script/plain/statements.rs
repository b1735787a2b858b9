//! # Statements of a plain program: conditions, declarations, blocks, `return`
//!
//! A missing semicolon is allowed where JavaScript puts one without any doubt: at the end, before a
//! closing brace, and at the end of a line when the next one can only begin a statement.

use super::lexer::Token;
use super::names::Declared;
use super::parser::Parser;
use super::tree::{Statement, Tree};
use crate::script::Language;

impl Parser {
    /// The whole program; none: it is not plain.
    pub(super) fn program(mut self, language: Language) -> Option<Tree> {
        self.is_in_function = match language {
            Language::JavaScript => false,
            Language::Function => true,
            Language::Jq => return None,
        };
        self.tree.is_body = self.is_in_function;
        self.tree.statements = self.statements()?;
        self.tree.slots = self.names.slots();
        (*self.peek() == Token::End).then_some(self.tree)
    }

    /// Up to the end of a block, of a function, or of the program.
    pub(super) fn statements(&mut self) -> Option<Vec<Statement>> {
        let mut statements = Vec::new();
        while !self.is_at("}") && *self.peek() != Token::End {
            statements.push(self.statement(true)?);
        }
        Some(statements)
    }

    fn statement(&mut self, is_in_list: bool) -> Option<Statement> {
        self.deeper()?;
        let word = match self.peek() {
            Token::Name(word) => word.clone(),
            Token::Number(_) | Token::Text(_) | Token::Symbol(_) | Token::End => String::new(),
        };
        let statement = match word.as_str() {
            "if" => self.condition()?,
            "return" => self.returned()?,
            "var" | "let" | "const" if is_in_list => self.declarations()?,
            "function" if is_in_list => self.declared_function()?,
            _ if self.takes(";") => Statement::Empty,
            _ if self.takes("{") => self.block()?,
            _ => self.assignment_or_expression()?,
        };
        self.shallower();
        Some(statement)
    }

    fn condition(&mut self) -> Option<Statement> {
        self.advance();
        self.expect("(")?;
        let condition = self.expression()?;
        self.expect(")")?;
        let yes = Box::new(self.statement(false)?);
        let no = match self.takes_word("else") {
            true => Some(Box::new(self.statement(false)?)),
            false => None,
        };
        Some(Statement::If { condition, yes, no })
    }

    fn block(&mut self) -> Option<Statement> {
        self.names.enter(false);
        let statements = self.statements()?;
        self.names.leave();
        self.expect("}")?;
        Some(Statement::Block(statements))
    }

    fn returned(&mut self) -> Option<Statement> {
        if !self.is_in_function {
            return None;
        }
        self.advance();
        let is_over = self.is_at(";") || self.is_at("}") || *self.peek() == Token::End;
        let value = match is_over || self.is_on_new_line() {
            true => None,
            false => Some(self.expression()?),
        };
        self.end_statement()?;
        Some(Statement::Return(value))
    }

    fn declarations(&mut self) -> Option<Statement> {
        let is_var = self.is_at_word("var");
        let is_const = self.is_at_word("const");
        self.advance();
        if is_var && !self.names.is_in_body() {
            return None; // It would be seen outside of its block.
        }
        let mut declared = Vec::new();
        loop {
            let Token::Name(name) = self.next() else { return None };
            self.names.take(&name)?;
            let value = match self.takes("=") {
                true => Some(self.expression()?),
                false => None,
            };
            if is_const && value.is_none() {
                return None;
            }
            let slot = self.names.slot();
            let what = if is_const { Declared::Constant(slot) } else { Declared::Variable(slot) };
            self.names.bind(name, what);
            declared.push(Statement::Declare(slot, value));
            if !self.takes(",") {
                break;
            }
        }
        self.end_statement()?;
        Some(Statement::Block(declared))
    }

    fn assignment_or_expression(&mut self) -> Option<Statement> {
        let is_assignment = *self.peek_behind(1) == Token::Symbol("=");
        let statement = match self.peek().clone() {
            Token::Name(name) if is_assignment => {
                let Some(Declared::Variable(slot)) = self.names.find(&name) else { return None };
                self.advance();
                self.advance();
                Statement::Assign(slot, self.expression()?)
            }
            Token::Name(_) | Token::Number(_) | Token::Text(_) | Token::Symbol(_) | Token::End => {
                Statement::Expression(self.expression()?)
            }
        };
        self.end_statement()?;
        Some(statement)
    }

    fn end_statement(&mut self) -> Option<()> {
        let is_over = self.takes(";") || self.is_at("}") || *self.peek() == Token::End;
        (is_over || (self.is_on_new_line() && self.begins_statement())).then_some(())
    }

    /// The next token cannot go on with an expression.
    fn begins_statement(&self) -> bool {
        match self.peek() {
            Token::Name(name) => !matches!(name.as_str(), "in" | "instanceof"),
            Token::Number(_) | Token::Text(_) => true,
            Token::Symbol(symbol) => matches!(*symbol, "!" | "{"),
            Token::End => true,
        }
    }
}
