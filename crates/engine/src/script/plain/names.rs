//! # Names: what a program declares, and where it can be seen
//!
//! Every name is declared once in the whole program, before it is used; a program that declares one
//! twice, or one that JavaScript has already, is not plain. So no rule of hoisting or shadowing
//! matters.

use std::collections::BTreeSet;

use super::tree::{FunctionId, Slot};

/// Words that no plain program uses as a name: keywords, those of strict mode, and names with a
/// meaning of their own.
const RESERVED: &[&str] = &[
    "$",
    "arguments",
    "as",
    "async",
    "await",
    "break",
    "case",
    "catch",
    "class",
    "const",
    "continue",
    "debugger",
    "default",
    "delete",
    "do",
    "else",
    "enum",
    "eval",
    "export",
    "extends",
    "false",
    "finally",
    "for",
    "from",
    "function",
    "get",
    "if",
    "implements",
    "import",
    "in",
    "instanceof",
    "interface",
    "let",
    "new",
    "null",
    "of",
    "package",
    "private",
    "protected",
    "public",
    "return",
    "set",
    "static",
    "super",
    "switch",
    "this",
    "throw",
    "true",
    "try",
    "typeof",
    "undefined",
    "var",
    "void",
    "while",
    "with",
    "yield",
];

/// What is there before a program declares anything, besides all that begins with a capital letter.
const GLOBAL: &[&str] = &[
    "__date_clock",
    "__defineGetter__",
    "__defineSetter__",
    "__lookupGetter__",
    "__lookupSetter__",
    "__proto__",
    "console",
    "constructor",
    "decodeURI",
    "decodeURIComponent",
    "encodeURI",
    "encodeURIComponent",
    "escape",
    "globalThis",
    "hasOwnProperty",
    "isFinite",
    "isNaN",
    "isPrototypeOf",
    "navigator",
    "parseFloat",
    "parseInt",
    "performance",
    "print",
    "propertyIsEnumerable",
    "queueMicrotask",
    "toLocaleString",
    "toString",
    "unescape",
    "valueOf",
];

/// Whether a word stands for itself wherever it is read.
pub(super) fn is_reserved(name: &str) -> bool {
    RESERVED.contains(&name)
}

/// Whether a plain program may declare that name.
pub(super) fn may_be_declared(name: &str) -> bool {
    let is_global = GLOBAL.contains(&name);
    !is_reserved(name) && !is_global && !name.starts_with(|first: char| first.is_ascii_uppercase())
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Declared {
    Variable(Slot),
    Constant(Slot),
    Function(FunctionId),
}

/// The body of a function, or the whole program, is a level; so is every block.
#[derive(Debug)]
struct Scope {
    is_body: bool,
    names: Vec<(String, Declared)>,
}

#[derive(Debug)]
pub(super) struct Names {
    scopes: Vec<Scope>,
    all: BTreeSet<String>,
    slots: usize,
}

impl Names {
    pub(super) fn new() -> Self {
        Self { scopes: vec![Scope::new(true)], all: BTreeSet::new(), slots: 0 }
    }

    pub(super) fn enter(&mut self, is_body: bool) {
        self.scopes.push(Scope::new(is_body));
    }

    pub(super) fn leave(&mut self) {
        self.scopes.pop();
    }

    /// The code here is that of a function or of the program, not of a block inside.
    pub(super) fn is_in_body(&self) -> bool {
        self.scopes.last().is_some_and(|scope| scope.is_body)
    }

    /// Takes the name; it is seen when it is [`Names::bind`]ed. None: it may not be declared.
    pub(super) fn take(&mut self, name: &str) -> Option<()> {
        (may_be_declared(name) && self.all.insert(name.to_owned())).then_some(())
    }

    pub(super) fn slot(&mut self) -> Slot {
        self.slots += 1;
        Slot(self.slots - 1)
    }

    pub(super) fn slots(&self) -> usize {
        self.slots
    }

    pub(super) fn bind(&mut self, name: String, declared: Declared) {
        let scope = self.scopes.last_mut().expect("the program is a scope");
        scope.names.push((name, declared));
    }

    pub(super) fn find(&self, name: &str) -> Option<Declared> {
        let mut names = self.scopes.iter().rev().flat_map(|scope| &scope.names);
        names.find(|(known, _)| known == name).map(|(_, declared)| *declared)
    }
}

impl Scope {
    fn new(is_body: bool) -> Self {
        Self { is_body, names: Vec::new() }
    }
}
