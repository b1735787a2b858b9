//! # Evaluation: a plain program and its input, step by step
//!
//! Expressions have no effect but on the program's own variables. A step is one expression, or
//! eight bytes of text that are looked at; a program of too many steps is not plain.

use std::collections::BTreeMap;
use std::rc::Rc;

use super::Obstacle;
use super::members::member;
use super::operators::{binary, unary};
use super::tree::{Expression, FunctionId, Id, Logic, Slot, Statement, Tree};
use super::value::Value;
use crate::expression::Json;

/// A program of more steps is not plain. There are no loops, so few programs come near.
const STEPS_MAX: usize = 20_000;

const UNDECLARED: Obstacle = Obstacle::NotPlain("a name that is not declared before");

pub(super) struct Evaluation<'a> {
    tree: &'a Tree,
    input: &'a Json,
    /// None: the declaration has not been reached.
    variables: Vec<Option<Value<'a>>>,
    /// The value of the last statement that has one.
    completion: Value<'a>,
    steps: usize,
}

/// How a statement ends.
enum End<'a> {
    GoesOn,
    Returns(Value<'a>),
}

impl<'a> Evaluation<'a> {
    pub(super) fn new(tree: &'a Tree, input: &'a Json) -> Self {
        let variables = vec![None; tree.slots];
        Self { tree, input, variables, completion: Value::Undefined, steps: 0 }
    }

    pub(super) fn run(&mut self) -> Result<Value<'a>, Obstacle> {
        let tree = self.tree;
        match self.statements(&tree.statements)? {
            End::Returns(value) => Ok(value),
            End::GoesOn if tree.is_body => Ok(Value::Undefined),
            End::GoesOn => Ok(self.completion.clone()),
        }
    }

    pub(super) fn steps(&self) -> usize {
        self.steps
    }

    fn statements(&mut self, statements: &'a [Statement]) -> Result<End<'a>, Obstacle> {
        for statement in statements {
            if let returned @ End::Returns(_) = self.statement(statement)? {
                return Ok(returned);
            }
        }
        Ok(End::GoesOn)
    }

    fn statement(&mut self, statement: &'a Statement) -> Result<End<'a>, Obstacle> {
        match statement {
            Statement::Empty => {}
            Statement::Expression(id) => self.completion = self.evaluate(*id)?,
            Statement::Assign(slot, id) => {
                let value = self.evaluate(*id)?;
                self.completion = value.clone();
                self.set(*slot, value);
            }
            Statement::Declare(slot, id) => {
                let value = id.map_or(Ok(Value::Undefined), |id| self.evaluate(id))?;
                self.set(*slot, value);
            }
            Statement::Block(statements) => return self.statements(statements),
            Statement::Return(id) => {
                let value = id.map_or(Ok(Value::Undefined), |id| self.evaluate(id))?;
                return Ok(End::Returns(value));
            }
            Statement::If { condition, yes, no } => {
                let holds = self.evaluate(*condition)?.is_truthy();
                self.completion = Value::Undefined;
                return match (holds, no) {
                    (true, _) => self.statement(yes),
                    (false, Some(no)) => self.statement(no),
                    (false, None) => Ok(End::GoesOn),
                };
            }
        }
        Ok(End::GoesOn)
    }

    fn set(&mut self, slot: Slot, value: Value<'a>) {
        self.variables[slot.0] = Some(value);
    }

    fn evaluate(&mut self, id: Id) -> Result<Value<'a>, Obstacle> {
        self.spend(1)?;
        let tree = self.tree;
        Ok(match tree.expression(id) {
            Expression::Undefined => Value::Undefined,
            Expression::Null => Value::Null,
            Expression::Bool(truth) => Value::Bool(*truth),
            Expression::Number(number) => Value::Number(*number),
            Expression::Text(text) => Value::Text(text.as_str().into()),
            Expression::Input => Value::of(self.input),
            Expression::Unknown => return Err(UNDECLARED),
            Expression::Variable(slot) => self.variable(*slot)?,
            Expression::Member { of, key } => {
                let (of, key) = (self.evaluate(*of)?, self.evaluate(*key)?);
                self.spend(of.weight() + key.weight())?;
                member(&of, &key)?
            }
            Expression::Unary(operator, of) => {
                let of = self.evaluate(*of)?;
                self.spend(of.weight())?;
                unary(*operator, &of)?
            }
            Expression::Binary(operator, left, right) => {
                let (left, right) = (self.evaluate(*left)?, self.evaluate(*right)?);
                self.spend(left.weight() + right.weight())?;
                binary(*operator, &left, &right)?
            }
            Expression::Logic(operator, parts) => self.logic(*operator, parts)?,
            Expression::Choice { condition, yes, no } => {
                let holds = self.evaluate(*condition)?.is_truthy();
                self.evaluate(if holds { *yes } else { *no })?
            }
            Expression::List(items) => {
                let items = items.iter().map(|item| self.evaluate(*item));
                Value::List(Rc::new(items.collect::<Result<_, _>>()?))
            }
            Expression::Object(entries) => self.object(entries)?,
            Expression::Call(function) => self.call(*function)?,
        })
    }

    fn variable(&mut self, slot: Slot) -> Result<Value<'a>, Obstacle> {
        let value = self.variables[slot.0].clone().ok_or(UNDECLARED)?;
        self.spend(value.weight())?; // It was copied.
        Ok(value)
    }

    /// The first part that decides, else the last.
    fn logic(&mut self, operator: Logic, parts: &[Id]) -> Result<Value<'a>, Obstacle> {
        let mut last = Value::Undefined;
        for part in parts {
            last = self.evaluate(*part)?;
            let decides = match operator {
                Logic::And => !last.is_truthy(),
                Logic::Or => last.is_truthy(),
                Logic::Coalesce => !last.is_nothing(),
            };
            if decides {
                break;
            }
        }
        Ok(last)
    }

    /// A key that comes again keeps its place and takes the later value.
    fn object(&mut self, entries: &'a [(String, Id)]) -> Result<Value<'a>, Obstacle> {
        let mut places: BTreeMap<&str, usize> = BTreeMap::new();
        let mut object: Vec<(&str, Value<'_>)> = Vec::new();
        for (key, id) in entries {
            let value = self.evaluate(*id)?;
            match places.get(key.as_str()) {
                Some(at) => object[*at].1 = value,
                None => {
                    places.insert(key.as_str(), object.len());
                    object.push((key.as_str(), value));
                }
            }
        }
        Ok(Value::Object(Rc::new(object)))
    }

    fn call(&mut self, function: FunctionId) -> Result<Value<'a>, Obstacle> {
        let around = std::mem::replace(&mut self.completion, Value::Undefined);
        let tree = self.tree;
        let end = self.statements(tree.function(function))?;
        self.completion = around;
        match end {
            End::Returns(value) => Ok(value),
            End::GoesOn => Ok(Value::Undefined),
        }
    }

    fn spend(&mut self, steps: usize) -> Result<(), Obstacle> {
        self.steps += steps;
        match self.steps > STEPS_MAX {
            true => Err(Obstacle::NotPlain("a program of so many steps")),
            false => Ok(()),
        }
    }
}
