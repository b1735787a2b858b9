//! # The tree: a program as it was understood
//!
//! Expressions are stored in one list and name each other by position, so that the depth of each is
//! known when it is added and the whole is dropped without recursion.

/// How deep expressions may nest.
const DEPTH_MAX: u16 = 150;

/// Position of an expression.
#[derive(Clone, Copy, Debug)]
pub(super) struct Id(u32);

/// Position of a variable. Every declared name has one of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Slot(pub(super) usize);

/// Position of a function.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct FunctionId(pub(super) usize);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Unary {
    Not,
    Minus,
    Plus,
    TypeOf,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Binary {
    StrictEqual,
    StrictUnequal,
    Equal,
    Unequal,
    Less,
    LessOrEqual,
    Greater,
    GreaterOrEqual,
    Add,
    Subtract,
    Multiply,
    Divide,
    Remainder,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Logic {
    And,
    Or,
    Coalesce,
}

#[derive(Debug)]
pub(super) enum Expression {
    Undefined,
    Null,
    Bool(bool),
    Number(f64),
    Text(String),
    /// `$`.
    Input,
    Variable(Slot),
    /// A name that the program does not declare before.
    Unknown,
    Member {
        of: Id,
        key: Id,
    },
    Unary(Unary, Id),
    Binary(Binary, Id, Id),
    Logic(Logic, Vec<Id>),
    Choice {
        condition: Id,
        yes: Id,
        no: Id,
    },
    List(Vec<Id>),
    Object(Vec<(String, Id)>),
    Call(FunctionId),
}

#[derive(Debug)]
pub(super) enum Statement {
    Empty,
    Expression(Id),
    Assign(Slot, Id),
    Declare(Slot, Option<Id>),
    If { condition: Id, yes: Box<Statement>, no: Option<Box<Statement>> },
    Block(Vec<Statement>),
    Return(Option<Id>),
}

/// A whole program.
#[derive(Debug, Default)]
pub(super) struct Tree {
    expressions: Vec<Expression>,
    depths: Vec<u16>,
    functions: Vec<Vec<Statement>>,
    pub(super) slots: usize,
    /// The program is the body of a function: only `return` gives a result.
    pub(super) is_body: bool,
    pub(super) statements: Vec<Statement>,
}

impl Tree {
    /// None: the program nests too deep.
    pub(super) fn add(&mut self, expression: Expression) -> Option<Id> {
        let inside = self.depth_inside(&expression);
        if inside >= DEPTH_MAX {
            return None;
        }
        let id = Id(u32::try_from(self.expressions.len()).ok()?);
        self.expressions.push(expression);
        self.depths.push(inside + 1);
        Some(id)
    }

    pub(super) fn add_function(&mut self, body: Vec<Statement>) -> FunctionId {
        self.functions.push(body);
        FunctionId(self.functions.len() - 1)
    }

    pub(super) fn expression(&self, id: Id) -> &Expression {
        &self.expressions[id.0 as usize]
    }

    /// Puts one more part behind those of an expression.
    pub(super) fn extend(&mut self, chain: Id, part: Id) -> Option<Id> {
        let inside = self.depths[part.0 as usize];
        if inside >= DEPTH_MAX {
            return None;
        }
        let depth = &mut self.depths[chain.0 as usize];
        *depth = (*depth).max(inside + 1);
        if let Expression::Logic(_, parts) = &mut self.expressions[chain.0 as usize] {
            parts.push(part);
        }
        Some(chain)
    }

    pub(super) fn function(&self, id: FunctionId) -> &[Statement] {
        &self.functions[id.0]
    }

    pub(super) fn is_closed(&self) -> bool {
        !self.expressions.iter().any(|it| matches!(it, Expression::Unknown))
    }

    fn depth_inside(&self, expression: &Expression) -> u16 {
        let depth = |id: &Id| self.depths[id.0 as usize];
        let deepest = |ids: &[Id]| ids.iter().map(depth).max().unwrap_or_default();
        match expression {
            Expression::Undefined
            | Expression::Null
            | Expression::Bool(_)
            | Expression::Number(_)
            | Expression::Text(_)
            | Expression::Input
            | Expression::Variable(_)
            | Expression::Unknown
            | Expression::Call(_) => 0,
            Expression::Unary(_, of) => depth(of),
            Expression::Member { of, key } => deepest(&[*of, *key]),
            Expression::Binary(_, left, right) => deepest(&[*left, *right]),
            Expression::Choice { condition, yes, no } => deepest(&[*condition, *yes, *no]),
            Expression::Logic(_, parts) | Expression::List(parts) => deepest(parts),
            Expression::Object(entries) => {
                entries.iter().map(|(_, id)| depth(id)).max().unwrap_or_default()
            }
        }
    }
}
